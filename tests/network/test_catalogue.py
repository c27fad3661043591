"""The bundled networks are what the catalogue says, and can be sampled exactly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from lacunet.data.table import EncodedTable
from lacunet.inference.sampling import sample_codes
from lacunet.network.catalogue import Entry, UnknownNetworkError, catalogue, example
from lacunet.network.cpt import Cpt


@pytest.mark.parametrize("entry", catalogue(), ids=lambda entry: entry.name)
def test_every_bundled_network_is_as_large_as_the_catalogue_says(entry: Entry) -> None:
    network = example(entry.name)
    edges = [(parent, name) for name in network.variables for parent in network.parents(name)]
    free = 0
    for name in network.variables:
        rows = np.prod([network.cardinality(p) for p in network.parents(name)], dtype=int)
        free += rows * (network.cardinality(name) - 1)
    most = max(len(network.parents(name)) for name in network.variables)
    assert (entry.variables, entry.edges) == (len(network.variables), len(edges))
    assert (entry.parameters, entry.largest_in_degree) == (free, most)
    assert entry.parameters == network.free_parameters


def test_the_fire_alarm_has_the_published_numbers() -> None:
    network = example("fire-alarm")
    assert network.states("Fire") == ("true", "false")
    assert network.parents("Alarm") == ("Tampering", "Fire")
    given = {name: network.cpt(name).table[..., 0].ravel().tolist() for name in network.variables}
    assert given == {
        "Tampering": [0.02],
        "Fire": [0.01],
        "Alarm": [0.5, 0.85, 0.99, 0.0001],
        "Smoke": [0.9, 0.01],
        "Leaving": [0.88, 0.001],
        "Report": [0.75, 0.01],
    }


def test_asia_has_the_published_numbers() -> None:
    network = example("asia")
    yes = {name: network.cpt(name).table[..., 0].ravel().tolist() for name in network.variables}
    assert network.states("asia") == ("yes", "no")
    assert network.parents("dysp") == ("bronc", "either")
    assert yes == {
        "asia": [0.01],
        "tub": [0.05, 0.01],
        "smoke": [0.5],
        "lung": [0.1, 0.01],
        "bronc": [0.6, 0.3],
        "either": [1.0, 1.0, 1.0, 0.0],
        "xray": [0.98, 0.05],
        "dysp": [0.9, 0.8, 0.7, 0.1],
    }


def test_barley_and_the_zeros_of_water_and_munin_are_those_of_the_originals() -> None:
    # 16,175 rows in Barley; 52% and 57% of the cells are zero in Water and Munin1.
    assert sum(cpt.table[..., 0].size for cpt in example("barley").cpts) == 16_175
    for name, share in (("water", 0.52), ("munin1", 0.57)):
        cells = np.concatenate([cpt.table.ravel() for cpt in example(name).cpts])
        assert round(float((cells == 0).mean()), 2) == share


def test_a_name_that_is_not_bundled_gets_suggestions() -> None:
    with pytest.raises(UnknownNetworkError, match="'alarn'"):
        example("alarn")
    with pytest.raises(UnknownNetworkError, match="'child'"):
        example("CHILD")
    with pytest.raises(UnknownNetworkError, match="screening"):
        example("xyzzy")


def test_notice_names_every_bundled_network() -> None:
    notice = (Path(__file__).parents[2] / "NOTICE").read_text()
    for entry in catalogue():
        assert entry.name in notice


def family_deviation(table: EncodedTable, cpt: Cpt) -> tuple[float, int]:
    """Pearson's statistic of the child given its parents, and its degrees of freedom.

    Rows of the CPT are taken where every state of positive probability is expected at
    least five times.
    """
    codes = [table.columns[name] for name in cpt.family]
    found = np.bincount(
        np.ravel_multi_index(codes, cpt.table.shape), minlength=cpt.table.size
    ).reshape(-1, cpt.table.shape[-1])
    chances = cpt.table.reshape(found.shape)
    expected = found.sum(axis=1, keepdims=True) * chances
    assert not found[chances == 0].any()
    used = ((expected >= 5) | (chances == 0)).all(axis=1)
    positive = chances[used] > 0
    terms = (found[used] - expected[used])[positive] ** 2 / expected[used][positive]
    return float(terms.sum()), int(positive.sum() - used.sum())


@pytest.mark.parametrize("name", ["alarm", "hailfinder", "water"])
def test_every_family_of_a_sampled_network_agrees_with_its_cpt(name: str) -> None:
    network = example(name)
    table = sample_codes(network, 200_000, np.random.default_rng(51))
    found = [family_deviation(table, cpt) for cpt in network.cpts]
    pvalues = [stats.chi2(freedom).sf(statistic) for statistic, freedom in found if freedom]
    assert len(pvalues) > len(network.variables) / 2
    # One family in error anywhere is found: the smallest of all, at 0.001 for them together.
    assert min(pvalues) > 0.001 / len(pvalues)
    # And together they are as even as p-values of a right sampler are.
    assert stats.kstest(pvalues, "uniform").pvalue > 0.001


@pytest.mark.parametrize("name", ["fire-alarm", "asia", "earthquake", "survey"])
def test_whole_rows_of_a_small_network_agree_with_its_joint(name: str) -> None:
    network, rows = example(name), 500_000
    axis_of = {variable: at for at, variable in enumerate(network.variables)}
    operands: list[object] = []
    for cpt in network.cpts:
        operands += [cpt.table, [axis_of[variable] for variable in cpt.family]]
    joint = np.einsum(*operands, list(range(len(axis_of)))) * rows  # type: ignore[call-overload]
    columns = list(sample_codes(network, rows, np.random.default_rng(52)).columns.values())
    found = np.bincount(np.ravel_multi_index(columns, joint.shape), minlength=joint.size)
    expected = joint.ravel()
    assert not found[expected == 0].any()
    often = expected >= 5
    counted = np.append(found[often], found[~often].sum())
    meant = np.append(expected[often], expected[~often].sum())
    possible = meant > 0
    assert stats.chisquare(counted[possible], meant[possible]).pvalue > 0.001

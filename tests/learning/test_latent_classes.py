"""Latent classes: numbers of states side by side, beside published fits."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import lacunet as lc
from lacunet import Data, LacunetError
from lacunet.cli import main
from lacunet.data.errors import DataError

RATERS = "ABCDEFG"
BY_CLASS = "; ".join(f"Class -> {rater}" for rater in RATERS)


def carcinoma() -> Any:
    return lc.example_data("carcinoma")


def election() -> Any:
    return lc.example_data("election")


def election_edges() -> str:
    return "; ".join(f"Class -> {item}" for item in election().column_names)


def test_the_likelihoods_of_carcinoma_are_those_published() -> None:
    result = lc.learn(BY_CLASS, Data(carcinoma(), latent={"Class": range(2, 5)}))
    assert result.alternatives is not None
    fits = result.alternatives.fits
    # poLCA (Linzer and Lewis 2011).
    published = [-317.2568, -293.705, -289.2858]
    np.testing.assert_allclose([fit.log_likelihood for fit in fits], published, atol=2e-3)
    assert [fit.parameters for fit in fits] == [15, 23, 31]
    assert [fit.numbers["Class"] for fit in fits][result.alternatives.best] == 3
    assert fits[1].bic == pytest.approx(2 * 293.705 + 23 * np.log(118), abs=1e-2)
    assert result.network.states("Class") == ("1", "2", "3")
    shares = result.cpt("Class").table
    assert [*shares] == sorted(shares, reverse=True)  # named in order of size
    assert fits[1].smallest == pytest.approx(shares[-1], abs=1e-5)
    assert result.alternatives[2].network.states("Class") == ("1", "2")


def test_rows_with_gaps_have_the_likelihood_published() -> None:
    data = Data(election(), latent={"Class": [2, 3]})
    fits = lc.learn(election_edges(), data).alternatives.fits  # type: ignore[union-attr]
    # StepMix by full information maximum likelihood.
    published = [-22127.913, -21311.536]
    np.testing.assert_allclose([fit.log_likelihood for fit in fits], published, atol=0.03)


@pytest.mark.parametrize("seed", [1, 2])
def test_em_leaves_no_cell_where_it_grows_unseen(seed: int) -> None:
    """From one start a jump took the cell of .4 rows to 4e-9, and EM seemed to have arrived."""
    result = lc.learn(election_edges(), Data(election(), latent={"Class": 2}), rng=seed)
    assert result.ended is not None
    # StepMix by full information maximum likelihood: all starts end there.
    np.testing.assert_allclose(result.ended.starts, -22127.9133, atol=1e-3)


def test_complete_rows_of_the_election_have_the_likelihood_published() -> None:
    table = election()
    rows = [row for row in table.to_pylist() if None not in row.values()]
    states = {name: sorted({*table[name].to_pylist()} - {None}) for name in table.column_names}
    data = Data(pa.Table.from_pylist(rows), latent={"Class": [2, 3]}, states=states)
    fits = lc.learn(election_edges(), data).alternatives.fits  # type: ignore[union-attr]
    # poLCA.
    expected = [-17344.92, -16714.66]
    np.testing.assert_allclose([fit.log_likelihood for fit in fits], expected, atol=0.03)


def test_memberships_are_bayes_and_their_entropy_by_hand() -> None:
    data = Data(carcinoma(), latent={"Class": 2})
    result = lc.learn(BY_CLASS, data)
    network, rows = result.network, carcinoma().to_pylist()
    joint = np.tile(network.cpt("Class").table, (len(rows), 1))
    for position, row in enumerate(rows):
        for rater in RATERS:
            state = network.states(rater).index(row[rater])
            joint[position] *= network.cpt(rater).table[:, state]
    by_hand = joint / joint.sum(axis=1, keepdims=True)
    predicted = result.predict(carcinoma(), "Class")
    for name, column in zip(("Class=1", "Class=2"), by_hand.T, strict=True):
        np.testing.assert_allclose(np.asarray(predicted[name]), column, atol=1e-9)
    entropy = -np.sum(by_hand * np.log(np.maximum(by_hand, 1e-300)))
    assert result.alternatives is not None
    (fit,) = result.alternatives.fits
    assert fit.entropy == pytest.approx(1 - entropy / (len(rows) * np.log(2)), abs=1e-9)


def test_counted_rows_and_rows_streamed_give_the_same(tmp_path: Path) -> None:
    latent = {"Class": [2, 3]}
    plain = lc.learn(BY_CLASS, Data(carcinoma(), latent=latent)).alternatives
    groups: dict[tuple[Any, ...], int] = {}
    for row in carcinoma().to_pylist():
        key = tuple(row.values())
        groups[key] = groups.get(key, 0) + 1
    columns = {rater: [key[i] for key in groups] for i, rater in enumerate(RATERS)}
    counted = Data({**columns, "n": [*groups.values()]}, counts="n", latent=latent)
    by_counts = lc.learn(BY_CLASS, counted).alternatives
    path = tmp_path / "rows.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(RATERS)
        writer.writerows(row.values() for row in carcinoma().to_pylist())
    streamed = lc.learn(BY_CLASS, Data(path, latent=latent), memory=20_000).alternatives
    assert plain is not None
    for other in (by_counts, streamed):
        assert other is not None
        for fit, expected in zip(other.fits, plain.fits, strict=True):
            assert fit.log_likelihood == pytest.approx(expected.log_likelihood, abs=1e-3)
            assert fit.bic == pytest.approx(expected.bic, abs=2e-3)
            assert fit.entropy == pytest.approx(expected.entropy, abs=1e-3)
            assert fit.smallest == pytest.approx(expected.smallest, abs=1e-3)


def test_weights_weigh_rows_in_the_likelihood_and_in_the_sizes() -> None:
    rows = carcinoma().to_pylist()
    weights = np.array([3.0 if row["A"] == "yes" else 1.0 for row in rows])
    data = Data(carcinoma(), weight=weights, latent={"Class": 2})
    result = lc.learn(BY_CLASS, data)
    copies = pa.Table.from_pylist(
        [row for row, weight in zip(rows, weights, strict=True) for _ in range(int(weight))]
    )
    by_copies = lc.learn(BY_CLASS, Data(copies, latent={"Class": 2}))
    np.testing.assert_allclose(result.cpt("Class").table, by_copies.cpt("Class").table, atol=1e-3)
    assert result.alternatives is not None
    worth = weights.sum() ** 2 / (weights**2).sum()
    (fit,) = result.alternatives.fits
    assert fit.bic == pytest.approx(-2 * fit.log_likelihood + 15 * np.log(worth))


def covariate_rows(rows: int = 2_000, missing: float = 0.25) -> dict[str, list[Any]]:
    """Two classes that two covariates move, logits main effects; some covariates are missing."""
    rng = np.random.default_rng(5)
    sex, age = rng.integers(0, 2, rows), rng.integers(0, 3, rows)
    logit = -0.8 + 1.1 * sex + np.array([0.0, 0.6, 1.4])[age]
    group = (rng.random(rows) < 1 / (1 + np.exp(-logit))).astype(int)
    answers = rng.random((rows, 5)) < np.array([0.15, 0.85])[group][:, None]
    columns: dict[str, list[Any]] = {
        "Sex": ["fm"[each] for each in sex],
        "Age": ["abc"[each] for each in age],
    }
    for item in range(5):
        columns[f"Y{item}"] = ["ny"[int(each)] for each in answers[:, item]]
    for name in ("Sex", "Age", "Y0"):
        for row in np.flatnonzero(rng.random(rows) < missing):
            columns[name][row] = None
    return columns


def test_covariates_move_the_class_by_a_logistic_cpt_though_some_are_missing() -> None:
    edges = "Sex -> Class; Age -> Class; " + "; ".join(f"Class -> Y{item}" for item in range(5))
    data = Data(covariate_rows(), latent={"Class": [1, 2, 3]})
    result = lc.learn(edges, data, shapes={"Class": "logistic"})
    assert result.network.states("Class") == ("1", "2")  # by BIC
    assert result.network.free_parameters == 4 + 1 + 2 + 10
    table = result.cpt("Class").table
    logits = np.log(table[..., 0] / table[..., 1])
    if result.cpt("Y1").table[0, 1] < 0.5:  # the larger class is the other one
        logits = -logits
    # Main effects alone, about as they were drawn.
    effects = logits - logits[0, 0]
    axes = [result.network.parents("Class").index(name) for name in ("Sex", "Age")]
    effects = np.moveaxis(effects, axes, (0, 1))
    np.testing.assert_allclose(effects[1, 1] - effects[1, 0], effects[0, 1], atol=1e-6)
    np.testing.assert_allclose(effects[1, 0], 1.1, atol=0.35)
    np.testing.assert_allclose(effects[0, 2], 1.4, atol=0.35)
    assert result.network.log_likelihood(data) == pytest.approx(
        result.ended.log_likelihood,  # type: ignore[union-attr]
        abs=1e-5,
    )


def test_intervals_are_those_of_the_best() -> None:
    data = Data(carcinoma(), latent={"Class": [2, 3]})
    bare = lc.learn(BY_CLASS, data)
    result = lc.learn(BY_CLASS, data, intervals=True)
    np.testing.assert_allclose(result.cpt("Class").table, bare.cpt("Class").table, atol=1e-12)
    low, high = np.moveaxis(result.interval("Class"), -1, 0)
    assert ((low < result.cpt("Class").table) & (result.cpt("Class").table < high)).all()
    assert result.alternatives is not None
    assert result.alternatives[2].uncertainty is None


def test_a_network_that_has_the_variable_takes_other_numbers_of_states() -> None:
    network = lc.learn(BY_CLASS, Data(carcinoma(), latent={"Class": 2})).network
    result = lc.learn(network, Data(carcinoma(), latent={"Class": [2, 3]}))
    assert result.network.states("Class") == ("1", "2", "3")


def test_a_hidden_state_of_a_panel_has_one_number_in_all_waves() -> None:
    rng = np.random.default_rng(1)
    rows: dict[str, list[Any]] = {"who": [], "wave": [], "S": []}
    for who in range(150):
        state = int(rng.integers(0, 2))
        for wave in range(4):
            state = state if rng.random() < 0.85 else 1 - state
            rows["who"].append(who)
            rows["wave"].append(wave)
            rows["S"].append("ny"[int(rng.random() < (0.1, 0.9)[state])])
    data = Data(rows, unit="who", time="wave", latent={"H": [1, 2]})
    result = lc.learn("H[t-1] -> H[t] -> S[t]", data)
    assert result.network.states("H[3]") == ("1", "2")
    assert result.alternatives is not None
    assert [fit.numbers for fit in result.alternatives.fits] == [{"H": 1}, {"H": 2}]


def test_the_table_is_kept_in_files_and_the_other_results_are_not(tmp_path: Path) -> None:
    result = lc.learn(BY_CLASS, Data(carcinoma(), latent={"Class": [2, 3]}))
    path = tmp_path / "classes.json"
    result.write(path)
    known = lc.read_result(path)
    assert known.alternatives is not None
    assert result.alternatives is not None
    assert known.alternatives.fits == result.alternatives.fits
    assert str(known.alternatives) == str(result.alternatives)
    with pytest.raises(LacunetError, match="Class 2 was not kept"):
        known.alternatives[2]
    frame = known.alternatives.to_frame("pyarrow")
    assert frame["Class"].to_pylist() == [2, 3]
    assert frame["best"].to_pylist() == [False, True]


def test_the_shell_tries_numbers_of_classes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rows.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(RATERS)
        writer.writerows(row.values() for row in carcinoma().to_pylist())
    page = tmp_path / "page.html"
    command = ["learn", BY_CLASS, str(path), "--latent", "Class=2..3", "--json"]
    assert main([*command, "--report", str(page)]) == 0
    known = json.loads(capsys.readouterr().out)
    assert [row["Class"] for row in known["alternatives"]] == [2, 3]
    assert known["alternatives"][1]["log-likelihood"] == pytest.approx(-293.705, abs=2e-3)
    assert known["states"]["Class"] == ["1", "2", "3"]
    assert "Models with 2 to 3 states of Class were compared" in page.read_text()


def test_reports_say_what_was_compared() -> None:
    result = lc.learn(BY_CLASS, Data(carcinoma(), latent={"Class": [2, 3]}))
    sentence = "Models with 2 to 3 states of Class were compared by the BIC"
    assert sentence in result.methods_text()
    assert sentence in str(result)
    (one,) = lc.learn(BY_CLASS, Data(carcinoma(), latent={"Class": 2})).alternatives.fits  # type: ignore[union-attr]
    assert result.alternatives is not None
    assert one == result.alternatives.fits[0]


def test_what_is_explained_is_what_is_learned() -> None:
    data = Data(carcinoma(), latent={"Class": [3, 4]})
    explained = str(lc.explain(BY_CLASS, data))
    assert "pseudo-counts: 0" in explained
    assert lc.learn(BY_CLASS, data).pseudo_counts == 0


def test_the_design_of_a_survey_widens_the_intervals_of_classes() -> None:
    rows = [row for row in carcinoma().to_pylist() for _ in range(3)]
    data = {name: [row[name] for row in rows] for name in RATERS}
    by_slide = [index // 3 for index in range(len(rows))]
    plain = lc.learn(BY_CLASS, Data(data, latent={"Class": 2}), intervals=True)
    clustered = lc.learn(
        BY_CLASS, Data(data, cluster=by_slide, latent={"Class": 2}), intervals=True
    )
    np.testing.assert_allclose(clustered.cpt("Class").table, plain.cpt("Class").table, atol=1e-4)
    widths = [np.ptp(each.interval("Class")[0]) for each in (plain, clustered)]
    assert 1.4 < widths[1] / widths[0] < 2.1  # the square root of three, by chance of replicates


@pytest.mark.parametrize("numbers", [0, [], "two", [2, 0], [2.5], True])
def test_what_is_no_number_of_states_is_refused(numbers: Any) -> None:
    with pytest.raises(DataError, match="'Class'"):
        Data(carcinoma(), latent={"Class": numbers})


def test_states_and_numbers_that_differ_are_refused() -> None:
    with pytest.raises(DataError, match="'Class' has 2 to 3 states"):
        Data(carcinoma(), latent={"Class": [2, 3]}, states={"Class": ["low", "high"]})
    named = Data(carcinoma(), latent={"Class": 2}, states={"Class": ["low", "high"]})
    assert lc.Network.from_data(named, BY_CLASS).states("Class") == ("low", "high")


def test_methods_without_a_likelihood_are_refused() -> None:
    with pytest.raises(LacunetError, match="direct-mar"):
        lc.learn(BY_CLASS, Data(carcinoma(), latent={"Class": 2}), "direct-mar")

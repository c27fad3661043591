"""Cells that are one of several states: likelihoods, expectations, posteriors and completions.

The oracle is the whole joint law of a small network, multiplied by what each row says.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lacunet as lc
from enumeration import cell_vector, row_law
from lacunet.ask.predict.posteriors import row_posteriors
from lacunet.counts.em_problems.compile import Problems, compile_problems, merge_problems
from lacunet.counts.errors import ScopeError
from lacunet.data.table import Codes, EncodedTable
from lacunet.inference.completions import draw_completions, most_probable
from lacunet.inference.engine import engine_of
from lacunet.inference.errors import ImpossibleDataError
from lacunet.inference.likelihood import observed_log_likelihood, table_log_likelihood
from lacunet.network.network import Network

MANY = pytest.mark.parametrize("problems", [30, pytest.param(500, marks=pytest.mark.slow)])
CHAIN = Network(
    {"A": ["0", "1", "2"], "B": ["0", "1", "2"]},
    {"B": ["A"]},
    {"A": [0.2, 0.3, 0.5], "B": [[0.5, 0.25, 0.25], [0.1, 0.2, 0.7], [0, 0.5, 0.5]]},
)


def random_network(rng: np.random.Generator) -> Network:
    names = [f"X{at}" for at in range(rng.integers(2, 6))]
    sizes = {name: int(rng.integers(2, 5)) for name in names}
    parents = {
        name: [other for other in names[:at] if rng.random() < 0.5] for at, name in enumerate(names)
    }
    tables = {
        name: rng.dirichlet(np.ones(sizes[name]), [sizes[parent] for parent in parents[name]])
        for name in names
    }
    order = [names[at] for at in rng.permutation(len(names))]
    return Network(
        {name: [str(state) for state in range(sizes[name])] for name in order}, parents, tables
    )


def random_sets(rng: np.random.Generator, size: int) -> tuple[tuple[int, ...], ...]:
    """Some sets of neither one nor all states."""
    found = {
        tuple(sorted(rng.choice(size, int(rng.integers(2, size)), replace=False).tolist()))
        for _ in range(rng.integers(1, 4))
        if size > 2
    }
    return tuple(sorted(found))


def random_table(network: Network, rng: np.random.Generator, rows: int) -> EncodedTable:
    sets_of = {name: random_sets(rng, network.cardinality(name)) for name in network.variables}
    columns: dict[str, Codes] = {}
    for name, sets in sets_of.items():
        size = network.cardinality(name)
        codes = rng.integers(0, size, rows)
        codes[rng.random(rows) < 0.3] = size
        is_set = (rng.random(rows) < 0.4) & bool(sets)
        chosen = size + 1 + rng.integers(0, max(len(sets), 1), rows)
        columns[name] = np.where(is_set, chosen, codes).astype(np.uint8)
    weights = rng.uniform(0.5, 2, rows)
    used = {name: sets for name, sets in sets_of.items() if sets}
    return EncodedTable(network.cardinality_of, columns, weights, sets_of=used)


def expected(network: Network, table: EncodedTable) -> tuple[dict[str, np.ndarray], float]:
    """The expected counts of all families and the log-likelihood, from the joint law."""
    counts = {name: np.zeros_like(network.cpt(name).table) for name in network.variables}
    log_likelihood = 0.0
    names = network.variables
    for row, weight in enumerate(table.row_weights):
        law = row_law(network, table, row)
        log_likelihood += weight * np.log(law.sum())
        for name in names:
            family = [names.index(axis) for axis in network.family(name)]
            rest = tuple(axis for axis in range(law.ndim) if axis not in family)
            share = law.sum(axis=rest).transpose(np.argsort(np.argsort(family)))
            counts[name] += weight * share / law.sum()
    return counts, log_likelihood


def expectation(problems: Problems, network: Network) -> tuple[dict[str, np.ndarray], float]:
    layout = problems.layout
    cells = layout.flat({name: network.cpt(name).table for name in network.variables})
    found = engine_of(problems, 2**30).expect(cells)
    return layout.tables(found.counts), float(found.log_likelihoods.sum())


@MANY
def test_likelihoods_and_expected_counts_are_those_of_the_joint_law(problems: int) -> None:
    rng = np.random.default_rng(problems)
    for _ in range(problems):
        network = random_network(rng)
        table = random_table(network, rng, rows=5)
        counts, log_likelihood = expected(network, table)
        found, log = expectation(compile_problems(network, table, prune=False), network)
        for name in network.variables:
            np.testing.assert_allclose(found[name], counts[name], rtol=0, atol=1e-12)
        assert log == pytest.approx(log_likelihood, rel=1e-12)
        _, pruned = expectation(compile_problems(network, table), network)
        assert pruned == pytest.approx(log_likelihood, rel=1e-12)
        assert table_log_likelihood(network, table) == pytest.approx(log_likelihood, rel=1e-12)


@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1))
def test_em_ends_where_a_step_by_the_joint_law_stays_and_no_lower_than_it_began(seed: int) -> None:
    rng = np.random.default_rng(seed)
    start = random_network(rng)
    table = random_table(start, rng, rows=12).scaled()
    method = lc.EM(start=start, tolerance=1e-11, restarts=1)
    learned = lc.learn(start, table, method, pseudo_counts=1.0).network
    posteriors = []
    for network in (start, learned):
        counts, log_likelihood = expected(network, table)
        logs = [np.log(network.cpt(name).table).sum() for name in network.variables]
        posteriors.append(log_likelihood + sum(logs))  # one pseudo-count per cell
    assert posteriors[1] >= posteriors[0] - 1e-9
    for name in learned.variables:
        step = counts[name] + 1
        step /= step.sum(axis=-1, keepdims=True)
        np.testing.assert_allclose(learned.cpt(name).table, step, rtol=0, atol=1e-7)


def test_barren_variables_are_left_out_and_those_with_sets_are_not() -> None:
    """Textbook EM fills barren variables in from the CPT: the ratios of a row stay the same."""
    rng = np.random.default_rng(1)
    for _ in range(15):
        network = random_network(rng)
        table = random_table(network, rng, rows=5)
        whole, _ = expectation(compile_problems(network, table, prune=False), network)
        lean, _ = expectation(compile_problems(network, table), network)
        plain = table.without_sets()
        for name in network.variables:
            assert (lean[name] <= whole[name] + 1e-12).all()
            column = table.columns[name]
            if (column != network.cardinality(name)).all():  # something is known in every row
                np.testing.assert_allclose(lean[name], whole[name], rtol=0, atol=1e-12)
        assert plain.missing_of == table.missing_of


@MANY
def test_posteriors_and_completions_are_those_of_the_joint_law(problems: int) -> None:
    rng = np.random.default_rng(problems)
    for _ in range(problems):
        network = random_network(rng)
        table = random_table(network, rng, rows=4)
        names = network.variables
        found = row_posteriors(network, table, names)
        best = most_probable(network, table)
        drawn = draw_completions(network, table, 3, rng)
        for row in range(table.rows):
            law = row_law(network, table, row)
            assert found.log_probability[row] == pytest.approx(np.log(law.sum()), rel=1e-12)
            for axis, name in enumerate(names):
                rest = tuple(other for other in range(law.ndim) if other != axis)
                expected_law = law.sum(axis=rest) / law.sum()
                np.testing.assert_allclose(found.of_target[name][row], expected_law, atol=1e-12)
            cell = tuple(int(best.columns[name][row]) for name in names)
            assert law[cell] == pytest.approx(law.max(), rel=1e-12)
            for whole in drawn:
                assert law[tuple(int(whole.columns[name][row]) for name in names)] > 0
        assert not best.sets_of
        assert not best.partially_observed


def test_draws_have_the_posterior_of_the_set() -> None:
    rows = 40_000
    columns: dict[str, Codes] = {
        "A": np.full(rows, 4, np.uint8),  # 0 or 2
        "B": np.full(rows, 1, np.uint8),
    }
    table = EncodedTable(CHAIN.cardinality_of, columns, sets_of={"A": ((0, 2), (1, 2))})
    [drawn] = draw_completions(CHAIN, table, 1, np.random.default_rng(3))
    share = 0.2 * 0.25 / (0.2 * 0.25 + 0.5 * 0.5)
    error = np.sqrt(share * (1 - share) / rows)
    assert (drawn.columns["A"] != 1).all()
    assert abs((drawn.columns["A"] == 0).mean() - share) < 4 * error


def test_full_sets_and_single_states_give_the_bits_of_missing_and_shown_cells() -> None:
    """The door never makes such sets; a table that declares sets and has none is the same."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        network = random_network(rng)
        table = random_table(network, rng, rows=30).without_sets()
        declared = replace(
            table,
            sets_of={
                name: ((0, 1),) for name in network.variables if network.cardinality(name) > 2
            },
        )
        one, log_one = expectation(compile_problems(network, table), network)
        two, log_two = expectation(compile_problems(network, declared), network)
        assert log_one == log_two
        for name in network.variables:
            np.testing.assert_array_equal(one[name], two[name])


def test_problems_of_batches_add_up_to_those_of_all_rows() -> None:
    rng = np.random.default_rng(2)
    network = random_network(rng)
    table = random_table(network, rng, rows=300)
    whole = compile_problems(network, table)
    parts = [compile_problems(network, table.take(slice(at, at + 60))) for at in range(0, 300, 60)]
    again = merge_problems(parts)
    one, log_one = expectation(whole, network)
    two, log_two = expectation(again, network)
    assert log_two == pytest.approx(log_one, rel=1e-13)
    for name in network.variables:
        np.testing.assert_allclose(two[name], one[name], atol=1e-11)
    other = replace(table, sets_of={name: sets[:1] * 4 for name, sets in table.sets_of.items()})
    with pytest.raises(ScopeError, match="different codes"):
        whole + compile_problems(network, other)


def test_loopy_propagation_is_exact_on_a_tree_with_sets() -> None:
    columns: dict[str, Codes] = {
        "A": np.array([4, 3, 5], np.uint8),
        "B": np.array([3, 4, 4], np.uint8),
    }
    sets = {"A": ((0, 2), (1, 2)), "B": ((0, 1),)}
    table = EncodedTable(CHAIN.cardinality_of, columns, sets_of=sets)
    problems = compile_problems(CHAIN, table)
    cells = problems.layout.flat({name: CHAIN.cpt(name).table for name in CHAIN.variables})
    exact = engine_of(problems, 2**30).expect(cells)
    loopy = engine_of(problems, 2**30, "bp").expect(cells)
    np.testing.assert_allclose(loopy.counts, exact.counts, atol=1e-8)
    np.testing.assert_allclose(loopy.log_likelihoods, exact.log_likelihoods, atol=1e-8)


def test_a_set_that_cannot_be_is_named() -> None:
    columns: dict[str, Codes] = {"A": np.array([2], np.uint8), "B": np.array([4], np.uint8)}
    sure = CHAIN.with_tables({"A": [0.2, 0.3, 0.5], "B": [[1, 0, 0]] * 3})
    table = EncodedTable(sure.cardinality_of, columns, sets_of={"B": ((1, 2),)})
    assert observed_log_likelihood(sure, table) == -np.inf
    with pytest.raises(ImpossibleDataError, match="B=1 or 2"):
        expectation(compile_problems(sure, table), sure)
    assert cell_vector(table, "B", 0).tolist() == [0, 1, 1]

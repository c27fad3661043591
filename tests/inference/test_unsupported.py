"""What answers owe to CPT rows without data, against the sum over all configurations."""

from __future__ import annotations

from itertools import pairwise, product

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import lacunet as lc
from lacunet.inference.errors import ImpossibleEvidenceError, QueryError, UnsupportedError
from lacunet.inference.joint import pose_question
from lacunet.inference.unsupported import bounds_over_bare_rows
from lacunet.network.network import FloatArray, Network
from strategies import networks

HEART = Network(
    {"Age": ["kid", "adult"], "MI": ["no", "yes"]},
    {"MI": ["Age"]},
    {"Age": [0.4, 0.6], "MI": [[0.5, 0.5], [0.95, 0.05]]},
).with_support({"Age": 1000, "MI": [0, 600]})


@st.composite
def questions(draw: st.DrawFn) -> tuple[Network, str, dict[str, str], dict[str, str]]:
    """A network of which some rows have no data, a target, evidence and something done."""
    network = draw(networks(max_variables=5, max_parents=2))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    network = network.with_support(
        {name: rng.random(network.shape(network.parents(name))) < 0.8 for name in network.variables}
    )
    roles = {name: rng.choice(["", "", "evidence", "do"]) for name in network.variables}
    target = draw(st.sampled_from(network.variables))
    given_states = {
        role: {
            name: str(rng.choice(network.states(name)))
            for name in network.variables
            if roles[name] == role
        }
        for role in ("evidence", "do")
    }
    return network, target, given_states["evidence"], given_states["do"]


def by_definition(
    network: Network, target: str, evidence: dict[str, str], do: dict[str, str]
) -> tuple[FloatArray, float]:
    """The answer and its share, by enumeration; which families matter, by networkx."""
    asked = network.intervened({v: network.state_index(v, s) for v, s in do.items()})
    given_states = {**evidence, **do}
    matters = _families_that_matter(asked, target, given_states)
    answer, bare = np.zeros(network.cardinality(target)), 0.0
    for states in product(*(range(network.cardinality(name)) for name in network.variables)):
        at = dict(zip(network.variables, states, strict=True))
        if any(network.states(name)[at[name]] != state for name, state in given_states.items()):
            continue
        weight = np.prod([asked.cpt(v).table[tuple(at[u] for u in asked.family(v))] for v in at])
        answer[at[target]] += weight
        support = asked.support or {}
        if any(
            not support[v][tuple(at[u] for u in asked.parents(v))] for v in matters if v in support
        ):
            bare += weight
    total = answer.sum()
    assume(total > 0)
    return answer / total, bare / total


def _families_that_matter(network: Network, target: str, seen: dict[str, str]) -> list[str]:
    """Those connected with the target once barren and seen variables are gone."""
    graph = network.to_networkx()
    kept = {target, *seen}
    for name in [target, *seen]:
        kept |= nx.ancestors(graph, name)
    moral = nx.Graph()
    for name in kept:
        members = [one for one in network.family(name) if one not in seen]
        moral.add_nodes_from(members)
        nx.add_path(moral, members)
    if target in seen:
        return []
    near = nx.node_connected_component(moral, target)
    return [name for name in kept if near & set(network.family(name))]


@given(questions())
def test_answer_and_share_are_those_of_the_sum_over_all_configurations(
    asked: tuple[Network, str, dict[str, str], dict[str, str]],
) -> None:
    network, target, evidence, do = asked
    answer, share = by_definition(network, target, evidence, do)
    got = network.query(target, evidence, do=do, unsupported="ignore")
    np.testing.assert_allclose(got, answer, atol=1e-12)
    assert got.unsupported == pytest.approx(share, abs=1e-9)
    of_all = network.marginals(evidence, do=do, unsupported="ignore")[target]
    np.testing.assert_allclose(of_all, answer, atol=1e-12)
    assert of_all.unsupported == pytest.approx(share, abs=1e-9)


@settings(deadline=None)
@given(questions(), st.booleans())
def test_shares_of_all_marginals_are_those_of_the_sum_over_all_configurations(
    asked: tuple[Network, str, dict[str, str], dict[str, str]], is_tight: bool
) -> None:
    network, target, evidence, _ = asked
    by_definition(network, target, evidence, {})  # whether the evidence is possible
    scopes = [(name,) for name in network.variables]
    question = pose_question(network, scopes, evidence, shares=True)
    if is_tight:  # no memory for all versions of a message: each share by itself
        tree = question.plan.calibration.tree
        question = pose_question(network, scopes, evidence, max(tree.memory, 64), shares=True)
    shares = dict(zip(network.variables, question.shares, strict=True))
    for name in network.variables:
        answer, share = by_definition(network, name, evidence, {})
        assert shares[name] == pytest.approx(share, abs=1e-9)
        (got,) = pose_question(network, [(name,)], evidence, shares=True).answers
        np.testing.assert_allclose(got, answer, atol=1e-12)


def _with_rows(network: Network, rng: np.random.Generator, corner: bool) -> Network:
    """The network with other numbers in the rows without data."""
    tables = {}
    for cpt in network.cpts:
        assert cpt.supported is not None
        other = rng.dirichlet(np.ones(cpt.table.shape[-1]), cpt.supported.shape)
        if corner:
            other = np.eye(cpt.table.shape[-1])[other.argmax(axis=-1)]
        tables[cpt.child] = np.where(cpt.supported[..., None], cpt.table, other)
    return network.with_tables(tables).with_support(network.support)


def _brute_bounds(
    network: Network, target: str, evidence: dict[str, str]
) -> tuple[FloatArray, FloatArray] | None:
    """The extremes over all corners of the rows without data, if these are few."""
    rows = [
        (cpt.child, tuple(place))
        for cpt in network.cpts
        if cpt.supported is not None
        for place in np.argwhere(~cpt.supported).tolist()
    ]
    choices = [range(network.cardinality(name)) for name, _ in rows]
    if np.prod([len(one) for one in choices]) > 300:
        return None
    found = []
    for states in product(*choices):
        tables = {cpt.child: cpt.table.copy() for cpt in network.cpts}
        for (name, place), state in zip(rows, states, strict=True):
            tables[name][place] = np.eye(network.cardinality(name))[state]
        try:
            found.append(network.with_tables(tables).query(target, evidence))
        except ImpossibleEvidenceError:
            continue
    return (np.min(found, axis=0), np.max(found, axis=0)) if found else None


@settings(deadline=None)
@given(questions(), st.sampled_from([1, 4, 4096]))
def test_bounds_hold_for_all_values_and_are_reached_where_they_are_exact(
    asked: tuple[Network, str, dict[str, str], dict[str, str]], most: int
) -> None:
    network, target, evidence, _ = asked
    by_definition(network, target, evidence, {})
    question = pose_question(network, [(target,)], evidence)
    bounds, are_exact = bounds_over_bare_rows(question, most)
    rng = np.random.default_rng(0)
    for number in range(10):
        other = _with_rows(network, rng, corner=number % 2 == 0)
        try:
            answer = np.asarray(other.query(target, evidence, unsupported="ignore"))
        except ImpossibleEvidenceError:
            continue
        assert (bounds.low <= answer + 1e-9).all()
        assert (answer <= bounds.high + 1e-9).all()
    if are_exact and (reached := _brute_bounds(network, target, evidence)):
        np.testing.assert_allclose(bounds.low, reached[0], atol=1e-9)
        np.testing.assert_allclose(bounds.high, reached[1], atol=1e-9)
    if most == 4096:
        assert are_exact or sum((~mask).sum() for mask in (network.support or {}).values()) > 8


def test_an_outer_bound_says_so_and_is_wider() -> None:
    question = pose_question(HEART, [("MI",)])
    outer, are_exact = bounds_over_bare_rows(question, most_choices=1)
    assert not are_exact
    np.testing.assert_allclose(outer.low, [0.57, 0.03], atol=1e-12)  # here as tight as can be
    exact = HEART.query("MI", unsupported="bounds")
    assert exact.bounds_are_exact
    np.testing.assert_allclose(np.array(exact.bounds), np.array(outer), atol=1e-12)


def test_the_example_of_children_and_adults() -> None:
    rows = {
        "Age": ["kid"] * 400 + ["adult"] * 600,
        "MI": [None] * 400 + ["no"] * 570 + ["yes"] * 30,
    }
    with pytest.warns(lc.LacunetWarning, match="question"):
        network = lc.Network.from_data(rows, "Age -> MI")
    result = lc.learn(network, rows)
    with pytest.warns(lc.LacunetWarning, match=r"P\(MI\): 40\.0%") as told:
        answer = result.query("MI")
    assert told[0].filename == __file__
    assert answer.unsupported == pytest.approx(0.4, abs=5e-4)
    assert "40.0%" in str(answer)
    with pytest.raises(UnsupportedError, match=r"40\.0%"):
        result.query("MI", unsupported="refuse")
    assert result.query("MI", {"Age": "adult"}, unsupported="refuse").unsupported == 0
    assert result.network.with_support(None).query("MI").unsupported is None
    low, high = result.query("MI", unsupported="bounds").bounds or ((), ())
    # nobody or all of the 40%, beside 5% of the adults (one pseudo-count per cell)
    adult = 601 / 1002
    np.testing.assert_allclose(low[1], adult * 31 / 602, rtol=1e-12)
    np.testing.assert_allclose(high[1], adult * 31 / 602 + 1 - adult, rtol=1e-12)
    with pytest.raises(QueryError, match="'perhaps'"):
        result.query("MI", unsupported="perhaps")  # type: ignore[arg-type]


def test_marginals_do_with_unsupported_what_a_query_does() -> None:
    with pytest.warns(lc.LacunetWarning, match=r"P\(MI\): 40\.0%") as told:
        found = HEART.marginals()
    assert len(told) == 1
    assert found["MI"].unsupported == pytest.approx(0.4)
    assert found["Age"].unsupported == 0
    with pytest.raises(UnsupportedError, match=r"40\.0%"):
        HEART.marginals(unsupported="refuse")
    assert HEART.marginals({"Age": "adult"}, unsupported="refuse")["MI"].unsupported == 0
    assert HEART.marginals(unsupported="ignore")["MI"].bounds is None
    bounded = HEART.marginals(unsupported="bounds")
    for name in HEART.variables:
        expected = HEART.query(name, unsupported="bounds")
        np.testing.assert_allclose(
            np.array(bounded[name].bounds), np.array(expected.bounds), atol=1e-12
        )
        assert bounded[name].bounds_are_exact == expected.bounds_are_exact
    with pytest.raises(QueryError, match="'perhaps'"):
        HEART.marginals(unsupported="perhaps")  # type: ignore[arg-type]


def test_one_warning_names_all_marginals_that_rest_on_rows_without_data() -> None:
    chain = Network(
        {name: ["0", "1"] for name in "ABCDE"},
        {after: [before] for before, after in pairwise("ABCDE")},
        {"A": [0.5, 0.5], **{name: [[0.75, 0.25], [0.5, 0.5]] for name in "BCDE"}},
    ).with_support({"A": 10, "B": [5, 0], "C": [5, 5], "D": [5, 5], "E": [5, 5]})
    with pytest.warns(lc.LacunetWarning, match=r"P\(B\): 50\.0%.*, P\(E\)") as told:
        chain.marginals()
    assert len(told) == 1


def test_bounds_and_intervals_are_printed_beside_the_answer() -> None:
    text = str(HEART.query("MI", unsupported="bounds"))
    assert text.splitlines()[1].split() == ["MI", "probability", "lowest", "highest"]
    assert text.splitlines()[3].split() == ["yes", "0.2300", "0.0300", "0.4300"]
    frame = HEART.query("MI", unsupported="bounds").to_frame()
    assert frame.columns.tolist() == ["MI", "probability", "lowest", "highest"]


def test_doing_is_not_seeing() -> None:
    # Back-door: Z -> X, Z -> Y, X -> Y; the effect is a mean over Z, by hand.
    network = Network(
        {name: ["0", "1"] for name in "ZXY"},
        {"X": ["Z"], "Y": ["X", "Z"]},
        {
            "Z": [0.5, 0.5],
            "X": [[0.8, 0.2], [0.2, 0.8]],
            "Y": [[[0.9, 0.1], [0.5, 0.5]], [[0.7, 0.3], [0.3, 0.7]]],
        },
    )
    np.testing.assert_allclose(network.query("Y", do={"X": "1"}).probabilities[1], (0.3 + 0.7) / 2)
    np.testing.assert_allclose(
        network.query("Y", {"X": "1"}).probabilities[1], 0.2 * 0.3 + 0.8 * 0.7
    )
    np.testing.assert_allclose(network.query("Z", do={"X": 1}), [0.5, 0.5])
    assert str(network.query("Y", {"Z": "0"}, do={"X": "1"})).startswith("P(Y | do(X=1), Z=0)")
    np.testing.assert_array_equal(network.query("X", do={"X": "1"}), [0, 1])
    with pytest.raises(QueryError, match="'X'"):
        network.query("Y", {"X": "0"}, do={"X": "1"})
    with pytest.raises(QueryError, match="None"):
        network.query("Y", do={"X": None})
    with pytest.raises(QueryError, match="mapping"):
        network.query("Y", do="X")  # type: ignore[arg-type]


def test_bounds_keep_to_what_a_rule_leaves_open() -> None:
    rows = {
        "Age": ["kid"] * 4 + ["old"] * 6,
        "Smoked": ["yes", "yes", "yes", "no"] + ["yes"] * 3 + ["no"] * 3,
        "Now": [None] * 4 + ["yes", "no", "no"] + [None] * 3,
    }
    network = Network.from_data(
        lc.Data(rows, not_asked={"Now": "Smoked=no"}), "Age -> Smoked; Age -> Now; Smoked -> Now"
    )
    result = lc.learn(network, rows, "em", pseudo_counts=0, intervals=True)
    answer = result.query("Now", {"Age": "kid"}, unsupported="bounds")
    # Three of four kids have smoked, and no row shows whether they do now.
    np.testing.assert_allclose(answer.bounds, [[0, 0, 1 / 4], [3 / 4, 3 / 4, 1 / 4]], atol=1e-12)
    low, high = answer.interval[:2].T
    assert (low < 0.05).all()
    assert (high > 3 / 4).all()

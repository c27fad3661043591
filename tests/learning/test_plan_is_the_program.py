"""What `explain` says is what `learn` does: estimands, stages and needs, in every way of asking."""

from __future__ import annotations

import inspect
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lacunet as lc
from lacunet.counts.gather import Gathering, Needs, Statistics
from lacunet.data.errors import DataWarning
from lacunet.data.write import to_arrow, write_table
from lacunet.learning import learn as learning
from lacunet.learning.methods import METHODS
from lacunet.learning.plan import Learned, Plan, Setting
from lacunet.learning.pseudo_counts import PseudoCounts
from lacunet.simulation.by_graph import MissingByGraph

NETWORK = lc.Network(
    {"Age": ["young", "old"], "Ill": ["no", "yes"], "Test": ["neg", "pos"], "Care": ["no", "yes"]},
    {"Ill": ["Age"], "Test": ["Ill"], "Care": ["Ill", "Test"]},
    {
        "Age": [0.6, 0.4],
        "Ill": [[0.8, 0.2], [0.4, 0.6]],
        "Test": [[0.9, 0.1], [0.3, 0.7]],
        "Care": [[[0.9, 0.1], [0.7, 0.3]], [[0.5, 0.5], [0.2, 0.8]]],
    },
)
MAR = "Age, Test -> R[Ill]; Age -> R[Care]"
MNAR = "Age -> R[Ill]; Ill -> R[Care]; R[Test]"
MASKED = "Ill -> R[Ill]; Age -> R[Care]"
GRAPHS = {"mar": MAR, "mnar": MNAR, "masked": MASKED}

WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    **{name: (name, {}) for name in METHODS if name not in ("mgraph", "informed-direct")},
    "informed-direct": ("informed-direct", {"groups": ["Test"]}),
    "informed-factored": ("informed-factored", {"groups": ["Age", "Test"]}),
    "learned separator": ("informed-direct", {"groups": "learn"}),
    "separator of a graph": ("informed-factored", {"missingness": MAR}),
    "em from direct-mcar": ("em", {"start": "direct-mcar"}),
    "em from chance": ("em", {"start": "random", "restarts": 1}),
    "em from a network": ("em", {"start": NETWORK}),
    "two steps of em": ("em", {"max_iterations": 2}),
    "no step of em": ("em", {"max_iterations": 0}),
    "no iteration of em-bp": ("em-bp", {"max_iterations": 0}),
    "no step of em on a graph": ("em", {"max_iterations": 0, "missingness": MASKED}),
    "em, ordered": ("em", {"missingness": "Age -> R[Ill]; R[Care] <= R[Ill]"}),
    "median": ("factored-mar", {"aggregation": "median"}),
    **{f"em, {kind}": ("em", {"missingness": text}) for kind, text in GRAPHS.items()},
    **{
        f"auto, {kind}": ("auto", {"missingness": text, "otherwise": "em"})
        for kind, text in GRAPHS.items()
    },
    **{
        f"mgraph, {kind}, otherwise {otherwise}": (
            "mgraph",
            {"missingness": text, "otherwise": otherwise},
        )
        for kind, text in GRAPHS.items()
        for otherwise in ("prior", "em", "auto", "factored-mar", "direct-mcar")
    },
}


def rows_of(way: str) -> Any:
    """Rows whose values go missing by the graph of the way of asking, or by the first."""
    graph = WAYS[way][1].get("missingness", MAR)
    missing = MissingByGraph(lc.MissingnessGraph.parse(graph, NETWORK), beta=(1.0, 2.0))
    return lc.simulate(NETWORK, 300, missing, rng=np.random.default_rng(2)).table


class Watched:
    """What `learn` ran, and what it asked of the rows."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.plans: list[Plan] = []
        self.needs: list[Needs] = []
        run, gathering = learning.run, learning.gathering

        def running(plan: Plan, statistics: Statistics, setting: Setting) -> Learned:
            self.plans.append(plan)
            return run(plan, statistics, setting)

        def asking(plan: Plan, setting: Setting, recipe: str | None, seed: int) -> Gathering:
            self.needs.append(plan.needs(recipe))
            return gathering(plan, setting, recipe, seed)

        monkeypatch.setattr(learning, "run", running)
        monkeypatch.setattr(learning, "gathering", asking)


def assert_as_explained(
    monkeypatch: pytest.MonkeyPatch,
    way: str,
    data: Any,
    memory: int | None = None,
    pseudo_counts: Any = 1.0,
) -> None:
    method, options = WAYS[way]
    told = lc.explain(NETWORK, data, method, pseudo_counts=pseudo_counts, memory=memory, **options)
    watched = Watched(monkeypatch)
    result = lc.learn(NETWORK, data, method, pseudo_counts=pseudo_counts, memory=memory, **options)
    (ran,), (asked,) = watched.plans, watched.needs
    assert told.stages == tuple(stage.name for stage in ran.stages)
    assert told.plan.partially == ran.partially
    assert told.assumption == told.as_data()["assumption"] == result.assumption
    assert told.assumption in str(told)
    assert str(pickle.loads(pickle.dumps(told))) == str(told)
    assert told.plan.pseudo_counts == ran.pseudo_counts == pseudo_counts
    assert told.plan.learned_from == ran.learned_from
    assert (
        bool(ran.learned_from)
        == (pseudo_counts == "learn")
        == isinstance(result.pseudo_counts, PseudoCounts)
    )
    needs = told.plan.needs()
    assert (needs.families, needs.complete, needs.rows) == (
        asked.families,
        asked.complete,
        asked.rows,
    )
    assert (needs.problems is None) == (asked.problems is None)
    if needs.problems is not None and asked.problems is not None:
        assert needs.problems.network == asked.problems.network
    groupings = [(one.family, one.hidden, one.given, one.whole) for one in needs.groupings]
    assert groupings == [(o.family, o.hidden, o.given, o.whole) for o in asked.groupings]
    for name, report in result.families.items():
        assert told.families[name].estimand == report.estimand
        assert told.families[name].latex == report.latex
        assert told.shown[name] == report.rows_shown


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("pseudo_counts", [1.0, "learn"])
def test_what_is_explained_is_what_is_learned(
    way: str, pseudo_counts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_as_explained(monkeypatch, way, rows_of(way), pseudo_counts=pseudo_counts)


@pytest.mark.parametrize("pseudo_counts", [0.0, 1.0, "learn"])
@pytest.mark.parametrize("rows", [1, 5, 9])
def test_a_few_rows_are_learned_as_explained(
    rows: int, pseudo_counts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_as_explained(
        monkeypatch, "auto", rows_of("auto").take(slice(0, rows)), pseudo_counts=pseudo_counts
    )


@pytest.mark.parametrize(
    ("weights", "words"), [([1.0] * 9, "9 rows"), ([1.0] * 8 + [40.0] * 8, "16 rows worth 8.4")]
)
def test_rows_too_few_for_em_are_explained_as_left_to_the_closed_form(
    weights: list[float], words: str
) -> None:
    table = rows_of("auto").take(slice(0, len(weights)))
    data = lc.Data(to_arrow(table, NETWORK), weight=weights)
    told, result = lc.explain(NETWORK, data), lc.learn(NETWORK, data)
    choice = f"factored-mar alone: {words}, too few for EM"
    assert told.plan.intention == told.intention == choice
    assert told.stages == ("factored-mar",)
    assert "if there are fewer than" not in str(told)
    assert choice in result.why


@pytest.mark.parametrize(("rows", "is_branch"), [(None, True), (10, False), (300, False)])
def test_that_rows_may_be_too_few_is_a_branch_only_if_their_number_is_not_known(
    rows: int | None, is_branch: bool
) -> None:
    data = None if rows is None else rows_of("auto").take(slice(0, rows))
    assert ("if there are fewer than 10 rows" in str(lc.explain(NETWORK, data))) == is_branch


SOURCES = ["csv", "parquet", "streamed", "counted", "pandas", "query"]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(
    "way",
    [
        "auto",
        "direct-mcar",
        "factored-mar",
        "learned separator",
        "em, mnar",
        "mgraph, mnar, otherwise em",
    ],
)
def test_from_every_source_it_is_what_is_learned(
    way: str, source: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    table = rows_of(way)
    data: Any = tmp_path / ("rows.parquet" if source in ("parquet", "streamed") else "rows.csv")
    write_table(table, NETWORK, data)
    if source == "streamed":
        monkeypatch.setattr("lacunet.counts.observations.HELD_SHARE", np.inf)
    if source == "counted":
        data = lc.count(NETWORK, table)
    if source == "pandas":
        data = to_arrow(table, NETWORK).to_pandas()
    if source == "query":
        pytest.importorskip("duckdb")
        data = lc.Data(query=f"select * from read_csv('{data}', all_varchar=true)")
    assert_as_explained(monkeypatch, way, data)


@pytest.mark.parametrize("has_data", [False, True])
def test_what_learn_refuses_is_explained_as_refused(has_data: bool) -> None:
    rows = rows_of("mgraph, masked, otherwise em")
    told = lc.explain(NETWORK, rows if has_data else None, "mgraph", missingness=MASKED)
    with pytest.raises(lc.LacunetError) as refused:
        lc.learn(NETWORK, rows, "mgraph", missingness=MASKED)
    assert told.refusal == str(refused.value)
    assert f"learning will be refused: {refused.value}" in str(told)
    assert told.as_data()["refusal"] == told.refusal
    assert told.stages == ()
    assert told.families["Ill"].estimand == "refused"
    assert told.families["Age"].estimand == "P(Age) = P(Age)"
    assert "Age\n  P(Age), read off directly\n" in str(told)
    assert "intervals" not in str(told)
    recovered = lc.explain(NETWORK, method="mgraph", missingness=MAR)
    assert (recovered.refusal, recovered.as_data()["refusal"]) == (None, None)


def test_without_data_the_method_and_its_stages_are_told() -> None:
    told = lc.explain(NETWORK, method="em")
    assert told.rows is None
    assert told.stages == ("factored-mcar", "em")
    learned = lc.explain(NETWORK, method="informed-direct", groups="learn")
    assert "W" in learned.families["Ill"].estimand


def test_the_words_of_learn_that_say_how_to_read_are_words_of_explain() -> None:
    learned, explained = (inspect.signature(one).parameters for one in (lc.learn, lc.explain))
    of_a_run = {"rng", "intervals", "donors"}
    assert list(explained) == [name for name in learned if name not in of_a_run]
    rows: dict[str, list[Any]] = to_arrow(rows_of("em"), NETWORK).to_pydict()
    rows["Times"], rows["Town"] = [2] * 300, [str(number % 6) for number in range(300)]
    assert lc.explain(NETWORK, lc.Data(rows, counts="Times"), "em").rows == 600
    by_town = lc.explain(NETWORK, lc.Data(rows, cluster="Town"), "em").intervals
    assert by_town == lc.explain(NETWORK, lc.Data(rows, cluster="Town"), "em").intervals
    assert by_town != lc.explain(NETWORK, rows, "em").intervals
    more_missing = lc.explain(NETWORK, lc.Data(rows, missing={"Age": "old"}), "em")
    assert "Age" in more_missing.plan.partially


@pytest.mark.parametrize(("method", "is_said"), [(lc.EM(), True), (lc.EM(restarts=1), False)])
def test_that_em_may_start_several_times_is_a_branch_unless_a_number_is_asked_for(
    method: lc.EM, is_said: bool
) -> None:
    rows = {"A": ["x", "y", None, "x"] * 20, "B": ["u", "v", "u", "v"] * 20}
    assert ("from several starts" in str(lc.explain("A -> B", rows, method))) == is_said


def test_without_data_the_separating_variables_are_not_named() -> None:
    told = lc.explain(NETWORK, None, "informed-direct", groups="learn")
    assert told.assumption == "values are missing at random given the separating variables"


RULED = lc.Network(
    {"Smoked": ["no", "yes"], "Now": ["no", "yes", "not_asked"], "Age": ["0", "1", "2"]},
    {"Now": ["Smoked"]},
    not_asked={"Now": "Smoked=no"},
    codes={"Age": {"1+": ["1", "2"]}},
)


@pytest.mark.parametrize(
    ("method", "missingness"),
    [
        *((name, None) for name in ("direct-mar", "factored-mcar", "em", "auto")),
        *((name, "R[Smoked]; R[Now]; R[Age]") for name in ("em", "auto")),
    ],
)
def test_what_is_noted_of_the_rows_is_noted_by_both(method: str, missingness: str | None) -> None:
    rows = {
        "Smoked": ["no", "yes", None, "yes", "no", "yes"] * 5,
        "Now": [None, "no", None, "yes", None, None] * 5,
        "Age": ["1+", None] * 15,
        "Town": list("abcdef") * 5,
        "weight": [1e6] + [1e-3] * 29,
    }
    options = {} if missingness is None else {"missingness": missingness}
    found = []
    for asked in (lc.learn, lc.explain):
        with pytest.warns(DataWarning) as warned:
            notes = asked(RULED, lc.Data(rows, weight="weight"), method, **options).notes
        found.append((notes, sorted(str(own.message) for own in warned)))
    learned, explained = found
    assert explained == learned
    assert any("whether Now was asked" in note for note in explained[0]) == (missingness is None)


@pytest.mark.parametrize("otherwise", ["direct-mcar", "em", "auto", "prior"])
def test_what_stands_in_for_a_formula_without_rows_is_explained(otherwise: str) -> None:
    rows = {"A": ["x", "y", None, None] * 10, "B": [None, None, "u", "v"] * 10}
    options = {"missingness": "R[A]; A -> R[B]", "otherwise": otherwise}
    told = lc.explain("A -> B", rows, **options)
    result = lc.learn("A -> B", rows, **options)
    for name, report in result.families.items():
        assert told.families[name].estimand == report.estimand
    assert told.families["B"].note in result.families["B"].warnings[0]
    assert told.families["B"].note in str(told)


def test_where_em_on_a_graph_makes_no_step_its_start_is_explained() -> None:
    rows = {"A": ["x", "y", None, None] * 10, "B": [None, None, "u", "v"] * 10}
    told = lc.explain("A -> B", rows, "em", missingness="R[A]; A -> R[B]", max_iterations=0)
    result = lc.learn("A -> B", rows, "em", missingness="R[A]; A -> R[B]", max_iterations=0)
    for name, report in result.families.items():
        assert told.families[name].estimand == report.estimand


def test_one_cluster_refuses_intervals_alone() -> None:
    rows = {"A": ["x", "y", None] * 10, "Town": ["here"] * 30}
    network = lc.Network({"A": ["x", "y"]})
    told = lc.explain(network, lc.Data(rows, cluster="Town"), "em")
    assert (
        told.families["A"].estimand
        == lc.learn(network, lc.Data(rows, cluster="Town"), "em").families["A"].estimand
    )
    with pytest.raises(lc.LacunetError) as refused:
        lc.learn(network, lc.Data(rows, cluster="Town"), "em", intervals=True)
    assert told.intervals == f"intervals will be refused: {refused.value}"


def test_a_stratum_with_one_cluster_is_explained_as_it_is_noted() -> None:
    rows = {"A": ["x", "y", None] * 10, "Town": list("abc") * 10, "Land": list("vww") * 10}
    said = {"strata": "Land", "cluster": "Town"}
    network = lc.Network({"A": ["x", "y"]})
    (note,) = lc.learn(network, lc.Data(rows, **said), "em", intervals=True).notes
    assert note in lc.explain(network, lc.Data(rows, **said), "em").intervals

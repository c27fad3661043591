"""Names and keywords that are guessed: the error says ours."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import lacunet as lc
import lacunet.sklearn
from examples import RAIN
from lacunet.errors import LacunetError
from lacunet.estimate.registry import KINDS, METHODS, options_of
from lacunet.hints import KEYWORDS, NAMES, OF_DATA, with_hints

ROWS = {"Rain": ["no", "yes", None], "Sprinkler": ["on", "off", "off"], "Wet": ["no", None, "yes"]}
FUNCTIONS = [name for name in lc.__all__ if name[0].islower()]
HIDERS = (lc.MCAR, lc.MAR, lc.InformedMAR, lc.MissingByGraph)
MADE = (*KINDS.values(), *HIDERS, lc.Data, lc.ReplicateWeights, lc.Network, lc.MissingnessGraph)


@pytest.mark.parametrize(
    "function",
    [*(getattr(lc, name) for name in FUNCTIONS), *MADE, lc.Network.from_data],
    ids=lambda own: own.__name__,
)
def test_a_keyword_that_is_guessed_is_answered_with_all_there_are(function: Any) -> None:
    known = inspect.signature(function).parameters
    if any(one.kind is one.VAR_KEYWORD for one in known.values()):
        pytest.skip("the method says which options it takes")
    with pytest.raises(TypeError) as refused:
        function(no_such_keyword=1)
    note = str(refused.value)
    assert all(re.search(rf"\b{one}\b", note) for one in known)


@pytest.mark.parametrize(
    ("name", "keyword", "ours"),
    [
        ("impute", "seed", "rng"),
        ("query", "intervals", "interval"),
        ("query", "given", "evidence"),
        ("predict", "target", "targets"),
        ("learn_structure", "blacklist", "forbidden"),
        ("diagnose", "weights", "weight"),
        ("effect", "evidence", "given"),
        ("effect", "treatment", "do"),
        ("impute", "m", "draws"),
        ("EM", "max_iter", "max_iterations"),
        ("Data", "weights", "weight"),
        ("Data", "sep", "delimiter"),
        ("learn_structure", "bootstrap", "strengths"),
        ("learn_structure", "edges", "required"),
    ],
)
def test_the_keyword_of_another_library_is_answered_with_ours(
    name: str, keyword: str, ours: str
) -> None:
    with pytest.raises(TypeError) as refused:
        getattr(lc, name)(**{keyword: 1})
    assert f"\nHint: did you mean '{ours}'" in str(refused.value)


def test_every_keyword_on_offer_is_one_of_a_function() -> None:
    taken = {one for name in FUNCTIONS for one in inspect.signature(getattr(lc, name)).parameters}
    taken |= {own for name in METHODS for own in options_of(name)}
    taken |= {*inspect.signature(lc.Data).parameters}
    assert {ours for names in KEYWORDS.values() for ours in names} <= taken


@pytest.mark.parametrize(
    ("keyword", "ours"),
    [("seed", "rng"), ("timeout", "time_limit"), ("sampling_weights", "weight")],
)
def test_learn_offers_its_own_arguments_and_those_of_the_method(keyword: str, ours: str) -> None:
    answer = f"'{keyword}'(?s:.)*did you mean '{ours}'"
    with pytest.raises(lc.LacunetError, match=answer):
        lc.learn(RAIN, ROWS, **{keyword: 1})


@pytest.mark.parametrize(
    ("keyword", "way"),
    [
        ("states", "Network.from_data(data, edges, states=...)"),
        ("bins", "Network.from_data(data, edges, bins=...)"),
        ("edges", "edges are the first argument: learn(edges, data)"),
        ("metod", "did you mean 'method'"),
        ("methods", "did you mean 'method'"),
        ("max_iter", "'max_iterations' is an option of one-step, em, em-bp"),
        ("restart", "'restarts' is an option of one-step, em, em-bp: say method='em'"),
    ],
)
def test_learn_says_where_a_keyword_belongs(keyword: str, way: str) -> None:
    with pytest.raises(lc.LacunetError, match=re.escape(way)):
        lc.learn(RAIN, ROWS, **{keyword: 1})


def test_what_belongs_to_data_is_all_that_functions_do_not_take_themselves() -> None:
    shorthands = {"weight", "counts", "strata", "cluster", "missing"}
    known = {*inspect.signature(lc.Data).parameters} - {"source", "aside"}
    assert {*OF_DATA} == known
    described = [lc.learn, lc.explain, lc.diagnose, lc.sensitivity, lc.worst_case]
    for function in (*described, lc.learn_structure, lc.learn_missingness):
        assert {*inspect.signature(function).parameters} & known == shorthands


@pytest.mark.parametrize(
    "function",
    [
        lc.impute,
        lc.predict,
        lc.MissingnessGraph.parse,
        lc.Verdict.estimate,
        lc.Verdict.identified_set,
        lc.Verdict.assumptions,
    ],
    ids=lambda function: function.__qualname__,
)
def test_what_a_function_does_not_take_of_data_is_answered_with_data(function: Any) -> None:
    for option in {*OF_DATA} - {*inspect.signature(function).parameters, "query", "database"}:
        with pytest.raises(TypeError) as refused:
            function(**{option: 1})
        assert f"lacunet.Data(data, {option}=...)" in str(refused.value)


def test_data_alone_are_answered_with_what_finds_edges() -> None:
    for call in (lambda: lc.learn(ROWS), lambda: lc.learn(data=ROWS)):  # type: ignore[call-arg]
        with pytest.raises(TypeError) as refused:
            call()
        assert "learn_structure(data)" in str(refused.value)


def test_options_of_the_method_are_not_an_argument() -> None:
    for function in (lc.learn, lc.explain):
        with pytest.raises(TypeError) as refused:
            function()  # type: ignore[call-arg]
        assert "options" not in str(refused.value)


def test_a_guess_about_a_result_or_a_network_is_answered_with_ours() -> None:
    with pytest.raises(TypeError, match=re.escape("result.cpt('Rain')")):
        _ = lc.learn(RAIN, ROWS, "direct-mcar")["Rain"]  # type: ignore[index]
    for guess, way in (("from_edges", "Network.from_data(data, edges)"), ("read", "read_network")):
        with pytest.raises(AttributeError, match=re.escape(way)):
            getattr(lc.Network, guess)
    with pytest.raises(AttributeError, match="did you mean 'from_data'"):
        _ = lc.Network.from_dta  # type: ignore[attr-defined]


def test_an_error_from_within_is_left_as_it_is() -> None:
    @with_hints
    def adds(number: object) -> object:
        return number + 1  # type: ignore[operator]

    with pytest.raises(TypeError) as refused:
        adds("one")
    assert "Hint" not in str(refused.value)


def test_names_of_other_libraries_are_answered_with_ours() -> None:
    for guess, way in NAMES.items():
        assert guess not in lc.__all__
        with pytest.raises(AttributeError, match=re.escape(way)):
            lc.__getattr__(guess)
        assert all(
            hasattr(lc, name) for name in re.findall(r"lacunet\.(?!plots|sklearn)(\w+)", way)
        )
    with pytest.raises(AttributeError, match="did you mean 'learn'"):
        _ = lc.lern  # type: ignore[attr-defined]


def test_a_result_says_where_things_are() -> None:
    result = lc.learn(RAIN, ROWS, "direct-mcar")
    for guess, way in lc.Result._INSTEAD.items():
        with pytest.raises(AttributeError, match=re.escape(way)):
            getattr(result, guess)
    assert not hasattr(result, "__array__")
    for same in (copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
        assert repr(same) == repr(result)
    assert pickle.loads(pickle.dumps(lc.learn)) is lc.learn


def test_a_learned_structure_says_where_things_are() -> None:
    found = lc.learn_structure({"A": [0, 1] * 50, "B": [0, 1] * 50}, strengths=0)
    for guess, way in lc.LearnedStructure._INSTEAD.items():
        with pytest.raises(AttributeError, match=re.escape(way)):
            getattr(found, guess)
        assert all(hasattr(lc, name) for name in re.findall(r"lacunet\.(\w+)", way))
    assert repr(pickle.loads(pickle.dumps(found))) == repr(found)
    assert repr(copy.deepcopy(found)) == repr(found)


@pytest.mark.filterwarnings("ignore::lacunet.LacunetWarning")
def test_names_that_are_guessed_of_a_value_are_answered() -> None:
    result = lc.learn(RAIN, ROWS, "direct-mcar", intervals=True)
    answer = lc.query(result, "Wet", {"Rain": "yes"}, interval=True)
    effect, pooled = lc.effect(result, "Wet", do="Rain"), lc.pool([0.1, 0.2], [0.01, 0.01])
    families, simulation = result.families["Wet"], lc.simulate(RAIN, 5, rng=0)
    named: dict[str, Any] = {
        "network": RAIN,
        "cpt": RAIN.cpt("Wet"),
        "result": result,
        "report": families,
    }
    named |= {"answer": answer, "effect": effect, "pooled": pooled, "simulation": simulation}
    for name, value in named.items():
        for guess, way in type(value)._INSTEAD.items():
            with pytest.raises(AttributeError, match=re.escape(way)):
                getattr(value, guess)
            for owner, attribute in re.findall(r'(?<!["\w])(\w+)\.([a-z]\w+)', way):
                assert owner not in named or hasattr(named[owner], attribute), way
                assert owner != "lacunet" or hasattr(lc, attribute), way
        with pytest.raises(AttributeError) as refused:
            _ = value.qqqqqq
        assert str(refused.value) == f"{type(value).__name__!r} object has no attribute 'qqqqqq'"
        copied = copy.deepcopy(value), pickle.loads(pickle.dumps(value))
        assert all(repr(same) == repr(value) for same in copied), name


def test_what_is_printed_shows_what_was_made() -> None:
    result = lc.learn(RAIN, ROWS, "direct-mcar")
    assert "P(Wet | Rain, Sprinkler)" in str(result)
    simulation = lc.simulate(RAIN, 10, lc.MCAR(), rng=1)
    hidden = int(simulation.frame().isna().sum().sum())
    assert f"10 rows of 3 variables, {hidden} of 30 cells hidden" in repr(simulation)
    found = lc.learn_structure(lc.simulate(RAIN, 300, rng=1).frame(), strengths=0, rng=1)
    assert str(found.cpdag) in str(found)


def test_what_was_learned_has_the_edges_of_its_network() -> None:
    assert lc.learn(RAIN, ROWS, "direct-mcar").edges == RAIN.edges
    found = lc.learn_structure(lc.simulate(RAIN, 300, rng=1).frame(), strengths=0, rng=1)
    assert found.edges == found.network.edges
    assert len(found.edges) == found.cpdag.edges


def test_a_call_without_an_offer_is_answered_with_what_the_function_takes() -> None:
    @with_hints
    def draw(*, rng: int = 0) -> int:
        return rng

    with pytest.raises(TypeError) as refused:
        draw(seeds=1)  # type: ignore[call-arg]
    assert str(refused.value).endswith("\nHint: it takes rng=....")


@pytest.mark.parametrize("function", [lc.learn, lc.explain])
@pytest.mark.parametrize("method", [None, "em", lc.EM()])
def test_an_option_that_no_method_takes_is_answered_before_the_data_are_read(
    function: Any, method: Any
) -> None:
    rows = {"BMI": [20 + at / 7 for at in range(100)], "Ill": ["no", "yes"] * 50}
    with pytest.raises(lc.LacunetError, match=r"BMI.*different values"):
        function("BMI -> Ill", rows, method)
    with pytest.raises(lc.LacunetError, match=r"Network\.from_data\(data, edges, bins="):
        function("BMI -> Ill", rows, method, bins={"BMI": 5})


@pytest.mark.parametrize("name", ["write", "save", "to_bif"])
def test_a_network_says_what_writes_it(name: str) -> None:
    with pytest.raises(AttributeError, match=r"lacunet\.write_network\(network, "):
        getattr(RAIN, name)


def test_a_cpt_says_what_gives_its_numbers() -> None:
    cpt = RAIN.cpt("Wet")
    with pytest.raises(AttributeError, match=re.escape("cpt.to_frame()")):
        _ = cpt.to_pandas  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="did you mean 'table'"):
        _ = cpt.tabel  # type: ignore[attr-defined]
    assert repr(pickle.loads(pickle.dumps(cpt))) == repr(copy.deepcopy(cpt)) == repr(cpt)


def test_a_variable_to_show_is_answered_with_its_cpt() -> None:
    result = lc.learn(RAIN, ROWS, "direct-mcar")
    with pytest.raises(lc.LacunetError, match=re.escape("result.cpt('Wet')")):
        result.show("Wet")


@pytest.mark.parametrize(
    ("call", "way"),
    [
        (lambda: lc.hide(ROWS, 0.2), "frame, MCAR(share=1, rate=0.2))"),  # type: ignore
        (lambda: lc.predict(RAIN, ROWS), "predict(network, data, 'Wet')"),  # type: ignore
    ],
)
def test_a_call_that_lacks_an_argument_is_answered_with_a_whole_one(call: Any, way: str) -> None:
    with pytest.raises(TypeError, match=re.escape(way)):
        call()


def test_a_family_that_is_not_there_is_answered_with_those_that_are() -> None:
    for found in (lc.learn(RAIN, ROWS, "direct-mcar"), lc.explain(RAIN, ROWS)):
        with pytest.raises(KeyError, match=r"no 'wet'.\nHint: did you mean 'Wet'"):
            _ = found.families["wet"]
        with pytest.raises(lc.LacunetError, match="there are Rain, Sprinkler, Wet"):
            _ = found.families["x"]
        assert "wet" not in found.families


def test_a_network_says_what_converts_it() -> None:
    with pytest.raises(AttributeError, match=re.escape("lacunet.to_pgmpy(network)")):
        _ = RAIN.to_pgmpy  # type: ignore[attr-defined]


def test_a_guess_about_scikit_learn_is_answered_with_ours() -> None:
    for guess in ("BayesNetClassifier", "Classifier", "NaiveBayes", "BNImputer"):
        with pytest.raises(ImportError, match="BayesianNetworkClassifier or BayesianNetworkImput"):
            exec(f"from lacunet.sklearn import {guess}")
    assert not hasattr(lacunet.sklearn, "no_such_name")


def test_what_is_guessed_of_scikit_learn_is_there() -> None:
    for name in ("Classifier", "Imputer"):
        assert hasattr(lacunet.sklearn, NAMES[name].split()[-1])


def test_data_need_no_reader() -> None:
    with pytest.raises(AttributeError, match="the path itself"):
        lc.read_csv  # type: ignore[attr-defined]  # noqa: B018


def test_all_unknown_arguments_are_named_at_once() -> None:
    calls: list[Any] = [partial(lc.learn, "A -> B"), lc.Data]
    for call in calls:
        with pytest.raises((LacunetError, TypeError)) as refused:
            call({"A": ["0"], "B": ["1"]}, weights="w", clusters="psu")
        assert "'weights': did you mean 'weight'?" in str(refused.value)
        assert "'clusters': did you mean 'cluster'?" in str(refused.value)


NUMBERS = {"Age": [20, 40] * 20, "Dose": [1.5, 2.5] * 20}
ILL: Any = {"Age": ["old", "young"] * 9, "Ill": ["no", "yes", "yes"] * 6}
LEARNED: Any = lc.learn("Age -> Ill", ILL)


@pytest.mark.parametrize(
    ("call", "way"),
    [
        (lambda: lc.query(LEARNED, {"Age": "old"}, "Ill"), "query(network, 'Ill', {'Age': 'old'})"),  # type: ignore[arg-type]
        (lambda: lc.Network.from_data("Age -> Ill", "x.csv"), "from_data(data, edges)"),
        (lambda: lc.Network.from_data([("Age", "Ill")], ILL), "from_data(data, edges)"),
        (lambda: lc.predict("Ill", LEARNED, "x.csv"), "predict(network, data, targets)"),
        (lambda: lc.predict("Ill", ILL, LEARNED), "predict(network, data, targets)"),
        (lambda: lc.predict(ILL, RAIN, "Ill"), "predict(network, data, targets)"),
        (lambda: lc.learn("Age -> Ill", ILL, level=0.9), "result.interval(variable, 0.9)"),
        (lambda: lc.learn("Age -> Ill", ILL, confidence=0.9), "learn(..., intervals=True)"),
        (lambda: lc.learn("Age -> Ill", ILL, "mar"), "'direct-mar' or 'factored-mar'"),
        (lambda: lc.learn("Age -> Ill", ILL, weight="Age"), "name another column"),
        (lambda: lc.learn("Age>Ill", ILL), "edges are written 'Age -> Ill'"),
        (lambda: lc.effect(LEARNED, "Ill", do="Age", intervals=True), "did you mean 'interval'?"),  # type: ignore[call-arg]
        (lambda: lc.effect(LEARNED, "Age", "Ill", interval=True), "do='Age', interval=True)"),  # type: ignore
        (lambda: lc.effect(LEARNED, "Age", "Ill", intervals=True), "'Ill', do='Age', interval="),  # type: ignore
        (lambda: lc.effect(LEARNED, "Ill", do="Age", interval=True), "intervals=True"),
        (lambda: lc.effect(LEARNED, "Ill", do="Age", level=0.9), "did you mean 'interval'?"),  # type: ignore[call-arg]
        (lambda: lc.effect(LEARNED, "Ill", do={"Age": "old"}), "(result, 'Ill', do='Age')"),  # type: ignore[arg-type]
        (lambda: lc.effect(LEARNED, "Ill", {"Age": "old"}), "effect(result, 'Ill', do='Age')"),  # type: ignore
        (lambda: lc.effect(LEARNED, "Ill", do="Ill"), "(result, 'Ill', do='Age')"),
        (lambda: lc.learn_structure({"w": [i / 8 for i in range(99)]}), "weight='w', --weight w"),
        (lambda: lc.learn_structure(ILL, codes={}), "lacunet.Data(data, codes=...)"),  # type: ignore[call-arg]
        (lambda: lc.diagnose(ILL, sep=";"), "lacunet.Data(data, delimiter=...)"),  # type: ignore[call-arg]
        (lambda: lc.query("Ill", LEARNED), "query(result, 'Ill')"),
        (lambda: lc.simulate(RAIN, 5, hide=0.2), "(network, rows, MCAR(share=1, rate=0.2))"),  # type: ignore[call-arg]
        (lambda: lc.simulate(RAIN, -5), "how many to draw"),
        (lambda: lc.simulate(RAIN, 5).data, "simulation.frame()"),  # type: ignore[attr-defined]
        (lambda: lc.kl_divergence(RAIN, LEARNED), "learn(first, data)"),
        (lambda: lc.effect(RAIN, do="Rain", outcome="Wet"), "effect(result, 'Wet', do='Rain')"),  # type: ignore[call-arg]
        (lambda: lc.learn("Age - Ill", ILL), "edges are written 'Age -> Ill'"),
        (lambda: lc.learn("Age - > Ill", ILL), "edges are written 'Age -> Ill'"),
        (lambda: LEARNED.write("nowhere/x.json"), "make the folder (mkdir nowhere)"),
        (lambda: LEARNED.table("Ill").to_csv("nowhere/x.csv"), "make the folder (mkdir nowhere)"),
        (lambda: lc.EM(time_limit=-1), "time_limit: time limit in seconds"),
        (lambda: lc.learn_structure(ILL, time_limit=0), "a number such as 60"),
        (
            lambda: lc.Network.from_data(NUMBERS, "Age", bins={"Dose": 2}),
            "the graph of the edges does not have",
        ),
        (lambda: lc.Network.from_data(NUMBERS, "Age", bins={"age": 2}), "did you mean 'Age'?"),
        (lambda: lc.write_network("x.bif", RAIN), "write_network(network, 'x.bif')"),  # type: ignore[arg-type]
        (lambda: lc.learn_structure("Age -> Ill", "x.csv"), "edges as required='A -> B'"),
        (lambda: lc.learn_structure("Age -> Ill"), "edges as required='A -> B'"),
        (lambda: lc.learn(ILL, network="Age -> Ill"), "learn('Age -> Ill', data)"),  # type: ignore
        (lambda: lc.diagnose(LEARNED), "diagnose(network, data)"),
        (lambda: lc.MissingnessGraph.parse("Age -> RIll", LEARNED.network), "did you mean R[Ill]?"),
        (lambda: lc.learn("Age->Ill Ill->Age", ILL), "separate edges by ;, as in '... -> Ill; Ill"),
        (lambda: lc.learn("Age,Ill", ILL), "edges are written 'Age -> Ill'"),
        (lambda: LEARNED.to_csv, "result.table(variable).to_csv"),
        (lambda: lc.learn("Age -> Ill", ILL, "em", 2, None, "w"), "it takes network, data"),  # type: ignore
        (lambda: lc.effect(LEARNED, "P(Ill | do(Age))"), "effect(result, 'Ill', do='Age')"),  # type: ignore
        (lambda: lc.effect(LEARNED, "P(Ill)", do="Age"), "effect(result, 'Ill', do='Age')"),
        (
            lambda: lc.effect(LEARNED, "Ill", do="Age=old"),
            "the states of Age are compared; query(result, 'Ill', do={'Age': state}) sets one",
        ),
        (lambda: lc.sensitivity("Age -> Ill", ILL, "P(Ill)", mechanism="Ill"), "Ill=yes"),
        (lambda: lc.query(LEARNED, "Age", {"Ill": "yesterday"}), "did you mean 'yes'?"),
        (lambda: lc.pool([1, 2], se=[1, 2]), "square standard errors"),  # type: ignore
        (lambda: lc.read_result("survey.csv"), "read_result reads what result.write wrote (.json)"),
        (lambda: LEARNED.network.to_csv, "network.cpt(variable).to_frame()"),
        (lambda: LEARNED.cpt("Ill").to_csv, "cpt.to_frame()"),
        (lambda: lc.recover, "verdict.estimate(data, interval=True)"),  # type: ignore[attr-defined]
        (lambda: LEARNED.bic, "free_parameters * math.log(r.total) / 2, with r = "),
        (lambda: lc.bic, "free_parameters * math.log(r.total) / 2, with r = "),  # type: ignore[attr-defined]
        (lambda: LEARNED.cpt("Ill").to_frame(intervals=True), "tidy=True"),  # type: ignore[call-arg]
        (lambda: lc.effect(LEARNED, "Ill"), "do= is the variable that is set"),  # type: ignore[call-arg]
        (lambda: lc.query(LEARNED, "P(Ill | Age>60)"), "its states are ['old', 'young']"),
        (lambda: lc.learn("Age -> Ill", ILL, prior="bdeu"), "10 / k in each of the k cells"),  # type: ignore[arg-type]
        (lambda: lc.pool([1], [1]), "one table is too few"),
    ],
)
def test_a_slip_is_answered_with_the_call_to_write(call: Callable[[], object], way: str) -> None:
    with pytest.raises((LacunetError, TypeError, AttributeError)) as refused:
        call()
    assert way in str(refused.value)


def test_a_method_that_is_called_is_as_it_was() -> None:
    assert inspect.signature(lc.Result.cpt).parameters.keys() == {"self", "variable"}
    assert inspect.signature(LEARNED.cpt).parameters.keys() == {"variable"}
    assert LEARNED.cpt(variable="Ill").table.shape == (2, 2)


def test_a_result_names_the_cpts_that_it_does_not_print() -> None:
    parents = [f"P{at}" for at in range(4)]
    rows = {name: ["no", "yes"] * 8 for name in [*parents, "Ill"]}
    text = str(lc.learn(f"{', '.join(parents)} -> Ill", rows, "direct-mcar"))
    assert "P(P0)" in text
    assert "CPTs not shown here: Ill; print(result.cpt('Ill')) shows one" in text
    assert "not shown here" not in str(LEARNED)
    assert "effective: the weakest CPT row" in text


def test_only_a_result_without_intervals_says_that_these_would_tell_more() -> None:
    assert "known only with intervals" in str(LEARNED)
    assert "known only with intervals" not in str(lc.learn("Age -> Ill", ILL, intervals=True))


def test_a_learned_structure_prints_its_notes() -> None:
    rows = {"A": [0, 1] * 50, "B": [0, 1] * 50, "C": [0, 0, 1, 1] * 25}
    found = lc.learn_structure(rows, tiers=[["A"], ["B"]])
    assert "note: in no tier: C" in str(found)


def test_what_was_taken_by_place_still_is_with_a_warning() -> None:
    with pytest.warns(lc.LacunetWarning, match=r"sample takes these by name: write rng=\.\.\."):
        by_place = lc.sample(RAIN, 5, 1)  # type: ignore[misc]
    assert by_place.equals(lc.sample(RAIN, 5, rng=1))
    with pytest.raises(TypeError):
        lc.simulate(RAIN, 5, None, 1, 2)  # type: ignore[call-arg, misc]
    for name in ("learn", "learn_structure", "impute", "sample", "hide", "simulate", "drift"):
        rng = inspect.signature(getattr(lc, name)).parameters["rng"]
        assert rng.kind is rng.KEYWORD_ONLY


def test_no_private_name_is_offered() -> None:
    with pytest.raises(AttributeError) as caught:
        lc.MissingnessGraph.parse("R[Ill]", LEARNED.network).edges  # type: ignore[attr-defined]  # noqa: B018
    assert "_" not in str(caught.value)


def test_a_verdict_says_where_things_are() -> None:
    network = lc.Network({name: ["0", "1"] for name in "XY"}, {"Y": ["X"]})
    verdicts = lc.MissingnessGraph.parse("X -> R[Y]", network).recover()
    for name, way in (("recoverable", "is_recoverable"), ("formula", "verdict.estimand")):
        with pytest.raises(AttributeError, match=f"Hint: write .*{way}"):
            getattr(verdicts["Y"], name)
    with pytest.raises(AttributeError, match=r"write verdicts\['X'\].estimate\(data\)"):
        getattr(verdicts, "estimate")  # noqa: B009
    with pytest.raises(KeyError, match="did you mean 'Y'"):
        verdicts["y"]

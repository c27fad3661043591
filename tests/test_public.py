"""The public face: what `lacunet` lists, and that importing it stays cheap."""

import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx
import pandas
import pyarrow
import pytest

import lacunet
from lacunet.learning.methods import METHOD_OF_NAME, options_of
from lacunet.network.askable import Askable
from lacunet.plots import cpt_heatmap, missing_patterns

ROWS = {name: ["yes", "no"] for name in lacunet.example("asia").variables} | {"smoke": [None, "no"]}
WHOLE = lacunet.example("asia").sample(5, rng=1)
TAKE_A_NETWORK: list[Callable[[Any], object]] = [
    lambda network: lacunet.learn(network, ROWS, "direct-mcar").network,
    lambda network: lacunet.count(network, ROWS).num_rows,
    lambda network: lacunet.kl_divergence(network, network),
    lambda network: lacunet.diagnose(ROWS, network).conclusions,
    lambda network: str(lacunet.learn_missingness(ROWS, network)),
    lambda network: lacunet.hide(network, WHOLE, lacunet.MCAR(0.5), rng=1),
    lambda network: lacunet.simulate(network, 5, rng=1).complete.columns["lung"].tolist(),
    lambda network: lacunet.to_pgmpy(network).nodes(),
    lambda network: cpt_heatmap(network, "lung").words,
]


@pytest.mark.parametrize("name", lacunet.__all__)
def test_the_help_of_a_public_name_is_plain_text_and_imports_public_names(name: str) -> None:
    text = inspect.getdoc(getattr(lacunet, name)) or ""
    assert "math:" not in text
    assert "import" not in text or "from lacunet." not in text


@pytest.mark.parametrize("name", ["em", "mgraph"])
def test_the_help_of_a_method_has_all_its_options(name: str) -> None:
    text = inspect.getdoc(METHOD_OF_NAME[name]) or ""
    assert [option for option in options_of(name) if not re.search(rf"\b{option}\b", text)] == []


@pytest.mark.parametrize("name", [name for name in lacunet.__all__ if name[0].islower()])
def test_the_help_of_a_function_describes_all_its_parameters_or_none(name: str) -> None:
    function = getattr(lacunet, name)
    _, section, text = (inspect.getdoc(function) or "").partition("Parameters\n----------\n")
    known = inspect.signature(function).parameters
    assert not section or [own for own in known if not re.search(rf"\b{own}\b", text)] == []


SAY_WHAT_THEY_RETURN = (
    "learn simulate pool sensitivity explain worst_case read_result compare_structures"
)


@pytest.mark.parametrize("name", SAY_WHAT_THEY_RETURN.split())
def test_the_help_of_a_function_says_what_its_value_has(name: str) -> None:
    assert "\nReturns\n-------\n" in (inspect.getdoc(getattr(lacunet, name)) or "")


@pytest.mark.parametrize("asked", TAKE_A_NETWORK)
def test_a_network_is_given_as_itself_or_by_a_result_a_path_or_a_name(
    asked: Callable[[Any], object], tmp_path: Path
) -> None:
    asia = lacunet.example("asia")
    asia.write(tmp_path / "copy.json")
    has_network = type("Result", (), {"network": asia})()
    expected = str(asked(asia))
    for given in (has_network, "asia", str(tmp_path / "copy.json"), tmp_path / "copy.json"):
        assert str(asked(given)) == expected


SURVEY = {
    "Age": ["old", "young", "9", "old"] * 20,
    "Ill": ["no", "yes", None, "yes"] * 20,
    "Id": [f"p{row}" for row in range(80)],
    "wt": [1.0, 2.0] * 40,
}
PATIENTS = {"Age": ["old", "young"] * 20, "Ill": ["no", "yes", None, "yes"] * 10}
TAKE_EDGES: list[Callable[[Any], object]] = [
    lambda network: (
        lacunet.learn(network, lacunet.Data(SURVEY, weight="wt", missing=9), "em").network
    ),
    lambda network: (
        lacunet.explain(network, lacunet.Data(SURVEY, missing=9), "em").families["Ill"].estimand
    ),
    lambda network: lacunet.diagnose(lacunet.Data(SURVEY, missing=9), network),
    lambda network: lacunet.count(network, lacunet.Data(SURVEY, missing=9)).num_rows,
    lambda network: lacunet.worst_case(
        network, lacunet.Data(SURVEY, missing=9), "Ill"
    ).low.tolist(),
    lambda network: lacunet.learn_missingness(lacunet.Data(SURVEY, missing=9), network),
    lambda network: lacunet.sensitivity(network, lacunet.Data(SURVEY, missing=9), "Ill=yes", "Ill"),
    lambda network: missing_patterns(network, lacunet.Data(SURVEY, missing=9)).words,
]


@pytest.mark.parametrize("asked", TAKE_EDGES)
def test_edges_beside_data_are_the_network_that_the_data_and_they_make(
    asked: Callable[[Any], object],
) -> None:
    expected = str(asked(lacunet.Network.from_data(lacunet.Data(SURVEY, missing=9), "Age -> Ill")))
    pairs = [("Age", "Ill")]
    for edges in ("Age -> Ill", "[Age][Ill|Age]", pairs, networkx.DiGraph(pairs), {"Ill": ["Age"]}):
        assert str(asked(edges)) == expected


def test_values_are_hidden_by_edges_as_by_the_network_they_make() -> None:
    frame = pandas.DataFrame(PATIENTS)
    network = lacunet.Network.from_data(frame, "Age -> Ill")
    hidden = lacunet.hide("Age -> Ill", frame, lacunet.MCAR(0.5), rng=1)
    assert hidden.equals(lacunet.hide(network, frame, lacunet.MCAR(0.5), rng=1))
    assert hidden["Age"].isna().any()


def test_a_string_that_names_a_file_is_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("Age -> Ill").write_text("this is no network")
    with pytest.raises(lacunet.LacunetError, match="format"):
        lacunet.learn("Age -> Ill", PATIENTS)


@pytest.mark.parametrize(
    "asked",
    [
        lambda: lacunet.explain([("Age", "Ill")]),  # type: ignore[list-item]
        lambda: lacunet.simulate([("Age", "Ill")], 5),  # type: ignore[arg-type]
    ],
)
def test_edges_without_rows_are_answered_with_the_network_they_make(
    asked: Callable[[], object],
) -> None:
    with pytest.raises(lacunet.LacunetError, match=r"Network\.from_data\(data, edges\)"):
        asked()


@pytest.mark.parametrize(
    "asked",
    [
        lambda bare: bare.query("Ill"),
        lambda bare: bare.marginals(),
        lambda bare: bare.effect("Ill", do="Age"),
        lambda bare: bare.predict(PATIENTS, "Ill"),
        lambda bare: bare.compile("Ill"),
        lambda bare: bare.impute(PATIENTS),
        lambda bare: bare.sample(5),
        lambda bare: bare.log_likelihood(PATIENTS),
    ],
)
def test_a_network_without_cpts_has_nothing_to_answer_by(
    asked: Callable[[lacunet.Network], object],
) -> None:
    with pytest.raises(lacunet.LacunetError, match="no CPT"):
        asked(lacunet.Network.from_data(PATIENTS, "Age -> Ill"))


def test_rows_in_place_of_edges_are_refused_as_what_they_are() -> None:
    with pytest.raises(lacunet.LacunetError, match="arguments"):
        lacunet.learn(PATIENTS, lacunet.example("asia"))


def test_rows_that_can_be_read_only_once_do_not_say_states_too() -> None:
    reader = pyarrow.table({name: PATIENTS[name] for name in ("Age", "Ill")}).to_reader()
    with pytest.raises(lacunet.LacunetError, match="only once"):
        lacunet.learn("Age -> Ill", reader)


def test_what_is_not_a_network_is_refused_with_the_ways_to_give_one() -> None:
    with pytest.raises(lacunet.LacunetError, match="network"):
        lacunet.simulate({"A": ["0", "1"]}, 5)  # type: ignore[arg-type]


def test_every_public_name_can_be_used() -> None:
    assert len(lacunet.__all__) <= 45
    for name in lacunet.__all__:
        assert getattr(lacunet, name).__name__ == name
        assert name in dir(lacunet)


def test_modules_are_attributes_that_nothing_imports_before_they_are_asked_for() -> None:
    code = (
        "import sys, lacunet; from lacunet import *; "
        "assert not {'lacunet.plots', 'lacunet.sklearn', 'sklearn'} & sys.modules.keys(); "
        "assert {'plots', 'sklearn'} <= {*dir(lacunet)}; "
        "print(lacunet.plots.forest.__name__, lacunet.sklearn.BayesianNetworkImputer.__name__)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["forest", "BayesianNetworkImputer"]


def test_the_path_of_a_network_is_answered_with_what_reads_it() -> None:
    with pytest.raises(lacunet.LacunetError, match="read_network"):
        lacunet.Network("x.bif")  # type: ignore[arg-type]


# of the standard library, numpy, PyArrow and networkx
ELSEWHERE = {"Self", "Mask", "Scope", "FloatArray", "Table", "DiGraph"}


def returned(function: Callable[..., object]) -> set[str]:
    """The names of the types that a function returns."""
    words = re.findall(r"\w+", str(function.__annotations__.get("return", "")))
    return {word for word in words if word[0].isupper()} - {"Any", "None", "Mapping", "Sequence"}


def documented() -> set[str]:
    """The names of the types that the reference describes."""
    pages = Path(__file__).parents[1].joinpath("docs", "reference").glob("api-*.rst")
    lists = " ".join(page.read_text().partition(".. public-names::")[2] for page in pages)
    return {name.rpartition(".")[2] for name in lists.split()}


def test_what_public_functions_and_methods_return_is_in_the_reference() -> None:
    functions = [
        one for one in map(lacunet.__dict__.get, lacunet.__all__) if inspect.isfunction(one)
    ]
    nouns = Askable, lacunet.Network, lacunet.Result, lacunet.MissingnessGraph
    methods = [
        one
        for noun in nouns
        for name, one in vars(noun).items()
        if inspect.isfunction(one) and not name.startswith("_")
    ]
    found = {name for function in (*functions, *methods) for name in returned(function)}
    assert {"Answer", "Effect", "Result", "Verdict", "WorstCase"} <= found
    assert found - documented() - ELSEWHERE == set()


def test_importing_loads_no_heavy_library() -> None:
    heavy = "{'numpy', 'scipy', 'pyarrow', 'pandas', 'networkx', 'narwhals', 'polars', 'duckdb'}"
    code = f"import lacunet, sys; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("method", ["auto", "em", "factored-mar"])
def test_learning_from_a_file_loads_only_what_it_needs(tmp_path: Path, method: str) -> None:
    (tmp_path / "rows.csv").write_text("A,B\n" + "0,\n,1\n1,1\n" * 100)
    code = (
        "import lacunet as lc, sys; "
        "network = lc.Network({'A': ['0', '1'], 'B': ['0', '1']}, {'B': ['A']}); "
        f"lc.learn(network, {str(tmp_path / 'rows.csv')!r}, {method!r}); "
        "print(sorted({'pandas', 'polars', 'duckdb', 'matplotlib', 'scipy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_few_rows_are_learned_without_what_only_others_need(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("A,B\n0,1\n1,\n0,0\n1,1\n")
    others = [
        "pyarrow.compute",
        "multiprocessing",
        "concurrent.futures",
        "lacunet.missingness.verdict",
        "lacunet.counts.spark",
        "lacunet.inference.expectation.expectation_plan",
    ]
    code = (
        "import lacunet as lc, sys; "
        "network = lc.Network({'A': ['0', '1'], 'B': ['0', '1']}, {'B': ['A']}); "
        f"lc.learn(network, {str(tmp_path / 'rows.csv')!r}); "
        f"print(sorted({{*{others!r}}} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_what_is_returned_is_one_line_in_a_list() -> None:
    rows = {"A": ["x", "y", None] * 10, "B": ["u", "v", "v"] * 10}
    graph = lacunet.MissingnessGraph.parse("B -> R[A]", "A -> B", data=rows)
    found: list[object] = [
        lacunet.explain("A -> B", rows),
        graph.recover("A"),
        lacunet.learn("A -> B", rows).effect("B", do="A"),
    ]
    for value, text in zip(found, map(repr, found), strict=True):
        assert text.startswith(f"<{type(value).__name__}")
        assert len(text) < 100
        assert "\n" not in text


def test_what_is_not_there_is_answered_with_what_is() -> None:
    network = lacunet.example("screening")
    result = lacunet.learn("A -> B", {"A": ["x", "y"] * 5, "B": ["u", "v"] * 5})
    asked_of: list[tuple[Any, str]] = [
        (network, "write"),
        (result, "write"),
        (lacunet, "read_result"),
    ]
    for asked, has in asked_of:
        with pytest.raises(AttributeError, match=f"'save'; it has .*{has}"):
            asked.save  # noqa: B018
        assert not hasattr(asked, "__array_interface__")

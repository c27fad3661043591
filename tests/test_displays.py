"""Whatever is returned has one line for the prompt, a text to read, and HTML for notebooks."""

from __future__ import annotations

import ast
import functools
import inspect
import sys
import typing
import warnings
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lacunet as lc
from lacunet import plots
from lacunet.ask.diagnose.diagnosis import Diagnosis
from lacunet.ask.effect import Contrast, Effect
from lacunet.ask.impute.pool import Pooled
from lacunet.ask.predict.posteriors import Posteriors
from lacunet.ask.predict.predictor import Predictor
from lacunet.ask.sensitivity.sensitivity import Sensitivity
from lacunet.ask.worst_case import WorstCase
from lacunet.data.table import EncodedTable
from lacunet.inference.answer import Answer, Bounds
from lacunet.learning import result as result_module
from lacunet.learning.alternatives import Alternatives
from lacunet.learning.explain import Explanation
from lacunet.learning.imputation_model import DenseDraw, ImputationModel
from lacunet.learning.interval_recipes import Uncertainty
from lacunet.learning.uncertainty.shape_parameters import ShapeParameters
from lacunet.missingness import graph as graph_module
from lacunet.missingness.formulas.terms import Term
from lacunet.missingness.identified.assumptions import Assumptions
from lacunet.missingness.identified.identified_sets import IdentifiedSet
from lacunet.missingness.learned.from_rows import LearnedGraph
from lacunet.missingness.mechanism_cpts import MechanismCpt, Missingness
from lacunet.missingness.separation.mixed import HiddenCause
from lacunet.missingness.verdict import Estimation, Verdict, Verdicts
from lacunet.network import network as network_module
from lacunet.network.cpt import Cpt
from lacunet.network.named_axes import Table
from lacunet.network.nodes import Mechanism
from lacunet.network.shapes.shape import Shaped
from lacunet.show.figures.picture import Picture
from lacunet.show.pages.notebook import Page
from lacunet.show.results.cpt_tables import EstimateTable
from lacunet.simulation.simulate import Simulation
from lacunet.structure.cpdag import Cpdag, StructureDifference
from lacunet.structure.learn_structure import LearnedStructure

ROOTS = (lc.Data, lc.Network, lc.Result, lc.MissingnessGraph)
# What other values are made of or computed with: names of nodes, and the calculus of estimands.
INNER = {Mechanism, HiddenCause, Term, Table, Posteriors, Shaped, DenseDraw}


@functools.cache
def network() -> lc.Network:
    return lc.example("screening")


@functools.cache
def rows() -> Any:
    return lc.example_data("screening")


@functools.cache
def result() -> lc.Result:
    return lc.learn(network(), rows(), "direct-mcar", intervals=True)


@functools.cache
def graph() -> lc.MissingnessGraph:
    return lc.MissingnessGraph.parse("Symptoms, Test -> R[Disease]", network())


@functools.cache
def learned_structure() -> LearnedStructure:
    with warnings.catch_warnings():  # whichever test asks first
        warnings.simplefilter("ignore", lc.LacunetWarning)
        return lc.learn_structure(rows(), method="closed-form", strengths=2, rng=1)


@functools.cache
def simulated() -> Simulation:
    return lc.simulate(network(), 50, lc.MissingByGraph(graph()), rng=1)


def verdict() -> Verdict:
    return graph().recover("P(Disease)")


EXAMPLES: dict[type, Callable[[], Any]] = {
    lc.Data: lambda: lc.Data({"A": ["no", "yes"] * 500}, missing=9),
    lc.Network: network,
    lc.Result: result,
    lc.MissingnessGraph: graph,
    Answer: lambda: result().query("Disease | Test=positive"),
    Assumptions: lambda: verdict().assumptions(rows()),
    Bounds: lambda: Bounds(np.array([0.1, 0.2]), np.array([0.8, 0.9])),
    Contrast: lambda: network().effect("Test", do="Disease").contrasts[0],
    Cpdag: lambda: network().cpdag,
    Cpt: lambda: result().cpt("Test"),
    ShapeParameters: lambda: lc.learn(network(), rows(), shapes={"Test": "logistic"}).parameters(
        "Test"
    ),
    Diagnosis: lambda: lc.diagnose(rows(), network(), rng=1),
    Effect: lambda: result().effect("Test", do="Disease"),
    EstimateTable: lambda: result().table("Test"),
    Alternatives: lambda: (
        lc.learn(
            "Class -> A; Class -> B; Class -> C",
            lc.Data(lc.example_data("carcinoma"), latent={"Class": [1, 2]}),
        ).alternatives
    ),
    Estimation: lambda: verdict().estimate_with_report(rows()),
    Explanation: lambda: lc.explain(network(), rows()),
    IdentifiedSet: lambda: verdict().identified_set(rows()),
    ImputationModel: lambda: lc.learn_structure(
        lc.example_data("carcinoma"), purpose="imputation", rng=1
    ),
    LearnedGraph: lambda: lc.learn_missingness(rows(), network()),
    LearnedStructure: learned_structure,
    MechanismCpt: lambda: simulated().mechanisms["Disease"],
    Missingness: lambda: simulated().missingness,
    Page: lambda: result().show(),
    Picture: lambda: plots.cpt_heatmap(network(), "Test"),
    Pooled: lambda: lc.pool([[1.0, 2.0], [1.5, 2.5]], [[0.1, 0.1], [0.1, 0.2]]),
    Predictor: lambda: network().compile("Disease"),
    Sensitivity: lambda: lc.sensitivity(network(), rows(), "Disease=yes", "Disease"),
    Simulation: simulated,
    StructureDifference: lambda: lc.compare_structures("A -> B -> C", "A -> B; A -> C"),
    Verdict: verdict,
    Verdicts: lambda: graph().recover(),
    WorstCase: lambda: lc.worst_case(network(), rows(), "P(Disease)"),
}


def names_of(function: Any) -> dict[str, Any]:
    """The names that annotations of a function use, those for type checkers alone included."""
    module = sys.modules[function.__module__]
    names = dict(vars(module))
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for statement in node.body:
                exec(ast.unparse(statement), names)
    return names


def types_in(annotation: Any) -> Iterator[type]:
    if isinstance(annotation, type) and typing.get_origin(annotation) is None:
        yield annotation
    for part in typing.get_args(annotation):
        yield from types_in(part)


def returned_by(function: Any) -> list[type]:
    """The classes of ours that a function returns, by its annotation."""
    function = inspect.unwrap(function)
    annotation = function.__annotations__.get("return")
    if isinstance(annotation, str) and not annotation.startswith("nx."):
        annotation = eval(annotation, names_of(function))
    return [one for one in types_in(annotation) if one.__module__.startswith("lacunet.")]


def public_functions(owner: Any) -> Iterator[Any]:
    for name in dir(owner):
        member = inspect.getattr_static(owner, name)
        if name.startswith("_"):
            continue
        if isinstance(member, staticmethod | classmethod):
            member = member.__func__
        if isinstance(member, property):
            member = member.fget
        if isinstance(member, functools.cached_property):
            member = member.func
        if inspect.isfunction(member) and member.__module__.startswith("lacunet."):
            yield member


def returned_types() -> list[type]:
    """What public functions return, and what the public methods of these values do, and so on."""
    functions = [value for name in lc.__all__ if inspect.isfunction(value := getattr(lc, name))]
    functions += public_functions(plots)
    waiting = [*ROOTS, *(one for function in functions for one in returned_by(function))]
    known: list[type] = []
    while waiting:
        one = waiting.pop()
        if one not in known and one not in INNER:
            known.append(one)
            for function in public_functions(one):
                waiting += returned_by(function)
    return sorted(known, key=lambda one: one.__name__)


def test_every_type_that_is_returned_has_an_example_here() -> None:
    assert [one.__name__ for one in returned_types() if one not in EXAMPLES] == []


@pytest.mark.parametrize(
    ("kind", "make"),
    [(Uncertainty, lambda: result().uncertainty), (EncodedTable, lambda: simulated().complete)],
)
def test_large_fields_of_what_is_returned_take_one_line(
    kind: type, make: Callable[[], Any]
) -> None:
    value = make()
    assert type(value) is kind
    assert "\n" not in repr(value)
    assert len(repr(value)) <= 200


class Nesting(HTMLParser):
    """The tags that are open, and whether each is closed in turn."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:  # noqa: ARG002
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("kind", EXAMPLES, ids=lambda kind: kind.__name__)
def test_what_is_returned_is_displayed(kind: type) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lc.LacunetWarning)
        value = EXAMPLES[kind]()
    assert type(value).__name__ == kind.__name__
    assert "\n" not in repr(value)
    assert len(repr(value)) <= 200
    assert str(value).strip()
    assert "object at 0x" not in str(value) + repr(value)
    html = Nesting()
    html.feed(value._repr_html_())
    assert html.open == []
    assert html.text.strip() or "iframe" in value._repr_html_()


@pytest.mark.parametrize("draw", [network, graph, learned_structure])
def test_networks_structures_and_graphs_are_drawn(draw: Callable[[], Any]) -> None:
    html = draw()._repr_html_()
    assert "<svg" in html
    for name in network().variables:
        assert f">{name}</text>" in html
    assert "<details>" in html


def test_edges_without_a_direction_are_drawn_without_a_head() -> None:
    def heads(undirected: list[tuple[str, str]]) -> int:
        from lacunet.show.figures.network_figure import network_picture

        shapes = network_picture(network(), undirected=undirected).shapes
        return [getattr(shape, "style", "") for shape in shapes].count("arrow")

    (parent, child), *others = network().edges
    assert heads([]) == 1 + len(others)
    assert heads([(child, parent)]) == len(others)


def test_mappings_of_values_are_displayed_too() -> None:
    mappings: list[Any] = [network().marginals(), result().families]
    for mapping in mappings:
        assert "\n" not in repr(mapping)
        assert all(name in str(mapping) for name in mapping)
        assert all(name in mapping._repr_html_() for name in mapping)


def test_a_frame_in_a_notebook_has_a_title() -> None:
    page = result().show()
    assert page.title
    assert f'title="{page.title}"' in page._repr_html_()


def test_a_large_network_is_listed_and_its_cpts_are_cut_short() -> None:
    html = lc.example("munin1")._repr_html_()
    assert "<svg" not in html
    assert "R_APB_MUDENS" in html
    assert len(html) < 500_000


def test_data_show_their_size_and_what_is_said_of_columns() -> None:
    rows = {"Age": [20, 30, 40], "Stage": ["I", "II", "I"], "w": [1.0, 2.0, 3.0]}
    data = lc.Data(rows, weight="w", bins={"Age": 2}, states={"Stage": ["I", "II", "III"]})
    assert repr(data).startswith("Data(<dict of 3 rows and 3 columns>, weight='w'")
    html = Nesting()
    html.feed(data._repr_html_())
    for shown in ("3 rows and 3 columns", "Age, Stage, w", "Age: 2", "Stage: I, II, III"):
        assert shown in str(data)
        assert shown in html.text
    assert "'rows.csv'" in str(lc.Data("rows.csv"))


@pytest.mark.parametrize("text", ["Test -> R[Disease]", "Disease -> R[Disease]"])
def test_a_verdict_says_the_same_everywhere(text: str) -> None:
    verdict = lc.MissingnessGraph.parse(text, network()).recover("P(Disease)")
    sentence = repr(verdict)[len("<Verdict: ") : -1]
    html = Nesting()
    html.feed(verdict._repr_html_())
    assert str(verdict).startswith(f"{sentence}: ")
    assert html.text.startswith(sentence)
    for line in str(verdict)[len(sentence) + 2 :].split("; "):
        assert line in html.text


def test_the_drawing_of_a_sensitivity_keeps_its_layout_in_a_notebook() -> None:
    html = EXAMPLES[Sensitivity]()._repr_html_()
    axis = next(part for part in html.split("<th") if " 1</th>" in part)
    assert "white-space:pre" in axis
    assert "monospace" in axis


COMPLETED = (lc.Data, Answer, Effect, LearnedStructure, Verdict)


@pytest.mark.parametrize("make", [network, result, graph, *(EXAMPLES[kind] for kind in COMPLETED)])
def test_completion_shows_what_a_value_is_asked_and_little_else(make: Callable[[], Any]) -> None:
    value = make()
    completed = {name for name in dir(value) if not name.startswith("_")}
    assert len(completed) <= 38
    assert all(hasattr(value, name) for name in completed)
    if isinstance(value, lc.Network | lc.Result | LearnedStructure):
        assert {"query", "effect", "predict", "impute", "sample", "marginals"} <= completed


def test_modules_complete_what_people_use() -> None:
    import lacunet.sklearn

    assert [name for name in dir(plots) if inspect.isfunction(getattr(plots, name))] == dir(plots)
    assert dir(lacunet.sklearn) == lacunet.sklearn.__all__
    for shown, hidden in ((lc.Data, "held_panel"), (lc.Deletion, "starts_em")):
        assert hidden not in inspect.signature(shown).parameters


def test_what_is_not_completed_is_there() -> None:
    for name in result_module.INNER_ATTRIBUTES:
        assert hasattr(result(), name)
    for name in network_module.INNER_ATTRIBUTES:
        assert hasattr(network(), name)
    for name in graph_module.INNER_ATTRIBUTES:
        assert hasattr(graph(), name)


def test_every_type_that_is_returned_is_in_the_reference() -> None:
    folder = Path(__file__).parent.parent / "docs" / "reference"
    words = " ".join(page.read_text() for page in folder.glob("api-*.rst")).split()
    in_rooms = {kind for kind in EXAMPLES if kind not in ROOTS}
    named = {f"{kind.__module__}.{kind.__name__}".removeprefix("lacunet.") for kind in in_rooms}
    assert named - {word.removeprefix("lacunet.") for word in words} == set()

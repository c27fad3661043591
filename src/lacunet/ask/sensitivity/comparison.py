"""How hidden values are compared with shown ones: by which method, and within which groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Literal

from lacunet.ask.sensitivity.tilt import Question
from lacunet.ask.sensitivity.tilted_em import (
    TiltedModel,
    tilted_model,
    tilted_model_on_graph,
)
from lacunet.counts.look import Look
from lacunet.counts.missing_values import PatternCounts
from lacunet.data.data import Data
from lacunet.errors import LacunetError
from lacunet.learning.result import Result
from lacunet.missingness.graph import MissingnessGraph, graph_of
from lacunet.missingness.learned.from_rows import (
    MOST_ROWS,
    parents_among,
    shown_wherever_it_matters,
)
from lacunet.network.network import Network, Scope
from lacunet.network.nodes import node_text
from lacunet.text import first_of

TiltableMethod = Literal["direct-mar", "em"]


@dataclass(frozen=True)
class Comparison:
    """How hidden values are compared with shown ones."""

    method: TiltableMethod
    within: Scope  # the variables that make the groups
    words: tuple[str, ...] = ()  # on what nobody asked for
    graph: MissingnessGraph | None = None  # which says what decides on being shown

    def model(
        self, network: Network, look: Look, question: Question, learned: Result | None
    ) -> TiltedModel:
        """The network with the mechanism that is tilted.

        Parameters
        ----------
        learned
            What EM learned without a tilt, if that is the method.
        """
        partially = look.hidden(network)
        if self.graph is not None and learned is not None:
            return tilted_model_on_graph(self.graph, question, partially, learned.mechanisms)
        never_without: Scope = ()
        if not {*partially}.isdisjoint(self.within):
            patterns = PatternCounts.of(look.sampled(MOST_ROWS))
            never_without = shown_wherever_it_matters(patterns, partially)[question.mechanism]
        return tilted_model(network, question, self.within, partially, never_without)


def graph_without_tilt(
    missingness: MissingnessGraph | str | PathLike[str] | None,
    network: Network,
    data: Data,
    question: Question,
    within: Sequence[str] | None,
    method: str | None,
) -> MissingnessGraph | None:
    """The missingness graph, if there is one, without what the tilt says."""
    if missingness is None:
        return None
    if within is not None or method == "direct-mar":
        what = "within" if within is not None else "method='direct-mar'"
        raise LacunetError(
            f"{what} and missingness cannot be used together.",
            "the graph says what decides on being shown, and EM on the graph is the method.",
        )
    graph = graph_of(missingness, network).hiding(data.latent)
    return _without_tilted(graph, question.mechanism)


def _without_tilted(graph: MissingnessGraph, variable: str) -> MissingnessGraph:
    """The graph whose mechanism of a variable does not depend on its own hidden values."""
    if graph.selection is not None:
        raise LacunetError(
            "the missingness graph says that rows are a selection (R[*]), which tilts cannot take.",
            "leave R[*] out of the graph, and weight the rows instead.",
        )
    causes = {name: [*nodes] for name, nodes in graph.causes.items()}
    causes.setdefault(variable, [])
    causes[variable] = [cause for cause in causes[variable] if cause != variable]
    return graph.with_parts(causes=causes)


def comparison_on_graph(graph: MissingnessGraph, mechanism: str) -> Comparison:
    """EM on the graph, given what it says decides on being shown."""
    causes = graph.causes[mechanism]
    listed = ", ".join(map(node_text, causes)) or "nothing"
    variables = tuple(cause for cause in causes if isinstance(cause, str))
    verb = "decide" if len(variables) > 1 else "decides"
    words = (
        f"Method em on the missingness graph, by which {listed} {verb} whether {mechanism} is "
        "shown."
    )
    return Comparison("em", variables, (words,), graph)


def comparison_in_groups(
    network: Network,
    look: Look,
    question: Question,
    method: TiltableMethod | None,
    within: Sequence[str] | None,
) -> Comparison:
    """The groups and the method: as asked for, else as the rows and the question need.

    Groups are by what decides on being shown and by the parents of the variable: these tell most of
    its hidden values, and data that hardly show whether they decide would else leave them out.
    Shares of rows need variables that every row shows; EM takes others too, and is the default
    where one of them bears on the answer.
    """
    mechanism = question.mechanism
    hidden = look.hidden(network)
    others = [name for name in network.variables if name != mechanism]
    words = []

    names = within
    if names is None:
        usable = tuple(n for n in others if method != "direct-mar" or n not in hidden)
        learned = parents_among(network, look.sampled(MOST_ROWS), mechanism, usable)
        always = [name for name in network.parents(mechanism) if name not in hidden]
        names = (*learned, *always)
        words.append(_on_groups(mechanism, learned, always))
    partly = [name for name in names if network.known(name) in hidden]
    if partly and method == "direct-mar":
        raise LacunetError(
            f"{partly[0]!r} is missing in some rows.",
            "shares are of groups by variables that every row shows; method='em' (--method em) "
            "takes others too.",
        )

    chosen = method
    if any(term.do for term in question.terms):
        if method == "direct-mar":
            raise LacunetError(
                "method 'direct-mar' compares shares of rows, which do not say what do(...) does.",
                "method='em' (--method em) answers it by the network.",
            )
        chosen = "em"
        words.append("Method em: what do(...) does, the network says.")
    if chosen is None:
        bearing = _bearing_on(question, network, names)
        missed = [name for name in others if name in bearing and name in hidden]
        chosen = "em" if missed else "direct-mar"
        words.append(_on_method(mechanism, missed))

    # Whom the variable was asked of: those who were not, have no hidden value.
    rule = network.not_asked_of.get(mechanism)
    asked_by = {name for name in (rule.scope if rule else ()) if name not in hidden}
    groups = tuple(name for name in others if name in {*names, *asked_by})
    return Comparison(chosen, groups, tuple(words))


def _bearing_on(question: Question, network: Network, within: Sequence[str]) -> set[str]:
    """The variables that tell of hidden values or are asked about, the mechanism's own aside."""
    mechanism = question.mechanism
    children = [name for name in network.variables if mechanism in network.parents(name)]
    bearing = {*question.variables, *within, *network.parents(mechanism), *children}
    return bearing - {mechanism}


def _on_groups(mechanism: str, learned: Sequence[str], parents: Sequence[str]) -> str:
    """Why hidden values are compared within these groups."""
    rest = [name for name in parents if name not in learned]
    parts = []
    if learned:
        seems = "seem" if len(learned) > 1 else "seems"
        what = f"{seems} to decide whether {mechanism} is shown (learned from the data)"
        parts.append(f"{', '.join(learned)} {what}")
    if rest:
        noun = "are parents" if len(rest) > 1 else "is a parent"
        parts.append(f"{', '.join(rest)} {noun} of {mechanism} in the network")
    groups = ", ".join(parts) or f"none, nothing seems to decide whether {mechanism} is shown"
    return f"Groups: {groups}; within=[...] (--within) names others."


def _on_method(mechanism: str, missed: Sequence[str]) -> str:
    """Why hidden values are compared by this method."""
    if missed:
        has = "have" if len(missed) > 1 else "has"
        return (
            f"Method em, since {first_of(missed, 3)} {has} missing values too: the whole network "
            "is learned for every tilt, and all that a row shows is evidence about its hidden "
            f"{mechanism}."
        )
    return "Method direct-mar: shares of rows are compared, group by group."

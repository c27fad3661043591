"""A learned structure, for people and for programs."""

from __future__ import annotations

from typing import Any

from lacunet.show.plain_values import plain_attributes
from lacunet.structure.learn_structure import UNTOLD, LearnedStructure
from lacunet.structure.strengths import Strength
from lacunet.text import counted, finite, first_of
from lacunet.text_tables import READABLE_WIDTH, TextTable, fitting, terminal_width

NOTABLE = 0.25  # pairs that are adjacent so probably are worth a word
PRINTED_ARCS = 5  # of these
NEVER_FOUND = Strength(0.0, 0.0)  # of an arc that no replicate has
STRENGTHS = """\
adjacent: the probability that there is an edge, in either direction; directed: that it goes from
left to right. A direction (->) follows from the other edges found and from the constraints;
where directed is below half of adjacent, most replicates that have the edge have it the other way.
Both are shares of bootstrap replicates, corrected by how often edges with such shares are true in
published networks: an edge that all replicates have gets 0.92 to 0.99, more in small networks than
in large ones, and only a required edge gets 1."""


def structure_as_text(learned: LearnedStructure) -> str:
    """The edges with their strengths, how they were found, and how values go missing."""
    network = learned.network
    lines = [
        f"{counted(len(network.variables), 'variable')}, {counted(learned.cpdag.edges, 'edge')} "
        f"({len(learned.cpdag.compelled):,} of them directed) "
        f"from {counted(learned.rows, 'row')} in {learned.seconds:.1f} s",
        f"{learned.why}; {learned.ended}",
    ]
    if learned.trace:
        steps = [
            f"{step.what} {step.score:,.2f}{'' if step.is_accepted else ' (not accepted)'}"
            for step in learned.trace
        ]
        lines.append(
            "score, higher is better, of the first graph and of each attempt to improve it: "
            + ", ".join(steps)
        )
    lines = [*map(fitting, lines), "", _edges_in_table(learned)]
    if learned.missingness is not None:
        lines += [
            "",
            "how values go missing (R[X]: X is recorded; V: Cramér's V):",
            str(learned.missingness),
        ]
    return "\n".join(lines)


def edges_as_text(learned: LearnedStructure) -> str:
    """The edges in a table, and below the notes that were no warnings."""
    unsaid = [text for text in learned.notes if text not in learned.warned]
    return "\n".join([_edges_in_table(learned), *(f"note: {text}" for text in unsaid)])


def _edges_in_table(learned: LearnedStructure) -> str:
    """The edges in a table, with their strengths where they were computed."""
    rows = []
    for parent, child in learned.network.edges:
        arc = (parent, child)
        is_compelled = (parent, child) in learned.cpdag.compelled
        strength, other = (learned.strengths.get(way, NEVER_FOUND) for way in (arc, arc[::-1]))
        if not is_compelled and other.directed > strength.directed:  # the more probable way first
            arc = arc[::-1]
            strength = other
        row = [arc[0], "->" if is_compelled else "--", arc[1]]
        if learned.strengths:
            row += [f"{strength.adjacent:.2f}", f"{strength.directed:.2f}"]
        rows.append(row)
    if not rows:
        return "\n".join([f"no edges: {_why_none(learned)}", *_left_out(learned)])
    header = ["from", "", "to"]
    if learned.strengths:
        header += ["adjacent", "directed"]
    lines = [str(TextTable(header, rows, left=3))]
    if learned.cpdag.reversible:
        lines.append(fitting(UNTOLD))
    if learned.strengths:
        lines += [*map(fitting, _left_out(learned)), _of_strengths()]
    return "\n".join(lines)


def _of_strengths() -> str:
    """What the columns mean: as it stands, or broken anew where the terminal is narrower."""
    width = terminal_width() or READABLE_WIDTH
    if width >= READABLE_WIDTH:
        return STRENGTHS
    return fitting(STRENGTHS.replace("\n", " "), width)


def _left_out(learned: LearnedStructure) -> list[str]:
    """A line with the strongest pairs that are not in the network, if any is worth a word."""
    edges = {frozenset(edge) for edge in learned.network.edges}
    pairs = {frozenset(arc): strength.adjacent for arc, strength in learned.strengths.items()}
    notable = {
        pair: share for pair, share in pairs.items() if pair not in edges and share >= NOTABLE
    }
    order = learned.network.variables
    named = [
        f"{' -- '.join(sorted(pair, key=order.index))} {share:.2f}"
        for pair, share in sorted(notable.items(), key=lambda item: -item[1])
    ]
    words = f"not in the network, adjacent with probability: {first_of(named, PRINTED_ARCS)}"
    return [words] if named else []


def _why_none(learned: LearnedStructure) -> str:
    if learned.rows == 1:
        return "one row says nothing of how variables go together"
    if len(learned.network.variables) == 1:
        return "there is one variable"
    if learned.ended in ("interrupted", "time limit", "memory limit"):
        return "the search ended before it found one"
    return "the variables look independent"


def structure_as_data(learned: LearnedStructure) -> dict[str, Any]:
    """Everything of a learned structure, in plain lists and dictionaries."""
    return {
        "variables": finite(learned.network.states_of),
        "arcs": [*map(list, learned.network.edges)],
        "compelled": sorted(map(list, learned.cpdag.compelled)),
        "reversible": sorted(map(list, learned.cpdag.reversible)),
        "strengths": [
            {"from": a, "to": b, **plain_attributes(strength, "adjacent directed")}
            for (a, b), strength in learned.strengths.items()
        ],
        "missingness": None if learned.missingness is None else str(learned.missingness),
        "score": finite(learned.score),
        "trace": [
            {**plain_attributes(step, "what score edges seconds"), "accepted": step.is_accepted}
            for step in learned.trace
        ],
        **plain_attributes(learned, "ended rows seconds notes why"),
    }

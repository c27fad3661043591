"""A learned structure, for people and for programs."""

from __future__ import annotations

from typing import Any

from lacunet.report.plain import plain
from lacunet.structure.learn import UNTOLD, LearnedStructure
from lacunet.structure.strengths import Strength
from lacunet.wording import counted, finite, text_table

NEVER = Strength(0.0, 0.0)  # of an arc that no replicate has
STRENGTHS = """\
adjacent: the probability that there is an edge; directed: that there is one and it goes this way.
The rest of adjacent is for the other way. -> follows from all edges found and the constraints; with
other edges it may not: where directed is below half of adjacent, replicates have rather the other.
Both are shares of bootstrap replicates, corrected by how often edges with such shares are true in
published networks: an edge that all replicates have gets 0.92 to 0.99, the more the fewer variables
there are, and only a required one gets 1."""


def structure_as_text(found: LearnedStructure) -> str:
    """The edges with their strengths, how they were found, and how values go missing."""
    network = found.network
    lines = [
        f"{counted(len(network.variables), 'variable')}, {counted(found.cpdag.edges, 'edge')} "
        f"({counted(len(found.cpdag.compelled), 'arc')} whose direction follows from the edges) "
        f"from {counted(found.rows, 'row')} in {found.seconds:.1f} s",
        f"{found.why}; {found.ended}",
    ]
    if found.trace:
        steps = [
            f"{step.what} {step.score:,.2f}{'' if step.is_accepted else ' (not accepted)'}"
            for step in found.trace
        ]
        lines.append(
            "score, higher is better, of the first graph and of each attempt to improve it: "
            + ", ".join(steps)
        )
    lines += ["", _edges_in_table(found)]
    if found.missingness is not None:
        lines += ["", "how values go missing (R[X]: X is recorded):", str(found.missingness)]
    return "\n".join(lines)


def edges_as_text(found: LearnedStructure) -> str:
    """The edges in a table, and the notes below."""
    return "\n".join([_edges_in_table(found), *(f"note: {text}" for text in found.notes)])


def _edges_in_table(found: LearnedStructure) -> str:
    """The edges in a table, with their strengths where they were computed."""
    rows = []
    for parent, child in found.network.edges:
        arc, is_compelled = (parent, child), (parent, child) in found.cpdag.compelled
        one, other = (found.strengths.get(own, NEVER) for own in (arc, arc[::-1]))
        if not is_compelled and other.directed > one.directed:  # the more probable way first
            arc, one = arc[::-1], other
        row = [arc[0], "->" if is_compelled else "--", arc[1]]
        if found.strengths:
            row += [f"{one.adjacent:.2f}", f"{one.directed:.2f}"]
        rows.append(row)
    if not rows:
        return f"no edges: {_why_none(found)}"
    header = ["from", "", "to", *(["adjacent", "directed"] if found.strengths else [])]
    lines = [text_table(header, rows, left=3)]
    if found.cpdag.reversible:
        lines.append(UNTOLD)
    if found.strengths:
        lines.append(STRENGTHS)
    return "\n".join(lines)


def _why_none(found: LearnedStructure) -> str:
    if found.rows == 1:
        return "one row says nothing of how variables go together"
    if len(found.network.variables) == 1:
        return "there is one variable"
    if found.ended in ("interrupted", "time limit", "memory limit"):
        return "the search ended before it found one"
    return "the variables look independent"


def structure_as_data(found: LearnedStructure) -> dict[str, Any]:
    """Everything of a learned structure, in plain lists and dictionaries."""
    return {
        "variables": {name: list(found.network.states(name)) for name in found.network.variables},
        "arcs": [*map(list, found.network.edges)],
        "compelled": sorted(map(list, found.cpdag.compelled)),
        "reversible": sorted(map(list, found.cpdag.reversible)),
        "strengths": [
            {"from": a, "to": b, **plain(strength, "adjacent directed")}
            for (a, b), strength in found.strengths.items()
        ],
        "missingness": None if found.missingness is None else str(found.missingness),
        "score": finite(found.score),
        "trace": [
            {**plain(step, "what score edges seconds"), "accepted": step.is_accepted}
            for step in found.trace
        ],
        **plain(found, "ended rows seconds notes why"),
    }

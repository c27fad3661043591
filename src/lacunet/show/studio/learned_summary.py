"""What was learned, for the page: CPTs with their intervals, and where two results differ most."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from lacunet.inference.answer import DEFAULT_LEVEL
from lacunet.learning.result import Result
from lacunet.learning.uncertainty.shape_parameters import ShapeParameters, shape_parameters
from lacunet.network.cpt import Cpt
from lacunet.network.formats.files import as_network
from lacunet.network.network import FloatArray, Network
from lacunet.show.pages.live_network import shape_as_data
from lacunet.show.results.result_text import pseudo_counts_in_words
from lacunet.text import assigned, conditional, counted

MOST_CPTS, MOST_ROWS = 40, 24  # that are shown, of each
MOST_DIFFERENCES = 12


def summary_of(learned: Result | Network, level: float) -> dict[str, Any]:
    """What was learned by which method, and the CPTs with their intervals where they have any.

    Variables that are tied are named with their CPT, and so are shapes.
    """
    network = as_network(learned)
    facts = []
    warnings = list[str]()
    if isinstance(learned, Result):
        facts = _facts(learned)
        warnings = list(learned.warnings_by_kind)
    heads = network.heads
    cpts = [_cpt(learned, name, level) for name in heads[:MOST_CPTS]]
    left = len(heads) - len(cpts)
    return {"facts": facts, "warnings": warnings, "cpts": cpts, "left": left, "level": level}


def _facts(result: Result) -> list[list[str]]:
    gaps = sum(result.missing.values())
    cells = result.rows * len(result.missing)
    facts = [
        ["CPTs", str(len(result.network.heads))],
        ["method", result.method],
        ["rows", f"{result.rows:,}"],
        ["cells missing", f"{gaps / max(cells, 1):.1%}"],
        ["pseudo-counts", pseudo_counts_in_words(result).removeprefix("pseudo-counts ")],
        ["assumes that", result.assumption],
    ]
    return facts if result.ended is None else [*facts, ["EM", result.ended.reason]]


def _cpt(learned: Result | Network, name: str, level: float) -> dict[str, Any]:
    network = as_network(learned)
    cpt = network.cpt(name)
    shape = network.shaped_of.get(name)
    ends = _intervals(learned, name, level)
    report = learned.families[name] if isinstance(learned, Result) else None
    number = cpt.table[..., 0].size
    return {
        "variable": name,
        "title": cpt.title,
        "tied": list(network.tied_with(name)[1:]),
        "shape": "" if shape is None else network.shapes_of[name].name,
        "parameters": None if shape is None else shape_as_data(_parameters(learned, name, level)),
        "parents": list(cpt.parents),
        "states": list(cpt.states[-1]),
        "rows": [
            [list(_states(cpt, index)), cpt.table[index].tolist(), _at(ends, index)]
            for index in islice(np.ndindex(cpt.table.shape[:-1]), MOST_ROWS)
        ],
        "left": max(number - MOST_ROWS, 0),
        "rests_on": "" if report is None else counted(report.rows_shown, "row"),
        "effective": "" if report is None else report.effective,
        "unsupported": 0 if report is None else report.unsupported,
    }


def _parameters(learned: Result | Network, name: str, level: float) -> ShapeParameters:
    if isinstance(learned, Result):
        return learned.parameters(name, level or DEFAULT_LEVEL)
    return shape_parameters(learned, name, None)


def _intervals(learned: Result | Network, name: str, level: float) -> FloatArray | None:
    if not isinstance(learned, Result) or learned.uncertainty is None or not level:
        return None
    return learned.interval(name, level)


def _at(ends: FloatArray | None, index: tuple[int, ...]) -> Any:
    return None if ends is None else ends[index].tolist()


def _states(cpt: Cpt, index: tuple[int, ...]) -> Iterator[str]:
    return (states[code] for states, code in zip(cpt.states, index, strict=False))


def differences(
    first: Result | Network, second: Result | Network, levels: tuple[float, float]
) -> dict[str, Any]:
    """Where two results differ most: of each CPT that both have the entry that is most apart.

    ``others`` says what cannot be compared: arrows and variables that only one of them has.
    """
    left, right = as_network(first), as_network(second)
    shared = [name for name in left.variables if _is_shared(left, right, name)]
    apart = sorted((_most_apart(left.cpt(v), right.cpt(v)) for v in shared), key=lambda e: -e[0])
    rows = []
    for difference, name, cell in apart[:MOST_DIFFERENCES]:
        if difference > 0:
            cpt = left.cpt(name)
            *given, entry = map(assigned, (*cpt.parents, name), _states(cpt, cell))
            both = [
                [float(network.cpt(name).table[cell]), _at(_intervals(learned, name, level), cell)]
                for learned, network, level in zip(
                    (first, second), (left, right), levels, strict=True
                )
            ]
            rows.append({"entry": conditional(entry, given), "both": both})
    others = [*_only(left, right, "first"), *_only(right, left, "second")]
    return {"rows": rows, "others": others, "compared": len(shared)}


def _is_shared(left: Network, right: Network, name: str) -> bool:
    if name not in right.states_of or left.parents(name) != right.parents(name):
        return False
    return all(left.states(v) == right.states(v) for v in left.family(name))


def _most_apart(left: Cpt, right: Cpt) -> tuple[float, str, tuple[int, ...]]:
    apart = np.abs(left.table - right.table).round(12)  # of equal ones the first
    cell = np.unravel_index(int(apart.argmax()), apart.shape)
    return float(apart[cell]), left.child, tuple(map(int, cell))


def _only(network: Network, other: Network, which: str) -> list[str]:
    """What a network has and another one has not."""
    variables = [name for name in network.variables if name not in other.states_of]
    edges = [f"{tail} → {head}" for tail, head in sorted({*network.edges} - {*other.edges})]
    both = (("variables", variables), ("arrows", edges))
    return [f"{kind} only in the {which}: {', '.join(words)}" for kind, words in both if words]

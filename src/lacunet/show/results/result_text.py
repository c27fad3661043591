"""A result of learning, for people and for programs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from lacunet.inference.answer import DEFAULT_LEVEL
from lacunet.learning.alternatives import Alternatives
from lacunet.learning.family_reports import VERDICTS_ALONE, FamilyReport
from lacunet.learning.plan import Ended
from lacunet.learning.pseudo_counts import PseudoCounts, has_pseudo_counts
from lacunet.learning.result import Result, uncertainty_of
from lacunet.network.cpt import Cpt
from lacunet.network.mechanisms import MECHANISM_STATES
from lacunet.network.network import Network
from lacunet.show.plain_values import plain_attributes
from lacunet.text import assigned, conditional, counted, finite, first_of
from lacunet.text_tables import TextTable, fitting

ROWS_SHOWN_WHOLE = 8  # CPT rows: a terminal shows smaller CPTs whole
FEW_VARIABLES_SHOWN = 12  # variables
FAMILIES = 20  # lines of a table; of larger networks the CPTs that rest on the fewest rows
WIDEST = 5  # intervals
OF_ROWS = (
    "Intervals are made from the rows alone, estimates also from the pseudo-counts: an "
    "estimate may lie near an end of its interval."
)
EFFECTIVE = "effective: the weakest CPT row is as precise as from this many complete rows"
OF_MORE = "; in '{0} of {1}', {1} is the number of rows that show its parents' states"
LEGEND_FELL_BACK = "fell back: share of the rows' weight for which another estimate had to stand in"
LEGEND_UNSUPPORTED = (
    "unsupported: CPT rows without data: no row shows the variable and these parents"
)
LEGEND_WITHOUT_INTERVALS = " (-: known only with intervals)"
OF_ALTERNATIVES = (
    "entropy: 1 where each row is in one state for certain; smallest: the share of the rows in the "
    "smallest state; agreed: starts of EM that ended at the best"
)
MORE = "all of it, with every CPT{} and how the method ended: --json, or the fields of the result"
REPORTED = (  # of each family, as data
    "variable parents estimand latex rows_shown rows_used effective_size fallback_mass fallback "
    "support unsupported unseen warnings"
)


def result_as_text(
    result: Result,
    level: float | None = None,
    with_cpts: bool = False,
    shown_by: Callable[[str], str] = "print(result.cpt({!r})) shows one".format,
) -> str:
    """What was learned by which method, and what each CPT rests on.

    ``with_cpts`` adds the CPTs themselves, if the network is small; ``level`` their intervals.
    ``shown_by`` says how to see a CPT that is not shown.
    """
    lines = _heading(result)
    if result.alternatives is not None:
        lines += ["", str(result.alternatives), *_of_alternatives(result.alternatives)]
    lines += ["", *_reports(result)]
    if with_cpts:
        lines += _cpts(result, shown_by)
    hiding = {v: cpt for v, cpt in result.mechanisms.items() if v in result.network.states_of}
    if hiding:  # of R[*], no data show how often it is 0
        lines += ["", f"mechanisms, as learned; {TAKEN_AS_TRUE}:"]
        lines += [_mechanism(result, name, cpt) for name, cpt in hiding.items()]
    if level is not None:
        lines += ["", *_widest_intervals(result, level)]
    warnings = result.warnings_by_kind
    if warnings:
        lines += ["", *(f"! {warning}" for warning in warnings)]
        network = result.network
        if network.mechanisms is not None and (network.tied or network.shapes_of):
            lines.append(VERDICTS_ALONE)
    lines += ["", MORE.format(f", {counted(len(result.warnings), 'warning')}" if warnings else "")]
    return fitting("\n".join(lines))


def _heading(result: Result) -> list[str]:
    """What was learned from how many rows, why by this method, and how it ended."""
    gaps = sum(result.missing.values())
    partially = sum(count > 0 for count in result.missing.values())
    cells = result.rows * len(result.missing)
    weight = "" if result.total == result.rows else f", worth {result.total:,.0f} of equal weight"
    lines = [
        f"{counted(len(result.network.heads), 'CPT')}{_of_tied(result)} by {result.method} from "
        f"{counted(result.rows, 'row')}"
        f"{weight}, {pseudo_counts_in_words(result)}",
        f"{gaps:,} of {cells:,} cells ({gaps / cells:.1%}) are missing, "
        f"in {partially} of {len(result.missing)} variables",
    ]
    if result.why:
        lines.append(result.why)
    if result.assumption not in result.why:
        lines.append(f"It assumes that {result.assumption}.")
    if result.ended is not None:
        if result.ended.reason != "converged":
            lines.append(_ended(result.ended))
        lines += result.ended.notes
    return lines


def _of_alternatives(alternatives: Alternatives) -> list[str]:
    """What the columns of the table mean, and which numbers of states were not learned whole."""
    lines = [OF_ALTERNATIVES]
    for fit in alternatives.fits:
        if fit.ended != "converged":
            numbers = ", ".join(f"{name} {number}" for name, number in fit.numbers.items())
            lines.append(f"! with {numbers} EM had not converged: {fit.ended}")
    return lines


def _reports(result: Result) -> list[str]:
    """What the CPTs rest on, of many the weakest, and what the columns mean."""
    families = {name: result.families[name] for name in result.network.heads}
    weakest = sorted(families, key=lambda name: _rests_on(families[name]))
    shown = {*weakest[:FAMILIES]}
    reports = [report for name, report in families.items() if name in shown]
    lines = [_families(reports, result.network)]
    if left := len(families) - len(reports):
        lines.append(f"and {counted(left, 'CPT')} that {'rests' if left == 1 else 'rest'} on more")
    effective = EFFECTIVE
    if both := [report.effective for report in reports if " of " in report.effective]:
        effective += OF_MORE.format(*both[0].split(" of "))
    if any(report.effective == "-" for report in reports):
        effective += LEGEND_WITHOUT_INTERVALS
    lines.append(effective)
    if any(report.fallback_mass for report in reports):
        lines.append(LEGEND_FELL_BACK)
    if any(report.unsupported for report in reports):
        lines.append(LEGEND_UNSUPPORTED)
    return lines


TAKEN_AS_TRUE = (
    "the graph is taken as true (lacunet recover NETWORK GRAPH --query X --data DATA --assumptions "
    "holds it against the rows)"
)


def _cpts(result: Result, shown_by: Callable[[str], str]) -> list[str]:
    """The small CPTs of a small network, and how to see the others."""
    network = result.network
    heads = [cpt for cpt in network.cpts if network.head_of[cpt.child] == cpt.child]
    shaped_of = network.shaped_of
    with_parameters = [cpt.child for cpt in heads if _has_parameters(network, cpt.child)]
    cpts = [cpt for cpt in heads if cpt.child not in with_parameters]
    small = [cpt for cpt in cpts if cpt.table.size // cpt.table.shape[-1] <= ROWS_SHOWN_WHOLE]
    shown = small if len(cpts) <= FEW_VARIABLES_SHOWN else []
    lines: list[str] = []
    for cpt in shown:
        lines += ["", str(cpt), *(["it was given"] if cpt.child in shaped_of else [])]
        lines += _the_same(network, cpt.child)
    for name in with_parameters[:FEW_VARIABLES_SHOWN]:
        lines += ["", str(result.parameters(name)), *_the_same(network, name)]
    are_shown = {cpt.child for cpt in shown} | {*with_parameters[:FEW_VARIABLES_SHOWN]}
    if large := [cpt.child for cpt in heads if cpt.child not in are_shown]:
        lines += ["", f"CPTs not shown here: {first_of(large, 5)}; {shown_by(large[-1])}"]
    return lines


def _has_parameters(network: Network, name: str) -> bool:
    """Whether a CPT has a shape that is learned."""
    return name in network.shaped_of and bool(network.shaped_of[name].parameter_names)


def _the_same(network: Network, name: str) -> list[str]:
    """Which CPTs are the same, on a line, where there are any."""
    others = network.tied_with(name)[1:]
    return [f"the same: {first_of(others, 5)}"] if others else []


def _widest_intervals(result: Result, level: float) -> list[str]:
    """The intervals of the widest entries, and of how many entries they are."""
    uncertainty = uncertainty_of(result)
    lines = [uncertainty.chance] if uncertainty.chance else []
    lines += [f"{uncertainty.words(level)}; the widest:"]
    widest = []
    for cpt in map(result.network.cpt, result.network.heads):
        both = result.interval(cpt.child, level)
        width = (both[..., 1] - both[..., 0]).round(6)  # of equal ones the first, whatever the rows
        width[~result.network.needs_data(cpt.child)] = 0.0
        cell = np.unravel_index(int(width.argmax()), width.shape)
        states = [result.network.states(v)[code] for v, code in zip(cpt.family, cell, strict=True)]
        *given, entry = (assigned(v, s) for v, s in zip(cpt.family, states, strict=True))
        words = conditional(entry, given)
        widest.append((float(width[cell]), words, cpt.table[cell], both[cell]))
    for _, words, value, (low, high) in sorted(widest, key=lambda each: -each[0])[:WIDEST]:
        lines.append(f"  {words} = {value:.3f}, {low:.3f} to {high:.3f}")
    if has_pseudo_counts(result.pseudo_counts) and not uncertainty.is_credible:
        lines.append(OF_ROWS)
    return lines


def _mechanism(result: Result, variable: str, cpt: Cpt) -> str:
    """How often a variable is missing, by the parents of its mechanism: least and most often."""
    rates = cpt.table[..., 0]
    words = []
    for cell in dict.fromkeys((int(rates.argmin()), int(rates.argmax()))):
        states = [
            result.network.states(name)[code]
            if name in result.network.states_of
            else MECHANISM_STATES[code]
            for name, code in zip(cpt.parents, np.unravel_index(cell, rates.shape), strict=True)
        ]
        given = ", ".join(assigned(v, s) for v, s in zip(cpt.parents, states, strict=True))
        words.append(f"{rates.flat[cell]:.1%}{' if ' if given else ''}{given}")
    return f"  {variable} is missing in {' to '.join(words)}"


def _ended(ended: Ended) -> str:
    return (
        f"{ended.reason} after {counted(ended.iterations, 'iteration')}, {ended.seconds:.2f} s; "
        f"log-likelihood {_known(ended.log_likelihood)}, "
        f"log-posterior {_known(ended.log_posterior)}"
    )


def _known(value: float) -> str:
    return "not known" if math.isnan(value) else f"{value:.10g}"


def _of_tied(result: Result) -> str:
    """How many variables share the CPTs, where some do."""
    variables = len(result.network.variables)
    if len(result.network.heads) == variables:
        return ""
    return f" of {counted(variables, 'variable')}, of which some are tied,"


def _with_tied(name: str, network: Network) -> str:
    """A variable, and the last of those that share its CPT."""
    group = network.tied_with(name)
    return name if len(group) == 1 else f"{name} to {group[-1]}"


def _families(reports: Sequence[FamilyReport], network: Network) -> str:
    """A line for each CPT: what it rests on, and what it lacks."""
    has_fallback = any(report.fallback_mass for report in reports)
    header = ["variable", "parents", "rows shown", "effective"]
    if has_fallback:
        header.append("fell back")
    header.append("unsupported")
    rows = []
    for report in reports:
        name = _with_tied(report.variable, network)
        parents = ", ".join(report.parents) or "-"
        row = [name, parents, f"{report.rows_shown:,}", report.effective]
        if has_fallback:
            row.append(f"{report.fallback_mass:.1%}" if report.fallback_mass else "-")
        row.append(f"{report.unsupported:,}" if report.unsupported else "-")
        rows.append(row)
    return str(TextTable(header, rows, left=2))


def _rests_on(report: FamilyReport) -> float:
    """How many rows the weakest CPT row is worth, or show the family where that is not known."""
    size = report.effective_size
    return report.rows_shown if size is None else size


def pseudo_counts_in_words(result: Result) -> str:
    """Where pseudo-counts of each cell come from, or the number that was given."""
    pseudo_counts = result.pseudo_counts
    if not isinstance(pseudo_counts, PseudoCounts):
        return f"pseudo-counts {pseudo_counts:g}"
    if pseudo_counts.experts is not None:
        return f"experts worth {pseudo_counts.rows_of_experts}"
    return f"pseudo-counts {pseudo_counts.origin}"


def result_as_data(result: Result, level: float | None = None) -> dict[str, Any]:
    """Everything of a result, in plain lists and dictionaries; with intervals at a level."""
    intervals = {}
    if level is not None:
        for name in result.network.variables:
            intervals[name] = result.interval(name, level).tolist()
    pseudo_counts: object = result.pseudo_counts
    if isinstance(pseudo_counts, PseudoCounts):
        pseudo_counts = pseudo_counts.as_json()
    alternatives = result.alternatives
    return {
        **plain_attributes(result, "method why assumption rows"),
        "weight": result.total,
        "pseudo_counts": pseudo_counts,
        "missing": dict(result.missing),
        "notes": list(result.notes),
        "ended": None if result.ended is None else finite(asdict(result.ended)),
        "alternatives": None if alternatives is None else alternatives.as_data(),
        "families": {
            name: plain_attributes(report, REPORTED) for name, report in result.families.items()
        },
        "states": {name: list(states) for name, states in result.network.states_of.items()},
        "parameters": {
            name: result.parameters(name, level or DEFAULT_LEVEL).as_data()
            for name in result.network.shaped_of
        },
        "cpts": {cpt.child: plain_attributes(cpt, "parents table") for cpt in result.network.cpts},
        "mechanisms": {
            v: plain_attributes(cpt, "parents table") for v, cpt in result.mechanisms.items()
        },
        "level": level,
        "intervals": intervals,
        "intervals_are_credible": result.uncertainty is not None and result.uncertainty.is_credible,
    }

"""Verdicts on recoverability and tests of a missingness graph, for people and programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from lacunet.learning.uncertainty.by_formula import is_one_value
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.identified.identified_sets import NARROW
from lacunet.missingness.implications import TestedImplication
from lacunet.missingness.independence.stratified import SIGNIFICANCE
from lacunet.missingness.refute.witness import Witness
from lacunet.missingness.refute.witness_text import other_states, two_models
from lacunet.missingness.verdict import NOT_RECOVERABLE, RECOVERABLE, UNDECIDED, Estimation, Verdict
from lacunet.network.network import FloatArray
from lacunet.show.plain_values import plain_attributes
from lacunet.show.verdicts.verdict_on_data import GraphReport, Implied, Reported
from lacunet.text import counted, finite, read_formula
from lacunet.text_tables import TextTable, fitting

SHOWN_CELLS = 64
SHOWN_ENTRIES = 12
TEST_HEADER = ("implication", "against", "statistic", "df", "p", "Holm", "effect", "rows", "at 5%")
TWO_MODELS = "Two models that give the same data and different answers"
GENERIC = (
    "With the numbers of states of this network, the data determine it in almost all models of the "
    "graph (no answer close by gives the same data): lacunet learn NETWORK DATA --method em "
    "--missingness GRAPH estimates it. In some models they do not, so that no formula recovers it."
)

FIT_BEST = "models of the graph that fit these data best"
ONLY_EXAMPLES = "the two models above are an example, not these data"

ESTIMATED = (  # of an estimate, as data
    "table rows_used rows_shown share_used weighted_size largest_weight unseen is_founded warnings"
)
ASSUMPTION_FIELDS = "edge statistic degrees_of_freedom p_value adjusted low high"

Rows = list[list[str]]


def recovered_as_text(report: GraphReport) -> str:
    """The verdicts, then whether rows can be completed by the graph, then what it implies."""
    parts = [_verdicts_as_text(report.graph, report.answers)] if report.answers else []
    if report.full_law is not None:
        verdict = report.full_law.verdict
        standing = _in_capitals(report.full_law)
        words = f"completing rows needs the full law, {verdict.query}: {standing}"
        parts.append(f"{words}\n  {verdict.why}")
    if report.implied is not None:
        parts.append(_implications_as_text(report.implied))
    return fitting("\n\n".join(parts))


def recovered_as_data(report: GraphReport) -> dict[str, Any]:
    """The same in plain lists and dictionaries; a cell that the data never show is None."""
    data: dict[str, Any] = {}
    if report.answers:
        data = {
            "graph": str(report.graph),
            "latent": list(report.graph.latent),
            "category": report.graph.category(),
            "why": report.graph.why(),
            "queries": [*map(_answer_as_data, report.answers)],
        }
    if report.implied is not None:
        listed, tested, silent = report.implied
        data["implications"] = [str(implication) for implication in listed]
        data["tested"] = tested and [
            {**vars(test), "implication": str(test.implication)} for test in tested
        ]
        data["never_testable"] = list(silent)
    if report.full_law is not None:
        law = plain_attributes(report.full_law.verdict, "query status generic why")
        data["full_law"] = {**law, "standing": report.full_law.standing}
    return data


def _verdicts_as_text(graph: MissingnessGraph, answers: Sequence[Reported]) -> str:
    """The graph and its category, then the verdicts, what cannot be recovered first."""
    lines = [*str(graph).splitlines(), *(f"{name} is latent" for name in graph.latent)]
    lines += ["", graph.why()]
    if len(answers) > 1:
        lines += ["", summary([answer.verdict for answer in answers])]
    plain = [answer for answer in answers if _is_plain(answer)]
    order = (NOT_RECOVERABLE, UNDECIDED, RECOVERABLE)  # and within these as asked
    for answer in sorted(answers, key=lambda answer: order.index(answer.verdict.status)):
        if answer not in plain or len(plain) == 1:
            lines += ["", *_answer_lines(answer)]
    if len(plain) > 1:
        queries = "; ".join(answer.verdict.query for answer in plain)
        lines += ["", f"always observed, so that the shares of rows estimate them: {queries}"]
    return "\n".join(lines)


def _in_capitals(answer: Reported) -> str:
    standing = answer.verdict.standing
    return answer.standing.replace(standing, standing.upper())


def _is_plain(answer: Reported) -> bool:
    """Whether the verdict goes without saying: nothing that it speaks of is ever missing."""
    verdict = answer.verdict
    graph = answer.verdict.graph
    hides = {*graph.causes, *graph.latent}.intersection(verdict.asked.variables)
    says_more = answer.estimate is not None or verdict.do or graph.selection is not None
    return verdict.term is not None and not hides and not says_more


def summary(verdicts: Sequence[Verdict]) -> str:
    """How many of several queries can be recovered."""
    count = Counter(verdict.status for verdict in verdicts)
    total = len(verdicts)
    known = count[RECOVERABLE]
    start = f"{known} of {total}"
    if known in (0, total):
        start = f"all {total}" if known else f"none of the {total}"
    identified = sum(verdict.term is None and verdict.generic is True for verdict in verdicts)
    more = [(count[UNDECIDED], "undecided"), (identified, "identified for these numbers of states")]
    others = [f"{n} {'is' if n == 1 else 'are'} {words}" for n, words in more if n]
    return f"{start} can be recovered{'; of the others ' + ', '.join(others) if others else ''}"


def _answer_lines(answer: Reported) -> list[str]:
    """A verdict, why, by which formula, and what the data say."""
    verdict = answer.verdict
    estimate = answer.estimate
    too_large = "" if verdict.is_computable else ", TOO LARGE TO COMPUTE"
    lines = [f"{verdict.query}: {_in_capitals(answer)}{too_large}", f"  {verdict.why}"]
    lines += [f"  {line}" for line in read_formula((estimate or verdict).estimand).splitlines()]
    if answer.is_generic:
        lines.append(f"  {GENERIC}")
    if verdict.witness is not None:
        rows = two_models(verdict.witness, verdict.graph.network)
        lines += [f"  {TWO_MODELS}:", *_table(["", "model 1", "model 2"], rows, SHOWN_ENTRIES)]
        states = other_states(verdict.witness, verdict.graph.network)
        if states:
            lines.append(f"  ({states})")
    if answer.refusal:
        lines.append(f"  ! {answer.refusal}")
    header, rows = answer_rows(answer)
    if rows:
        if answer.bounds is not None:
            hint = "" if answer.interval is not None else "; --intervals adds intervals"
            lines.append(f"  {caption_of(answer)}{hint}:")
        lines += _table(header, rows, SHOWN_CELLS, left=len(verdict.asked.names))
    if answer.is_narrow:
        lines.append(f"  ! the range of lowest and highest is {NARROW} (--intervals)")
    if estimate is not None:
        lines += [f"  {rests_on(estimate)}", *(f"  ! {warning}" for warning in estimate.warnings)]
    if answer.assumptions is not None:
        text = answer.assumptions.as_text(answer.states)
        lines += ["", *(f"  {line}" for line in text.splitlines())]
    return lines


def _table(
    header: Sequence[str], rows: Sequence[Sequence[str]], most: int, left: int = 1
) -> list[str]:
    lines = TextTable(header, rows[:most], left).lines(indent=2)
    if len(rows) > most:
        lines.append(f"  and {len(rows) - most:,} more (--json has all)")
    return lines


def _witness_as_data(witness: Witness | None) -> dict[str, Any] | None:
    if witness is None:
        return None
    return {
        **plain_attributes(witness.asked, "target given"),
        **plain_attributes(witness, "manifest_difference query_difference"),
        "parents": {str(n): [*map(str, witness.submodel.parents(n))] for n in witness.one},
        "model_1": {str(node): table.tolist() for node, table in witness.one.items()},
        "model_2": {str(node): table.tolist() for node, table in witness.two.items()},
    }


def _answer_as_data(answer: Reported) -> dict[str, Any]:
    verdict = answer.verdict
    estimate = answer.estimate
    bounds = answer.bounds
    assumed = answer.assumptions
    interval = None if answer.interval is None else finite(answer.interval.tolist())
    return {
        **plain_attributes(verdict, "target given do"),
        "states": dict(answer.states),
        **plain_attributes(verdict, "status generic why is_computable"),
        "standing": answer.standing,
        **plain_attributes(estimate or verdict, "estimand latex"),
        "witness": _witness_as_data(verdict.witness),
        "estimate": estimate and {**plain_attributes(estimate, ESTIMATED), "interval": interval},
        "set": bounds
        and {
            **plain_attributes(bounds, "low high"),
            "interval": interval,
            "is_narrow": answer.is_narrow,
        },
        "not_estimated": answer.refusal or None,
        "assumptions": assumed
        and [plain_attributes(claim, ASSUMPTION_FIELDS) for claim in assumed.assumptions],
    }


def _implications_as_text(implied: Implied) -> str:
    """What the graph implies about the data and, where it was tested, what they answer."""
    listed, tested, silent = implied
    if tested is None:
        lines = [f"{len(listed)} testable implications:", *(f"  {claim}" for claim in listed)]
    else:
        lines = TextTable(TEST_HEADER, tested_rows(tested)).lines()
        if any(test.how == "F" for test in tested):
            lines += ["F: what the survey's strata and clusters make of Pearson's statistic"]
        if any(test.how in ("gamma", "draws") for test in tested):
            lines += [
                "gamma, draws: counts are small, so that Pearson's statistic is compared with its "
                "own mean and variance, or with tables drawn under independence"
            ]
    if silent:
        lines += ["", "never testable by any data:", *(f"  {text}" for text in silent)]
    return "\n".join(lines)


def answer_rows(answer: Reported) -> tuple[list[str], Rows]:
    """A header and a row for each cell: its states, its probability or set, its interval."""
    names = answer.verdict.asked.names
    network = answer.verdict.graph.network
    column_of = _numbers(answer)
    if not column_of:
        return [], []
    header = [*names, *column_of]
    if answer.interval is not None:
        header.append("interval")
    values = np.stack([*column_of.values()], axis=-1)
    rows = []
    for cell in np.ndindex(values.shape[:-1]):
        state_of = {name: network.states(name)[k] for name, k in zip(names, cell, strict=True)}
        if not answer.states.items() <= state_of.items():  # a cell that was not asked for
            continue
        numbers = ("unseen" if np.isnan(p) else f"{p:.4f}" for p in values[cell])
        row = [*state_of.values(), *numbers]
        if answer.interval is not None:
            low, high = answer.interval[cell]
            row.append("" if np.isnan([low, high]).any() else f"[{low:.4f}, {high:.4f}]")
        rows.append(row)
    return header, rows


def _numbers(answer: Reported) -> dict[str, FloatArray]:
    """The numbers of each cell, by what their column is called; none where there are none."""
    if answer.estimate is not None:
        return {"P": answer.estimate.table}
    if answer.bounds is None:
        return {}
    if _is_point(answer):
        return {"P": answer.bounds.low}
    return {"lowest": answer.bounds.low, "highest": answer.bounds.high}


def caption_of(answer: Reported) -> str:
    """What the numbers of a query without a formula are."""
    words = f"Estimated from the data: the {FIT_BEST} all give this answer"
    if not _is_point(answer):
        words = f"Estimated from the data: the lowest and highest answer of the {FIT_BEST}"
    if answer.verdict.witness is not None:
        return f"{words} ({ONLY_EXAMPLES})"
    return words


def _is_point(answer: Reported) -> bool:
    """Whether all models that fit best give one answer."""
    return answer.bounds is not None and is_one_value(answer.verdict, answer.bounds)


def rests_on(estimate: Estimation) -> str:
    """What an estimate rests on, in words."""
    return (
        f"{counted(estimate.rows_used, 'row')} used ({estimate.share_used:.1%}), "
        f"worth {estimate.weighted_size:,.0f} of equal weight, "
        f"largest weight {estimate.largest_weight:.3g}"
    )


def tested_rows(tested: Sequence[TestedImplication]) -> Rows:
    """An implication, its test, and whether the data refute it."""
    return [
        [
            str(test.implication),
            test.how,
            f"{test.statistic:.2f}",
            f"{test.degrees_of_freedom}",
            f"{test.p_value:.3g}",
            f"{test.adjusted:.3g}",
            f"{test.effect:.3f}",
            f"{test.rows:,}",
            "REFUTED" if test.adjusted < SIGNIFICANCE else "-",
        ]
        for test in tested
    ]

"""What is missing, how, and what that permits: one value that prints."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

from lacunet.ask.diagnose.at_random_tests import (
    MissingTest,
    NeverShown,
    dropout_tests,
    mar_tests,
    mcar_tests,
    mechanism_tables,
    positivity,
    smallest_effect,
)
from lacunet.ask.diagnose.em_on_learned_graph import GraphTrial, try_learned_graph
from lacunet.ask.diagnose.patterns import Pattern, Patterns, patterns
from lacunet.counts.counts import added_up
from lacunet.counts.groups import group_rows
from lacunet.counts.missing_values import MissingSummary
from lacunet.counts.observations import missing_in, rows_within
from lacunet.counts.open_rows import open_rows
from lacunet.data.data import Data, as_data
from lacunet.data.errors import DataWarning
from lacunet.data.network_from_data import rows_first, warned_network_of_columns
from lacunet.data.proposals import proposals
from lacunet.data.read import ReadReport, note_on_sets
from lacunet.data.table import EncodedTable
from lacunet.inference.forecast import Forecast
from lacunet.learning.explain import explain
from lacunet.limits import Memory
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.independence.stratified import SIGNIFICANCE
from lacunet.missingness.learned.from_rows import CANNOT_BE_SEEN, from_few_rows, observed_parents
from lacunet.missingness.learned.not_asked import notes_on_rules
from lacunet.missingness.separation.separator import separators
from lacunet.network.arguments import clear_arguments
from lacunet.network.formats.files import NetworkOrEdges
from lacunet.network.network import Network, Scope
from lacunet.progress import AskedProgress
from lacunet.randomness import generator
from lacunet.text import assigned, counted, finite, first_of, sentence
from lacunet.text_tables import Displayed, TextTable
from lacunet.threads import one_blas_thread

NO_CHANCE = 0.001  # adjusted p-values below are hardly those of data missing at random
LEAST_DIVISOR = 1e-300  # no rows are divided by this
PRINTED_LINES = 10  # lines of each list that are printed
DEPENDS = "being missing depends on (one cause at a time; Cramér's V, Holm-adjusted p-values):"


@dataclass(frozen=True)
class MethodSupport:
    """What each method would rest on, and which one `auto` would take.

    ``complete_rows`` is what listwise deletion uses; ``fewest_family_rows`` what direct-mcar
    has for the family that is shown least, ``least_shown`` that family's variable. ``groups`` is
    the number of groups of rows that direct-mar and factored-mar make by the fully observed
    variables; ``fallback_of`` the share of the rows in groups none of which shows the family.
    ``informed_groups`` and ``informed_fallback_of`` are the same for informed deletion with
    learned separators, of the family with most groups. ``expectation`` is what an EM step will
    cost, None if nothing is missing; ``auto`` what `auto` would do. Without edges, the family of
    each variable is the variable alone.
    """

    complete_rows: int
    least_shown: str
    fewest_family_rows: int
    groups: int
    fallback_of: Mapping[str, float]
    informed_groups: int
    informed_fallback_of: Mapping[str, float]
    expectation: Forecast | None
    auto: str
    has_edges: bool = True


FLUX = (
    "influx: share of all shown cells that are in rows where it is missing (how much there is to "
    "predict it from)\n"
    "outflux: share of all missing cells that are in rows that show it (how much it can help to "
    "predict)"
)


@dataclass(frozen=True, repr=False)
class Diagnosis(Displayed):
    """What is missing from data, and what can be said about why.

    ``patterns`` describe; ``mcar`` tests whether values are missing completely at random,
    ``mar`` whether they are always missing at random, both smallest p-value first;
    ``positivity`` lists states under which a variable is never shown; ``grounds`` says what
    methods would rest on. ``conclusions`` are sentences. ``trial`` compares EM on a graph learned
    from the rows with EM under MAR, if that was asked for.
    """

    patterns: Patterns
    mcar: tuple[MissingTest, ...]
    mar: tuple[MissingTest, ...]
    positivity: tuple[NeverShown, ...]
    grounds: MethodSupport
    conclusions: tuple[str, ...]
    trial: GraphTrial | None = None

    def __repr__(self) -> str:
        return f"<Diagnosis: {self.conclusions[0]}>"

    def _parts(self) -> list[object]:
        return parts_for_people(self)

    def as_data(self) -> dict[str, Any]:
        """All of it as lists, strings and numbers, ready for JSON."""
        data: dict[str, Any] = finite(asdict(self))
        return data


@clear_arguments
def diagnose(
    data: Any,
    network: NetworkOrEdges | None = None,
    *,
    rng: np.random.Generator | int | None = None,
    memory: Memory = None,
    try_graph: bool = False,
    progress: AskedProgress = False,
) -> Diagnosis:
    """Say what is missing from data, how, and what that permits.

    Parameters
    ----------
    data
        A path or several, a dataframe of any library, an Arrow table, a DuckDB relation, or
        `lacunet.Data`, whose weights count in the tests.
    network
        Structure and states, or edges; CPTs, if it has any, are ignored. Without it, as in
        ``diagnose(data)``, all columns are looked at; identifiers, free text, and dates and
        numbers with more than 50 different values are refused in one error, which says what to
        give: ``diagnose(lacunet.Data(data, bins={"Age": 5}, without=["Id"]))``.
    rng
        A seed or a generator. The same seed gives the same result; None is 0. It is for tests with
        few rows, whose p-values come from tables drawn at random.
    memory
        The budget in bytes, or such as ``"500MB"``; by default half of the memory there is.
        Of data that need more, only as many rows are tested as fit, spread over all of the data;
        the conclusions say so.
    try_graph
        Whether to learn the network twice where MAR is rejected (adjusted p below 0.05): by EM, and
        by EM on a missingness graph learned from the rows. That graph is recommended if some CPT
        entry differs by more than chance explains at the 5% level.
    progress
        True for a bar, in notebooks too, or a function to call as the work goes on.

    Returns
    -------
    A value that prints. Its ``mcar`` is a tuple of tests of whether values are missing completely
    at random: one for each variable with missing values and each other variable, of whether being
    missing depends on it (Pearson's chi-squared test, p-values adjusted by Holm; the conclusions go
    by those below 0.05). The smallest p-value comes first: ``mcar[0].p_value``, and adjusted
    ``mcar[0].adjusted``. ``mar`` are tests of whether values are missing at random: the same, of
    dependence on variables that have missing values themselves, given those that are always shown.
    ``patterns`` says what is missing together, and ``positivity`` lists the states of other
    variables under which a variable is never shown.
    Of each variable, ``patterns.influx_of`` is the share of all shown cells that are in rows where
    it is missing: how much there is to predict it from. ``patterns.outflux_of`` is the share of all
    missing cells that are in rows that show it: how much it can help to predict.

    Examples
    --------
    The young all answer, the old half of the time.

    >>> network = Network({"Age": ["young", "old"], "Ill": ["no", "yes"]}, {"Ill": ["Age"]})
    >>> rows = {"Age": ["young"] * 50 + ["old"] * 50, "Ill": ["no"] * 75 + [None] * 25}
    >>> print(diagnose(rows, network).conclusions[0])
    Values are not missing completely at random: whether Ill is missing depends on Age.
    """
    data = as_data(rows_first(data, "diagnose"))
    left_out: Iterable[str] = ()
    if network is None:
        columns, data = warned_network_of_columns(data)
        network = columns.network
        left_out = dict.fromkeys(columns.left_out.values())
    rows = rows_to_diagnose(network, data, memory, progress)
    random = generator(0 if rng is None else rng)
    with one_blas_thread():
        return diagnose_table(*rows, random, try_graph=try_graph, left_out=left_out)


def rows_to_diagnose(
    network: NetworkOrEdges, data: Data, memory: Memory, progress: AskedProgress
) -> tuple[Network, MissingSummary, EncodedTable]:
    """The network with the codes of the data, what is missing, and rows that stand for all."""
    opened = open_rows("diagnose", network, data, memory, progress)
    with opened.rows() as rows:
        table, _ = rows_within(rows, opened.network, opened.budget, ReadReport())
        read_report = ReadReport()
        summary = missing_in(rows, (), read_report)
        notes = dict.fromkeys((*rows.warned_notes(read_report), *table.notes))
    return opened.network, summary, replace(table, notes=(*notes,))


def diagnose_table(
    network: Network,
    summary: MissingSummary,
    table: EncodedTable,
    random: np.random.Generator,
    *,
    try_graph: bool = False,
    left_out: Iterable[str] = (),
) -> Diagnosis:
    """Say what is missing, and what rows that stand for all tell of why.

    A cell that is one of several states is missing, and the conclusions say so. ``left_out`` are
    remarks on columns that are not looked at.
    """
    rows = table.without_sets()
    described = patterns(network, summary)
    tables = None  # which tests share, where rows are counted
    if rows.weights is None and rows.copies is None:
        tables = mechanism_tables(rows, rows.partially_observed)
    # In this order: tests draw tables from one generator.
    completely = mcar_tests(network, rows, random, tables)
    parents_of = observed_parents(network, rows)
    always = mar_tests(network, rows, random, parents_of, tables)
    never = positivity(network, rows, tables)
    grounds = _grounds(network, rows, described, parents_of)
    dropout = dropout_tests(network, rows, random, parents_of)

    by_rules = tuple(map(sentence, notes_on_rules(network, rows.partially_observed)))
    trial = None
    if try_graph and (by_rules or any(test.adjusted < SIGNIFICANCE for test in always)):
        trial = try_learned_graph(network, rows)

    words: list[str] = []
    if rows.row_count < described.rows:
        words.append(
            f"All tests are of {rows.row_count:,} of the {described.rows:,} rows, spread "
            "over all of the data: no more fit in the memory budget. What is rare may be missing "
            "here."
        )
    *conclusions, last = _conclusions(
        described=described,
        completely=completely,
        always=always,
        dropout=dropout,
        never=never,
        rows=rows.row_count,
    )
    words += [*conclusions, *by_rules]
    if trial is not None:
        words.append(str(trial))
    words.append(last)
    if table.cells_of_sets:
        words.append(sentence(note_on_sets(table.cells_of_sets)))
    copies = None if rows.copies is None else rows.copies.rows
    proposed = proposals(network, rows.columns, copies=copies)
    words += map(sentence, (*proposed, *left_out))
    return Diagnosis(
        patterns=described,
        mcar=completely,
        mar=always,
        positivity=never,
        grounds=grounds,
        conclusions=tuple(words),
        trial=trial,
    )


def _grounds(
    network: Network, table: EncodedTable, described: Patterns, parents_of: Mapping[str, Scope]
) -> MethodSupport:
    """The rows that each method would rest on, and the share that would fall back."""
    graph = MissingnessGraph.without_rules(network, parents_of)
    separator_of = separators(graph, table.fully_observed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # the conclusions say what rows miss
        explanation = explain(network, table)
    grouped = cache(partial(group_rows, table))

    def groups_and_fallback(given: Scope, hidden: Sequence[str]) -> tuple[int, float]:
        """The number of groups, and the share of the rows in those that never show the hidden."""
        groups, group = grouped(given)
        shown = added_up(group[table.is_shown(hidden)], None, len(groups.weights))
        lost = groups.weights[shown == 0].sum()
        return len(groups.weights), float(lost / max(groups.weights.sum(), LEAST_DIVISOR))

    all_groups, _ = groups_and_fallback(table.fully_observed, ())
    fallback_of = {}
    informed_fallback_of = {}
    informed_groups = 0
    for name in network.variables:
        family = network.family(name)
        hidden = [member for member in family if table.missing_of[member]]
        if hidden:
            _, fallback_of[name] = groups_and_fallback(table.fully_observed, hidden)
            given = [v for v in table.fully_observed if v in family or v in separator_of[name]]
            number, informed_fallback_of[name] = groups_and_fallback(tuple(given), hidden)
            informed_groups = max(informed_groups, number)
    least_shown = min(described.family_rows, key=lambda name: described.family_rows[name])
    return MethodSupport(
        complete_rows=described.complete_rows,
        least_shown=least_shown,
        fewest_family_rows=described.family_rows[least_shown],
        groups=all_groups,
        fallback_of=fallback_of,
        informed_groups=informed_groups,
        informed_fallback_of=informed_fallback_of,
        expectation=explanation.expectation,
        auto=explanation.plan.intention,
        has_edges=bool(network.edges),
    )


def _conclusions(
    described: Patterns,
    completely: Sequence[MissingTest],
    always: Sequence[MissingTest],
    dropout: Sequence[MissingTest],
    never: Sequence[NeverShown],
    rows: int,
) -> tuple[str, ...]:
    """What the tests say, in sentences; the last says what no test can tell."""
    if not described.missing_cells:
        return ("Nothing is missing.",)
    words = [_completely(completely)]
    clear_dropout = [test for test in dropout if test.adjusted < SIGNIFICANCE]
    if clear_dropout:
        words.append(
            f"As after dropout, {_dependences(clear_dropout)}, given what is always shown, and no "
            "row shows the one without the other. So they are shown wherever they can matter, and "
            "this by itself is missing at random. em allows for it; direct-mar and factored-mar, "
            "which compare groups by what is always shown, are biased by it."
        )
    if clear := [test for test in always if test.adjusted < SIGNIFICANCE]:
        graph = "yours or one learned from the rows (--try-graph says whether that is worth having)"
        if few := from_few_rows(rows):
            graph = f"one that you draw: {few}"
        words.append(f"{_not_always(clear, len(always))}; a missingness graph may help, {graph}.")
    elif tests := always or (() if clear_dropout else dropout):
        words.append(
            "No sign that being missing depends, beyond what is always shown, on values that are "
            "themselves missing at times "
            f"({counted(len(tests), 'test')}, the smallest adjusted p {_p_value(tests[0])})."
        )
    if described.never_observed:
        names = ", ".join(described.never_observed)
        words.append(f"No row shows {names}: only the prior, or EM with the rest, can speak.")
    if never:
        first = never[0]
        words.append(
            f"Some variables are never shown under a state of another "
            f"({counted(len(never), 'case')}): {first.missing} is never shown where "
            f"{assigned(first.cause, first.state)} ({counted(first.rows, 'row')}). "
            "What holds there cannot be learned from these data."
        )
    words.append(f"Remember: {CANNOT_BE_SEEN}, nor whether rows were left out (R[*]).")
    return tuple(words)


def _completely(tests: Sequence[MissingTest]) -> str:
    """What the tests of missing completely at random say."""
    clear = [test for test in tests if test.adjusted < SIGNIFICANCE]
    if clear:
        return f"Values are not missing completely at random: {_dependences(clear)}."
    if not tests:
        return "Whether values are missing completely at random cannot be tested here."
    effect = smallest_effect(min(test.rows for test in tests), len(tests))
    return (
        f"No sign against missing completely at random in {counted(len(tests), 'test')} "
        f"(an effect below Cramér's V = {effect:.2f} might have gone unnoticed)."
    )


def _not_always(clear: Sequence[MissingTest], tests: int) -> str:
    """That values are not always missing at random, as surely as the smallest p-value says it."""
    first = clear[0]
    numbers = (
        f"{'the clearest: ' if len(clear) > 1 else ''}Cramér's V = {first.effect:.2f}, "
        f"p {_p_value(first)}, adjusted for {counted(tests, 'test')}"
    )
    what = f"{_dependences(clear)}, given what is always shown ({numbers}"
    if first.adjusted < NO_CHANCE:
        return f"Nor always at random: {what}). Methods for MAR data are then biased"
    return (
        f"Perhaps not always at random: it seems that {what}; of data sets that are, one in twenty "
        "has such a sign by chance). If it does, methods for MAR data are biased"
    )


def _dependences(tests: Sequence[MissingTest]) -> str:
    """``whether Income is missing depends on Age, Sex; Job on Age``, the strongest first."""
    causes_of: dict[str, list[str]] = {}
    for test in tests:
        causes_of.setdefault(test.missing, []).append(test.cause)
    parts = []
    for index, (missing, causes) in enumerate(list(causes_of.items())[:3]):
        of = f"{missing} on" if index else f"whether {missing} is missing depends on"
        parts.append(f"{of} {first_of(causes, 3)}")
    rest = len(causes_of) - len(parts)
    return "; ".join(parts) + (f"; and {counted(rest, 'other variable')}" if rest else "")


def parts_for_people(diagnosis: Diagnosis) -> list[object]:
    """The diagnosis for people to read: what is missing, on what it depends, what follows."""
    described = diagnosis.patterns
    partially = [name for name, rate in described.rate_of.items() if rate > 0]
    parts: list[object] = [_missing_cells(described, len(partially))]
    if partially:
        parts += _described_patterns(described, partially, diagnosis.grounds.has_edges)
        parts += _clear_dependences(diagnosis)
        parts += ["", "what methods would rest on:"]
        parts.append(methods_as_text(described, diagnosis.grounds))
    parts.append("")
    parts += diagnosis.conclusions
    return parts


def _missing_cells(described: Patterns, partially: int) -> str:
    """How many cells are missing, and in how many variables."""
    share = described.missing_cells / max(described.cells, 1)
    return (
        f"{counted(described.rows, 'row')}, {described.missing_cells:,} of {described.cells:,} "
        f"cells missing ({share:.1%}), in {partially} of {len(described.rate_of)} variables"
    )


def _described_patterns(
    described: Patterns, partially: Sequence[str], has_edges: bool
) -> list[object]:
    """What is missing, by variable, by pattern and by pair of variables."""
    number = counted(described.number, "pattern")
    shape = "monotone" if described.is_monotone else "not monotone"
    parts: list[object] = [f"{number} of missing values, {shape}", ""]
    parts += _variables(described, partially, "family shown" if has_edges else "shown")
    parts += ["", "commonest patterns:"]
    for pattern in described.commonest[: PRINTED_LINES // 2]:
        parts.append(_common_pattern(pattern, described.rows))
    parts += _titled_list("missing together:", [_pair(pair) for pair in _notable(described)])
    return parts


def _clear_dependences(diagnosis: Diagnosis) -> list[str]:
    """On what being missing depends, alone and given what every row shows."""
    mcar_refuted = [_tested(test) for test in diagnosis.mcar if test.adjusted < SIGNIFICANCE]
    mar_refuted = [_tested(test) for test in diagnosis.mar if test.adjusted < SIGNIFICANCE]
    return [
        *_titled_list(DEPENDS, mcar_refuted),
        *_titled_list("also given what is always shown:", mar_refuted),
    ]


def _titled_list(title: str, items: Sequence[str]) -> list[str]:
    """The first items, indented below their title; nothing at all where there are none."""
    if not items:
        return []
    lines = ["", title]
    lines += [f"  {item}" for item in items[:PRINTED_LINES]]
    if len(items) > PRINTED_LINES:
        lines.append(f"  and {len(items) - PRINTED_LINES} more")
    return lines


def _variables(described: Patterns, partially: Sequence[str], what: str) -> list[object]:
    """A table with a line for each variable with missing values, those that miss most first."""
    ordered = sorted(partially, key=lambda name: -described.rate_of[name])
    rows = []
    for name in ordered[: 2 * PRINTED_LINES]:
        missing = f"{described.rate_of[name]:.1%}"
        shown = f"{described.family_rows[name]:,}"
        influx = f"{described.influx_of[name]:.2f}"
        outflux = f"{described.outflux_of[name]:.2f}"
        rows.append([name, missing, shown, influx, outflux])
    parts: list[object] = [TextTable(["variable", "missing", what, "influx", "outflux"], rows)]
    if len(ordered) > len(rows):
        parts.append(f"and {len(ordered) - len(rows)} more")
    parts.append(FLUX)
    return parts


def _common_pattern(pattern: Pattern, all_rows: int) -> str:
    """How many rows miss which variables."""
    rows = f"{counted(pattern.rows, 'row')} ({pattern.rows / all_rows:.1%})"
    if not pattern.missing:
        return f"  {rows}: nothing missing"
    names = ", ".join(pattern.missing[:6])
    if len(pattern.missing) > 6:
        names += ", ..."
    return f"  {rows}: {counted(len(pattern.missing), 'variable')} missing: {names}"


def _notable(described: Patterns) -> list[Any]:
    """The pairs whose being missing goes together by more than chance, four times over."""
    bar = 4 / np.sqrt(max(described.rows, 1))
    return [pair for pair in described.pairs if abs(pair.phi) > bar][:PRINTED_LINES]


def _pair(pair: Any) -> str:
    return (
        f"{pair.one} and {pair.two}: {counted(pair.together, 'row')}, by chance "
        f"{pair.expected:,.0f} (correlation {pair.phi:+.2f})"
    )


def _tested(test: MissingTest) -> str:
    times = f"{test.ratio:.1f} times" if np.isfinite(test.ratio) else "never there"
    if np.isfinite(test.ratio) and test.ratio > 100:
        times = "over 100 times"
    return (
        f"{test.missing} is missing in {test.rates[0]:.0%} of rows with "
        f"{assigned(test.cause, test.highest)}, in {test.rates[1]:.0%} with "
        f"{assigned(test.cause, test.lowest)} "
        f"({times}; V = {test.effect:.2f}, p {_p_value(test)})"
    )


def _p_value(test: MissingTest) -> str:
    return f"= {test.adjusted:.2g}" if test.adjusted >= 1e-16 else "< 1e-16"


def methods_as_text(described: Patterns, grounds: MethodSupport) -> str:
    """What methods would rest on, a line for some each."""
    rows = counted(grounds.complete_rows, "row")
    every = counted(described.rows, "row")
    step = grounds.expectation
    cost = "" if step is None else f"; a step takes {step.time}"
    if step is not None and step.loopy_problems:
        cost += f", {step.loopy_problems:,} of {step.problems:,} problems only approximately"
    least = f"at least {counted(grounds.fewest_family_rows, 'row')} per"
    groups = f"  direct-mar, factored-mar: {counted(grounds.groups, 'group')} of rows"
    by_family = [
        f"  direct-mcar: {least} family ({grounds.least_shown}); factored-mcar also rows that show "
        "a part of a family",
        f"{groups}; {_fell_back(grounds.fallback_of)}",
        "  informed-direct, informed-factored with groups='learn' (--groups learn): at "
        f"most {counted(grounds.informed_groups, 'group')} per family; "
        f"{_fell_back(grounds.informed_fallback_of)}",
    ]
    by_variable = [
        f"  direct-mcar, factored-mcar: {least} variable ({grounds.least_shown})",
        f"{groups}; {_fell_back(grounds.fallback_of, 'variable', 'variables')}",
    ]
    return "\n".join(
        [
            f"  listwise: {rows} without a missing value "
            f"({grounds.complete_rows / max(described.rows, 1):.1%})",
            *(by_family if grounds.has_edges else by_variable),
            f"  em: all {every}{cost}",
            "  mgraph, em with missingness=... (--missingness): a graph of what decides on being "
            "missing",
            f"auto would take: {grounds.auto}",
        ]
    )


def _fell_back(
    fallback_of: Mapping[str, float], singular: str = "family", plural: str = "families"
) -> str:
    lost = {name: share for name, share in fallback_of.items() if share > 0}
    if not lost:
        return f"every {singular} shown in every group"
    worst = max(lost, key=lambda name: lost[name])
    return (
        f"{counted(len(lost), singular, plural)} with groups that never show it, at worst "
        f"{lost[worst]:.1%} of the rows ({worst})"
    )

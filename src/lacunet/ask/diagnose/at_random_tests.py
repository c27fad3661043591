r"""Are values missing completely at random? At random? What the data can say about it.

*Completely at random* means that no mechanism depends on anything. Each :math:`R_i` is tested
against each :math:`X_j` on the rows that show :math:`X_j`; p-values are adjusted for the number
of tests (Holm), so that in 95% of data sets that are missing completely at random nothing is
found.

*Always at random* means that no mechanism depends on a variable that is itself missing at
times, given those that are not. Each :math:`R_i` is tested against each partially observed
:math:`X_j`, within the strata of the fully observed variables that :math:`R_i` seems to depend
on (`lacunet.missingness.learned.from_rows`). One that :math:`R_i` depends on too little to be
noticed may still go with :math:`X_j`, and make both look dependent. So what is found is tested
again, also within the strata of those that :math:`X_j` goes with, and the larger p-value counts: of
1,500 rows with such a variable, up to 10% of the data sets that are missing at random had raised an
alarm, and 2 to 5% do now (selection of both kinds: A. Belloni, V. Chernozhukov, C. Hansen,
"Inference on treatment effects after selection among high-dimensional controls", 2014).

A variable that every row shows which shows :math:`X_i` can decide on :math:`R_i` only where it is
shown, as the last value before dropout does. That is missing at random, so it is among those that
:math:`R_i` may depend on, and not among those that are tested. Methods that look at fully observed
variables alone do not allow for it, so `dropout_tests` say where they had to.

In a survey with clusters, strata or replicate weights, the statistics are compared with what the
design makes of them (`lacunet.missingness.independence.design_effect`); where rows only have
weights, they count as many as their weighted sample size.

Where a rule says of whom a question was asked, a mechanism is tested on the rows that tell of it
(`lacunet.missingness.learned.not_asked`).

*Positivity*: a state under which a variable is never shown leaves nothing to learn from.

Never testable: that :math:`X` does not depend on its own :math:`R_X`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from math import inf, isnan, prod
from operator import mul
from typing import NamedTuple

import numpy as np

from lacunet.counts.counts import quotient
from lacunet.counts.distinct import Index, pack_keys
from lacunet.counts.missing_values import PatternCounts, is_missing
from lacunet.data.table import EncodedTable, whole_rows
from lacunet.learning.uncertainty.cpt_intervals import ROUNDING_OF_ROWS
from lacunet.missingness.independence.design_effect import SurveyRows, packed_cells
from lacunet.missingness.independence.stratified import (
    DRAWS,
    SIGNIFICANCE,
    TestResult,
    approximated,
    by_draws,
    holm,
)
from lacunet.missingness.learned.from_rows import parents_among, shown_wherever_it_matters
from lacunet.missingness.learned.not_asked import rows_that_tell
from lacunet.network.network import FloatArray, Network, Scope
from lacunet.network.nodes import Mechanism

TESTED_AT_A_TIME = 2**13
ROWS_TO_BE_A_SURPRISE = 10  # fewer rows that never show a variable are no surprise
MAX_TESTED_CELLS = 2**21  # of tables that are tested at once
MAX_TESTED_STRATA = 5_000
ROWS_PER_STRATUM = 20  # at least, on average, where strata are added
POWER = 0.8  # the share of data sets in which an effect is to be found
NO_DOUBT = 1e-8  # a variable that was not noticed cannot make p-values as small as this


@dataclass(frozen=True)
class MissingTest:
    """Whether ``missing`` is shown depends on ``cause``, given ``given``.

    ``effect`` is Cramér's V. ``highest`` and ``lowest`` are the states of the cause under
    which the variable is missing most and least often, ``rates`` how often; ``ratio`` is the
    one over the other (only states with at least ten rows count).
    """

    __test__ = False  # not a test case of pytest

    missing: str
    cause: str
    given: Scope
    p_value: float
    adjusted: float
    effect: float
    highest: str
    lowest: str
    rates: tuple[float, float]
    ratio: float
    rows: float
    by_draws: bool


class _Unadjusted(NamedTuple):
    """What a `MissingTest` holds, before its p-value is adjusted: there are tens of thousands."""

    missing: str
    cause: str
    given: Scope
    p_value: float
    effect: float
    highest: str
    lowest: str
    rates: tuple[float, float]
    ratio: float
    rows: float
    by_draws: bool

    def adjusted(self, p_value: float) -> MissingTest:
        """The test with its adjusted p-value."""
        missing, cause, given, unadjusted, *rest = self
        return MissingTest(missing, cause, given, unadjusted, p_value, *rest)  # type: ignore[arg-type]


@dataclass(frozen=True)
class NeverShown:
    """``rows`` rows have ``cause`` in ``state``, and none of them shows ``missing``."""

    missing: str
    cause: str
    state: str
    rows: int


def mechanism_tables(table: EncodedTable, partially: Scope) -> dict[str, FloatArray]:
    """For each variable: by mechanism, the rows that miss or show it, by the variable's state.

    The axes are the partially observed variables, missing or shown, states. One pass of
    matrix products, whatever the number of pairs.
    """
    gone = is_missing(table, partially)
    sizes = [table.cardinality_of[name] for name in table.variables]
    counts = np.zeros((2, len(partially), sum(sizes)))
    for start in range(0, table.rows, TESTED_AT_A_TIME):
        block = slice(start, start + TESTED_AT_A_TIME)
        weights = None if table.weights is None else table.weights[block]
        missing = gone[block].astype(np.float32 if weights is None else np.float64)
        shown = np.concatenate(
            [
                table.columns[name][block] == np.arange(size)[:, None]
                for name, size in zip(table.variables, sizes, strict=True)
            ],
            dtype=missing.dtype,
        )
        if weights is not None:
            shown *= weights
        hidden = missing.T @ shown.T
        counts[0] += hidden
        counts[1] += shown.sum(axis=1, dtype=np.float64) - hidden
    of_each = np.split(counts, np.cumsum(sizes)[:-1], axis=2)
    return {
        name: counts_of.transpose(1, 0, 2)
        for name, counts_of in zip(table.variables, of_each, strict=True)
    }


MechanismTables = Mapping[str, FloatArray]  # those of `mechanism_tables`, which serve many tests


def mcar_tests(
    network: Network,
    table: EncodedTable,
    rng: np.random.Generator,
    counted: MechanismTables | None = None,
) -> tuple[MissingTest, ...]:
    """Every mechanism against every other variable, smallest p-value first.

    ``counted`` are the tables of all rows, if they are known.
    """
    among = len(table.partially_observed) * (len(table.variables) - 1)
    tests: list[_Unadjusted] = []
    for rows, partially in _tables_of(network, table):
        testing = _Testing(network, rows, among, rng)
        counts_of = counted if rows is table and partially == table.partially_observed else None
        counts_of = counts_of or mechanism_tables(rows, partially)
        for causes in _of_one_size(table, table.variables):
            pairs = [(missing, cause) for cause in causes for missing in partially]
            counts = np.concatenate([counts_of[cause] for cause in causes])
            tests += testing.tests(pairs, (), counts[:, None])
    return _adjusted(tests)


def _tables_of(network: Network, table: EncodedTable) -> Iterator[tuple[EncodedTable, Scope]]:
    """The partially observed variables, with the rows that tell of their mechanisms."""
    tables = {name: rows_that_tell(network, table, name) for name in table.partially_observed}
    if plain := tuple(name for name, rows in tables.items() if rows is table):
        yield table, plain
    for name, rows in tables.items():
        if rows is not table and rows.rows:
            yield rows, (name,)


def mar_tests(
    network: Network,
    table: EncodedTable,
    rng: np.random.Generator,
    parents_of: Mapping[str, Scope],
    counted: MechanismTables | None = None,
) -> tuple[MissingTest, ...]:
    """Every mechanism against the other partially observed variables, within strata.

    The strata are those of its parents among the fully observed variables and those that are shown
    wherever they can matter.
    """
    partially = table.partially_observed
    before = shown_wherever_it_matters(PatternCounts.of(table), partially)
    whole = _Testing(network, table, len(partially) * (len(partially) - 1), rng, counted)
    tests: list[_Unadjusted] = []
    for missing in partially:
        testing = whole.of_mechanism(missing)
        if testing.table.rows:
            always = testing.table.fully_observed  # where rules are not taken for values
            given = tuple(name for name in parents_of[missing] if name in always)
            if before[missing]:
                given = parents_among(network, testing.table, missing, (*always, *before[missing]))
            causes = tuple(name for name in partially if name not in before[missing])
            tests += testing.showing(given).within(missing, causes, given)
    checked = []
    for test, adjusted in _ordered(tests):
        is_in_doubt = adjusted < SIGNIFICANCE and test.p_value > NO_DOUBT
        if is_in_doubt:
            testing = whole.of_mechanism(test.missing).showing(test.given)
            checked.append(_tested_again(testing, test))
        else:
            checked.append(test)
    return _adjusted(checked)


def dropout_tests(
    network: Network,
    table: EncodedTable,
    rng: np.random.Generator,
    parents_of: Mapping[str, Scope],
) -> tuple[MissingTest, ...]:
    """Every mechanism against variables that are shown wherever they can matter, within strata.

    The strata are those of its parents among the fully observed variables.
    """
    partially = table.partially_observed
    before = shown_wherever_it_matters(PatternCounts.of(table), partially)
    whole = _Testing(network, table, sum(map(len, before.values())), rng)
    tests: list[_Unadjusted] = []
    for missing in (name for name in partially if before[name]):
        testing = whole.of_mechanism(missing)
        if testing.table.rows:
            always = testing.table.fully_observed
            given = tuple(name for name in parents_of[missing] if name in always)
            tests += testing.within(missing, before[missing], given)
    return _adjusted(tests)


def _tested_again(testing: _Testing, test: _Unadjusted) -> _Unadjusted:
    """The test within the strata of what the cause goes with too, if its p-value is larger."""
    given = _with_companions(testing.table, test)
    if given == test.given:
        return test
    again = testing.within(test.missing, (test.cause,), given)
    return max((test, *again), key=lambda test: test.p_value)


def _with_companions(rows: EncodedTable, test: _Unadjusted) -> Scope:
    """What the test is given, and the always observed variables that the cause goes with.

    The strongest come first, as many as leave enough rows in a stratum.
    """
    shown = rows.take(rows.is_shown((test.cause,))).scaled()
    cause = shown.columns[test.cause].astype(np.intp)
    states = shown.cardinality_of[test.cause]
    effect_of = {}
    for name in rows.fully_observed:
        size = shown.cardinality_of[name]
        cells = np.bincount(shown.columns[name] * states + cause, shown.weights, size * states)
        (result,) = approximated(cells.astype(np.float64).reshape(1, 1, size, states), 1)
        if name not in test.given and result.p_value < SIGNIFICANCE:
            effect_of[name] = result.effect
    given = test.given
    number = strata_of(rows, test.given)[1]
    for name in sorted(effect_of, key=lambda name: -effect_of[name]):
        if number * shown.cardinality_of[name] * ROWS_PER_STRATUM <= test.rows:
            number *= shown.cardinality_of[name]
            given = (*given, name)
    return given


def _of_one_size(table: EncodedTable, names: Scope, times: int = 1) -> list[list[str]]:
    """The variables by their number of states, so many together as fit a table of some cells."""
    size_of = table.cardinality_of
    groups = []
    for size in sorted({size_of[name] for name in names}):
        alike = [name for name in names if size_of[name] == size]
        most = max(1, MAX_TESTED_CELLS // (times * size))
        groups += [alike[start : start + most] for start in range(0, len(alike), most)]
    return groups


def positivity(
    network: Network, table: EncodedTable, counted: MechanismTables | None = None
) -> tuple[NeverShown, ...]:
    """The states under which a variable is never shown, most rows first."""
    cases = []
    if counted is None:
        copies = None if table.copies is None else table.copies.rows
        unweighted = EncodedTable(table.cardinality_of, table.columns, copies)
        counted = mechanism_tables(unweighted, table.partially_observed)
    for cause, counts in counted.items():
        never = (counts[:, 1] < ROUNDING_OF_ROWS) & (counts[:, 0] >= ROWS_TO_BE_A_SURPRISE)
        for index, state in np.argwhere(never).tolist():
            missing = table.partially_observed[index]
            if cause != missing and table.missing_of[missing] < table.row_count:
                name = network.states(cause)[state]
                rows = whole_rows(counts[index, 0, state])
                cases.append(NeverShown(missing, cause, name, rows))
    return tuple(sorted(cases, key=lambda case: -case.rows))


def smallest_effect(rows: float, tests: int) -> float:
    """The smallest Cramér's V that would be found in four of five data sets, about.

    Examples
    --------
    >>> round(smallest_effect(1000, 1), 3)
    0.089
    """
    from scipy.special import ndtri

    needed = ndtri(1 - SIGNIFICANCE / max(tests, 1) / 2) + ndtri(POWER)
    return float(min(needed / np.sqrt(max(rows, 1)), 1.0))


def _ordered(tests: Iterable[_Unadjusted]) -> list[tuple[_Unadjusted, float]]:
    """The tests, smallest p-value first, each with its p-value adjusted for their number."""
    tests = sorted(tests, key=lambda test: (test.p_value, -test.effect, test.missing, test.cause))
    adjusted = holm(np.array([test.p_value for test in tests])).tolist()
    return list(zip(tests, adjusted, strict=True))


def _adjusted(tests: Iterable[_Unadjusted]) -> tuple[MissingTest, ...]:
    """The tests, smallest p-value first, adjusted for their number."""
    return tuple(test.adjusted(p_value) for test, p_value in _ordered(tests))


class _Approximated(NamedTuple):
    """A test before any tables are drawn for it, and what they would be drawn from."""

    test: _Unadjusted
    result: TestResult
    counts: FloatArray


@dataclass(frozen=True, eq=False)
class _Testing:
    """Tests of mechanisms on some rows, whose p-values are to be adjusted for so many tests."""

    network: Network
    table: EncodedTable
    among: int
    rng: np.random.Generator
    counted: MechanismTables | None = None  # of these rows, if they are known

    def of_mechanism(self, missing: str) -> _Testing:
        """The same on the rows that tell of a mechanism."""
        rows = rows_that_tell(self.network, self.table, missing)
        return self if rows is self.table else replace(self, table=rows, counted=None)

    def showing(self, names: Scope) -> _Testing:
        """The same on the rows that show some variables."""
        if not any(self.table.missing_of[name] for name in names):
            return self
        return replace(self, table=self.table.take(self.table.is_shown(names)), counted=None)

    @cached_property
    def partially(self) -> Scope:
        """The variables that some row does not show."""
        return self.table.partially_observed

    @cached_property
    def survey(self) -> SurveyRows | None:
        """The rows with their survey's design, if they have one."""
        return SurveyRows.of(self.network, self.table)

    @cached_property
    def scale_of(self) -> dict[str, float]:
        """What makes the weights of the rows that show a variable add up to their worth (Kish)."""
        table = self.table
        if not table.is_weighted:
            return dict.fromkeys(table.variables, 1.0)
        return {name: table.take(table.is_shown((name,))).scale for name in table.variables}

    @cached_property
    def alone(self) -> dict[tuple[str, str], _Approximated]:
        """Every mechanism against the partially observed variables, given nothing."""
        partially = self.table.partially_observed
        counts_of = self.counted or mechanism_tables(self.table, partially)
        of_pair: dict[tuple[str, str], _Approximated] = {}
        for causes in _of_one_size(self.table, partially, 2 * len(partially)):
            pairs = [(missing, cause) for cause in causes for missing in partially]
            counts = np.concatenate([counts_of[cause] for cause in causes])
            each = self.approximations(pairs, (), counts[:, None])
            of_pair |= dict(zip(pairs, each, strict=True))
        return of_pair

    def within(self, missing: str, causes: Scope, given: Scope) -> Iterator[_Unadjusted]:
        """A mechanism against some causes, within the strata of what is given."""
        if not given and self.table.weights is None and {*causes} <= {*self.partially}:
            for alike in _of_one_size(self.table, causes, 2):
                yield from self.decided([self.alone[missing, cause] for cause in alike])
            return
        table = self.table
        strata, number = strata_of(self.table, given)
        halves = strata * 2 + (table.columns[missing] < table.cardinality_of[missing])
        for alike in _of_one_size(table, causes, number * 2):
            size = table.cardinality_of[alike[0]]
            states = halves * (size + 1)  # one state more for rows that do not show the cause
            counts = np.empty((len(alike), number, 2, size))
            for index, cause in enumerate(alike):
                keys = states + np.minimum(table.columns[cause], size)
                sums = np.bincount(keys, table.weights, number * 2 * (size + 1))
                counts[index] = sums.reshape(number, 2, size + 1)[..., :size]
            yield from self.tests([(missing, cause) for cause in alike], given, counts)

    def tests(
        self, pairs: Sequence[tuple[str, str]], given: Scope, counts: FloatArray
    ) -> Iterator[_Unadjusted]:
        """The tests of mechanisms against causes with one number of states, not yet adjusted."""
        return self.decided(self.approximations(pairs, given, counts))

    def decided(self, approximated_tests: Iterable[_Approximated]) -> Iterator[_Unadjusted]:
        """The tests of pairs that say something; tables are drawn for those that are unsure.

        Those without a stratum in which both vary, as of a mechanism against its own variable, are
        left out.
        """
        for test, result, counts in approximated_tests:
            if result.degrees_of_freedom == 0:
                continue
            if result.how != DRAWS:
                yield test
                continue
            p_value = by_draws(counts, result.statistic, result.p_value, self.rng)
            if self.survey is not None and test.p_value != result.p_value:
                p_value = test.p_value  # the design tells it
            yield test._replace(p_value=p_value, by_draws=True)

    def approximations(
        self, pairs: Sequence[tuple[str, str]], given: Scope, counts: FloatArray
    ) -> list[_Approximated]:
        """The tests of mechanisms against causes with one number of states, before any draws.

        Parameters
        ----------
        counts
            A table for each pair: strata, missing or shown, states of the cause.
        """
        scales, by_design = self._worths(pairs, given)
        tables = counts * scales[:, None, None, None]

        # How often the variable is missing under each state, among those with rows enough.
        of_states = tables.sum(axis=1)
        total = of_states.sum(axis=1)
        has_rows = total >= np.minimum(ROWS_TO_BE_A_SURPRISE, total.max(axis=1, keepdims=True))
        rate = quotient(of_states[:, 0], total)
        high = np.argmax(np.where(has_rows, rate, -1), axis=1)
        low = np.argmin(np.where(has_rows, rate, 2), axis=1)
        every = np.arange(len(pairs))
        columns = (high, low, rate[every, high], rate[every, low], by_design)

        # As lists: there are tens of thousands, and single entries of arrays are slow.
        states_of = {cause: self.network.states(cause) for cause in {cause for _, cause in pairs}}
        results = approximated(tables, self.among)
        approximations = []
        for (missing, cause), result, table, *numbers in zip(
            pairs, results, tables, *(column.tolist() for column in columns), strict=True
        ):
            highest, lowest, most, least, design_p_value = numbers
            test = _Unadjusted(
                missing,
                cause,
                given,
                result.p_value if isnan(design_p_value) else design_p_value,
                effect=result.effect,
                highest=states_of[cause][highest],
                lowest=states_of[cause][lowest],
                rates=(most, least),
                ratio=most / least if least > 0 else inf,
                rows=result.rows,
                by_draws=False,
            )
            approximations.append(_Approximated(test, result, table))
        return approximations

    def _worths(
        self, pairs: Sequence[tuple[str, str]], given: Scope
    ) -> tuple[FloatArray, FloatArray]:
        """The scale of the weights, and the p-value by the design, of each pair (`_worth`)."""
        if self.survey is None and not self.table.is_weighted:
            return np.ones(len(pairs)), np.full(len(pairs), np.nan)
        scales, by_design = np.array([self._worth(*pair, given) for pair in pairs]).T
        return scales, by_design

    def _worth(self, missing: str, cause: str, given: Scope) -> tuple[float, float]:
        """What makes the weights add up to the rows that they are worth, and a p-value.

        The p-value is NaN where it is not the design that tells it.
        """
        result = None
        if self.survey is not None and missing != cause:
            table = self.survey.table
            rows, cell, shape = packed_cells(
                table, Mechanism(missing), cause, _few_strata(table, given)
            )
            result = self.survey.test(rows, cell, shape)
        if result is None:
            return self.scale_of[cause], np.nan
        return result.rows / float(table.row_weights[rows].sum()), result.p_value


def _few_strata(table: EncodedTable, given: Scope) -> Scope:
    """The first of some variables, as many as make few strata."""
    numbers = accumulate((table.cardinality_of[name] for name in given), mul)
    return tuple(
        name for name, number in zip(given, numbers, strict=True) if number <= MAX_TESTED_STRATA
    )


def strata_of(table: EncodedTable, given: Scope) -> tuple[Index, int]:
    """The stratum of each row by some variables, as many as make few strata, and their number."""
    used = _few_strata(table, given)
    sizes = [table.cardinality_of[name] for name in used]
    return pack_keys([table.columns[name] for name in used], sizes, table.rows), prod(sizes)

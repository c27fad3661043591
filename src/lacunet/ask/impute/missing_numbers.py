"""Missing numbers, drawn from donors that are like the row.

A completed row has a state in every cell; where the network cuts a column of numbers, that is an
interval. The number is taken from a row that shows one of the same interval: from one of the
`NEAREST` donors by a rule (`lacunet.ask.impute.donor_rules`), with probabilities by their weights.
So it is a number that was observed, and goes with the other cells of its row within the interval,
too.

Where a row misses several numbers, each is first taken from any donor of its interval, and then
`SWEEPS` times, column after column, from one that is like the row as it is by then. Donors miss
cells themselves; to be compared, they are completed with the same network and in the same way, but
give only numbers that they show. In proper draws donors have random weights, as in a Bayesian
bootstrap: how sure the regressions are is in the draws.

Where nobody shows a number of an interval, any number in it is as likely; an interval that is open
at one end is then as wide as the one beside it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.ask.impute.donor_rules import DonorRule, Places, by_prediction
from lacunet.ask.predict.rows_with_mechanisms import rows_with_mechanisms
from lacunet.data.donors import (
    Donors,
    DonorSampler,
    Rows,
    number_variables,
    numbers_shown,
)
from lacunet.data.fill import interval_ends
from lacunet.data.source_parts import Column
from lacunet.data.spellings import keys_by_name, plain_type
from lacunet.data.table import EncodedTable
from lacunet.inference.completions import draw_completions
from lacunet.inference.errors import ImpossibleDataError
from lacunet.learning.imputation_model import DenseDraw
from lacunet.limits import Memory
from lacunet.network.network import FloatArray, Network, Scope

RULE: DonorRule = by_prediction  # who is like a row
NEAREST = 5  # donors, of which one gives the number
SWEEPS = 5  # over the columns of numbers
ROWS_AT_ONCE = 2**15
NOBODY = -1  # in place of the number of a donor

Numbers = Mapping[str, FloatArray]  # of each variable of numbers, the number of each row


@dataclass(frozen=True)
class Givers:
    """The donors of one interval of a variable."""

    rows: Rows  # among all donors
    sums: FloatArray  # of their weights, up to each
    points: FloatArray | None = None  # where the rule puts them; along a line, in order

    @classmethod
    def of(cls, rows: Rows, weights: FloatArray, points: FloatArray | None = None) -> Givers:
        """Donors with their weights and, if a rule has looked at them, their places."""
        if points is not None and points.shape[1] == 1:
            order = np.argsort(points[:, 0], kind="stable")
            rows, weights, points = rows[order], weights[order], points[order]
        return cls(rows, np.cumsum(weights), points)

    def any_of(self, number: int, rng: np.random.Generator) -> Rows:
        """So many donors, by their weights."""
        chosen = np.searchsorted(self.sums, rng.random(number) * self.sums[-1], side="right")
        return np.asarray(self.rows[np.minimum(chosen, len(self.rows) - 1)])

    def alike(self, points: FloatArray, rng: np.random.Generator) -> Rows:
        """A donor for each row: one of those that are nearest to it, by their weights."""
        nearest = self._nearest(points)
        weights = np.diff(self.sums, prepend=0.0)
        sums = np.cumsum(weights[nearest], axis=1)
        chance = rng.random(len(points)) * sums[:, -1]
        chosen = (chance[:, None] >= sums[:, :-1]).sum(axis=1)
        return np.asarray(self.rows[np.take_along_axis(nearest, chosen[:, None], axis=1)[:, 0]])

    def _nearest(self, points: FloatArray) -> Rows:
        assert self.points is not None
        most = min(NEAREST, len(self.rows))
        if points.shape[1] == 1:
            along = self.points[:, 0]
            around = np.searchsorted(along, points[:, 0])[:, None] + np.arange(-most, most)
            is_donor = (around >= 0) & (around < len(along))
            around = np.clip(around, 0, len(along) - 1)
            distances = np.where(is_donor, np.abs(along[around] - points), np.inf)
            first = np.argpartition(distances, most - 1, axis=1)[:, :most]
            return np.asarray(np.take_along_axis(around, first, axis=1))
        squares = (points**2).sum(axis=1)[:, None] + (self.points**2).sum(axis=1)
        distances = squares - 2 * points @ self.points.T
        return np.asarray(np.argpartition(distances, most - 1, axis=1)[:, :most])


@dataclass(frozen=True)
class Cells:
    """Rows as columns of numbers, which a rule looks at."""

    codes: EncodedTable  # with nothing missing
    # Of variables that donors give: mean zero and variance one among these. What is missing is
    # being filled in; zero stands for a state that no donor has.
    numbers: dict[str, FloatArray]
    indicators: FloatArray  # a column for each state of the other variables

    def beside(self, name: str) -> FloatArray:
        """All columns but that of one variable."""
        others = [numbers for other, numbers in self.numbers.items() if other != name]
        return np.column_stack([*others, self.indicators])


@dataclass(frozen=True)
class NumberFiller:
    """Fills in the numbers of one completed table."""

    network: Network
    asked: NumbersToDraw
    standard: Numbers = field(default_factory=dict)  # what donors show, as in `Cells`
    centre_of: Mapping[str, float] = field(default_factory=dict)
    scale_of: Mapping[str, float] = field(default_factory=dict)
    givers_of: dict[str, dict[int, Givers]] = field(default_factory=dict)  # by code
    places_of: dict[str, Places] = field(default_factory=dict)

    @property
    def donors(self) -> Donors | None:
        """Those who give."""
        return self.asked.donors if self.standard else None

    @property
    def rng(self) -> np.random.Generator:
        """The source of randomness."""
        return self.asked.rng

    @classmethod
    def of(
        cls,
        drawn: Network | DenseDraw,
        asked: NumbersToDraw,
        *,
        is_proper: bool = False,
        memory: Memory = None,
    ) -> NumberFiller:
        """What fills in numbers of the tables of one draw.

        Parameters
        ----------
        drawn
            The network of the draw: donors are completed with its CPTs.
        is_proper
            Whether donors have random weights.
        """
        network = drawn if isinstance(drawn, Network) else drawn.network
        donors, rng = asked.donors, asked.rng
        if donors is None or not {*asked.names} & donors.rows_of.keys():
            return cls(network, asked)
        donors = donors.giving(asked.names)
        weights_of = dict(donors.weights_of)
        if is_proper:
            chance = rng.standard_exponential(donors.rows)
            weights_of = {
                v: weights * chance[donors.rows_of[v]] for v, weights in weights_of.items()
            }
        centre_of, scale_of = _moments(donors, weights_of)
        filler = cls(
            network,
            replace(asked, donors=donors),
            {v: (donors.numbers[v] - centre_of[v]) / scale_of[v] for v in donors.rows_of},
            centre_of,
            scale_of,
        )
        for name in donors.rows_of:
            filler._give(name, weights_of[name])
        filler._learn(_completed(drawn, donors, rng, memory), weights_of, RULE)
        return filler

    def _give(self, name: str, weights: FloatArray, points: FloatArray | None = None) -> None:
        """Let the donors of a variable give, from where a rule puts them if it is known."""
        assert self.donors is not None
        rows = self.donors.rows_of[name]
        codes = self.donors.columns[name][rows]
        self.givers_of[name] = {
            code: Givers.of(
                rows[codes == code],
                weights[codes == code],
                None if points is None else points[codes == code],
            )
            for code in np.unique(codes).tolist()
        }

    def _learn(
        self, whole: EncodedTable, weights_of: Mapping[str, FloatArray], rule: DonorRule
    ) -> None:
        """Let a rule look at the donors, while what these miss is filled in."""
        assert self.donors is not None
        cells = self._cells(whole, self.standard)
        missing = {name: np.flatnonzero(np.isnan(self.standard[name])) for name in self.standard}
        self._begin(cells, missing)
        for _ in range(SWEEPS):
            for name, rows in self.donors.rows_of.items():
                beside = cells.beside(name)
                places = rule(beside[rows], self.standard[name][rows], weights_of[name])
                self.places_of[name] = places
                self._give(name, weights_of[name], places(beside[rows]))
                self._match(cells, name, missing[name])

    def fill(self, whole: EncodedTable, shown: Numbers) -> dict[str, FloatArray]:
        """The numbers of all rows, of the variables asked for; NaN where a state stands for none.

        Parameters
        ----------
        whole
            The rows with nothing missing.
        shown
            The numbers that they show themselves; NaN where they show none.
        """
        filled = {name: shown[name].copy() for name in self.asked.names}
        is_missing = np.zeros(whole.rows, dtype=bool)
        for numbers in filled.values():
            is_missing |= np.isnan(numbers)
        rows = np.flatnonzero(is_missing)
        for start in range(0, len(rows), ROWS_AT_ONCE):
            here = rows[start : start + ROWS_AT_ONCE]
            part = whole.take(here)
            donor_of = self._donors_of(
                part, {name: numbers[here] for name, numbers in shown.items()}
            )
            for name, numbers in filled.items():
                drawn = self._numbers(name, part.columns[name], donor_of.get(name))
                numbers[here] = np.where(np.isnan(numbers[here]), drawn, numbers[here])
        return filled

    def _donors_of(self, whole: EncodedTable, shown: Numbers) -> dict[str, Rows]:
        """The donor of each row, for each variable that donors give."""
        if self.donors is None:
            return {}
        nothing = np.full(whole.rows, np.nan)
        standard = {
            name: (shown.get(name, nothing) - self.centre_of[name]) / self.scale_of[name]
            for name in self.standard
        }
        missing = {name: np.flatnonzero(np.isnan(standard[name])) for name in standard}
        cells = self._cells(whole, standard)
        donor_of = self._begin(cells, missing)
        are_several = sum(len(rows) > 0 for rows in missing.values()) > 1
        for _ in range(SWEEPS if are_several else 1):
            for name, rows in missing.items():
                donor_of[name][rows] = self._match(cells, name, rows)
        return donor_of

    def _begin(self, cells: Cells, missing: Mapping[str, Rows]) -> dict[str, Rows]:
        """Take what rows miss from any donor of the interval."""
        donor_of = {}
        for name, rows in missing.items():
            donor_of[name] = np.full(cells.codes.rows, NOBODY)
            for givers, these in self._by_interval(cells, name, rows):
                donor_of[name][these] = givers.any_of(len(these), self.rng)
            self._take(cells, name, rows, donor_of[name][rows])
        return donor_of

    def _match(self, cells: Cells, name: str, rows: Rows) -> Rows:
        """Take what rows miss from donors that are like them; gives these."""
        donors = np.full(cells.codes.rows, NOBODY)
        if len(rows):
            points = np.zeros((0, 0))
            places = self.places_of[name](cells.beside(name)[rows])
            points = np.zeros((cells.codes.rows, places.shape[1]))
            points[rows] = places
            for givers, these in self._by_interval(cells, name, rows):
                donors[these] = givers.alike(points[these], self.rng)
            self._take(cells, name, rows, donors[rows])
        return donors[rows]

    def _by_interval(self, cells: Cells, name: str, rows: Rows) -> Iterator[tuple[Givers, Rows]]:
        """The donors of each interval, and those of some rows that are in it."""
        codes = cells.codes.columns[name][rows]
        for code, givers in self.givers_of[name].items():
            these = rows[codes == code]
            if len(these):
                yield givers, these

    def _take(self, cells: Cells, name: str, rows: Rows, donors: Rows) -> None:
        given = np.where(donors == NOBODY, 0.0, self.standard[name][donors])
        cells.numbers[name][rows] = given

    def _cells(self, whole: EncodedTable, standard: Numbers) -> Cells:
        """Rows as columns of numbers."""
        columns = []
        for name in self.network.variables:
            given = self.givers_of.get(name, {})
            for code in range(self.network.cardinality(name)):
                if code not in given:
                    columns.append(whole.columns[name] == code)
        numbers = {name: numbers.copy() for name, numbers in standard.items()}
        indicators = np.array(columns, np.float64).reshape(len(columns), whole.rows).T
        return Cells(whole, numbers, indicators)

    def _numbers(self, name: str, codes: NDArray[np.integer], donors: Rows | None) -> FloatArray:
        """The number of each row, from its donor or from anywhere in its interval."""
        numbers = np.full(len(codes), np.nan)
        if donors is not None and self.donors is not None:
            has_donor = donors != NOBODY
            numbers[has_donor] = self.donors.numbers[name][donors[has_donor]]
        cuts = self.network.cuts_of.get(name, ())
        are_whole = name in self.asked.whole
        for code, (low, high) in enumerate(interval_ends(cuts)):
            rows = np.flatnonzero(np.isnan(numbers) & (codes == code))
            if not len(rows):
                continue
            first, end = np.ceil([low, high])
            if are_whole and first < end:
                numbers[rows] = self.rng.integers(int(first), int(end), len(rows))
            else:
                numbers[rows] = self.rng.uniform(low, high, len(rows))
        return numbers


@dataclass
class NumbersOfRows:
    """What draws the missing numbers of some rows, once all of them have passed.

    Donors are those of a result; of what has none, the rows themselves are.
    """

    network: Network
    variables: Scope  # of numbers; none if these are not drawn
    decimal: str
    rng: np.random.Generator
    donors: Donors | None = None
    sampler: DonorSampler | None = None  # where there are no donors yet

    @classmethod
    def of(
        cls,
        donors: Donors | None,
        network: Network,
        decimal: str,
        rng: np.random.Generator | None,
    ) -> NumbersOfRows:
        """What draws numbers by some randomness; without any there is nothing to draw."""
        variables = () if rng is None else number_variables(network)
        if rng is None or not variables:
            return cls(network, (), decimal, np.random.default_rng(0))
        chance = rng.spawn(1)[0]  # states are drawn as if there were no numbers
        sampler = None
        if donors is None:
            seed = int(chance.integers(2**62))
            sampler = DonorSampler(network, seed, decimal=decimal)
        return cls(network, variables, decimal, chance, donors, sampler)

    def add(self, columns: Mapping[str, Column], shown: EncodedTable) -> None:
        """Let some rows pass: their columns as they came, and the codes of what they show."""
        if self.sampler is not None:
            self.sampler.add(columns, shown)

    def shown(self, columns: Mapping[str, Column], shown: EncodedTable) -> dict[str, FloatArray]:
        """The numbers that some rows show, of variables that have a column."""
        key_of = keys_by_name(columns)
        return {
            name: numbers_shown(
                self.network, name, columns[key_of[name]], shown.columns[name], self.decimal
            )
            for name in self.variables
            if name in key_of
        }

    def to_draw(self, partly: Collection[str], type_of: Mapping[str, Any]) -> NumbersToDraw:
        """What is to be drawn, once all rows have passed.

        Parameters
        ----------
        partly
            The variables that some row misses.
        type_of
            The Arrow type of each column, None where it is a list.
        """
        donors = self.donors if self.sampler is None else self.sampler.donors()
        names = [
            name
            for name in self.variables
            if name in partly and name in type_of and _can_be_drawn(self.network, name, donors)
        ]
        whole = {name for name in names if _are_whole(self.network, name, donors, type_of[name])}
        return NumbersToDraw(tuple(names), donors, frozenset(whole), self.rng)


@dataclass(frozen=True)
class NumbersToDraw:
    """Which missing numbers are drawn, and from whom."""

    names: tuple[str, ...]
    donors: Donors | None
    whole: frozenset[str]  # variables of which all numbers that can be drawn are whole
    rng: np.random.Generator

    def filler(
        self, drawn: Network | DenseDraw, *, is_proper: bool, memory: Memory = None
    ) -> NumberFiller:
        """What fills them in, in the tables of one draw, with the network of that draw."""
        of_draw = replace(self, rng=self.rng.spawn(1)[0])
        return NumberFiller.of(drawn, of_draw, is_proper=is_proper, memory=memory)


def numbers_to_draw(
    network: Network, donors: Donors | None, absent: Collection[str], rng: np.random.Generator
) -> NumbersToDraw:
    """What is to be drawn where rows show no number at all, of variables that are not absent."""
    names = [
        name
        for name in number_variables(network)
        if name not in absent and _can_be_drawn(network, name, donors)
    ]
    whole = frozenset(name for name in names if _are_whole(network, name, donors, None))
    return NumbersToDraw(tuple(names), donors, whole, rng)


def joined_numbers(parts: Sequence[Mapping[str, FloatArray]]) -> dict[str, FloatArray]:
    """The numbers of all rows, part after part."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _can_be_drawn(network: Network, name: str, donors: Donors | None) -> bool:
    """Whether every missing number has a place to come from; dates need donors of each period."""
    if name in network.cuts_of:
        return True
    rule = network.not_asked_of.get(name)
    periods = {
        code
        for code, state in enumerate(network.states(name))
        if rule is None or state != rule.state
    }
    return periods <= _given_codes(name, donors)


def _given_codes(name: str, donors: Donors | None) -> set[int]:
    """The intervals of a variable that have donors."""
    if donors is None or name not in donors.rows_of:
        return set()
    return {*donors.columns[name][donors.rows_of[name]].tolist()}


def _are_whole(network: Network, name: str, donors: Donors | None, kind: Any) -> bool:
    """Whether all numbers that can be drawn are whole, by the donors or by the column's type."""
    import pyarrow as pa

    given = _given_codes(name, donors)
    if donors is not None and given:
        is_whole = name in donors.whole_numbers
    else:
        is_whole = kind is not None and pa.types.is_integer(plain_type(kind))
    others = [
        ends
        for code, ends in enumerate(interval_ends(network.cuts_of.get(name, ())))
        if code not in given
    ]
    return is_whole and all(np.ceil(low) < np.ceil(high) for low, high in others)


def _moments(
    donors: Donors, weights_of: Mapping[str, FloatArray]
) -> tuple[dict[str, float], dict[str, float]]:
    """The mean and the standard deviation of each variable's numbers; of equal ones it is 1."""
    centre_of, scale_of = {}, {}
    for name, rows in donors.rows_of.items():
        numbers, weights = donors.numbers[name][rows], weights_of[name]
        centre_of[name] = float(np.average(numbers, weights=weights))
        variance = float(np.average((numbers - centre_of[name]) ** 2, weights=weights))
        scale_of[name] = np.sqrt(variance) or 1.0
    return centre_of, scale_of


def _completed(
    drawn: Network | DenseDraw, donors: Donors, rng: np.random.Generator, memory: Memory
) -> EncodedTable:
    """The donors with what they do not show filled in."""
    network = drawn if isinstance(drawn, Network) else drawn.network
    table = donors.table(network.cardinality_of)
    if not table.partially_observed:
        return table
    if isinstance(drawn, DenseDraw):
        return drawn.completed(table, rng)
    try:
        (whole,) = draw_completions(*rows_with_mechanisms(network, table), 1, rng, memory)
    except ImpossibleDataError:  # under these CPTs: they are compared by what they show
        return _by_margins(table, rng)
    return whole


def _by_margins(table: EncodedTable, rng: np.random.Generator) -> EncodedTable:
    """The rows with what they do not show taken from others that show it."""
    columns = {}
    for name, codes in table.columns.items():
        is_shown = codes < table.cardinality_of[name]
        shown = codes[is_shown] if is_shown.any() else np.zeros(1, codes.dtype)
        columns[name] = np.where(is_shown, codes, rng.choice(shown, len(codes)))
    return table.with_columns(table.cardinality_of, columns)

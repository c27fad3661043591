r"""Donors: rows as they were observed, from which missing numbers are drawn.

A network that cuts a column of numbers knows in which interval a missing number is, not which
number it is. That is taken from a row which shows one of the same interval. So what is learned
keeps some rows: of each interval of each column of numbers, and of each period of a column of
dates, at most `MOST_DONORS`, chosen by chance.

Rows are chosen in one pass, in bounded memory. Each row has a key, exponential with its weight as
the rate, and the rows with the smallest keys stay (P. Efraimidis and P. Spirakis, 2006). All
columns use the same keys, so that they share most of their rows. A row of weight :math:`w` stays
with probability :math:`1 - \exp(-w t)`, where :math:`t` is the smallest key that was left out, and
so stands for :math:`w / (1 - \exp(-w t))` rows.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.data.data import Data
from lacunet.data.encode import distinct_values, number_column
from lacunet.data.source_parts import Column
from lacunet.data.spellings import SeenValues, keys_by_name
from lacunet.data.table import Codes, EncodedTable
from lacunet.network.dates import day_number, is_period_of_any_unit
from lacunet.network.network import FloatArray, Network, Scope
from lacunet.network.spelling import number_of

MOST_DONORS = 200  # of an interval
OBSERVED_ROWS, OBSERVED_CELLS = 10_000, 2**22  # at most, of all rows whatever they show
FIRST_ROWS = 2**12  # that are looked at by themselves; what they show leaves most others out

Rows = NDArray[np.int64]


def number_variables(network: Network) -> Scope:
    """The variables whose states are intervals of numbers, or periods of dates."""
    return tuple(
        name for name in network.variables if name in network.cuts_of or _are_periods(network, name)
    )


def dated_variables(network: Network) -> Scope:
    """The variables whose states are periods of dates."""
    return tuple(name for name in number_variables(network) if name not in network.cuts_of)


def _are_periods(network: Network, name: str) -> bool:
    rule = network.not_asked_of.get(name)
    states = [state for state in network.states(name) if rule is None or state != rule.state]
    return is_period_of_any_unit(states)


def numbers_shown(
    network: Network, name: str, column: Column, codes: NDArray[Any], decimal: str = "."
) -> FloatArray:
    """The number that each row shows in the interval of its code; NaN where it shows none.

    Dates are numbers of days since 1970.
    """
    if name not in network.cuts_of:
        days = day_numbers(column)
        return np.where(codes < network.cardinality(name), days, np.nan)
    cuts = np.array(network.cuts_of[name])
    numbers = number_column(column, decimal)
    intervals = np.clip(np.searchsorted(cuts, numbers, side="right"), 1, len(cuts) - 1) - 1
    is_shown = (codes == intervals) & np.isfinite(numbers)
    meanings = map(number_of, network.codes_of.get(name, {}))
    if coded := [float(number) for number in meanings if number is not None]:
        is_shown &= ~np.isin(numbers, coded)  # a code for an interval, which may lie in it
    return np.where(is_shown, numbers, np.nan)


def day_numbers(column: Column) -> FloatArray:
    """The days since 1970 of dates and moments; NaN where a cell is neither.

    >>> day_numbers(["1970-01-03", "1970-01-03 12:00:00", "1970", None]).tolist()
    [2.0, 2.5, nan, nan]
    """
    indices, values = distinct_values(column)
    days = [*map(day_number, values), np.nan]  # the last is that of nulls
    return np.array(days)[indices]


@dataclass(frozen=True, eq=False)
class Donors:
    """Rows as they were observed, which give numbers to others."""

    about: str  # what they are, for who opens the file
    most: int  # of each interval
    columns: Mapping[str, Codes]  # the code of each variable in each row; missing is one more
    numbers: Mapping[str, FloatArray]  # of variables of numbers; NaN where a row shows none
    rows_of: Mapping[str, Rows]  # the rows that give numbers of each of these variables
    weights_of: Mapping[str, FloatArray]  # how many rows each of them stands for

    @property
    def rows(self) -> int:
        """How many there are."""
        return len(next(iter(self.columns.values())))

    def table(self, cardinality_of: Mapping[str, int]) -> EncodedTable:
        """Their codes."""
        return EncodedTable(cardinality_of, self.columns)

    @cached_property
    def whole_numbers(self) -> frozenset[str]:
        """The variables whose numbers are all whole; of dates, those without a time of day."""
        return frozenset(
            name for name, rows in self.rows_of.items() if not (self.numbers[name][rows] % 1).any()
        )

    def add_means(self, seen: SeenValues) -> None:
        """Tell of intervals of which other rows show no number."""
        for name in self.rows_of.keys() & seen.counts_of.keys():
            rows, weights = self.rows_of[name], self.weights_of[name]
            codes, size = self.columns[name][rows], len(seen.counts_of[name])
            sums = np.zeros(size)
            np.add.at(sums, codes, weights * self.numbers[name][rows])
            counts = np.zeros(size)
            np.add.at(counts, codes, weights)
            seen.add_means(name, sums, counts)

    def giving(self, names: Collection[str]) -> Donors:
        """Those that give numbers of some variables."""
        asked = [rows for name, rows in self.rows_of.items() if name in names]
        kept = np.unique(np.concatenate(asked))
        if len(kept) == self.rows:
            return self
        rows_of, weights_of = {}, {}
        for name, rows in self.rows_of.items():
            is_kept = np.isin(rows, kept)
            if is_kept.any():
                rows_of[name] = np.searchsorted(kept, rows[is_kept])
                weights_of[name] = self.weights_of[name][is_kept]
        return replace(
            self,
            columns={name: codes[kept] for name, codes in self.columns.items()},
            numbers={name: self.numbers[name][kept] for name in rows_of},
            rows_of=rows_of,
            weights_of=weights_of,
        )

    def check(self, network: Network) -> None:
        """Refuse what was read from a file and does not fit the network."""
        shapes = {len(codes) for codes in self.columns.values()}
        shapes |= {len(numbers) for numbers in self.numbers.values()}
        if {*self.columns} != {*network.variables} or len(shapes) != 1:
            raise TypeError("the donors do not fit the network")
        for name, codes in self.columns.items():
            if codes.max(initial=0) > network.cardinality(name):
                raise TypeError(f"the donors' codes of {name!r} do not fit its states")
        for name, rows in self.rows_of.items():
            if (
                len(rows) != len(self.weights_of[name])
                or not np.isfinite(self.numbers[name][rows]).all()
            ):
                raise TypeError(f"the donors of {name!r} show no numbers")


def is_number_of_donors(value: object) -> bool:
    """Whether a value says how many donors to keep."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 0


def donor_sampler(
    network: Network, data: Data, rng: np.random.Generator, most: int = MOST_DONORS
) -> DonorSampler:
    """What chooses donors among the rows of data."""
    seed = int(rng.spawn(1)[0].integers(2**62))  # all else is drawn as if there were no donors
    return DonorSampler(network, seed, int(most), data.decimal)


def about(most: int, names: Sequence[str]) -> str:
    """What the donors of some variables are, in a sentence."""
    return (
        f"rows as they were observed, at most {most} of each interval of {', '.join(names)}: "
        "missing numbers are drawn from them"
    )


@dataclass
class DonorSampler:
    """Chooses donors among rows that pass by: the one object here that grows.

    Parameters
    ----------
    most
        The donors of each interval; with none, no other rows are kept either.
    seed
        Of the keys of rows: the same rows in the same order give the same donors.
    """

    network: Network
    seed: int
    most: int = MOST_DONORS
    decimal: str = "."
    is_complete: bool = False  # all rows have passed
    _rng: np.random.Generator = field(init=False)
    _rows: int = 0  # that have passed
    _kept: _KeptRows = field(init=False)
    _smallest: dict[str, _SmallestKeys] = field(init=False)
    _any: _SmallestKeys = field(init=False)  # of all rows, whatever they show

    def __post_init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Forget what has passed."""
        self._rng = np.random.default_rng(self.seed)
        self._rows = 0
        names = number_variables(self.network)
        self._kept = _KeptRows.none(self.network, names)
        self._smallest = {
            name: _SmallestKeys.none(self.network.cardinality(name), self.most) for name in names
        }
        most = min(OBSERVED_ROWS, OBSERVED_CELLS // max(len(self.network.variables), 1))
        self._any = _SmallestKeys.none(1, most if self.most else 0)

    def add(self, columns: Mapping[str, Column], table: EncodedTable) -> None:
        """Let some rows pass: their columns as they came, and their codes and weights."""
        key_of = keys_by_name(columns)
        column_of = {name: columns[key_of[name]] for name in self._smallest if name in key_of}
        first, start = self._rows, 0
        while start < table.rows:
            stop = min(start + max(2 * self._rows, FIRST_ROWS), table.rows)
            self._choose(column_of, table, start, stop)
            self._rows += stop - start
            start = stop
        kept = [self._any.rows, *(smallest.rows for smallest in self._smallest.values())]
        rows = np.unique(np.concatenate(kept))
        here = rows[rows >= first]
        self._kept.add(self._kept_rows(column_of, table, here - first), here)
        self._kept = self._kept.among(rows)

    def _choose(
        self, column_of: Mapping[str, Column], table: EncodedTable, start: int, stop: int
    ) -> None:
        """Look at the rows of a piece from one to another."""
        weights = np.ones(stop - start) if table.weights is None else table.weights[start:stop]
        keys = self._rng.standard_exponential(stop - start)
        with np.errstate(divide="ignore"):
            keys = np.where(weights > 0, keys / weights, np.inf)
        none = np.zeros(stop - start, np.uint8)
        near = self._any.near(keys, none)
        self._any.add(self._rows + near, keys[near], none[near], weights[near])
        for name, column in column_of.items():
            smallest, codes = self._smallest[name], table.columns[name][start:stop]
            near = smallest.near(keys, codes)
            if len(near):
                cells = _taken(column, near + start)
                numbers = numbers_shown(self.network, name, cells, codes[near], self.decimal)
                near = near[~np.isnan(numbers)]
                smallest.add(self._rows + near, keys[near], codes[near], weights[near])

    def _kept_rows(
        self, column_of: Mapping[str, Column], table: EncodedTable, rows: Rows
    ) -> tuple[dict[str, Codes], dict[str, FloatArray]]:
        """What some rows of a piece show."""
        codes: dict[str, Any] = {}
        for name in self.network.variables:
            missing = self.network.cardinality(name)
            column = table.columns[name]
            codes[name] = np.minimum(column[rows], column.dtype.type(missing))
        numbers = {
            name: numbers_shown(self.network, name, _taken(column, rows), codes[name], self.decimal)
            for name, column in column_of.items()
        }
        for name in self._smallest.keys() - numbers.keys():
            numbers[name] = np.full(len(rows), np.nan)
        return codes, numbers

    def observed(self) -> EncodedTable:
        """A sample of all rows, whatever they show: by weights that add up to those of all."""
        rows, weights = self._any.chosen()
        kept = self._kept.among(rows)
        return EncodedTable(self.network.cardinality_of, kept.codes, weights)

    def donors(self) -> Donors | None:
        """Those that were chosen, None where no row shows a number."""
        chosen = {name: smallest.chosen() for name, smallest in self._smallest.items()}
        chosen = {name: choice for name, choice in chosen.items() if len(choice[0])}
        if not chosen:
            return None
        kept = self._kept.among(np.unique(np.concatenate([rows for rows, _ in chosen.values()])))
        return Donors(
            about(self.most, [*chosen]),
            self.most,
            kept.codes,
            {name: kept.numbers[name] for name in chosen},
            {name: np.searchsorted(kept.rows, rows) for name, (rows, _) in chosen.items()},
            {name: weights for name, (_, weights) in chosen.items()},
        )


def _taken(column: Column, rows: Rows) -> Column:
    """Some cells of a column."""
    if isinstance(column, list):
        return [column[row] for row in rows.tolist()]
    import pyarrow as pa

    return column.take(pa.array(rows))


@dataclass
class _SmallestKeys:
    """The rows with the smallest keys among those of each code: so many, and one more."""

    most: int
    limits: FloatArray  # the largest key that is held of each code; infinite while there are few
    rows: Rows
    keys: FloatArray
    codes: NDArray[np.int64]
    weights: FloatArray

    @classmethod
    def none(cls, codes: int, most: int) -> _SmallestKeys:
        whole, numbers = np.zeros(0, np.int64), np.zeros(0)
        return cls(most, np.full(codes, np.inf), whole, numbers, whole, numbers)

    def near(self, keys: FloatArray, codes: NDArray[Any]) -> Rows:
        """Those of some rows whose keys may be among the smallest."""
        limits = np.append(self.limits, -np.inf)  # of what is missing
        return np.flatnonzero(keys < limits[np.minimum(codes, len(self.limits))])

    def add(self, rows: Rows, keys: FloatArray, codes: NDArray[Any], weights: FloatArray) -> None:
        """Take in some rows, and keep no more than there is room for."""
        keys = np.concatenate([self.keys, keys])
        codes = np.concatenate([self.codes, codes.astype(np.int64)])
        if len(self.limits) == 1 and len(keys) > self.most:  # much faster than sorting
            order = np.argpartition(keys, self.most)[: self.most + 1]
            order = order[np.argsort(keys[order])]
        else:
            order = np.lexsort([keys, codes])
        first = np.searchsorted(codes[order], codes[order])  # the first of the same code
        rank = np.arange(len(order)) - first
        order = order[rank <= self.most]
        self.rows = np.concatenate([self.rows, rows])[order]
        self.weights = np.concatenate([self.weights, weights])[order]
        self.keys, self.codes = keys[order], codes[order]
        is_last = rank[rank <= self.most] == self.most
        self.limits[self.codes[is_last]] = self.keys[is_last]

    def chosen(self) -> tuple[Rows, FloatArray]:
        """The rows that stay, and how many each stands for."""
        limits = self.limits[self.codes]
        stays = (self.keys < limits) & (self.most > 0)
        weights, limits = self.weights[stays], limits[stays]
        shares = -np.expm1(-weights * limits)  # the probability that it stays
        order = np.argsort(self.rows[stays])
        return self.rows[stays][order], (weights / shares)[order]


@dataclass
class _KeptRows:
    """What the rows show that are kept so far, by their numbers, which ascend."""

    rows: Rows
    codes: dict[str, Codes]
    numbers: dict[str, FloatArray]

    @classmethod
    def none(cls, network: Network, names: Sequence[str]) -> _KeptRows:
        codes: dict[str, Any] = {name: np.zeros(0, np.uint8) for name in network.variables}
        return cls(np.zeros(0, np.int64), codes, {name: np.zeros(0) for name in names})

    def add(self, kept: tuple[Mapping[str, Codes], Mapping[str, FloatArray]], rows: Rows) -> None:
        """Take in some rows behind the others."""
        codes, numbers = kept
        self.rows = np.concatenate([self.rows, rows])
        self.codes = {v: np.concatenate([self.codes[v], codes[v]]) for v in self.codes}
        self.numbers = {v: np.concatenate([self.numbers[v], numbers[v]]) for v in self.numbers}

    def among(self, rows: Rows) -> _KeptRows:
        """Some of the rows."""
        places = np.searchsorted(self.rows, rows)
        return _KeptRows(
            rows,
            {name: codes[places] for name, codes in self.codes.items()},
            {name: numbers[places] for name, numbers in self.numbers.items()},
        )

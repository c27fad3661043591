"""What has changed between two parts of the data: drift, from statistics alone.

For each variable three questions, each a test of independence between a row's part and what it
holds: is it missing more often; are its shown values distributed otherwise; and is it distributed
otherwise given its parents. The last is what a CPT says. A variable whose own distribution has
changed and whose CPT has not only follows its parents.

Sampling weights count by their weighted sample size. Rows are taken as independent: statistics
keep no strata or clusters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any

import numpy as np

from lacunet.memory import Memory, memory_budget
from lacunet.missingness.independence import holm, independence
from lacunet.model.network import FloatArray, Network, Scope
from lacunet.randomness import generator
from lacunet.statistics.errors import StatisticsError
from lacunet.statistics.gather import Gathering, Needs, Statistics
from lacunet.statistics.observations import observations
from lacunet.statistics.rows import Rows
from lacunet.statistics.saved.header import Header, check_same, check_same_rules, header_of
from lacunet.wording import counted, text_table

AnyStatistics = Statistics | str | PathLike[str]
CLEAR = 0.05  # adjusted p-values below are marked
LEGEND = """\
values: how far the distribution of the shown values has moved, from 0 to 1 (total variation);
given parents: the same for the CPT."""


@dataclass(frozen=True)
class Change:
    """How far a distribution has moved.

    ``distance`` is the total variation distance, from 0 to 1; given parents its mean over their
    configurations, by how often each occurs. ``p_value`` is adjusted for all tests (Holm).
    """

    distance: float
    p_value: float

    @property
    def is_clear(self) -> bool:
        """Whether chance hardly explains it."""
        return self.p_value < CLEAR


@dataclass(frozen=True)
class VariableDrift:
    """What has changed of one variable.

    ``missing`` is the share of the rows that do not show it, of their weight if they have any,
    before and after.
    """

    missing: tuple[float, float]
    missingness: Change
    values: Change
    given_parents: Change

    @property
    def is_clear(self) -> bool:
        """Whether any of the three has clearly changed."""
        return any(
            change.is_clear for change in (self.missingness, self.values, self.given_parents)
        )


@dataclass(frozen=True, eq=False)
class Drift:
    """What has changed between two parts of the data; it prints."""

    rows: tuple[int, int]
    variables: Mapping[str, VariableDrift]

    @property
    def changed(self) -> tuple[str, ...]:
        """The variables that have clearly changed."""
        return tuple(name for name, variable in self.variables.items() if variable.is_clear)

    def as_data(self) -> dict[str, Any]:
        """For programs."""
        return {
            "rows": list(self.rows),
            "changed": list(self.changed),
            "variables": {name: asdict(variable) for name, variable in self.variables.items()},
        }

    def __repr__(self) -> str:
        return f"<Drift: {self._heading}>"

    @property
    def _heading(self) -> str:
        before, after = self.rows
        has = "has" if len(self.changed) < 2 else "have"
        what = counted(len(self.changed), "variable") if self.changed else "nothing"
        summary = f"{what} {has} clearly changed"
        return f"{counted(before, 'row')} before, {counted(after, 'row')} after; {summary}"

    def __str__(self) -> str:
        lines = [f"{self._heading}{' (*)' if self.changed else ''}", ""]
        header = ["variable", "missing before", "after", "", "values", "", "given parents", ""]
        largest = sorted(self.variables.items(), key=lambda pair: -_largest(pair[1]))
        rows = [
            [
                name,
                *(f"{share:.1%}" for share in variable.missing),
                _mark(variable.missingness),
                f"{variable.values.distance:.3f}",
                _mark(variable.values),
                f"{variable.given_parents.distance:.3f}",
                _mark(variable.given_parents),
            ]
            for name, variable in largest
        ]
        return "\n".join([*lines, text_table(header, rows), LEGEND])


def _largest(variable: VariableDrift) -> float:
    changes = (variable.missingness, variable.values, variable.given_parents)
    return max(change.distance + change.is_clear for change in changes)


def _mark(change: Change) -> str:
    return "*" if change.is_clear else ""


def drift(
    before: AnyStatistics,
    after: AnyStatistics,
    *,
    rng: np.random.Generator | int = 0,
    memory: Memory = None,
) -> Drift:
    """Compare two parts of the data that were counted for the same network.

    Rows are taken as independent, as statistics keep no strata or clusters.

    Parameters
    ----------
    before, after
        Statistics of `lacunet.count`, or their files.
    rng
        For tests of small counts, which compare with tables drawn at random.
    memory
        The budget in bytes, or such as ``"500MB"``; by default half of the memory there is.

    Returns
    -------
    A value that prints. Its ``variables`` have for each variable the shares of missing values and
    how far missingness, values and values given parents have moved, with p-values; ``changed``
    are those of which one of the three has clearly changed.

    Raises
    ------
    StatisticsError
        They are not statistics, or were counted for different networks.

    Examples
    --------
    >>> from lacunet import count
    >>> coin = Network({"Coin": ["head", "tail"]})
    >>> monday = count(coin, {"Coin": ["head", "tail"] * 50}, "direct-mcar")
    >>> tuesday = count(coin, {"Coin": ["head"] * 90 + ["tail"] * 10}, "direct-mcar")
    >>> moved = drift(monday, tuesday)
    >>> moved.changed, round(moved.variables["Coin"].values.distance, 2)
    (('Coin',), 0.4)
    """
    network = _network(before)
    check_same(network, _network(after), "the later statistics")
    check_same_rules(network, _network(after), "the later statistics")
    rng = generator(rng)
    parts = [_counted(part, network, memory_budget(memory)) for part in (before, after)]
    tables = {name: _tables(parts, network, name) for name in network.variables}
    p_values = [independence(table, rng).p_value for triple in tables.values() for table in triple]
    adjusted = iter(holm(np.array(p_values)))
    variables = {}
    for name, triple in tables.items():
        changes = [Change(_distance(table), float(next(adjusted))) for table in triple]
        shown, missing = triple[0][0].T
        variables[name] = VariableDrift(tuple((missing / (shown + missing)).tolist()), *changes)
    return Drift((parts[0].rows, parts[1].rows), variables)


def _network(statistics: AnyStatistics) -> Network:
    if isinstance(statistics, Statistics):
        return header_of(statistics).network
    if not isinstance(statistics, str | PathLike):
        raise StatisticsError(
            f"statistics are compared here, or files of them, not {type(statistics).__name__}.",
            "count the rows of both parts for one network first: lacunet.drift(lacunet.count("
            "network, before, 'direct-mcar'), lacunet.count(network, after, 'direct-mcar')).",
        )
    return Header.read(statistics).network


def _counted(statistics: AnyStatistics, network: Network, budget: int) -> Statistics:
    """The counts of all families."""
    with observations(statistics, network, budget) as source:
        return source.gather(Gathering(Needs(network.families), network))


def _tables(parts: list[Statistics], network: Network, name: str) -> list[FloatArray]:
    """Counts by strata, part and value: of being shown, of what is shown, given the parents."""
    size, family = network.cardinality(name), network.family(name)
    rows = [Rows.of(part.counts[family]) for part in parts]
    alone = np.array([[np.bincount(part.column(name), _worth(part), size + 1) for part in rows]])
    shown = np.stack([alone[..., :size].sum(axis=2), alone[..., size]], axis=2)
    return [shown, alone[..., :size], _given_parents(rows, network.parents(name), name)]


def _given_parents(rows: list[Rows], parents: Scope, name: str) -> FloatArray:
    """Among rows that show the whole family, by the configuration of the parents."""
    size = rows[0].size(name)
    keys, values, weights = [], [], []
    for part in rows:
        whole = part.is_shown(part.scope)
        keys.append(part.cells(parents, whole))
        values.append(part.column(name)[whole])
        weights.append(_worth(part)[whole])
    distinct, index = np.unique(np.concatenate(keys), return_inverse=True)
    side = np.repeat([0, 1], [len(cells) for cells in keys])
    cell = (index * 2 + side) * size + np.concatenate(values)
    table = np.bincount(cell, np.concatenate(weights), minlength=len(distinct) * 2 * size)
    return table.reshape(-1, 2, size).astype(np.float64)


def _worth(rows: Rows) -> FloatArray:
    """The weights of rows, scaled so that they sum to the number of rows that they are worth."""
    scale = float(rows.weights.sum()) / max(float(rows.tally.squares.sum()), 1e-300)
    return rows.weights * scale


def _distance(table: FloatArray) -> float:
    """The total variation distance between the two parts, mean over the strata."""
    sums = table.sum(axis=2, keepdims=True)
    both = (sums > 0).all(axis=(1, 2))
    if not both.any():
        return 0.0
    shares = table[both] / sums[both]
    each = 0.5 * np.abs(shares[:, 0] - shares[:, 1]).sum(axis=1)
    return float(np.average(each, weights=sums[both].sum(axis=(1, 2))))

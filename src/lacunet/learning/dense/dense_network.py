"""A dense network as it is learned: its CPTs, their parameters, and draws of these."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.data.table import EncodedTable, code_type
from lacunet.learning.dense.augmentation import (
    Augmentation,
    complete,
    complete_by_likeliest,
    drawn_parameters,
    forms_of,
    learn,
    maxima_of,
)
from lacunet.learning.dense.log_linear import LogLinear, LogLinearForm, Parameters, mean_of
from lacunet.learning.dense.residual_tables import ResidualTable
from lacunet.learning.dense.scales import (
    Scale,
    scale_of_categories,
    scale_of_intervals,
    scale_of_numerals,
)
from lacunet.limits import Deadline, OutOfTimeError
from lacunet.network.network import FloatArray, Network, Scope
from lacunet.network.spelling import number_of
from lacunet.progress import Progress, silent

KEPT_DRAWS = 20  # of the parameters
FEWEST_DRAWS = 2  # of which there is a covariance
MOST_NUMERALS = 10  # of a column whose states are numbers; of more, each is an interval
MOST_COLUMNS = 150  # of the parents of one variable
MOST_EFFECTS = 900  # of all parents on one variable


@dataclass(frozen=True, eq=False)
class DenseNetwork:
    """The CPTs of a dense network, with what their parameters may be.

    Variables are numbered by their places in the line.
    """

    line: Scope
    forms: tuple[LogLinearForm, ...]
    scales: tuple[Scale, ...]
    at: tuple[Parameters, ...]  # as they are
    draws: tuple[tuple[Parameters, ...], ...]  # from their posterior

    def parents(self, index: int) -> list[int]:
        """The parents of a variable, by their places."""
        widths = [scale.as_parent.shape[1] for scale in self.scales]
        ends = np.cumsum(widths)
        of_columns = np.searchsorted(ends, self.forms[index].columns, side="right").tolist()
        of_tables = [parent for table in self.at[index].tables for parent in table.parents]
        return sorted({*of_columns, *of_tables})

    @property
    def effects(self) -> int:
        """How many effects there are, of all parents on all children."""
        return sum(parameters.effects.size for parameters in self.at)

    @property
    def tables(self) -> int:
        """How many residual tables there are."""
        tables = [table for parameters in self.at for table in parameters.tables]
        return sum(not table.is_known for table in tables)

    @property
    def edges(self) -> dict[str, list[str]]:
        """The parents of each variable."""
        return {
            name: [self.line[parent] for parent in self.parents(index)]
            for index, name in enumerate(self.line)
        }

    def drawn(self, number: int, rng: np.random.Generator) -> Iterator[Sequence[Parameters]]:
        """Parameters for so many completed tables: the draws that were kept, then others like them.

        Those beyond the kept ones are random steps from their mean, with their covariance.
        """
        order = rng.permutation(len(self.draws))
        for index in range(number):
            if index < len(order):
                yield self.draws[order[index]]
            else:
                yield self._like_the_draws(rng)

    def _like_the_draws(self, rng: np.random.Generator) -> Sequence[Parameters]:
        steps = rng.standard_normal(len(self.draws)) / np.sqrt(len(self.draws) - 1)
        return [
            _stepped(draws, centre, steps)
            for draws, centre in zip(zip(*self.draws, strict=True), self.at, strict=True)
        ]

    def completed(
        self, table: EncodedTable, parameters: Sequence[Parameters], rng: np.random.Generator
    ) -> EncodedTable:
        """The rows with their missing cells drawn jointly."""
        rows = Augmentation.of_table(table, self.line, self.scales, rng)
        complete(rows, self.forms, parameters)
        return self._as_table(table, rows)

    def likeliest(self, table: EncodedTable, rng: np.random.Generator) -> EncodedTable:
        """The rows with the likeliest state in each missing cell."""
        rows = Augmentation.of_table(table, self.line, self.scales, rng)
        complete_by_likeliest(rows, self.forms, self.at)
        return self._as_table(table, rows)

    def _as_table(self, table: EncodedTable, rows: Augmentation) -> EncodedTable:
        columns: dict[str, Any] = {}
        for name in table.columns:
            index = self.line.index(name)
            columns[name] = rows.codes[:, index].astype(code_type(self.scales[index].states))
        return table.with_columns(table.cardinality_of, columns)


def _stepped(
    draws: Sequence[Parameters], centre: Parameters, steps: NDArray[np.float64]
) -> Parameters:
    """A centre, and a random combination of how draws differ from their mean."""
    mean = mean_of(draws)
    tables = []
    for index, table in enumerate(centre.tables):
        logs = np.stack([np.log(draw.tables[index].factors) for draw in draws])
        moved = np.log(table.factors) + np.tensordot(steps, logs - logs.mean(axis=0), axes=1)
        tables.append(replace(table, factors=np.exp(np.clip(moved, -700, 700))))
    constants = np.stack([draw.constants for draw in draws]) - mean.constants
    effects = np.stack([draw.effects for draw in draws]) - mean.effects
    return Parameters(
        centre.constants + steps @ constants,
        centre.effects + np.tensordot(steps, effects, axes=1),
        tuple(tables),
    )


def learn_dense_network(
    network: Network,
    table: EncodedTable,
    means: Mapping[str, FloatArray],
    kept: Collection[str],
    rng: np.random.Generator,
    deadline: Deadline,
    progress: Progress = silent,
) -> tuple[DenseNetwork, bool]:
    """Learn the CPTs of a dense network from rows with missing cells; and whether time sufficed.

    Parameters
    ----------
    network
        The variables, and the rules of questions that were not asked.
    means
        Of each variable of numbers the mean of each interval.
    kept
        Variables whose effects on each other are not shrunk away.
    """
    line = _line(network, table)
    scales = [_scale(network, name, table, means.get(name)) for name in line]
    rows = Augmentation.of_table(table, line, scales, rng)
    cpts = [_cpt(index, line, scales, rows, network, kept) for index in range(len(line))]
    pairs: list[tuple[list[Parameters], list[Parameters]]] = []
    is_done = True
    try:
        learn(rows, cpts, deadline)
        for pair in drawn_parameters(rows, cpts, KEPT_DRAWS, deadline):
            pairs.append(pair)
            progress("draws of the parameters", len(pairs), KEPT_DRAWS)
    except OutOfTimeError:
        is_done = False
    while len(pairs) < FEWEST_DRAWS:  # time is up: they are drawn for the completion that there is
        pairs.append(([cpt.drawn(rng) for cpt in cpts], maxima_of(cpts)))
    centre = [mean_of(same) for same in zip(*(maxima for _, maxima in pairs), strict=True)]
    draws = tuple(tuple(drawn) for drawn, _ in pairs)
    return DenseNetwork(line, tuple(forms_of(cpts)), tuple(scales), tuple(centre), draws), is_done


def _line(network: Network, table: EncodedTable) -> Scope:
    """The variables, those that miss least first, each after what its rule looks at."""
    left = sorted(network.variables, key=lambda name: table.missing_of[name])
    line: list[str] = []
    while left:
        name = next(
            name
            for name in left
            if name not in network.not_asked_of
            or {*network.not_asked_of[name].scope} - {name} <= {*line}
        )
        left.remove(name)
        line.append(name)
    return tuple(line)


def _scale(network: Network, name: str, table: EncodedTable, means: FloatArray | None) -> Scale:
    """How a variable enters, by how its states are called."""
    states = network.states(name)
    codes = table.columns[name]
    seen = np.bincount(codes, table.row_weights, len(states) + 1)[: len(states)].astype(np.float64)
    if means is not None:
        others = [np.nan] * (len(states) - len(means))  # that a question was not asked
        return scale_of_intervals(seen, [*means, *others])
    numbers = [number_of(state) for state in states]
    if None in numbers or len(states) < 3:
        return scale_of_categories(seen)
    values = [float(number) for number in numbers if number is not None]
    if len(states) > MOST_NUMERALS:
        return scale_of_intervals(seen, values)
    return scale_of_numerals(seen, values)


def _cpt(
    index: int,
    line: Scope,
    scales: Sequence[Scale],
    rows: Augmentation,
    network: Network,
    kept: Collection[str],
) -> LogLinear:
    """The CPT of a variable, before it is fitted."""
    scale = scales[index]
    parents = _chosen_parents(index, line, scales, rows, kept)
    columns = [np.arange(rows.of(parent).start, rows.of(parent).stop) for parent in parents]
    groups, first = [], 0
    for parent, columns_of_it in zip(parents, columns, strict=True):
        is_kept = line[index] in kept and line[parent] in kept
        for start, end in scales[parent].parent_groups:
            groups.append((slice(first + start, first + end), is_kept))
        first += len(columns_of_it)
    form = LogLinearForm(index, scale, np.concatenate([np.zeros(0, np.int64), *columns]))
    cpt = LogLinear(form, groups)
    rule = network.not_asked_of.get(line[index])
    if rule is not None:
        scope = [name for name in rule.scope if name != line[index]]
        sizes = [network.cardinality(name) for name in scope]
        family = (*scope, line[index])
        possible = np.broadcast_to(
            rule.can_occur(family, line[index], network.states_of[line[index]]),
            (*sizes, scale.states),
        )
        known = ResidualTable.known(
            [line.index(name) for name in scope],
            sizes,
            possible.reshape(prod(sizes), -1).astype(np.float64),
        )
        cpt.at = replace(cpt.at, tables=(known,))
    return cpt


def _chosen_parents(
    index: int,
    line: Scope,
    scales: Sequence[Scale],
    rows: Augmentation,
    kept: Collection[str],
) -> list[int]:
    """All variables before one in the line or, of very many, those that go with it most."""
    before = [*range(index)]
    width = max(scales[index].as_child.shape[1], 1)
    room = min(MOST_COLUMNS, MOST_EFFECTS // width)
    if sum(scales[parent].as_parent.shape[1] for parent in before) <= room:
        return before
    asked = [parent for parent in before if line[index] in kept and line[parent] in kept]
    others = sorted(
        (parent for parent in before if parent not in asked),
        key=lambda parent: -_dependence(rows, index, parent),
    )
    chosen: list[int] = []
    for parent in [*asked, *others]:
        room -= scales[parent].as_parent.shape[1]
        if room < 0 and parent not in asked:
            break
        chosen.append(parent)
    return sorted(chosen)


def _dependence(rows: Augmentation, child: int, parent: int) -> float:
    """How much two variables tell of each other, in rows that show both, beyond chance."""
    shown = ~(rows.missing[:, child] | rows.missing[:, parent])
    width = rows.scales[parent].states
    shape = rows.scales[child].states, width
    keys = rows.codes[shown, child] * width + rows.codes[shown, parent]
    counts = np.bincount(keys, rows.weights[shown], prod(shape)).reshape(shape)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / max(counts.sum(), 1e-300)
    is_there = counts > 0
    gain = float((counts[is_there] * np.log(counts[is_there] / expected[is_there])).sum())
    rows_and_columns = (np.count_nonzero(counts.sum(axis=1)) - 1) * (
        np.count_nonzero(counts.sum(axis=0)) - 1
    )
    return gain - rows_and_columns / 2

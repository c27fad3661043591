"""The rows that a verdict is carried out on: distinct ones over a few columns, of any data."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from lacunet.data.given import data_given
from lacunet.data.reading import with_data_codes
from lacunet.memory import memory_budget
from lacunet.missingness.errors import MissingnessGraphError
from lacunet.missingness.separation.drawing import Drawing
from lacunet.model.network import FloatArray, Scope
from lacunet.statistics.folds import Folds, folds_of
from lacunet.statistics.gather import Gathering, Needs
from lacunet.statistics.observations import observations, read_as_counted
from lacunet.statistics.rows import Rows
from lacunet.statistics.units import Units


class GatheredRows(NamedTuple):
    """Distinct rows, with the folds that they are divided into, or the same by replicate weights.

    Where they are divided, a last column says in which of the folds a row is. ``units`` are those
    of a survey, if variances are to be found and the data have any.
    """

    rows: Rows
    folds: Folds | None = None
    units: Units | None = None
    replicates: tuple[Rows, ...] = ()

    @property
    def whole(self) -> Rows:
        """All rows, without the column of folds."""
        return self.rows if self.folds is None else self.rows.sampled(self.folds.samples[0])

    def parts(self) -> Iterable[Rows]:
        """The rows without each fold, or by each of the replicate weights."""
        if self.folds is None:
            return self.replicates
        return map(self.rows.sampled, self.folds.samples[self.folds.replicates :])

    @property
    def scales(self) -> FloatArray:
        """What squared differences of the parts count in a variance."""
        if self.folds is not None:
            return self.folds.scales
        return np.zeros(0) if self.units is None else np.asarray(self.units.factors)

    @property
    def degrees(self) -> float:
        """The degrees of freedom of such variances."""
        if self.folds is not None:
            return self.folds.degrees
        return np.inf if self.units is None else self.units.degrees()


def gathered_rows(
    graph: Drawing,
    data: object,
    columns: Scope,
    groups: int | None = None,
    memory: float | None = None,
) -> GatheredRows:
    """The distinct rows over some columns, wherever the rows of the data are.

    Weights are scaled to the weighted sample size.

    Parameters
    ----------
    data
        `lacunet.Data`, or its source.
    groups
        If not None, the rows are divided into the clusters of a survey or gathered with each of its
        replicate weights; otherwise into so many groups, if any.
    memory
        The budget in bytes; half of the machine's memory by default.

    Raises
    ------
    MissingnessGraphError
        Some of these columns miss values, and the graph has no mechanism for them; or the data come
        with a rule of what was not asked that it does not know.
    """
    coded = with_data_codes(graph.network.with_tables(None), data)
    ruled = read_as_counted(data_given(data), coded).not_asked_of
    if unknown := [name for name in ruled if ruled[name] != graph.network.not_asked_of.get(name)]:
        raise MissingnessGraphError(
            f"the data come with a rule of when {unknown[0]!r} was not asked, which the graph does "
            "not know.",
            "what it looks at is a cause of being shown: make the graph of a network that has the "
            f"rule, lacunet.Network(..., not_asked={{{unknown[0]!r}: ...}}).",
        )
    with observations(data, graph.network, memory_budget(memory)) as rows:
        look = rows.look()
        graph.check_partially([n for n in look.hidden(graph.network) if n in columns], columns)
        units = None if groups is None else look.units
        factors = () if units is None or units.factors is None else units.factors
        folds = None if len(factors) else folds_of(None, groups or 0, 0, units)
        needs = Needs((), rows=(columns,), folds=folds)
        how = Gathering(needs, graph.network, scale=look.scale)
        found = rows.gather(how)
        replicates = [rows.gather(replace(how, replicate=at)) for at in range(len(factors))]
    again = tuple(one.distinct[columns] for one in replicates)
    return GatheredRows(found.distinct[columns], found.folds, units, again)

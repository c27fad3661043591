"""The rows that a verdict is carried out on: distinct ones over a few columns, of any data."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from lacunet.data.given import data_given
from lacunet.data.reading import with_data_codes
from lacunet.memory import memory_budget
from lacunet.missingness.errors import MissingnessGraphError
from lacunet.missingness.separation.drawing import Drawing
from lacunet.model.network import Scope
from lacunet.statistics.folds import Folds, folds_of
from lacunet.statistics.gather import Gathering, Needs
from lacunet.statistics.observations import observations, read_as_counted
from lacunet.statistics.rows import Rows
from lacunet.statistics.units import Units


class GatheredRows(NamedTuple):
    """Distinct rows, and in which of the folds they are, or the same by replicate weights.

    ``units`` are those of a survey, if variances are to be found and the data have any.
    """

    rows: Rows
    folds: Folds | None = None
    units: Units | None = None
    replicates: tuple[Rows, ...] = ()


def gathered_rows(
    graph: Drawing, data: object, columns: Scope, groups: int = 0, memory: float | None = None
) -> GatheredRows:
    """The distinct rows over some columns, wherever the rows of the data are.

    Weights are scaled to the weighted sample size.

    Parameters
    ----------
    data
        `lacunet.Data`, or its source.
    groups
        If any, the rows are divided into so many groups (or the clusters of a survey), and a last
        column says in which of the folds a row is.
        Rows with replicate weights are not divided, but gathered with each of these.
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
        units = look.units if groups else None
        factors = () if units is None or units.factors is None else units.factors
        folds = folds_of(None, groups, 0, units) if groups and not len(factors) else None
        needs = Needs((), rows=(columns,), folds=folds)
        how = Gathering(needs, graph.network, scale=look.scale)
        found = rows.gather(how)
        replicates = [rows.gather(replace(how, replicate=at)) for at in range(len(factors))]
    again = tuple(one.distinct[columns] for one in replicates)
    return GatheredRows(found.distinct[columns], found.folds, units, again)

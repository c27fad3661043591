"""The rows that a verdict is carried out on: distinct ones over a few columns, of any data."""

from __future__ import annotations

from lacunet.memory import memory_budget
from lacunet.missingness.separation.drawing import Drawing
from lacunet.model.network import Scope
from lacunet.statistics.folds import Folds, folds_of
from lacunet.statistics.gather import Gathering, Needs
from lacunet.statistics.observations import observations
from lacunet.statistics.rows import Rows


def gathered_rows(
    graph: Drawing, data: object, columns: Scope, groups: int = 0, memory: float | None = None
) -> tuple[Rows, Folds | None]:
    """The distinct rows over some columns, wherever the rows of the data are.

    Parameters
    ----------
    data
        `lacunet.Data`, or its source.
    groups
        If any, the rows are divided into so many groups (or the clusters of a survey), and a last
        column says in which of the folds a row is; weights are scaled to the weighted sample size.
    memory
        The budget in bytes; half of the machine's memory by default.

    Raises
    ------
    MissingnessGraphError
        Some of these columns miss values, and the graph has no mechanism for them.
    """
    with observations(data, graph.network, memory_budget(memory)) as rows:
        look = rows.look()
        graph.check_partially([n for n in look.hidden(graph.network) if n in columns], columns)
        folds = folds_of(None, groups, 0, look.units) if groups else None
        needs = Needs((), rows=(columns,), folds=folds)
        scale = look.scale if groups else 1.0
        found = rows.gather(Gathering(needs, graph.network, scale=scale))
    return found.distinct[columns], found.folds

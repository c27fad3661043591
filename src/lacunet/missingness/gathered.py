"""The rows that a verdict is carried out on: distinct ones over a few columns, of any data."""

from __future__ import annotations

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
        folds = folds_of(None, groups, 0, look.units) if groups else None
        needs = Needs((), rows=(columns,), folds=folds)
        scale = look.scale if groups else 1.0
        found = rows.gather(Gathering(needs, graph.network, scale=scale))
    return found.distinct[columns], found.folds

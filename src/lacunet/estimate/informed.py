"""What informed deletion groups rows by: a family's observed part and a separator."""

from __future__ import annotations

from collections.abc import Sequence

from lacunet.estimate.errors import MethodError
from lacunet.estimate.method import Task
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.separator import separator as smallest_separator
from lacunet.model.network import Scope


def informed_grouping(
    left: Scope, observed: Scope, separator: Scope, missingness: MissingnessGraph | None
) -> Scope:
    r"""The variables :math:`Y_o \cup W`: W as given, or the smallest that the graph allows."""
    if missingness is not None:
        separator = smallest_separator(missingness, left, observed)
    return tuple(name for name in observed if name in left or name in separator)


def check_graph(missingness: object) -> None:
    """Refuse what is no missingness graph, such as its text or its path."""
    if not isinstance(missingness, MissingnessGraph):
        raise MethodError.not_a_graph(missingness)


def check_separator(
    task: Task, separator: Sequence[str], missingness: MissingnessGraph | None
) -> None:
    """Refuse a separator that the data do not always show, or a graph that is not theirs."""
    if missingness is not None:
        if separator:
            raise MethodError.separator_and_graph()
        check_graph(missingness)
        missingness.check_network(task.network)
        missingness.check_data(task.table)
    for name in separator:
        missing = task.table.missing_of[task.network.known(name)]
        if missing:
            raise MethodError.separator_not_observed(name, missing)

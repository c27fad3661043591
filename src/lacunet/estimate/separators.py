"""The variables that informed deletion groups by."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lacunet.estimate.errors import MethodError
from lacunet.estimate.method import Task
from lacunet.model.network import Scope


def grouping_by(task: Task, separator: Sequence[str]) -> Callable[[Scope], Scope]:
    r"""For each family, its fully observed part and the separator: :math:`Y_o \cup W`."""
    table = task.table
    for name in separator:
        task.network.known(name)
        if table.missing_of[name]:
            raise MethodError.separator_not_observed(name, table.missing_of[name])

    def given(family: Scope) -> Scope:
        wanted = {*separator, *(name for name in family if not table.missing_of[name])}
        return tuple(name for name in table.variables if name in wanted)

    return given

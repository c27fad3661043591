"""What each CPT that EM gives rests on."""

from __future__ import annotations

import numpy as np

from lacunet.estimands.deletion import latex_name
from lacunet.estimate.cpts import effective_size
from lacunet.estimate.method import FamilyReport, Task
from lacunet.model.network import Scope
from lacunet.statistics.counts import Tally
from lacunet.wording import counted

LOOPY = "its expected counts are approximate: loopy belief propagation"


def family_reports(
    task: Task, unseen_of: dict[str, int], loopy_families: frozenset[str]
) -> dict[str, FamilyReport]:
    """The report of every family.

    A row enters the estimate of a family if it shows any of the family's variables; one that
    shows none only repeats what the other rows say. What rows that show a part add cannot be
    told from weights, so the effective size counts only those that show all: it is a floor.
    """
    return {
        name: _report(task, name, unseen_of[name], name in loopy_families)
        for name in task.network.variables
    }


def _report(task: Task, name: str, unseen: int, is_loopy: bool) -> FamilyReport:
    network, table = task.network, task.table
    family = network.family(name)
    whole = table.is_shown(family)
    shown = int(np.count_nonzero(whole))
    weights = np.ones(shown) if table.weights is None else table.weights[whole]
    warnings = []
    if shown == 0:
        warnings.append("no row shows the whole family")
    if is_loopy:
        warnings.append(LOOPY)
    if unseen:
        warnings.append(f"{counted(unseen, 'parent configuration')} unseen: the prior alone")
    given = f" | {', '.join(network.parents(name))}" if network.parents(name) else ""
    return FamilyReport(
        name,
        network.parents(name),
        f"P({name}{given}) of highest posterior given all rows (EM)",
        _latex(name, network.parents(name)),
        shown,
        int(np.count_nonzero(table.shows_any(family))),
        effective_size(Tally(weights, weights, weights * weights)),
        unseen=unseen,
        warnings=tuple(warnings),
    )


def _latex(name: str, parents: Scope) -> str:
    given = ", ".join(map(latex_name, parents))
    left = rf"{latex_name(name)} \mid {given}" if parents else latex_name(name)
    return rf"\arg\max_\theta \Pr(\theta \mid D_\mathrm{{observed}}), \ \Pr({left})"

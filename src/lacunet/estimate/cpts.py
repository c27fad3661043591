"""From the joint of each family to its CPT and its report: the last stretch of the road."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lacunet.estimands.deletion import Estimand
from lacunet.estimate.method import FamilyReport, Learned, Task, posterior_mode
from lacunet.model.network import FloatArray, Scope
from lacunet.statistics.counts import Tally
from lacunet.wording import counted


@dataclass(frozen=True)
class Joint:
    """The estimate of a family's joint, and what it rests on.

    ``entering`` holds the weights with which rows enter the estimate, for the effective
    sample size.
    """

    table: FloatArray
    rows_shown: int
    rows_used: int
    entering: Tally
    estimand: Estimand
    fallback_mass: float = 0.0
    fallback: str = ""


def learn_families(task: Task, joint_of: Callable[[Scope], Joint]) -> Learned:
    """Turn the estimate of every family into its CPT, one family at a time."""
    tables, reports = {}, {}
    variables = task.network.variables
    for done, name in enumerate(variables):
        task.progress("estimating", done, len(variables), name)
        joint = joint_of(task.network.family(name))
        tables[name], unseen = posterior_mode(joint.table, task.table.total, task.prior)
        reports[name] = family_report(name, task.network.parents(name), joint, unseen)
    task.progress("estimating", len(variables), len(variables))
    return Learned(tables, reports)


def family_report(name: str, parents: Scope, joint: Joint, unseen: int) -> FamilyReport:
    """What a CPT rests on, with a warning for everything the user should not overlook."""
    warnings = []
    if joint.rows_shown == 0:
        warnings.append("no row shows the whole family")
    if joint.fallback_mass > 0:
        warnings.append(f"{joint.fallback_mass:.1%} of the mass fell back on {joint.fallback}")
    if unseen and parents:
        warnings.append(f"{counted(unseen, 'parent configuration')} unseen: the prior alone")
    elif unseen:
        warnings.append("no row says anything about it: the prior alone")
    return FamilyReport(
        name,
        parents,
        joint.estimand.text,
        joint.estimand.latex,
        joint.rows_shown,
        joint.rows_used,
        effective_size(joint.entering),
        joint.fallback_mass,
        joint.fallback if joint.fallback_mass > 0 else "",
        unseen,
        tuple(warnings),
    )


def effective_size(entering: Tally) -> float:
    r"""The number of equally weighted rows that would know as much (Kish).

    .. math::
        n_\mathrm{eff} = \frac{(\sum_r w_r)^2}{\sum_r w_r^2}
    """
    squares = float(entering.squares.sum())
    return float(entering.weights.sum()) ** 2 / squares if squares > 0 else 0.0

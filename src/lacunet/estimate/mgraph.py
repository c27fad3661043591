r"""Learning with a missingness graph: every family by the estimand that recovers it.

The graph decides for each CPT whether it is recoverable, and how; MNAR graphs included.
Pseudo-counts go on effective size times estimate,

.. math::
    \theta(x \mid u) \propto n_{\mathrm{eff}} \, P(u) P(x \mid u) + (\alpha - 1),

so that rows with large weights count for what they tell.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from lacunet.estimands.rows import distinct_rows
from lacunet.estimate.deletion.by_groups import check_graph
from lacunet.estimate.method import FamilyReport, Learned, Task, posterior_mode
from lacunet.missingness.errors import NoRowsError, NotRecoverableError
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.recover.answers import recover_families
from lacunet.missingness.verdict import Estimation, Verdict, columns_needed, estimate
from lacunet.model.network import FloatArray


@dataclass(frozen=True)
class Mgraph:
    """Recover what the missingness graph lets recover.

    ``otherwise`` says what becomes of the other families: "refuse" (an error that names
    family and reason), "prior" (the CPT holds the prior alone), or the name of a method.
    Both of the latter are marked in the reports. They also stand in where an estimand finds no
    rows, or the data contradict it. ``effort`` is how long to search for an estimand of each
    family, relative to the usual.
    """

    missingness: MissingnessGraph
    otherwise: str = "refuse"
    effort: float = 1.0
    name: ClassVar[str] = "mgraph"

    def __post_init__(self) -> None:
        check_graph(self.missingness)
        if self.otherwise not in ("refuse", "prior"):
            from lacunet.estimate.registry import method_named

            method_named(self.otherwise)  # an unknown name is refused before any work

    def learn(self, task: Task) -> Learned:
        """Learn the CPT of every variable, or refuse."""
        self.missingness.check_network(task.network)
        self.missingness.check_data(task.table)
        verdicts = recover_families(self.missingness, self.effort)
        lost = [name for name, verdict in verdicts.items() if not verdict.is_recoverable]
        if lost and self.otherwise == "refuse":
            first = verdicts[lost[0]]
            raise NotRecoverableError.family(lost[0], first.status, first.why, len(lost) - 1)
        tables, families = {}, {}
        without: dict[str, str] = {}  # families without an estimate, and why
        for at, (name, verdict) in enumerate(verdicts.items()):
            task.progress("families", at, len(verdicts), name)
            try:
                tables[name], families[name] = recovered(task, verdict)
            except NoRowsError as error:
                without[name] = error.message
            except NotRecoverableError:
                without[name] = f"{verdict.status}: {verdict.why}"
        task.progress("families", len(verdicts), len(verdicts))
        stand_in = self._stand_in(task) if without else None
        for name, why in without.items():
            if stand_in is None:
                tables[name], families[name] = _prior(task, verdicts[name], why)
            else:
                tables[name] = stand_in.tables[name]
                families[name] = _marked(stand_in.families[name], self.otherwise, why)
        order = task.network.variables
        return Learned({n: tables[n] for n in order}, {n: families[n] for n in order})

    def _stand_in(self, task: Task) -> Learned | None:
        if self.otherwise in ("refuse", "prior"):
            return None
        from lacunet.estimate.registry import method_named

        return method_named(self.otherwise).learn(task)


def recovered(task: Task, verdict: Verdict) -> tuple[FloatArray, FamilyReport]:
    """The CPT of a recoverable family, and what it rests on.

    Raises
    ------
    NotRecoverableError
        There is no estimand, no row that shows what it needs, or the data contradict it.
    """
    result = estimate(verdict, distinct_rows(task.table, columns_needed(verdict)))
    if not result.is_founded:
        raise NoRowsError(result.warnings[0])
    share = result.given_share[..., None]
    joint = np.where(np.isnan(result.table), 0.0, result.table) * share
    table, unseen = posterior_mode(joint, result.effective_size, task.prior)
    return table, _report(verdict, result, unseen)


def _report(verdict: Verdict, result: Estimation, unseen: int) -> FamilyReport:
    warnings = result.warnings
    if unseen:
        warnings += (f"{unseen} parent configurations have no data: their rows are the prior",)
    return FamilyReport(
        verdict.target[0],
        verdict.given,
        result.estimand,
        result.latex,
        result.rows_shown,
        result.rows_used,
        result.effective_size,
        unseen=unseen,
        warnings=warnings,
    )


def _rows_shown(task: Task, verdict: Verdict) -> int:
    return int(np.count_nonzero(task.table.is_shown((*verdict.given, *verdict.target))))


def _prior(task: Task, verdict: Verdict, warning: str) -> tuple[FloatArray, FamilyReport]:
    """The CPT of a family about which nothing is known: the prior's, marked as such."""
    name, parents = verdict.target[0], verdict.given
    shape = task.network.shape((*parents, name))
    report = FamilyReport(
        name,
        parents,
        "the prior",
        "",
        _rows_shown(task, verdict),
        0,
        0.0,
        1.0,
        "prior",
        int(np.prod(shape[:-1], dtype=np.int64)),
        (warning,),
    )
    return np.full(shape, 1 / shape[-1]), report


def _marked(own: FamilyReport, otherwise: str, warning: str) -> FamilyReport:
    return replace(own, fallback_mass=1.0, fallback=otherwise, warnings=(warning, *own.warnings))

"""One face for the expectation, exact or loopy, over the same compiled problems.

What does the work is imported where it begins: who needs no expectation does not wait for it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING, Literal

import numpy as np

from lacunet.counts.distinct import ascending
from lacunet.counts.em_problems.compile import Problems
from lacunet.counts.em_problems.ragged import Integers, concatenated
from lacunet.limits import NEVER, Deadline
from lacunet.network.network import FloatArray
from lacunet.progress import Progress, silent

if TYPE_CHECKING:
    from lacunet.inference.expectation.expect import Expectation
    from lacunet.inference.expectation.expectation_plan import EvaluationPlan
    from lacunet.inference.loopy import LoopyPlan

Inference = Literal["exact", "bp"]


@dataclass(frozen=True)
class Engine:
    r"""Compiled problems, laid out for expectations.

    Where the rows are a selection, their likelihood is that given that they were recorded,

    .. math:: \sum_i \log P(row_i, R_* = 1) - n \log P(R_* = 1)

    and those that were not are expected to be :math:`n P(R_* = 0) / P(R_* = 1)` more, with the law
    that the network has given :math:`R_* = 0`: ``unrecorded`` has one such row.
    """

    plan: EvaluationPlan  # the problems that are solved exactly
    loopy: LoopyPlan  # those beyond the budget
    loopy_families: frozenset[str]  # whose expected counts are approximate
    unrecorded: Engine | None = None

    @property
    def reads(self) -> float:
        """The cells that an expectation multiplies: what it costs."""
        return self.plan.reads + self.loopy.reads

    @property
    def problems(self) -> Problems:
        """What the engine was made for."""
        return self.plan.problems

    def expect(
        self,
        cells: FloatArray,
        deadline: Deadline = NEVER,
        messages: tuple[FloatArray, ...] = (),
    ) -> Expectation:
        """The expectation given the cells of all CPTs.

        Parameters
        ----------
        messages
            Those of an expectation at other cells, for loopy propagation to begin with.
        """
        from lacunet.inference.expectation.expect import expect
        from lacunet.inference.loopy import loopy_expect

        parts = np.ones(self.problems.parts)  # all of them
        exact = expect(self.plan, cells, parts, deadline)
        expected = exact + loopy_expect(self.loopy, cells, parts, deadline, messages)
        if self.unrecorded is None:
            return expected
        lost = self.unrecorded.expect(cells, deadline)
        totals = self.problems.totals  # n, for each part of the data
        share = float(np.exp(lost.log_likelihoods[0]))  # P(R_* = 0)
        return replace(
            expected,
            counts=expected.counts + float(totals.sum()) * share / (1 - share) * lost.counts,
            log_likelihoods=expected.log_likelihoods - totals * np.log1p(-share),
        )

    def log_likelihoods(
        self,
        cells: FloatArray,
        deadline: Deadline = NEVER,
        messages: tuple[FloatArray, ...] = (),
    ) -> FloatArray:
        """The observed-data log-likelihood of each part, approximate where the expectation is."""
        from lacunet.inference.expectation.expect import log_likelihoods
        from lacunet.inference.loopy import loopy_expect

        exact = log_likelihoods(self.plan, cells, deadline)
        none = np.zeros(self.problems.parts)
        logs = exact + loopy_expect(self.loopy, cells, none, deadline, messages).log_likelihoods
        if self.unrecorded is None:
            return logs
        (lost,) = self.unrecorded.log_likelihoods(cells, deadline)
        return np.asarray(logs - self.problems.totals * np.log1p(-np.exp(lost)))


def engine_of(
    problems: Problems,
    memory: float,
    inference: Inference = "exact",
    progress: Progress = silent,
    deadline: Deadline = NEVER,
    most_cells: float = inf,
) -> Engine:
    """Lay out the problems: all for loopy propagation, or those beyond the budget only.

    An exact expectation computes at most so many cells of large cliques; see `plan_of`.
    """
    from lacunet.inference.expectation.expectation_plan import EvaluationPlan, plan_of
    from lacunet.inference.loopy import loopy_plan_of

    if inference == "bp":
        plan = EvaluationPlan(problems, (), np.arange(len(problems)))
    else:
        plan = plan_of(problems, memory, progress, deadline, most_cells)
    loopy = loopy_plan_of(problems, plan.left_out, deadline)
    return Engine(plan, loopy, _families(problems, plan.left_out))


def _families(problems: Problems, chosen: Integers) -> frozenset[str]:
    """The families that touch the components of the chosen problems."""
    from lacunet.inference.expectation.steps import touching

    layout = problems.factors.layout
    components = ascending(problems.component[chosen])
    members = problems.members.take(components)
    boundaries = problems.boundaries.take(components)
    _, family = touching(layout, members, concatenated(members, boundaries))
    names = layout.network.variables
    return frozenset(names[index] for index in ascending(family) if index < len(names))

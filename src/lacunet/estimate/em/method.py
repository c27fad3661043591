r"""EM that reads the data once.

The rows are compiled into counts that never change and problems
(`lacunet.statistics.problems.compile`); from then on an iteration is the expected counts over
the problems, and the line that turns counts into CPTs:

.. math::
    E[n(u, x)] = n_\mathrm{shown}(u, x) + \sum_c w_c \Pr(u, x \mid b_c, \theta), \qquad
    \theta'(x \mid u) \propto E[n(u, x)] + (\alpha - 1)

The posterior of the observed data never goes down, and where it ends depends on where it
begins: by default at the closed form, which is consistent under MAR. What EM does with the
problems is in `lacunet.estimate.em.fit`; here the data are brought to it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, nan
from operator import index
from time import monotonic
from typing import ClassVar

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.deadline import Deadline, OutOfTimeError
from lacunet.estimate.em.climb import Climb
from lacunet.estimate.em.fit import AGREEMENT, Fit, Options, Seeds, Stop, fit
from lacunet.estimate.em.report import family_reports
from lacunet.estimate.em.start import Rows, cells_about, random_cells, tables_of
from lacunet.estimate.errors import MethodError
from lacunet.estimate.method import Ended, Learned, Task
from lacunet.inference.engine import Inference, engine_of
from lacunet.model.network import FloatArray, Network, Scope
from lacunet.statistics.problems.compile import compile_problems
from lacunet.statistics.problems.layout import Layout, layout_of
from lacunet.statistics.split import split_weights

SEED_PRIOR = 2.0  # smooths a seed where the prior itself does not: EM never leaves a zero


@dataclass(frozen=True)
class EM:
    """Maximum a posteriori by expectation maximisation.

    Parameters
    ----------
    seed
        Where to start: the name of a method, a network with CPTs, or "random".
    stop
        "converge" stops when no parameter moves by ``tolerance``; a number makes that many
        steps; "heldout" makes as many as rows put aside support, then starts anew on all rows.
    restarts
        The number of starts: the seed, perturbed seeds and random CPTs; the best posterior is
        kept. None makes several where an iteration is cheap, one where it is not.
    time_limit
        Seconds after which the best parameters so far are returned.
    inference
        "exact" leaves only components beyond the memory budget to loopy belief propagation,
        "bp" all of them.
    heldout_share
        The share of the rows that "heldout" puts aside.
    accelerate
        Whether steps towards convergence are extrapolated (SQUAREM).
    """

    name: ClassVar[str] = "em"
    seed: str | Network = "factored-mar"
    stop: Stop = "converge"
    tolerance: float = 1e-4
    max_iterations: int = 500
    restarts: int | None = None
    time_limit: float | None = None
    inference: Inference = "exact"
    heldout_share: float = 0.2
    accelerate: bool = True

    def __post_init__(self) -> None:
        if self.stop not in ("converge", "heldout"):
            try:
                object.__setattr__(self, "stop", index(self.stop))  # type: ignore[arg-type]
            except TypeError:
                known = ("converge", "heldout", "a whole number of steps")
                raise MethodError.choice("stop", self.stop, known) from None
        if self.inference not in ("exact", "bp"):
            raise MethodError.choice("inference", self.inference, ("exact", "bp"))
        steps = self.stop if isinstance(self.stop, int) else 0
        for option, value, least, most in (
            ("stop", steps, 0, inf),
            ("tolerance", self.tolerance, 0, inf),
            ("max_iterations", self.max_iterations, 0, inf),
            ("restarts", 1 if self.restarts is None else self.restarts, 1, inf),
            ("time_limit", self.time_limit or 0, 0, inf),
            ("heldout_share", self.heldout_share, 0.01, 0.99),
        ):
            if not least <= value <= most:
                raise MethodError.out_of_range(option, value, least, most)

    @property
    def options(self) -> Options:
        """How far EM goes."""
        return Options(
            self.stop, self.tolerance, self.max_iterations, self.restarts, self.accelerate
        )

    def learn(self, task: Task) -> Learned:
        """Learn all CPTs; how it ended is in the result."""
        began = monotonic()
        deadline = Deadline.within(self.time_limit)
        whole, notes = self._seed(task)
        hidden = never_shown(task.table) if self.seed != "random" else ()
        layout = layout_of(task.network.with_tables(None))
        redrawn = None
        if hidden and isinstance(self.seed, str):
            redrawn = cells_about(layout, hidden)
            whole = np.where(redrawn, random_cells(Rows.of(layout), task.rng), whole)
            notes += (f"no row shows {_listed(hidden)}: EM starts there at random",)
        loopy: frozenset[str] = frozenset()
        try:
            weights = self._split(task)
            problems = compile_problems(
                task.network, task.table, weights, memory=task.memory / 4, deadline=deadline
            )
            engine = engine_of(problems, task.memory, self.inference, task.progress, deadline)
            loopy = engine.loopy_families
            learning = whole
            if weights is not None and isinstance(self.seed, str):
                learning, _ = self._seed(replace(task, table=weighted(task.table, weights[:, 0])))
            seeds = Seeds(whole, learning, redrawn).with_redrawn(whole)
            found = fit(
                engine,
                seeds,
                task.prior,
                self.options,
                rng=task.rng,
                deadline=deadline,
                progress=task.progress,
            )
        except OutOfTimeError:
            found = Fit(Climb.at_start(whole, "time limit"))
        except KeyboardInterrupt:
            found = Fit(Climb.at_start(whole, "interrupted"))
        ended = _ended(self, found, monotonic() - began, notes, loopy)
        reports = family_reports(task, _unseen(layout, found.climb.counts), loopy)
        return Learned(layout.tables(found.climb.cells), reports, ended)

    def _seed(self, task: Task) -> tuple[FloatArray, tuple[str, ...]]:
        """The cells to start from, and what the user should know about them."""
        from lacunet.estimate.registry import method_named

        layout = layout_of(task.network.with_tables(None))
        notes: tuple[str, ...] = ()
        if isinstance(self.seed, Network):
            return layout.flat(tables_of(self.seed, task.network)), ()
        if self.seed == "random":
            return random_cells(Rows.of(layout), task.rng), ()
        if task.prior <= 1:
            notes = (f"the seed was smoothed with prior {SEED_PRIOR:g}: EM never leaves a zero",)
            task = replace(task, prior=SEED_PRIOR)
        return layout.flat(method_named(self.seed).learn(task).tables), notes

    def _split(self, task: Task) -> FloatArray | None:
        """The weights of what is learned from and of what is put aside."""
        if self.stop != "heldout":
            return None
        shares = np.array([1 - self.heldout_share, self.heldout_share])
        seed = int(task.rng.integers(2**62))
        weights = split_weights(task.network, task.table, shares, seed)
        if not weights.any(axis=0).all():
            raise MethodError.too_few_rows(task.table.rows)
        return weights


@dataclass(frozen=True)
class OneStep(EM):
    """The closed form, then one exact expectation: the classical one-step estimator."""

    name: ClassVar[str] = "one-step"
    stop: Stop = 1


@dataclass(frozen=True)
class LoopyEM(EM):
    """EM whose expectations are all by loopy belief propagation."""

    name: ClassVar[str] = "em-bp"
    inference: Inference = "bp"


def never_shown(table: EncodedTable) -> Scope:
    """The variables that no row shows."""
    return tuple(name for name in table.variables if table.missing_of[name] == table.rows)


def weighted(table: EncodedTable, weights: FloatArray) -> EncodedTable:
    """The rows that weigh anything, with these weights."""
    return replace(table, weights=weights).take(weights > 0)


def _listed(names: Scope) -> str:
    return ", ".join(names[:5]) + (" and others" if len(names) > 5 else "")


def _ended(
    method: EM, found: Fit, seconds: float, notes: tuple[str, ...], loopy: frozenset[str]
) -> Ended:
    at = found.climb
    if found.is_of_a_part:
        notes += ("it ended early: the rows put aside have no part in it",)
    if loopy:
        notes += (f"loopy belief propagation touched {len(loopy)} families",)
    return Ended(
        at.reason,
        at.iterations,
        seconds,
        nan if found.is_of_a_part else float(at.log_likelihoods.sum()),
        nan if found.is_of_a_part else at.log_posterior,
        at.trace,
        (*notes, *_starts_in_words(method, found)),
        found.heldout,
    )


def _starts_in_words(method: EM, found: Fit) -> tuple[str, ...]:
    if found.starts > 1:
        words = (
            f"{found.starts} starts were made, {found.agreed} of them ended within "
            f"{AGREEMENT:g} nats of the best posterior"
        )
        if found.gain > AGREEMENT:
            words += f"; the seed alone would have ended {found.gain:.1f} nats lower"
        return (words,)
    if method.restarts is None and not isinstance(method.stop, int) and found.climb.iterations:
        return ("only one start was made, since an iteration is expensive: restarts= makes more",)
    return ()


def _unseen(layout: Layout, counts: FloatArray | None) -> dict[str, int]:
    """How many parent configurations of each family have no expected count at all."""
    if counts is None:
        return dict.fromkeys(layout.network.variables, 0)
    return {
        name: int(np.count_nonzero(table.sum(axis=-1) == 0))
        for name, table in layout.tables(counts).items()
    }

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

from dataclasses import InitVar, dataclass, field, replace
from operator import index
from time import monotonic
from typing import ClassVar

import numpy as np

from lacunet.deadline import OutOfTimeError
from lacunet.estimate.cpts import HighestPosterior, family_report
from lacunet.estimate.deletion.forms import effective_size, shows_any
from lacunet.estimate.em.climb import CUT_SHORT, Climb
from lacunet.estimate.em.fit import Fit, Options, Seeds, Stop, Visit, fit
from lacunet.estimate.em.start import (
    START_PRIOR,
    Rows,
    cells_about,
    random_cells,
    start_cells,
    starting_form,
)
from lacunet.estimate.method import (
    AGREEMENT,
    Ended,
    FamilyReport,
    Learned,
    MethodError,
    Plan,
    Setting,
    agreed,
    check_options,
    option,
)
from lacunet.inference.engine import Inference, engine_of
from lacunet.model.network import FloatArray, Network, Scope
from lacunet.statistics.gather import Statistics
from lacunet.statistics.problems.layout import Layout, layout_of
from lacunet.wording import counted, first_of

LOOPY = "its expected counts are approximate: loopy belief propagation"


def steps(stop: object) -> Stop:
    """When to stop, as typed or given: a name, or a number of steps."""
    if stop in ("converge", "heldout"):
        return stop
    try:
        number = int(stop) if isinstance(stop, str) else index(stop)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = -1
    if number < 0:
        raise MethodError(
            f"stop is {stop!r}, but must be 'converge', 'heldout' or a whole number of steps."
        )
    return number


def truth(text: str) -> bool:
    """Yes or no, as typed."""
    if text.lower() not in ("yes", "no", "true", "false"):
        raise MethodError(f"{text!r} is neither 'yes' nor 'no'.")
    return text.lower() in ("yes", "true")


@dataclass(frozen=True)
class EM:
    """Maximum a posteriori by expectation maximisation.

    Parameters
    ----------
    start
        Where to start: the name of a closed form, a network with CPTs, or "random". ``seed=``
        is accepted for it.
    stop
        "converge" stops when no parameter moves by ``tolerance``; a number makes that many
        steps; "heldout" converges unless held-out rows clearly speak for fewer steps, and
        averages optima that the data hardly tell apart.
    restarts
        The number of starts: the first, perturbed and random ones; the best posterior is kept.
        None makes several where an iteration is cheap, one where it is not.
    time_limit
        Seconds after which the best parameters so far are returned.
    inference
        "exact" leaves only components beyond the memory budget to loopy belief propagation,
        "bp" all of them.
    heldout_share
        The share of the rows that "heldout" holds out.
    accelerate
        Whether steps towards convergence are extrapolated (Anderson acceleration).
    visit
        Called with where EM is, at each start and after each iteration.
    """

    name: ClassVar[str] = "em"
    start: str | Network = option(
        "factored-mar",
        "where EM starts: a closed form, a network file, or 'random'",
        metavar="S",
    )
    stop: Stop = option(
        "converge", "'converge', 'heldout', or a number of steps", kind=steps, metavar="S"
    )
    tolerance: float = option(
        1e-4, "stop when no parameter changes by more than this", kind=float, least=0
    )
    max_iterations: int = option(500, "maximum number of iterations", kind=int, least=0)
    restarts: int | None = option(
        None,
        "number of starts; the best posterior is kept (by default several if iterations are fast)",
        kind=int,
        least=1,
    )
    time_limit: float | None = option(
        None, "time limit in seconds; the best so far is returned", kind=float, least=0
    )
    inference: Inference = option(
        "exact", "exact where memory allows, or loopy belief propagation", choices=("exact", "bp")
    )
    heldout_share: float = option(
        0.3,
        "share of the rows held out when --stop is 'heldout'",
        kind=float,
        least=0.01,
        most=0.99,
    )
    accelerate: bool = option(
        True, "whether steps towards convergence are extrapolated", kind=truth, metavar="yes|no"
    )
    visit: Visit | None = field(default=None, repr=False, compare=False)
    seed: InitVar[str | Network | None] = None

    def __post_init__(self, seed: str | Network | None) -> None:
        if seed is not None:
            object.__setattr__(self, "start", seed)
        object.__setattr__(self, "stop", steps(self.stop))
        check_options(self)
        starting_form(self.start)  # refuses what cannot be started from

    @property
    def bytes_per_cell(self) -> int:
        """What the estimate of a family takes at once for each of its cells."""
        return starting_form(self.start).bytes_per_cell

    def plan(self, network: Network, partially: Scope | None) -> Plan:
        """The plan of the closed form that EM starts from, and the problems."""
        start = starting_form(self.start).plan(network, partially)
        formula = {
            name: replace(family, formula=HighestPosterior(name, family.parents), note="")
            for name, family in start.families.items()
        }
        if isinstance(self.start, Network) or self.start == "random":
            begins = "chance" if self.start == "random" else "a given network"
            intention = f"{self.name} starts from {begins}; below, what available cases would give"
        else:
            intention = f"{self.name} starts from {self.start}, whose estimands are below"
        share = self.heldout_share if self.stop == "heldout" else None
        return replace(
            start,
            method=self.name,
            families=formula,
            needs=replace(start.needs, problems=True, heldout=share),
            intention=intention,
            start=start,
        )

    def estimate(self, plan: Plan, statistics: Statistics, setting: Setting) -> Learned:
        """All CPTs; how it ended is in the result."""
        began = monotonic()
        layout = layout_of(plan.network.with_tables(None))
        whole = start_cells(self.start, plan, statistics, setting)
        notes: tuple[str, ...] = ()
        if isinstance(self.start, str) and self.start != "random" and setting.prior <= 1:
            notes = (f"the start was smoothed with prior {START_PRIOR:g}: EM never leaves a zero",)
        redrawn = None
        hidden = statistics.never_shown
        if hidden and isinstance(self.start, str) and self.start != "random":
            redrawn = cells_about(layout, hidden)
            whole = np.where(redrawn, random_cells(Rows.of(layout), setting.rng), whole)
            notes += (f"no row shows {first_of(hidden, 5)}: EM starts there at random",)
        loopy: frozenset[str] = frozenset()
        reads = 0.0
        try:
            if statistics.problems is None:  # cut short while they were compiled
                raise KeyboardInterrupt if statistics.cut == "interrupted" else OutOfTimeError
            learning = whole
            if self.stop == "heldout":
                learning = self._without_held_out(plan, statistics, setting)
            deadline, progress = setting.deadline, setting.progress
            engine = engine_of(
                statistics.problems, setting.memory, self.inference, progress, deadline
            )
            loopy, reads = engine.loopy_families, engine.reads
            found = fit(
                engine,
                Seeds(whole, learning, redrawn, self.start == "random"),
                setting.prior,
                Options(
                    self.stop, self.tolerance, self.max_iterations, self.restarts, self.accelerate
                ),
                rng=setting.rng,
                deadline=deadline,
                progress=progress,
                visit=self.visit,
            )
        except OutOfTimeError:
            found = Fit(Climb.at_start(whole, "time limit"))
        except KeyboardInterrupt:
            found = Fit(Climb.at_start(whole, "interrupted"))
        ended = _ended(self, found, monotonic() - began, notes, loopy)
        reports = _reports(plan, statistics, setting, _unseen(layout, found.climb.counts), loopy)
        why = _why(self, found, hidden, reads) if self.stop == "heldout" else ""
        return Learned(layout.tables(found.climb.cells), reports, ended, why)

    def _without_held_out(self, plan: Plan, statistics: Statistics, setting: Setting) -> FloatArray:
        """The cells to start from where held-out rows have no part."""
        if statistics.learning is None:
            raise MethodError(
                f"{counted(statistics.rows, 'row')}: too few to hold some out.",
                'choose stop="converge" or a number of steps.',
            )

        def checked(stage: str, done: float, total: float | None, note: str = "") -> None:
            setting.deadline.check()
            setting.progress(stage, done, total, note)

        return start_cells(
            self.start, plan, statistics.learning, replace(setting, progress=checked)
        )


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


def _ended(
    method: EM, found: Fit, seconds: float, notes: tuple[str, ...], loopy: frozenset[str]
) -> Ended:
    at = found.climb
    if loopy:
        notes += (f"loopy belief propagation touched {counted(len(loopy), 'family', 'families')}",)
    return Ended(
        at.reason,
        at.iterations,
        seconds,
        float(at.log_likelihoods.sum()),
        at.log_posterior,
        at.trace,
        (*notes, *_starts_in_words(method, found)),
        found.heldout,
        found.starts,
    )


def _why(method: EM, found: Fit, hidden: Scope, reads: float) -> str:
    """What was done and why, with the forecast that it rests on; no full stop."""
    start = method.start if isinstance(method.start, str) else "the given network"
    at = found.climb
    steps = counted(at.iterations, "EM step")
    done = f"{start} and {steps} of {reads:,.0f} cells each" if at.iterations else f"{start} alone"
    if hidden and at.iterations:
        done += f", at random where no row shows {first_of(hidden, 5)}"
    if at.reason == "held-out peak":
        margin = f"{found.margin:.1f} nats more likely than by EM to convergence"
        return f"{done}, since held-out rows are {margin}"
    if at.reason in CUT_SHORT:
        cut = "time was up" if at.reason == "time limit" else "it was interrupted"
        return f"{done}: {cut} before {'convergence' if at.iterations else 'the first EM step'}"
    if at.reason == "optima averaged":
        return f"{done}, the mean of several starts, since the data hardly tell their optima apart"
    if not found.heldout:
        return f"{done}, to convergence, from the best of {counted(len(found.starts), 'start')}"
    return f"{done}, to convergence, since held-out rows do not clearly speak for another way"


def _starts_in_words(method: EM, found: Fit) -> tuple[str, ...]:
    if len(found.starts) > 1:
        words = (
            f"{len(found.starts)} starts were made, {agreed(found.starts)} of them ended within "
            f"{AGREEMENT:g} nats of the best posterior"
        )
        if found.gain > AGREEMENT:
            words += f"; the first start alone would have ended {found.gain:.1f} nats lower"
        if found.climb.reason == "optima averaged":
            words += "; the optima were averaged, each weighed by its posterior"
        return (words,)
    if method.restarts is None and not isinstance(method.stop, int) and found.climb.iterations:
        return ("only one start was made, since an iteration is expensive: restarts= makes more",)
    return ()


def _reports(
    plan: Plan,
    statistics: Statistics,
    setting: Setting,
    unseen_of: dict[str, int],
    loopy: frozenset[str],
) -> dict[str, FamilyReport]:
    """A row enters the estimate of a family if it shows any of the family's variables."""
    reports = {}
    for name in plan.network.variables:
        counts = statistics.counts[plan.network.family(name)]
        is_plain = not set(counts.scope) & set(plan.partially)  # its CPT is a plain frequency
        reports[name] = family_report(
            plan.families[name],
            counts,
            plan.network,
            setting.prior,
            rows_used=int(counts.tally.take(shows_any(counts)).rows.sum()),
            unseen=unseen_of[name],
            effective_size=effective_size(counts.tally) if is_plain else None,
            warnings=[LOOPY] if name in loopy else [],
        )
    return reports


def _unseen(layout: Layout, counts: FloatArray | None) -> dict[str, int]:
    """How many parent configurations of each family have no expected count at all."""
    if counts is None:
        return dict.fromkeys(layout.network.variables, 0)
    return {
        name: int(np.count_nonzero(table.sum(axis=-1) == 0))
        for name, table in layout.tables(counts).items()
    }

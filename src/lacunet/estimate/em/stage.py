r"""EM as a stage: what was compiled and where to start in, the CPTs of highest posterior out.

The rows are compiled into counts that never change and problems
(`lacunet.statistics.problems.compile`); from then on an iteration is the expected counts over
the problems, and the line that turns counts into CPTs:

.. math::
    E[n(u, x)] = n_\mathrm{shown}(u, x) + \sum_c w_c \Pr(u, x \mid b_c, \theta), \qquad
    \theta'(x \mid u) \propto E[n(u, x)] + (\alpha - 1)

The posterior of the observed data never goes down, and where it ends depends on where it
begins: by default at the closed form, which is consistent under MAR. What EM does with the
problems is in `lacunet.estimate.em.fit`; here the statistics are brought to it.

*Replicates* of the rows are learned by as many steps as all rows made, where their number was asked
for, held-out rows chose it, or a limit cut EM short: chosen anew each time, a step more or less
would count for more than the rows left out. What is drawn at random to start from is what it was
for all rows: else the states of a variable that no row shows would change places. Where EM has
converged, replicates start from where it ended. Where optima were averaged, all of it is done
again.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import isinf
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from lacunet.data.table import EncodedTable, code_type
from lacunet.deadline import OutOfTimeError
from lacunet.estimate.cpts import CptBasis, HighestPosterior, family_report
from lacunet.estimate.deletion.forms import rows_showing_any
from lacunet.estimate.em.climb import CUT_SHORT, Climb
from lacunet.estimate.em.first_fit import fit_and_learn_prior, flat_concentration
from lacunet.estimate.em.fit import Fit, Fitting, Seeds
from lacunet.estimate.em.labels import with_ordered_states
from lacunet.estimate.em.start import (
    START_PRIOR,
    CptRows,
    alike_states,
    cells_about,
    random_cells,
    tables_of,
)
from lacunet.estimate.families import FamilyPlan
from lacunet.estimate.method import AGREEMENT, Ended, Learned, MethodError, Setting, Stage, agreed
from lacunet.estimate.prior import (
    FROM_FIRST_FIT,
    LEARN,
    ONE_PER_CELL,
    AskedPrior,
    LearnedPrior,
    Prior,
    is_given,
    merged,
    prior_of_counts,
    smooths_every_cell,
)
from lacunet.inference.engine import Engine, engine_of
from lacunet.model.network import FloatArray, Network, Scope
from lacunet.statistics.gather import Compiling, Needs, Statistics
from lacunet.statistics.problems.compile import compile_problems
from lacunet.statistics.problems.layout import Layout, layout_of
from lacunet.wording import counted, first_of

if TYPE_CHECKING:
    from lacunet.estimate.em.method import EM

LOOPY = "its expected counts are approximate: loopy belief propagation"
LOOPY_BRANCH = "components exceed the memory budget: loopy belief propagation is used for them"
NO_STEP_BRANCH = "EM makes no step for lack of time: the CPTs that it starts from are kept"
HELDOUT_BRANCH = (
    "held-out rows are clearly more likely after fewer EM steps, or none: only these are made"
)
TOO_FEW_BRANCH = "no row is held out, or all are: it is refused"
MANY_ROWS = 100  # of these some are held out, but for one time in 10^15
STARTS_BRANCH = "EM steps are cheap: EM is run from several starts, and the best end is kept"
AT_RANDOM = "EM starts there at random; states are in order of size, and their names are arbitrary"
SMOOTHED = f"the start was smoothed with prior {START_PRIOR:g}: EM never leaves a zero"
KEPT_SMOOTHED = (
    f"the CPTs hold the pseudo-counts of prior {START_PRIOR:g}, with which the start of EM was "
    "smoothed: no step was made from there. EM to convergence and closed forms have none"
)


@dataclass(frozen=True)
class Climber:
    """EM on a network: what it answers for, and where it starts.

    ``partially`` are the variables with missing values, ``families`` the CPTs that are reported on.
    ``closed`` is the stage of the closed form that EM starts from: it answers for where EM starts
    without held-out rows. ``averages`` if optima that the data hardly tell apart are averaged.
    ``recorded`` is the node that says whether a row was recorded, if rows are a selection.
    """

    em: EM
    network: Network
    partially: Scope
    families: Mapping[str, FamilyPlan]
    closed: Stage | None = None
    averages: bool = False
    recorded: str = ""

    def stage(self) -> Stage:
        """EM from what the stages before have learned; what it does otherwise, by the counts."""
        em, network = self.em, self.network
        by_heldout = em.stop == "heldout"
        branches = (*[STARTS_BRANCH] * em.starts_by_cost, *[HELDOUT_BRANCH] * by_heldout)
        return Stage(
            em.name,
            self.families,
            Needs(network.families, problems=Compiling(network)),
            self.solve,
            branches=() if em.stays_closed else (LOOPY_BRANCH, *branches, NO_STEP_BRANCH),
            is_replicated=em.stop != "converge",
            prior_from=FROM_FIRST_FIT,
        )

    def solve(self, statistics: Statistics, learned: Learned, setting: Setting) -> Learned:
        """All CPTs, and what they rest on; the closed form's reports if EM made no step from it.

        A row enters the estimate of a family if it shows any of the family's variables.
        """
        em, network, began = self.em, self.network, monotonic()
        layout = layout_of(network.with_tables(None))
        fit, engine, prior = self._climbed(layout, statistics, learned, setting)
        climb, seconds = fit.climb, monotonic() - began
        loopy = frozenset() if engine is None else engine.loopy_families
        tables = layout.tables(climb.cells)
        expected = layout.tables(climb.expected) if climb.expected.size else None
        has_moved = climb.iterations or not em.starts_closed
        reports, incomplete = dict(learned.families), set(self.partially)
        hidden = _hidden(network, self.families, statistics)
        for name, family in self.families.items() if has_moved else ():
            counts = statistics.counts_in_sample(network.family(name), 0)
            is_plain = incomplete.isdisjoint(counts.scope)  # its CPT is a plain frequency
            basis = CptBasis(
                rows_used=None if is_plain else rows_showing_any(counts),
                unseen=int((expected[name].sum(axis=-1) == 0).sum()) if expected else 0,
                warnings=[LOOPY] if name in loopy else [],
                hidden=hidden,
            )
            reports[name] = family_report(family, basis, counts, network, prior)
        chooses = em.stop == "heldout" or self.averages
        never = statistics.never_shown if em.starts_closed else ()
        drawn = alike_states(network, learned.tables, never)
        notes: list[str] = []
        if em.starts_closed and not smooths_every_cell(setting.prior):
            notes.append(SMOOTHED if climb.iterations else KEPT_SMOOTHED)
        if latent := [name for name in drawn if name not in statistics.cells_of_sets]:
            notes.append(f"no row shows {first_of(latent, 5)}: {AT_RANDOM}")
        ended = Ended(
            climb.reason,
            climb.iterations,
            seconds,
            float(climb.log_likelihoods.sum()),
            climb.log_posterior,
            climb.trace,
            (*notes, *_notes(em, fit, loopy)),
            fit.heldout,
            fit.starts,
        )
        return replace(
            learned,
            tables=tables,
            families=reports,
            notes=(*learned.notes, *_cut_short(em, ended)),
            ended=ended,
            why=_why(em, fit, engine, drawn) if chooses else "",
            network=network.with_tables(tables),
            engine=engine,
            start=climb.start,
            prior=merged(None, prior, ()),
        )

    def _climbed(
        self, layout: Layout, statistics: Statistics, learned: Learned, setting: Setting
    ) -> tuple[Fit, Engine | None, Prior]:
        """Run EM on what was compiled: what it found, on what, and under which prior.

        Parameters
        ----------
        learned
            Has the tables to start from, if EM starts from a closed form, and what that has
            learned of the prior from the same rows.
        """
        climber = self._replicated(statistics, setting)
        em = climber.em
        seeds = climber._seeds(layout, statistics, learned, setting)
        prior: Prior | None = learned.prior
        if prior is None:
            prior = prior_of_counts(setting.prior, layout.network, statistics)
        if statistics.problems is None:  # stopped before they were compiled
            return Fit(Climb.at_start(seeds.whole, statistics.stopped_by)), None, prior
        deadline, progress = setting.deadline, setting.progress
        engine: Engine | None = None
        try:
            deadline.check()
            problems, folds = statistics.problems, statistics.folds
            if em.stop == "heldout":
                learning = climber._learning(layout, statistics, seeds, setting)
                seeds = replace(seeds, learning=learning)
            if folds is not None:  # what is learned from, and what is held out if anything is
                samples = folds.aside if em.stop == "heldout" else folds.samples[:1]
                problems = problems.sampled(samples)
            engine = engine_of(problems, setting.memory, em.inference, progress, deadline)
            if self.recorded:
                engine = _with_unrecorded(engine, self.recorded, setting, em)
            flat, averages = flat_concentration(prior, layout), climber.averages
            fitting = Fitting(engine, flat, em, setting.rng, deadline, progress, averages)
            if isinstance(prior, LearnedPrior) and _has_first_fit(em, setting.prior):
                is_learned = setting.prior != LEARN
                fit, prior = fit_and_learn_prior(fitting, seeds, prior, is_learned=is_learned)
            else:
                fit = fitting.fit(seeds)
            if setting.whole is None and not isinstance(em.start, Network):
                fit = self._with_ordered_states(fit, layout, statistics, prior)
        except OutOfTimeError:
            fit = Fit(Climb.at_start(seeds.whole, "time limit"))
        except KeyboardInterrupt:
            fit = Fit(Climb.at_start(seeds.whole, "interrupted"))
        return fit, engine, prior

    def _with_ordered_states(
        self, fit: Fit, layout: Layout, statistics: Statistics, prior: Prior
    ) -> Fit:
        """The same with the states of variables that no row shows in an order that data decide.

        Replicates of the rows start from where all rows did, and keep that order. Cells that are
        one of several states say which state is which.
        """
        never = [name for name in statistics.never_shown if name not in statistics.cells_of_sets]
        if not never:
            return fit
        pseudo = flat_concentration(prior, layout) - 1
        return replace(fit, climb=with_ordered_states(fit.climb, layout, pseudo, tuple(never)))

    def _replicated(self, statistics: Statistics, setting: Setting) -> Climber:
        """How a replicate of the rows is learned; all rows as it is."""
        em, whole = self.em, setting.whole
        if whole is None or whole.ended is None:
            return self
        ended = whole.ended
        changes: dict[str, Any] = {}
        if ended.reason == "optima averaged":
            return replace(self, em=replace(em, stop="converge"), averages=True)
        if ended.reason == "held-out peak":
            changes = {"stop": ended.iterations}
        elif ended.is_cut_short:
            changes = {"stop": "converge", "max_iterations": ended.iterations}
        elif em.stop in ("converge", "heldout"):
            changes = {"stop": "converge", "start": whole.network}
        elif em.start != "random" and not statistics.never_shown:  # nothing is drawn
            return self
        return replace(self, em=replace(em, **changes, restarts=1))

    def _seeds(
        self, layout: Layout, statistics: Statistics, learned: Learned, setting: Setting
    ) -> Seeds:
        """The cells to start from."""
        rows, start = CptRows.of(layout), self.em.start
        if isinstance(start, Network):
            whole = rows.normalised(layout.flat(tables_of(start, layout.network)))
            return Seeds(whole, whole)
        if not self.em.starts_closed:
            whole = _drawn(rows, setting)
            return Seeds(whole, whole, is_random=True)
        whole, redrawn = layout.flat(learned.tables), None
        hidden = alike_states(layout.network, learned.tables, statistics.never_shown)
        if hidden:
            redrawn = cells_about(layout, hidden)
            whole = np.where(redrawn, _drawn(rows, setting), whole)
        return Seeds(whole, whole, redrawn)

    def _learning(
        self, layout: Layout, statistics: Statistics, seeds: Seeds, setting: Setting
    ) -> FloatArray:
        """The cells to start from where held-out rows have no part."""
        folds = statistics.folds
        assert folds is not None
        assert folds.learning is not None
        if not can_hold_out(statistics):
            raise MethodError(
                f"{counted(statistics.rows, 'row')}: too few to hold some out.",
                'choose stop="converge" or a number of steps.',
            )
        if self.closed is None or not self.em.starts_closed:
            return seeds.whole

        def checked(stage: str, done: float, total: float | None, note: str = "") -> None:
            setting.deadline.check()
            setting.progress(stage, done, total, note)

        sample = statistics.sample(folds.learning)
        # As EM runs while starts are compared: `lacunet.estimate.em.first_fit`.
        prior = setting.prior if is_given(setting.prior) else ONE_PER_CELL
        given = replace(setting, prior=prior, progress=checked)
        return layout.flat(self.closed.solve(sample, Learned(), given).tables)


def climb_stage(
    em: EM, network: Network, partially: Scope, closed: Stage, *, averages: bool = False
) -> Stage:
    """EM on a network, from what the stage before has learned.

    Parameters
    ----------
    partially
        The variables with missing values.
    closed
        The closed form that EM starts from, or that would estimate the CPTs without EM.
    averages
        Whether optima that the data hardly tell apart are averaged.
    """
    families = closed.families if em.stays_closed else highest_posterior(closed.families)
    return Climber(em, network, partially, families, closed, averages).stage()


def highest_posterior(families: Mapping[str, FamilyPlan]) -> dict[str, FamilyPlan]:
    """The families as EM estimates them."""
    return {
        name: replace(family, formula=HighestPosterior(name, family.parents), note="")
        for name, family in families.items()
    }


def start_stage(closed: Stage, em: EM) -> Stage:
    """A closed form to start from, smoothed where the prior does not: EM never leaves a zero."""
    solve, is_replicated = partial(_smoothed, closed), em.stop != "converge"
    return replace(closed, solve=solve, prior_from="", is_replicated=is_replicated)


def _smoothed(closed: Stage, statistics: Statistics, learned: Learned, setting: Setting) -> Learned:
    if not smooths_every_cell(setting.prior):
        setting = replace(setting, prior=START_PRIOR)
    return closed.solve(statistics, learned, setting)


def _drawn(rows: CptRows, setting: Setting) -> FloatArray:
    """What EM starts from where chance decides; replicates of the rows as all rows did."""
    start = None if setting.whole is None else setting.whole.start
    return random_cells(rows, setting.rng) if start is None else start


def _hidden(network: Network, variables: Container[str], statistics: Statistics) -> set[str]:
    """The variables that no row shows, but one of several states, or what follows from them."""
    never = set(statistics.never_shown)
    informed = set(statistics.cells_of_sets)  # and the parents of what is shown, or informed
    for name in reversed(network.order) if never else ():
        if name in variables and (name not in never or name in informed):
            informed.update(network.parents(name))
    return never & informed


def _with_unrecorded(engine: Engine, recorded: str, setting: Setting, em: EM) -> Engine:
    """The engine that also expects the rows that were not recorded."""
    network = engine.problems.layout.network
    sizes = {name: network.cardinality(name) for name in network.variables}
    columns: dict[str, Any] = {
        name: np.array([size], dtype=code_type(size)) for name, size in sizes.items()
    }
    columns[recorded] = np.zeros(1, dtype=np.uint8)
    problems = compile_problems(network, EncodedTable(sizes, columns))
    lost = engine_of(problems, setting.memory, em.inference, deadline=setting.deadline)
    return replace(engine, unrecorded=lost)


def _has_first_fit(em: EM, asked: AskedPrior) -> bool:
    """Whether EM runs with one pseudo-count per cell first.

    Not under a prior that was learned before, if there is one start, or EM goes on from a network.
    """
    is_free = em.stop in ("converge", "heldout") and not isinstance(em.start, Network)
    return isinstance(asked, str) or (is_free and not is_given(asked))


def can_hold_out(statistics: Statistics) -> bool:
    """Whether some rows are held out, and some are not."""
    assert statistics.folds is not None
    return bool((statistics.folds.aside @ statistics.tally.weights > 0).all())


def _why(em: EM, fit: Fit, engine: Engine | None, drawn: Scope) -> str:
    """What was done and why, with the forecast that it rests on; no full stop."""
    reads = 0.0 if engine is None else engine.reads
    start = em.start if isinstance(em.start, str) else "the given network"
    climb = fit.climb
    steps = counted(climb.iterations, "EM step")
    each = f" (each costs {reads:,.0f} reads of table cells)" if round(reads) else ""
    done = f"{start} and {steps}{each}" if climb.iterations else f"{start} alone"
    if drawn and climb.iterations:
        done += f", at random where no row shows {first_of(drawn, 5)}"
    if climb.reason == "held-out peak":
        margin = max(fit.heldout) - fit.heldout[-1]
        if isinf(margin):
            return f"{done}, since EM to convergence makes held-out rows impossible"
        more = f"{margin:.1f} higher than by EM to convergence"
        return f"{done}, since the log-likelihood of held-out rows is {more}"
    if climb.reason in CUT_SHORT:
        what = "convergence" if climb.iterations else "the first EM step"
        return f"{done}: {CUT_SHORT[climb.reason]} before {what}"
    if climb.reason == "optima averaged":
        return f"{done}, the mean of several starts, since the data hardly tell their optima apart"
    if not fit.heldout:
        return f"{done}, to convergence, from the best of {counted(len(fit.starts), 'start')}"
    return f"{done}, to convergence; held-out rows gave no clear reason to stop earlier"


def _cut_short(em: EM, ended: Ended) -> Iterator[str]:
    """What to know of a climb that a limit ended."""
    limit_of = {
        "iteration limit": f"{em.max_iterations:,} iterations; max_iterations= allows more",
        "time limit": "time; time_limit= allows more",
    }
    if ended.reason in limit_of and ended.iterations:
        yield (
            "EM had not converged: its CPTs may be far from those that it would lead to. It was "
            f"ended by the limit of {limit_of[ended.reason]}"
        )


def _notes(em: EM, fit: Fit, loopy: Collection[str]) -> Iterator[str]:
    """What was approximate, and how the starts ended."""
    if loopy:
        yield f"loopy belief propagation touched {counted(len(loopy), 'family', 'families')}"
    if len(fit.starts) > 1:
        words = (
            f"{len(fit.starts)} starts were made, {agreed(fit.starts)} of them ended within "
            f"{AGREEMENT:g} of the best log-posterior"
        )
        if fit.gain > AGREEMENT:
            words += f"; the first start alone would have ended {fit.gain:.1f} lower"
        if fit.climb.reason == "optima averaged":
            words += "; the optima were averaged, each weighed by its posterior"
        yield words
    elif em.starts_by_cost and fit.climb.iterations:
        reason = "loopy belief propagation is used" if loopy else "an iteration is expensive"
        yield f"only one start was made, since {reason}: restarts= makes more"

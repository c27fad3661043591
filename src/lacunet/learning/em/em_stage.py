r"""EM as a stage: what was compiled and where to start in, the CPTs of highest posterior out.

The rows are compiled into counts that never change and problems
(`lacunet.counts.em_problems.compile`); from then on an iteration is the expected counts over
the problems, and the line that turns counts into CPTs:

.. math::
    E[n(u, x)] = n_\mathrm{shown}(u, x) + \sum_c w_c \Pr(u, x \mid b_c, \theta), \qquad
    \theta'(x \mid u) \propto E[n(u, x)] + A(u, x)

The posterior of the observed data never goes down, and where it ends depends on where it
begins: by default at factored deletion for MCAR, which costs little more than to count the rows,
and leads to where that for MAR does. What EM does with the problems is in
`lacunet.learning.em.restarts`; here the statistics are brought to it.

*Replicates* of the rows start from where EM ended: else they might end at another optimum, or the
states of a variable that no row shows change places. Where a limit cut EM short, they are learned
by as many steps as all rows made, from what was drawn at random for these.

*Other optima.* Where starts end within two nats of the best in CPTs that differ, the data hardly
tell which are right. The best are kept, their reports say so, and intervals reach over all.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from lacunet.counts.em_problems.cell_layout import Layout, layout_of
from lacunet.counts.em_problems.compile import Problems, compile_problems
from lacunet.counts.folds import Folds
from lacunet.counts.gather import Compiling, Needs, Statistics
from lacunet.data.table import EncodedTable, code_type
from lacunet.inference.engine import Engine, engine_of
from lacunet.learning.closed_forms.forms import rows_showing_any
from lacunet.learning.cpt_rows import CptRows
from lacunet.learning.cpts import CptBasis, HighestPosterior, family_report
from lacunet.learning.em.iterations import COST_LIMIT, Climb
from lacunet.learning.em.latent_state_order import with_ordered_states
from lacunet.learning.em.restarts import HARDLY_WORSE, SAME_OPTIMUM, Fit, Fitting, Seeds
from lacunet.learning.em.start import (
    START_PSEUDO_COUNTS,
    alike_states,
    cells_about,
    random_cells,
    tables_of,
)
from lacunet.learning.em.with_learned_pseudo_counts import (
    fit_and_learn_pseudo_counts,
    flat_pseudo_counts,
)
from lacunet.learning.family_reports import (
    ASSUMPTION_OF_METHOD,
    MCAR,
    FamilyPlan,
    FamilyReport,
)
from lacunet.learning.plan import AGREEMENT, Ended, Learned, Setting, Stage, count_agreeing_starts
from lacunet.learning.pseudo_counts import (
    FROM_FIRST_FIT,
    LEARN,
    AskedPseudoCounts,
    PseudoCounts,
    UsedPseudoCounts,
    is_given,
    pseudo_counts_from,
    smooths_every_cell,
    with_replaced_prior,
)
from lacunet.limits import OutOfTimeError
from lacunet.network.network import FloatArray, Network, Scope
from lacunet.text import counted, first_of

if TYPE_CHECKING:
    from lacunet.learning.em.em import EM

NOTE_ON_LOOPY = "its expected counts are approximate: loopy belief propagation"
LOOPY_BRANCH = "components exceed the memory budget: loopy belief propagation is used for them"
TOO_DEAR_BRANCH = (
    "an EM step computes at most {:,.0f} cells of large components: loopy belief propagation is "
    "used for those beyond that, or beyond the memory budget"
)
TOO_LONG_BRANCH = (
    "an EM step reads more than {:,.0f} table cells by loopy belief propagation: EM makes none, "
    "and the CPTs that it starts from are kept"
)
NO_STEP_BRANCH = "EM makes no step for lack of time: the CPTs that it starts from are kept"
STARTS_BRANCH = "EM steps are cheap: EM is run from several starts, and the best end is kept"
AT_RANDOM = "EM starts there at random; states are in order of size, and their names are arbitrary"
SMOOTHED = "the start was smoothed with one pseudo-count per cell: EM never leaves a zero"
KEPT_SMOOTHED = (
    "the CPTs hold one pseudo-count per cell, with which the start of EM was smoothed: no step was "
    "made from there. EM to convergence and closed forms have none"
)


@dataclass(frozen=True)
class Climber:
    """EM on a network: what it answers for, and where it starts."""

    em: EM
    network: Network
    partially: Scope  # the variables with missing values
    families: Mapping[str, FamilyPlan]  # the CPTs that are reported on
    recorded: str = ""  # the node that says whether a row was recorded, if rows are a selection

    def stage(self) -> Stage:
        """EM from what the stages before have learned; what it does otherwise, by the counts."""
        em = self.em
        branches: list[str] = []
        if not em.stays_closed:
            if isfinite(em.most_cells):
                branches.append(TOO_DEAR_BRANCH.format(em.most_cells))
                branches.append(TOO_LONG_BRANCH.format(em.most_loopy_reads))
            else:
                branches.append(LOOPY_BRANCH)
            if em.restarts is None:
                branches.append(STARTS_BRANCH)
            branches.append(NO_STEP_BRANCH)
        return Stage(
            em.name,
            self.families,
            Needs(self.network.families, problems=Compiling(self.network)),
            self.solve,
            branches=tuple(branches),
            is_replicated=False,
            learned_from=FROM_FIRST_FIT,
        )

    def solve(self, statistics: Statistics, learned: Learned, setting: Setting) -> Learned:
        """All CPTs, and what they rest on; the closed form's reports if EM made no step from it."""
        em = self.em
        network = self.network
        began = monotonic()
        layout = layout_of(network.with_tables(None))
        outcome = self._climbed(layout, statistics, learned, setting)
        seconds = monotonic() - began

        climb = outcome.fit.climb
        tables = layout.tables(climb.cells)
        others = tuple(layout.tables(other.cells) for other in outcome.fit.others)
        loopy: Collection[str] = ()
        if outcome.engine is not None:
            loopy = outcome.engine.loopy_families
        reports = dict(learned.families)
        if climb.iterations or not em.starts_closed:
            reports |= self._reports(layout, statistics, outcome, loopy)

        notes = [
            *self._notes_on_start(statistics, learned, setting, climb),
            *_notes(em, outcome.fit, loopy),
        ]
        ended = Ended(
            climb.reason,
            climb.iterations,
            seconds,
            log_likelihood=float(climb.log_likelihoods.sum()),
            log_posterior=climb.log_posterior,
            trace=climb.trace,
            notes=tuple(notes),
            starts=outcome.fit.starts,
            stands=str(em.start) if em.starts_closed and not climb.iterations else "",
        )
        return replace(
            learned,
            tables=tables,
            families=reports,
            notes=(*learned.notes, *cut_short(em, ended)),
            ended=ended,
            network=network.with_tables(tables),
            engine=outcome.engine,
            start=climb.start,
            others=others,
            pseudo_counts=with_replaced_prior(None, outcome.pseudo_counts, ()),
        )

    def _reports(
        self, layout: Layout, statistics: Statistics, outcome: _Outcome, loopy: Collection[str]
    ) -> dict[str, FamilyReport]:
        """What each CPT rests on.

        A row enters the estimate of a family if it shows any of the family's variables.
        """
        network = self.network
        counts_of = statistics.pooled(network)
        climb = outcome.fit.climb
        table_of = layout.tables(climb.cells)
        others = [layout.tables(other.cells) for other in outcome.fit.others]
        expected = layout.tables(climb.expected) if climb.expected.size else None
        incomplete = set(self.partially)
        hidden = _hidden(network, self.families, statistics)
        reports = {}
        for name, family in self.families.items():
            counts = counts_of.counts_in_sample(network.family(name), 0)
            rows_used = None  # its CPT is a plain frequency
            if not incomplete.isdisjoint(counts.scope):
                rows_used = rows_showing_any(counts)
            unseen = 0
            if expected is not None:
                unseen = int((expected[name].sum(axis=-1) == 0).sum())
            warnings = []
            if name in loopy:
                warnings.append(NOTE_ON_LOOPY)
            warnings += _other_optima(table_of[name], [other[name] for other in others])
            basis = CptBasis(rows_used=rows_used, unseen=unseen, warnings=warnings, hidden=hidden)
            reports[name] = family_report(family, basis, counts, network, outcome.pseudo_counts)
        return reports

    def _notes_on_start(
        self, statistics: Statistics, learned: Learned, setting: Setting, climb: Climb
    ) -> Iterator[str]:
        """What to know of where EM started, if that was a closed form."""
        if not self.em.starts_closed:
            return
        if not smooths_every_cell(setting.pseudo_counts):
            yield SMOOTHED if climb.iterations else KEPT_SMOOTHED
        drawn = alike_states(self.network, learned.tables, statistics.never_shown)
        latent = [name for name in drawn if name not in statistics.cells_of_sets]
        if latent:
            yield f"no row shows {first_of(latent, 5)}: {AT_RANDOM}"

    def _climbed(
        self, layout: Layout, statistics: Statistics, learned: Learned, setting: Setting
    ) -> _Outcome:
        """Run EM on what was compiled.

        Parameters
        ----------
        learned
            Has the tables to start from, if EM starts from a closed form, and what that has
            learned of the prior from the same rows.
        """
        climber = self._replicated(setting)
        seeds = climber._seeds(layout, statistics, learned, setting)
        pseudo_counts: UsedPseudoCounts | None = learned.pseudo_counts
        if pseudo_counts is None:
            pseudo_counts = pseudo_counts_from(setting.pseudo_counts, layout.network, statistics)

        if statistics.problems is None:  # stopped before they were compiled
            return _Outcome.without_step(seeds, statistics.stopped_by, pseudo_counts)
        whole = None if setting.whole is None else setting.whole.ended
        if whole is not None and whole.is_cut_short and not whole.iterations:
            # Planning an expectation may take minutes, and all rows made no step either.
            return _Outcome.without_step(seeds, whole.reason, pseudo_counts)

        engine: Engine | None = None
        try:
            setting.deadline.check()
            engine = climber._engine(statistics.problems, statistics.folds, setting)
            if engine.loopy.reads > climber.em.most_loopy_reads:
                return _Outcome.without_step(seeds, COST_LIMIT, pseudo_counts, engine)
            if self.recorded:
                engine = _with_unrecorded(engine, self.recorded, setting, climber.em)
            fit, pseudo_counts = climber._fit(engine, seeds, pseudo_counts, setting)
            if setting.whole is None and not isinstance(climber.em.start, Network):
                fit = self._with_ordered_states(fit, layout, statistics, pseudo_counts)
        except OutOfTimeError:
            return _Outcome.without_step(seeds, "time limit", pseudo_counts, engine)
        except KeyboardInterrupt:
            return _Outcome.without_step(seeds, "interrupted", pseudo_counts, engine)
        return _Outcome(fit, pseudo_counts, engine)

    def _engine(self, problems: Problems, folds: Folds | None, setting: Setting) -> Engine:
        """The problems of all rows, laid out for expectations."""
        if folds is not None:
            problems = problems.sampled(folds.samples[:1])
        return engine_of(
            problems=problems,
            memory=setting.memory,
            inference=self.em.inference,
            progress=setting.progress,
            deadline=setting.deadline,
            most_cells=self.em.most_cells,
        )

    def _fit(
        self, engine: Engine, seeds: Seeds, pseudo_counts: UsedPseudoCounts, setting: Setting
    ) -> tuple[Fit, UsedPseudoCounts]:
        """What EM finds, and the pseudo-counts that it learns on the way, if it learns them."""
        flat = flat_pseudo_counts(pseudo_counts, engine.problems.layout)
        fitting = Fitting(
            engine=engine,
            pseudo_counts=flat,
            em=self.em,
            rng=setting.rng,
            deadline=setting.deadline,
            progress=setting.progress,
        )
        has_first_fit = _has_first_fit(self.em, setting.pseudo_counts)
        if isinstance(pseudo_counts, PseudoCounts) and has_first_fit:
            is_learned = setting.pseudo_counts != LEARN
            return fit_and_learn_pseudo_counts(fitting, seeds, pseudo_counts, is_learned=is_learned)
        return fitting.fit(seeds), pseudo_counts

    def _with_ordered_states(
        self, fit: Fit, layout: Layout, statistics: Statistics, pseudo_counts: UsedPseudoCounts
    ) -> Fit:
        """The same with the states of variables that no row shows in an order that data decide.

        Replicates of the rows start from where all rows did, and keep that order. Cells that are
        one of several states say which state is which.
        """
        never = [name for name in statistics.never_shown if name not in statistics.cells_of_sets]
        if not never:
            return fit
        pseudo = flat_pseudo_counts(pseudo_counts, layout)
        return replace(fit, climb=with_ordered_states(fit.climb, layout, pseudo, tuple(never)))

    def _replicated(self, setting: Setting) -> Climber:
        """How a replicate of the rows is learned; all rows as it is."""
        whole = setting.whole
        if whole is None or whole.ended is None:
            return self
        assert whole.network is not None
        if whole.ended.is_cut_short:
            em = replace(self.em, max_iterations=whole.ended.iterations, restarts=1)
        else:
            em = replace(self.em, start=whole.network, restarts=1)
        return replace(self, em=em)

    def _seeds(
        self, layout: Layout, statistics: Statistics, learned: Learned, setting: Setting
    ) -> Seeds:
        """The cells to start from."""
        rows = CptRows.of(layout)
        start = self.em.start
        if isinstance(start, Network):
            return Seeds(rows.likeliest(layout.flat(tables_of(start, layout.network))))
        if not self.em.starts_closed:
            unnamed = bool(statistics.never_shown)
            return Seeds(_drawn(rows, setting), is_random=True, unnamed=unnamed)
        cells = layout.flat(learned.tables)
        hidden = alike_states(layout.network, learned.tables, statistics.never_shown)
        if not hidden:
            return Seeds(cells)
        # A closed form knows hidden variables by the prior alone: their part is drawn.
        redrawn = cells_about(layout, hidden)
        return Seeds(np.where(redrawn, _drawn(rows, setting), cells), redrawn, unnamed=True)


@dataclass(frozen=True)
class _Outcome:
    """What EM found, on what, and with which pseudo-counts."""

    fit: Fit
    pseudo_counts: UsedPseudoCounts
    engine: Engine | None = None  # None if it was not planned before EM ended

    @classmethod
    def without_step(
        cls,
        seeds: Seeds,
        reason: str,
        pseudo_counts: UsedPseudoCounts,
        engine: Engine | None = None,
    ) -> _Outcome:
        """What there is where EM ended before it knew anything: where it would have started."""
        return cls(Fit(Climb.at_start(seeds.cells, reason)), pseudo_counts, engine)


def climb_stage(em: EM, network: Network, partially: Scope, closed: Stage) -> Stage:
    """EM on a network, from what the stage before has learned.

    Parameters
    ----------
    partially
        The variables with missing values.
    closed
        The closed form that EM starts from, or that would estimate the CPTs without EM.
    """
    families = closed.families if em.stays_closed else highest_posterior(closed.families)
    return Climber(em, network, partially, families).stage()


def highest_posterior(families: Mapping[str, FamilyPlan]) -> dict[str, FamilyPlan]:
    """The families as EM estimates them."""
    return {
        name: replace(family, formula=HighestPosterior(name, family.parents), note="")
        for name, family in families.items()
    }


def start_stage(closed: Stage) -> Stage:
    """A closed form to start from, smoothed where pseudo-counts do not: EM never leaves a zero."""
    return replace(closed, solve=partial(_smoothed, closed), learned_from="", is_replicated=False)


def _smoothed(closed: Stage, statistics: Statistics, learned: Learned, setting: Setting) -> Learned:
    """What a closed form learns with pseudo-counts in every cell."""
    if not smooths_every_cell(setting.pseudo_counts):
        setting = replace(setting, pseudo_counts=START_PSEUDO_COUNTS)
    return closed.solve(statistics, learned, setting)


def _drawn(rows: CptRows, setting: Setting) -> FloatArray:
    """What EM starts from where chance decides; replicates of the rows as all rows did."""
    if setting.whole is not None and setting.whole.start is not None:
        return setting.whole.start
    return random_cells(rows, setting.rng)


def _hidden(network: Network, variables: Container[str], statistics: Statistics) -> set[str]:
    """The variables that no row shows, but one of several states, or what follows from them."""
    never = set(statistics.never_shown)
    if not never:
        return set()
    # Children before parents: what is shown, or informed, informs on its parents.
    informed = set(statistics.cells_of_sets)
    for name in reversed(network.order):
        if name in variables and (name not in never or name in informed):
            informed.update(network.parents(name))
    return never & informed


def _with_unrecorded(engine: Engine, recorded: str, setting: Setting, em: EM) -> Engine:
    """The engine that also expects the rows that were not recorded."""
    network = engine.problems.layout.network
    sizes = {name: network.cardinality(name) for name in network.variables}
    # One row that shows nothing but that it was not recorded.
    columns: dict[str, Any] = {
        name: np.array([size], dtype=code_type(size)) for name, size in sizes.items()
    }
    columns[recorded] = np.zeros(1, dtype=np.uint8)
    problems = compile_problems(network, EncodedTable(sizes, columns))
    lost = engine_of(problems, setting.memory, em.inference, deadline=setting.deadline)
    return replace(engine, unrecorded=lost)


def _has_first_fit(em: EM, asked: AskedPseudoCounts) -> bool:
    """Whether EM runs with one pseudo-count per cell first.

    Not under a prior that was learned before, if there is one start, or EM goes on from a network.
    """
    return isinstance(asked, str) or not (isinstance(em.start, Network) or is_given(asked))


def _other_optima(table: FloatArray, others: Collection[FloatArray]) -> Iterator[str]:
    """What to say of a CPT that is another one where other starts ended."""
    apart = [float(np.abs(table - other).max()) for other in others]
    if any(distance >= SAME_OPTIMUM for distance in apart):
        yield (
            f"another start of EM ended within {HARDLY_WORSE:g} nats of the best, with entries "
            f"that differ by up to {max(apart):.2f}: the rows hardly tell which are right"
        )


def cut_short(em: EM, ended: Ended) -> Iterator[str]:
    """What to know of a climb that a limit ended."""
    limit_of = {
        "iteration limit": f"{em.max_iterations:,} iterations; max_iterations= allows more",
        "time limit": "time; time_limit= allows more",
        COST_LIMIT: "what auto may compute; method='em-bp' takes its time",
    }
    if ended.reason in ("time limit", COST_LIMIT) and not ended.iterations:
        start = f", by {ended.stands}" if ended.stands else ""
        if ASSUMPTION_OF_METHOD.get(ended.stands) == MCAR:
            start += f", which are biased unless {MCAR}"
        yield (
            f"EM made no iteration: the CPTs are those that it would have started from{start}. It "
            f"was ended by the limit of {limit_of[ended.reason]}"
        )
    elif ended.reason in limit_of and ended.iterations:
        yield (
            "EM had not converged: its CPTs may be far from those that it would lead to. It was "
            f"ended by the limit of {limit_of[ended.reason]}"
        )


def _notes(em: EM, fit: Fit, loopy: Collection[str]) -> Iterator[str]:
    """What was approximate, and how the starts ended."""
    if loopy:
        yield f"loopy belief propagation touched {counted(len(loopy), 'family', 'families')}"
    if len(fit.starts) > 1:
        agreeing = count_agreeing_starts(fit.starts)
        words = (
            f"{len(fit.starts)} starts were made, {agreeing} of them ended within "
            f"{AGREEMENT:g} of the best log-posterior"
        )
        if fit.gain > AGREEMENT:
            words += f"; the first start alone would have ended {fit.gain:.1f} lower"
        yield words
    elif em.restarts is None and fit.climb.iterations:
        reason = "an iteration is expensive"
        if loopy:
            reason = "loopy belief propagation is used"
        yield f"only one start was made, since {reason}: restarts= makes more"

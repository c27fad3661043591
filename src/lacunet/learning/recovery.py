r"""CPTs by the estimand that a missingness graph recovers them with.

The graph decides for each CPT whether it is recoverable, and how; MNAR graphs included.
Pseudo-counts go on weighted sample size times estimate,

.. math::
    \theta(x \mid u) \propto n_{\mathrm{eff}} \, P(u) P(x \mid u) + A(u, x),

so that rows with large weights count for what they tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from lacunet.counts.gather import Needs, Statistics
from lacunet.learning.cpts import JointEstimate, cells_of, make_cpts
from lacunet.learning.family_reports import AT_PRIOR, UNEVEN_WEIGHTS, FamilyPlan, Warned
from lacunet.learning.plan import Learned, Setting, Stage
from lacunet.learning.pseudo_counts import FROM_SHOWN, PseudoCounts, pseudo_counts_from
from lacunet.missingness.errors import NoRowsError, NotRecoverableError, TooLargeEstimandError
from lacunet.missingness.formulas.notation import Notation
from lacunet.missingness.verdict import Estimation, Verdict, columns_needed, estimate
from lacunet.network.network import Network, Scope

UNEVEN = 0.6  # of the rows: intervals of formulas that weigh as unevenly covered .90 (0018)
NOTE_ON_LEFT_CPT = "no row shows what an estimand needs, or the data contradict it: the CPT is left"


@dataclass(frozen=True)
class ByVerdict:
    """The formula of a family that a verdict recovers; where it does not, what is there instead."""

    verdict: Verdict
    # Of several formulas the one that was computed, because the data support it best.
    chosen: Estimation | None = None
    given: Scope = ()
    otherwise: str = "the prior"  # what is there where nothing is recovered

    def written(self, notation: Notation) -> str:
        """The formula in some notation."""
        term = self.verdict.term if self.chosen is None else self.chosen.term
        if term is None:
            return notation.words(self.otherwise)
        return term.equation(notation)


RECOVERED = "mgraph: each CPT by the estimand that the missingness graph gives"


@dataclass(frozen=True)
class Recovery:
    """CPTs by verdicts on them: those that these recover, from distinct rows."""

    network: Network
    verdicts: Mapping[str, Verdict]
    otherwise: str = "the prior"  # what becomes of the others, if no other stage answers for them
    # What a later stage makes of all that is left.
    stand_ins: Mapping[str, FamilyPlan] = field(default_factory=dict)

    @property
    def families(self) -> dict[str, FamilyPlan]:
        """What the verdicts say of each family."""
        return {
            name: FamilyPlan(
                name,
                self.network.parents(name),
                ByVerdict(verdict, otherwise=self.otherwise),
                cells_of(self.network, name),
                verdict=f"{verdict.standing}: {verdict.why}",
            )
            for name, verdict in self.verdicts.items()
        }

    def stage(self) -> Stage:
        """The CPTs that are recovered; the others are left."""
        columns = dict.fromkeys(map(columns_needed, self.verdicts.values()))
        return Stage(
            "recovery",
            self.families,
            Needs(self.network.families, rows=tuple(columns)),
            self.solve,
            branches=(NOTE_ON_LEFT_CPT,),
            chosen=self.chosen,
            learned_from=FROM_SHOWN,
        )

    def solve(self, statistics: Statistics, learned: Learned, setting: Setting) -> Learned:
        """The CPTs of the recoverable families; why the others are left."""
        statistics = statistics.sample(0)
        network = self.network
        families = self.families
        row_weights = dict(learned.row_weights)
        left = {}
        chosen_of = {}
        estimate_of = {}
        pseudo_counts = pseudo_counts_from(
            setting.pseudo_counts, network, statistics, weighs_up=False
        )

        for done, (name, family) in enumerate(families.items()):
            setting.progress("families", done, len(families), name)
            estimation, why = self._estimated(name, statistics)
            if estimation is None:
                left[name] = why
                continue
            # The estimate is of P(X | parents); times the share of each row of parents, a joint.
            shares = estimation.given_share[..., None]
            joint = np.where(np.isnan(estimation.table), 0.0, estimation.table) * shares
            row_weights[name] = estimation.weighted_size * shares
            estimate_of[name] = JointEstimate(
                joint=joint,
                total=estimation.weighted_size,
                rows_used=estimation.rows_used,
                warnings=(*estimation.warnings, *_on_weights(estimation)),
            )
            chosen_of[name] = replace(family, formula=ByVerdict(self.verdicts[name], estimation))
        setting.progress("families", len(families), len(families))

        cpts = make_cpts({**families, **chosen_of}, estimate_of, statistics, network, pseudo_counts)
        left = {
            name: why for name, why in left.items() if name not in cpts
        }  # tied to one that was not
        for group in network.tied:
            weights = [row_weights[name] for name in group if name in estimate_of]
            if weights:
                row_weights |= dict.fromkeys(group, np.sum(weights, axis=0))
        learned = learned.with_cpts(cpts, pseudo_counts)
        return replace(learned, left=left, row_weights=row_weights, why=RECOVERED)

    def chosen(self, statistics: Statistics) -> dict[str, FamilyPlan]:
        """The families with the estimand that the data support best, or what stands in for it."""
        statistics = statistics.sample(0)
        families = self.families
        for name, family in families.items():
            estimation, why = self._estimated(name, statistics)
            if estimation is not None:
                formula = ByVerdict(self.verdicts[name], estimation)
                families[name] = replace(family, formula=formula)
            else:
                note = why if self.verdicts[name].is_recoverable else family.note
                stand_in = self.stand_ins.get(name, family)
                families[name] = replace(stand_in, verdict=family.verdict, note=note)
        return families

    def _estimated(self, name: str, statistics: Statistics) -> tuple[Estimation | None, str]:
        """The estimate of one family; None, and why there is none."""
        verdict = self.verdicts[name]
        try:
            estimation = estimate(verdict, statistics.distinct[columns_needed(verdict)])
        except (NoRowsError, TooLargeEstimandError) as error:
            return None, error.message
        except NotRecoverableError:
            return None, f"{verdict.standing}: {verdict.why}"
        if estimation.is_founded:
            return (estimation, "")
        return (None, estimation.warnings[0])

    def at_prior(self, statistics: Statistics, learned: Learned, setting: Setting) -> Learned:
        """What no other stage has estimated holds the prior alone, marked as such."""
        statistics = statistics.sample(0)
        network = self.network
        families = self.families
        pseudo_counts = learned.pseudo_counts or setting.used_pseudo_counts
        cpts = {}
        if isinstance(pseudo_counts, PseudoCounts) and not pseudo_counts.is_given:
            pseudo_counts = pseudo_counts.keeping(learned.left)  # there is nothing to learn it from
        nothing_of = {}
        for name, why in learned.left.items():
            joint = np.zeros(statistics.counts[network.family(name)].cardinalities)
            nothing_of[name] = JointEstimate(joint=joint, total=1.0, rows_used=0, warnings=(why,))
        at_prior = make_cpts(families, nothing_of, statistics, network, pseudo_counts)
        for name, (table, report) in at_prior.items():
            cpts[name] = table, replace(report, fallback_mass=1.0, fallback=AT_PRIOR)
        return replace(learned.with_cpts(cpts, pseudo_counts), left={})


def _on_weights(estimation: Estimation) -> Iterator[str]:
    """A warning where the formula weighs rows so differently that they tell as much as few."""
    share = estimation.weighted_size / max(estimation.rows_used, 1)
    if share < UNEVEN:
        part = f"{estimation.weighted_size:,.0f} of {estimation.rows_used:,} rows"
        words = (
            f"the formula weighs rows up to {estimation.largest_weight:.2g} times: they tell as "
            f"much as {part} of equal weight, and intervals may be too narrow; em uses all that "
            "they show"
        )
        yield Warned(words, UNEVEN_WEIGHTS, part, 1 - share)

"""From an estimate to a CPT and its report: the one maker of both, for every method."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.counts import Counts, summed
from lacunet.counts.gather import Statistics
from lacunet.learning.cpt_rows import CptRows
from lacunet.learning.family_reports import (
    MOSTLY_PRIOR,
    NO_ROWS_IN_GROUPS,
    ROWS_WITHOUT_DATA,
    FamilyPlan,
    FamilyReport,
    Warned,
)
from lacunet.learning.plan import PerCell
from lacunet.learning.pseudo_counts import PseudoCounts, UsedPseudoCounts, per_cell, pseudo_table
from lacunet.learning.uncertainty.frequencies import frequency_sizes
from lacunet.missingness.formulas.notation import Notation
from lacunet.network.network import FloatArray, Mask, Network, Scope
from lacunet.network.shapes.shape import Shaped
from lacunet.text import assigned, counted

NAMED = 3  # groups of parent configurations that a warning spells out


@dataclass(frozen=True)
class HighestPosterior:
    """The formula of EM: the parameters of highest posterior, given all that rows show."""

    variable: str
    parents: Scope
    given: Scope = ()

    def written(self, notation: Notation) -> str:
        """The formula in some notation."""
        child = [notation.name(self.variable)]
        parents = map(notation.name, self.parents)
        probability = notation.probability(child, parents)
        return notation.block([notation.highest_posterior(probability)])


def posterior_mode(
    joint: FloatArray,
    total: float,
    pseudo_counts: PerCell,
    possible: Mask | None = None,
    shaped: Shaped | None = None,
) -> tuple[FloatArray, int]:
    r"""Turn the estimate of a family's joint into a CPT, and count its unseen rows.

    .. math::
        \theta(x \mid u) \propto N \cdot P(u, x) + A(u, x)

    A parent configuration for which every term is zero is *unseen*: its row is uniform. What is
    not possible stays zero, whatever the estimate. A CPT that is no full table is the one of its
    shape under which these counts are likeliest.

    Parameters
    ----------
    joint
        The estimate of :math:`P(u, x)`, child last; it need not sum to one.
    total
        The weight of all rows, :math:`N`.
    pseudo_counts
        What is added to each cell, :math:`A`: one number, or one for each.
    possible
        Which cells are not structural zeros; None for all. It may have fewer axes in front.
    shaped
        The shape of the CPT; None for a full table.

    Examples
    --------
    >>> posterior_mode(np.array([[0.5, 0.3], [0.2, 0.0]]), 10, 1)[0].tolist()
    [[0.6, 0.4], [0.75, 0.25]]
    """
    allowed = np.True_ if possible is None else possible
    weights = np.where(allowed, total * joint, 0.0)  # N P(u, x)
    unseen = int(np.count_nonzero(weights.sum(axis=-1) == 0))
    weights += np.where(allowed, pseudo_counts, 0.0)  # A(u, x)
    rows = CptRows.of_family(weights.shape, possible, shaped)
    return rows.likeliest(np.ravel(weights)).reshape(weights.shape), unseen


def estimated_cpt(
    network: Network,
    variable: str,
    joint: FloatArray,
    total: float,
    pseudo_counts: UsedPseudoCounts,
) -> tuple[FloatArray, int]:
    """The CPT of a variable by `posterior_mode`, with its pseudo-counts, shape and rule."""
    shaped = network.shaped_of.get(variable)
    if shaped is not None:
        added = pseudo_table(pseudo_counts, network, variable)
        return posterior_mode(joint, total, added, shaped=shaped)
    added_to_each = per_cell(pseudo_counts, variable)
    possible = None
    if variable in network.not_asked_of:
        possible = network.possible(variable)
    return posterior_mode(joint, total, added_to_each, possible)


@dataclass(frozen=True, kw_only=True)
class CptBasis:
    """What a CPT rests on, as its report says it."""

    # The rows that enter the estimate; None if the CPT is frequencies among the rows that show all
    # of the family, which give its effective sizes then.
    rows_used: int | None = None
    used: Counts | None = None  # those among the rows that the method uses, where they are fewer
    unseen: int = 0  # parent configurations that the estimate says nothing about
    fallback_mass: float = 0.0  # the share of the rows' weight for which something stands in
    fallback: str = ""  # what that is
    warnings: Sequence[str] = ()  # what the method itself has to say
    hidden: Collection[str] = ()  # variables that no row shows and the method learns from others


@dataclass(frozen=True, kw_only=True)
class JointEstimate(CptBasis):
    """The estimate of a family's joint, and what it rests on."""

    joint: FloatArray
    total: float  # the weight of all rows


def make_cpts(
    families: Mapping[str, FamilyPlan],
    estimate_of: Mapping[str, JointEstimate],
    statistics: Statistics,
    network: Network,
    pseudo_counts: UsedPseudoCounts,
) -> dict[str, tuple[FloatArray, FamilyReport]]:
    """The CPTs that estimates give with pseudo-counts, and the reports on them.

    CPTs that are tied are one, also of those families of a group that have no estimate.

    Parameters
    ----------
    estimate_of
        For each variable the estimate of its family's joint.
    statistics
        Of all rows: reports are made from the counts of families.
    """
    counts_of = statistics.counts
    pooled = statistics.pooled(network).counts
    cpts: dict[str, tuple[FloatArray, FamilyReport]] = {}
    for name in estimate_of:
        if name in cpts:
            continue  # it was made with another of its group
        group = network.tied_with(name)
        estimate = estimate_of[name]
        if len(group) > 1:
            members = [member for member in group if member in estimate_of]
            shown = [float(counts_of[network.family(v)].dense().sum()) for v in members]
            estimate = tied_estimate([estimate_of[v] for v in members], shown)
        table, unseen = estimated_cpt(network, name, estimate.joint, estimate.total, pseudo_counts)
        basis = replace(estimate, unseen=unseen)
        for member in group:
            if member in families:
                counts = pooled[network.family(member)]
                report = family_report(families[member], basis, counts, network, pseudo_counts)
                cpts[member] = table, report
    return {name: cpts[name] for name in network.variables if name in cpts}


def tied_estimate(estimates: Sequence[JointEstimate], shown: Sequence[float]) -> JointEstimate:
    r"""The estimate of families whose CPTs are one, from that of each.

    .. math::
        P(u, x) = \frac{\sum_t n_t P_t(u, x)}{\sum_t n_t}, \qquad N = \sum_t N_t

    Each counts by the rows that show it: an estimate from few rows is not to weigh as much as one
    from many.

    Parameters
    ----------
    shown
        The weight of the rows that show each family, :math:`n_t`.
    """
    weights = np.asarray(shown) if sum(shown) > 0 else np.ones(len(estimates))
    weights = weights / weights.sum()
    rows = [estimate.rows_used for estimate in estimates if estimate.rows_used is not None]
    used = [estimate.used for estimate in estimates if estimate.used is not None]
    if used:
        used = [summed(replace(counts, scope=used[0].scope) for counts in used)]
    falls_back = [estimate.fallback_mass for estimate in estimates]
    return JointEstimate(
        joint=sum(w * np.asarray(e.joint) for w, e in zip(weights, estimates, strict=True)),
        total=sum(estimate.total for estimate in estimates),
        rows_used=sum(rows) if rows else None,
        used=used[0] if used else None,
        fallback_mass=float(weights @ falls_back),
        fallback=next((e.fallback for e in estimates if e.fallback), ""),
        warnings=tuple(dict.fromkeys(w for estimate in estimates for w in estimate.warnings)),
        hidden=estimates[0].hidden,
    )


def family_report(
    family: FamilyPlan,
    basis: CptBasis,
    counts: Counts,
    network: Network,
    pseudo_counts: UsedPseudoCounts,
) -> FamilyReport:
    """What a CPT rests on, with a warning for everything the user should not overlook.

    ``counts`` are those of the family among all rows, child last, missing as a state.
    """
    used = counts if basis.used is None else basis.used
    shown = counts.row_counts()
    support = np.asarray(used.row_counts().sum(axis=-1))
    rows_used = basis.rows_used
    sizes = None
    if rows_used is None:  # frequencies among the rows that show all
        rows_used = round(support.sum())
        sizes = frequency_sizes(used, support)
    unshown = tuple(name for name in counts.scope if name in basis.hidden)
    backing = counts.backing(unshown) if unshown else support
    backing = network.backing(family.variable, backing)

    notes = [family.note] if family.note else []
    notes += basis.warnings
    mass = basis.fallback_mass
    if mass > 0 and basis.fallback:
        part = f"{mass:.1%} of the rows' weight"
        words = f"{part}: no rows in their groups; {basis.fallback} was used"
        notes.append(Warned(words, NO_ROWS_IN_GROUPS, part, mass))
    notes += _about_support(family, unshown, backing, network, pseudo_counts)
    return FamilyReport(
        variable=family.variable,
        parents=family.parents,
        formula=family.formula,
        rows_shown=round(shown.sum()),
        rows_used=rows_used,
        support=support,
        unsupported=int(np.count_nonzero(backing == 0)),
        counts=counts,
        effective_sizes=sizes,
        fallback_mass=mass,
        fallback=basis.fallback if mass > 0 else "",
        unseen=basis.unseen,
        warnings=tuple(notes),
        hidden=unshown,
    )


def _about_support(
    family: FamilyPlan,
    hidden: Scope,
    backing: FloatArray,
    network: Network,
    pseudo_counts: UsedPseudoCounts,
) -> Iterator[str]:
    """Name the CPT rows that no row of the data backs, and those that are mostly prior."""
    yield from _about_rows_without_data(family, hidden, backing, network)
    yield from _about_weak_rows(family, backing, network, pseudo_counts)


def _about_rows_without_data(
    family: FamilyPlan, hidden: Scope, backing: FloatArray, network: Network
) -> Iterator[str]:
    name = family.variable
    parents = family.parents
    rows = backing.size
    is_without = backing == 0
    number = int(np.count_nonzero(is_without))
    verb = "rests" if number == 1 else "rest"
    rest = f"{number:,} of {counted(rows, 'CPT row')} {verb} on the model alone"
    is_shown = name not in hidden
    if number == rows:
        others = f"its{' other' if hidden else ''} parents"
        if not is_shown:
            shown = others
        elif parents:
            shown = f"{name} with {others}"
        else:
            shown = name
        yield Warned(f"no row shows {shown}: {rest}", ROWS_WITHOUT_DATA, "all of them", 1.0)
    elif number:
        where = "; ".join(configurations(is_without, parents, network))
        shows = f"shows {name} where" if is_shown else "has"
        words = f"no row {shows} {where}: {rest}"
        yield Warned(words, ROWS_WITHOUT_DATA, f"{number:,} of {rows:,}", number / rows)


def _about_weak_rows(
    family: FamilyPlan, backing: FloatArray, network: Network, pseudo_counts: UsedPseudoCounts
) -> Iterator[str]:
    """Of CPT rows with data, those that have fewer than pseudo-counts."""
    rows = backing.size
    pseudo = pseudo_table(pseudo_counts, network, family.variable).sum(axis=-1)
    weak = int(np.count_nonzero((backing != 0) & (backing < pseudo)))
    if not weak:
        return
    prior = f"the {float(pseudo.max()):g} pseudo-counts"
    if isinstance(pseudo_counts, PseudoCounts):
        prior = f"the {pseudo_counts.origin} pseudo-counts"
    part = f"{weak:,} of {counted(rows, 'CPT row')}"
    if weak == 1:
        words = f"{part} rests on fewer rows than {prior}, and mostly reflects the prior"
    else:
        words = f"{part} rest on fewer rows than {prior}, and mostly reflect the prior"
    yield Warned(words, MOSTLY_PRIOR, f"{weak:,} of {rows:,}", weak / rows)


def configurations(chosen: NDArray[np.bool_], parents: Scope, network: Network) -> list[str]:
    """The chosen parent configurations in words, whole slices at a time.

    Examples
    --------
    >>> two = Network({"Group": ["a", "c"], "Sex": ["f", "m"]})
    >>> configurations(np.array([[False, False], [True, True]]), ("Group", "Sex"), two)
    ['Group=c (Sex any)']
    """
    words: list[str] = []
    left = chosen.copy()
    while left.any() and len(words) < NAMED:
        indices: list[int | slice] = [int(index) for index in np.argwhere(left)[0]]
        for axis in range(len(parents)):  # the largest slice around it that is chosen whole
            wider = [*indices[:axis], slice(None), *indices[axis + 1 :]]
            if chosen[tuple(wider)].all():
                indices = wider
        fixed = []
        free = []
        for name, index in zip(parents, indices, strict=True):
            if isinstance(index, slice):
                free.append(name)
            else:
                fixed.append(assigned(name, network.states(name)[index]))
        any_state = f" ({', '.join(free)} any)" if free else ""
        words.append(", ".join(fixed) + any_state)
        left[tuple(indices)] = False
    if left.any():
        rest = int(left.sum())
        words.append(f"{rest:,} other configurations" if rest > 1 else "1 other configuration")
    return words


def cells_of(network: Network, variable: str) -> int:
    """The number of cells of a CPT."""
    return prod(network.shape(network.family(variable)))

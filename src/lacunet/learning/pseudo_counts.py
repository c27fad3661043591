r"""The prior learned from counts: pseudo-counts for every cell, as many as the CPT rows speak for.

One pseudo-count per cell is too much where CPTs are nearly deterministic, too little where states
are alike, and blind to what neighbouring CPT rows say. So *each CPT row gets pseudo-counts that are
alike for all its states or shared out as in the rows that differ in one parent, few or many,
whichever make the counts of all CPT rows likely; one per cell unless the counts say otherwise.*

Let :math:`t_{jk}` be the counts of state :math:`k` in row :math:`j` of a CPT, :math:`t_j` their
sum. There are a few *components* :math:`g`, each with pseudo-counts :math:`A^g_{jk}`: the same for
all :math:`K` states, or so many in all, shared out like :math:`h_{jk}`. How likely a row's counts
are under a component is Dirichlet-multinomial,

.. math::
    \mathrm{DM}_{jg} = \frac{\Gamma(S^g_j)}{\Gamma(S^g_j + t_j)}
        \prod_k \frac{\Gamma(A^g_{jk} + t_{jk})}{\Gamma(A^g_{jk})},
    \qquad S^g_j = \sum_k A^g_{jk}.

The rows of all CPTs share the components' weights :math:`\pi`, found by a few rounds of

.. math::
    w_{jg} \propto \pi_g \sqrt{\mathrm{DM}_{jg}}, \qquad \pi_g \propto b_g + \sum_j w_{jg},

where :math:`b_g` are rows that speak for a component before any was seen: two rows for one
pseudo-count per cell. The square root has each row count half: the counts hold what EM expects
beside what was seen, and a component is never quite right. A row's pseudo-counts are those that
give the mixture's posterior mean,

.. math::
    A_{jk} = \frac{\sum_g v_{jg} A^g_{jk}}{\sum_g v_{jg}}, \qquad
    v_{jg} = \frac{w_{jg}}{t_j + S^g_j}.

Estimates of a survey are *design-based*: rows with a design (strata, clusters, replicate weights)
stand for a population, and what they show is not to be pulled towards equal shares. There the
pseudo-counts are those above only in CPT rows that no row of the data shows, and none elsewhere.

Everything is a function of counts: nothing is drawn, no row is read. What was measured is in
docs/details/prior.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.gather import Statistics
from lacunet.counts.look import WEIGHTS_ROUNDING
from lacunet.network.network import FloatArray, Network, Scope, Tables
from lacunet.text import first_of

Possible = NDArray[np.bool_]

ROUNDS = 60
CELLS_AT_ONCE = 2**18  # of CPTs of one shape, whose pseudo-counts are found together
LEAST_ROW_WEIGHT = 1.0  # weight of a CPT row that has a say in the components' weights
UNIFORM = 2.0  # pseudo-counts of a row when rows are averaged: few counts say little
FROM_SHOWN = "the counts of the rows that show each family"
FROM_FIRST_FIT = "the counts that a first fit of EM expects, with one pseudo-count per cell"
STIRLING_FROM = 8
STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)
MOST_SCALED = 3.0  # times that pseudo-counts are scaled up with the counts of a closed form


@dataclass(frozen=True)
class Components:
    """The priors that a CPT row may have, and the rows that speak for each beforehand."""

    alike: tuple[float, ...] = (0.02, 0.1, 0.4, 1.0, 2.0)  # pseudo-counts per cell
    # Pseudo-counts per CPT row, shared out as the neighbouring rows are.
    like_neighbours: tuple[float, ...] = (2.0, 8.0, 32.0)
    # The rows that speak for each of these, in their order.
    belief: tuple[float, ...] = (0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0)
    power: float = 0.5  # how much each row's likelihood counts

    def pseudo_counts(self, counts: FloatArray, possible: Possible) -> Iterator[FloatArray]:
        """The pseudo-counts of CPTs of one shape, side by side, under each component."""
        for per_cell in self.alike:
            yield np.where(possible, per_cell, 0.0)
        shares = neighbour_shares(counts, possible)
        for per_row in self.like_neighbours:
            yield per_row * shares


COMPONENTS = Components()


@dataclass(frozen=True, eq=False)
class PseudoCounts(Mapping[str, FloatArray]):
    """Pseudo-counts for every cell of every CPT, and what they are like; it prints.

    It is a mapping: each variable has an array like its CPT, of what was added to its counts
    (``tables``). ``like_neighbours`` is the share of the CPT rows whose pseudo-counts look like
    those of neighbouring rows. The CPTs of ``kept`` variables were not learned: they have one
    pseudo-count per cell. ``is_given`` if the pseudo-counts were given, and not learned; then
    ``experts`` is how many rows each CPT row of experts counts as, where they come from these.
    ``is_design_based`` if those CPT rows have none that rows of a survey show.
    """

    tables: Tables
    like_neighbours: float
    kept: Scope = ()
    is_given: bool = False
    is_design_based: bool = False
    experts: float | None = None

    def __post_init__(self) -> None:
        arrays = {name: np.asarray(pseudo, float) for name, pseudo in self.tables.items()}
        object.__setattr__(self, "tables", arrays)

    @property
    def is_learned(self) -> bool:
        """Whether anything was learned of it."""
        return len(self.kept) < len(self.tables)

    @property
    def origin(self) -> str:
        """Whose they are: "experts'", "given", "learned", "design-based"; "1" if not learned."""
        if self.experts is not None:
            return "experts'"
        if not self.is_learned:
            return f"{ONE_PER_CELL:g}"
        if self.is_design_based:
            return "design-based"
        return "given" if self.is_given else "learned"

    @property
    def is_of_experts(self) -> bool:
        """Whether they are what experts know: the prior of a posterior."""
        return self.experts is not None

    @property
    def rows_of_experts(self) -> str:
        """How many rows each CPT row of experts counts as, in words."""
        return "1 row" if self.experts == 1 else f"{self.experts:g} rows"

    @property
    def least(self) -> float:
        """The fewest pseudo-counts of a cell that was given, or was learned and is possible."""
        floor = -1.0 if self.is_given else 0.0
        learned = [pseudo[pseudo > floor] for name, pseudo in self.items() if name not in self.kept]
        return float(min((pseudo.min() for pseudo in learned if pseudo.size), default=1.0))

    @property
    def most(self) -> float:
        """The most pseudo-counts of a cell that was learned."""
        learned = [pseudo for name, pseudo in self.items() if name not in self.kept]
        return max((float(pseudo.max()) for pseudo in learned if pseudo.size), default=1.0)

    def __getitem__(self, variable: str) -> FloatArray:
        return self.tables[variable]

    def __iter__(self) -> Iterator[str]:
        return iter(self.tables)

    def __len__(self) -> int:
        return len(self.tables)

    def __repr__(self) -> str:
        return f"<PseudoCounts: {self}>"

    def replaced(self, other: PseudoCounts, variables: Collection[str]) -> PseudoCounts:
        """The same with some variables' pseudo-counts taken from another."""
        tables = {v: (other if v in variables else self)[v] for v in self}
        kept = [v for v in self if v in (other if v in variables else self).kept]
        return replace(self, tables=tables, kept=tuple(kept))

    def keeping(self, variables: Collection[str]) -> PseudoCounts:
        """The same with one pseudo-count per cell for some variables."""
        ones = {v: np.ones_like(pseudo) for v, pseudo in self.tables.items()}
        return self.replaced(PseudoCounts(ones, 0.0, tuple(ones)), variables)

    def without_shown_rows(self, shown_of: Tables) -> PseudoCounts:
        """The same with no pseudo-counts in CPT rows that some of the counts show: design-based."""
        tables = {}
        for name, pseudo in self.tables.items():
            is_shown = shown_of[name].sum(axis=-1, keepdims=True) > 0
            tables[name] = np.where(is_shown, 0.0, pseudo)
        return replace(self, tables=tables, is_design_based=True)

    def __str__(self) -> str:
        if self.experts is not None:
            return f"each CPT row of the experts' network counts as {self.rows_of_experts}"
        if not self.is_learned:
            return "one pseudo-count per cell"
        if self.is_design_based and not any(pseudo.any() for pseudo in self.values()):
            return "no pseudo-counts: rows of the survey show every CPT row"
        if self.is_design_based:
            none = "no pseudo-counts in CPT rows that rows of the survey show"
            return f"{none}; in others {self._size()}"
        return self._size()

    def _size(self) -> str:
        """How many pseudo-counts there are, in words."""
        like = "the same for all states"
        if self.like_neighbours > 0.5:
            like = "spread over the states as in CPT rows that differ in one parent"
        least, most = f"{self.least:.2g}", f"{self.most:.2g}"
        alike = most if self.is_given else f"about {most}"
        number = alike if least == most else f"between {least} and {most}"
        kind = "pseudo-count" if least == most == "1" else "pseudo-counts"
        words = f"{number} {kind} per cell, {'as given' if self.is_given else f'mostly {like}'}"
        if self.kept:
            words += f"; one per cell for {first_of(self.kept, 5)}"
        return words

    def as_json(self) -> dict[str, Any]:
        """What a JSON document holds of it."""
        return {
            "words": str(self),
            "least": self.least,
            "most": self.most,
            "like_neighbours": self.like_neighbours,
            "kept": list(self.kept),
            "is_given": self.is_given,
            "is_design_based": self.is_design_based,
            "experts": self.experts,
            "cells": {name: pseudo.tolist() for name, pseudo in self.items()},
        }


LEARN: Literal["learn"] = "learn"
ONE_PER_CELL = 1.0
UsedPseudoCounts = float | PseudoCounts  # the same for all cells, or of each
# Learned, but only for CPT rows that no row shows; the default of a survey. No user types it.
DESIGN_BASED: Literal["design-based"] = "design-based"
AskedPseudoCounts = float | PseudoCounts | Literal["learn", "design-based"]


def pseudo_tables(pseudo_counts: UsedPseudoCounts, network: Network) -> dict[str, FloatArray]:
    """The pseudo-counts of every cell of every CPT; one where a learned prior has none.

    Structural zeros have none.

    Examples
    --------
    >>> pseudo_tables(2.0, Network({"A": ["0", "1"]}))["A"].tolist()
    [2.0, 2.0]
    """
    return {name: pseudo_table(pseudo_counts, network, name) for name in network.variables}


def pseudo_table(pseudo_counts: UsedPseudoCounts, network: Network, variable: str) -> FloatArray:
    """The pseudo-counts of the cells of one CPT; a shape says how it spreads them."""
    pseudo = per_cell(pseudo_counts, variable)
    possible = network.possible(variable)
    if variable in network.shaped_of and np.ndim(pseudo) == 0:
        return pseudo * network.shaped_of[variable].pseudo_counts
    return np.where(possible, pseudo, 0.0)


def per_cell(pseudo_counts: UsedPseudoCounts, variable: str) -> float | FloatArray:
    """What is added to the cells of one CPT: one number, or an array like it."""
    if isinstance(pseudo_counts, PseudoCounts):
        return pseudo_counts.get(variable, np.ones(()))
    return pseudo_counts


def is_given(pseudo_counts: AskedPseudoCounts) -> bool:
    """Whether it is a number or pseudo-counts that were given, and nothing learned from rows."""
    if isinstance(pseudo_counts, PseudoCounts):
        return pseudo_counts.is_given
    return not isinstance(pseudo_counts, str)


def has_pseudo_counts(pseudo_counts: AskedPseudoCounts) -> bool:
    """Whether there are any where rows show something."""
    if isinstance(pseudo_counts, PseudoCounts):
        return not pseudo_counts.is_design_based
    if isinstance(pseudo_counts, str):
        return pseudo_counts == LEARN
    return pseudo_counts > 0


def smooths_every_cell(pseudo_counts: AskedPseudoCounts) -> bool:
    """Whether every cell has pseudo-counts: then no estimate is zero."""
    if isinstance(pseudo_counts, PseudoCounts) and pseudo_counts.is_given:
        return all(bool(pseudo.all()) for pseudo in pseudo_counts.values())
    return has_pseudo_counts(pseudo_counts)


def pseudo_counts_from(
    asked: AskedPseudoCounts, network: Network, statistics: Statistics, weighs_up: bool = True
) -> UsedPseudoCounts:
    """The prior that was given, or what the rows that show each family say of it.

    With listwise deletion these are the complete rows. What no row shows keeps one pseudo-count
    per cell in all families that it is in. ``weighs_up`` if the estimate weighs these rows up to
    all rows (`for_closed_form`).
    """
    if not isinstance(asked, str):
        return asked
    statistics = statistics.sample(0).pooled(network)
    counts = statistics.complete or statistics.counts
    hidden = {*statistics.never_shown}
    shown = {family[-1]: counts[family].dense() for family in network.families if family in counts}
    kept = [family[-1] for family in network.families if not hidden.isdisjoint(family)]
    learned = learn_from_tables(network, shown, kept)
    pseudo_counts = for_closed_form(learned, shown, statistics.total) if weighs_up else learned
    if asked == DESIGN_BASED:
        return pseudo_counts.without_shown_rows(shown)
    return pseudo_counts


def with_replaced_prior(
    before: PseudoCounts | None, pseudo_counts: UsedPseudoCounts | None, variables: Collection[str]
) -> PseudoCounts | None:
    """What was learned of the prior, once a stage has estimated some CPTs under its own."""
    if not isinstance(pseudo_counts, PseudoCounts):
        return None
    if before is None:
        return pseudo_counts
    return before.replaced(pseudo_counts, variables)


def learn_from_tables(
    network: Network, counts_of: Tables, kept: Collection[str] = ()
) -> PseudoCounts:
    """The pseudo-counts that counts make likely, once for CPTs that are tied.

    A CPT that is no full table keeps those that its shape spreads.
    """
    names = [name for name in counts_of if name not in network.shaped_of]
    first_of_head: dict[str, str] = {}
    for name in names:
        first_of_head.setdefault(network.head_of[name], name)
    heads = {name: counts_of[name] for name in first_of_head.values()}
    learned = learn_pseudo_counts(heads, kept, network.possible_of)
    tables = {}
    for name in counts_of:
        if name in network.shaped_of:
            tables[name] = network.shaped_of[name].pseudo_counts
        else:
            tables[name] = learned[first_of_head[network.head_of[name]]]
    return replace(learned, tables=tables, kept=tuple(v for v in tables if v in kept))


def learn_pseudo_counts(
    counts_of: Tables,
    kept: Collection[str] = (),
    possible_of: Mapping[str, Possible] | None = None,
    components: Components = COMPONENTS,
) -> PseudoCounts:
    """The pseudo-counts that the counts of all CPTs make likely.

    Parameters
    ----------
    counts_of
        For each variable the counts of its CPT, axes parents... then child: those of the rows that
        show the whole family, or those that EM expects. Weights are scaled to the weighted sample
        size; the pseudo-counts are in the same unit.
    kept
        Variables whose CPTs keep one pseudo-count per cell: no row shows a variable of theirs, and
        EM's counts say nothing about it.
    possible_of
        Which cells of a CPT are not structural zeros; all of them where it is not given. The others
        have no pseudo-counts.

    Examples
    --------
    Rows that are nearly deterministic, each in its own way: less than one pseudo-count per cell.

    >>> counts = np.array([[40.0, 0, 0], [0, 60, 0], [0, 0, 50], [70, 0, 0], [0, 80, 1]])
    >>> print(learn_pseudo_counts({"Fault": counts}))
    between 0.036 and 0.11 pseudo-counts per cell, mostly the same for all states
    """
    possible_of = {
        name: np.broadcast_to((possible_of or {}).get(name, np.True_), counts.shape)
        for name, counts in counts_of.items()
    }
    learned = {name: counts for name, counts in counts_of.items() if name not in kept}
    stacks = []
    every = [np.empty((len(components.belief), 0))]
    for names in _of_one_shape(learned):  # side by side on a first axis
        counts = np.stack([learned[name] for name in names])
        possible = np.stack([possible_of[name] for name in names])
        pseudo = np.stack([*components.pseudo_counts(counts, possible)])
        logs = components.power * log_dirichlet_multinomial(counts, pseudo)
        stacks.append((names, counts, possible, logs))
        every.append(logs[:, counts.sum(axis=-1) >= LEAST_ROW_WEIGHT * (1 - WEIGHTS_ROUNDING)])
    weights, like_neighbours = component_weights(
        np.concatenate(every, axis=1), np.array(components.belief), len(components.alike)
    )
    pseudo_of = {name: np.where(possible_of[name], 1.0, 0.0) for name in kept if name in counts_of}
    for names, counts, possible, logs in stacks:
        candidates = components.pseudo_counts(counts, possible)
        means = mean_pseudo_counts(counts, candidates, _shares(logs, weights))
        rounded = (1.0 + means) - 1.0  # to what is left of them beside a count
        pseudo_of |= zip(names, rounded, strict=True)
    in_order = tuple(name for name in counts_of if name in kept)
    return PseudoCounts({name: pseudo_of[name] for name in counts_of}, like_neighbours, in_order)


def _of_one_shape(counts_of: Tables) -> Iterator[list[str]]:
    """The variables with CPTs of one shape, so many that their cells fit side by side."""
    by_shape: dict[tuple[int, ...], list[str]] = {}
    for name, counts in counts_of.items():
        by_shape.setdefault(counts.shape, []).append(name)
    for shape, names in by_shape.items():
        step = max(CELLS_AT_ONCE // prod(shape), 1)
        yield from (names[start : start + step] for start in range(0, len(names), step))


def for_closed_form(pseudo_counts: PseudoCounts, shown_of: Tables, total: float) -> PseudoCounts:
    """The same for a closed form, which weighs the rows that show a family up to all rows.

    Pseudo-counts learned from ``shown_of``, the counts of the rows that show the whole family, are
    scaled up likewise, else they would count for less where more is missing; at most threefold,
    since such a method may learn from rows that show a part of the family.

    Examples
    --------
    Half of 20 rows show the variable.

    >>> learned = PseudoCounts({"A": np.array([0.5, 0.5])}, 0.0)
    >>> for_closed_form(learned, {"A": np.array([6.0, 4.0])}, 20.0)["A"].tolist()
    [1.0, 1.0]
    """
    factor_of = {
        name: float(np.clip(total / max(shown.sum(), 1.0), 1.0, MOST_SCALED))
        for name, shown in shown_of.items()
        if name not in pseudo_counts.kept
    }
    scaled = {name: pseudo * factor_of.get(name, 1.0) for name, pseudo in pseudo_counts.items()}
    return replace(pseudo_counts, tables=scaled)


def component_weights(
    log_likelihoods: FloatArray, belief: FloatArray, alike: int
) -> tuple[FloatArray, float]:
    r"""The components' weights :math:`\pi`, and the share of rows that are like their neighbours.

    Parameters
    ----------
    log_likelihoods
        One row for each component, one column for each CPT row.
    belief
        The rows that speak for each component beforehand.
    alike
        The number of components whose pseudo-counts are alike for all states; the others follow.
    """
    weights = np.full(len(belief), 1 / len(belief))
    by_rows = np.zeros(len(belief))
    for _ in range(ROUNDS):
        by_rows = _shares(log_likelihoods, weights).sum(axis=1)
        weights = (belief + by_rows) / (belief + by_rows).sum()
    rows = log_likelihoods.shape[1]
    return weights, float(by_rows[alike:].sum() / rows) if rows else 0.0


def _shares(log_likelihoods: FloatArray, weights: FloatArray) -> FloatArray:
    """How much of each row is due to each component, on the first axis."""
    likelihoods = np.exp(log_likelihoods - log_likelihoods.max(axis=0, initial=-np.inf))
    shares = likelihoods * weights.reshape(-1, *[1] * (likelihoods.ndim - 1))
    return np.asarray(shares / shares.sum(axis=0))


def log_dirichlet_multinomial(counts: FloatArray, pseudo_counts: FloatArray) -> FloatArray:
    r"""How likely the counts of each CPT row are: Dirichlet-multinomial, up to a constant.

    .. math::
        \log \frac{\Gamma(S)}{\Gamma(S + t)} \prod_k \frac{\Gamma(A_k + t_k)}{\Gamma(A_k)}

    ``pseudo_counts`` may have more axes in front, such as one of components.

    Examples
    --------
    Two rows in a first state: probability a half, then two thirds.

    >>> round(float(np.exp(log_dirichlet_multinomial(np.array([2.0, 0.0]), np.ones(2)))), 4)
    0.3333
    """
    seen = counts > 0
    cells = np.zeros(pseudo_counts.shape)
    pseudo_seen = pseudo_counts[..., seen]
    cells[..., seen] = log_gamma(pseudo_seen + counts[seen]) - log_gamma(pseudo_seen)
    total, pseudo = counts.sum(axis=-1), pseudo_counts.sum(axis=-1)
    return np.asarray(log_gamma(pseudo) - log_gamma(pseudo + total) + cells.sum(axis=-1))


def log_gamma(values: FloatArray) -> FloatArray:
    r"""The logarithm of the gamma function of values that are not negative.

    Stirling's series from 8 on, below that of :math:`x + 8`. SciPy's takes longer to load than most
    networks take to learn.

    .. math::
        \log\Gamma(x) = \log\Gamma(x + 8) - \log x (x + 1) \cdots (x + 7), \qquad
        \log\Gamma(y) = (y - \tfrac12) \log y - y + \tfrac12 \log 2\pi
            + \frac{1}{12 y} - \frac{1}{360 y^3} + \cdots

    Examples
    --------
    >>> np.exp(log_gamma(np.array([0.5, 1.0, 5.0]))).round(9).tolist()
    [1.772453851, 1.0, 24.0]
    """
    is_small = values < STIRLING_FROM
    shifted = np.where(is_small, values + STIRLING_FROM, values)
    rising = np.where(is_small, values, 1.0)
    for step in range(1, STIRLING_FROM):
        rising *= np.where(is_small, values + step, 1.0)
    squared = 1 / shifted**2
    series = np.zeros_like(shifted)
    for coefficient in reversed(STIRLING):
        series = series * squared + coefficient
    large = (shifted - 0.5) * np.log(shifted) - shifted + np.log(2 * np.pi) / 2 + series / shifted
    with np.errstate(divide="ignore"):  # zero has no finite value
        return np.asarray(large - np.log(rising))


def neighbour_shares(counts: FloatArray, possible: Possible) -> FloatArray:
    r"""What the rows around say: :math:`h_{jk}`, the row itself left out; without parents uniform.

    With :math:`r_{jk} = t_{jk} / (t_j + 2)` and :math:`w_j = t_j / (t_j + 2)`, each row :math:`i`
    that differs in one parent has one vote, and so have all the other rows of the CPT together:

    .. math::
        h_{jk} = \frac{\sum_i r_{ik} + m_{jk}}{\sum_i w_i + 1}, \qquad
        m_{jk} = \frac{\sum_{i \ne j} r_{ik} + 1 / K}{\sum_{i \ne j} w_i + 1}.

    The first axis is one of CPTs of one shape.

    Examples
    --------
    >>> counts = np.array([[[6.0, 0.0], [0.0, 6.0]]])
    >>> neighbour_shares(counts, np.full((1, 2, 2), True))[0].round(3).tolist()
    [[0.163, 0.837], [0.837, 0.163]]
    """
    uniform = possible / np.maximum(possible.sum(axis=-1, keepdims=True), 1)
    parents = range(1, counts.ndim - 1)
    if not parents:
        return np.asarray(uniform)
    total = counts.sum(axis=-1, keepdims=True)
    votes, weight = counts / (total + UNIFORM), total / (total + UNIFORM)
    everywhere = tuple(parents)
    mean = votes.sum(axis=everywhere, keepdims=True) - votes + uniform
    mean /= weight.sum(axis=everywhere, keepdims=True) - weight + 1
    near = mean
    near_weight = np.ones_like(weight)
    for parent in parents:
        near = near + votes.sum(axis=parent, keepdims=True) - votes
        near_weight = near_weight + weight.sum(axis=parent, keepdims=True) - weight
    near = np.where(possible, near / near_weight, 0.0)
    return np.asarray(near / near.sum(axis=-1, keepdims=True))


def mean_pseudo_counts(
    counts: FloatArray, candidates: Iterator[FloatArray], shares: FloatArray
) -> FloatArray:
    r"""The pseudo-counts that give the mixture's posterior mean.

    Parameters
    ----------
    candidates
        The pseudo-counts of each component, :math:`A^g`.
    shares
        How much of each CPT row is due to each component, :math:`w_g`.
    """
    total = counts.sum(axis=-1)
    weighted, weights = np.zeros(counts.shape), np.zeros(total.shape)
    for pseudo, share in zip(candidates, shares, strict=True):
        weight = share / (total + pseudo.sum(axis=-1))  # v_g
        weighted += weight[..., None] * pseudo
        weights += weight
    return np.asarray(weighted / weights[..., None])

r"""The units that a survey has drawn: clusters within strata, or replicate weights of others.

Leaving out cluster :math:`i` of stratum :math:`h` and taking the :math:`n_h - 1` others of the
stratum for it (JKn),

.. math::
    \mathrm{Var}(\theta) = \sum_h \frac{n_h - 1}{n_h} \sum_i (\theta_{(hi)} - \theta)^2

with as many degrees of freedom as there are clusters more than strata. A stratum with one cluster
says nothing of how clusters vary within it: it is left out whole, and counts once. Where strata
are told but no clusters, each row is a cluster: the rows of a stratum are dealt into groups of
equal size by chance, and these are left out.

Rows of weight zero are those outside the part of the population that is asked about. Nothing is
counted from them, but they were sampled: a cluster in which all weigh zero is one of the
:math:`n_h` of its stratum, and so is such a row where each is a cluster. Degrees of freedom are
those of the clusters and strata that have other rows, as in R's survey package.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.distinct import Index
from lacunet.counts.em_problems.ragged import hash_text
from lacunet.counts.errors import StatisticsError
from lacunet.data.table import NO_LABEL, Design, Labels, RowsOfUnits, added_rows
from lacunet.network.network import FloatArray
from lacunet.text import counted, listed

MOST_CLUSTERS = 400  # that are left out one by one; of more, groups within strata are
GROUPS_OF_ROWS = 100  # in all strata, where each row is a cluster of its own
MAX_JACKKNIFE_STRATA = 2_500  # of which groups are left out in turn
UNITS_ROUNDING = 1e-9  # of a number of units: 2.9999999999 are three


@dataclass(frozen=True)
class Units:
    """The units in some of the rows; those of two parts add up."""

    # The clusters in each stratum, none where each row is one.
    clusters_of: Mapping[str, frozenset[str]] = field(default_factory=dict)
    products: FloatArray | None = None  # the sums of products of replicate weights
    # What the squared distances of replicates count in a variance.
    factors: FloatArray | None = None
    # The rows of weight zero in each stratum and cluster.
    unweighted: RowsOfUnits = field(default_factory=dict)

    @classmethod
    def of(cls, design: Design) -> Units:
        """The units that rows are of.

        Examples
        --------
        >>> strata = Labels(("east", "west"), np.array([0, 0, 1], np.int32))
        >>> clusters = Labels(("1", "2"), np.array([0, 1, 0], np.int32))
        >>> Units.of(Design(strata, clusters)).in_words
        '3 clusters in 2 strata'
        """
        if design.replicates is not None:
            return cls({}, design.replicates.T @ design.replicates, design.factors)
        labels_of: dict[str, set[str]] = {}
        for stratum, cluster in design.units()[0]:
            labels_of.setdefault(stratum, set()).add(cluster)
        clusters_of = {name: frozenset(labels - {NO_LABEL}) for name, labels in labels_of.items()}
        return cls(clusters_of, unweighted=design.unweighted)

    def __add__(self, other: Units) -> Units:
        both = dict(self.clusters_of)
        for name, clusters in other.clusters_of.items():
            both[name] = both.get(name, frozenset()) | clusters
        products = self.products
        if products is not None and other.products is not None:
            products = products + other.products
        return Units(both, products, self.factors, added_rows(self.unweighted, other.unweighted))

    @property
    def clusters(self) -> int:
        """How many clusters have rows of any weight; 0 where each row is one."""
        return sum(map(len, self.clusters_of.values()))

    @property
    def sampled_of(self) -> dict[str, set[str]]:
        """The clusters in each of these strata, those of which all rows weigh zero too."""
        sampled = {name: {*clusters} for name, clusters in self.clusters_of.items()}
        for stratum, cluster in self.unweighted:
            if cluster != NO_LABEL and stratum in sampled:
                sampled[stratum].add(cluster)
        return sampled

    @property
    def in_words(self) -> str:
        """What there is, in words."""
        if self.products is not None:
            return counted(len(self.products), "replicate")
        strata = counted(len(self.clusters_of), "stratum", "strata")
        if not self.clusters:
            return strata
        clusters = counted(self.clusters, "cluster")
        return clusters if NO_LABEL in self.clusters_of else f"{clusters} in {strata}"

    @property
    def doubts(self) -> tuple[str, ...]:
        """What the user should know of the variances."""
        lone = sorted(name for name, clusters in self.sampled_of.items() if len(clusters) == 1)
        if not lone:
            return ()
        return (
            f"intervals leave out {listed(lone)} whole: "
            f"{'a stratum with one cluster' if len(lone) == 1 else 'strata with one cluster each'}",
        )

    def degrees(self) -> float:
        """The degrees of freedom of a variance by replicate weights."""
        assert self.products is not None
        return float(max(np.linalg.matrix_rank(self.products, hermitian=True) - 1, 1))

    def left_out(self) -> UnitsLeftOut:
        """What is left out in turn: clusters, or groups of them where they are many.

        Raises
        ------
        StatisticsError
            There is one cluster in all: without it no row is left.
        """
        strata = sorted(self.clusters_of)
        if self.clusters == len(strata) == 1:
            (only,) = self.clusters_of[strata[0]]
            raise StatisticsError(
                f"all rows are of one cluster, {only!r}: how clusters vary cannot be told.",
                "intervals need two clusters at least; leave cluster= out if rows are independent.",
            )
        if len(strata) > MAX_JACKKNIFE_STRATA:
            raise StatisticsError(
                f"there are {len(strata):,} strata: intervals leave out groups within each of them "
                f"in turn, and of more than {MAX_JACKKNIFE_STRATA:,} that takes too much memory.",
                "merge strata that are alike, give replicate weights, or learn without intervals.",
            )
        if not self.clusters:
            each = max(2, -(-GROUPS_OF_ROWS // len(strata)))
            rows_of = {(name, NO_LABEL): number for number, name in enumerate(strata)}
            stratum_of = np.repeat(np.arange(len(strata)), each)
            return UnitsLeftOut(rows_of, stratum_of, each=each, unweighted=self.unweighted)
        sampled = self.sampled_of
        share = min(1.0, MOST_CLUSTERS / sum(map(len, sampled.values())))
        number_of = {}
        strata_of = list[int]()
        for number, name in enumerate(strata):
            clusters = sorted(sampled[name], key=hash_text)  # as if by chance, always the same
            groups = min(len(clusters), max(2, round(share * len(clusters))))
            for index, cluster in enumerate(clusters):
                number_of[name, cluster] = len(strata_of) + index % groups
            strata_of += [number] * groups
        used = {number_of[name, cluster] for name in strata for cluster in self.clusters_of[name]}
        return UnitsLeftOut(
            number_of, np.array(strata_of), max(float(len(used) - len(strata)), 1.0)
        )


@dataclass(frozen=True)
class UnitsLeftOut:
    """What is left out in turn, by number.

    Where each row is a cluster, the rows of a stratum are dealt into groups.
    """

    # The number of each cluster, by the label of its stratum and its own; of each stratum, where
    # rows are dealt into groups.
    number_of: Mapping[tuple[str, str], int]
    stratum_of: Index  # the stratum of each that is left out
    # Of freedom: as many as there are more clusters, with rows of any weight, than strata.
    degrees: float = 1.0
    each: int = 1  # the groups of each stratum, where rows are dealt into groups
    # The rows of weight zero, where rows are dealt into groups.
    unweighted: RowsOfUnits = field(default_factory=dict)

    def numbers(self, design: Design) -> Index:
        """The number of each row's cluster, or of its stratum where each row is a cluster."""
        labels, index = design.units()
        return np.array([self.number_of[label] for label in labels], np.intp)[index]

    def design(self, numbers: NDArray[np.integer]) -> Design:
        """A design in which rows have these numbers; of several clusters with one, it names one.

        Examples
        --------
        >>> left_out = Units({"east": frozenset("12"), "west": frozenset("1")}).left_out()
        >>> left_out.numbers(left_out.design(np.array([2, 0, 1, 0]))).tolist()
        [2, 0, 1, 0]
        """
        label_of = {number: label for label, number in self.number_of.items()}
        strata, clusters = zip(*(label_of[number] for number in range(len(label_of))), strict=True)
        codes = numbers.astype(np.int32)
        return Design(Labels(strata, codes), Labels(clusters, codes))

    def in_turn(self) -> tuple[FloatArray, FloatArray]:
        """How much each counts in each of the samples, and each sample in a variance.

        Examples
        --------
        >>> UnitsLeftOut({}, np.array([0, 0, 0, 1])).in_turn()[0].tolist()[2:]
        [[1.5, 1.5, 0.0, 1.0], [1.0, 1.0, 1.0, 0.0]]
        """
        totals = np.bincount(self.stratum_of)[self.stratum_of]
        return left_out_in_turn(np.ones(len(totals)), totals, self.stratum_of)


def left_out_in_turn(
    sizes: FloatArray, totals: NDArray[Any], stratum_of: Index
) -> tuple[FloatArray, FloatArray]:
    r"""How much each of some groups counts in samples without one of them, and each sample.

    Without a group of :math:`m` of the :math:`n` units of a stratum the others count
    :math:`n / (n - m)` times, and the squared distance :math:`(n - m) / n` times: so that the
    variance of a mean is right whatever :math:`m`. Where a stratum has no other units, it is left
    out whole, and counts once.

    Parameters
    ----------
    sizes, totals, stratum_of
        The units of each group, those of its stratum, and the number of that.
    """
    left = totals - sizes
    is_whole = left <= UNITS_ROUNDING * totals
    times = np.where(is_whole, 1.0, totals / np.where(is_whole, 1.0, left))
    scales = np.where(is_whole, 1.0, left / np.maximum(totals, 1e-300))
    multiples = np.where(stratum_of[:, None] == stratum_of, times[:, None], 1.0)
    np.fill_diagonal(multiples, 0.0)
    return multiples, scales

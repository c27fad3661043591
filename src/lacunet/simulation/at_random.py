r"""Mechanisms drawn at random: MCAR, MAR and informed MAR, as in the paper's experiments.

Guy Van den Broeck, Karthika Mohan, Arthur Choi, Adnan Darwiche and Judea Pearl, "Efficient
Algorithms for Bayesian Network Parameter Learning from Incomplete Data" (UAI 2015),
section 6 and the appendices on MCAR data and on informed deletion. An :math:`m`-fraction of
the variables is partially observed: :math:`\lfloor m n \rfloor` of them for MAR data, but one at
least, and, as in the authors' program, :math:`\lceil m n \rceil` for MCAR data. Which ones, what
their mechanisms look at and with which probabilities they hide is drawn from ``rng``.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Protocol

import numpy as np

from lacunet.inference.sampling import SimulationError, check_beta, check_share, check_whole
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.mechanism_cpts import MechanismCpt, Missingness
from lacunet.network.arguments import clear_arguments
from lacunet.network.network import Network, Scope

USUAL_RATE = 0.2  # of missing values


class Missing(Protocol):
    """A way to make mechanisms; a frozen dataclass whose fields are its options."""

    def draw(self, network: Network, rng: np.random.Generator) -> Missingness:
        """Make the mechanisms for one network."""
        ...


@clear_arguments
@dataclass(frozen=True)
class MCAR:
    """Simulates values missing completely at random, for `simulate` and `hide`.

    Every mechanism hides with the same probability. It is no method of learning; tests of whether
    data are MCAR are in `diagnose`.

    Parameters
    ----------
    rate
        The probability that a value is missing: the share of cells that are.
    share
        The fraction of the variables that have missing values, rounded up; the others are shown in
        every row.

    Examples
    --------
    >>> network = Network({name: ["no", "yes"] for name in "ABCD"})
    >>> drawn = MCAR(0.7, share=0.5).draw(network, np.random.default_rng(0))
    >>> [float(one.missing) for one in drawn.mechanisms.values()]
    [0.7, 0.7]
    """

    rate: float = USUAL_RATE
    share: float = 1.0

    def __post_init__(self) -> None:
        check_share("the share of variables that go missing", self.share)
        check_share("the rate of missing values", self.rate)

    def draw(self, network: Network, rng: np.random.Generator) -> Missingness:
        """Choose the variables that go missing."""
        hidden = _choose(network.variables, ceil(variables_in(self.share, network)), rng)
        graph = MissingnessGraph.without_rules(network, dict.fromkeys(hidden, ()))
        mechanisms = {x: MechanismCpt(x, (), np.array(self.rate)) for x in hidden}
        return Missingness(graph, mechanisms, separator=())


@clear_arguments
@dataclass(frozen=True)
class MAR:
    """Simulates values missing at random, for `simulate` and `hide`.

    Mechanisms look at fully observed variables.
    Each mechanism R[X] has the same number of parents. They are drawn from the fully
    observed variables that are parents or children of X in the network and, only if
    these are too few, from the other fully observed ones. For every configuration of the
    parents the probability of being *missing* is drawn from a Beta distribution.

    Parameters
    ----------
    rate
        The share of values that are missing, of the variables that have missing values, on average
        over mechanisms: the mean of the Beta distribution, whose shape parameters are
        ``2 * rate`` and ``2 * (1 - rate)``. By default 0.2, unless ``beta`` is given.
    share
        The fraction of the variables that have missing values, rounded down but one at least.
    parents
        The number of parents of a mechanism.
    beta
        In place of ``rate``, the two shape parameters of the Beta distribution.

    Examples
    --------
    >>> chain = Network({x: ["no", "yes"] for x in "ABC"}, {"B": ["A"], "C": ["B"]})
    >>> drawn = MAR(0.2, share=0.4, parents=1).draw(chain, np.random.default_rng(1))
    >>> {x: one.parents for x, one in drawn.mechanisms.items()}, drawn.separator
    ({'B': ('A',)}, ('A',))
    """

    rate: float | None = None
    share: float = 0.5
    parents: int = 2
    beta: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        _check_mechanisms(self)

    def draw(self, network: Network, rng: np.random.Generator) -> Missingness:
        """Choose the variables that go missing, their mechanisms' parents and parameters."""
        return _drawn(self, network, None, rng)


@dataclass(frozen=True)
class InformedMAR:
    """Simulates values missing at random by the same few variables, for `simulate` and `hide`.

    As `MAR`, but the parents of every mechanism come from one random set of
    fully observed variables, which the result tells as its ``separator``.

    Parameters
    ----------
    rate, share, parents, beta
        As for `MAR`.
    separator
        The number of variables in that set.

    Examples
    --------
    >>> network = Network({name: ["no", "yes"] for name in "ABCDEF"})
    >>> drawn = InformedMAR(share=0.5, separator=2, parents=1).draw(
    ...     network, np.random.default_rng(0)
    ... )
    >>> len(drawn.mechanisms), len(drawn.separator)
    (3, 2)
    """

    rate: float | None = None
    share: float = 0.5
    separator: int = 3
    parents: int = 2
    beta: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        _check_mechanisms(self)
        check_whole("the number of variables in the separator", self.separator)
        if self.separator < self.parents:
            raise SimulationError(
                f"each mechanism needs {self.parents} parents, but they come from "
                f"{self.separator} variables only.",
                "choose at least as many variables as a mechanism has parents.",
            )

    def draw(self, network: Network, rng: np.random.Generator) -> Missingness:
        """Choose what goes missing, the separator, and from it the mechanisms' parents."""
        return _drawn(self, network, self.separator, rng)


def _drawn(
    asked: MAR | InformedMAR, network: Network, size: int | None, rng: np.random.Generator
) -> Missingness:
    """Mechanisms that look at fully observed variables: at ``size`` of them, or at any."""
    number = floor(variables_in(asked.share, network))
    if asked.share:  # a third of two variables is one
        number = max(number, 1)
    hidden = _choose(network.variables, number, rng)
    observed = tuple(name for name in network.variables if name not in hidden)
    wanted = asked.parents if size is None else size
    if hidden and len(observed) < wanted:
        raise SimulationError(
            f"{wanted} fully observed variables are asked for, but with {len(hidden)} variables "
            f"partially observed only {len(observed)} are left.",
            "lower the share of the variables that go missing, or the number of parents.",
        )
    separator = observed if size is None else _choose(observed, min(size, len(observed)), rng)
    parents_of = {x: _nearest(x, network, separator, asked.parents, rng) for x in hidden}
    mechanisms = {
        variable: MechanismCpt(variable, parents, rng.beta(*_beta(asked), network.shape(parents)))
        for variable, parents in parents_of.items()
    }
    if size is None:
        every = {name for parents in parents_of.values() for name in parents}
        separator = _in_order(every, observed)
    graph = MissingnessGraph.without_rules(network, parents_of)
    return Missingness(graph, mechanisms, separator=separator)


def variables_in(share: float, network: Network) -> Fraction:
    r"""The number of variables in a share, :math:`m n`, before it is rounded.

    The share counts as it is written: 0.29 of a hundred variables are 29, though in binary
    floating point the product falls just below.
    """
    return Fraction(repr(float(share))) * len(network.variables)


def _nearest(
    variable: str, network: Network, observed: Scope, number: int, rng: np.random.Generator
) -> Scope:
    """Some of the observed variables, neighbours first and evenly among their like."""
    children = {name for name in network.variables if variable in network.parents(name)}
    neighbours = children.union(network.parents(variable))
    shuffled = [observed[index] for index in rng.permutation(len(observed))]
    by_distance = sorted(shuffled, key=lambda name: name not in neighbours)
    return _in_order(by_distance[:number], network.variables)


def _choose(names: Scope, number: int, rng: np.random.Generator) -> Scope:
    chosen = rng.choice(len(names), number, replace=False)
    return _in_order([names[index] for index in chosen], names)


def _in_order(chosen: Collection[str], names: Scope) -> Scope:
    return tuple(name for name in names if name in chosen)


def _beta(asked: MAR | InformedMAR) -> tuple[float, float]:
    """The Beta distribution of the probabilities of being missing."""
    if asked.beta is not None:
        return asked.beta
    rate = USUAL_RATE if asked.rate is None else asked.rate
    return 2 * rate, 2 * (1 - rate)


def _check_mechanisms(asked: MAR | InformedMAR) -> None:
    check_share("the share of variables that go missing", asked.share)
    check_whole("the number of parents of a mechanism", asked.parents)
    if asked.rate is not None:
        if asked.beta is not None:
            raise SimulationError(
                "rate and beta both say how many values are missing.",
                "give one of them: the mean of the Beta distribution is the rate.",
            )
        check_share("the rate of missing values", asked.rate)
        if asked.rate in (0, 1):
            raise SimulationError(
                f"a rate of {asked.rate} leaves the mechanisms nothing to decide by.",
                "give a rate between 0 and 1.",
            )
    check_beta(_beta(asked))

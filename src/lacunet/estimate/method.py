"""What every method takes and gives back.

A method is a frozen value with its options; ``learn`` of `lacunet.estimate.learn` is the
road that all of them share. A method never sees where the data came from, and says of
every family what its CPT rests on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.estimands.deletion import Estimand
from lacunet.model.network import FloatArray, Network, Scope
from lacunet.progress import Progress, silent


@dataclass(frozen=True)
class Task:
    r"""What is to be learned, from what, under which prior.

    ``network`` gives structure and states; its CPTs, if any, are not looked at. ``prior`` is
    the concentration :math:`\alpha` of the symmetric Dirichlet prior, at least one.
    ``memory`` is the budget in bytes: what would need more is refused before it starts.
    """

    network: Network
    table: EncodedTable
    prior: float
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    memory: int = 8 * 2**30
    progress: Progress = silent


@dataclass(frozen=True)
class FamilyReport:
    r"""What the CPT of one variable rests on.

    ``rows_shown`` are the rows in which the whole family is observed, ``rows_used`` those
    that enter the estimate. ``effective_size`` is :math:`(\sum w)^2 / \sum w^2` over the
    weights with which rows enter. ``fallback_mass`` is the share of the rows' weight whose
    part of the estimand had no data of its own and was taken from ``fallback``. ``unseen``
    counts the parent configurations about which the data say nothing: their rows of the CPT
    hold the prior alone.
    """

    variable: str
    parents: Scope
    estimand: str
    latex: str
    rows_shown: int
    rows_used: int
    effective_size: float
    fallback_mass: float = 0.0
    fallback: str = ""
    unseen: int = 0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ended:
    r"""How an iterative method ended.

    ``reason`` is one of "converged", "steps done", "iteration limit", "time limit",
    "interrupted", "held-out peak". ``trace`` is the log-posterior of the parameters that
    each iteration started from, and of the last; its likelihood part is the *observed* data's,
    its prior part :math:`(\alpha - 1) \sum \log \theta`. ``heldout`` is the observed-data
    log-likelihood of rows put aside, after each step from the seed on, where the number of
    steps was chosen by it. Where the work was cut short before a value was known, it is NaN.
    """

    reason: str
    iterations: int
    seconds: float
    log_likelihood: float
    log_posterior: float
    trace: tuple[float, ...]
    notes: tuple[str, ...] = ()
    heldout: tuple[float, ...] = ()


@dataclass(frozen=True)
class Learned:
    """The CPTs a method gives (axes parents... then child), and what they rest on."""

    tables: Mapping[str, FloatArray]
    families: Mapping[str, FamilyReport]
    ended: Ended | None = None
    why: str = ""


class Method(Protocol):
    """A way to learn all CPTs; a frozen dataclass whose fields are its options."""

    name: ClassVar[str]

    def learn(self, task: Task) -> Learned:
        """Learn the CPT of every variable."""
        ...


@runtime_checkable
class ClosedForm(Method, Protocol):
    """A method whose estimate of any joint is a formula that can be written down."""

    def estimand(self, left: Scope, partially: Scope, observed: Scope) -> Estimand:
        """What is estimated of the joint of ``left``, given which variables have holes."""
        ...


def posterior_mode(joint: FloatArray, total: float, prior: float) -> tuple[FloatArray, int]:
    r"""Turn the estimate of a family's joint into a CPT, and count its unseen rows.

    .. math::
        \theta(x \mid u) \propto N \cdot P(u, x) + (\alpha - 1)

    A parent configuration for which every term is zero is *unseen*: its row is uniform.

    Parameters
    ----------
    joint
        The estimate of :math:`P(u, x)`, child last; it need not sum to one.
    total
        The weight of all rows, :math:`N`.
    prior
        The concentration of the symmetric Dirichlet prior, :math:`\alpha`.

    Examples
    --------
    >>> posterior_mode(np.array([[0.5, 0.3], [0.2, 0.0]]), 10, 2)[0].tolist()
    [[0.6, 0.4], [0.75, 0.25]]
    """
    weights = total * joint
    unseen = weights.sum(axis=-1) == 0
    weights += prior - 1
    weights[weights.sum(axis=-1) == 0] = 1
    return weights / weights.sum(axis=-1, keepdims=True), int(np.count_nonzero(unseen))

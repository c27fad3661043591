r"""How far a learned network is from the true one: the Kullback-Leibler divergence, in nats.

For networks of one structure it falls apart by families, each row of a CPT weighing what its
parents' states weigh in truth:

.. math::
    KL(\Pr \| \Pr') = \sum_X \sum_u \Pr(u)
        \sum_x \theta_{x|u} \log \frac{\theta_{x|u}}{\theta'_{x|u}}

Where a variable has other parents in the learned network, its term is the difference of two
expectations under the truth instead,
:math:`\sum \Pr(u,x) \log \theta_{x|u} - \sum \Pr(u',x) \log \theta'_{x|u'}`.
All marginals come from one calibration of the true network.

Where exact is out of reach, the divergence is a mean over samples of the true network. Only the
states of the parents are left to chance: given them, the divergence of the row is known. So
the estimate of networks of one structure has less spread than the mean of
log-ratios, and none at all where the rows agree. A state that the true network makes rare
and the learned one excludes may be missed by all samples: then the value is finite and the
true divergence is not.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.errors import LacunetWarning
from lacunet.inference.errors import OverBudgetError
from lacunet.inference.query import joint_marginals
from lacunet.memory import gibibytes, memory_budget
from lacunet.model.aligned import matched
from lacunet.model.network import FloatArray, Network, Scope, as_network
from lacunet.simulation.sampling import sample

SAMPLES = 100_000
BATCH = 10_000
SEED = 1951  # Kullback and Leibler

Lookup = tuple[Scope, FloatArray]


@dataclass(frozen=True)
class Divergence:
    """A divergence in nats: exact, or the mean over samples with its standard error."""

    value: float
    standard_error: float
    exact: bool
    samples: int


def kl_divergence(
    truth: Network,
    learned: Network,
    *,
    memory: float | None = None,
    samples: int = SAMPLES,
    rng: np.random.Generator | int | None = None,
) -> float:
    r"""The divergence :math:`KL(\Pr \| \Pr')` of the learned network from the true one, in nats.

    Infinite where the learned network excludes what the true one allows. Where exact inference
    on the true network is over the budget, the value is estimated and a warning says so.

    Parameters
    ----------
    truth, learned
        Networks with CPTs over the same variables and states, in any order of both. The
        structures may differ.
    memory
        The bytes exact inference may take.
    samples, rng
        For the estimate; without ``rng`` a fixed seed, so that the answer is repeatable.

    Examples
    --------
    >>> fair = Network({"Coin": ["head", "tail"]}, tables={"Coin": [0.5, 0.5]})
    >>> bent = Network({"Coin": ["head", "tail"]}, tables={"Coin": [0.25, 0.75]})
    >>> round(kl_divergence(fair, bent), 6)  # log 2 - log 3 / 2
    0.143841
    """
    truth, learned = as_network(truth), as_network(learned)
    found = divergence(truth, learned, memory=memory, samples=samples, rng=rng)
    if not found.exact:
        warnings.warn(
            f"the divergence is the mean over {found.samples:,} samples, with a standard error "
            f"of {found.standard_error:.2g}: exact inference is over the budget of "
            f"{gibibytes(memory_budget(memory))}.",
            LacunetWarning,
            stacklevel=2,
        )
    return found.value


def divergence(
    truth: Network,
    learned: Network,
    *,
    memory: float | None = None,
    samples: int = SAMPLES,
    rng: np.random.Generator | int | None = None,
) -> Divergence:
    """The divergence as `kl_divergence` gives it, and whether it is exact."""
    own = matched(truth, learned)
    try:
        return Divergence(_exact(truth, own, memory), 0.0, exact=True, samples=0)
    except OverBudgetError:
        generator = np.random.default_rng(SEED if rng is None else rng)
        value, standard_error = sampled_divergence(truth, own, samples, generator)
        return Divergence(value, standard_error, exact=False, samples=samples)


def _exact(truth: Network, learned: Network, memory: float | None) -> float:
    terms = [(scope, table) for scope, table in _terms(truth, learned) if table.any()]
    marginals = joint_marginals(truth, [scope for scope, _ in terms], memory=memory)
    return float(sum(map(_expected, marginals, (table for _, table in terms))))


def _terms(truth: Network, learned: Network) -> list[Lookup]:
    """The tables whose expectations under the truth add up to the divergence."""
    found: list[Lookup] = []
    for name in truth.variables:
        if same_parents(truth, learned, name):
            found.append((truth.parents(name), _row_divergences(truth, learned, name)))
        else:
            found.append((truth.family(name), _log_table(truth, name)))
            found.append((learned.family(name), -_log_table(learned, name)))
    return found


def same_parents(truth: Network, learned: Network, name: str) -> bool:
    """Whether a variable has the same parents in both networks."""
    return truth.parents(name) == learned.parents(name)


def _row_divergences(truth: Network, learned: Network, name: str) -> FloatArray:
    r"""The divergence of each row of a CPT, :math:`\sum_x \theta \log(\theta / \theta')`."""
    from scipy.special import rel_entr

    return np.asarray(rel_entr(truth.cpt(name).table, learned.cpt(name).table).sum(axis=-1))


def _log_table(network: Network, name: str) -> FloatArray:
    """The logarithm of a CPT, minus infinity for zero."""
    with np.errstate(divide="ignore"):
        return np.log(network.cpt(name).table)


def _expected(probabilities: FloatArray, values: FloatArray) -> float:
    """The expectation of values; what has probability zero does not count, even if infinite."""
    possible = probabilities > 0
    return float(probabilities[possible] @ values[possible])


def sampled_divergence(
    truth: Network, learned: Network, samples: int, rng: np.random.Generator
) -> tuple[float, float]:
    """The mean over samples of the sum of the families' terms, and its standard error."""
    terms = _terms(truth, learned)
    sizes = [min(BATCH, samples - start) for start in range(0, samples, BATCH)]
    values = np.concatenate([_added_up(sample(truth, rows, rng), terms) for rows in sizes])
    mean = float(values.mean())
    if math.isinf(mean):
        return mean, 0.0
    return mean, float(values.std(ddof=1)) / math.sqrt(samples)


def _added_up(rows: EncodedTable, terms: Sequence[Lookup]) -> FloatArray:
    total = np.zeros(rows.rows)
    for scope, table in terms:
        total += table[tuple(rows.columns[name] for name in scope)]
    return total

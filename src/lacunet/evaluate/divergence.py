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
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from lacunet.errors import LacunetWarning
from lacunet.evaluate.matching import matched
from lacunet.evaluate.sampled_divergence import sampled_divergence
from lacunet.evaluate.terms import expected, log_table, row_divergences, same_parents
from lacunet.inference.errors import OverBudgetError
from lacunet.inference.query import MEMORY, joint_marginals
from lacunet.model.network import Network

SAMPLES = 100_000
SEED = 1951  # Kullback and Leibler


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
    memory: float = MEMORY,
    samples: int = SAMPLES,
    rng: np.random.Generator | None = None,
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
    found = divergence(truth, learned, memory=memory, samples=samples, rng=rng)
    if not found.exact:
        warnings.warn(
            f"the divergence is the mean over {found.samples:,} samples, with a standard error "
            f"of {found.standard_error:.2g}: exact inference is over the budget of "
            f"{memory / 2**20:,.0f} MiB.",
            LacunetWarning,
            stacklevel=2,
        )
    return found.value


def divergence(
    truth: Network,
    learned: Network,
    *,
    memory: float = MEMORY,
    samples: int = SAMPLES,
    rng: np.random.Generator | None = None,
) -> Divergence:
    """The divergence as `kl_divergence` gives it, and whether it is exact."""
    own = matched(truth, learned)
    try:
        return Divergence(_exact(truth, own, memory), 0.0, exact=True, samples=0)
    except OverBudgetError:
        generator = np.random.default_rng(SEED) if rng is None else rng
        value, standard_error = sampled_divergence(truth, own, samples, generator)
        return Divergence(value, standard_error, exact=False, samples=samples)


def _exact(truth: Network, learned: Network, memory: float) -> float:
    rows = {
        name: row_divergences(truth, learned, name)
        for name in truth.variables
        if same_parents(truth, learned, name)
    }
    differing = [name for name, row in rows.items() if row.any()]
    others = [name for name in truth.variables if name not in rows]
    scopes = [
        *(truth.parents(name) for name in differing),
        *(truth.family(name) for name in others),
        *(learned.family(name) for name in others),
    ]
    values = [
        *(rows[name] for name in differing),
        *(log_table(truth, name) for name in others),
        *(-log_table(learned, name) for name in others),
    ]
    return float(sum(map(expected, joint_marginals(truth, scopes, memory=memory), values)))

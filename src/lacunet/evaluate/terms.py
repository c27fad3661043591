"""What one family adds to the divergence of two networks in one order of names."""

from __future__ import annotations

import numpy as np

from lacunet.model.network import FloatArray, Network


def same_parents(truth: Network, learned: Network, name: str) -> bool:
    """Whether a variable has the same parents in both networks."""
    return truth.parents(name) == learned.parents(name)


def row_divergences(truth: Network, learned: Network, name: str) -> FloatArray:
    r"""The divergence of each row of a CPT, :math:`\sum_x \theta \log(\theta / \theta')`."""
    from scipy.special import rel_entr

    return np.asarray(rel_entr(truth.cpt(name).table, learned.cpt(name).table).sum(axis=-1))


def log_table(network: Network, name: str) -> FloatArray:
    """The logarithm of a CPT, minus infinity for zero."""
    with np.errstate(divide="ignore"):
        return np.log(network.cpt(name).table)


def expected(probabilities: FloatArray, values: FloatArray) -> float:
    """The expectation of values; what has probability zero does not count, even if infinite."""
    possible = probabilities > 0
    return float(probabilities[possible] @ values[possible])

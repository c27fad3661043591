r"""How probable the data are under a network.

.. math::
    \log \Pr(D) = \sum_{i} w_i \log \Pr(\text{what row } i \text{ shows})

A row that shows everything takes one look-up a family. The others are summed over what they
do not show, exactly and all at once (`lacunet.inference.observed`).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.errors import LacunetWarning
from lacunet.inference.observed import MEMORY, observed_log_likelihood
from lacunet.model.network import FloatArray, Network

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lacunet.data.plan import Unknown


def log_likelihood(
    network: Network,
    data: Any,
    *,
    weight: str | ArrayLike | None = None,
    missing: Sequence[str] = (),
    unknown: Unknown = "error",
    latent: Sequence[str] = (),
    memory: int = MEMORY,
) -> float:
    r"""The natural logarithm of the probability of the data, :math:`\sum_i w_i \log \Pr(x_i)`.

    Data that cannot happen give minus infinity, with a warning that names the first such row.

    Parameters
    ----------
    network
        A network with CPTs.
    data
        Whatever `lacunet.data.read.read_table` takes; cells may be missing.
    weight
        The column that holds the row weights, or an array of them.
    missing, unknown, latent
        As for `lacunet.data.read.read_table`.
    memory
        The bytes that summing over what rows do not show may take.

    Raises
    ------
    OverBudgetError
        It would take more.

    Examples
    --------
    >>> rain = Network(
    ...     {"Rain": ["no", "yes"], "Wet": ["no", "yes"]},
    ...     {"Wet": ["Rain"]},
    ...     {"Rain": [0.5, 0.5], "Wet": [[0.9, 0.1], [0.1, 0.9]]},
    ... )
    >>> rows = {"Rain": ["yes", None], "Wet": ["no", "yes"]}
    >>> float(np.exp(log_likelihood(rain, rows)).round(6))  # 0.05 * 0.5
    0.025
    """
    from lacunet.data.read import read_table

    table = read_table(
        data, network, weight=weight, missing=missing, unknown=unknown, latent=latent
    )
    return table_log_likelihood(network, table, memory)


def table_log_likelihood(network: Network, table: EncodedTable, memory: int = MEMORY) -> float:
    """The log-likelihood of rows that are already encoded."""
    is_complete = table.is_shown(table.variables)
    whole, partial = table.take(is_complete), table.take(~is_complete)
    logs = complete_log_likelihoods(network, whole)
    if np.isneginf(logs).any():
        return impossible_row(whole, int(np.argmin(logs)))
    rest = observed_log_likelihood(network, partial, memory) if partial.rows else 0.0
    if np.isneginf(rest):
        return impossible_row(partial, _first_impossible(network, partial, memory))
    return float(logs.sum() if whole.weights is None else whole.weights @ logs) + rest


def complete_log_likelihoods(network: Network, table: EncodedTable) -> FloatArray:
    """The log-probability of each of the rows, all of them complete; minus infinity for zero."""
    total = np.zeros(table.rows)
    for cpt in network.cpts:
        place = np.ravel_multi_index(
            tuple(table.columns[name] for name in cpt.family), cpt.table.shape
        )
        with np.errstate(divide="ignore"):
            total += np.log(cpt.table).ravel()[place]
    return total


def impossible_row(table: EncodedTable, row: int) -> float:
    """Minus infinity, with a warning that names the row as the user counts it."""
    number = row + 1 if table.row_numbers is None else int(table.row_numbers[row])
    warnings.warn(
        f"row {number} has probability zero under the network: the log-likelihood is -inf.",
        LacunetWarning,
        stacklevel=3,
    )
    return -np.inf


def _first_impossible(network: Network, table: EncodedTable, memory: int) -> int:
    """The first row of probability zero, by halving."""
    first, last = 0, table.rows
    while last - first > 1:
        middle = (first + last) // 2
        half = table.take(slice(first, middle))
        if np.isneginf(observed_log_likelihood(network, half, memory)):
            last = middle
        else:
            first = middle
    return first

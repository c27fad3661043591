r"""The user's own pattern of missing values, as mechanisms that other rows can be put through.

The mechanisms are taken one after the other, each given those before it:

.. math::
    \Pr(R \mid X_o) = \prod_i \Pr(R_i \mid W_i, R_{B_i}), \qquad
    W_i \subseteq X_o, \quad B_i \subseteq \{1, \ldots, i - 1\}

The parents of each are chosen greedily: the one that raises the penalised log-likelihood
(BIC) of :math:`R_i` most is added, until none raises it. Parents among :math:`X_o` keep the
dependence that makes the data missing at random and not completely so; parents among the
other mechanisms keep together what goes missing together, such as the answers of one page of
a questionnaire. Copying whole patterns from rows that agree on :math:`X_o` would do both in
one stroke, but hardly any two rows agree on many variables, and the closest row is close in
what does not matter as often as in what does.

What the data cannot show is not copied: that a value is missing because of what it is, or
because of a value that is itself missing elsewhere. The simulated data are missing at random.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from lacunet.data.table import EncodedTable
from lacunet.errors import LacunetError
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.mechanisms import MechanismCpt, Missingness
from lacunet.model.network import FloatArray, Network
from lacunet.model.nodes import Mechanism, Node

MOST_PARENTS = 4
MOST_ROWS = 100_000  # parents are chosen from these many rows, probabilities from all
MOST_CELLS = 100_000

Column = NDArray[np.int64]


def fitted_mechanisms(network: Network, table: EncodedTable) -> Missingness:
    """Mechanisms that hide values of other rows as those of the table are hidden.

    Parameters
    ----------
    network
        Owns the variables of the table.
    table
        The user's rows; weights count.

    Returns
    -------
    Mechanisms for the partially observed variables, each looking at a few fully observed
    variables and at mechanisms before it.
    """
    if not table.rows:
        raise LacunetError("the data have no rows.")
    seen: dict[Node, Column] = {
        name: table.columns[name].astype(np.int64) for name in table.fully_observed
    }
    weights = np.ones(table.rows) if table.weights is None else table.weights
    mechanisms: dict[str, MechanismCpt] = {}
    for name in table.partially_observed:
        is_shown = (table.columns[name] != table.cardinality_of[name]).astype(np.int64)
        parents = _in_order(_choose(is_shown, seen, weights, network), network)
        rates = _rates(is_shown, parents, seen, weights, network)
        mechanisms[name] = MechanismCpt(name, parents, rates)
        seen[Mechanism(name)] = is_shown
    graph = MissingnessGraph(network, {name: one.parents for name, one in mechanisms.items()})  # type: ignore[misc]
    return Missingness(graph, mechanisms)


def _choose(
    is_shown: Column, seen: Mapping[Node, Column], weights: FloatArray, network: Network
) -> tuple[Node, ...]:
    """The parents that raise the penalised log-likelihood, the best one first."""
    some = slice(None, None, max(1, len(is_shown) // MOST_ROWS))
    shown, weight = is_shown[some], weights[some]
    columns = {node: column[some] for node, column in seen.items()}
    chosen: tuple[Node, ...] = ()
    score = _score(shown, np.zeros(len(shown), np.int64), 1, weight)
    while len(chosen) < MOST_PARENTS:
        scores = {
            node: _score(shown, *_codes((*chosen, node), columns, network, len(shown)), weight)
            for node in columns
            if node not in chosen and _cells((*chosen, node), network) <= MOST_CELLS
        }
        best = max(scores, key=lambda node: scores[node], default=None)
        if best is None or scores[best] <= score:
            return chosen
        chosen, score = (*chosen, best), scores[best]
    return chosen


def _score(is_shown: Column, codes: Column, cells: int, weights: FloatArray) -> float:
    r"""The penalised log-likelihood, :math:`\ell - \frac{1}{2} \log N \cdot` (groups seen)."""
    counts = np.bincount(2 * codes + is_shown, weights, 2 * cells).reshape(-1, 2)
    totals = counts.sum(axis=1, keepdims=True)
    shares = np.divide(counts, totals, out=np.ones_like(counts), where=counts > 0)
    groups = np.count_nonzero(totals)
    return float((counts * np.log(shares)).sum() - 0.5 * np.log(len(codes)) * groups)


def _rates(
    is_shown: Column,
    parents: Sequence[Node],
    seen: Mapping[Node, Column],
    weights: FloatArray,
    network: Network,
) -> FloatArray:
    """The probability of being missing for each configuration of the parents.

    One row's worth of the overall rate is added to every group, so that a configuration the
    data do not show has that rate.
    """
    codes, cells = _codes(parents, seen, network, len(is_shown))
    counts = np.bincount(2 * codes + is_shown, weights, 2 * cells).reshape(-1, 2)
    overall = counts[:, 0].sum() / counts.sum()
    rates = (counts[:, 0] + overall) / (counts.sum(axis=1) + 1)
    shaped: FloatArray = rates.reshape([_size(node, network) for node in parents])
    return shaped


def _codes(
    nodes: Sequence[Node], columns: Mapping[Node, Column], network: Network, rows: int
) -> tuple[Column, int]:
    """One number for each configuration of the nodes, the last node fastest."""
    codes, cells = np.zeros(rows, np.int64), 1
    for node in nodes:
        codes = codes * _size(node, network) + columns[node]
        cells *= _size(node, network)
    return codes, cells


def _cells(nodes: Sequence[Node], network: Network) -> int:
    return int(np.prod([_size(node, network) for node in nodes]))


def _size(node: Node, network: Network) -> int:
    return network.cardinality(node) if isinstance(node, str) else 2


def _in_order(nodes: Sequence[Node], network: Network) -> tuple[Node, ...]:
    """Variables first, then mechanisms, each in the network's order, as the graph has them."""
    place = {name: at for at, name in enumerate(network.variables)}
    return tuple(
        sorted(
            nodes,
            key=lambda node: (
                (0, place[node]) if isinstance(node, str) else (1, place[node.variable])
            ),
        )
    )

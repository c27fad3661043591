r"""The exact expectation: expected family counts and the observed-data log-likelihood.

Forward, each step multiplies its inputs and sums its variable out; backward, the mass of every
cell of a clique is the mass of its message's cell, shared out in proportion:

.. math::
    m(s) = \sum_v \prod_i t_i(v, s), \qquad
    B(v, s) = B(s) \frac{\prod_i t_i(v, s)}{m(s)}, \qquad
    B_i(t) = \sum_{(v, s) \to t} B(v, s)

The mass that arrives at a CPT's cell is its expected count; that which arrives at a message's
cell, from all that read it, is shared out in turn. A cell of probability zero has no mass. The
last message of a problem is its probability :math:`Z`, and its mass is the problem's weight.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from lacunet.inference.estep_groups import Group
from lacunet.inference.estep_messages import messages_of
from lacunet.inference.estep_shards import Shard, shard_of
from lacunet.inference.estep_structure import Structure, structure_of
from lacunet.model.network import FloatArray
from lacunet.statistics.problem_ragged import Integers, Ragged
from lacunet.statistics.problems import Problems


@dataclass(frozen=True)
class Expectation:
    """Expected counts of all families, laid out end to end, and the log-likelihood."""

    counts: FloatArray
    log_likelihood: float


def evaluate(shard: Shard, cells: FloatArray) -> Expectation:
    """The expectation over the problems of one shard, given the cells of all CPTs."""
    values = np.empty(shard.cells)
    values[: len(cells)] = cells
    products, log_likelihood = [], 0.0
    for group in shard.groups:
        product = _product(group.index(), values)
        log_likelihood += _sum_out(group, product, values)
        products.append(product)
    mass = np.zeros(shard.cells)
    mass[shard.roots] = shard.mass
    for group, product in zip(reversed(shard.groups), reversed(products), strict=True):
        _share_out(group, product, values, mass)
    return Expectation(mass[: len(cells)], log_likelihood)


def _product(index: Integers, values: FloatArray) -> FloatArray:
    product = values.take(index[0])
    for places in index[1:]:
        product *= values.take(places)
    return product


def _sum_out(group: Group, product: FloatArray, values: FloatArray) -> float:
    """Write the messages of a group; the log of what they were scaled by, weighted."""
    message = values[group.start : group.stop]
    np.add.reduce(product, axis=0, out=message)
    if group.scaling is None:
        return 0.0
    sums = np.add.reduceat(message, group.scaling.begins)
    inverse = np.repeat(1 / sums, group.scaling.lengths)
    message *= inverse
    product *= inverse
    return float(group.scaling.mass @ np.log(sums))


def _share_out(
    group: Group, product: FloatArray, values: FloatArray, mass: FloatArray
) -> None:
    """Pass the mass of a group's messages on to what they were made of."""
    message = values[group.start : group.stop]
    share = np.zeros_like(message)
    np.divide(mass[group.start : group.stop], message, out=share, where=message > 0)
    product *= share
    for places in group.index():
        np.add.at(mass, places.reshape(-1), product.reshape(-1))

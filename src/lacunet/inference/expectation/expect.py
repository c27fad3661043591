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

from dataclasses import dataclass

import numpy as np

from lacunet.deadline import NEVER, Deadline
from lacunet.inference.errors import ImpossibleDataError
from lacunet.inference.expectation.plan import Plan
from lacunet.inference.expectation.shards import Shard
from lacunet.model.network import FloatArray
from lacunet.statistics.problems.compile import Problems


@dataclass(frozen=True)
class Expectation:
    """Expected counts of all families, laid out end to end, and the log-likelihood."""

    counts: FloatArray
    log_likelihood: float

    def __add__(self, other: Expectation) -> Expectation:
        return Expectation(self.counts + other.counts, self.log_likelihood + other.log_likelihood)


def expect(plan: Plan, cells: FloatArray, deadline: Deadline = NEVER) -> Expectation:
    r"""The expectation over all planned problems and the complete families.

    Parameters
    ----------
    cells
        The cells of all CPTs, end to end: :math:`\theta`.

    Raises
    ------
    ImpossibleDataError
        The CPTs give a problem the probability zero: nothing can be expected of it.
    """
    found = complete(plan.problems, cells)
    for shard in plan.shards:
        deadline.check()
        found = found + _evaluate(shard, plan.problems, cells)
    return found


def complete(problems: Problems, cells: FloatArray) -> Expectation:
    """What the families that rows show completely add: their counts, and n log theta."""
    seen = problems.fixed > 0
    with np.errstate(divide="ignore"):
        logs = np.log(cells[seen])
    return Expectation(problems.fixed, float(problems.fixed[seen] @ logs))


def log_likelihood(plan: Plan, cells: FloatArray, deadline: Deadline = NEVER) -> float:
    """The observed-data log-likelihood of all planned problems; minus infinity if impossible."""
    total = complete(plan.problems, cells).log_likelihood
    for shard in plan.shards:
        deadline.check()
        total += _forward(shard, cells)[2]
    return total


def _evaluate(shard: Shard, problems: Problems, cells: FloatArray) -> Expectation:
    values, products, logs = _forward(shard, cells)
    ruled_out = values[shard.roots] == 0
    if ruled_out.any():
        raise impossible(problems, int(shard.problems[np.argmax(ruled_out)]))
    mass = np.zeros(shard.cells)
    np.add.at(mass, shard.roots, problems.weights[shard.problems])
    for group, product in zip(reversed(shard.groups), reversed(products), strict=True):
        group.backward(product, values, mass)
    return Expectation(mass[: len(cells)], logs)


def _forward(shard: Shard, cells: FloatArray) -> tuple[FloatArray, list[list[FloatArray]], float]:
    """The values of all messages, the products behind them, and the log-likelihood."""
    values = np.empty(shard.cells)
    values[: len(cells)] = cells
    products, logs = [], 0.0
    for group in shard.groups:
        product, part = group.forward(values)
        logs += part
        products.append(product)
    return values, products, logs


def impossible(problems: Problems, problem: int) -> ImpossibleDataError:
    """The error that names the rows of a problem of probability zero."""
    network = problems.layout.network
    component = problems.component[problem : problem + 1]
    hidden = [network.variables[place] for place in problems.members.take(component).items]
    boundary = [network.variables[place] for place in problems.boundaries.take(component).items]
    states = problems.states.take(np.array([problem])).items
    shown = {
        name: network.states(name)[state] for name, state in zip(boundary, states, strict=True)
    }
    return ImpossibleDataError.of(shown, hidden)

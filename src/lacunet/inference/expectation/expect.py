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

from lacunet.counts.counts import added_fields, added_up
from lacunet.counts.em_problems.compile import Problems
from lacunet.inference.errors import ImpossibleDataError
from lacunet.inference.expectation.expectation_plan import EvaluationPlan
from lacunet.inference.expectation.shards import Shard
from lacunet.limits import NEVER, Deadline
from lacunet.network.network import FloatArray
from lacunet.text import assigned


@dataclass(frozen=True)
class Expectation:
    """What an E-step gives: the counts that complete rows would have, as far as is known."""

    counts: FloatArray  # expected counts of all families, laid out end to end
    log_likelihoods: FloatArray  # of what the rows show, for each part of the data
    messages: tuple[FloatArray, ...] = ()  # what loopy propagation ended with: the next beginning

    def __add__(self, other: Expectation) -> Expectation:
        return added_fields(self, other)


def expect(
    plan: EvaluationPlan,
    cells: FloatArray,
    parts: FloatArray | None = None,
    deadline: Deadline = NEVER,
) -> Expectation:
    r"""The expectation over all planned problems and the complete families.

    Parameters
    ----------
    cells
        The cells of all CPTs, end to end: :math:`\theta`.
    parts
        How much each part of the data counts; all of them fully if None.

    Raises
    ------
    ImpossibleDataError
        The CPTs give a problem that counts the probability zero: nothing can be expected of it.
    """
    problems = plan.problems
    if parts is None:
        parts = np.ones(problems.parts)
    # Families that rows show completely are known; problems add to them.
    counts = problems.fixed @ parts
    logs = complete(problems, cells)
    weights = problems.weights @ parts
    tables = problems.factors.behind(cells)  # the cells of all CPTs, and of factors behind them

    def expected(shard: Shard, begin: FloatArray) -> Expectation:
        deadline.check()
        shard_logs = begin.copy()
        values, products = _forward(shard, tables, shard_logs)
        shard_weights = weights[shard.problems]
        is_impossible = (values[shard.roots] == 0) & (shard_weights > 0)  # Z = 0
        if is_impossible.any():
            raise impossible(problems, int(shard.problems[np.argmax(is_impossible)]))

        # The mass of a problem begins at its root and goes down to the cells of CPTs; what reads
        # a message comes behind it in the order of groups, so it is reached before it.
        mass = added_up(shard.roots, shard_weights, shard.cells)
        for group in reversed(shard.groups):
            group.backward(products.pop(), values, mass)
        return Expectation(mass[: len(cells)].copy(), shard_logs)

    expectation = Expectation(counts, np.zeros_like(logs) if plan.shards else logs)
    for part in plan.over_shards(expected, logs):
        expectation += part
    return expectation


def complete(problems: Problems, cells: FloatArray) -> FloatArray:
    r"""What the families that rows show completely add: :math:`n \log \theta`, part by part."""
    # 0 log 0 is 0, and n log 0 is minus infinity.
    with np.errstate(divide="ignore"):
        logs = np.log(cells)[:, None]
    terms: FloatArray = np.zeros_like(problems.fixed)
    np.multiply(problems.fixed, logs, out=terms, where=problems.fixed > 0)
    return np.asarray(terms.sum(axis=0))


def log_likelihoods(
    plan: EvaluationPlan, cells: FloatArray, deadline: Deadline = NEVER
) -> FloatArray:
    """The observed-data log-likelihood of each part; minus infinity if impossible."""
    logs = complete(plan.problems, cells)
    tables = plan.problems.factors.behind(cells)

    def logs_of(shard: Shard, begin: FloatArray) -> FloatArray:
        deadline.check()
        shard_logs = begin.copy()
        _forward(shard, tables, shard_logs)
        return shard_logs

    parts = list(plan.over_shards(logs_of, logs))
    return np.sum(parts, axis=0) if parts else logs


def _forward(
    shard: Shard, tables: FloatArray, logs: FloatArray
) -> tuple[FloatArray, list[list[FloatArray]]]:
    """The values of all messages and the products behind them; adds to the log-likelihoods."""
    values = np.empty(shard.cells)
    values[: len(tables)] = tables
    products = [group.forward(values, logs) for group in shard.groups]
    return values, products


def impossible(problems: Problems, problem: int) -> ImpossibleDataError:
    """The error that names the rows of a problem of probability zero."""
    network = problems.layout.network
    component = problems.component[problem : problem + 1]
    shown = {}
    for number, state in zip(
        problems.boundaries.take(component).items,
        problems.states.take(np.array([problem])).items,
        strict=True,
    ):
        if number < len(network.variables):
            name = network.variables[number]
            shown[name] = network.states(name)[state]
        else:  # what is known of a hidden variable
            name = problems.factors.variables[number - len(network.variables)]
            vector = problems.factors.vectors[number - len(network.variables)][state]
            possible = [network.states(name)[index] for index in np.flatnonzero(vector)]
            shown[name] = " or ".join(possible)
    states = ", ".join(assigned(name, state) for name, state in shown.items())
    return ImpossibleDataError(
        f"rows that miss {sorted(problems.members_of(problem))} and show "
        f"{states or 'nothing near them'} have the probability zero under the current CPTs "
        "(or one below 1e-307).",
        "start from CPTs without zeros, such as those of a closed-form method "
        "with pseudo-counts above 0.",
    )

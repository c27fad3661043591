r"""What rows do not show: posteriors, draws and most probable completions, problem by problem.

The steps of `structure` eliminate a component. Forward, each message is summed (or, for the
most probable completion, maximised) over its variable and scaled; the logarithms of the scales
add up to :math:`\log Z`. Backward, from the last step to the first, the variables of a message
are known when its own variable's turn comes:

.. math:: \Pr(v \mid s) \propto \prod_i t_i(v, s)

so a state is drawn from it, or the best one taken. For posteriors the mass of each message's
cells is shared out instead, as in `expect`, but for each problem by itself.

Problems share no messages here: rows with equal components and boundary values are one problem
already, and what is asked for differs from problem to problem.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lacunet.inference.errors import OverBudgetError
from lacunet.inference.expectation.groups import cells_along
from lacunet.inference.expectation.messages import LABEL, MESSAGE, ProblemSteps, steps_of
from lacunet.inference.expectation.plan import ComponentRun, cells_within, runs_of
from lacunet.inference.expectation.structure import INPUTS_BEFORE_SCALING
from lacunet.model.network import FloatArray
from lacunet.statistics.distinct import ordered_keys, stable_order
from lacunet.statistics.problems.compile import Problems
from lacunet.statistics.problems.evidence import Factors
from lacunet.statistics.problems.ragged import Integers, Ragged, in_runs, ranges, runs

CELLS_AT_A_TIME = 2**22  # of all cliques of the problems that are solved together
CELLS_OF_A_BLOCK = 2**17  # stays in the cache


@dataclass(frozen=True)
class Shape:
    """Steps with equal levels, sizes and numbers of inputs, of some problems.

    ``node`` numbers them among all steps of the problems; ``begins[i, j]`` is where input ``j``
    of node ``node[i]`` begins, ``strides[i, j, a]`` how it moves along axis ``a`` of the clique
    (0 the eliminated variable).
    """

    sizes: tuple[int, ...]
    node: Integers
    begins: Integers
    strides: Integers
    message_start: Integers  # where the message of each node begins

    def blocks(self) -> Iterator[tuple[slice, Integers]]:
        """Some rows at a time, with the cells of their inputs: row, input, state, rest."""
        count = max(1, CELLS_OF_A_BLOCK // int(np.prod(self.sizes)))
        for start in range(0, len(self.node), count):
            here = slice(start, start + count)
            axes = range(len(self.sizes))
            index = cells_along(self.begins[here], self.strides[here], self.sizes, axes)
            yield here, index.reshape(*index.shape[:2], self.sizes[0], -1)


@dataclass(frozen=True)
class Batch:
    """Some problems with their steps, which are numbered as nodes.

    ``order`` has the nodes so that messages are computed before they are read. Beside it are where
    the inputs of each begin, their kinds (with a row of ``strides`` for each) and the nodes that
    eliminate the variables of its axes but the first. ``shapes`` are runs of it with equal sizes,
    ``turns`` those with equal levels, states and numbers of inputs; the states come last.
    """

    problems: Integers
    steps: ProblemSteps
    variable: Integers  # of each node
    order: Integers
    begins: Ragged
    kinds: Ragged
    strides: Integers
    scope: Ragged
    shapes: tuple[Shape, ...]
    turns: tuple[tuple[int, int, int], ...]
    cells: int  # of the CPTs and all messages
    factors: Factors  # what is known of hidden cells

    def padded(self, start: int, stop: int) -> tuple[Integers, Integers]:
        """The strides and the scopes of a turn; an axis that a node lacks does not move it."""
        axes = self.scope.lengths[start:stop, None]
        most = int(axes.max())
        scope = np.repeat(self.order[start:stop, None], most, axis=1)
        scope[np.arange(most) < axes] = self.scope.between(start, stop)
        return self.strides[self.kinds.matrix(start, stop)][..., : 1 + most], scope


@dataclass(frozen=True)
class SolvedBatch:
    """The messages of a batch, and the log-probability of what each problem shows around it."""

    batch: Batch
    values: FloatArray
    log_z: FloatArray


def batches_of(problems: Problems, memory: float) -> Iterator[Batch]:
    """The problems, laid out to be solved some at a time.

    Raises
    ------
    OverBudgetError
        A component's cliques do not fit the budget.
    """
    for run in runs_of(problems):
        too_large = run.cells > cells_within(memory)
        if too_large.any():
            start, stop = run.structure.of_component[np.argmax(too_large) :][:2]
            names = [
                problems.layout.network.variables[v] for v in run.structure.variable[start:stop]
            ]
            raise OverBudgetError.component(names, memory)
        limit = min(CELLS_AT_A_TIME, cells_within(memory))
        cells = np.cumsum(run.cells[run.component])
        for here in in_runs(np.arange(len(cells)), cells // limit):
            yield _batch(problems, run, here)


def _batch(problems: Problems, run: ComponentRun, here: Integers) -> Batch:
    structure = run.structure
    steps = steps_of(problems, structure, run.problems[here], run.component[here])
    cells = structure.message_size[steps.step].astype(np.int64)
    message_start = problems.factors.layout.cells + np.cumsum(cells) - cells
    starts = steps.inputs.items % LABEL
    is_message = steps.inputs.items >= MESSAGE
    starts[is_message] = message_start[steps.inputs.items[is_message] - MESSAGE]
    alike = (structure.level, structure.size, structure.inputs.lengths, structure.shape)
    columns = [column[steps.step] for column in alike]
    radices = [1 + int(column.max(initial=0)) for column in alike]
    keys, bound = ordered_keys(columns, radices, len(steps.step))
    order = stable_order(keys, bound)
    begins, step = Ragged(steps.inputs.starts, starts).take(order), steps.step[order]
    scope, kinds = structure.scope.take(step), structure.kinds.take(step)
    shapes = []
    for start, stop in runs(keys[order]):
        node, scopes = order[start:stop], scope.matrix(start, stop)
        sizes = (int(structure.size[step[start]]), *structure.size[scopes[0]].tolist())
        moves = structure.strides[kinds.matrix(start, stop)][..., : len(sizes)]
        shapes.append(Shape(sizes, node, begins.matrix(start, stop), moves, message_start[node]))
    return Batch(
        problems=run.problems[here],
        steps=steps,
        variable=structure.variable[steps.step],
        order=order,
        begins=begins,
        kinds=kinds,
        strides=structure.strides,
        scope=Ragged(scope.starts, scope.items + steps.shift[order][scope.owners]),
        shapes=tuple(shapes),
        turns=tuple(
            (start, stop, int(structure.size[step[start]]))
            for start, stop in runs(keys[order] // radices[-1])
        ),
        cells=problems.factors.layout.cells + int(cells.sum()),
        factors=problems.factors,
    )


def solve(batch: Batch, cells: FloatArray, *, best: bool = False) -> SolvedBatch:
    """Compute all messages of a batch: sums, or the ``best`` if completions are maximised."""
    values = np.empty(batch.cells)
    values[: batch.factors.layout.cells] = batch.factors.behind(cells)
    log_scale = np.zeros(len(batch.variable))
    for shape in batch.shapes:
        for here, index in shape.blocks():
            product, logs = _product(values, index)
            message = product.max(axis=1) if best else product.sum(axis=1)
            total = message.max(axis=1) if best else message.sum(axis=1)
            with np.errstate(divide="ignore"):
                log_scale[shape.node[here]] = logs + np.log(total)
            scaled = message / np.where(total > 0, total, 1)[:, None]
            values[shape.message_start[here][:, None] + np.arange(message.shape[1])] = scaled
    return SolvedBatch(batch, values, np.add.reduceat(log_scale, batch.steps.first))


def _product(values: FloatArray, index: Integers) -> tuple[FloatArray, FloatArray]:
    """The product of the inputs, and the logarithm of what it was scaled by on the way."""
    product = values[index[:, 0]]
    logs = np.zeros(len(index))
    for number in range(1, index.shape[1]):
        product *= values[index[:, number]]
        if number % INPUTS_BEFORE_SCALING == 0:
            largest = product.max(axis=(1, 2))
            largest = np.where(largest > 0, largest, 1)
            product /= largest[:, None, None]
            logs += np.log(largest)
    return product, logs


@dataclass(frozen=True)
class Completions:
    """The ``state`` of each ``variable`` of the problem at the place ``owner``."""

    owner: Integers
    variable: Integers
    state: Integers


def completions(
    solved: SolvedBatch, problem: Integers, rng: np.random.Generator | None
) -> Completions:
    """A completion of each of some problems: drawn, or the best one if there is no generator.

    Parameters
    ----------
    problem
        Places in the batch, with repetition: one completion for each.
    """
    batch = solved.batch
    first, lengths = batch.steps.first[problem], batch.steps.lengths[problem]
    begin = np.cumsum(lengths) - lengths
    node = ranges(first, lengths)
    shift = np.repeat(begin - first, lengths)  # from a node to its place here
    state = np.zeros(len(node), dtype=np.int64)
    copies = Ragged.of_owners(len(batch.variable), node).take(batch.order)
    owners = copies.owners
    for start, stop, states in reversed(batch.turns):
        begins, (strides, scope) = batch.begins.matrix(start, stop), batch.padded(start, stop)
        end = int(copies.starts[stop])
        count = max(1, CELLS_OF_A_BLOCK // (states * begins.shape[1]))
        for here in range(int(copies.starts[start]), end, count):
            block = slice(here, min(here + count, end))
            row, position = owners[block] - start, copies.items[block]
            known = state[scope[row] + shift[position][:, None]]
            base = begins[row] + (strides[row, :, 1:] * known[:, None]).sum(axis=2)
            index = base[..., None] + strides[row, :, :1] * np.arange(states)
            weights, _ = _product(solved.values, index[..., None])
            state[position] = _chosen(weights[..., 0], rng)
    owner = np.repeat(np.arange(len(problem)), lengths)
    return Completions(owner, batch.variable[node], state)


def _chosen(weights: FloatArray, rng: np.random.Generator | None) -> Integers:
    """A state of each row: drawn in proportion, or the first of the largest."""
    if rng is None:
        best: Integers = weights.argmax(axis=1)
        return best
    sums = weights.cumsum(axis=1)
    passed = sums[:, :-1] <= (rng.random(len(sums)) * sums[:, -1])[:, None]
    drawn = passed.sum(axis=1)
    # Rounding may lead to the very end of the unit interval: never to a state of weight zero.
    last = weights.shape[1] - 1 - (weights[:, ::-1] > 0).argmax(axis=1)
    drawn_or_last: Integers = np.minimum(drawn, last)
    return drawn_or_last


def posteriors(solved: SolvedBatch) -> FloatArray:
    """The posterior of every variable of every problem: a row for each node of the batch.

    A problem of probability zero has NaN. Rows end with zeros, up to the largest number of states.
    """
    batch, values = solved.batch, solved.values
    mass = np.zeros(batch.cells)
    beliefs = np.zeros((len(batch.variable), max(shape.sizes[0] for shape in batch.shapes)))
    for shape in reversed(batch.shapes):
        for here, index in shape.blocks():
            product, _ = _product(values, index)
            total = product.sum(axis=1, keepdims=True)
            if len(shape.sizes) == 1:
                belief = product / np.where(total > 0, total, np.nan)
            else:
                cells = shape.message_start[here][:, None] + np.arange(total.shape[2])
                belief = product * (mass[cells][:, None] / np.where(total > 0, total, 1))
            beliefs[shape.node[here], : shape.sizes[0]] = belief.sum(axis=2)
            for number in range(index.shape[1]):
                is_message = shape.begins[here, number] >= batch.factors.layout.cells
                if is_message.any():
                    np.add.at(mass, index[is_message, number].ravel(), belief[is_message].ravel())
    return beliefs

r"""What rows do not show: posteriors, draws and most probable completions, problem by problem.

The `steps` eliminate a component. Forward, each message is summed (or, for the
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

from lacunet.counts.distinct import ordered_keys, stable_order
from lacunet.counts.em_problems.coarsened_cells import Factors
from lacunet.counts.em_problems.compile import Problems
from lacunet.counts.em_problems.ragged import Integers, Ragged, in_runs, ranges, runs
from lacunet.inference.errors import OverBudgetError
from lacunet.inference.expectation.expectation_plan import ComponentRun, cells_within, runs_of
from lacunet.inference.expectation.message_groups import cells_along
from lacunet.inference.expectation.messages import LABEL, ProblemSteps, steps_of
from lacunet.inference.expectation.steps import INPUTS_BEFORE_SCALING
from lacunet.network.network import FloatArray

CLIQUE_CELLS_AT_ONCE = 2**22  # of all cliques of the problems that are solved together
CELLS_OF_A_BLOCK = 2**17  # of cliques of one shape: their products stay in the cache


@dataclass(frozen=True)
class EqualSteps:
    """Steps with equal levels, sizes and numbers of inputs, of some problems."""

    sizes: tuple[int, ...]  # of the eliminated variable, then of the message's axes
    node: Integers  # the number of each among all steps of the problems
    begins: Integers  # `begins[i, j]` is where input `j` of node `node[i]` begins
    strides: Integers  # `strides[i, j, a]` is how it moves along axis `a` of the clique
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
    """Some problems with their steps, which are numbered as nodes."""

    problems: Integers
    steps: ProblemSteps
    variable: Integers  # of each node
    order: Integers  # the nodes, so that messages are computed before they are read
    # Beside the order:
    begins: Ragged  # where the inputs of each node begin
    kinds: Ragged  # their kinds ...
    strides: Integers  # ... and how each kind moves, a row for each
    scope: Ragged  # the nodes that eliminate the variables of the message's axes
    # Runs of the order:
    shapes: tuple[EqualSteps, ...]  # with equal sizes
    turns: tuple[tuple[int, int, int], ...]  # with equal levels, numbers of inputs, and states
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
    """The messages of a batch, all computed."""

    batch: Batch
    values: FloatArray  # the cells of the CPTs and of all messages
    log_z: FloatArray  # the log-probability of what each problem shows around it


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
        limit = min(CLIQUE_CELLS_AT_ONCE, cells_within(memory))
        cells = np.cumsum(run.cells[run.component])
        for here in in_runs(np.arange(len(cells)), cells // limit):
            yield _batch(problems, run, here)


def _batch(problems: Problems, run: ComponentRun, here: Integers) -> Batch:
    """Some problems of a run, laid out."""
    structure = run.structure
    steps = steps_of(problems, structure, run.problems[here], run.component[here])

    # Where messages begin, behind the CPTs, and with them all inputs.
    cells = structure.message_size[steps.step].astype(np.int64)
    message_start = problems.factors.layout.cells + np.cumsum(cells) - cells
    starts = steps.inputs.items % LABEL
    is_message = steps.inputs.items < 0
    starts[is_message] = message_start[~steps.inputs.items[is_message]]

    # A shape is a run of nodes that agree in all of these, a turn of those that do but in the last.
    alike = (structure.level, structure.size, structure.inputs.lengths, structure.shape)
    columns = [column[steps.step] for column in alike]
    radices = [1 + int(column.max(initial=0)) for column in alike]
    keys, bound = ordered_keys(columns, radices, len(steps.step))
    order = stable_order(keys, bound)
    step = steps.step[order]
    begins = Ragged(steps.inputs.starts, starts).take(order)
    scope = structure.scope.take(step)
    kinds = structure.kinds.take(step)
    shapes = []
    for start, stop in runs(keys[order]):
        node = order[start:stop]
        scopes = scope.matrix(start, stop)
        sizes = (int(structure.size[step[start]]), *structure.size[scopes[0]].tolist())
        moves = structure.strides[kinds.matrix(start, stop)][..., : len(sizes)]
        shapes.append(
            EqualSteps(
                sizes=sizes,
                node=node,
                begins=begins.matrix(start, stop),
                strides=moves,
                message_start=message_start[node],
            )
        )
    turns = []
    for start, stop in runs(keys[order] // radices[-1]):
        turns.append((start, stop, int(structure.size[step[start]])))
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
        turns=tuple(turns),
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
            if best:
                message = product.max(axis=1)
                total = message.max(axis=1)
            else:
                message = product.sum(axis=1)
                total = message.sum(axis=1)
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
    """A state for each variable of some problems."""

    owner: Integers  # the place of the problem among those asked for
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
    first = batch.steps.first[problem]
    lengths = batch.steps.lengths[problem]
    begin = np.cumsum(lengths) - lengths
    node = ranges(first, lengths)
    shift = np.repeat(begin - first, lengths)  # from a node to its place here
    state = np.zeros(len(node), dtype=np.int64)
    copies = Ragged.of_owners(len(batch.variable), node).take(batch.order)
    owners = copies.owners
    # From the last step to the first: the variables of a message have their states then.
    for start, stop, states in reversed(batch.turns):
        begins = batch.begins.matrix(start, stop)
        strides, scope = batch.padded(start, stop)
        end = int(copies.starts[stop])
        count = max(1, CELLS_OF_A_BLOCK // (states * begins.shape[1]))
        for here in range(int(copies.starts[start]), end, count):
            block = slice(here, min(here + count, end))
            row = owners[block] - start
            position = copies.items[block]
            known = state[scope[row] + shift[position][:, None]]
            # Where each input is at these states, and from there along the eliminated variable.
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
    batch = solved.batch
    values = solved.values
    mass = np.zeros(batch.cells)
    beliefs = np.zeros((len(batch.variable), max(shape.sizes[0] for shape in batch.shapes)))
    for shape in reversed(batch.shapes):
        for here, index in shape.blocks():
            product, _ = _product(values, index)
            total = product.sum(axis=1, keepdims=True)
            if len(shape.sizes) == 1:  # the last step of a problem
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

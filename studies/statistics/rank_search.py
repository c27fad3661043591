"""Is "identified for these numbers of states" right? A search in all graphs of three variables.

The library answers by exact ranks at random models. Here nothing of that is used: from a random
model of the graph all parameters are moved at random, and Gauss-Newton (over the logits of all
CPTs, laws by enumeration) goes to the nearest model that gives the same data as the first. What
the data determine near by is the same in both; what they do not determine differs. Anything else is
a contradiction.

    python -m studies.statistics.rank_search STATES FILE [seconds]

goes through all graphs without hidden causes, up to the names of the variables: first those with
one or two partially observed variables and no edges among mechanisms, then those with three, then
edges among mechanisms. Each is asked every query with one target (27: the other two variables are
ignored, seen or set); of queries that are the same number in every model of the graph, as
P(A | do(B)) and P(A | B) where B has no parents, one is drawn. One line per graph is added to FILE,
and a run that was stopped goes on where it was; what is done at any time is a random sample, by a
fixed seed, of the group that is being worked on.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, permutations, product
from pathlib import Path

import numpy as np

import lacunet as lc
from lacunet.missingness.identified.generic import is_generic
from lacunet.missingness.refute.ordered_query import Asked
from lacunet.network.nodes import Mechanism

NAMES = ("A", "B", "C")
SAME = 1e-12  # the largest distance between two laws that are called equal
STAYED = 1e-11  # the largest difference that rounding makes
MOVED = 1e-9  # the smallest that it does not
SCALES = (0.03, 0.003)  # how far from the model the searches begin: in logits
STARTS = 2  # of each scale
STEPS = 15
MOST_MODELS = 8  # where the first does not tell
Edges = frozenset[tuple[int, int]]
Numbered = tuple[int, tuple[int, ...], tuple[int, ...]]  # target, given, do


@dataclass(frozen=True)
class Drawn:
    """A graph over three numbered variables: edges, mechanisms' causes, edges among mechanisms."""

    edges: Edges
    causes: tuple[frozenset[int] | None, ...]  # None: never missing
    among: Edges

    def renamed(self, to: tuple[int, ...]) -> Drawn:
        """The same graph where variable k is called to[k]."""
        causes = [self.causes[to.index(k)] for k in range(3)]
        return Drawn(
            frozenset((to[a], to[b]) for a, b in self.edges),
            tuple(None if own is None else frozenset(to[k] for k in own) for own in causes),
            frozenset((to[a], to[b]) for a, b in self.among),
        )

    @property
    def key(self) -> tuple[object, ...]:
        """What the graph is, in a form that can be sorted."""
        causes = tuple((-1,) if own is None else tuple(sorted(own)) for own in self.causes)
        return tuple(sorted(self.edges)), causes, tuple(sorted(self.among))

    @property
    def group(self) -> int:
        """When its turn comes."""
        return 2 if self.among else int(None not in self.causes)

    def graph(self, states: int) -> lc.MissingnessGraph:
        """The graph as the library has it."""
        parents = {NAMES[k]: [NAMES[a] for a, b in self.edges if b == k] for k in range(3)}
        network = lc.Network({name: [str(s) for s in range(states)] for name in NAMES}, parents)
        causes = {
            NAMES[k]: [
                *(NAMES[one] for one in sorted(own)),
                *(Mechanism(NAMES[a]) for a, b in sorted(self.among) if b == k),
            ]
            for k, own in enumerate(self.causes)
            if own is not None
        }
        return lc.MissingnessGraph(network, causes)


def all_graphs() -> list[Drawn]:
    """Every graph with a partially observed variable, once for all ways to name the variables."""
    subsets = [frozenset(s) for size in range(4) for s in combinations(range(3), size)]
    seen: dict[tuple[object, ...], Drawn] = {}
    pairs = list(combinations(range(3), 2))
    for used in product((False, True), repeat=3):
        edges = frozenset(p for p, is_used in zip(pairs, used, strict=True) if is_used)
        for causes in product((None, *subsets), repeat=3):
            partial = [k for k in range(3) if causes[k] is not None]
            for among in _orders(partial):
                drawn = Drawn(edges, causes, among)
                least = min((drawn.renamed(to) for to in permutations(range(3))), key=_key)
                seen.setdefault(least.key, least)
    found = sorted(
        (one for one in seen.values() if any(c is not None for c in one.causes)), key=_key
    )
    shuffled = [found[k] for k in np.random.default_rng(9).permutation(len(found))]
    return sorted(shuffled, key=lambda one: one.group)


def _key(drawn: Drawn) -> tuple[object, ...]:
    return drawn.key


def _orders(nodes: list[int]) -> list[Edges]:
    """All acyclic sets of edges among some nodes."""
    found = set()
    for order in permutations(nodes):
        pairs = list(combinations(order, 2))
        for size in range(len(pairs) + 1):
            found |= {frozenset(chosen) for chosen in combinations(pairs, size)}
    return sorted(found, key=sorted)


@dataclass(frozen=True)
class Node:
    """A variable or mechanism: at each configuration its CPT row and its value."""

    row: np.ndarray
    value: np.ndarray
    rows: int
    states: int


class Layout:
    """All configurations of a graph's variables and mechanisms, and the parameters they take.

    A parameter is the logit of a state against the first one, in one row of a CPT. ``cell`` is what
    is observed of each configuration.
    """

    def __init__(self, drawn: Drawn, states: int) -> None:
        partial = [k for k in range(3) if drawn.causes[k] is not None]
        numbers = [*range(3), *(3 + k for k in partial)]
        parents = {k: [a for a, b in sorted(drawn.edges) if b == k] for k in range(3)}
        for k in partial:
            above = [3 + a for a, b in sorted(drawn.among) if b == k]
            parents[3 + k] = [*sorted(drawn.causes[k] or ()), *above]
        size = {k: states if k < 3 else 2 for k in numbers}
        flat = np.indices([size[k] for k in numbers]).reshape(len(numbers), -1)
        value = dict(zip(numbers, flat, strict=True))
        self.nodes, self.states = [], states
        for k in numbers:
            row = np.zeros(flat.shape[1], dtype=int)
            for above in parents[k]:
                row = row * size[above] + value[above]
            count = int(np.prod([size[above] for above in parents[k]]))
            self.nodes.append(Node(row, value[k], count, size[k]))
        told = np.stack([np.where(value.get(3 + k, 1) == 1, value[k], states) for k in range(3)])
        _, cell = np.unique(told, axis=1, return_inverse=True)
        self.cell = cell.ravel()
        self.cells = int(self.cell.max()) + 1
        self._number()

    def _number(self) -> None:
        """Number entries and parameters; say where each configuration takes part."""
        entries = parameters = 0
        taken, place, is_state, entry = [], [], [], []
        for node in self.nodes:
            taken.append(entries + node.row * node.states + node.value)
            for state in range(1, node.states):
                place.append(parameters + node.row * (node.states - 1) + state - 1)
                is_state.append(node.value == state)
                entry.append(entries + node.row * node.states + state)
            entries += node.rows * node.states
            parameters += node.rows * (node.states - 1)
        self.entries, self.parameters = entries, parameters
        self._taken = np.array(taken)
        self._place = (self.cell * parameters + np.array(place)).ravel()
        self._is_state = np.concatenate(is_state).astype(float)
        self._entry = np.concatenate(entry)
        self._times = len(place)

    def random(self, rng: np.random.Generator) -> np.ndarray:
        """The logits of a random model."""
        found = []
        for node in self.nodes:
            table = rng.uniform(0.15, 1.0, (node.rows, node.states))
            found.append(np.log(table[:, 1:] / table[:, :1]).ravel())
        return np.concatenate(found)

    def probabilities(self, logits: np.ndarray) -> np.ndarray:
        """All CPTs, entry by entry, of a stack of models."""
        found, begin = [], 0
        for node in self.nodes:
            end = begin + node.rows * (node.states - 1)
            table = np.ones((len(logits), node.rows, node.states))
            table[:, :, 1:] = np.exp(logits[:, begin:end]).reshape(len(logits), node.rows, -1)
            found.append((table / table.sum(axis=2, keepdims=True)).reshape(len(logits), -1))
            begin = end
        return np.concatenate(found, axis=1)

    def law_and_slopes(self, probabilities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What can be observed in a stack of models, and the derivatives by the logits."""
        stack = np.arange(len(probabilities))[:, None]
        joint = probabilities[:, self._taken].prod(axis=1)
        law = _summed(self.cell + self.cells * stack, joint, (len(stack), self.cells))
        parts = np.tile(joint, self._times) * (self._is_state - probabilities[:, self._entry])
        shape = len(stack), self.cells, self.parameters
        return law, _summed(self._place + self.cells * self.parameters * stack, parts, shape)

    def answers(self, probabilities: np.ndarray, queries: list[Numbered]) -> list[np.ndarray]:
        """The table of each query in a stack of models; axes: models, then A, B, C."""
        shape = len(probabilities), self.states, self.states, self.states
        every = len(self.cell) // self.states**3  # the configurations of the mechanisms
        factors = [probabilities[:, self._taken[k, ::every]].reshape(shape) for k in range(3)]
        found = []
        for target, given, do in queries:
            joint = np.ones(shape)
            for k in range(3):
                joint = joint if k in do else joint * factors[k]
            rest = tuple(1 + k for k in range(3) if k not in (target, *given, *do))
            joint = joint.sum(axis=rest, keepdims=True)
            found.append(joint / joint.sum(axis=1 + target, keepdims=True))
        return found


def _summed(place: np.ndarray, values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    return np.bincount(place.ravel(), values.ravel(), int(np.prod(shape))).reshape(shape)


def moves(lay: Layout, queries: list[Numbered], rng: np.random.Generator) -> np.ndarray:
    """By how much each query differs in models near a random one that give the same data.

    Not a number if no search of one of the scales came to such a model.
    """
    model = lay.random(rng)[None]
    law, _ = lay.law_and_slopes(lay.probabilities(model))
    root = np.sqrt(law)
    scale = np.repeat(SCALES, STARTS)[:, None]
    logits = model + scale * rng.normal(0, 1, (len(scale), lay.parameters))
    for turn in range(STEPS + 1):
        found = lay.probabilities(logits)
        law, slopes = lay.law_and_slopes(found)
        gap = np.sqrt(law) - root
        distance = np.sqrt((gap**2).sum(axis=1))
        if turn == STEPS or distance.max() < SAME / 1000:
            break
        slopes /= 2 * np.sqrt(law)[:, :, None]
        gram = slopes @ slopes.transpose(0, 2, 1)
        size = np.trace(gram, axis1=1, axis2=2) / lay.cells
        gram[:, range(lay.cells), range(lay.cells)] += 1e-13 * size[:, None]
        step = slopes.transpose(0, 2, 1) @ np.linalg.solve(gram, gap[:, :, None])
        logits = logits - np.clip(step[:, :, 0], -1, 1)
    reached = distance < SAME
    if not reached.reshape(len(SCALES), STARTS).any(axis=1).all():
        return np.full(len(queries), np.nan)
    before = lay.answers(lay.probabilities(model), queries)
    after = lay.answers(found[reached], queries)
    return np.array([np.abs(one - two).max() for one, two in zip(before, after, strict=True)])


def all_queries() -> list[Numbered]:
    """The queries with one target."""
    found = []
    for target in range(3):
        rest = [k for k in range(3) if k != target]
        for roles in product(range(3), repeat=2):
            given = tuple(k for k, role in zip(rest, roles, strict=True) if role == 1)
            do = tuple(k for k, role in zip(rest, roles, strict=True) if role == 2)
            found.append((target, given, do))
    return found


def different(lay: Layout, rng: np.random.Generator) -> list[Numbered]:
    """One of the queries that are the same number in every model of the graph, at random."""
    queries = all_queries()
    models = lay.probabilities(np.stack([lay.random(rng) for _ in range(2)]))
    shape = (2, *[lay.states] * 3)
    tables = [np.broadcast_to(one, shape) for one in lay.answers(models, queries)]
    found: dict[bytes, list[Numbered]] = {}
    for one, table in zip(queries, tables, strict=True):
        found.setdefault(table.round(9).tobytes() + bytes([one[0]]), []).append(one)
    return [same[rng.integers(len(same))] for same in found.values()]


def compared(
    number: int, drawn: Drawn, states: int
) -> Iterator[tuple[str, bool | None, str, float]]:
    """Query by query: the rank answer, whether the search moved it, and by how much."""
    rng = np.random.default_rng([states, number])
    graph, lay = drawn.graph(states), Layout(drawn, states)
    queries = different(lay, rng)
    found: list[np.ndarray] = []
    for _ in range(MOST_MODELS):
        found.append(moves(lay, queries, rng))
        least, most = np.fmin.reduce(found), np.fmax.reduce(found)
        if ((most > MOVED) | (least < STAYED)).all():  # rounding is large in some models only
            break
    by = np.where(most > MOVED, most, least).tolist()
    for (target, given, do), distance in zip(queries, by, strict=True):
        asked = Asked((NAMES[target],), *(tuple(NAMES[k] for k in part) for part in (given, do)))
        word = "moved" if distance > MOVED else "stayed" if distance < STAYED else "unclear"
        yield str(asked), is_generic(graph, asked), word, distance


def main(states: int, file: Path, seconds: float) -> None:
    """Go on with the file; print what is done of each group, and every contradiction."""
    end = time.monotonic() + seconds
    graphs = all_graphs()
    done = len(file.read_text().splitlines()) if file.exists() else 0
    with file.open("a") as out:
        for number in range(done, len(graphs)):
            if time.monotonic() > end:
                break
            lines = list(compared(number, graphs[number], states))
            out.write(json.dumps([number, graphs[number].group, lines]) + "\n")
            out.flush()
    report(file, graphs)


def report(file: Path, graphs: list[Drawn]) -> None:
    """The table: by group, rank answer and search; how clear it was."""
    tally: Counter[tuple[object, ...]] = Counter()
    finished: Counter[int] = Counter()
    largest, smallest = 0.0, 1.0
    for line in file.read_text().splitlines():
        number, group, lines = json.loads(line)
        finished[group] += 1
        for query, generic, word, by in lines:
            tally[group, generic, word] += 1
            if (generic, word) not in ((True, "stayed"), (False, "moved")):
                print("contradiction:", number, query, generic, word, by, graphs[number])
            elif generic:
                largest = max(largest, by)
            else:
                smallest = min(smallest, by)
    for group in range(3):
        whole = sum(one.group == group for one in graphs)
        print(f"group {group}: {finished[group]:,} of {whole:,} graphs")
        for key, count in sorted(tally.items(), key=str):
            if key[0] == group:
                print(f"  {count:>9,} queries: identified for these states: {key[1]}, {key[2]}")
    print(f"largest difference where identified: {largest:.1e}; smallest elsewhere: {smallest:.1e}")


if __name__ == "__main__":
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 1e9
    main(int(sys.argv[1]), Path(sys.argv[2]), seconds)

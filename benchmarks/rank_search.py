"""Is "identified for these numbers of states" right? A search in all graphs of three variables.

The library answers by exact ranks at random models. Here nothing of that is used: for a random
model of the graph, a search (Levenberg-Marquardt over the logits of all CPTs, laws by
enumeration) looks for a model near by that gives the same data and moves the answer. It
finds one where the states do not identify the query, and none where they do; anything else is a
contradiction.

    python benchmarks/rank_search.py STATES QUERIES FILE [seconds]

goes through all graphs without hidden causes, up to the names of the variables: first those with
one or two partially observed variables and no edges among mechanisms, then those with three, then
edges among mechanisms. Each is asked so many queries with one target, drawn at random (27 are all:
the other two variables are ignored, seen or set). One line per graph is added to FILE, and a run
that was stopped goes on where it was; what is done at any time is a random sample, by a fixed seed,
of the group that is being worked on.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, permutations, product
from pathlib import Path

import numpy as np

import lacunet as lc
from lacunet.model.nodes import Mechanism

NAMES = ("A", "B", "C")
STEPS = (1e-3, 1e-5)  # how far the answer shall move, model by model: some sets are narrow
SAME = 1e-10  # the largest difference between two laws that are called equal
DIFFERENT = 1e-4  # of the step: the smallest that tells them apart
SCALES = (1e-6, 0.01, 0.05)  # how far from the model the searches begin
ITERATIONS = 80
MODELS = 6  # tried at most
Edges = frozenset[tuple[int, int]]
Asked = tuple[int, tuple[int, ...], tuple[int, ...]]  # target, given, do
Gaps = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


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
class Layout:
    """All configurations of a graph's variables and mechanisms, and the parameters they take.

    ``used[c, k]`` says that configuration c takes entry k of the CPTs, ``rows[c, k]`` that it takes
    the CPT row of k; ``same[k, l]`` that two entries share a row; ``law[c, m]`` that what is
    observed of c is m. Axes 0 to 2 of ``values`` are the variables.
    """

    values: np.ndarray
    used: np.ndarray
    rows: np.ndarray
    same: np.ndarray
    law: np.ndarray
    owner: np.ndarray  # of each entry: the variable, or 3 and more


def layout(drawn: Drawn, states: int) -> Layout:
    """Number the configurations."""
    partial = [k for k in range(3) if drawn.causes[k] is not None]
    nodes = [*range(3), *(3 + k for k in partial)]
    parents = {k: [a for a, b in sorted(drawn.edges) if b == k] for k in range(3)}
    for k in partial:
        above = [3 + a for a, b in sorted(drawn.among) if b == k]
        parents[3 + k] = [*sorted(drawn.causes[k] or ()), *above]
    size = {node: states if node < 3 else 2 for node in nodes}
    flat = np.indices([size[node] for node in nodes]).reshape(len(nodes), -1)
    value = dict(zip(nodes, flat, strict=True))
    used, rows, same, owner = [], [], [], []
    for node in nodes:
        row = np.zeros(flat.shape[1], dtype=int)
        for above in parents[node]:
            row = row * size[above] + value[above]
        count = int(np.prod([size[above] for above in parents[node]]))
        used.append(np.eye(count * size[node])[row * size[node] + value[node]])
        rows.append(np.repeat(np.eye(count)[row], size[node], axis=1))
        same.append(np.kron(np.eye(count), np.ones((size[node], size[node]))))
        owner += [node] * (count * size[node])
    told = np.stack(
        [np.where(value.get(3 + k, 1) == 1, value[k], states) for k in range(3)], axis=1
    )
    _, number = np.unique(told, axis=0, return_inverse=True)
    whole = np.zeros((len(owner), len(owner)))
    start = 0
    for block in same:
        whole[start : start + len(block), start : start + len(block)] = block
        start += len(block)
    return Layout(
        flat[:3],
        np.concatenate(used, axis=1),
        np.concatenate(rows, axis=1),
        whole,
        np.eye(number.max() + 1)[number.ravel()],
        np.array(owner),
    )


@dataclass(frozen=True)
class Questions:
    """Several queries P(target | given, do(do)), each as one number: its cells, weighted at random.

    If any cell moves, so does that number. ``kept`` are the entries that an intervention leaves,
    ``weight`` is that of a configuration's cell, ``below`` tells the configurations of the
    conditions apart.
    """

    kept: np.ndarray  # queries x entries
    weight: np.ndarray  # queries x configurations
    below: np.ndarray  # queries x configurations x conditions

    @classmethod
    def of(
        cls, lay: Layout, states: int, queries: list[Asked], rng: np.random.Generator
    ) -> Questions:
        """Lay out some queries."""
        kept, weight, below = [], [], []
        for target, given, do in queries:
            place = np.zeros(lay.values.shape[1], dtype=int)
            for name in (*given, *do):
                place = place * states + lay.values[name]
            weights = rng.normal(0, 1, (states**2, states))
            kept.append(~np.isin(lay.owner, do))
            weight.append(weights[place, lay.values[target]])
            below.append(np.eye(states**2)[place])
        return cls(np.array(kept, dtype=float), np.array(weight), np.array(below))

    def answers(
        self, lay: Layout, of: np.ndarray, probabilities: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The number of each query in its model, and the derivative by the logits."""
        kept, weight, below = self.kept[of], self.weight[of], self.below[of]
        joint = np.exp((np.log(probabilities) * kept) @ lay.used.T)
        mass = np.einsum("bc,bcj->bj", joint, below)
        mass = np.where(mass == 0, 1.0, mass)  # a number of conditions that the query does not have
        mean = np.einsum("bc,bcj->bj", joint * weight, below) / mass
        share = joint * (weight - np.einsum("bcj,bj->bc", below, mean))
        share /= np.einsum("bcj,bj->bc", below, mass)
        slopes = share @ lay.used - (share @ lay.rows) * probabilities
        return mean.sum(axis=1), slopes * kept


def law_and_slopes(lay: Layout, probabilities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What can be observed in a stack of models, and the derivatives by the logits."""
    joint = np.exp(np.log(probabilities) @ lay.used.T)  # models x configurations
    parts = lay.law.T * joint[:, None, :]
    slopes = parts @ lay.used - (parts @ lay.rows) * probabilities[:, None, :]
    return parts.sum(axis=2), slopes


def moves(
    drawn: Drawn, states: int, queries: list[Asked], step: float, rng: np.random.Generator
) -> np.ndarray:
    """For each query the smallest difference between the laws of two models that differ in it."""
    lay = layout(drawn, states)
    raw = rng.uniform(0.15, 1.0, len(lay.owner))
    model = raw / (lay.same @ raw)
    questions = Questions.of(lay, states, queries, rng)
    law, _ = law_and_slopes(lay, model[None])
    root = np.sqrt(law[0])
    every = np.arange(len(queries))
    now, _ = questions.answers(lay, every, np.tile(model, (len(queries), 1)))
    goals = now + step

    def gaps(logits: np.ndarray, of: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        exponents = np.exp(logits)
        probabilities = exponents / (exponents @ lay.same)
        law, slopes = law_and_slopes(lay, probabilities)
        told = np.sqrt(law)
        answer, slope = questions.answers(lay, of, probabilities)
        return (
            np.concatenate([told - root, (answer - goals[of])[:, None]], axis=1),
            np.concatenate([slopes / (2 * told[:, :, None]), slope[:, None]], axis=1),
        )

    reached = np.full(len(queries), np.inf)
    for scale in SCALES:
        left = np.flatnonzero(reached >= SAME)
        noise = rng.normal(0, scale, (len(left), len(model)))
        reached[left] = np.minimum(reached[left], _searched(np.log(model) + noise, left, gaps))
    return reached


def _searched(logits: np.ndarray, of: np.ndarray, gaps: Gaps) -> np.ndarray:
    """The length of the gap that Levenberg-Marquardt comes to, for a stack of searches."""
    damping = np.full(len(of), 1e-4)
    gap, slope = gaps(logits, of)
    cost = (gap**2).sum(axis=1)
    at_check = cost.copy()
    open_ = np.arange(len(of))
    for turn in range(ITERATIONS):
        g, s = gap[open_], slope[open_]
        gram = s @ s.transpose(0, 2, 1)
        scale = damping[open_] * np.trace(gram, axis1=1, axis2=2) / gram.shape[1]
        gram[:, range(gram.shape[1]), range(gram.shape[1])] += (scale + 1e-17)[:, None]
        step = (s.transpose(0, 2, 1) @ np.linalg.solve(gram, g[:, :, None]))[:, :, 0]
        tried = logits[open_] - np.clip(step, -2, 2)
        new_gap, new_slope = gaps(tried, of[open_])
        new_cost = (new_gap**2).sum(axis=1)
        better = new_cost < cost[open_]
        taken = open_[better]
        logits[taken], gap[taken], slope[taken] = tried[better], new_gap[better], new_slope[better]
        cost[taken] = new_cost[better]
        damping[open_] = np.clip(
            np.where(better, damping[open_] * 0.1, damping[open_] * 8), 1e-14, 1e6
        )
        done = cost[open_] < SAME**2 / 100
        if turn % 15 == 14:  # little was gained: it has come to rest
            done |= cost[open_] > 0.9 * at_check[open_]
            at_check = cost.copy()
        open_ = open_[~done]
        if not len(open_):
            break
    return np.sqrt(cost)


def queries_of(number: int, rng: np.random.Generator) -> list[Asked]:
    """Some of the queries with one target, at random."""
    found = []
    for target in range(3):
        rest = [k for k in range(3) if k != target]
        for roles in product(range(3), repeat=2):
            given = tuple(k for k, role in zip(rest, roles, strict=True) if role == 1)
            do = tuple(k for k, role in zip(rest, roles, strict=True) if role == 2)
            found.append((target, given, do))
    return [found[k] for k in rng.permutation(len(found))[:number]]


def compared(
    number: int, drawn: Drawn, states: int, asked: int
) -> Iterator[tuple[str, str, bool | None, str]]:
    """Query by query: status, rank answer, and whether the search moved it."""
    rng = np.random.default_rng([states, number])
    graph = drawn.graph(states)
    queries = queries_of(asked, rng)
    verdicts = [
        graph.recover(*([NAMES[k] for k in part] for part in ((target,), given, do)))
        for target, given, do in queries
    ]
    moved, stayed = np.zeros(len(queries), dtype=bool), np.zeros(len(queries), dtype=int)
    for number_of_model in range(
        MODELS
    ):  # one that moves is enough; that none does, two models must say
        left = np.flatnonzero(~moved & (stayed < 2))
        if len(left):
            step = STEPS[number_of_model % len(STEPS)]
            gap = moves(drawn, states, [queries[k] for k in left], step, rng)
            moved[left] |= gap < SAME
            stayed[left] += gap > DIFFERENT * step
    said = np.where(moved, "moved", np.where(stayed >= 2, "stayed", "unclear")).tolist()
    for verdict, word in zip(verdicts, said, strict=True):
        yield verdict.query, verdict.status, verdict.generic, word


def main(states: int, asked: int, file: Path, seconds: float) -> None:
    """Go on with the file; print what is done of each group, and every contradiction."""
    end = time.monotonic() + seconds
    graphs = all_graphs()
    done = len(file.read_text().splitlines()) if file.exists() else 0
    with file.open("a") as out:
        for number in range(done, len(graphs)):
            if time.monotonic() > end:
                break
            lines = list(compared(number, graphs[number], states, asked))
            out.write(json.dumps([number, graphs[number].group, lines]) + "\n")
            out.flush()
    report(file, graphs)


def report(file: Path, graphs: list[Drawn]) -> None:
    """The table: by group, status, rank answer and search."""
    tally: Counter[tuple[object, ...]] = Counter()
    finished: Counter[int] = Counter()
    for line in file.read_text().splitlines():
        number, group, lines = json.loads(line)
        finished[group] += 1
        for query, status, generic, word in lines:
            tally[group, status, generic, word] += 1
            if (generic, word) not in ((True, "stayed"), (False, "moved")):
                print("contradiction:", number, query, status, generic, word, graphs[number])
    for group in range(3):
        whole = sum(one.group == group for one in graphs)
        print(f"group {group}: {finished[group]:,} of {whole:,} graphs")
        for key, count in sorted(tally.items(), key=str):
            if key[0] == group:
                print(f"  {count:>7,}  {key[1]}, identified for these states: {key[2]}, {key[3]}")


if __name__ == "__main__":
    seconds = float(sys.argv[4]) if len(sys.argv) > 4 else 1e9
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), seconds)

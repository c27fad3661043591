"""What hidden common causes leave of a network's answers, against enumeration of full models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest

from lacunet.ask.effect import effect
from lacunet.ask.impute.impute import impute
from lacunet.ask.predict.predict import predict
from lacunet.data.data import Data
from lacunet.errors import LacunetWarning
from lacunet.inference.errors import QueryError
from lacunet.inference.query import query
from lacunet.learning.learn import learn
from lacunet.learning.mgraph import MGraph
from lacunet.missingness.confounding import confounded_pair, undescribed_pairs
from lacunet.missingness.errors import MissingnessGraphError
from lacunet.missingness.graph import MissingnessGraph
from lacunet.network.mechanisms import Mechanisms
from lacunet.network.network import FloatArray, Network

BINARY = ["0", "1"]


@dataclass(frozen=True)
class FullModel:
    """Binary variables in the order of causes, and a hidden binary cause for each pair."""

    names: str
    parents: Mapping[str, list[str]]
    pairs: list[tuple[str, str]]
    tables: Mapping[str, FloatArray]  # axes: parents, hidden causes in the order of pairs, child
    hidden: list[FloatArray]

    @classmethod
    def drawn(cls, rng: np.random.Generator) -> FullModel:
        names = "ABCDE"[: rng.integers(3, 6)]
        parents = {
            name: [other for other in names[:at] if rng.random() < 0.45]
            for at, name in enumerate(names)
        }
        every = list(combinations(names, 2))
        chosen = rng.choice(len(every), rng.integers(1, 4), replace=False)
        pairs = [every[at] for at in sorted(chosen)]
        axes = {n: len(parents[n]) + sum(n in pair for pair in pairs) for n in names}
        tables = {name: rng.dirichlet([1, 1], [2] * axes[name]) for name in names}
        return cls(names, parents, pairs, tables, [rng.dirichlet([2, 2]) for _ in pairs])

    def law(self, do: Mapping[str, int]) -> FloatArray:
        """P(all variables) after the intervention, the hidden causes summed out."""
        law = np.zeros([2] * len(self.names))
        for values in product(range(2), repeat=len(self.names) + len(self.pairs)):
            value_of = dict(zip(self.names, values, strict=False))
            causes = values[len(self.names) :]
            if any(value_of[name] != state for name, state in do.items()):
                continue
            weight = np.prod([p[u] for p, u in zip(self.hidden, causes, strict=True)])
            for name in set(self.names) - do.keys():
                own = [u for pair, u in zip(self.pairs, causes, strict=True) if name in pair]
                above = [value_of[parent] for parent in self.parents[name]]
                weight *= self.tables[name][(*above, *own, value_of[name])]
            law[values[: len(self.names)]] += weight
        return law

    def network(self) -> Network:
        """The true CPTs P(x | parents), and the graph with the hidden causes."""
        law, tables = self.law({}), {}
        for name in self.names:
            family = [*self.parents[name], name]
            joint = np.einsum(law, [*range(len(self.names))], [*map(self.names.index, family)])
            tables[name] = joint / joint.sum(-1, keepdims=True)
        network = Network(dict.fromkeys(self.names, BINARY), self.parents, tables)
        text = "; ".join(f"{one} <-> {two}" for one, two in self.pairs)
        return network.with_mechanisms(Mechanisms(text, {}))


def conditioned(law: FloatArray, names: str, targets: str, seen: Mapping[str, int]) -> FloatArray:
    axes = [*range(len(names))]
    rows = law[
        tuple(slice(s, s + 1) if (s := seen.get(n)) is not None else slice(2) for n in names)
    ]
    table = np.einsum(rows, axes, [names.index(name) for name in targets])
    return np.asarray(table / table.sum())


@pytest.mark.parametrize("is_intervened", [False, True])
def test_what_is_answered_in_spite_of_hidden_causes_is_right(is_intervened: bool) -> None:
    rng = np.random.default_rng(5)
    told = Counter[tuple[bool, bool]]()
    for _ in range(60):
        model = FullModel.drawn(rng)
        network = model.network()
        bare = network.with_mechanisms(None)
        for _ in range(6):
            drawn = "".join(rng.permutation(list(model.names)))
            cuts = np.cumsum([rng.integers(1, 3), is_intervened, rng.integers(0, 3)])
            targets, done, given = drawn[: cuts[0]], drawn[cuts[0] : cuts[1]], drawn[cuts[1] :]
            do = {name: int(rng.integers(2)) for name in done}
            seen = {name: int(rng.integers(2)) for name in given[: rng.integers(0, 3)]}
            truth = conditioned(model.law(do), model.names, targets, seen)
            answer = query(bare, list(targets), seen, do=do)
            is_right = bool(np.abs(answer - truth).max() < 1e-9)
            is_answered = confounded_pair(network, targets, seen, do) is None
            assert is_right or not is_answered, (model.parents, model.pairs, targets, seen, do)
            told[is_right, is_answered] += 1
    assert min(told[True, True], told[False, False]) > 80
    assert told[True, False] <= 0.02 * told[True, True]  # right, but not seen to be


CHAIN = Network(dict.fromkeys("STI", BINARY), {"T": ["S"], "I": ["T"]})


def chain_rows() -> tuple[pd.DataFrame, FloatArray]:
    """The expected rows of S -> T -> I with a hidden cause of S and I, and P(I=1 | do(T))."""
    smokes, treated = np.array([0.05, 0.95]), np.array([0.05, 0.95])
    ill = np.array([[0.1, 0.8], [0.2, 0.9]])  # given T, the hidden cause
    rows = []
    for s, t, i, shown in product(range(2), repeat=4):
        weight = sum(
            0.5 * abs(1 - s - smokes[u]) * abs(1 - t - treated[s]) * abs(1 - i - ill[t, u])
            for u in range(2)
        )
        row = (str(s), str(t), str(i) if shown else None)
        rows.append((*row, 1e5 * weight * (0.7 if shown else 0.3)))
    return pd.DataFrame(rows, columns=["S", "T", "I", "w"]), ill.mean(axis=1)


def test_a_back_door_through_a_hidden_cause_is_not_taken_for_the_effect() -> None:
    rows, truth = chain_rows()
    graph = MissingnessGraph.parse("S <-> I; R[I]", CHAIN)
    result = learn(CHAIN, Data(rows, weight="w"), MGraph(missingness=graph), pseudo_counts=0.0)
    with pytest.raises(QueryError, match="'S' and 'I'"):
        query(result, "I", do={"T": "1"})
    with pytest.raises(QueryError, match="'S' and 'I'"):
        effect(result, "I", do="T")
    recovered = graph.recover(["I"], do=["T"]).estimate(Data(rows, weight="w"))
    np.testing.assert_allclose(recovered.probabilities[:, 1], truth, rtol=1e-9)
    np.testing.assert_allclose(query(result, "T", do={"S": "1"}), [0.05, 0.95], atol=1e-4)


def test_learning_and_answers_say_once_that_cpts_do_not_describe_a_hidden_cause() -> None:
    rows, _ = chain_rows()
    graph = MissingnessGraph.parse("S <-> I; R[I]", CHAIN)
    result = learn(CHAIN, Data(rows, weight="w"), MGraph(missingness=graph), pseudo_counts=0.0)
    assert sum("S <-> I" in note for note in result.notes) == 1
    with pytest.warns(LacunetWarning, match="S <-> I") as said:
        query(result, "I", {"S": "0"})
    assert len(said) == 1
    for frame in (
        {"S": BINARY, "T": BINARY, "I": [None, None]},
        {"S": BINARY * 5, "T": BINARY * 5},
    ):
        with pytest.warns(LacunetWarning, match="S <-> I") as said:
            predict(result, frame, "I")
        assert len(said) == 1
    with pytest.warns(LacunetWarning, match="S <-> I") as said:
        impute(result, {"S": BINARY, "T": BINARY, "I": [None, "1"]})
    assert len(said) == 1
    query(result, "I")  # neither of these depends on it
    query(result, "T", {"S": "1"})
    predict(result, {"S": BINARY, "T": [None, None], "I": [None, None]}, "T")


def test_a_hidden_cause_along_an_edge_bends_interventions_alone() -> None:
    graph = MissingnessGraph.parse("T <-> I; R[I]", CHAIN.with_tables(None))
    both = Network(dict.fromkeys("TI", BINARY), {"I": ["T"]})
    assert undescribed_pairs(MissingnessGraph.parse("T <-> I", both)) == ()
    assert undescribed_pairs(graph) == (("T", "I"),)  # S -> T <-> I: given T, I depends on S


def test_a_graph_of_hidden_causes_alone_needs_no_mechanism() -> None:
    network = Network(dict.fromkeys("XZY", BINARY), {"Z": ["X"], "Y": ["Z"]})
    given = MissingnessGraph(network, hidden=[("X", "Y")])
    read = MissingnessGraph.parse("X <-> Y", network)
    assert str(given) == str(read)
    assert given.recover("P(Y | do(X))").status == "recoverable"
    for nothing in ({}, {"latent": ["X"]}):
        with pytest.raises(MissingnessGraphError, match="None"):
            MissingnessGraph(network, **nothing)  # type: ignore[arg-type]

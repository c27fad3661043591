"""Classes of equivalent DAGs against their definition and against another library."""

from __future__ import annotations

from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest

from lacunet.errors import LacunetError
from lacunet.network.network import Network
from lacunet.structure.cpdag import (
    Parents,
    compare_structures,
    compelled_arcs,
    cpdag_of,
    extension,
    to_cpdag,
    topological_by_number,
)

STATES = {name: ["0", "1"] for name in "ABCDEFGH"}
NODES = 4


def all_dags() -> list[Parents]:
    """Every DAG over four nodes: each pair has no arc, one, or the other."""
    pairs = list(combinations(range(NODES), 2))
    found = []
    for choice in product((None, 0, 1), repeat=len(pairs)):
        parents: Parents = [set() for _ in range(NODES)]
        for (x, y), way in zip(pairs, choice, strict=True):
            if way is not None:
                parents[y if way == 0 else x].add(x if way == 0 else y)
        if len(topological_by_number(parents)) == NODES:
            found.append(parents)
    return found


def independences(parents: Parents) -> tuple[frozenset[frozenset[int]], frozenset[object]]:
    """Adjacencies and unshielded colliders: what makes DAGs equivalent."""
    adjacent = frozenset(frozenset((x, y)) for y in range(NODES) for x in parents[y])
    colliders = frozenset(
        (frozenset((x, z)), y)
        for y in range(NODES)
        for x, z in combinations(sorted(parents[y]), 2)
        if frozenset((x, z)) not in adjacent
    )
    return adjacent, colliders


def test_an_arc_is_compelled_if_every_equivalent_dag_has_it() -> None:
    members: dict[object, list[Parents]] = {}
    dags = all_dags()
    for parents in dags:
        members.setdefault(independences(parents), []).append(parents)
    assert (len(dags), len(members)) == (543, 185)  # known numbers of DAGs and classes
    for group in members.values():
        arcs = [{(x, y) for y in range(NODES) for x in parents[y]} for parents in group]
        shared = set.intersection(*arcs)
        for parents in group:
            assert compelled_arcs(parents) == shared


def test_what_is_known_directs_the_arcs_that_all_members_share_which_agree_with_it() -> None:
    rng = np.random.default_rng(0)
    classes: dict[object, list[Parents]] = {}
    for dag in all_dags():
        classes.setdefault(independences(dag), []).append(dag)
    for members in classes.values():
        for dag in members:
            arcs = {(x, y) for y, own in enumerate(dag) for x in own}
            forbidden = rng.random((NODES, NODES)) < rng.choice([0.1, 0.3])
            for x, y in arcs:
                forbidden[x, y] = False
            left = [
                {(x, y) for y, own in enumerate(other) for x in own}
                for other in members
                if not any(forbidden[x, y] for y, own in enumerate(other) for x in own)
            ]
            found = cpdag_of(("A", "B", "C", "D"), dag, forbidden)
            shared = set.intersection(*left)
            assert found.compelled == {("ABCD"[x], "ABCD"[y]) for x, y in shared}
            assert found.edges == len(arcs)


def test_an_extension_of_a_class_is_one_of_its_members() -> None:
    for parents in all_dags():
        fixed = compelled_arcs(parents)
        directed: Parents = [{x for x, z in fixed if z == y} for y in range(NODES)]
        undirected: Parents = [set() for _ in range(NODES)]
        for y in range(NODES):
            for x in parents[y] - directed[y]:
                undirected[x].add(y)
                undirected[y].add(x)
        found = extension(directed, undirected)
        assert found is not None
        assert independences(found) == independences(parents)


def test_a_cycle_of_four_edges_without_a_chord_has_no_extension() -> None:
    edges: Parents = [{1, 3}, {0, 2}, {1, 3}, {0, 2}]
    assert extension([set() for _ in range(4)], edges) is None


def random_dag(rng: np.random.Generator) -> Network:
    names = list(rng.permutation(list(STATES)))
    parents = {
        y: [x for x in names[:at] if rng.random() < 0.35] for at, y in enumerate(names) if at
    }
    return Network(STATES, parents)


@pytest.mark.filterwarnings("ignore")
def test_classes_and_distances_are_those_of_causal_learn() -> None:
    general = pytest.importorskip("causallearn.graph.Dag")
    from causallearn.graph.Edge import Edge
    from causallearn.graph.Endpoint import Endpoint
    from causallearn.graph.GraphNode import GraphNode
    from causallearn.graph.SHD import SHD
    from causallearn.utils.DAG2CPDAG import dag2cpdag

    def theirs(network: Network) -> object:
        node = {name: GraphNode(name) for name in STATES}
        dag = general.Dag(list(node.values()))
        for name in network.variables:
            for parent in network.parents(name):
                dag.add_directed_edge(node[parent], node[name])
        return dag2cpdag(dag)

    def marks(graph: object) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
        edges: list[Edge] = graph.get_graph_edges()  # type: ignore[attr-defined]
        compelled, reversible = set(), set()
        for edge in edges:
            ends = edge.get_node1().get_name(), edge.get_node2().get_name()
            if edge.get_endpoint1() == edge.get_endpoint2() == Endpoint.TAIL:
                reversible.add((min(ends), max(ends)))
            else:
                compelled.add(ends if edge.get_endpoint2() == Endpoint.ARROW else ends[::-1])
        return compelled, reversible

    rng = np.random.default_rng(5)
    for _ in range(40):
        one, two = random_dag(rng), random_dag(rng)
        ours = to_cpdag(one)
        assert (ours.compelled, ours.reversible) == marks(theirs(one))
        assert compare_structures(one, two).shd == SHD(theirs(one), theirs(two)).get_shd()


@pytest.mark.filterwarnings("ignore")
def test_classes_and_all_counts_are_those_of_pgmpy() -> None:
    """Their classes of their DAGs, compared edge by edge: none of our code makes the reference."""
    base = pytest.importorskip("pgmpy.base")

    def marks(network: Network) -> set[tuple[frozenset[str], tuple[str, ...]]]:
        """Each adjacent pair, with its direction where that is compelled."""
        dag = base.DAG([(x, y) for y in network.variables for x in network.parents(y)])
        dag.add_nodes_from(network.variables)
        found = dag.to_pdag()
        directed = {(frozenset(arc), tuple(arc)) for arc in found.directed_edges}
        return directed | {(frozenset(edge), ()) for edge in found.undirected_edges}

    rng = np.random.default_rng(6)
    for _ in range(40):
        one, two = random_dag(rng), random_dag(rng)
        true, other = marks(one), marks(two)
        pairs, others = ({pair for pair, _ in some} for some in (true, other))
        found = compare_structures(one, two)
        assert found.shd == len(pairs | others) - len(true & other)
        assert found.f1 == pytest.approx(2 * len(true & other) / (len(true) + len(other)))
        assert found.precision == pytest.approx(len(true & other) / len(other))
        assert found.recall == pytest.approx(len(true & other) / len(true))
        assert found.skeleton_errors == len(pairs ^ others)
        assert {frozenset(arc) for arc in found.missing} == pairs - others
        assert {frozenset(arc) for arc in found.extra} == others - pairs
        arcs, other_arcs = ({arc for _, arc in some if arc} for some in (true, other))
        assert set(found.compelled_missing) == arcs - other_arcs
        assert set(found.compelled_extra) == other_arcs - arcs


def test_differences_are_counted_by_kind() -> None:
    truth = Network(STATES, {"C": ["A", "B"], "D": ["C"]})
    other = Network(STATES, {"C": ["A"], "D": ["C"], "E": ["D"]})
    found = compare_structures(truth, other)
    # B -> C is missing, D - E is extra, A - C and C - D have lost their direction.
    assert found.shd == 4
    assert found.missing == (("B", "C"),)
    assert found.extra == (("D", "E"),)
    assert found.compelled_missing == (("A", "C"), ("B", "C"), ("C", "D"))
    assert found.compelled_extra == ()
    assert (found.precision, found.recall, found.f1) == (0, 0, 0)
    assert found.skeleton_f1 == pytest.approx(2 * 2 / 6, rel=1e-15)
    assert found.skeleton_errors == 2
    assert "1 edge" in str(found)
    assert "1 extra, 2 otherwise" in str(found)


def test_the_order_of_the_variables_does_not_matter() -> None:
    one = Network(STATES, {"C": ["A", "B"], "D": ["C"]})
    two = Network(dict(reversed(STATES.items())), {"C": ["B", "A"], "D": ["C"]})
    assert compare_structures(one, two).is_equivalent
    assert str(to_cpdag(one)) == "A -> C\nB -> C\nC -> D"


def test_other_variables_and_other_objects_are_refused() -> None:
    one = Network(STATES)
    with pytest.raises(LacunetError, match="'H'"):
        compare_structures(one, Network({k: v for k, v in STATES.items() if k != "H"}))
    with pytest.raises(LacunetError, match="not int"):
        compare_structures(one, 3)


def test_a_name_that_could_be_read_as_an_arc_is_printed_in_quotes() -> None:
    states = {"a -> b": ["0", "1"], "c": ["0", "1"]}
    assert str(to_cpdag(Network(states, {"c": ["a -> b"]}))) == '"a -> b" -- c'


def test_edges_files_and_names_are_structures_too(tmp_path: Path) -> None:
    (tmp_path / "edges.txt").write_text("A -> B")
    assert str(to_cpdag("A -> B")) == str(to_cpdag(tmp_path / "edges.txt")) == "A -- B"
    assert compare_structures("A -> B", [("B", "A")]).is_equivalent
    assert len(to_cpdag("asia").variables) == 8

"""The missingness graph: how values go missing, drawn over a network.

One mechanism ``R[X]`` for each variable X that may be missing; its parents are what decides
whether X is recorded: variables and other mechanisms. A bidirected edge stands for a common
cause that is not in the network. Edges among the variables are those of the network.

K. Mohan, J. Pearl and J. Tian, "Graphical models for inference with missing data", 2013.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from os.path import isfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, overload

from lacunet.atomic_files import writing_to
from lacunet.counts.open_rows import open_rows
from lacunet.data.data import as_data
from lacunet.data.errors import DataWarning
from lacunet.data.network_from_data import network_of_edges
from lacunet.errors import warn
from lacunet.missingness.errors import MissingnessGraphError
from lacunet.missingness.graph_text import (
    Statement,
    in_every_wave,
    parse_statements,
    write_statements,
)
from lacunet.missingness.separation.drawing import (
    Drawing,
    Pair,
    check_edge,
    checked_node,
    mechanisms_in,
)
from lacunet.missingness.separation.mixed import HiddenCause
from lacunet.network.arguments import clear_arguments
from lacunet.network.edge_texts import is_edges
from lacunet.network.formats.files import AnyNetwork, NetworkOrEdges, as_network
from lacunet.network.network import Network
from lacunet.network.nodes import BOTH, RIGHT, SELECTION, Mechanism, Node, node_text
from lacunet.text import counted

if TYPE_CHECKING:
    import networkx as nx

    from lacunet.ask.effect import Effect
    from lacunet.missingness.verdict import Verdict, Verdicts


# Attributes of a graph that only the package uses.
INNER_ATTRIBUTES = frozenset(
    [
        "causes_of",
        "check_data",
        "check_partially",
        "doubt",
        "hiding",
        "in_order",
        "mixed",
        "orders",
        "over",
        "parts",
        "shown_with",
        "with_edges_of",
        "with_parts",
        "without_rules",
    ]
)


@clear_arguments
@dataclass(frozen=True, init=False, eq=False, repr=False)
class MissingnessGraph(Drawing):
    """Why values are missing: what decides whether each variable is recorded.

    ``R[X]``, the *mechanism* of X, is whether X is recorded in a row. ``Age -> R[Income]`` says
    that age decides whether income is recorded, ``Income -> R[Income]`` that income itself does
    (self-masking), and ``R[Income]`` alone that nothing does. Variables without a mechanism are
    never missing.

    Parameters
    ----------
    network
        Gives the variables and the edges among them. Also a result, a file's path or the name of a
        bundled network.
    causes
        The parents of each mechanism: ``{"Income": ["Age", Mechanism("Job")]}``, or its one parent:
        ``{"Income": "Age"}``. The keys are the variables with missing values; mechanisms named as
        parents are added to them. For a text use `parse`. If the network has a rule by which a
        question was not asked of all, such as ``not_asked={"SmokesNow": "Smoked=no"}``, causes are
        added by that rule: Smoked and R[Smoked] are causes of R[SmokesNow].
    hidden
        The pairs of nodes that share a hidden common cause.
    latent
        The variables that no data ever show.
    selection
        The causes of ``R[*]``, whether a row was recorded at all; None if every row was.
    monotone
        Pairs of variables, as in ``[("Visit2", "Visit1")]``: Visit2 is shown only where Visit1 is,
        since nobody comes back who has left the study. In the text, ``R[Visit2] <= R[Visit1]``.

    Raises
    ------
    MissingnessGraphError
        What is given is not a missingness graph; the message names the nodes.

    Examples
    --------
    >>> network = Network({name: ["0", "1"] for name in "XY"}, {"Y": ["X"]})
    >>> graph = MissingnessGraph.parse("X -> R[Y]; Y -> R[X]", network)
    >>> print(graph)
    Y -> R[X]
    X -> R[Y]
    >>> graph.category()
    'MNAR'

    X decides whether it is recorded itself. Its distribution cannot be recovered by a formula, that
    of Y given X can.

    >>> masked = MissingnessGraph.parse("X -> R[X]", network)
    >>> masked.recover("P(X)").status, masked.recover("P(Y | X)").status
    ('not recoverable', 'recoverable')
    """

    def __dir__(self) -> list[str]:
        """What a graph is asked; what the package itself needs of it is not completed."""
        return [name for name in super().__dir__() if name not in INNER_ATTRIBUTES]

    @classmethod
    def parse(
        cls,
        text: str,
        network: NetworkOrEdges,
        source: str = "missingness graph",
        *,
        data: Any = None,
    ) -> Self:
        """Read a graph from its text: ``"Age -> R[Income]; R[A] -> R[B]; X <-> R[Y]"``.

        Parameters
        ----------
        text
            Statements, in any order, separated by semicolons or line ends. ``R[A]``, the
            *mechanism* of A, is whether A is recorded in a row: ``Age -> R[A]`` says that Age
            decides on it, ``R[A]`` alone that nothing does. ``X <-> R[Y]`` says that X and R[Y]
            share a hidden common cause; ``R[*]`` is whether a row was recorded at all, so
            ``X -> R[*]`` says that X decides which rows there are. In a panel ``H[t-1] -> R[S[t]]``
            holds in all waves.
        network
            Gives the variables and the edges among them; edges between variables may be repeated
            in the text, but only those that the network has. Also a result, a file's path or the
            name of a bundled network. Or edges such as ``"Age -> Income"``: the states are then
            those of ``data``.
        source
            What errors call the text, such as the name of its file.
        data
            Data as for `lacunet.learn`. Used for the states when edges are given, and for rules
            and latent variables. Every column with missing values must be named in the text,
            ``R[X]`` alone where nothing causes it. Edges without data are taken to be of
            variables with two states, with a warning: estimates need the states, while whether
            a query can be recovered rarely depends on them.

        Raises
        ------
        MissingnessGraphError
            The text is empty, cannot be read, or does not fit the network or the data.

        Examples
        --------
        >>> rows = {"Age": ["old", "old", "young"], "Income": ["high", None, "low"]}
        >>> graph = MissingnessGraph.parse("Age -> R[Income]", "Age -> Income", data=rows)
        >>> graph.recover("P(Income)").estimate(rows)
        <P(Income): high 0.6667, low 0.3333>
        """
        if not isinstance(text, str):
            raise MissingnessGraphError(
                f"the text of a missingness graph is needed, not {type(text).__name__}.",
                "the text comes first: lacunet.MissingnessGraph.parse(text, network).",
            )
        if data is None:
            return cls._of_text(text, _network_without_data(network), source)
        read = as_data(data)
        with_cpts = not read.not_asked  # which CPTs that know of no rule would break
        opened = open_rows("MissingnessGraph.parse", network, read, with_cpts=with_cpts)
        graph = cls._of_text(text, opened.network, source, opened.latent)
        # Verdicts without the mechanism of a column that misses values would be of other data.
        quiet = warnings.catch_warnings(action="ignore", category=DataWarning)
        with quiet, opened.rows() as rows:
            graph.check_partially(rows.look().hidden(opened.network), ())
        return graph

    @classmethod
    def _of_text(
        cls, text: str, network: Network, source: str, latent: Collection[str] = ()
    ) -> Self:
        """The graph that a text draws over a network; refused where it names no mechanism."""
        typed = list(parse_statements(text, source, variables=network.variables))
        statements = in_every_wave(typed, network.variables)
        nodes = [node for part in statements for node in (*part.left, *part.right)]
        edges = [
            (left, part.arrow, right)
            for part in statements
            for left, right in product(part.left, part.right)
        ]
        graph = cls._of_edges(network, nodes, edges, latent)
        if not graph.causes_of and not graph.hidden:
            raise MissingnessGraphError(
                f"{source}: no mechanism R[X] is named.",
                "name at least one: Age -> R[X] if Age decides whether X is recorded, R[X] if X is "
                "missing completely at random.",
            )
        return graph

    @classmethod
    def _of_edges(
        cls,
        network: Network,
        nodes: Iterable[Node],
        edges: Iterable[tuple[Node, str, Node]],
        latent: Collection[str],
    ) -> Self:
        """The graph of some nodes and of edges among them, each with its arrow."""
        causes: dict[str, list[Node]] = {name: [] for name in mechanisms_in(nodes)}
        hidden: list[Pair] = []
        monotone: list[tuple[str, str]] = []
        for cause, arrow, effect in edges:
            if arrow == "<=":
                monotone.append(_never_more(cause, effect))
            elif arrow == "<->":
                hidden.append((cause, effect))
            elif isinstance(effect, Mechanism):
                causes[effect.variable].append(cause)
            else:
                check_edge(network, cause, effect)
        selection = causes.pop(SELECTION.variable, None)
        return cls(network, causes, hidden, latent, selection, monotone)

    @classmethod
    def without_rules(cls, network: Network, causes: Mapping[str, Iterable[Node]]) -> Self:
        """The graph with no other causes than these, whatever the rules of the network look at.

        For mechanisms that hide cells whether their question was asked or not, and for what seems
        to decide on being missing under MAR.
        """
        bare = network.with_codes(network.codes_of) if network.not_asked_of else network
        return cls(bare, causes)

    @classmethod
    def read(cls, path: str | Path, network: NetworkOrEdges, *, data: Any = None) -> Self:
        """Read a graph from a text file; `parse` says what the network and the data may be."""
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            reason = "it is not a text file"
            if isinstance(error, OSError):
                reason = error.strerror or str(error)
            raise MissingnessGraphError(
                f"{path}: the missingness graph cannot be read: {reason}."
            ) from None
        return cls.parse(text, network, source=str(path), data=data)

    def write(self, path: str | Path) -> None:
        """Write the graph to a text file."""
        with writing_to(path, MissingnessGraphError) as file:
            file.write(f"{self}\n".encode())

    def __repr__(self) -> str:
        mechanisms = counted(len(self.causes_of), "mechanism")
        variables = counted(len(self.network.variables), "variable")
        return f"<{type(self).__name__}: {mechanisms} over {variables}>"

    def _repr_html_(self) -> str:
        from lacunet.show.figures.notebook_figures import graph_html

        return graph_html(self, repr(self)[1:-1])

    def __str__(self) -> str:
        return write_statements(self._statements(self.causes_of))

    def _statements(self, causes_of: Mapping[Mechanism, tuple[Node, ...]]) -> list[Statement]:
        """What the graph says: the causes of some mechanisms, and all the rest."""
        statements = []
        for mechanism, nodes in causes_of.items():
            if nodes:
                statements.append(Statement(nodes, "->", (mechanism,)))
            else:  # it is there, and nothing decides on it
                statements.append(Statement((mechanism,), "", ()))
        for left, right in self.hidden:
            statements.append(Statement((left,), "<->", (right,)))
        for later, earlier in self.monotone:
            statements.append(Statement((Mechanism(later),), "<=", (Mechanism(earlier),)))
        return statements

    @property
    def doubt(self) -> str:
        """What speaks against the graph, by what is known of the rows it was learned from."""
        return ""

    def to_networkx(self) -> nx.DiGraph[object]:
        """The graph for networkx: variables, `Mechanism` nodes, and a node for a hidden cause.

        A `HiddenCause` stands for a bidirected edge and has two children. Nodes carry ``kind``:
        "variable", "latent", "mechanism" or "hidden". An edge between two mechanisms of which the
        second is shown only where the first is carries ``monotone``.
        """
        import networkx as nx

        graph: nx.DiGraph[object] = nx.DiGraph()
        graph.add_nodes_from(self.network.variables, kind="variable")
        graph.add_nodes_from(self.latent, kind="latent")
        graph.add_nodes_from(self.causes_of, kind="mechanism")
        graph.add_edges_from(self.network.edges)
        graph.add_edges_from(
            (p, effect) for effect, causes in self.causes_of.items() for p in causes
        )
        for later, earlier in self.monotone:
            graph.add_edge(Mechanism(earlier), Mechanism(later), monotone=True)
        for pair in self.hidden:
            cause = HiddenCause(*pair)
            graph.add_node(cause, kind="hidden")
            graph.add_edges_from((cause, node) for node in pair)
        return graph

    @classmethod
    def from_networkx(cls, graph: nx.DiGraph[object], network: AnyNetwork) -> Self:
        """Take a graph from networkx; nodes as `to_networkx` makes them, or texts ``"R[X]"``.

        Edges among variables must be the network's.
        """
        if not graph.is_directed():
            raise MissingnessGraphError(
                "a missingness graph is directed, and the graph given is not.",
                "use networkx.DiGraph, with a node of kind 'hidden' for a hidden cause.",
            )
        over = as_network(network)
        kind_of = {
            node: "hidden" if isinstance(node, HiddenCause) else kind
            for node, kind in graph.nodes(data="kind")
        }
        nodes = {n: checked_node(over, n) for n, kind in kind_of.items() if kind != "hidden"}
        edges: list[tuple[Node, str, Node]] = []
        for cause, effect in graph.edges:
            if cause not in nodes or effect not in nodes:
                continue
            if graph.edges[cause, effect].get("monotone"):
                edges.append((nodes[effect], "<=", nodes[cause]))
            else:
                edges.append((nodes[cause], "->", nodes[effect]))
        for node in kind_of:
            if node in nodes:
                continue
            children = [nodes[child] for child in graph.successors(node) if child in nodes]
            if len(children) != 2 or graph.in_degree(node):
                raise MissingnessGraphError(
                    f"the hidden cause {node!r} has {len(children)} children and may have parents; "
                    "one that stands for A <-> B has two children and no parents."
                )
            edges.append((children[0], "<->", children[1]))
        latent = [str(node) for node, kind in kind_of.items() if kind == "latent"]
        return cls._of_edges(over, nodes.values(), edges, latent)

    def hiding(self, latent: Collection[str]) -> Self:
        """The same graph where some more variables are latent: no data ever show them."""
        return self.with_parts(latent={*self.latent, *latent})

    def with_edges_of(self, network: Network) -> Self:
        """The same mechanisms over other edges among the variables."""
        return self.with_parts(network=network)

    @overload
    def recover(self, *, effort: float = 1.0) -> Verdicts: ...

    @overload
    def recover(
        self,
        target: Iterable[str],
        given: Iterable[str] = (),
        do: Iterable[str] = (),
        *,
        population: Iterable[str] | Iterable[Iterable[str]] = (),
        effort: float = 1.0,
    ) -> Verdict: ...

    def recover(
        self,
        target: Iterable[str] | None = None,
        given: Iterable[str] = (),
        do: Iterable[str] = (),
        *,
        population: Iterable[str] | Iterable[Iterable[str]] = (),
        effort: float = 1.0,
    ) -> Verdict | Verdicts:
        """Decide whether a probability can be recovered from the rows, and by which formula.

        Parameters
        ----------
        target
            The variables asked about; or the text of the whole query, such as
            ``"P(Ill | do(Drug), Age)"``. Without a target: the verdicts on all CPTs, as
            `recover_families` gives them.
        given
            The variables that are seen.
        do
            The variables that are set from outside, for the effect of an intervention.
        population
            Where rows were selected (``Age -> R[*]``: whether a row was recorded at all depends on
            Age): the variables whose distribution among everyone, not only in the rows, is known
            from elsewhere, such as a census. Names here; the numbers are given to ``estimate``.
        effort
            How much longer than usual to search for a formula or for a proof that there is none: 2
            is twice as long. Raise it where the verdict is "undecided".

        Returns
        -------
        A `Verdict`. Its ``status`` is "recoverable", "not recoverable" (there is a proof that no
        formula works for every model of the graph) or "undecided", its ``why`` says the reason. If
        it is recoverable, ``estimand`` is the formula, and ``estimate(data, intervals=True)``
        computes it. If not, ``generic`` says whether the data determine it all the same for the
        numbers of states of this network; then `lacunet.learn` with ``method="em"`` estimates it.
        ``identified_set(data)`` gives the lowest and the highest value that fit the data.

        Examples
        --------
        >>> network = Network({name: ["0", "1"] for name in "XY"}, {"Y": ["X"]})
        >>> verdict = MissingnessGraph.parse("X -> R[Y]", network).recover("P(Y)")
        >>> verdict.status
        'recoverable'
        >>> verdict.estimate({"X": [0, 0, 1, 1], "Y": [0, 1, 1, None]})
        <P(Y): 0 0.2500, 1 0.7500>
        """
        from lacunet.missingness.recover.decide import recover

        if target is None and not any((given, do, population)):
            return self.recover_families(effort)
        return recover(self, target or (), given, do, population=population, effort=effort)

    def recover_full_law(self) -> Verdict:
        """Decide whether variables and mechanisms together can be recovered: P(X, R).

        Completing rows needs it: how values that are missing go with what else is missing. The
        estimate has the axes variables..., then mechanisms (0: missing, 1: shown).
        """
        from lacunet.missingness.recover.full_law import recover_full_law

        return recover_full_law(self)

    def effect(
        self,
        target: str,
        *,
        do: str,
        data: Any,
        population: Any = None,
        evidence: Mapping[str, object] | None = None,
        reference: object = None,
        outcome: object = None,
        level: float = 0.95,
    ) -> Effect:
        """What setting one variable does to another, recovered from rows by a formula.

        It allows for the hidden common causes that the graph names, and adds no prior.

        Parameters
        ----------
        target
            The variable that the effect is on.
        do
            The variable that is set: the treatment.
        data
            The rows from which the effect is recovered.
        population
            Needed where the rows are a selection (``Age -> R[*]``): how the variables that decide
            on it are distributed among everyone. Rows of everyone, or probabilities such as
            ``{"Age": [0.7, 0.3]}``, which are taken as exact.
        evidence
            The group in which the effect is asked for, as in `Network.query`.
        reference
            The state of ``do`` to compare with; its first if not given.
        outcome
            The state of ``target`` whose probabilities are compared. If not given: the second of
            two states, otherwise each.
        level
            The level of the intervals.

        Raises
        ------
        NotRecoverableError
            The graph does not recover the effect.

        Examples
        --------
        >>> states = {"Drug": ["no", "yes"], "Well": ["no", "yes"]}
        >>> network = Network(states, {"Well": ["Drug"]})
        >>> graph = MissingnessGraph.parse("Drug -> R[Well]", network)
        >>> rows = {"Drug": ["yes", "yes", "no", "no"], "Well": ["yes", "no", "no", None]}
        >>> graph.effect("Well", do="Drug", data=rows).contrasts[0].difference.value
        0.5
        """
        from lacunet.ask.effect import effect_by_graph

        return effect_by_graph(
            self,
            target,
            do=do,
            data=data,
            population=population,
            evidence=evidence or {},
            reference=reference,
            outcome=outcome,
            level=level,
        )

    def recover_families(self, effort: float = 1.0) -> Verdicts:
        """The verdict on the CPT of every variable, P(X | parents).

        Print them, or ask one: ``status`` says whether the CPT is recoverable, ``estimand``
        is the formula, ``estimate(data)`` the table. To learn all CPTs so, use
        ``learn(network, data, missingness=graph)``. ``effort`` is as in `recover`.

        Examples
        --------
        >>> network = Network({name: ["0", "1"] for name in "XY"}, {"Y": ["X"]})
        >>> graph = MissingnessGraph.parse("X -> R[Y]", network)
        >>> print(graph.recover_families())
        P(X) is recoverable: P(X), read off directly
        P(Y | X) is recoverable: P(Y | X) = P(Y | X, R[Y]=1)
        """
        from lacunet.missingness.recover.decide import recover_families

        return recover_families(self, effort)


def _network_without_data(value: NetworkOrEdges) -> Network:
    """The network, or that of edges, whose variables are taken to have two states each."""
    if not is_edges(value):
        return as_network(value)
    network, assumed = network_of_edges(value)
    warn(
        f"{', '.join(assumed)}: taken to have two states each; "
        "MissingnessGraph.parse(text, edges, data=data) takes those of the data."
    )
    return network


def _never_more(later: Node, earlier: Node) -> tuple[str, str]:
    """The variables of two mechanisms, R[later] <= R[earlier]."""
    names = mechanisms_in((later, earlier))
    if len(names) < 2 or SELECTION.variable in names:
        raise MissingnessGraphError(
            f"{node_text(later)} <= {node_text(earlier)}: only mechanisms of variables are "
            "compared.",
            "R[B] <= R[A] says that B is shown only where A is.",
        )
    return names[0], names[1]


def graph_of(value: Any, network: Network) -> MissingnessGraph:
    """The missingness graph that a value stands for: a graph, its text, or a path to it.

    Also a directed graph of networkx. A string is a path if such a file is there or if it
    has neither an arrow nor a mechanism.

    Raises
    ------
    MissingnessGraphError
        It is none of these, or a graph of another network.

    Examples
    --------
    >>> network = Network({name: ["0", "1"] for name in "XY"}, {"Y": ["X"]})
    >>> graph_of("X -> R[Y]", network) == graph_of(graph_of("X → R[Y]", network), network)
    True
    """
    if isinstance(value, MissingnessGraph):
        return value.over(network)
    if isinstance(value, str) and not is_path(value):
        return MissingnessGraph.parse(value, network)
    if isinstance(value, Path) or (isinstance(value, str) and os.path.exists(value)):
        return MissingnessGraph.read(value, network)
    if hasattr(value, "is_directed") and hasattr(value, "successors"):
        return MissingnessGraph.from_networkx(value, network)
    raise MissingnessGraphError(
        f"{value!r} is neither a file nor a missingness graph.",
        "give edges such as 'A -> R[B]' (R[B] alone if nothing causes B to be missing), a path to "
        "them, or a lacunet.MissingnessGraph.",
    )


def graph_of_network(network: Network) -> MissingnessGraph | None:
    """The graph that a network was learned with, None if it knows none."""
    known = network.mechanisms
    if known is None or not known.graph:
        return None
    return graph_of(known.graph, network).hiding(known.latent)


def network_and_graph(network: Any, missingness: Any) -> tuple[Any, Any]:
    """The network, and how values go missing in it: a graph in its place says both.

    Raises
    ------
    MissingnessGraphError
        There is another graph beside it.

    Examples
    --------
    >>> graph = graph_of("R[X]", Network({"X": ["0", "1"]}))
    >>> network_and_graph(graph, None) == (graph.network, graph)
    True
    """
    if not isinstance(network, MissingnessGraph):
        return network, missingness
    if missingness is not None:
        raise MissingnessGraphError(
            "two missingness graphs are given: in place of the network, and as missingness=.",
            "give one of the two, or graph.network in place of the first.",
        )
    return network.network, network


def is_path(text: str) -> bool:
    """Whether a string is a file's path rather than the text of a graph."""
    is_text = re.search(rf"R\[|\n|{RIGHT}|{BOTH}|<=|≤", text)
    return not is_text or isfile(text)

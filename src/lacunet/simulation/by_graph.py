r"""Mechanisms of any missingness graph, MNAR ones among them.

A bidirected edge stands for a hidden cause :math:`H`, here a fair coin. Behind
:math:`R_X \leftrightarrow R_Y` it is one more parent of both mechanisms. Behind
:math:`X \leftrightarrow R_Y` it must act on :math:`X` too, and yet leave the network as it is.
So the CPT of :math:`X` is tilted to either side by the same amount: with the coins
:math:`h_j = \pm 1` behind the :math:`k` bidirected edges at :math:`X`,

.. math::
    \Pr(x \mid u, h_1, \ldots, h_k) = \theta_{x \mid u} \Bigl(1 + \sum_j h_j g_j(x, u)\Bigr),
    \qquad \sum_x \theta_{x \mid u} g_j(x, u) = 0, \qquad |g_j| \le 1/k.

The coins are independent of each other and of :math:`U`, and without them
:math:`\Pr(x \mid u) = \theta_{x \mid u}`. Complete rows are drawn first, from the network
alone; the coins are then drawn given the row, by Bayes' rule:

.. math::
    \Pr(h_j \mid x, u, h_{<j}) =
    \frac{1 + \sum_{i \le j} h_i g_i(x, u)}{2 \, (1 + \sum_{i < j} h_i g_i(x, u))}.

Where :math:`X` is a function of its parents, no tilt is possible: there the coin has no
effect on it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from lacunet.errors import warn
from lacunet.inference.sampling import SimulationError, check_beta
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.learned.from_rows import LearnedGraph
from lacunet.missingness.mechanism_cpts import (
    HiddenCauseCpt,
    MechanismCpt,
    Missingness,
    Parent,
    node_name,
)
from lacunet.missingness.separation.mixed import HiddenCause
from lacunet.network.arguments import clear_arguments
from lacunet.network.formats.lacunet_json import no_key_twice
from lacunet.network.mechanisms import Mechanisms
from lacunet.network.network import FloatArray, Network
from lacunet.network.nodes import SELECTION, Mechanism, node_text
from lacunet.text import first_of


@clear_arguments
@dataclass(frozen=True)
class MissingByGraph:
    """Simulates values missing as a graph says (MCAR, MAR or MNAR), for `simulate` and `hide`.

    Parameters
    ----------
    graph
        The mechanisms and their parents, or their text, as in ``"Age -> R[Income]"``. Its latent
        variables are missing in every row.
    tables
        For some or all of the partially observed variables the probability of being missing; for
        ``"*"`` that of a row not being recorded, if the graph has ``R[*]``.
        One axis for each parent: variables, then mechanisms (0: missing, 1: shown), each in
        the network's order, then the hidden causes of the mechanism in the graph's order.
    beta
        The shape parameters of the Beta distribution from which the probabilities of being
        missing are drawn where ``tables`` gives none.

    Examples
    --------
    Three in ten do not say whether they are ill: ``simulate(network, 100, three_in_ten)``.

    >>> three_in_ten = MissingByGraph("R[Ill]", {"Ill": 0.3})

    Ill people do not say so.

    >>> network = Network({"Ill": ["no", "yes"]}, {}, {"Ill": [0.5, 0.5]})
    >>> graph = MissingnessGraph.parse("Ill -> R[Ill]", network)
    >>> drawn = MissingByGraph(graph, {"Ill": [0.0, 1.0]}).draw(network, np.random.default_rng(0))
    >>> drawn.mechanisms["Ill"].missing.tolist()
    [0.0, 1.0]
    """

    graph: MissingnessGraph | str
    tables: Mapping[str, ArrayLike] = field(default_factory=dict)
    beta: tuple[float, float] = (1.0, 0.5)

    def __post_init__(self) -> None:
        if not isinstance(self.graph, MissingnessGraph | str):
            raise SimulationError(
                f"a missingness graph is needed, not {type(self.graph).__name__}.",
                "as in MissingByGraph('Age -> R[Income]').",
            )
        if not isinstance(self.tables, Mapping):
            raise SimulationError(
                f"tables is {self.tables!r}, not a mapping from variables to tables.",
                "as in MissingByGraph('R[Income]', {'Income': 0.3}); leave it out to draw them.",
            )
        if isinstance(self.graph, MissingnessGraph):
            _check_tables(self.graph, self.tables)
        check_beta(self.beta)

    def draw(self, network: Network, rng: np.random.Generator) -> Missingness:
        """Take the tables given and draw the others.

        Raises
        ------
        SimulationError
            A table does not fit its mechanism, or two variables share a hidden cause.
        MissingnessGraphError
            The graph speaks of variables that the network does not have, or its text cannot be
            read.
        """
        if isinstance(self.graph, str):
            graph = MissingnessGraph.parse(self.graph, network)
            _check_tables(graph, self.tables)
        else:
            graph = type(self.graph)(**self.graph.parts | {"network": network})
        causes = tuple(_cause_cpts(graph, rng))
        order = [*graph.in_order, *(node.variable for node in graph.mixed.selection)]
        mechanisms = {name: _mechanism_cpt(name, graph, self, rng) for name in order}
        return Missingness(graph, mechanisms, causes)


def learned_missingness(learned: Mechanisms, network: Network) -> Missingness:
    """The mechanisms that a network was learned with, to hide values of rows drawn from it.

    Raises
    ------
    SimulationError
        A mechanism was not learned, or looks at variables that the network does not have.
    """
    graph = MissingnessGraph.parse(learned.graph, network).hiding(learned.latent)
    order = [*graph.in_order, *(node.variable for node in graph.mixed.selection)]
    if lacking := [name for name in order if name not in learned.cpt_of]:
        raise SimulationError(
            f"the mechanism of {first_of(lacking, 5)} was not learned.",
            "give the missingness graph in its place: its probabilities are then drawn.",
        )
    variable_of = {cpt.child: name for name, cpt in learned.cpt_of.items()}
    mechanisms = {}
    for name in learned.in_order():
        cpt = learned.cpt_of[name]
        parents: list[Parent] = []
        for parent, states in zip(cpt.parents, cpt.states, strict=False):
            if parent in variable_of:
                parents.append(Mechanism(variable_of[parent]))
                continue
            parents.append(parent)
            if network.states_of.get(parent) != tuple(states):
                raise SimulationError(
                    f"the mechanism of {name} looks at {parent!r} with the states {[*states]}, "
                    "which the network does not have.",
                    "give the mechanisms of this network.",
                )
        mechanisms[name] = MechanismCpt(name, tuple(parents), cpt.table[..., 0])
    return Missingness(graph, mechanisms)


def by_learned_graph(graph: LearnedGraph, network: Network) -> MissingByGraph:
    """A graph that was learned from data, to hide values as often as they are missing there."""
    tables = graph.rates_over(network)
    names = [*graph.causes]
    if graph.selection is not None:
        names.append(SELECTION.variable)
    if lacking := [str(Mechanism(name)) for name in names if name not in tables]:
        warn(
            "the rows that the graph was learned from do not tell how often "
            f"{first_of(lacking, 5)} {'hides' if len(lacking) == 1 else 'hide'} a value: these "
            "probabilities are drawn at random. MissingByGraph(graph, tables) takes some that you "
            "know."
        )
    return MissingByGraph(graph, tables)


def _check_tables(graph: MissingnessGraph, tables: Mapping[str, ArrayLike]) -> None:
    """Refuse tables of what has no mechanism."""
    if nobody := set(tables) - {mechanism.variable for mechanism in graph.causes_of}:
        raise SimulationError(f"tables are given for {sorted(nobody)}, which have no mechanism.")


def read_missingness(path: str | os.PathLike[str], network: Network) -> Missingness:
    """Read mechanisms with all their probabilities from JSON.

    It is as `mechanism_cpts.parameters` gives it.

    Raises
    ------
    SimulationError
        The file does not hold mechanisms of this network.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
        data = json.loads(text, object_pairs_hook=no_key_twice)
        graph_text = str(data["graph"])
        latent = [*map(str, data.get("latent", ()))]
        tables = {name: entry["missing"] for name, entry in data["mechanisms"].items()}
        zeros = {name: entry["zero"] for name, entry in data.get("hidden causes", {}).items()}
        separator = None
        if data.get("separator") is not None:
            separator = tuple(map(str, data["separator"]))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise SimulationError(
            f"{path} does not hold mechanisms ({type(error).__name__}: {error}).",
            "`lacunet simulate --missingness-out FILE.json` writes such a file.",
        ) from None
    bare = network.with_codes()  # no causes by rule: the text has all that there are
    graph = MissingnessGraph.parse(graph_text, bare).hiding(latent)
    # What is drawn at random is replaced, or refused if the file does not have it.
    drawn = MissingByGraph(graph, tables).draw(bare, np.random.default_rng(0))
    cause_names = [node_name(cpt.cause) for cpt in drawn.causes]
    lacking = [name for name in drawn.mechanisms if name not in tables]
    lacking += [name for name in cause_names if name not in zeros]
    if lacking:
        raise SimulationError(f"{path} has no table for {lacking}.")
    causes = []
    for name, cpt in zip(cause_names, drawn.causes, strict=True):
        zero = _checked_table(name, cpt.parents, cpt.zero.shape, zeros[name])
        causes.append(replace(cpt, zero=zero))
    return replace(drawn, causes=tuple(causes), separator=separator)


def _mechanism_cpt(
    variable: str, graph: MissingnessGraph, options: MissingByGraph, rng: np.random.Generator
) -> MechanismCpt:
    """The mechanism of a variable, with the table that is given or one that is drawn."""
    mechanism = Mechanism(variable)
    parents = (
        *graph.causes_of[mechanism],
        *(HiddenCause(*pair) for pair in graph.hidden if mechanism in pair),
    )
    shape = tuple(graph.network.cardinality(p) if isinstance(p, str) else 2 for p in parents)
    is_given = variable in options.tables
    if is_given:
        table = _checked_table(f"R[{variable}]", parents, shape, options.tables[variable])
    else:
        table = rng.beta(*options.beta, shape)
    for earlier in (second for first, second in graph.monotone if first == variable):
        without = np.moveaxis(table, parents.index(Mechanism(earlier)), 0)[:1]
        if is_given and not (without == 1).all():
            raise SimulationError(
                f"R[{variable}] <= R[{earlier}] says that {variable!r} is missing wherever "
                f"{earlier!r} is, but the table of R[{variable}] does not.",
                "give the probability 1 (of being missing) there.",
            )
        without[...] = 1.0
    return MechanismCpt(variable, parents, table)


def _checked_table(
    owner: str, parents: tuple[Parent, ...], shape: tuple[int, ...], given: ArrayLike
) -> FloatArray:
    """A table as an array, or its refusal: it has another shape, or no probabilities."""
    try:
        table = np.array(given, dtype=np.float64)
    except (ValueError, TypeError):
        raise SimulationError(f"the table of {owner} is not an array of numbers.") from None
    if not shape and table.shape == (1,):  # a mechanism without parents
        table = table[0]
    if table.shape != shape:
        raise SimulationError(
            f"the table of {owner} has the shape {table.shape}, but its parents "
            f"{list(map(str, parents))} need {shape} (one axis per parent, each cell the "
            "probability of the first value: missing)."
        )
    wrong = ~((table >= 0) & (table <= 1))  # catches NaN as well
    if wrong.any():
        raise SimulationError(
            f"the table of {owner} holds {float(table[wrong][0])!r}, which is not a probability."
        )
    return table


def _cause_cpts(graph: MissingnessGraph, rng: np.random.Generator) -> Iterator[HiddenCauseCpt]:
    r"""The coins behind bidirected edges; of those at one variable each is given those before it.

    The k coins at a variable have values h of 1 and -1, and given its value x together the
    probability

    .. math:: 2^{-k} \bigl(1 + \sum_j h_j \, g_j(x)\bigr)

    with functions g of mean zero, so that each by itself is a fair coin.
    """
    network = graph.network
    at_variable: dict[str, list[HiddenCause]] = {}
    for first, second in graph.hidden:  # the graph puts variables before mechanisms
        if isinstance(second, str):
            raise SimulationError(
                f"the missingness graph has {node_text(first)!r} <-> {second!r}, but the network "
                "already says how its variables depend on each other.",
                "add the common cause to the network as a variable of its own.",
            )
        if isinstance(first, str):
            at_variable.setdefault(first, []).append(HiddenCause(first, second))
        else:
            yield HiddenCauseCpt(HiddenCause(first, second), (), np.array(0.5))
    for variable, causes in at_variable.items():
        if not network.has_cpts:
            raise SimulationError(
                f"a hidden cause of {variable!r} can be simulated only where the network has CPTs.",
                "learn them first, or use a graph without '<->' edges at variables.",
            )
        table = network.cpt(variable).table
        so_far = np.ones(table.shape)  # 1 + sum over i < j of h_i g_i, one more axis for each coin
        for index, cause in enumerate(causes):
            tilt = _tilt(table, rng) / len(causes)  # g_j
            tilt = tilt.reshape(table.shape + (1,) * index)
            parents: tuple[Parent, ...] = (*network.family(variable), *causes[:index])
            yield HiddenCauseCpt(cause, parents, (so_far + tilt) / (2 * so_far))
            so_far = np.stack([so_far + tilt, so_far - tilt], axis=-1)


def _tilt(table: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Numbers of mean zero in every row of the CPT, the largest possible one at 1 or -1.

    One number is drawn for each state and then centred row by row: a hidden cause favours
    the same states whatever the parents are.
    """
    favour = rng.uniform(-1, 1, table.shape[-1])
    mean = (table @ favour / table.sum(axis=-1))[..., None]
    centred = np.where(table > 0, favour - mean, 0.0)
    largest = np.abs(centred).max(axis=-1, keepdims=True)
    tilt: FloatArray = np.divide(centred, largest, out=np.zeros_like(centred), where=largest > 0)
    return tilt

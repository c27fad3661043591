"""Simulated data: what was drawn, what is shown of it, and why the rest is not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.data.network_or_edges import network_beside
from lacunet.data.skipped_questions import skips_of
from lacunet.data.spellings import without_view
from lacunet.data.table import EncodedTable
from lacunet.data.write import to_arrow
from lacunet.inference import sampling
from lacunet.inference.sampling import SimulationError, draw_columns
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.learned.from_rows import LearnedGraph
from lacunet.missingness.mechanism_cpts import MechanismCpt, Missingness, Parent, node_name
from lacunet.network.arguments import clear_arguments
from lacunet.network.cpt import Cpt
from lacunet.network.formats.files import AnyNetwork, NetworkOrEdges, as_network
from lacunet.network.labelled_tables import Library, frame_of
from lacunet.network.mechanisms import Mechanisms
from lacunet.network.network import FloatArray, Network
from lacunet.network.nodes import SELECTION, Mechanism, node_text
from lacunet.randomness import generator
from lacunet.simulation.at_random import Missing
from lacunet.simulation.by_graph import MissingByGraph, by_learned_graph, learned_missingness
from lacunet.text import counted, first_of
from lacunet.text_tables import Displayed

HOW = "MCAR(0.2)"  # as an example
STREAMS = 3  # of random numbers that `simulate` draws from: mechanisms, rows, what is hidden


def hide_cells(
    complete: EncodedTable,
    missingness: Missingness,
    rng: np.random.Generator,
    network: Network | None = None,
) -> EncodedTable:
    """Hide values of complete rows as the mechanisms say.

    Where a question that they hide was not asked, that is shown if the row shows what the rule
    looks at, and not if it does not, as in a survey. Latent variables are hidden in every row.

    Parameters
    ----------
    complete
        The rows; what the mechanisms look at must be shown in every one.
    missingness
        The mechanisms and their parameters.
    rng
        Where the randomness comes from; one seed hides the same cells.
    network
        Gives the rules of what was not asked, if there are any.

    Returns
    -------
    The rows with every other cell as it was, weights and row numbers too. Under a graph with
    ``R[*]`` rows that were not recorded are gone.

    Raises
    ------
    SimulationError
        A variable that a mechanism looks at is missing somewhere already.
    """
    cpts = _cpts(missingness)
    seen = {parent for cpt in cpts for parent in cpt.parents}
    incomplete = [name for name in complete.partially_observed if node_text(name) in seen]
    if incomplete:
        raise SimulationError(
            f"the mechanisms look at {sorted(incomplete)}, which the table does not show in "
            "every row.",
            "hide values of a complete table.",
        )
    given = {node_text(name): column for name, column in complete.columns.items()}
    drawn = draw_columns(cpts, given, complete.rows, rng)
    columns = dict(complete.columns)
    for name, mechanism in missingness.mechanisms.items():
        if mechanism.node != SELECTION:
            columns[name] = columns[name].copy()
            columns[name][drawn[str(mechanism.node)] == 0] = complete.cardinality_of[name]
    for name in missingness.graph.latent:
        columns[name] = np.full_like(columns[name], complete.cardinality_of[name])
    if network is not None:
        for rule in skips_of(network, complete.sets_of):
            if rule.name not in missingness.mechanisms:
                continue
            # Not asked becomes missing, and then again what the rule gives where it can tell.
            codes = columns[rule.name]
            columns[rule.name] = np.where(codes == rule.skip, codes.dtype.type(rule.states), codes)
            columns[rule.name] = rule.filled(columns)
    shown = complete.with_columns(complete.cardinality_of, columns)
    if SELECTION.variable in missingness.mechanisms:
        return shown.take(np.flatnonzero(drawn[str(SELECTION)] == 1))
    return shown


def _cpts(missingness: Missingness) -> list[Cpt]:
    """Every coin and mechanism as a CPT with two states; names are quoted, so none meet."""
    nodes: list[tuple[Parent, tuple[Parent, ...], FloatArray]] = []
    nodes += [(cpt.cause, cpt.parents, cpt.zero) for cpt in missingness.causes]
    nodes += [(cpt.node, cpt.parents, cpt.missing) for cpt in missingness.mechanisms.values()]
    return [
        Cpt(node_name(node), tuple(map(node_name, parents)), np.stack([first, 1 - first], axis=-1))
        for node, parents, first in nodes
    ]


Seed = np.random.Generator | int | None


@dataclass(frozen=True, eq=False, repr=False)
class Simulation(Displayed):
    """Rows drawn from ``network``, whole and as they are shown.

    ``missingness`` has all parameters that the hiding was drawn with. It is None, and
    ``table`` the complete rows themselves, where nothing was to be hidden. A simulation is
    data, with the rows as they are shown; `to_frame` gives either table as a dataframe.
    """

    network: Network
    complete: EncodedTable
    table: EncodedTable
    missingness: Missingness | None

    def __repr__(self) -> str:
        gaps = sum(self.table.missing_of.values())
        cells = self.table.rows * len(self.network.variables)
        return (
            f"<Simulation: {counted(self.table.rows, 'row')} of "
            f"{counted(len(self.network.variables), 'variable')}, {gaps:,} of {cells:,} cells "
            "hidden; .to_frame() has them>"
        )

    def _parts(self) -> Iterator[object]:
        yield repr(self)[1:-1]
        if self.mechanisms:
            yield ""
            yield self.graph

    @property
    def graph(self) -> MissingnessGraph:
        """The missingness graph; without mechanisms where nothing was hidden."""
        if self.missingness is None:
            return MissingnessGraph(self.network, {})
        return self.missingness.graph

    @property
    def mechanisms(self) -> Mapping[str, MechanismCpt]:
        """The probabilities of being missing, by the variable that is hidden."""
        return {} if self.missingness is None else self.missingness.mechanisms

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows as they are shown, for whatever reads tables of Arrow."""
        return to_arrow(self.table, self.network).__arrow_c_stream__(requested_schema)

    def to_frame(self, library: Library | None = None, *, complete: bool = False) -> Any:
        """The rows as a dataframe, with nulls for what is hidden.

        Parameters
        ----------
        library
            "pandas", "polars" or "pyarrow"; by default pandas where it is installed, otherwise
            PyArrow. Columns are categorical, with all states in the network's order.
        complete
            The rows before anything was hidden.
        """
        return frame_of(to_arrow(self.complete if complete else self.table, self.network), library)


def sample(
    network: AnyNetwork,
    rows: int,
    *,
    missing: Any = False,
    rng: Seed = None,
    library: Library | None = None,
) -> Any:
    """Draw complete rows from a network, or a twin of a table.

    Parameters
    ----------
    network
        A network with CPTs, a result of learning, or the path or name of one.
    rows
        The number of rows.
    missing
        True for a twin (`lacunet.simulation.twin`), or the rows to learn its holes from.
    rng
        A seed or a generator. The same seed gives the same result; None another each time.
    library
        "pandas", "polars" or "pyarrow"; by default pandas where it is installed, otherwise PyArrow.

    Returns
    -------
    A dataframe with a column for each variable, in the network's order. Columns are categorical,
    with all states; nothing is missing. In a twin columns of numbers and dates hold these.

    Raises
    ------
    NetworkError
        The network has no CPTs.

    Examples
    --------
    >>> coin = Network({"Coin": ["head", "tail"]}, {}, {"Coin": [0.0, 1.0]})
    >>> sample(coin, 3, rng=0)["Coin"].tolist()
    ['tail', 'tail', 'tail']
    """
    if missing is not False:
        from lacunet.simulation.twin import twin

        return twin(network, rows, missing, rng=rng, library=library)
    model = as_network(network)
    drawn = sampling.sample_codes(model, rows, generator(rng))
    return frame_of(to_arrow(drawn, model), library)


@clear_arguments
def simulate(
    network: AnyNetwork,
    rows: int,
    missing: Missing | MissingnessGraph | Mechanisms | str | None = None,
    *,
    rng: Seed = None,
) -> Simulation:
    """Draw rows from a network and hide values of them.

    Mechanisms are drawn first, then the rows, then what is hidden; each from a stream of its
    own. So one seed gives the same mechanisms whatever the number of rows, and the same
    complete rows whatever is hidden.

    Parameters
    ----------
    network
        A network with CPTs, a result of learning, or the path or name of one.
    rows
        The number of rows; fewer are shown where a graph with ``R[*]`` selects among them.
    missing
        How values go missing: `MCAR`, `MAR`, `InformedMAR` or `MissingByGraph`, a missingness
        graph or its text (``"Age -> R[Income]"``), the ``missingness`` of another simulation, or
        the ``network.mechanisms`` of a result that was learned with a graph; None hides nothing.
        A graph of `learn_missingness` hides values as often as they are missing in its rows, as far
        as these tell; the probabilities of other graphs are drawn.
    rng
        A seed or a generator. The same seed gives the same result; None another each time.

    Returns
    -------
    A simulation, which is data to learn from. Its ``frame()`` has the rows as a dataframe,
    ``frame(complete=True)`` those before anything was hidden, ``missingness`` the mechanisms.

    Examples
    --------
    >>> from lacunet import MCAR
    >>> coins = Network({x: ["0", "1"] for x in "AB"}, {}, {x: [0.5, 0.5] for x in "AB"})
    >>> drawn = simulate(coins, 100, MCAR(1.0, share=0.5), rng=0)
    >>> drawn.complete.partially_observed, sorted(drawn.table.missing_of.values())
    ((), [0, 100])
    >>> sorted(drawn.to_frame().isna().sum().tolist())
    [0, 100]
    """
    model = as_network(network)
    for_mechanisms, for_rows, for_hiding = generator(rng).spawn(STREAMS)
    missingness = None if missing is None else _drawn(missing, model, for_mechanisms)
    complete = sampling.sample_codes(model, rows, for_rows)
    table = complete
    if missingness is not None:
        table = hide_cells(complete, missingness, for_hiding, model)
    return Simulation(model, complete, table, missingness)


@clear_arguments
def hide(
    network: NetworkOrEdges,
    data: Any,
    missing: Missing | MissingnessGraph | Mechanisms | str,
    *,
    rng: Seed = None,
) -> Any:
    """Hide values of your own complete rows.

    Parameters
    ----------
    network
        Gives the variables and their states, or edges; CPTs are needed only where ``missing`` has
        hidden causes of variables.
    data
        A dataframe, or whatever else `lacunet.learn` takes. Variables that decide whether others
        are missing must be shown in every row.
    missing
        How values go missing, as for `simulate`.
    rng
        A seed or a generator. The same seed gives the same result; None another each time.

    Returns
    -------
    A dataframe of the same library (a dict for a dict, an Arrow table for files) in which some
    values are null. Everything else stays as it was, including columns that the network does not
    have. Under a graph with ``R[*]``, rows that were not recorded are left out.

    Raises
    ------
    NetworkError
        What comes first is not a network.
    SimulationError
        A variable that a mechanism looks at is missing somewhere already.
    DataError
        The rows do not fit the network.

    Examples
    --------
    >>> import polars as pl
    >>> from lacunet import MCAR
    >>> network = Network({"Rain": ["no", "yes"]})
    >>> hide(network, pl.DataFrame({"Rain": ["no", "yes"], "day": [1, 2]}), MCAR(1)).rows()
    [(None, 1), (None, 2)]
    """
    from lacunet.data.data import as_data
    from lacunet.data.original_tables import hold_data_in_memory
    from lacunet.data.read import read_table

    model = network_beside(network, None if data is None else as_data(data), "hide")
    dataset = as_data(data)
    if not _is_frame(dataset.source):
        dataset = hold_data_in_memory(dataset)
    # The rows may be simulated ones of the same seed: none of their streams may hide them.
    for_mechanisms, for_hiding = generator(rng).spawn(STREAMS + 2)[STREAMS:]
    missingness = _drawn(missing, model, for_mechanisms)
    complete = read_table(dataset, model)
    table = hide_cells(complete, missingness, for_hiding, model)
    kept = None  # the rows that were recorded; all where nothing selects among them
    before = complete
    if SELECTION.variable in missingness.mechanisms:
        kept = table.numbers - 1
        before = complete.take(kept)
    hidden = {*missingness.mechanisms, *missingness.graph.latent} - {SELECTION.variable}
    is_kept = {
        name: table.columns[name] == before.columns[name]
        for name in model.variables
        if name in hidden
    }
    if isinstance(dataset.source, Mapping):
        return _hidden_in_lists(dataset.source, kept, is_kept)
    return _hidden_in_frame(dataset.source, kept, is_kept)


def _is_frame(data: Any) -> bool:
    """Whether it is rows in memory, of a library that Narwhals takes."""
    import narwhals as nw

    return isinstance(nw.from_native(data, pass_through=True), nw.DataFrame)


def _hidden_in_lists(
    lists: Mapping[Any, Any], kept: Any, is_kept: Mapping[str, NDArray[np.bool_]]
) -> dict[Any, list[Any]]:
    """Columns by name, None for what is hidden; of the rows that are ``kept``, if not of all."""
    hidden = {}
    for key, cells in lists.items():
        column = list(cells) if kept is None else [cells[row] for row in kept.tolist()]
        if str(key) in is_kept:
            shown = zip(column, is_kept[str(key)].tolist(), strict=True)
            column = [cell if is_shown else None for cell, is_shown in shown]
        hidden[key] = column
    return hidden


def _hidden_in_frame(frame: Any, kept: Any, is_kept: Mapping[str, NDArray[np.bool_]]) -> Any:
    """The frame with nulls for what is hidden; of the rows that are ``kept``, if not of all."""
    import narwhals as nw

    rows, views = _views_as_texts(nw.from_native(frame, eager_only=True))
    if kept is not None:
        rows = rows[kept.tolist()]
    for name, are_kept in is_kept.items():
        shown = nw.new_series(name=name, values=are_kept, backend=rows.implementation)
        rows = rows.with_columns(nw.when(shown).then(nw.col(name)).alias(name))
    return rows.to_native() if views is None else rows.to_native().cast(views)


def _views_as_texts(rows: Any) -> tuple[Any, Any]:
    """The rows with views of Arrow as what they view, and the schema to cast back to, if any."""
    import narwhals as nw
    import pyarrow as pa

    native = rows.to_native()
    if not isinstance(native, pa.Table):
        return rows, None
    fields = [field.with_type(without_view(field.type)) for field in native.schema]
    plain = pa.schema(fields, native.schema.metadata)
    if plain == native.schema:
        return rows, None
    return nw.from_native(native.cast(plain), eager_only=True), native.schema


def _drawn(missing: Any, network: Network, rng: np.random.Generator) -> Missingness:
    """The mechanisms that are given, or drawn in the way that is."""
    is_text = isinstance(missing, str) and re.search(r"R\[|->|→", missing) is not None
    if isinstance(missing, LearnedGraph):
        return by_learned_graph(missing, network).draw(network, rng)
    if is_text or isinstance(missing, MissingnessGraph):
        return MissingByGraph(missing).draw(network, rng)
    if isinstance(missing, Mechanisms):
        return learned_missingness(missing, network)
    if isinstance(missing, type) or not hasattr(missing, "draw"):
        hint = (
            f"give lacunet.{HOW}, which hides a fifth of the values of all variables, MAR(...), "
            "MissingByGraph(...) or a missingness graph: 'Age -> R[Income]'."
        )
        if isinstance(missing, Mapping) and all(isinstance(p, Real) for p in missing.values()):
            text = "; ".join(str(Mechanism(name)) for name in missing)
            hint = f"write lacunet.MissingByGraph({text!r}, {dict(missing)}) in its place."
        raise SimulationError(f"{missing!r} does not say how values go missing.", hint)
    drawn: Missingness = missing.draw(network, rng)
    _check_network(drawn, network)
    return drawn


def _check_network(drawn: Missingness, network: Network) -> None:
    """Refuse mechanisms that were drawn for other variables, or other states of them."""
    scopes = [cpt.parents for cpt in drawn.mechanisms.values()]
    scopes += [cpt.parents for cpt in drawn.causes]
    parents = [node for scope in scopes for node in scope if isinstance(node, str)]
    theirs = drawn.graph.network.states_of
    ours = network.states_of
    names = dict.fromkeys([*drawn.mechanisms, *parents])
    if strangers := [name for name in names if theirs.get(name) != ours.get(name)]:
        raise SimulationError(
            f"the mechanisms are of another network: {first_of(strangers, 5)} "
            f"{'has' if len(strangers) == 1 else 'have'} other states there.",
            "give mechanisms of a simulation of this network, or their missingness graph.",
        )

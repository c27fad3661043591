"""Dataframes with every missing cell filled in: `impute`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import repeat
from math import isclose
from numbers import Integral
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from lacunet.ask.impute.copies import CountedRows
from lacunet.ask.impute.draws import parameter_draws
from lacunet.ask.impute.missing_numbers import NumbersOfRows, joined_numbers
from lacunet.ask.predict.missingness_assumptions import (
    completed_questions,
    say_assumptions,
    say_hidden_causes,
    shown_patterns,
)
from lacunet.ask.predict.posteriors import unsupported_completion_shares
from lacunet.ask.predict.rows_with_mechanisms import rows_with_mechanisms
from lacunet.ask.predict.unsupported_shares import RowShares
from lacunet.data.column_rules import source_from, with_data_codes
from lacunet.data.completed_panels import UnitRows
from lacunet.data.data import Data, as_data
from lacunet.data.donors import Donors, dated_variables
from lacunet.data.errors import DataError
from lacunet.data.fill import StateCells, cells_of_states, number_cells
from lacunet.data.network_or_edges import network_beside
from lacunet.data.original_tables import few_rows, fill_frame, hold_data_in_memory
from lacunet.data.read import read_table, rows_with_codes
from lacunet.data.source_parts import DataSource
from lacunet.data.spellings import SeenValues
from lacunet.data.table import EncodedTable
from lacunet.errors import LacunetError, LacunetWarning, warn
from lacunet.inference.completions import draw_completions, most_probable, refuse_impossible_rows
from lacunet.inference.query import check_choice
from lacunet.learning.em.em import EM
from lacunet.learning.imputation_model import DenseDraw, ImputationModel
from lacunet.learning.learn import learn
from lacunet.learning.result import Result
from lacunet.limits import Memory
from lacunet.missingness.graph import graph_of_network
from lacunet.network.arguments import clear_arguments
from lacunet.network.formats.files import AnyNetwork, as_learned, as_network
from lacunet.network.network import FloatArray, Network
from lacunet.randomness import generator
from lacunet.text import in_shell, listed

# What rows show of a variable, what they get, and its states.
ColumnsToFill = dict[str, tuple[NDArray[Any], tuple[NDArray[Any], tuple[str, ...]]]]
How = Literal["draw", "most probable"]
Drawn = Network | DenseDraw  # what completes the rows of a draw
DRAW: Final = "draw"
MOST_PROBABLE: Final = "most probable"
SAME_CPTS = 0.1  # of a standard error: CPTs learned twice from the same rows differ by less
ERROR_ROUNDING = 1e-9  # of standard errors that may be zero
DESIGN = {"strata", "cluster", "replicate_weights"}
WITH_INTERVALS = (
    "result = lacunet.learn(network, data, intervals=True), then result.impute(data, draws=5) ("
    "lacunet learn NETWORK DATA --intervals -o result.json, then lacunet impute "
    "result.json DATA --draws 5 -o out.csv); or draw with the CPTs as they are: proper=False "
    "(--fixed-cpts)."
)


@clear_arguments
def impute(
    network: AnyNetwork,
    data: Any,
    draws: int | None = None,
    *,
    how: How = DRAW,
    rng: np.random.Generator | int | None = None,
    proper: bool | None = None,
    unsupported: Literal["warn", "refuse", "ignore"] = "warn",
    memory: Memory = None,
) -> Any:
    """The data with every missing cell of the network's variables filled in.

    By default the missing cells of a row are drawn together from their joint distribution given
    what the row shows, so that completed columns vary, and go together, as measured ones do. One
    such table is for what needs any complete table; an analysis needs several (``draws``), of which
    `lacunet.pool` makes one answer. ``how="most probable"`` is for the question which values are
    the likeliest: such guesses vary less than the missing values themselves would, and estimates
    from them are biased and look too certain.

    If the network has rules by which a question was not asked of all (``not_asked``), a cell that
    is empty for that reason gets the state that the rule names, if its column can hold texts.

    Parameters
    ----------
    network
        A network with CPTs, a result of learning, a network that was learned for imputation
        (``learn_structure(data, purpose="imputation")``), or the path or name of one.
    data
        Whatever `lacunet.learn` takes; also one row, ``{"Age": "old", "Test": None}``. For a path
        you get a pyarrow Table, from CSV with all columns as strings; for a DataFrame pass
        ``pd.read_csv(path)``. Of a panel (``unit`` and ``time``) you get a row for each unit in
        each wave, also in those that it had no row for.
    draws
        How many completed frames to draw, for multiple imputation: analyse each of them, and
        combine what you get with `lacunet.pool`. None for one, which then comes by itself.
        A row that stands for several (``counts``) is drawn for each of them: the frames have a row
        for every copy, and ones as counts.
    how
        ``"draw"``, or ``"most probable"``: each row gets its most probable completion, all its
        missing cells together.
    rng
        A seed or a generator. The same seed gives the same result; None another each time.
    proper
        Whether each frame is drawn with CPTs of its own, which are drawn first, within their
        uncertainty; by default two frames or more are, and one is drawn with the CPTs as they are.
        CPTs that are drawn need a result of learning. If the
        result has no intervals, it is learned again with intervals, provided that ``data`` are the
        data that it was learned from.
        With False, all frames are drawn with the same CPTs. That is right for a network that is
        known exactly; for one that was learned, the frames then vary too little.
    unsupported
        What to do where completions rest on CPT rows without data: "warn", "refuse", or "ignore".
        A completed table has no probabilities that could have bounds; those of `predict` have.
    memory
        The bytes that inference may take, or such as ``"500MB"``; by default half of the memory.

    Returns
    -------
    A frame of the data's kind (a pyarrow Table for files), or with ``draws`` a list of them. The
    command ``lacunet impute result.json data.csv --draws 5 -o filled.csv`` writes files. Rows keep
    their order; columns that are not the network's stay as they are, and all cells that are shown
    keep value and type. What is filled in is written as the rows write that state, or by its code,
    in a column of the same type; where the network cuts numbers into intervals, it is a number that
    was observed in the interval, in a row like this one: among the `Result.donors`, or among
    ``data`` where there are none. Where nobody shows one, any number of the interval is as likely.
    The most probable completion has the mean of the interval's numbers (its middle, if the rows
    show none). Dates are drawn in the same way within their month, quarter or year. A cell that is
    empty because its question was not asked stays so in a column that cannot hold the name of that
    state, such as one of numbers. Only where the type of a column cannot hold some other state, it
    is widened: whole numbers become numbers, anything else becomes texts.

    Raises
    ------
    ImpossibleDataError
        A row has probability zero, so nothing follows about its missing cells.
    LacunetError
        ``draws`` are asked for, and the missingness graph of the result does not determine the
        distribution to draw them from; or rows stand for more than memory has room for.

    Warns
    -----
    AssumptionWarning
        Cells are missing, and one of these holds: the result was learned without a missingness
        graph, so that values are taken to be missing at random; its graph is MNAR, but its
        mechanisms were not learned (``method="em"`` learns them); or the graph does not
        always determine the distribution of completions: it does for almost all networks with the
        numbers of states that the variables have here, or (without ``draws``) not even for those.
        A network alone does not say what was assumed, and gives no warning.

    Examples
    --------
    >>> rain = Network(
    ...     {"Rain": ["no", "yes"], "Wet": ["no", "yes"]},
    ...     {"Wet": ["Rain"]},
    ...     {"Rain": [0.75, 0.25], "Wet": [[0.9, 0.1], [0.2, 0.8]]},
    ... )
    >>> rows = {"Rain": [None, "no", None], "Wet": ["yes", None, None], "Day": [1, 2, 3]}
    >>> impute(rain, rows, how="most probable")
    {'Rain': ['yes', 'no', 'no'], 'Wet': ['yes', 'no', 'no'], 'Day': [1, 2, 3]}
    >>> impute(rain, {"Rain": ["yes"] * 5, "Wet": [None] * 5}, rng=1)["Wet"]
    ['yes', 'yes', 'no', 'yes', 'yes']
    """
    number = number_of_draws(draws, how)
    check_choice(unsupported, ("warn", "refuse", "ignore"))
    learned = as_learned(network)
    weighed = as_data(data)
    if weighed.is_panel:
        options: Any = {"how": how, "proper": proper, "unsupported": unsupported, "memory": memory}
        return _impute_panel(learned, weighed, draws, rng=rng, **options)
    given = weighed.every_row(learned)
    network = network_beside(learned, given, "impute")
    given = hold_data_in_memory(given, network.states_of)
    if few_rows(given.source, 0) is not None:  # no row, so nothing is missing
        return given.source if draws is None else [given.source] * draws
    frame = given.source
    source = source_from(given)
    refuse_unlearned_columns(learned, given, source.columns)
    given = given.with_latent(network.states_of, source.columns)
    as_they_came = given
    counted = None if number is None else CountedRows.of(weighed, learned, source)
    if number is not None and counted is not None:
        frame = counted.expanded(frame, source, number, memory)
        given = replace(given, source=frame)
        source = source_from(given)
    random, coded = generator(rng), with_data_codes(network, given)
    chance = None if number is None else random
    numbers = NumbersOfRows.of(donors_of(learned), coded, given.decimal, chance)
    table, shown, shown_numbers = _read_rows(source, given, network, numbers)
    network = coded
    if number is None:
        say_means(network, shown.partially_observed)
    if {*table.partially_observed} - {*given.latent}:
        say_assumptions(learned, network, draws=draws is not None)
    say_hidden_causes(network, completed_questions(network, shown_patterns(network, table)))
    if unsupported != "ignore" and network.support is not None:
        shares = RowShares()
        whole, rows = rows_with_mechanisms(network, table, given.latent)
        shares.add(unsupported_completion_shares(whole, rows, memory))
        shares.object("completions", unsupported)
    again = rows_learned_from(weighed, as_they_came, learned)
    is_proper = are_proper(number, proper)
    drawn = drawn_networks(learned, network, number, again, random, is_proper=is_proper)
    completions = completed_tables(
        network=network,
        table=table,
        absent=given.latent,
        draws=number,
        drawn=drawn,
        rng=random,
        memory=memory,
    )
    seen = _values_seen(network, given, shown, donors_of(learned))
    to_draw = numbers.to_draw(shown.partially_observed, seen.type_of)
    frames = []
    for completed, of_draw in zip(completions, drawn or repeat(network), strict=False):
        filler = to_draw.filler(of_draw, is_proper=is_proper, memory=memory)
        drawn_numbers = filler.fill(completed, shown_numbers)
        states = states_to_fill(network, shown, completed)
        frames.append(_filled_frame(frame, network, states, drawn_numbers, seen, to_draw.whole))
    return frames[0] if draws is None else frames


def _impute_panel(learned: Any, panel: Data, draws: int | None, **options: Any) -> Any:
    """The completed rows of a panel, as it came."""
    units = UnitRows.of(panel, as_network(learned).variables)
    completed = impute(learned, units.data, draws, **options)
    if draws is None:
        return units.given_back(completed)
    return [units.given_back(table) for table in completed]


def refuse_unlearned_columns(learned: Any, data: Data, columns: Sequence[str]) -> None:
    """Refuse columns that a network for imputation, which is of all columns, was not shown."""
    if not isinstance(learned, ImputationModel):
        return
    known = {*learned.network.variables, *learned.left_out}
    known |= {*data.aside, *data.beside, *data.without}
    strangers = [name for name in columns if name not in known]
    if strangers:
        raise DataError(
            f"the network for imputation was not learned from {listed(strangers)}, which the rows "
            "have.",
            "learn again with rows that have them; or leave them as they are: "
            f"without={strangers!r} (--without {in_shell(','.join(strangers))}).",
        )


def _filled_frame(
    frame: Any,
    network: Network,
    states: ColumnsToFill,
    numbers: Mapping[str, FloatArray],
    seen: SeenValues,
    whole: Collection[str],
) -> Any:
    """The data as they came, with what they miss filled in."""
    cells_of = {
        name: cells_of_states(network, name, seen, kind) for name, kind in seen.type_of.items()
    }
    return fill_frame(frame, *with_numbers(network, states, cells_of, numbers, seen, whole))


def _read_rows(
    source: DataSource, data: Data, network: Network, numbers: NumbersOfRows
) -> tuple[EncodedTable, EncodedTable, dict[str, FloatArray]]:
    """The rows as codes, as codes of what they show themselves, and the numbers that they show.

    The first two differ where a question was not asked: that is filled in too.
    """
    pieces: list[list[EncodedTable]] = []
    shown_numbers: list[dict[str, FloatArray]] = []
    for piece, *tables in rows_with_codes(source, data, network):
        pieces.append(tables)
        numbers.add(piece.columns, tables[1])
        shown_numbers.append(numbers.shown(piece.columns, tables[1]))
    table, shown = (
        EncodedTable.joined(network.cardinality_of, parts) for parts in zip(*pieces, strict=True)
    )
    return table, shown, joined_numbers(shown_numbers)


def _values_seen(
    network: Network, data: Data, shown: EncodedTable, donors: Donors | None
) -> SeenValues:
    """How the rows write what they show, and the numbers of each interval."""
    seen = SeenValues(network.cuts_of, data.decimal, dates=dated_variables(network))
    seen.add_frame(data.source, shown)
    if donors is not None:
        donors.add_means(seen)
    return seen


def donors_of(learned: Any) -> Donors | None:
    """The rows that a result keeps to draw numbers from; a network has none."""
    return learned.donors if isinstance(learned, Result | ImputationModel) else None


def number_of_draws(draws: int | None, how: How) -> int | None:
    """How many completed tables to draw; None for the most probable one.

    >>> number_of_draws(None, "draw"), number_of_draws(5, "draw")
    (1, 5)
    >>> print(number_of_draws(None, "most probable"))
    None
    """
    if how not in (DRAW, MOST_PROBABLE):
        raise LacunetError(
            f"how={how!r} is not a way to complete rows.", f"give {DRAW!r} or {MOST_PROBABLE!r}."
        )
    is_whole = isinstance(draws, Integral) and not isinstance(draws, bool)
    if draws is not None and not (is_whole and draws >= 1):
        raise LacunetError(
            f"draws={draws!r} is not a number of draws.",
            "give 1 or more, or None for one table by itself.",
        )
    if how == DRAW:
        return 1 if draws is None else int(draws)
    if draws is not None:
        raise LacunetError(
            f"draws={draws} are asked for, and there is one completion that is most probable.",
            "leave out draws=, or how='most probable'.",
        )
    return None


def are_proper(number: int | None, proper: bool | None) -> bool:
    """Whether each table is drawn with CPTs of its own; if nothing is said, several tables are."""
    if number is None:
        return False
    return number > 1 if proper is None else proper


def drawn_networks(
    learned: Any,
    network: Network,
    number: int | None,
    again: Callable[[Network], EncodedTable],
    rng: np.random.Generator,
    *,
    is_proper: bool,
) -> Sequence[Drawn] | None:
    """What completes the rows of each draw; None where all are drawn with the network as it is.

    Parameters
    ----------
    again
        Reads the rows as a result was learned from them.
    """
    if isinstance(learned, ImputationModel):
        draws = learned.draws(number or 1, rng, proper=is_proper)
        return [replace(draw, network=network) for draw in draws]
    if number is None or not is_proper:
        return None
    return parameter_draws(with_intervals(learned, network, again), number, rng)


def rows_learned_from(
    weighed: Data, opened: Data, learned: Any
) -> Callable[[Network], EncodedTable]:
    """What reads the rows as a result was learned from them, with their counts and weights.

    Parameters
    ----------
    opened
        The same data as they are completed: without weights, from a source in memory or files.
    """

    def rows(network: Network) -> EncodedTable:
        unread = replace(opened, aside=())
        roles = {name: getattr(weighed, name) for name in ("weight", "counts", "squared_weight")}
        columns = {*source_from(opened).columns}
        as_learned = replace(unread, **roles).weighed_as(learned)
        if not {*as_learned.beside} <= columns:  # other data, without those columns
            as_learned = replace(as_learned, **roles)
        return read_table(as_learned, network, keep_sets=True)

    return rows


def say_means(network: Network, partly: Collection[str]) -> None:
    """Say in which columns a missing number gets the mean of its interval."""
    if cut := [name for name in network.variables if name in network.cuts_of and name in partly]:
        warn(
            f"missing numbers of {listed(cut)}, which the network cuts into intervals, get the "
            "mean of their interval: they vary less than measured numbers do."
        )


def completed_tables(
    network: Network,
    table: EncodedTable,
    absent: Collection[str],
    draws: int | None,
    drawn: Sequence[Drawn] | None,
    rng: np.random.Generator,
    memory: Memory,
) -> Iterator[EncodedTable]:
    """The most probable completion, or as many draws as asked for, each with its own network.

    Parameters
    ----------
    absent
        Variables that the data have no column for.
    drawn
        The network of each draw; None to draw all with the same.
    """
    dense = [draw for draw in drawn or () if isinstance(draw, DenseDraw)]
    for of_draw in dense:
        yield of_draw.likeliest(table) if draws is None else of_draw.completed(table, rng)
    if dense:
        return
    whole, rows = rows_with_mechanisms(network, table, absent)
    refuse_impossible_rows(whole, rows)
    if drawn is not None:
        for draw in drawn:
            assert isinstance(draw, Network)
            whole, rows = rows_with_mechanisms(draw, table, absent)
            yield from draw_completions(whole, rows, 1, rng, memory)
    elif draws is None:
        yield most_probable(whole, rows, memory)
    else:
        yield from draw_completions(whole, rows, draws, rng, memory)


def with_intervals(given: Any, network: Network, rows: Callable[[Network], EncodedTable]) -> Result:
    """The result, learned again with intervals if it was learned without from these rows."""
    if not isinstance(given, Result):
        raise LacunetError(
            "multiple imputation draws the CPTs too, within their uncertainty, and a network alone "
            "has no uncertainty.",
            WITH_INTERVALS,
        )
    if given.uncertainty is not None:
        return given
    again = None
    if not DESIGN & given.beside.keys():  # which the rows alone do not have
        again = _learned_again(given, network, rows)
    if again is None or not _agree(again, network):
        raise LacunetError(
            f"the result was learned without intervals, and learning again from these rows (by "
            f"{given.method}, with no strata, clusters or other options) does not give "
            f"its CPTs, or not their precision: how sure they are cannot be found out.",
            WITH_INTERVALS,
        )
    return again


def _learned_again(
    given: Result, network: Network, rows: Callable[[Network], EncodedTable]
) -> Result | None:
    """What the method of a result makes of these rows, with intervals; None if they do not fit.

    What it warns of was said when the result was learned.
    """
    graph = graph_of_network(network)
    options: dict[str, Any] = {"missingness": graph} if graph else {}
    method: str | EM = given.method
    if method == "em" and not graph:  # it stays where it ended, and keeps the names of states
        method = EM(start=network, restarts=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LacunetWarning)
        table = rows(network)
        missing = {name: table.missing_of[name] for name in network.variables}
        if (given.rows, dict(given.missing)) != (table.row_count, missing):
            return None
        if not isclose(given.total, table.scaled().total):
            return None
        try:
            return learn(
                network,
                table,
                method,
                pseudo_counts=given.pseudo_counts,
                rng=0,
                intervals=True,
                **options,
            )
        except LacunetError:  # it needs options that are not known here
            return None


def _agree(again: Result, network: Network) -> bool:
    """Whether the CPTs are those of a network, as far as EM finds the same optimum twice."""
    return all(
        np.all(
            np.abs(again.network.cpt(name).table - network.cpt(name).table)
            <= SAME_CPTS * again.standard_error(name) + ERROR_ROUNDING
        )
        for name in network.variables
    )


def states_to_fill(network: Network, shown: EncodedTable, whole: EncodedTable) -> ColumnsToFill:
    """What rows show of each variable that some miss, and the states that they get."""
    return {
        name: (shown.columns[name], (whole.columns[name], network.states(name)))
        for name in network.variables
        if shown.missing_of[name]
    }


def with_numbers(
    network: Network,
    columns: ColumnsToFill,
    cells_of: Mapping[str, StateCells],
    numbers: Mapping[str, FloatArray],
    seen: SeenValues,
    whole: Collection[str],
) -> tuple[ColumnsToFill, dict[str, StateCells]]:
    """The same columns and their cells, with numbers in place of their intervals.

    Parameters
    ----------
    whole
        Variables of which all numbers are whole.
    """
    columns, cells = dict(columns), dict(cells_of)
    for name, every in numbers.items():
        shown, (codes, states) = columns[name]
        is_missing = shown >= len(states)
        drawn, places = (every[is_missing], codes[is_missing]), np.zeros(len(shown), np.int64)
        cells[name], places[is_missing] = number_cells(
            network, name, drawn, seen, seen.type_of[name], are_whole=name in whole
        )
        columns[name] = shown, (places, states)
    return columns, cells

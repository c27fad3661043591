"""A synthetic twin of a table: rows that nobody gave, with the same columns and the same holes.

1. Rows are drawn from the network, and their cells hidden by the mechanisms that the result knows.
   If it knows none, they are learned here: the observed rows are completed by one draw, and each
   R[X] gets its parents among the variables, save X itself, and the other R's by a search for the
   structure (`lacunet.structure`). So values go missing at random, as far as mechanisms tell.
2. A network with few edges draws rows whose pairs of columns differ from those of the table by more
   than chance. So more rows are drawn than are asked for, and those are chosen, by weights, whose
   pairs of columns together, "missing" being one more state, are more like the observed ones:
   iterative proportional fitting over all pairs, half a step for each.
3. Numbers within their intervals are drawn from donors (`lacunet.ask.impute.missing_numbers`).
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lacunet.ask.impute.missing_numbers import Numbers, numbers_to_draw
from lacunet.counts.open_rows import open_rows
from lacunet.data.data import Data, as_data
from lacunet.data.donors import Donors, donor_sampler
from lacunet.data.read import ReadReport
from lacunet.data.table import Codes, EncodedTable
from lacunet.data.write import to_arrow
from lacunet.errors import LacunetWarning
from lacunet.inference import sampling
from lacunet.inference.completions import draw_completions
from lacunet.inference.sampling import SimulationError, check_whole
from lacunet.learning.result import Result
from lacunet.missingness.graph import MissingnessGraph
from lacunet.missingness.mechanism_cpts import MechanismCpt, Missingness, Parent
from lacunet.network.dates import moment_of
from lacunet.network.formats.files import as_learned
from lacunet.network.labelled_tables import Library, frame_of
from lacunet.network.network import FloatArray, Network
from lacunet.network.nodes import SELECTION, Mechanism
from lacunet.randomness import generator
from lacunet.simulation.by_graph import learned_missingness
from lacunet.simulation.simulate import hide_cells

STREAMS = 4  # of random numbers: what is learned, rows, what is hidden, numbers
CANDIDATES = 20  # rows that are drawn for each that is asked for
LEAST_CANDIDATES = 5_000
ROWS_AT_ONCE = 10_000
MOST_PAIRS = 5_000  # of columns, that rows are chosen by
STEP = 0.5  # of proportional fitting: all the way, rows would follow the table's chance as well


@dataclass(frozen=True)
class Observed:
    """What is known of the rows that were observed."""

    rows: EncodedTable | None
    donors: Donors | None
    absent: Sequence[str] = ()  # variables without a column


def twin(
    learned: Any, rows: int, missing: Any, *, rng: Any = None, library: Library | None = None
) -> Any:
    """Rows like those that were learned from, with what they miss: `Result.sample`.

    Parameters
    ----------
    missing
        True, or the rows to learn from how values go missing.
    """
    check_whole("the number of rows", rows, hint="give how many to draw, such as 1000.")
    learned = as_learned(learned)
    network = learned.network if isinstance(learned, Result) else learned
    streams = generator(rng).spawn(STREAMS)
    observed = _observed(learned, network, missing, streams[0])
    missingness = _missingness(learned, network, observed, streams[0])
    parts = []
    for start in range(0, max(rows, 1), ROWS_AT_ONCE):
        number = min(ROWS_AT_ONCE, rows - start)
        parts.append(_drawn(network, missingness, observed, number, streams))
    whole, shown = (
        EncodedTable.joined(network.cardinality_of, tables) for tables in zip(*parts, strict=True)
    )
    to_draw = numbers_to_draw(network, observed.donors, observed.absent, streams[3])
    nothing = {name: np.full(rows, np.nan) for name in to_draw.names}
    numbers = to_draw.filler(network, is_proper=False).fill(whole, nothing)
    return frame_of(_as_arrow(network, shown, numbers, to_draw.whole, observed.absent), library)


def _observed(
    learned: Result | Network, network: Network, missing: Any, rng: np.random.Generator
) -> Observed:
    """The rows that were observed: those given, or those that the result has seen."""
    donors = learned.donors if isinstance(learned, Result) else None
    if missing is True:
        absent = learned.beside.get("latent", ()) if isinstance(learned, Result) else ()
        return Observed(getattr(learned, "_observed", None), donors, absent)
    data = as_data(missing).weighed_as(learned)
    opened = open_rows("sample", network, data)
    sampler = donor_sampler(opened.network, opened.data, rng)
    with opened.rows(sampler) as given:
        for _ in given.tables(ReadReport()):  # all of them pass the sampler
            pass
        if isinstance(opened.data.source, EncodedTable):
            return Observed(opened.data.source, donors, opened.latent)
        rows = sampler.observed()
        return Observed(rows, donors or sampler.donors(), opened.latent)


def _missingness(
    learned: Result | Network, network: Network, observed: Observed, rng: np.random.Generator
) -> Missingness | None:
    """The mechanisms that are known, or those of the observed rows; None if nothing is missing."""
    known = network.mechanisms
    if known is not None and known.cpt_of:
        return learned_missingness(known, network)
    if observed.rows is not None:
        return mechanisms_of_rows(network, observed.rows, observed.absent, rng)
    if isinstance(learned, Result) and not any(learned.missing.values()):
        return None
    raise SimulationError(
        "it is not known how values go missing: "
        + ("a result from a file" if isinstance(learned, Result) else "a network alone")
        + " knows it if a missingness graph was learned along (method='em').",
        "give the rows to learn it from: sample(1000, missing=data) (lacunet simulate RESULT "
        "--twin --data DATA).",
    )


def mechanisms_of_rows(
    network: Network, rows: EncodedTable, absent: Sequence[str], rng: np.random.Generator
) -> Missingness:
    """How values went missing in some rows, at random as far as variables and other holes tell."""
    from lacunet.structure.learn_structure import learn_structure

    rows = rows.without_sets()
    partly = [name for name in network.variables if rows.missing_of[name] and name not in absent]
    hidden = {name for name in partly if not (rows.columns[name] < rows.cardinality_of[name]).any()}
    mechanisms = {name: MechanismCpt(name, (), np.array(1.0)) for name in hidden}
    searched = [name for name in partly if name not in hidden]
    if searched:
        (whole,) = draw_completions(network, rows, 1, rng)
        # Names of its own, which cannot meet: a variable may be called as a mechanism is.
        node_of: dict[str, Parent] = {f"x{i}": v for i, v in enumerate(network.variables)}
        node_of |= {f"r{i}": Mechanism(name) for i, name in enumerate(searched)}
        columns: dict[str, Codes] = {}
        states: dict[str, Sequence[str]] = {}
        for key, node in node_of.items():
            if isinstance(node, Mechanism):
                is_shown = rows.columns[node.variable] < rows.cardinality_of[node.variable]
                columns[key], states[key] = is_shown.astype(np.uint8), ("missing", "shown")
            else:
                columns[key], states[key] = whole.columns[str(node)], network.states(str(node))
        table = replace(
            rows,
            cardinality_of={key: len(names) for key, names in states.items()},
            columns=columns,
            sets_of={},
        )
        variables = [key for key, node in node_of.items() if not isinstance(node, Mechanism)]
        itself = {f"x{network.variables.index(v)}": f"r{i}" for i, v in enumerate(searched)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LacunetWarning)
            learned = learn_structure(
                Data(table, states=Network(states)),
                forbidden=[*itertools.permutations(variables, 2), *itself.items()],
                tiers=[variables, [key for key in node_of if key not in variables]],
                missingness=None,
                strengths=0,
                rng=rng,
            ).network
        for key in learned.order:
            node = node_of[key]
            if isinstance(node, Mechanism):
                family = (*learned.parents(key), key)
                parents = tuple(node_of[parent] for parent in family[:-1])
                mechanisms[node.variable] = MechanismCpt(
                    node.variable, parents, _shares(table, family)
                )
    causes: dict[str, Any] = {name: list(cpt.parents) for name, cpt in mechanisms.items()}
    return Missingness(MissingnessGraph(network, causes), mechanisms)


def _shares(table: EncodedTable, family: Sequence[str]) -> FloatArray:
    """How often the last of some columns is 0, for each configuration of the others.

    Where no row has a configuration, as often as in all rows.
    """
    counts = np.zeros([table.cardinality_of[name] for name in family])
    np.add.at(counts, tuple(table.columns[name] for name in family), table.row_weights)
    rows = counts.sum(axis=-1)
    everywhere = counts[..., 0].sum() / rows.sum()
    shares = np.full(rows.shape, everywhere)
    return np.asarray(np.divide(counts[..., 0], rows, out=shares, where=rows > 0))


def _drawn(
    network: Network,
    missingness: Missingness | None,
    observed: Observed,
    number: int,
    streams: Sequence[np.random.Generator],
) -> tuple[EncodedTable, EncodedTable]:
    """So many rows, whole and as they are shown."""
    candidates = number
    is_selection = missingness is not None and SELECTION.variable in missingness.mechanisms
    if observed.rows is not None or is_selection:
        candidates = max(CANDIDATES * number, LEAST_CANDIDATES)
    whole = sampling.sample_codes(network, candidates, streams[1])
    shown = whole
    if missingness is not None:
        shown = hide_cells(whole, missingness, streams[2], network)
        if is_selection:
            whole = whole.take(shown.numbers - 1)
    if not shown.rows:
        raise SimulationError("no row was recorded: by R[*] rows are hardly ever recorded.")
    weights = np.ones(shown.rows)
    if observed.rows is not None:
        weights = fitting_weights(shown, observed.rows, observed.absent, streams[1])
    elif shown.rows >= number:
        chosen = np.arange(number)
        return whole.take(chosen), shown.take(chosen)
    sums = np.cumsum(weights)
    places = (np.arange(number) + streams[1].random()) / number * sums[-1]
    chosen = streams[1].permutation(np.minimum(np.searchsorted(sums, places), len(sums) - 1))
    return whole.take(chosen), shown.take(chosen)


def fitting_weights(
    drawn: EncodedTable,
    observed: EncodedTable,
    absent: Sequence[str],
    rng: np.random.Generator,
) -> FloatArray:
    """Weights of drawn rows under which pairs of columns are more like those of observed rows."""
    sizes = {name: size + 1 for name, size in drawn.cardinality_of.items() if name not in absent}
    here, there = (
        {name: np.minimum(table.columns[name], sizes[name] - 1).astype(np.int64) for name in sizes}
        for table in (drawn, observed)
    )
    pairs = [*itertools.combinations(sizes, 2)] or [(name, name) for name in sizes]
    order = rng.permutation(len(pairs))[:MOST_PAIRS]
    weights = np.full(drawn.rows, 1 / drawn.rows)
    shares = observed.row_weights / observed.row_weights.sum()
    for first, second in (pairs[index] for index in order):
        cells = here[first] * sizes[second] + here[second]
        number = sizes[first] * sizes[second]
        asked = np.bincount(there[first] * sizes[second] + there[second], shares, number)
        now = np.bincount(cells, weights, number)
        factors = np.divide(asked, now, out=np.ones(number), where=now > 0)
        weights *= 1 - STEP + STEP * factors[cells]
        weights /= weights.sum()
    return weights


def _as_arrow(
    network: Network,
    shown: EncodedTable,
    numbers: Numbers,
    whole: frozenset[str],
    absent: Sequence[str],
) -> Any:
    """The rows as an Arrow table, with numbers in place of intervals."""
    import pyarrow as pa

    states = to_arrow(replace(shown, row_numbers=None), network)
    columns = {}
    for name in network.variables:
        if name in absent:
            continue
        if name not in numbers:
            columns[name] = states.column(name)
            continue
        is_missing = shown.columns[name] >= shown.cardinality_of[name]
        is_missing |= np.isnan(numbers[name])
        values: Any = np.where(is_missing, 0.0, numbers[name])
        if name not in network.cuts_of:
            moments = map(moment_of, values.tolist())
            kind = pa.date32() if name in whole else pa.timestamp("us")
            columns[name] = pa.array(moments, pa.timestamp("us"), mask=is_missing).cast(kind)
        elif name in whole:
            columns[name] = pa.array(values.astype(np.int64), mask=is_missing)
        else:
            columns[name] = pa.array(values, mask=is_missing)
    return pa.table(columns)

"""The posterior of some variables for every row: `predict` and `predicted_pieces`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lacunet.ask.predict.missingness_assumptions import (
    say_assumptions,
    say_hidden_causes,
    shown_patterns,
)
from lacunet.ask.predict.posteriors import Posteriors
from lacunet.ask.predict.predictor import MAX_ROWS_BY_QUERY, Predictor, checked_targets
from lacunet.ask.predict.unsupported_shares import RowShares
from lacunet.data.column_rules import source_from, with_data_codes, with_waves
from lacunet.data.data import Data, as_data, is_one_row
from lacunet.data.matching import is_null
from lacunet.data.network_or_edges import network_beside
from lacunet.data.original_tables import columns_as_read, few_rows, frame_like
from lacunet.data.read import rows_with_codes
from lacunet.data.source_parts import DataSource
from lacunet.data.spellings import SeenValues, as_type, keys_by_name, widen_types
from lacunet.data.table import EncodedTable
from lacunet.errors import LacunetError, warn
from lacunet.inference.query import Unsupported, check_choice
from lacunet.limits import Memory
from lacunet.network.arguments import clear_arguments
from lacunet.network.formats.files import AnyNetwork, as_learned
from lacunet.network.network import FloatArray, Network
from lacunet.text import beginning_with, close_to, counted, in_quotes, listed, meaning_question

Given = Literal["probabilities", "states", "log-probability", "unsupported"]
GIVEN: tuple[Given, ...] = ("probabilities", "states", "log-probability", "unsupported")


@clear_arguments
def predict(
    network: AnyNetwork,
    data: Any,
    targets: str | Sequence[str],
    *,
    give: Given | Sequence[Given] = "probabilities",
    given_targets: bool = False,
    unsupported: Unsupported = "warn",
    keep: str | Sequence[str] = (),
    memory: Memory = None,
) -> Any:
    r"""The posterior of some variables for every row, given what the row shows of the others.

    For the most probable state in place of the probabilities, say ``give="states"``.

    Rows may miss any cells. Targets are predicted from the other columns only, even in rows that
    show them. A network that was learned with a missingness graph also takes as evidence which
    cells a row misses.

    Parameters
    ----------
    network
        A network with CPTs, a result of learning, or the path or name of one.
    data
        Whatever `lacunet.learn` takes; also one row, ``{"Age": "old", "Test": "positive"}``.
        A variable without a column is treated as unknown; its absence carries no information (a
        warning names it, unless the data are such a row). A cell that is None is missing, and
        with a missingness graph that counts as evidence.
    targets
        The variables to predict.
    give
        ``"probabilities"`` gives the columns ``X=state``, ``"states"`` the most probable state of
        each target as the column ``X``, written as the data write it where they have that column (a
        number or a truth value stays one), ``"log-probability"`` the natural logarithm of the
        probability of all that the row shows, targets included, whatever it misses (as
        `Network.log_likelihood` adds it up), ``"unsupported"`` the share of each prediction
        that rests on CPT rows without data, as the columns ``unsupported(X)``; or several.
        Where two names of columns would clash, such as those of the variable ``A=b`` with the
        state ``c`` and of ``A`` with the state ``b=c``, they are put in quotes.
    given_targets
        Whether a target that a row shows is evidence after all: then it is certain itself, and
        counts as evidence for the others. Otherwise rules do not look at targets either: with
        ``not_asked={"SmokesNow": "Smoked=no"}`` and the target Smoked, an empty SmokesNow is
        missing, whether the row shows Smoked=no or not.
    unsupported
        What to do where predictions rest on CPT rows without data: "warn", "refuse", or "ignore".
        With "bounds" there are the columns ``lowest(X=state)`` and ``highest(X=state)`` too: the
        lowest and the highest probability over all values that these CPT rows could have. Each
        distinct row takes a query of its own.
    keep
        Columns of the data to put before the predictions, such as ``"Id"``.
    memory
        The bytes that inference may take, or such as ``"500MB"``; by default half of the memory.

    Returns
    -------
    A dataframe of the data's kind with one row for each row of the data; for a path a pyarrow
    Table (``.to_pandas()`` makes a DataFrame of it). A row of probability zero has NaN, and a
    warning says how many there are. Another warning says how many rows show some targets and miss
    others: what they show of targets is not used. Probabilities have no intervals here;
    `Result.query` gives those of one case: ``result.query("Ill", {"Age": "old"})``.

    Examples
    --------
    >>> rain = Network(
    ...     {"Rain": ["no", "yes"], "Wet": ["no", "yes"]},
    ...     {"Wet": ["Rain"]},
    ...     {"Rain": [0.75, 0.25], "Wet": [[0.75, 0.25], [0.25, 0.75]]},
    ... )
    >>> predict(rain, {"Wet": ["yes", "no", None]}, "Rain")
    {'Rain=no': [0.5, 0.9, 0.75], 'Rain=yes': [0.5, 0.1, 0.25]}
    """
    asked = _AskedTargets(
        network,
        data,
        targets,
        give=give,
        given_targets=given_targets,
        unsupported=unsupported,
        keep=keep,
        memory=memory,
    )
    rows = _PredictedRows()
    values = SeenValues()
    parts = []
    pieces = []
    if few_rows(asked.data.source, 0) is None:
        source, opened = _opened(asked, warns=not is_one_row(data))
        for piece, table, part in _in_pieces(asked, source, opened, rows):
            values.add(piece, table, asked.written)
            parts.append(part)
            pieces.append({name: piece[name] for name in asked.keep})
    else:  # there are no rows
        nothing = EncodedTable.joined(asked.network.cardinality_of, [])
        parts.append(
            asked.predictor.posteriors(
                nothing, shares=asked.shares, logs=asked.logs, bounds=asked.bounds
            )
        )
    posteriors = Posteriors.joined(parts)
    kept = columns_as_read(asked.data.source, pieces) if pieces and asked.keep else {}
    rows.say(asked)
    return frame_like(asked.data.source, {**kept, **_columns(asked, posteriors, values)})


def predicted_pieces(
    network: AnyNetwork,
    data: Data,
    targets: Sequence[str],
    *,
    give: Sequence[Given],
    given_targets: bool = False,
    keep: Sequence[str] = (),
    memory: Memory = None,
) -> Iterator[Any]:
    """As `predict`, for files: Arrow tables of one schema, some rows at a time.

    Where the files have columns that are written again, kept ones or targets, the rows are gone
    through twice: the first time shows their types, and how they write states.
    """
    import pyarrow as pa

    asked = _AskedTargets(
        network, data, targets, give=give, given_targets=given_targets, keep=keep, memory=memory
    )
    source, opened = _opened(asked, warns=True)
    rows = _PredictedRows()
    values = SeenValues()
    type_of = dict[str, Any]()
    if asked.keep or {*asked.written} & {*keys_by_name(source.columns)}:
        for piece, table in _coded(asked, source, opened, tell=False):
            values.add(piece, table, asked.written)
            widen_types(type_of, pa.table({name: piece[name] for name in asked.keep}))
    schema = pa.schema([*type_of.items(), *_schema(asked, values)])
    for piece, _, posteriors in _in_pieces(asked, source, opened, rows):
        kept = pa.table({name: piece[name] for name in asked.keep})
        columns = {name: as_type(kept.column(name), kind) for name, kind in type_of.items()}
        columns |= _columns(asked, posteriors, values)
        yield pa.table(columns, schema=schema)
    rows.say(asked)


def _schema(asked: _AskedTargets, values: SeenValues) -> Any:
    """The names and types of what is predicted, whatever some rows have of it."""
    import pyarrow as pa

    # As many rows as there are states, so that each target is predicted to be in each of its own.
    size_of = {name: asked.network.cardinality(name) for name in asked.names}
    rows = np.arange(max(size_of.values()))
    nothing = np.zeros(len(rows))
    every_state = {name: np.eye(size)[rows % size] for name, size in size_of.items()}
    shares = dict.fromkeys(asked.names, nothing)
    return pa.table(_columns(asked, Posteriors(every_state, nothing, shares), values)).schema


class _AskedTargets:
    """What is to be predicted, and what is to be found with it; checked before any row is read.

    The states of ``written`` are given as the rows write them; ``unseen`` are the targets, unless
    those that a row shows are evidence.
    """

    def __init__(
        self,
        network: AnyNetwork,
        data: Any,
        targets: str | Sequence[str],
        *,
        give: Given | Sequence[Given],
        given_targets: bool,
        unsupported: Unsupported = "warn",
        keep: str | Sequence[str],
        memory: Memory,
    ) -> None:
        self.learned = as_learned(network)
        self.data = as_data(data).every_row(self.learned)
        self.network = network = network_beside(self.learned, self.data, "predict")
        self.names = checked_targets(network, targets)
        self.answers = (give,) if isinstance(give, str) else tuple(give)
        if wrong := [answer for answer in self.answers if answer not in GIVEN]:
            first = str(wrong[0])
            offer = meaning_question(close_to(first, GIVEN) or beginning_with(first, GIVEN))
            hint = offer or f"choose among {', '.join(GIVEN)}."
            raise LacunetError(f"give={wrong[0]!r} is not known.", hint)
        check_choice(unsupported)
        if network.support is None and "unsupported" in self.answers:
            raise LacunetError(
                "the network does not know which of its CPT rows data support.",
                "give the result of lacunet.learn, or network.with_support(...).",
            )
        self.unsupported = unsupported
        self.keep = (keep,) if isinstance(keep, str) else tuple(keep)
        self.unseen = () if given_targets else self.names
        self.written = _written(network, self.names, self.data) if "states" in self.answers else ()
        self.logs = "log-probability" in self.answers
        self.bounds = unsupported == "bounds"
        self.predictor = Predictor.of(
            with_data_codes(network, self.data), self.names, self.unseen, memory
        )
        self.is_objected = unsupported in ("warn", "refuse")
        is_share_wanted = self.is_objected or "unsupported" in self.answers
        self.shares = network.support is not None and is_share_wanted


@dataclass
class _PredictedRows:
    """What is to be said of rows once all of them are predicted; none of them is kept."""

    rows: int = 0
    misses_any: bool = False  # whether one of them misses a cell
    # The sets of variables that rows show and that count as evidence; none where the network knows
    # nothing of how values went missing.
    patterns: frozenset[frozenset[str]] = frozenset()
    partly: int = 0  # the rows that show some of the targets and miss others
    impossible: int = 0  # the rows of probability zero
    first_impossible: int = 0  # the number of the first of them
    with_outer_bounds: Counter[str] = field(default_factory=Counter)
    shares_of: dict[str, RowShares] = field(default_factory=dict)

    def add(self, posteriors: Posteriors) -> None:
        """Take in what was predicted for some rows."""
        is_impossible = np.isnan(next(iter(posteriors.of_target.values()))).any(axis=1)
        if is_impossible.any() and not self.impossible:
            self.first_impossible = self.rows + int(is_impossible.argmax()) + 1
        self.rows += is_impossible.size
        self.impossible += int(is_impossible.sum())
        for name, bounds in posteriors.bounds_of.items():
            self.with_outer_bounds[name] += int((~bounds.is_exact).sum())
        for name, shares in posteriors.unsupported_of.items():
            self.shares_of.setdefault(name, RowShares()).add(shares)

    def say(self, asked: _AskedTargets) -> None:
        """Warn of what is assumed, of what is lost, and of what no data support."""
        network = asked.network
        if self.misses_any:
            say_assumptions(asked.learned, network, draws=False)
        patterns = sorted(self.patterns, key=sorted)
        say_hidden_causes(network, [([name], shown) for shown in patterns for name in asked.names])
        if self.partly and asked.unseen:
            show = "shows" if self.partly == 1 else "show"
            miss = "misses" if self.partly == 1 else "miss"
            warn(
                f"{counted(self.partly, 'row')} {show} some of the targets and {miss} others: a "
                "target is never evidence for another. To use what is shown, predict with "
                "given_targets=True (--given-targets), or leave that variable out of the targets."
            )
        if self.impossible:
            warn(
                f"{counted(self.impossible, 'row')} of probability zero under the network (first: "
                f"row {self.first_impossible}): nothing can be predicted there."
            )
        for name, outer in self.with_outer_bounds.items():
            if outer:
                warn(
                    f"the predictions of {name!r}: the bounds of {counted(outer, 'row')} are outer "
                    "bounds, perhaps too wide."
                )
        if asked.is_objected:
            for name, shares in self.shares_of.items():
                shares.object(f"the predictions of {name!r}", asked.unsupported)


def _opened(asked: _AskedTargets, *, warns: bool) -> tuple[DataSource, Data]:
    """Where the rows are, and how they are read: variables without a column are latent.

    ``warns`` says whether to warn of such variables.
    """
    source = source_from(replace(asked.data, source=_short_as_lists(asked)))
    data = with_waves(asked.data, asked.network.variables)
    data = data.with_latent(asked.network.states_of, source.columns)
    known_names = {*keys_by_name(source.columns), *data.latent}
    latent = (*data.latent, *(v for v in asked.names if v not in known_names))
    if absent := _absent(asked.network, source.columns, latent):
        if warns:
            warn(
                f"{source.label} has no column for {listed(absent)}: treated as unknown in every "
                "row."
            )
        latent = (*latent, *absent)
    if strangers := [name for name in asked.keep if name not in source.columns]:
        hint = meaning_question(close_to(strangers[0], source.columns))
        raise LacunetError(f"{source.label} has no column {strangers[0]!r} to keep.", hint)
    return source, replace(data, latent=latent)


def _short_as_lists(asked: _AskedTargets) -> Any:
    """The rows; of a frame that has few, and nothing in them but states, as a dict of lists.

    To take a column out of a frame of pandas takes longer than to predict a row, and there is
    nothing to be said of states that would name the frame. What is written again needs its types.
    """
    frame = asked.data.source
    network = asked.network
    if isinstance(frame, Mapping) or asked.written or asked.keep:
        return frame
    rows = few_rows(frame, MAX_ROWS_BY_QUERY) or []
    if not rows or {*rows[0], *asked.names} != set(network.states_of):
        return frame
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    for name, cells in columns.items():
        states = network.states_of[name]
        if not all(is_null(cell) or (type(cell) is str and cell in states) for cell in cells):
            return frame
    return columns


def _coded(
    asked: _AskedTargets, source: DataSource, data: Data, *, tell: bool
) -> Iterator[tuple[Mapping[str, Any], EncodedTable]]:
    """Some rows at a time: the columns as they came, and the codes."""
    for piece, table, _ in rows_with_codes(
        source, data, asked.network, columns=asked.keep, unseen=asked.unseen, tell=tell
    ):
        yield piece.columns, table


def _in_pieces(
    asked: _AskedTargets, source: DataSource, data: Data, rows: _PredictedRows
) -> Iterator[tuple[Mapping[str, Any], EncodedTable, Posteriors]]:
    """Some rows at a time, and their posteriors; ``rows`` takes note."""
    latent = {*data.latent}
    for piece, table in _coded(asked, source, data, tell=True):
        rows.misses_any |= bool({*table.partially_observed} - latent)
        rows.patterns |= shown_patterns(asked.network, table, asked.unseen)
        rows.partly += int((table.shows_any(asked.names) & ~table.is_shown(asked.names)).sum())
        posteriors = asked.predictor.posteriors(
            table, latent, shares=asked.shares, logs=asked.logs, bounds=asked.bounds
        )
        rows.add(posteriors)
        yield piece, table, posteriors


def _absent(network: Network, columns: Sequence[str], latent: Sequence[str]) -> list[str]:
    """The variables that no row shows for lack of a column; none where a name may be misspelled.

    Data that have no column of the network are refused when they are read.
    """
    bare = {name.strip() for name in columns}
    absent = [name for name in network.variables if name not in bare and name not in latent]
    others = [name for name in columns if name.strip() not in network.states_of]
    if any(close_to(name, others) for name in absent) or bare.isdisjoint(network.variables):
        return []
    return absent


def _written(network: Network, names: Sequence[str], data: Data) -> tuple[str, ...]:
    """The targets whose cells are states: neither numbers to be cut, nor empty by a rule."""
    others = {*network.cuts_of, *network.not_asked_of, *data.not_asked}
    return tuple(name for name in names if name not in others)


class _Column(NamedTuple):
    """A column of what is predicted."""

    template: str  # of its name, around the variable and the state
    words: tuple[str, ...]  # the variable, and the state if it is of one
    cells: NDArray[Any]

    def name(self) -> str:
        """Its name, as long as no other column has the same."""
        return self.template.format("=".join(self.words))

    def quoted_name(self) -> str:
        """Its name with quotes, which no other column has."""
        return self.template.format("=".join(map(in_quotes, self.words)))


def _columns(
    asked: _AskedTargets, posteriors: Posteriors, values: SeenValues
) -> dict[str, NDArray[Any]]:
    """What is predicted, as columns with different names."""
    columns = _columns_of_targets(asked, posteriors, values)
    logs = posteriors.log_probability
    named = {column.name(): column.cells for column in columns}
    number = len(columns)
    if asked.logs:
        named["log-probability"] = logs
        number += 1
    if len(named) < number:  # two columns had the same name
        named = {column.quoted_name(): column.cells for column in columns}
        if asked.logs:
            named["log-probability of the row"] = logs
    if twice := [name for name in asked.keep if name in named]:
        raise LacunetError(
            f"keep= (--keep) names {listed(twice)}, which the predictions have too.",
            "rename that column of the data, or do not keep it.",
        )
    return named


def _columns_of_targets(
    asked: _AskedTargets, posteriors: Posteriors, values: SeenValues
) -> list[_Column]:
    """What is predicted of each target in turn."""
    columns = []
    for name, rows in posteriors.of_target.items():
        states = asked.network.states(name)
        if "probabilities" in asked.answers:
            for code, state in enumerate(states):
                columns.append(_Column("{}", (name, state), rows[:, code]))
        if name in posteriors.bounds_of:
            low, high, _ = posteriors.bounds_of[name]
            for code, state in enumerate(states):
                columns.append(_Column("lowest({})", (name, state), low[:, code]))
                columns.append(_Column("highest({})", (name, state), high[:, code]))
        if "states" in asked.answers:
            cells = _most_probable(rows, values.written(name, states))
            columns.append(_Column("{}", (name,), cells))
        if "unsupported" in asked.answers:
            shares = posteriors.unsupported_of[name]
            columns.append(_Column("unsupported({})", (name,), shares))
    return columns


def _most_probable(rows: FloatArray, values: Sequence[Any]) -> NDArray[Any]:
    """The value of the most probable state of each row; None for a row of probability zero."""
    is_known = ~np.isnan(rows).any(axis=1)
    best = np.where(np.isnan(rows), 0, rows).argmax(axis=1)
    cells = np.array([*values, None], dtype=object)[np.where(is_known, best, -1)]
    are_numbers = is_known.all() and np.array(values).dtype.kind in "biuf"
    return np.array(values)[best] if are_numbers else cells

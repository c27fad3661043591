"""The posterior of some variables for every row of a dataframe: `predict` and `compile`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lacunet.completion.assumptions import say_assumptions, say_hidden_causes, shown_patterns
from lacunet.completion.bounds import row_bounds
from lacunet.completion.mechanisms import evidence_with_mechanisms, rows_with_mechanisms
from lacunet.completion.posteriors import Posteriors, row_posteriors
from lacunet.completion.shares import object_to_shares
from lacunet.data.given import Data, data_given, is_one_row
from lacunet.data.read import rows_with_codes
from lacunet.data.reading import source_from, with_data_codes
from lacunet.data.seen import SeenValues, keys_by_name
from lacunet.data.skips import ruled
from lacunet.data.table import EncodedTable
from lacunet.data.whole import few_rows, frame_like, kept_columns
from lacunet.errors import LacunetError, warn
from lacunet.formats.files import (
    AnyNetwork,
    as_learned,
    as_network,
    is_network,
    network_beside,
)
from lacunet.hints import with_hints, with_hints_by
from lacunet.inference.answer import Answer
from lacunet.inference.errors import ImpossibleEvidenceError
from lacunet.inference.joint import posed
from lacunet.inference.query import Unsupported, check_choice, marginals
from lacunet.memory import Memory
from lacunet.model.mechanisms import with_nodes
from lacunet.model.network import FloatArray, Network
from lacunet.wording import beginning_with, close_to, counted, in_quotes, listed, question

Given = Literal["probabilities", "states", "log-probability", "unsupported"]
GIVEN: tuple[Given, ...] = ("probabilities", "states", "log-probability", "unsupported")
FEW = 8  # rows that are faster asked one by one
SWAPPED = (
    "the arguments are swapped: the network comes first, then the data, then the targets.",
    "as in predict(network, data, targets).",
)


def _with_targets(args: Sequence[Any], named: Mapping[str, Any]) -> str:
    """The call with something to predict, where that is all that is missing."""
    if len(args) != 2 or named.keys() - {"give", "given_targets", "unsupported", "missing"}:
        return ""
    variables = getattr(getattr(args[0], "network", args[0]), "variables", ("Ill",))
    return f"name what to predict: predict(network, data, {variables[-1]!r}), or several in a list."


@with_hints_by(_with_targets)
def predict(
    network: AnyNetwork,
    data: Any,
    targets: str | Sequence[str],
    *,
    give: Given | Sequence[Given] = "probabilities",
    given_targets: bool = False,
    unsupported: Unsupported = "warn",
    keep: str | Sequence[str] = (),
    missing: Any = (),
    memory: Memory = None,
) -> Any:
    r"""The posterior of some variables for every row, given what the row shows of the others.

    For the most probable state in place of the probabilities, say ``give="states"``. The command
    ``lacunet predict`` writes ``give=["probabilities", "states", "log-probability"]``.

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
        `lacunet.log_likelihood` adds it up), ``"unsupported"`` the share of each prediction
        that rests on CPT rows without data, as the columns ``unsupported(X)``; or several.
        Where two names of columns would clash, such as those of the variable ``A=b`` with the
        state ``c`` and of ``A`` with the state ``b=c``, they are put in quotes.
    given_targets
        Whether a target that a row shows is evidence after all: then it is certain itself, and
        counts as evidence for the others. Without it, a target is not even evidence of whether
        another question was asked (``not_asked={"SmokesNow": "Smoked=no"}``).
    unsupported
        What to do where predictions rest on CPT rows without data: "warn", "refuse", or "ignore".
        With "bounds" there are the columns ``lowest(X=state)`` and ``highest(X=state)`` too: the
        lowest and the highest probability over all values that these CPT rows could have. Each
        distinct row takes a query of its own.
    keep
        Columns of the data to put before the predictions, such as ``"Id"``.
    missing
        How the data are read, as in `lacunet.Data`.
    memory
        The bytes that inference may take, or such as ``"500MB"``; by default half of the memory.

    Returns
    -------
    A dataframe of the data's kind with one row for each row of the data; for a path a pyarrow
    Table (``.to_pandas()`` makes a DataFrame of it). A row of probability zero has NaN, and a
    warning counts them; another counts the rows that show some targets and miss others, where the
    shown ones are not evidence. Probabilities have no intervals here; `lacunet.query` gives those
    of one case:
    ``query(result, "Ill", {"Age": "old"}, interval=True)``.

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
    if not is_network(network) and any(map(is_network, (data, targets))):
        raise LacunetError(*SWAPPED)
    learned = as_learned(network)
    given = data_given(data, missing=missing).every_row(learned)
    network = network_beside(learned, given, "predict")
    if _are_variables(network, data):
        raise LacunetError(*SWAPPED)
    names = _names(network, targets)
    answers = (give,) if isinstance(give, str) else tuple(give)
    if wrong := [answer for answer in answers if answer not in GIVEN]:
        first = str(wrong[0])
        offer = question(close_to(first, GIVEN) or beginning_with(first, GIVEN))
        hint = offer or f"choose among {', '.join(GIVEN)}."
        raise LacunetError(f"give={wrong[0]!r} is not known.", hint)
    check_choice(unsupported)
    if network.support is None and "unsupported" in answers:
        raise LacunetError(
            "the network does not know which of its CPT rows data support.",
            "give the result of lacunet.learn, or network.with_support(...).",
        )
    is_objected = unsupported in ("warn", "refuse")
    asked = _AskedTargets(
        network=network,
        names=names,
        written=_written(network, names, given) if "states" in answers else (),
        unseen=() if given_targets else names,
        logs="log-probability" in answers,
        shares=network.support is not None and (is_objected or "unsupported" in answers),
        bounds=unsupported == "bounds",
        memory=memory,
        keep=(keep,) if isinstance(keep, str) else tuple(keep),
    )
    predicted = None
    is_declared = bool(
        network.codes_of or network.not_asked_of or given.given_options.keys() > {"source"}
    )
    if not (is_declared or given_targets or asked.logs or asked.bounds or asked.keep):
        predicted = _one_by_one(asked, given.source)
    posteriors, rows = predicted or _in_pieces(asked, given, warns=not is_one_row(data))
    if rows.misses_any:
        say_assumptions(learned, network, draws=False)
    patterns = sorted(rows.patterns, key=sorted)
    say_hidden_causes(network, [([name], shown) for shown in patterns for name in names])
    _say_what_is_lost(posteriors, 0 if given_targets else rows.partly)
    if is_objected:
        for name, shares in posteriors.unsupported_of.items():
            object_to_shares(shares, f"the predictions of {name!r}", unsupported)
    columns = _columns(network, posteriors, answers, rows.values)
    if twice := [name for name in asked.keep if name in columns]:
        raise LacunetError(
            f"keep names {listed(twice)}, which the predictions have too.",
            "rename that column of the data, or leave it out of keep (--keep).",
        )
    return frame_like(given.source, {**rows.kept, **columns})


def _are_variables(network: Network, data: Any) -> bool:
    """Whether targets were given in place of the data."""
    names = [data] if isinstance(data, str) else data
    if not (isinstance(names, list | tuple) and names):
        return False
    are_known = all(isinstance(name, str) and name in network.states_of for name in names)
    return are_known and not (isinstance(data, str) and os.path.exists(data))


@dataclass(frozen=True, eq=False)
class _AskedTargets:
    """What is to be predicted, and what is to be found with it.

    The states of ``written`` are given as the rows write them; ``unseen`` are the targets, unless
    those that a row shows are evidence.
    """

    network: Network
    names: tuple[str, ...]
    written: tuple[str, ...]
    unseen: tuple[str, ...]
    logs: bool
    shares: bool
    bounds: bool
    memory: Memory
    keep: tuple[str, ...]


class _ShownInRows(NamedTuple):
    """Whether rows miss anything, and which variables count as evidence in which of them.

    There need be no ``patterns`` where the network knows nothing of how values went missing.
    ``partly`` is the number of rows that show some of the targets and miss others; ``values`` are
    how rows write the states of targets, ``kept`` the columns that are given back as they came.
    """

    misses_any: bool
    patterns: frozenset[frozenset[str]]
    partly: int
    values: SeenValues
    kept: Mapping[str, Any]


def _in_pieces(asked: _AskedTargets, data: Data, *, warns: bool) -> tuple[Posteriors, _ShownInRows]:
    """The posteriors of all rows, some at a time, and what the rows show.

    ``warns`` says whether to warn of variables without a column.
    """
    names, source = asked.names, source_from(data)
    data = data.with_latent(asked.network.states_of, source.columns)
    known_names = {*keys_by_name(source.columns), *data.latent}
    latent = (*data.latent, *(v for v in names if v not in known_names))
    if absent := _absent(asked.network, source.columns, latent):
        if warns:
            warn(
                f"{source.label} has no column for {listed(absent)}: not known in any row, which "
                "is no evidence."
            )
        latent = (*latent, *absent)
    opened = replace(data, latent=latent)
    known = replace(asked, network=with_data_codes(asked.network, opened))
    parts, misses_any, patterns, partly = [], False, frozenset[frozenset[str]](), 0
    values, kept = SeenValues(), []
    if strangers := [name for name in asked.keep if name not in source.columns]:
        hint = question(close_to(strangers[0], source.columns))
        raise LacunetError(f"{source.label} has no column {strangers[0]!r} to keep.", hint)
    for piece, table, _ in rows_with_codes(
        source, opened, asked.network, columns=asked.keep, unseen=asked.unseen
    ):
        kept.append({name: piece.columns[name] for name in asked.keep})
        values.add(piece.columns, table, asked.written)
        misses_any |= bool({*table.partially_observed} - {*latent})
        patterns |= shown_patterns(asked.network, table, asked.unseen)
        partly += int((table.shows_any(names) & ~table.is_shown(names)).sum())
        parts.append(_of_table(known, table, set(latent)))
    whole = kept_columns(data.source, kept) if asked.keep else {}
    return Posteriors.joined(parts), _ShownInRows(misses_any, patterns, partly, values, whole)


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


def _of_table(asked: _AskedTargets, table: EncodedTable, latent: set[str]) -> Posteriors:
    """The posteriors of some rows."""
    network, names = asked.network, asked.names
    whole, rows = rows_with_mechanisms(network, table, latent, asked.unseen)
    shown = rows.hiding(asked.unseen) if asked.unseen else rows
    posteriors = row_posteriors(whole, shown, names, asked.memory, shares=asked.shares)
    if asked.bounds:
        bounds_of = {name: row_bounds(whole, shown, name, asked.memory) for name in names}
        posteriors = replace(posteriors, bounds_of=bounds_of)
    if not asked.logs or (whole is network and shown is rows):
        return posteriors
    whole_rows = row_posteriors(network, ruled(network, table), (), asked.memory)
    return replace(posteriors, log_probability=whole_rows.log_probability)


def _names(network: Network, targets: str | Sequence[str]) -> tuple[str, ...]:
    if not isinstance(targets, Iterable):
        raise LacunetError(f"targets is {targets!r}, but must be a variable or a list of them.")
    names = (targets,) if isinstance(targets, str) else tuple(targets)
    if not names:
        raise LacunetError("there are no targets.", "name variables of the network to predict.")
    if len(set(names)) < len(names):
        raise LacunetError(f"a target is named twice in {list(names)}.", "name each once.")
    return tuple(map(network.known, names))


def _written(network: Network, names: Sequence[str], data: Data) -> tuple[str, ...]:
    """The targets whose cells are states: neither numbers to be cut, nor empty by a rule."""
    others = {*network.cuts_of, *network.not_asked_of, *data.not_asked}
    return tuple(name for name in names if name not in others)


def _say_what_is_lost(posteriors: Posteriors, partly: int) -> None:
    """Warn of targets that were shown, of rows without a prediction, and of wide bounds."""
    if partly:
        show, miss = ("shows", "misses") if partly == 1 else ("show", "miss")
        warn(
            f"{counted(partly, 'row')} {show} some of the targets and {miss} others: a target is "
            "never evidence for another. To use what is shown, predict with given_targets=True "
            "(--given-targets), or leave that variable out of the targets."
        )
    is_impossible = np.isnan(next(iter(posteriors.of_target.values()))).any(axis=1)
    if impossible := int(is_impossible.sum()):
        warn(
            f"{counted(impossible, 'row')} of probability zero under the network (first: row "
            f"{int(np.argmax(is_impossible)) + 1}): nothing can be predicted there."
        )
    for name, bounds in posteriors.bounds_of.items():
        if outer := int((~bounds.is_exact).sum()):
            warn(
                f"the predictions of {name!r}: the bounds of {counted(outer, 'row')} are outer "
                "bounds, perhaps too wide."
            )


def _one_by_one(asked: _AskedTargets, frame: Any) -> tuple[Posteriors, _ShownInRows] | None:
    """The same for a few rows, each asked as a query; None where that is not the way.

    Only for rows whose cells are states as they are written, or missing: the rest is for those
    who read data.
    """
    network, names, shares, memory = asked.network, asked.names, asked.shares, asked.memory
    rows = few_rows(frame, FEW)
    if rows is None or not _are_plain(network, rows, names):
        return None
    if any(name in row and type(row[name]) is not str for row in rows for name in asked.written):
        return None  # the kind of the column says how its states are written
    misses_any = any(type(value) is not str for row in rows for value in row.values())
    whole = with_nodes(network)
    of_target = {name: np.empty((len(rows), network.cardinality(name))) for name in names}
    unsupported_of = {name: np.zeros(len(rows)) for name in names if shares}
    scopes = [(name,) for name in names]
    patterns, partly = set(), 0
    for index, row in enumerate(rows):
        shown = {name: state for name, state in row.items() if type(state) is str}
        partly += 0 < len(shown.keys() & {*names}) < len(names)
        seen = evidence_with_mechanisms(network, row, shown, names)
        patterns.add(frozenset(seen.keys() & network.states_of.keys()))
        joint = posed(whole, scopes, seen, memory, shares=shares)
        try:
            answers, lost = joint.answers, joint.shares if shares else ()
        except ImpossibleEvidenceError:
            answers = tuple(np.full(cells.shape[1], np.nan) for cells in of_target.values())
            lost = (np.nan,) * len(names)
        for name, answer in zip(names, answers, strict=True):
            of_target[name][index] = answer
        for cells, share in zip(unsupported_of.values(), lost, strict=False):
            cells[index] = share
    posteriors = Posteriors(of_target, np.full(len(rows), np.nan), unsupported_of)
    return posteriors, _ShownInRows(misses_any, frozenset(patterns), partly, SeenValues(), {})


def _are_plain(
    network: Network, rows: Sequence[Mapping[str, object]], names: Sequence[str]
) -> bool:
    """Whether the rows have the network's columns and nothing else than its states."""
    states_of = network.states_of
    for row in rows:
        if {*row, *names} != set(states_of):
            return False
        for name, value in row.items():
            is_missing = value is None or (type(value) is float and isnan(value))
            if not (is_missing or (type(value) is str and value in states_of[name])):
                return False
    return True


def _columns(
    network: Network, posteriors: Posteriors, answers: Sequence[Given], values: SeenValues
) -> Mapping[str, NDArray[Any]]:
    columns: list[tuple[str, str, Any]] = []  # the name, one in quotes that no other has, cells
    for name, rows in posteriors.of_target.items():
        if "probabilities" in answers:
            columns += [
                (f"{name}={state}", f"{in_quotes(name)}={in_quotes(state)}", rows[:, code])
                for code, state in enumerate(network.states(name))
            ]
        if name in posteriors.bounds_of:
            bounds = posteriors.bounds_of[name]
            columns += [
                (f"{end}({name}={state})", f"{end}({in_quotes(name)}={in_quotes(state)})", column)
                for code, state in enumerate(network.states(name))
                for end, column in (
                    ("lowest", bounds.low[:, code]),
                    ("highest", bounds.high[:, code]),
                )
            ]
        if "states" in answers:
            cells = _most_probable(rows, values.written(name, network.states(name)))
            columns.append((name, in_quotes(name), cells))
        if "unsupported" in answers:
            shares = posteriors.unsupported_of[name]
            columns.append((f"unsupported({name})", f"unsupported({in_quotes(name)})", shares))
    if "log-probability" in answers:
        columns.append(
            ("log-probability", "log-probability of the row", posteriors.log_probability)
        )
    are_distinct = len({name for name, _, _ in columns}) == len(columns)
    return {name if are_distinct else quoted: cells for name, quoted, cells in columns}


def _most_probable(rows: FloatArray, values: Sequence[Any]) -> NDArray[Any]:
    """The value of the most probable state of each row; None for a row of probability zero."""
    is_known = ~np.isnan(rows).any(axis=1)
    best = np.where(np.isnan(rows), 0, rows).argmax(axis=1)
    cells = np.array([*values, None], dtype=object)[np.where(is_known, best, -1)]
    are_numbers = is_known.all() and np.array(values).dtype.kind in "biuf"
    return np.array(values)[best] if are_numbers else cells


@dataclass(frozen=True, eq=False)
class Predictor:
    """Predicts some variables for one row at a time, as fast as a query; see `compile`."""

    network: Network
    targets: tuple[str, ...]
    _whole: Network
    _memory: Memory

    def __call__(self, row: Mapping[str, object]) -> Mapping[str, Answer]:
        """The posterior of each target, given what the row shows of the other variables.

        Parameters
        ----------
        row
            A value for each column; None and NaN mean that it is missing. Columns that are not
            the network's have no part in it.

        Raises
        ------
        ImpossibleEvidenceError
            The network gives what the row shows the probability zero.
        """
        shown = {name: value for name, value in row.items() if name in self.network.states_of}
        return marginals(
            self._whole,
            evidence_with_mechanisms(self.network, shown, shown, self.targets),
            variables=self.targets,
            unsupported="ignore",  # each answer says it when it is printed
            memory=self._memory,
        )


@with_hints
def compile(  # noqa: A001
    network: AnyNetwork, targets: str | Sequence[str], *, memory: Memory = None
) -> Predictor:
    """A predictor for single rows, such as a service gets.

    It does as much of the work as it can once and for all, and remembers what depends only on
    which columns a row shows. A row then takes about as long as one query.

    Parameters
    ----------
    network, targets, memory
        As in `predict`.

    Returns
    -------
    A function of one row, a mapping from columns to values. It gives the probabilities of the
    states of each target.

    Examples
    --------
    >>> rain = Network(
    ...     {"Rain": ["no", "yes"], "Wet": ["no", "yes"]},
    ...     {"Wet": ["Rain"]},
    ...     {"Rain": [0.75, 0.25], "Wet": [[0.75, 0.25], [0.25, 0.75]]},
    ... )
    >>> predictor = compile(rain, "Rain")
    >>> predictor({"Wet": "no", "Day": 3})["Rain"].tolist()
    [0.9, 0.1]
    """
    network = as_network(network)
    network.cpt(network.variables[0])  # refused without CPTs, before the first row
    return Predictor(network, _names(network, targets), with_nodes(network), memory)

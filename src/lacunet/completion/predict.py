"""Posteriors and completions for dataframes: `predict` and `impute`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lacunet.completion.rows import Posteriors, draw_completions, most_probable, row_posteriors
from lacunet.data.read import read_table
from lacunet.data.reading import source_from
from lacunet.data.table import EncodedTable
from lacunet.data.whole import filled, held, made_like, replaced
from lacunet.errors import LacunetError, LacunetWarning
from lacunet.formats.files import AnyNetwork, as_network
from lacunet.model.network import Network
from lacunet.wording import counted

if TYPE_CHECKING:
    from lacunet.data.reading import Unknown

Answer = Literal["probabilities", "states", "log-probability"]
ANSWERS: tuple[Answer, ...] = ("probabilities", "states", "log-probability")


def predict(
    network: AnyNetwork,
    data: Any,
    targets: str | Sequence[str],
    *,
    give: Answer | Sequence[Answer] = "probabilities",
    hide_targets: bool = False,
    missing: Sequence[str] = (),
    unknown: Unknown = "error",
    latent: Sequence[str] = (),
    memory: float | None = None,
) -> Any:
    r"""The posterior of some variables for every row, given all that the row shows.

    Rows may miss any cells. A target that has no column is predicted; one that a row shows is
    certain there, unless ``hide_targets`` says that it shall be predicted from the others.

    Parameters
    ----------
    network
        A network with CPTs, a result of learning, or the path or name of one.
    data
        Whatever `lacunet.learn` takes.
    targets
        The variables to predict.
    give
        ``"probabilities"`` gives the columns ``X=state``, ``"states"`` the most probable state
        of each target as the column ``X``, ``"log-probability"`` the natural logarithm of the
        probability of what the row shows; or several of them.
    missing, unknown, latent
        As for `lacunet.learn`.
    memory
        The bytes that exact inference may take.

    Returns
    -------
    A dataframe of the data's kind with one row for each row of the data (an Arrow table for
    files). A row of probability zero has NaN, and a warning counts them.

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
    network = as_network(network)
    names = _names(network, targets)
    answers = (give,) if isinstance(give, str) else tuple(give)
    if wrong := [answer for answer in answers if answer not in ANSWERS]:
        raise LacunetError(
            f"give={wrong[0]!r} is not known.", f"choose among {', '.join(ANSWERS)}."
        )
    frame = held(data)
    absent = [name for name in names if name not in source_from(frame).columns]
    table = read_table(frame, network, missing=missing, unknown=unknown, latent=[*latent, *absent])
    if hide_targets:
        table = _without(table, names)
    found = row_posteriors(network, table, names, memory)
    if impossible := int(np.isneginf(found.log_probability).sum()):
        first = int(np.argmin(found.log_probability)) + 1
        warnings.warn(
            f"{counted(impossible, 'row')} of probability zero under the network (first: row "
            f"{first}): nothing can be predicted there.",
            LacunetWarning,
            stacklevel=2,
        )
    return made_like(frame, _columns(network, found, answers))


def _names(network: Network, targets: str | Sequence[str]) -> tuple[str, ...]:
    names = (targets,) if isinstance(targets, str) else tuple(targets)
    if not names:
        raise LacunetError("there are no targets.", "name variables of the network to predict.")
    return tuple(map(network.known, names))


def _without(table: EncodedTable, names: Sequence[str]) -> EncodedTable:
    hidden = {
        name: np.full_like(codes, table.cardinality_of[name]) if name in names else codes
        for name, codes in table.columns.items()
    }
    return EncodedTable.of(table.cardinality_of, hidden)


def _columns(
    network: Network, found: Posteriors, answers: Sequence[Answer]
) -> Mapping[str, list[Any]]:
    columns: dict[str, Any] = {}
    for name, rows in found.of_target.items():
        if "probabilities" in answers:
            columns |= {
                f"{name}={state}": rows[:, at] for at, state in enumerate(network.states(name))
            }
        if "states" in answers:
            is_known = ~np.isnan(rows).any(axis=1)
            best = np.where(np.isnan(rows), 0, rows).argmax(axis=1)
            states = np.array([*network.states(name), None], dtype=object)
            columns[name] = states[np.where(is_known, best, len(states) - 1)]
    if "log-probability" in answers:
        columns["log-probability"] = found.log_probability
    return {name: column.tolist() for name, column in columns.items()}


def impute(
    network: AnyNetwork,
    data: Any,
    draws: int | None = None,
    rng: np.random.Generator | int | None = None,
    *,
    missing: Sequence[str] = (),
    unknown: Unknown = "error",
    latent: Sequence[str] = (),
    memory: float | None = None,
) -> Any:
    """The data with every missing cell of the network's variables filled in.

    Parameters
    ----------
    network
        A network with CPTs, a result of learning, or the path or name of one.
    data
        Whatever `lacunet.learn` takes.
    draws
        None for the most probable completion of each row, all its missing cells together; or
        how many completed frames to draw from the joint posterior, for multiple imputation.
    rng
        Where the randomness of draws comes from; needed for draws.
    missing, unknown, latent
        As for `lacunet.learn`; a latent variable becomes a new column.
    memory
        The bytes that exact inference may take.

    Returns
    -------
    A frame of the data's kind (an Arrow table for files), or a list of them. Rows keep their
    order; cells that are shown and columns that are not the network's stay as they are. Only a
    column of numbers that the network cuts becomes one of intervals, as by `lacunet.discretise`:
    an interval is all that is known of its missing cells.

    Raises
    ------
    ImpossibleDataError
        A row has probability zero, so nothing follows about its missing cells.

    Examples
    --------
    >>> rain = Network(
    ...     {"Rain": ["no", "yes"], "Wet": ["no", "yes"]},
    ...     {"Wet": ["Rain"]},
    ...     {"Rain": [0.75, 0.25], "Wet": [[0.9, 0.1], [0.2, 0.8]]},
    ... )
    >>> impute(rain, {"Rain": [None, "no", None], "Wet": ["yes", None, None], "Day": [1, 2, 3]})
    {'Rain': ['yes', 'no', 'no'], 'Wet': ['yes', 'no', 'no'], 'Day': [1, 2, 3]}
    """
    network = as_network(network)
    if draws is not None and draws < 1:
        raise LacunetError(f"draws={draws} is not a number of draws.", "give 1 or more, or None.")
    if draws is not None and rng is None:
        raise LacunetError(
            "draws need a random generator or a seed.",
            "give rng=numpy.random.default_rng(1), or rng=1.",
        )
    frame = held(data)
    table = read_table(frame, network, missing=missing, unknown=unknown, latent=latent)
    if draws is None or rng is None:
        return _completed(network, frame, table, most_probable(network, table, memory))
    return [
        _completed(network, frame, table, whole)
        for whole in draw_completions(network, table, draws, np.random.default_rng(rng), memory)
    ]


def _completed(network: Network, frame: Any, shown: EncodedTable, whole: EncodedTable) -> Any:
    partly = [name for name in network.variables if shown.missing_of[name]]
    codes = {name: (whole.columns[name], network.states(name)) for name in partly}
    cut = {name: own for name, own in codes.items() if name in network.cuts_of}
    kept = {
        name: (shown.columns[name] == network.cardinality(name), own)
        for name, own in codes.items()
        if name not in cut
    }
    return replaced(filled(frame, kept), cut)

"""Dataframes with every missing cell filled in: `impute`."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from lacunet.completion.mechanisms import rows_with_mechanisms
from lacunet.completion.posteriors import completion_shares
from lacunet.completion.rows import draw_completions, most_probable
from lacunet.completion.shares import object_to_shares
from lacunet.data.given import data_given
from lacunet.data.read import read_table
from lacunet.data.table import EncodedTable
from lacunet.data.whole import filled, held_data, replaced
from lacunet.errors import LacunetError
from lacunet.formats.files import AnyNetwork, as_network
from lacunet.model.network import Network


def impute(
    network: AnyNetwork,
    data: Any,
    draws: int | None = None,
    *,
    rng: np.random.Generator | int | None = None,
    unsupported: Literal["warn", "refuse", "ignore"] = "warn",
    missing: Any = (),
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
        Where the randomness of draws comes from, or a seed; None is fresh entropy.
    unsupported
        What to do where completions rest on CPT rows without data.
    missing
        Said of the data, as in `lacunet.Data`; a latent variable becomes a new column.
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
    given = held_data(data_given(data, missing=missing))
    frame, table = given.source, read_table(given, network)
    whole, rows = rows_with_mechanisms(network, table, given.latent)
    if unsupported != "ignore" and network.support is not None:
        object_to_shares(completion_shares(whole, rows, memory), "completions", unsupported)
    if draws is None:
        return _completed(network, frame, table, most_probable(whole, rows, memory))
    return [
        _completed(network, frame, table, drawn)
        for drawn in draw_completions(whole, rows, draws, np.random.default_rng(rng), memory)
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

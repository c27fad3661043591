"""A dense network from data: what ``learn_structure(purpose="imputation")`` learns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import monotonic
from typing import Any

import numpy as np

from lacunet.counts.observations import rows_within
from lacunet.counts.open_rows import open_rows
from lacunet.data.data import Data, as_data
from lacunet.data.donors import donor_sampler
from lacunet.data.errors import DataError, DataWarning, refuse_strangers
from lacunet.data.panels import refuse_panel
from lacunet.data.read import ReadReport
from lacunet.data.table import Copies, EncodedTable
from lacunet.errors import LacunetError, warn
from lacunet.learning.dense.cut_points import finely_cut
from lacunet.learning.dense.dense_network import DenseNetwork, learn_dense_network
from lacunet.learning.imputation_model import ImputationModel
from lacunet.limits import Deadline, Memory
from lacunet.network.network import Network
from lacunet.progress import Progress

MOST_ROWS = 50_000  # that are learned from
FUNCTION = "learn_structure"
ON_DESIGN = (
    "rows are taken as independent, whatever strata, clusters or replicate weights say: with "
    "clusters whose rows are alike, several completed tables vary too little."
)


def learn_imputation_model(
    data: Any,
    *,
    keep_pairs: Sequence[str] | str = (),
    time_limit: float | None = None,
    rng: np.random.Generator,
    memory: Memory = None,
    progress: Progress,
) -> ImputationModel:
    """The dense network of all columns, its parameters and draws of these."""
    began, deadline = monotonic(), Deadline.asked(time_limit)
    data = _checked(as_data(data))
    columns_found, means = finely_cut(data)
    if columns_found.empty:
        raise DataError.empty_columns(columns_found.empty)
    kept = _kept(keep_pairs, columns_found.network, tuple(columns_found.left_out))
    known = replace(
        data, states=columns_found.network, bins=None, aside=(*data.aside, *columns_found.left_out)
    )
    opened = open_rows(FUNCTION, columns_found.network, known, memory, progress)
    report = ReadReport()
    sampler = donor_sampler(opened.network, opened.data, rng)
    with opened.rows(sampler) as rows:
        table, number = rows_within(rows, opened.network, opened.budget, report)
        notes = [*columns_found.remarks, *rows.warned_notes(report)]
        donors = sampler.donors() if sampler.is_complete else None
    unseen = [name for name, missing in table.missing_of.items() if missing >= table.row_count]
    if unseen:  # their states are given, and nothing is known of how often each occurs
        raise DataError.empty_columns(unseen)
    if data.has_design:
        notes.append(ON_DESIGN)
    some = _some_rows(table.without_sets(), rng)
    if some.rows < number:
        notes.append(f"learned from {some.rows:,} of the {number:,} rows, drawn by chance.")
    for note in notes:
        warn(note, DataWarning)
    dense, is_done = learn_dense_network(opened.network, some, means, kept, rng, deadline, progress)
    return ImputationModel(
        network=_with_edges(opened.network, dense),
        dense=dense,
        donors=donors,
        rows=table.row_count,
        missing={name: table.missing_of[name] for name in opened.network.variables},
        left_out=tuple(dict.fromkeys([*columns_found.left_out, *data.without, *data.beside])),
        kept_pairs=kept,
        seconds=monotonic() - began,
        notes=tuple(notes),
        ended="all sweeps" if is_done else "time limit",
    )


def _checked(data: Data) -> Data:
    """The data, if their rows are such as a dense network is learned from."""
    refuse_panel(data, FUNCTION)
    if data.latent:
        raise LacunetError(
            f"latent={sorted(data.latent)}: a network for imputation has no hidden variables.",
            "leave latent= out, or learn a network for its structure.",
        )
    return data


def _kept(
    asked: Sequence[str] | str, network: Network, left_out: tuple[str, ...]
) -> tuple[str, ...]:
    """The variables whose effects on each other are to be kept."""
    names = [part.strip() for part in asked.split(",")] if isinstance(asked, str) else [*asked]
    names = [name for name in dict.fromkeys(names) if name]
    if not all(isinstance(name, str) for name in names):
        raise LacunetError(
            f"keep_pairs is {asked!r}, but must name columns.",
            "as in keep_pairs=['Weight', 'Quit', 'Age']: every pair of them is kept.",
        )
    refuse_strangers("keep_pairs", names, [*network.variables, *left_out], "the rows")
    return tuple(name for name in names if name in network.variables)


def _some_rows(table: EncodedTable, rng: np.random.Generator) -> EncodedTable:
    """Each row as often as it was observed, or some of them, drawn by chance.

    What a row misses is drawn for each of its copies. Sampling weights add up to their effective
    sample size.
    """
    table = replace(table, design=None).scaled()
    copies = np.ones(table.rows) if table.copies is None else table.copies.rows
    weights = table.row_weights / copies
    whole = np.floor(copies + rng.random(table.rows)).astype(np.int64)
    places = np.repeat(np.arange(table.rows), whole)
    if len(places) > MOST_ROWS:
        places = np.sort(rng.choice(places, MOST_ROWS, replace=False))
    drawn = replace(table, copies=None, weights=None).take(places)
    if (weights == 1).all():
        return drawn
    each = weights[places]
    return replace(drawn, weights=each, copies=Copies(np.ones(len(each)), each**2))


def _with_edges(network: Network, dense: DenseNetwork) -> Network:
    """The same variables, in their order, with the edges of a dense network."""
    return Network(
        network.states_of,
        dense.edges,
        cuts=network.cuts_of,
        codes=network.codes_of,
        not_asked=network.not_asked_of,
    )

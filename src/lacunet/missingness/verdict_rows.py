"""The rows that a verdict is carried out on: distinct ones over a few columns, of any data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from lacunet.counts.distinct_rows import Rows
from lacunet.counts.folds import folds_of
from lacunet.counts.gather import Gathering, Needs
from lacunet.counts.observations import observations
from lacunet.counts.units import Units
from lacunet.data.column_rules import with_data_codes
from lacunet.data.data import Data
from lacunet.limits import Memory, memory_budget
from lacunet.missingness.errors import MissingnessGraphError
from lacunet.missingness.separation.drawing import Drawing, check_orders
from lacunet.network.network import FloatArray, Scope


class GatheredRows(NamedTuple):
    """Distinct rows, and parts of them whose differences tell a variance."""

    rows: Rows  # where they are divided into folds, the last column says in which a row is
    whole: Rows  # without that column
    # Gives the rows without each fold, or by each of the replicate weights.
    parts: Callable[[], Iterable[Rows]]
    scales: FloatArray  # what their squared differences count in a variance ...
    degrees: float  # ... with so many degrees of freedom
    units: Units | None  # those of a survey, if variances are to be found and the data have any


def check_rules(graph: Drawing, data: Data) -> None:
    """Refuse data that come with a rule of what was not asked which the graph does not know."""
    ruled = with_data_codes(graph.network.with_tables(None), data).not_asked_of
    if unknown := [name for name in ruled if ruled[name] != graph.network.not_asked_of.get(name)]:
        raise MissingnessGraphError(
            f"the data come with a rule of when {unknown[0]!r} was not asked, which the graph does "
            "not know.",
            "what it looks at is a cause of being shown: make the graph of a network that has the "
            f"rule, lacunet.Network(..., not_asked={{{unknown[0]!r}: ...}}).",
        )


def gather_rows(
    graph: Drawing,
    data: Data,
    columns: Scope,
    groups: int | None = None,
    memory: Memory = None,
) -> GatheredRows:
    """The distinct rows over some columns, wherever the rows of the data are.

    Weights are scaled to the weighted sample size.

    Parameters
    ----------
    groups
        If not None, the rows are divided into the clusters of a survey or gathered with each of its
        replicate weights; otherwise into so many groups, if any.
    memory
        The budget in bytes, or such as ``"500MB"``; by default half of the memory there is.

    Raises
    ------
    MissingnessGraphError
        Some of these columns miss values, and the graph has no mechanism for them; or the data come
        with a rule of what was not asked that it does not know.
    AgainstGraphError
        Rows show one of these columns without another one, though the graph says that they do not.
    """
    check_rules(graph, data)
    with observations(data, graph.network, memory_budget(memory)) as rows:
        look = rows.look()
        graph.check_partially([n for n in look.hidden(graph.network) if n in columns], columns)

        # Replicates: of a survey's weights, or of folds of the rows.
        units = None if groups is None else look.units
        factors = () if units is None or units.factors is None else units.factors
        folds = None if len(factors) else folds_of(groups or 0, 0, units)
        orders = graph.orders(columns)
        needs = Needs((), rows=tuple(dict.fromkeys((columns, *orders))), folds=folds)
        gathering = Gathering(needs, graph.network, scale=look.scale)
        statistics = rows.gather(gathering)
        replicates = [
            rows.gather(replace(gathering, replicate=index)) for index in range(len(factors))
        ]

    check_orders(orders, statistics.distinct)
    distinct = statistics.distinct[columns]
    if (division := statistics.folds) is not None:
        parts = partial(map, distinct.sampled, division.samples[1:])
        whole = distinct.sampled(division.samples[0])
        return GatheredRows(
            rows=distinct,
            whole=whole,
            parts=parts,
            scales=division.scales,
            degrees=division.degrees,
            units=units,
        )
    degrees = np.inf if units is None else units.degrees()
    again = [replicate.distinct[columns] for replicate in replicates]
    return GatheredRows(
        rows=distinct,
        whole=distinct,
        parts=lambda: again,
        scales=np.asarray(factors),
        degrees=degrees,
        units=units,
    )

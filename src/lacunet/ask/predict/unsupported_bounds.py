"""How far CPT rows without data could move the posterior of some variables, for each row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.distinct import group_equal
from lacunet.data.table import EncodedTable
from lacunet.inference.errors import ImpossibleEvidenceError
from lacunet.inference.joint import pose_question
from lacunet.inference.unsupported import bounds_over_bare_rows
from lacunet.limits import Memory
from lacunet.network.network import FloatArray, Network


class RowBounds(NamedTuple):
    """The lowest and the highest posterior of one variable: a row for each row of the data.

    ``is_exact`` is False in rows where they may be too wide.
    """

    low: FloatArray
    high: FloatArray
    is_exact: NDArray[np.bool_]


def row_bounds(
    network: Network, table: EncodedTable, target: str, memory: Memory = None
) -> RowBounds:
    """The bounds of a target for each row; rows that show the same are asked about once.

    Rows of probability zero have NaN.

    Examples
    --------
    >>> heart = Network(
    ...     {"Age": ["kid", "adult"], "MI": ["no", "yes"]},
    ...     {"MI": ["Age"]},
    ...     {"Age": [0.4, 0.6], "MI": [[0.5, 0.5], [0.95, 0.05]]},
    ... ).with_support({"Age": 1000, "MI": [0, 600]})
    >>> columns = {"Age": np.array([0, 2], np.uint8), "MI": np.array([2, 2], np.uint8)}
    >>> found = row_bounds(heart, EncodedTable({"Age": 2, "MI": 2}, columns), "MI")
    >>> found.low.round(6).tolist(), found.high.round(6).tolist()
    ([[0.0, 0.0], [0.57, 0.03]], [[1.0, 1.0], [0.97, 0.43]])
    """
    names = network.variables
    columns = [table.columns[name] for name in names]
    sizes = [network.cardinality(name) + 1 + len(table.sets_of.get(name, ())) for name in names]
    group, member = group_equal(columns, sizes, table.rows)
    shape = len(member), network.cardinality(target)
    low, high = np.full(shape, np.nan), np.full(shape, np.nan)
    is_exact = np.ones(len(member), dtype=np.bool_)
    for index, evidence in enumerate(evidence_of(network, table.take(member))):
        question = pose_question(network, [(target,)], evidence, memory)
        with suppress(ImpossibleEvidenceError):
            (low[index], high[index]), is_exact[index] = bounds_over_bare_rows(question)
    return RowBounds(low[group], high[group], is_exact[group])


def evidence_of(network: Network, table: EncodedTable) -> Iterator[dict[str, str]]:
    """What each row shows, as the evidence of a query."""
    names = network.variables
    columns = [table.columns[name].tolist() for name in names]
    values = [_values(network, name, table.sets_of.get(name, ())) for name in names]
    for codes in zip(*columns, strict=True):
        shown = {n: meanings[code] for n, meanings, code in zip(names, values, codes, strict=True)}
        yield {name: value for name, value in shown.items() if value is not None}


def _values(network: Network, name: str, sets: Sequence[tuple[int, ...]]) -> Sequence[str | None]:
    """What each code of a variable in a table means, as evidence."""
    states = network.states(name)
    codes = network.codes_of.get(name, {})
    code_of = {meaning: code for code, meaning in codes.items()}
    several = [code_of[tuple(states[index] for index in places)] for places in sets]
    return [*states, None, *several]

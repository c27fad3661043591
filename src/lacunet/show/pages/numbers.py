"""The numbers that a page carries, packed.

A network may have a hundred thousand cells. Where the page answers questions, CPTs are carried
in full; elsewhere as whole multiples of a power of ten. Then come, where they are known, which
CPT rows have no data, the rows behind each, and the ends of intervals, in ten thousandths and
rounded outwards. All of it is compressed and written in base64.
"""

from __future__ import annotations

import json
import math
import zlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lacunet.counts.counts import quotient
from lacunet.counts.missing_values import MissingSummary
from lacunet.inference.query import NOTED_SHARE
from lacunet.learning.family_reports import FamilyReport
from lacunet.learning.portable_intervals import Portable, Together
from lacunet.network.network import FloatArray, Network, Scope

END_ROUNDING = 1e-6  # of ten thousandths: what is beyond a whole number by less is that number
LARGEST_SHORT = 32767  # of numbers of two bytes, which stands for a correlation of one
ROWS_TO_COMPARE = 10  # that entries are compared from


@dataclass(frozen=True)
class Behind:
    """What is behind the CPTs of a page, as far as it is known; by variable."""

    rows: Mapping[str, FloatArray] | None = None  # behind each parent configuration
    intervals: Mapping[str, FloatArray] | None = None  # axes of the CPT, then low and high
    marginals: Mapping[str, FloatArray] | None = None  # intervals of it alone: state, low and high
    # What intervals need where something is seen (`pack_portable`).
    uncertainty: Mapping[str, Any] | None = None


NOTHING_BEHIND = Behind()


def rows_behind(report: FamilyReport) -> FloatArray:
    """How many rows are behind each parent configuration, whatever they weigh."""
    rows = report.counts.row_counts().sum(axis=-1)
    return np.asarray(np.where(report.support > 0, rows, 0.0))


def pack_numbers(network: Network, behind: Behind, digits: int | None, names: Scope) -> str:
    """All CPTs; then, as far as known, which of their rows have data, how many, and intervals.

    Parameters
    ----------
    digits
        The decimals that CPTs are carried with; None carries them in full.
    names
        The variables of the network, in the order in which they are carried.
    """
    shape_of = {name: network.shape(network.parents(name)) for name in names}
    tables = network.tables_of
    rows = behind.rows
    intervals = behind.intervals
    parts: list[list[NDArray[Any]]] = [[]]
    if tables and digits is None:
        parts = [[tables[name].astype("<f8") for name in names]]
    elif tables and digits is not None:
        parts = [[np.rint(tables[name] * 10.0**digits).astype("<u2") for name in names]]
    if (support := network.support) is not None:
        parts.append([~support.get(v, np.ones(shape_of[v], bool)) for v in names])
    if rows is not None:
        parts.append([rows[name].astype("<f4") for name in names])
    if intervals is not None:
        parts.append([_outwards(intervals[name]).astype("<u2") for name in names])
    raw = [b"".join(table.tobytes() for table in part) for part in parts]
    return _packed(raw)


def _outwards(ends: FloatArray) -> FloatArray:
    """The ends of intervals in ten thousandths, rounded outwards."""
    low = 10_000 * ends[..., 0]
    high = 10_000 * ends[..., 1]
    return np.stack([np.floor(low + END_ROUNDING), np.ceil(high - END_ROUNDING)], -1)


def pack_portable(carried: Portable, network: Network, level: float) -> dict[str, Any]:
    """What intervals of answers at a level need, beside the CPTs and their intervals."""
    from scipy.special import ndtri, stdtrit

    names = network.variables
    together = carried.together
    replicates = carried.replicates
    weights = [
        np.concatenate([np.ravel(tables[name]) for name in names])
        for tables in (carried.brought, carried.known)
    ]
    spreads = [carried.spread_of[name] for name in names]
    rates = np.concatenate([np.ravel(spread.rates) for spread in spreads])
    sizes = np.concatenate([np.ravel(spread.sizes) for spread in spreads])
    ends = np.concatenate([spread.ends.reshape(-1, 2) for spread in spreads])
    parts: list[NDArray[Any]] = [_short(part) for part in (*weights, rates, sizes)]
    parts.append((ends @ [1, 2]).astype("u1"))  # a bit for each end
    if together is not None:
        parts += _covariance_parts(together)
    if replicates is not None:
        parts.append(replicates.scales.astype("<f8"))
        for replicate in replicates.networks:
            cells = [np.ravel(replicate.cpt(name).table) for name in names]
            parts.append(np.concatenate(cells).astype("<f4"))
    side = (1 + level) / 2
    z = float(ndtri(side))

    def shrink(degrees: float) -> float:
        """By what a variance with few degrees of freedom is divided: (z / t)^2."""
        quantile = z if np.isinf(degrees) else float(stdtrit(degrees, side))
        return (z / quantile) ** 2

    index_of = {name: index for index, name in enumerate(names)}
    rules = [
        [index_of[name], network.state_index(name, rule.state), fixed_rows(network, name)[0]]
        for name, rule in network.not_asked_of.items()
    ]
    return {
        "packed": _packed([part.tobytes() for part in parts]),
        "free": 0 if together is None else len(together.cell),
        "replicates": 0 if replicates is None else len(replicates.networks),
        "by_design": replicates is not None and replicates.by_design,
        "total": carried.total,
        "level": level,
        "z": z,
        "shrink": shrink(carried.degrees),
        "shrink_of": [shrink(float(np.min(spread.degrees))) for spread in spreads],
        "noted": NOTED_SHARE,
        "rules": rules,
    }


def _covariance_parts(together: Together) -> list[NDArray[Any]]:
    """What a covariance is of, its standard errors, and correlations below the diagonal."""
    error = np.sqrt(np.diag(together.covariance))
    row, column = np.tril_indices(len(error))
    scale = error[row] * error[column]
    correlation = quotient(together.covariance[row, column], scale)
    return [
        together.cell.astype("<i4"),
        together.reference.astype("<i4"),
        _short(error),
        np.round(LARGEST_SHORT * correlation).astype("<i2"),
    ]


def _short(values: FloatArray) -> NDArray[np.float32]:
    """Numbers to five digits, in which the other bits are zero and take no room when packed."""
    bits = values.astype("<f4").view("<u4")
    # Of the 23 bits of the fraction the last seven are rounded away.
    return np.asarray((bits + 0x40) & 0xFFFFFF80, "<u4").view("<f4")


def fixed_rows(network: Network, name: str) -> tuple[list[list[int]], int]:
    """The rows of a CPT that a rule fixes, as runs from the first to the last, and their number."""
    fixed = np.flatnonzero(network.possible(name).sum(axis=-1).ravel() == 1)
    starts = np.flatnonzero(np.diff(fixed, prepend=-2) > 1)
    runs = [[int(run[0]), int(run[-1])] for run in np.split(fixed, starts[1:]) if len(run)]
    return runs, len(fixed)


def _packed(raw: Sequence[bytes]) -> str:
    """Parts that each begin at a multiple of eight bytes, compressed and in base64."""
    padded = b"".join(part + bytes(-len(part) % 8) for part in raw)
    return b64encode(zlib.compress(padded, 9)).decode()


def pack_texts(texts: Sequence[str]) -> str:
    """Texts as a JSON list, compressed and in base64."""
    return b64encode(zlib.compress(json.dumps(texts).encode(), 9)).decode()


@dataclass(frozen=True)
class Shift:
    """One entry of a CPT: what rows without a missing value say, and what was learned."""

    variable: str
    states: tuple[str, ...]  # of its parents, then its own
    complete: float  # its share among these rows
    learned: float
    rows: float  # of these, how many show the parents' configuration
    errors: float  # the distance in standard errors of a share among them


def _errors_apart(learned: float, share: float, rows: float) -> float:
    """How many standard errors of a share an entry is from it, if the entry were the truth.

    Near 0 and 1 that error is taken of the share with two rows more of either kind (Agresti and
    Coull): no share is ever known without error.
    """
    near = (rows * share + 2) / (rows + 4)
    error = math.sqrt(max(learned * (1 - learned), near * (1 - near)) / rows)
    return abs(learned - share) / error


def largest_moves(
    network: Network, summary: MissingSummary, among_complete: bool, most: int
) -> list[Shift]:
    """The entries that differ most from the plain shares among fully shown rows.

    Parameters
    ----------
    among_complete
        Whether rows must show every variable, or only the family.
    """
    moves = []
    counts_of = summary.complete if among_complete else summary.shown
    for cpt in network.cpts:
        counts = counts_of[cpt.family]
        rows = counts.row_counts().sum(axis=-1)
        weights = counts.dense()
        total = weights.sum(axis=-1, keepdims=True)
        enough = rows >= ROWS_TO_COMPARE
        shares = quotient(weights, total)
        gaps = np.where(enough[..., None], np.abs(cpt.table - shares), -1.0)
        if gaps.shape[-1] == 2:  # the other of two states moves by as much
            gaps[..., 0] = -1.0
        for flat in np.argsort(-gaps, axis=None, kind="stable")[:most]:
            cell = np.unravel_index(flat, gaps.shape)
            if gaps[cell] < 0:
                break
            share = float(shares[cell])
            learned = float(cpt.table[cell])
            number = float(rows[cell[:-1]])
            moves.append(
                Shift(
                    variable=cpt.child,
                    states=tuple(
                        names[index] for names, index in zip(cpt.states, cell, strict=True)
                    ),
                    complete=share,
                    learned=learned,
                    rows=number,
                    errors=_errors_apart(learned, share, number),
                )
            )
    return sorted(moves, key=lambda move: -abs(move.learned - move.complete))[:most]

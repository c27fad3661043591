"""The numbers that a page carries: rounded, packed, and withheld where rows are too few.

A network may have a hundred thousand cells. Probabilities are whole multiples of a power of
ten, as small a one as there is room for; behind them come the support of each parent
configuration and the ends of intervals, in hundredths and rounded outwards, as they are shown.
All of it is compressed and written in base64.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lacunet.model.network import FloatArray, Network
from lacunet.statistics.missing import MissingSummary, rows_of

WITHHELD = -1.0
DIGITS = (9, 6, 4, 3)  # the last is what the page shows
WIDE = 4  # more digits than these take four bytes, others two
ROOM = 230_000  # characters that a page of 400 kB has for its numbers

Withheld = Mapping[str, NDArray[np.bool_]]


@dataclass(frozen=True)
class Packed:
    """Numbers in base64, and how many decimals their probabilities have."""

    text: str
    digits: int


def withheld_rows(network: Network, summary: MissingSummary, min_count: int) -> Withheld:
    """Which rows of each CPT would tell a count of fewer than ``min_count`` rows.

    A CPT row is withheld as a whole if any of its cells is shown by at least one row and by
    fewer than ``min_count``: a single cell could be had from the others, as they sum to one.
    """
    if min_count <= 1:
        return {v: np.zeros(network.shape(network.parents(v)), bool) for v in network.variables}
    rows = {v: rows_of(summary.shown[network.family(v)]) for v in network.variables}
    small = {v: (table > 0) & (table < min_count) for v, table in rows.items()}
    return {v: np.asarray(cells.any(axis=-1)) for v, cells in small.items()}


def told(count: float, of: float, min_count: int) -> float | None:
    """A count of rows, or None where it or what is left of all rows is too small to tell."""
    small = 0 < count < min_count or 0 < of - count < min_count
    return None if small else count


def pack(
    network: Network,
    support: Mapping[str, FloatArray],
    withheld: Withheld,
    intervals: Mapping[str, FloatArray] | None = None,
) -> Packed:
    """All CPTs, then the support of their rows, then their intervals if there are any.

    Parameters
    ----------
    support
        For each variable, the weight behind each configuration of its parents.
    withheld
        The rows of each CPT that are not to be told.
    intervals
        For each variable the axes of its CPT, then low and high.
    """
    hidden = [withheld[name] for name in network.variables]
    tables = [network.cpt(name).table for name in network.variables]
    rows = [support[name] for name in network.variables]
    ends = [intervals[name] for name in network.variables] if intervals is not None else []
    behind = [
        np.where(gone, WITHHELD, own).astype("<f4") for own, gone in zip(rows, hidden, strict=True)
    ]
    behind += [*map(_hundredths, ends, hidden)]
    for digits in DIGITS:
        raw = b"".join(_scaled(*both, digits) for both in zip(tables, hidden, strict=True))
        raw += bytes(-len(raw) % 4) + b"".join(part.tobytes() for part in behind)
        text = b64encode(zlib.compress(raw, 9)).decode()
        if len(text) <= ROOM:
            break
    return Packed(text, digits)


def pack_texts(texts: Sequence[str]) -> str:
    """Texts as a JSON list, compressed and in base64."""
    return b64encode(zlib.compress(json.dumps(texts).encode(), 9)).decode()


def _scaled(table: FloatArray, withheld: NDArray[np.bool_], digits: int) -> bytes:
    kind = np.dtype("<u4") if digits > WIDE else np.dtype("<u2")
    whole = np.rint(table * 10.0**digits)
    return np.where(withheld[..., None], np.iinfo(kind).max, whole).astype(kind).tobytes()


def _hundredths(ends: FloatArray, withheld: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """The ends of intervals, rounded outwards; 255 where they are withheld."""
    outwards = np.stack(
        [np.floor(100 * ends[..., 0] + 1e-9), np.ceil(100 * ends[..., 1] - 1e-9)], -1
    )
    return np.where(withheld[..., None, None], 255, outwards).astype(np.uint8)


@dataclass(frozen=True)
class Move:
    """One entry of a CPT: what rows without a missing value say, and what was learned.

    ``rows`` is how many of these rows show the parents' configuration, ``errors`` the
    distance in standard errors of the share among them.
    """

    variable: str
    states: tuple[str, ...]
    complete: float
    learned: float
    rows: float
    errors: float


def largest_moves(
    network: Network, summary: MissingSummary, among_complete: bool, fewest: int, most: int
) -> list[Move]:
    """The entries that differ most from the plain shares among fully shown rows.

    Parameters
    ----------
    among_complete
        Whether rows must show every variable, or only the family.
    fewest
        Entries are compared only where so many rows show the parents' configuration.
    """
    moves = []
    counted = summary.complete if among_complete else summary.shown
    for cpt in network.cpts:
        counts = counted[cpt.family].dense()
        rows = rows_of(counted[cpt.family])
        small = ((rows > 0) & (rows < fewest)).any(axis=-1) if fewest > 1 else rows.sum(-1) < 0
        total = counts.sum(axis=-1, keepdims=True)
        enough = (rows.sum(axis=-1) >= max(fewest, 10)) & ~small
        shares = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
        gaps = np.where(enough[..., None], np.abs(cpt.table - shares), -1.0)
        for flat in np.argsort(-gaps, axis=None)[:most]:
            cell = np.unravel_index(flat, gaps.shape)
            if gaps[cell] < 0:
                break
            states = tuple(
                network.states(name)[index] for name, index in zip(cpt.family, cell, strict=True)
            )
            number = float(rows[cell[:-1]].sum())
            share, learned = float(shares[cell]), float(cpt.table[cell])
            spread = float(np.sqrt(max(share * (1 - share), 1 / (4 * number)) / number))
            moves.append(
                Move(cpt.child, states, share, learned, number, abs(learned - share) / spread)
            )
    return sorted(moves, key=lambda move: -abs(move.learned - move.complete))[:most]

"""The names of intervals that numbers are cut into."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise

INTERVALS = 5  # that numbers of many values are cut into, where nobody says how many
ALL_DIGITS_BELOW = 1e16  # whole numbers below are written with all their digits


def labels_of(cuts: Sequence[float]) -> tuple[str, ...]:
    """The names of the intervals between cut points; different intervals have different names.

    Examples
    --------
    >>> labels_of((-math.inf, 18, 40, 65)), labels_of((0, 0.5, math.inf))
    (('<18', '[18,40)', '[40,65]'), ('[0,0.5)', '>=0.5'))
    >>> labels_of((-math.inf, 1700000000123, 1700000000124, math.inf))
    ('<1700000000123', '[1700000000123,1700000000124)', '>=1700000000124')
    """
    spelled = [spelled_cut(cut) for cut in cuts]
    if len(set(spelled)) < len(spelled):  # they differ in the last digits
        spelled = [repr(float(cut)) for cut in cuts]
    named = list(zip(cuts, spelled, strict=True))
    return tuple(
        _label(*low, *high, is_last=index == len(cuts) - 2)
        for index, (low, high) in enumerate(pairwise(named))
    )


def cuts_of(labels: Sequence[str]) -> tuple[float, ...] | None:
    """The cut points between intervals of these names; none if they are not such names.

    Examples
    --------
    >>> cuts_of(("<18", "[18,40)", "[40,65]")), cuts_of(("young", "old"))
    ((-inf, 18.0, 40.0, 65.0), None)
    """
    ends = [_ends(label) for label in labels]
    if not labels or None in ends:
        return None
    lows, highs = zip(*(pair for pair in ends if pair is not None), strict=True)
    return (*lows, highs[-1]) if lows[1:] == highs[:-1] else None


def _ends(label: str) -> tuple[float, float] | None:
    match = re.fullmatch(r"<(?P<below>.+)|>=(?P<from_>.+)|\[(?P<low>.+),(?P<high>.+)[)\]]", label)
    if match is None:
        return None
    low = match["low"] or match["from_"] or "-inf"
    high = match["high"] or match["below"] or "inf"
    try:
        return float(low), float(high)
    except ValueError:
        return None


def cuts_to_json(cuts: Sequence[float]) -> list[float | None]:
    """Cut points as JSON has them: null where an interval has no limit."""
    return [cut if math.isfinite(cut) else None for cut in cuts]


def cuts_from_json(cuts: Sequence[float | None]) -> list[float]:
    """The way back: a null is a limit at the ends, and no number elsewhere."""
    ends = {0: -math.inf, len(cuts) - 1: math.inf}
    return [ends.get(index, math.nan) if cut is None else cut for index, cut in enumerate(cuts)]


def spelled_cut(cut: float) -> str:
    """A cut point as it stands in the names of intervals."""
    is_whole = math.isfinite(cut) and cut == int(cut) and abs(cut) < ALL_DIGITS_BELOW
    return str(int(cut)) if is_whole else f"{cut:.12g}"


def _label(low: float, from_text: str, high: float, to_text: str, *, is_last: bool) -> str:
    if math.isinf(low):
        return f"<{to_text}" if math.isfinite(high) else "any"
    if math.isinf(high):
        return f">={from_text}"
    return f"[{from_text},{to_text}{']' if is_last else ')'}"

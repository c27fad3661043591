"""What is missing, where, and together with what; nothing is assumed or tested here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lacunet.counts.missing_values import MissingSummary, PatternCounts
from lacunet.network.network import FloatArray, Network, Scope

COMMONEST = 10
PAIRS = 10


@dataclass(frozen=True)
class Pattern:
    """The variables that some rows miss, and how many rows miss exactly these."""

    missing: Scope
    rows: int


@dataclass(frozen=True)
class Pair:
    """Two variables that are missing together more, or less, often than chance would have it.

    ``together`` rows miss both, where ``expected`` would if they went missing independently;
    ``phi`` is the correlation of their being missing.
    """

    one: str
    two: str
    together: int
    expected: float
    phi: float


@dataclass(frozen=True)
class Patterns:
    r"""What is missing.

    ``rate_of`` is the share of rows that miss each variable. ``commonest`` are the patterns
    most rows have, ``number`` how many there are. ``is_monotone`` if the variables can be
    ordered so that a row that misses one misses all after it. ``influx_of`` is the
    share of all shown cells that are in rows where a variable is missing, ``outflux_of`` the share
    of all missing cells that are in rows that show it (S. van Buuren, "Flexible Imputation of
    Missing Data", 2018, section 4.1.3).
    ``family_rows`` is the number of rows that show a variable with all its parents.
    """

    rows: int
    cells: int
    missing_cells: int
    rate_of: Mapping[str, float]
    number: int
    commonest: tuple[Pattern, ...]
    complete_rows: int
    pairs: tuple[Pair, ...]
    is_monotone: bool
    influx_of: Mapping[str, float]
    outflux_of: Mapping[str, float]
    family_rows: Mapping[str, int]
    never_observed: Scope


def patterns(network: Network, summary: MissingSummary) -> Patterns:
    """Say what is missing; every row counts as one.

    Examples
    --------
    >>> from lacunet.counts.observations import missing_in_data
    >>> network = Network({"A": ["0", "1"], "B": ["0", "1"]}, {"B": ["A"]})
    >>> rows = {"A": ["0", "1", None, "0"], "B": ["0", None, None, "1"]}
    >>> described = patterns(network, missing_in_data(rows, network))
    >>> described.rate_of, described.is_monotone, described.complete_rows
    ({'A': 0.25, 'B': 0.5}, True, 2)
    """
    names, counts = summary.variables, summary.patterns
    total, missing = summary.rows, summary.missing_rows
    commonest = counts.commonest(COMMONEST)
    influx, outflux = _flux(summary)
    return Patterns(
        rows=round(total),
        cells=round(total) * len(names),
        missing_cells=round(float(missing.sum())),
        rate_of=dict(zip(names, (missing / max(total, 1)).tolist(), strict=True)),
        number=counts.number,
        commonest=tuple(
            Pattern(tuple(n for n, m in zip(names, gone, strict=True) if m), round(rows))
            for gone, rows in zip(
                counts.is_missing(names, commonest), counts.rows[commonest], strict=True
            )
        ),
        complete_rows=round(summary.complete_rows),
        pairs=_pairs(summary),
        is_monotone=_is_monotone(counts),
        influx_of=dict(zip(names, influx.tolist(), strict=True)),
        outflux_of=dict(zip(names, outflux.tolist(), strict=True)),
        family_rows={v: round(counts.showing(network.family(v))) for v in network.variables},
        never_observed=tuple(n for n, m in zip(names, missing, strict=True) if m == total),
    )


def _is_monotone(counts: PatternCounts) -> bool:
    """Whether each pattern holds another or is held by it, for every two of them."""
    if counts.number > len(counts.variables) + 1:  # each holds at least one variable more
        return False
    gone = counts.is_missing(counts.variables)
    by_size = gone[np.argsort(gone.sum(axis=1), kind="stable")]
    return bool((by_size[1:] >= by_size[:-1]).all())


def _flux(summary: MissingSummary) -> tuple[FloatArray, FloatArray]:
    """The influx and the outflux of each variable (S. van Buuren, 2018, section 4.1.3).

    Of all cells that are shown, the share beside a missing cell of the variable: how well others
    tell of it. Of all cells that are missing, the share beside a shown one: how well it tells of
    others.
    """
    missing = summary.missing_rows
    together = summary.missing_together
    missing_cells = float(missing.sum())
    shown_cells = summary.rows * len(missing) - missing_cells
    influx = (missing[:, None] - together).sum(axis=1)  # cells shown where the variable is missing
    outflux = (missing - together).sum(axis=1)  # cells missing where it is shown
    return (
        influx / shown_cells if shown_cells else influx * 0,
        outflux / missing_cells if missing_cells else outflux * 0,
    )


def _pairs(summary: MissingSummary) -> tuple[Pair, ...]:
    """The pairs of variables with missing values that go missing together most, or least."""
    together = summary.missing_together
    expected = summary.expected_together
    phi = summary.phi
    return tuple(
        Pair(
            one=summary.variables[a],
            two=summary.variables[b],
            together=round(float(together[a, b])),
            expected=float(expected[a, b]),
            phi=float(phi[a, b]),
        )
        for a, b in summary.strongest_pairs(summary.missing_rows > 0, PAIRS)
    )

"""The figures that the paper printed, to be shown beside ours.

Guy Van den Broeck, Karthika Mohan, Arthur Choi, Adnan Darwiche and Judea Pearl, "Efficient
Algorithms for Bayesian Network Parameter Learning from Incomplete Data" (UAI 2015). The file
``published.csv`` holds the numbers of its tables as printed: ``table-mcar`` is the appendix's
table on MCAR data (32 repetitions, 5 minutes), ``table-informed`` the one on informed MAR data,
``table-large`` the main table (second setting, 25 minutes) and the appendix's five others. An
empty value is a dash in the paper: no number within the time limit. ``best`` marks what is in
bold type.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class Published:
    """One printed number, as it is printed; ``value`` is None for a dash."""

    network: str
    setting: str
    limit: float | None
    rows: int
    measure: str
    method: str
    text: str
    is_best: bool

    @property
    def value(self) -> float | None:
        """The number itself."""
        return float(self.text) if self.text else None


@cache
def published(study: str) -> tuple[Published, ...]:
    """All numbers that the paper printed for a study.

    Examples
    --------
    >>> [one.value for one in published("table-mcar") if one.measure == "divergence"][:3]
    [2.381, 2.381, 3.037]
    """
    with (files("studies.paper") / "published.csv").open(encoding="utf-8") as file:
        return tuple(
            Published(
                network=row["network"],
                setting=row["setting"],
                limit=float(row["limit"]) if row["limit"] else None,
                rows=int(row["rows"]),
                measure=row["measure"],
                method=row["method"],
                text=row["value"],
                is_best=row["best"] == "1",
            )
            for row in csv.DictReader(file)
            if row["study"] == study
        )


def printed(
    study: str, network: str, setting: str, limit: float | None, rows: int, measure: str
) -> dict[str, Published]:
    """What the paper printed for one row of a table, by method.

    The grid that is made here stands beside the grid of the paper, which it resembles; so do
    both settings of the informed experiment beside its one table.
    """
    return {
        one.method: one
        for one in published(study)
        if network.startswith(one.network)
        and setting.startswith(one.setting)
        and (one.rows, one.measure) == (rows, measure)
        and one.limit in (None, limit)
    }

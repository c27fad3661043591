"""The CPT of a variable as a table for a paper: estimates with what they rest on."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import product
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from lacunet.atomic_files import writing_to
from lacunet.errors import LacunetError
from lacunet.learning.result import Result
from lacunet.missingness.formulas.notation import SIGNS_IN_TEXT
from lacunet.network.labelled_tables import Library, frame_of, interval_columns
from lacunet.show.pages.numbers import rows_behind
from lacunet.text import counted
from lacunet.text_tables import Displayed, TextTable

# At the start of a row a bracket or a star would be an option of the command before it, and two
# hyphens would be a dash.
LATEX_SIGNS = SIGNS_IN_TEXT | {sign: f"{{{sign}}}" for sign in "[*-"}
MARKDOWN_SIGNS = {sign: f"\\{sign}" for sign in "\\|*_`<>[]"}


@dataclass(frozen=True, repr=False)
class EstimateTable(Displayed):
    """Estimates, a row each: states, value, interval and what is behind it.

    ``columns`` are lists of one length, the first ``labels`` of them states; the values of the
    others are numbers, NaN where nothing is known.

    Examples
    --------
    >>> coin = EstimateTable("P(Coin)", {"Coin": ["head", "tail"], "estimate": [0.25, 0.75]}, 1)
    >>> print(coin.to_markdown())
    | Coin | estimate |
    | --- | ---: |
    | head | 0.250 |
    | tail | 0.750 |
    """

    title: str
    columns: Mapping[str, Sequence[Any]]
    labels: int

    def __repr__(self) -> str:
        rows = len(next(iter(self.columns.values()), ()))
        return f"<EstimateTable: {self.title}, {counted(rows, 'row')}>"

    def _parts(self) -> Iterator[object]:
        yield self.title
        yield self._table

    def _repr_html_(self) -> str:
        return self._table.html(self.title)

    @property
    def _table(self) -> TextTable:
        return TextTable(list(self.columns), self.texts(), self.labels)

    def to_frame(self, library: Library | None = None) -> Any:
        """The table as a dataframe, of pandas where that is installed, otherwise of PyArrow.

        ``library`` says which instead: ``"pandas"``, ``"polars"`` or ``"pyarrow"``.
        """
        return frame_of(self.columns, library)

    def to_csv(self, path: str | Path | None = None) -> str:
        """The table as comma-separated text, in full; written to a file if one is named."""
        stream = StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(self.columns)
        known = [
            ["" if isinstance(cell, float) and not isfinite(cell) else cell for cell in row]
            for row in zip(*self.columns.values(), strict=True)
        ]
        writer.writerows(known)
        text = stream.getvalue()
        if path is not None:
            with writing_to(path, LacunetError) as file:
                file.write(text.encode())
        return text

    def to_latex(self, digits: int = 3) -> str:
        """The table for LaTeX, with the rules of the package ``booktabs``."""
        widths = "l" * self.labels + "r" * (len(self.columns) - self.labels)
        head, *body = (
            " & ".join(_escaped(cell, LATEX_SIGNS) for cell in row) + r" \\"
            for row in (list(self.columns), *self.texts(digits))
        )
        lines = [rf"\begin{{tabular}}{{{widths}}}", r"\toprule", head, r"\midrule", *body]
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])

    def to_markdown(self, digits: int = 3) -> str:
        """The table in Markdown."""
        rule = ["---"] * self.labels + ["---:"] * (len(self.columns) - self.labels)
        rows = [list(self.columns), *self.texts(digits)]
        head, *body = ([_escaped(cell, MARKDOWN_SIGNS) for cell in row] for row in rows)
        return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *body))

    def texts(self, digits: int = 3) -> list[list[str]]:
        """The cells in words: probabilities with some digits, counts as whole numbers."""
        columns = [
            [_text(cell, name, digits) for cell in cells] for name, cells in self.columns.items()
        ]
        return [list(row) for row in zip(*columns, strict=True)]


def _text(cell: Any, column: str, digits: int) -> str:
    if not isinstance(cell, (int, float)):
        return str(cell)
    if not isfinite(cell):
        return "–"
    if column in ("rows", "effective size"):
        return f"{cell:,.0f}"
    return f"{cell:.{digits}f}"


def _escaped(text: str, signs: Mapping[str, str]) -> str:
    plain = " ".join(text.split())
    return "".join(signs.get(sign, sign) for sign in plain)


def cpt_table(result: Result, variable: str, level: float = 0.95) -> EstimateTable:
    """Every entry of a CPT: the estimate, its interval, the rows behind it, the effective size.

    Parameters
    ----------
    variable
        Whose CPT.
    level
        The level of the intervals; without intervals in the result there are none in the table.
        The effective size, of each row of the CPT, comes with them.
    """
    network = result.network
    cpt = network.cpt(network.known(variable))
    size = cpt.table.shape[-1]
    states = zip(*product(*cpt.states), strict=True)
    columns: dict[str, list[Any]] = dict(zip(cpt.family, map(list, states), strict=True))
    numbers: dict[str, Any] = {"estimate": cpt.table}
    if result.uncertainty is not None:
        kind = "credible " if result.uncertainty.is_credible else ""
        numbers |= interval_columns(result.interval(variable, level), kind)
    numbers["rows"] = np.repeat(rows_behind(result.families[variable]).astype(int), size)
    if result.uncertainty is not None:
        sizes = np.asarray(result.uncertainty.spread_of[variable].row_sizes, dtype=float)
        numbers["effective size"] = np.repeat(sizes, size)
    for name, values in numbers.items():
        columns[name if name not in columns else f"{name} (number)"] = np.ravel(values).tolist()
    return EstimateTable(cpt.title, columns, len(cpt.family))

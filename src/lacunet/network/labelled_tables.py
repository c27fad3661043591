"""Tables of probabilities with the names of their axes and states: text, HTML, dataframes.

A table has one axis for each variable of its scope. As text and HTML, and as a *wide* frame, a
row stands for a configuration of all but the last variable, a column for a state of the last;
a *tidy* frame has a row for each cell, and so have texts where the states are many.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from lacunet.errors import LacunetError
from lacunet.text import counted, interval_in_words
from lacunet.text_tables import READABLE_WIDTH, TextTable, fitting, html_table, terminal_width

if TYPE_CHECKING:
    import pyarrow as pa

NO_DATA_MARK = "no data"  # the mark of a CPT row that no data support
MAX_PRINTED_ROWS = 40  # rows of a table that are printed; a frame has all of them
MAX_LONG_CELLS = 80  # of these, where each cell has a line of its own

Library = Literal["pandas", "polars", "pyarrow"]
StatesOfScope = tuple[tuple[str, ...], ...]
Numbers = NDArray[np.float64]


def probability(value: float) -> str:
    """A probability in a few characters; only what is exactly 0 or 1 is written so.

    >>> probability(0.25), probability(0.0), probability(1.0), probability(2e-7)
    ('0.2500', '0', '1', '2.0e-07')
    """
    if value in (0, 1):
        return f"{value:.0f}"
    shown = f"{value:.4f}"
    if 0 < float(shown) < 1:
        return shown
    return f"{value:.1e}" if value < 0.5 else f"{value:.8g}"


@dataclass(frozen=True, eq=False)
class Labelled:
    """A table under a title, with the names of its axes and of the states along each.

    ``supported`` says of each row whether data support it; None where all of them count alike.
    Rows without data are marked. Of ``columns``, numbers beside each cell such as the ends of its
    interval, there is a column each, and a row for each cell; ``legend`` says what they are.
    """

    title: str
    scope: tuple[str, ...]
    states: StatesOfScope
    table: Numbers
    supported: NDArray[np.bool_] | None = None
    columns: Mapping[str, Numbers] = field(default_factory=dict)
    legend: tuple[str, ...] = ()

    def text(self) -> str:
        """The table for people: the title, then aligned columns."""
        if not self.scope:
            return "\n".join(
                [fitting(self.title), probability(float(self.table)), *map(fitting, self.legend)]
            )
        table, most = self._printed(terminal_width() or READABLE_WIDTH)
        return "\n".join([fitting(self.title), str(table), *map(fitting, self._notes(most))])

    def cells(self, most: int | None = None) -> tuple[list[str], list[list[str]]]:
        """Header and rows: a row for each cell; those without data are marked.

        Of ``most`` rows of the table, if it is given.
        """
        size = self.table.shape[-1] if self.scope else 1
        end = None if most is None else most * size
        numbers = [self.table, *self.columns.values()]
        flat = zip(*(np.ravel(array)[:end].tolist() for array in numbers), strict=True)
        return self._marked([*self.scope, "probability", *self.columns], self.states, flat, size)

    def _printed(self, width: int) -> tuple[TextTable, int]:
        """What is printed, and how many rows of the table these are.

        A line for each configuration; one for each cell where there are numbers beside it, or
        where the states of the last variable are too many to stand side by side.
        """
        size = self.table.shape[-1]
        if not self.columns:
            flat = self.table.reshape(-1, size)[:MAX_PRINTED_ROWS].tolist()
            header = [*self.scope[:-1], *self.states[-1]]
            wide = TextTable(*self._marked(header, self.states[:-1], flat), len(self.scope) - 1)
            if wide.fits(width):
                return wide, MAX_PRINTED_ROWS
        most = min(MAX_PRINTED_ROWS, max(MAX_LONG_CELLS // size, 1))
        return TextTable(*self.cells(most), len(self.scope)), most

    def _marked(
        self,
        header: list[str],
        states: StatesOfScope,
        numbers: Iterable[Sequence[float]],
        copies: int = 1,
    ) -> tuple[list[str], list[list[str]]]:
        """Header and rows of states and numbers, with a mark in those without data."""
        named = zip(product(*states), numbers, strict=False)
        rows = [[*names, *map(probability, values)] for names, values in named]
        if self.supported is None or self.supported.all():
            return header, rows
        marks = np.repeat(np.where(self.supported, "", NO_DATA_MARK).ravel(), copies).tolist()
        return [*header, ""], [[*row, mark] for row, mark in zip(rows, marks, strict=False)]

    def html(self) -> str:
        """The table for notebooks; likelier cells are darker, rows without data hatched."""
        if not self.scope:
            notes = "".join(f"<p>{escape(note)}</p>" for note in self.legend)
            return f"<p>{escape(self.title)} = {probability(float(self.table))}</p>{notes}"
        table, most = self._printed(READABLE_WIDTH)
        lines = []
        for row in table.rows:
            names = row[: table.left]
            numbers = row[table.left :]
            is_bare = row[-1] == NO_DATA_MARK
            line = [f'<th style="text-align:left">{escape(name)}</th>' for name in names]
            line += [_shaded(text, is_bare=is_bare) for text in numbers]
            lines.append("".join(line))
        notes = "".join(f"<p>{escape(note)}</p>" for note in self._notes(most))
        return html_table(table.header, lines, self.title) + notes

    def _notes(self, most: int) -> list[str]:
        """What stands below the table, of which so many rows are shown."""
        left = prod(self.table.shape[:-1]) - most
        all_of_it = "to_frame() (--json) has all"
        more = [f"... and {counted(left, 'row')} more; {all_of_it}."] if left > 0 else []
        return [*more, *self.legend]

    def frame(self, library: Library | None = None, *, tidy: bool) -> Any:
        """The table as a dataframe of pandas, Polars or PyArrow."""
        if not tidy and (library or frames_library()) == "pandas":
            return self._wide_pandas()
        return frame_of(self.tidy() if tidy else self._wide(), library)

    def tidy(self) -> dict[str, Any]:
        """The columns of a frame with a row for each cell."""
        cells = list(zip(*product(*self.states), strict=True))
        joint = f"P({', '.join(self.scope)})"
        value = joint if "probability" in self.scope else "probability"
        columns = {name: list(column) for name, column in zip(self.scope, cells, strict=True)}
        beside = {name: np.ravel(column) for name, column in self.columns.items()}
        support = self._support(self.table.shape[-1])
        return {**columns, value: self.table.ravel(), **beside, **support}

    def _support(self, copies: int = 1) -> dict[str, NDArray[np.bool_]]:
        """A column that says which rows have data, if some have none."""
        if self.supported is None or self.supported.all():
            return {}
        taken = {*self.scope, *self.states[-1]}
        name = "supported" if "supported" not in taken else "supported by data"
        return {name: np.repeat(self.supported.ravel(), copies)}

    def _wide(self) -> dict[str, Any]:
        if both := sorted(set(self.scope[:-1]) & set(self.states[-1])):
            raise LacunetError(
                f"{both} are names of parents and of states: a wide frame cannot have both.",
                "ask for tidy=True, or for a pandas frame.",
            )
        given = list(zip(*product(*self.states[:-1]), strict=True))
        columns: dict[str, Any] = dict(zip(self.scope, map(list, given), strict=False))
        flat = self.table.reshape(-1, self.table.shape[-1])
        cells = {state: flat[:, index] for index, state in enumerate(self.states[-1])}
        return columns | cells | self._support()

    def _wide_pandas(self) -> Any:
        pd = library_named("pandas")
        *given, child = self.scope
        flat = self.table.reshape(-1, self.table.shape[-1])
        frame = pd.DataFrame(flat, columns=pd.Index(self.states[-1], name=child))
        if given:
            index = pd.MultiIndex.from_product(self.states[:-1], names=given)
            frame.index = index if len(given) > 1 else index.get_level_values(0)
        return frame.assign(**self._support())


def columns_beside(scope: Sequence[str], ends: Mapping[str, Numbers]) -> dict[str, Numbers]:
    """Columns beside the cells of a table, of which none has the name of a variable."""
    return {f"{name} (probability)" if name in scope else name: end for name, end in ends.items()}


def interval_columns(interval: Numbers | None, kind: str = "") -> dict[str, Numbers]:
    """The ends of the interval of each cell, if there are any, under the kind that it is of."""
    if interval is None:
        return {}
    return {f"{kind}low": interval[..., 0], f"{kind}high": interval[..., 1]}


def interval_legend(level: float, *, is_credible: bool = False) -> str:
    """What the ends of intervals are.

    >>> interval_legend(0.95)
    'low, high: 95% interval'
    """
    return f"low, high: {interval_in_words(level, is_credible=is_credible)}"


def _shaded(text: str, *, is_bare: bool) -> str:
    if text in ("", NO_DATA_MARK):
        return f"<td>{text}</td>"
    look = f"rgba(70,130,180,{0.5 * float(text):.2f})"
    if is_bare:
        look = "repeating-linear-gradient(45deg,#ccc 0 1px,transparent 1px 6px)"
    return f'<td style="background:{look}">{text}</td>'


def frames_library() -> Library:
    """The library of dataframes that nobody chose: pandas if it is installed, else PyArrow."""
    from importlib import import_module

    try:
        import_module("pandas")
    except ImportError:
        return "pyarrow"
    return "pandas"


def frame_of(columns: Mapping[str, Any] | pa.Table, library: Library | None = None) -> Any:
    """Columns, or a table of PyArrow, as a dataframe of a library."""
    import pyarrow as pa

    library = library or frames_library()
    module = library_named(library)
    table = columns if isinstance(columns, pa.Table) else pa.table(dict(columns))
    if library == "pyarrow":
        return table
    if library == "polars":
        return module.from_arrow(table)
    return table.to_pandas().copy()  # Arrow's own memory cannot be written to


def library_named(library: str) -> Any:
    """The library of dataframes, if it is known and installed."""
    from importlib import import_module

    if library not in ("pandas", "polars", "pyarrow"):
        raise LacunetError(
            f"{library!r} is not a library of dataframes that can be written.",
            "choose 'pandas', 'polars' or 'pyarrow'.",
        )
    try:
        return import_module(library)
    except ImportError:
        raise LacunetError(
            f"{library} is not installed.", f"pip install {library}, or choose another library."
        ) from None

"""Tables of probabilities with the names of their axes and states: text, HTML, dataframes.

A table has one axis for each variable of its scope. As text and HTML, and as a *wide* frame, a
row stands for a configuration of all but the last variable, a column for a state of the last;
a *tidy* frame has a row for each cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import product
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lacunet.errors import LacunetError
from lacunet.wording import counted, text_table

MOST_ROWS = 40  # rows of a table that are printed; a frame has all of them

Library = Literal["pandas", "polars", "pyarrow"]
States = tuple[tuple[str, ...], ...]


class LabelledArray(np.ndarray[Any, np.dtype[np.float64]]):
    """An array that knows what its axes are; whatever is computed from it is a plain array.

    Examples
    --------
    >>> answer = LabelledArray.of(np.array([0.25, 0.75]), ("Coin",), (("head", "tail"),))
    >>> print(answer)
    P(Coin)
      head    tail
    0.2500  0.7500
    >>> answer * 2
    array([0.5, 1.5])
    """

    scope: tuple[str, ...] | None
    states: States | None

    @classmethod
    def of(
        cls, table: NDArray[np.float64], scope: Sequence[str], states: Sequence[Sequence[str]]
    ) -> LabelledArray:
        """The table, with the names of its axes and of the states along each."""
        array = np.asarray(table, dtype=np.float64).view(cls)
        array.scope, array.states = tuple(scope), tuple(map(tuple, states))
        return array

    def __array_finalize__(self, parent: object) -> None:
        self.scope = self.states = None

    def __array_wrap__(
        self, array: Any, context: object = None, return_scalar: bool = False
    ) -> Any:
        return array[()] if return_scalar else np.asarray(array)

    def __getitem__(self, key: Any) -> Any:
        return np.asarray(self)[key]

    def __reduce__(self) -> Any:
        return np.asarray(self).__reduce__()

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        if self.scope is None or self.states is None:
            return repr(np.asarray(self))
        return table_as_text(_joint_title(self.scope), self.scope, self.states, np.asarray(self))

    def _repr_html_(self) -> str:
        if self.scope is None or self.states is None:
            return f"<pre>{escape(str(self))}</pre>"
        return table_as_html(_joint_title(self.scope), self.scope, self.states, np.asarray(self))

    def to_frame(self, library: Library = "pandas", *, tidy: bool = True) -> Any:
        """The probabilities as a dataframe: a row for each cell, or a column for each state."""
        if self.scope is None or self.states is None:
            raise LacunetError("this array was computed from another and has no labels.")
        return table_as_frame(self.scope, self.states, np.asarray(self), library, tidy=tidy)


def _joint_title(scope: Sequence[str]) -> str:
    return f"P({', '.join(scope)})"


def probability(value: float) -> str:
    """A probability in a few characters; only what is exactly 0 or 1 is written so.

    >>> probability(0.25), probability(0.0), probability(1.0), probability(2e-7)
    ('0.2500', '0', '1', '2.0e-07')
    """
    if value in (0, 1):
        return f"{value:.0f}"
    shown = f"{value:.4f}"
    return shown if 0 < float(shown) < 1 else f"{value:.1e}" if value < 0.5 else f"{value:.8g}"


def table_as_text(
    title: str, scope: Sequence[str], states: States, table: NDArray[np.float64]
) -> str:
    """A table for people: the title, then aligned columns."""
    if not scope:
        return f"{title}\n{probability(float(table))}"
    header = [*scope[:-1], *states[-1]]
    rows = [[*names, *map(probability, cells)] for names, cells in _rows(states, table, MOST_ROWS)]
    lines = [title, text_table(header, rows, left=len(scope) - 1)]
    if (left := _left(table)) > 0:
        lines.append(f"... and {counted(left, 'row')} more; to_frame() has all.")
    return "\n".join(lines)


def _rows(
    states: States, table: NDArray[np.float64], most: int | None
) -> Iterator[tuple[tuple[str, ...], list[float]]]:
    cells = table.reshape(-1, table.shape[-1])[:most].tolist()
    yield from zip(product(*states[:-1]), cells, strict=False)


def _left(table: NDArray[np.float64]) -> int:
    return int(table.size // max(1, table.shape[-1])) - MOST_ROWS


def table_as_html(
    title: str, scope: Sequence[str], states: States, table: NDArray[np.float64]
) -> str:
    """A table for notebooks; likelier cells are darker."""
    if not scope:
        return f"<p>{escape(title)} = {probability(float(table))}</p>"
    head = "".join(f"<th>{escape(name)}</th>" for name in (*scope[:-1], *states[-1]))
    body = "".join(
        "<tr>"
        + "".join(f'<th style="text-align:left">{escape(name)}</th>' for name in names)
        + "".join(map(_shaded, cells))
        + "</tr>"
        for names, cells in _rows(states, table, MOST_ROWS)
    )
    left = _left(table)
    more = f"<p>and {counted(left, 'row')} more; to_frame() has all.</p>" if left > 0 else ""
    return (
        f"<table><caption>{escape(title)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>{more}"
    )


def _shaded(value: float) -> str:
    return f'<td style="background:rgba(70,130,180,{0.5 * value:.2f})">{probability(value)}</td>'


def rows_as_html(header: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> str:
    """Any table of texts for notebooks."""
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(
        "<tr>"
        + "".join(f'<td style="text-align:left">{escape(cell)}</td>' for cell in row)
        + "</tr>"
        for row in rows
    )
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def table_as_frame(
    scope: Sequence[str],
    states: States,
    table: NDArray[np.float64],
    library: Library = "pandas",
    *,
    tidy: bool,
) -> Any:
    """A table as a dataframe of pandas, Polars or PyArrow."""
    if not tidy and library == "pandas":
        return _wide_pandas(scope, states, table)
    return frame_of(_tidy(scope, states, table) if tidy else _wide(scope, states, table), library)


def _tidy(scope: Sequence[str], states: States, table: NDArray[np.float64]) -> dict[str, Any]:
    cells = list(zip(*product(*states), strict=True))
    value = "probability" if "probability" not in scope else _joint_title(scope)
    columns: dict[str, Any] = {name: list(own) for name, own in zip(scope, cells, strict=True)}
    return {**columns, value: table.ravel()}


def _wide(scope: Sequence[str], states: States, table: NDArray[np.float64]) -> dict[str, Any]:
    if both := sorted(set(scope[:-1]) & set(states[-1])):
        raise LacunetError(
            f"{both} are names of parents and of states: a wide frame has no room for both.",
            "ask for tidy=True, or for a pandas frame.",
        )
    given = list(zip(*product(*states[:-1]), strict=True))
    columns: dict[str, Any] = {name: list(own) for name, own in zip(scope, given, strict=False)}
    flat = table.reshape(-1, table.shape[-1])
    return columns | {state: flat[:, at] for at, state in enumerate(states[-1])}


def _wide_pandas(scope: Sequence[str], states: States, table: NDArray[np.float64]) -> Any:
    pd = library_named("pandas")
    index = (
        pd.MultiIndex.from_product(states[:-1], names=list(scope[:-1]))
        if len(scope) > 2
        else pd.Index(states[0], name=scope[0])
        if len(scope) == 2
        else pd.RangeIndex(1)
    )
    columns = pd.Index(states[-1], name=scope[-1])
    return pd.DataFrame(table.reshape(-1, table.shape[-1]), index=index, columns=columns)


def frame_of(columns: Mapping[str, Any], library: Library) -> Any:
    """Columns as a dataframe of a library."""
    module = library_named(library)
    return module.table(dict(columns)) if library == "pyarrow" else module.DataFrame(dict(columns))


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

"""The CPT of a variable, as a value that prints: one axis for each parent, the child's last."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lacunet.network.arguments import clear_arguments
from lacunet.network.labelled_tables import (
    Labelled,
    Library,
    columns_beside,
    interval_columns,
    interval_legend,
)
from lacunet.text import conditional

if TYPE_CHECKING:
    from lacunet.network.network import FloatArray, Mask, Scope


@clear_arguments
@dataclass(frozen=True, repr=False)
class Cpt:
    """The conditional distribution of ``child`` given ``parents``.

    ``table`` has one axis for each parent, then the child's; every row sums to one. ``states``
    names the states along each axis. ``supported`` says of each row, an axis for each parent,
    whether data support it; None where that is not known. The CPT of a result with intervals has
    them too: ``interval`` has the axes of the table, then low and high.

    Examples
    --------
    >>> wet = Cpt("Wet", ("Rain",), np.array([[0.9, 0.1], [0, 1]]), (("no", "yes"),) * 2)
    >>> print(wet)
    P(Wet | Rain)
    Rain      no     yes
    no    0.9000  0.1000
    yes        0       1
    """

    child: str
    parents: Scope
    table: FloatArray
    states: tuple[tuple[str, ...], ...] = ()
    supported: Mask | None = None
    level: float | None = None
    spread: Callable[[float], FloatArray] | None = None  # computes the intervals of a level
    is_credible: bool = False  # whether these are of a posterior

    def __post_init__(self) -> None:
        if not self.states:
            numbered = tuple(tuple(map(str, range(size))) for size in self.table.shape)
            object.__setattr__(self, "states", numbered)

    @property
    def title(self) -> str:
        """The distribution as it is written: ``P(child | parents)``."""
        return conditional(self.child, self.parents)

    @property
    def interval(self) -> FloatArray | None:
        """The interval of every entry: the axes of the table, then low and high; None without."""
        if self.spread is None or self.level is None:
            return None
        return self.spread(self.level)

    def to_frame(self, library: Library | None = None, *, tidy: bool | None = None) -> Any:
        """The table as a dataframe, with the ends of intervals (low, high) where there are any.

        Parameters
        ----------
        library
            ``"pandas"``, ``"polars"`` or ``"pyarrow"``; by default pandas where it is installed,
            otherwise PyArrow.
        tidy
            True for a row for each cell (columns: parents, child, ``probability``, and ``low`` and
            ``high`` where there are intervals), False for a row for each configuration of the
            parents and a column for each state, which has no intervals. By default True where
            there are intervals. Where some row of the CPT has no data, a column ``supported`` says
            which have.

        Examples
        --------
        >>> coin = Cpt("Coin", (), np.array([0.25, 0.75]), (("head", "tail"),))
        >>> coin.to_frame("pyarrow", tidy=True).to_pylist()
        [{'Coin': 'head', 'probability': 0.25}, {'Coin': 'tail', 'probability': 0.75}]
        """
        has_intervals = self.interval is not None
        return self._labelled.frame(library, tidy=has_intervals if tidy is None else tidy)

    @property
    def _labelled(self) -> Labelled:
        legend: tuple[str, ...] = ()
        if self.level is not None:
            legend = (interval_legend(self.level, is_credible=self.is_credible),)
        return Labelled(
            title=self.title,
            scope=self.family,
            states=self.states,
            table=self.table,
            supported=self.supported,
            columns=columns_beside(self.family, interval_columns(self.interval)),
            legend=legend,
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """The table, for NumPy: ``np.asarray(cpt)``."""
        return np.array(self.table, dtype=dtype, copy=copy)

    if not TYPE_CHECKING:  # type checkers know that there is none

        def __getitem__(self, key: object) -> object:
            is_state = isinstance(key, str) and key in self.states[-1]
            wide = "" if self.interval is None else "tidy=False"
            shown = f"cpt.to_frame({wide})[{key!r}]" if is_state else f"cpt.to_frame({wide})"
            raise TypeError(
                f"'Cpt' object is not subscriptable\nHint: write {shown} for states by name, or "
                "cpt.table for the array, whose axes are cpt.family."
            )

    def __repr__(self) -> str:
        return f"<Cpt: {self.title}, {' x '.join(map(str, self.table.shape))}>"

    def __str__(self) -> str:
        return self._labelled.text()

    def _repr_html_(self) -> str:
        return self._labelled.html()

    @property
    def family(self) -> Scope:
        """The parents, then the child: the axes of the table."""
        return (*self.parents, self.child)

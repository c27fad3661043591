r"""Fits with other numbers of latent states, side by side.

They are compared by the Bayesian information criterion, :math:`-2 \log L + p \log n`, with
:math:`p` free parameters and the weight :math:`n` of the rows. How well the rows tell the states
apart says the relative entropy

.. math::
    1 - \frac{-\sum_i w_i \sum_c p_{ic} \log p_{ic}}{\sum_i w_i \log k},

of the memberships :math:`p_{ic} = \Pr(c \mid \text{what row } i \text{ shows})`: one if each row is
in one state for certain, zero if they tell nothing (V. Ramaswamy et al., 1993).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from lacunet.errors import LacunetError
from lacunet.network.labelled_tables import Library, frame_of
from lacunet.network.network import FloatArray
from lacunet.text import counted
from lacunet.text_tables import Displayed, TextTable

if TYPE_CHECKING:
    from lacunet.learning.result import Result


@dataclass(frozen=True)
class Alternative:
    """What was learned with some number of states of each latent variable."""

    numbers: Mapping[str, int]
    log_likelihood: float
    parameters: int  # that are free
    bic: float
    entropy: float  # relative: 1 where each row is in one state for certain; NaN with one state
    smallest: float  # the share of the rows in the smallest state
    starts: int
    agreed: int  # of the starts, those that ended at the best posterior
    ended: str  # why EM ended


@dataclass(frozen=True, repr=False, eq=False)
class Alternatives(Displayed):
    """What was learned with each number of latent states; printed, a table.

    With the number in brackets it gives the result, ``result.alternatives[3]``, unless it was read
    from a file: that keeps the table alone.

    Attributes
    ----------
    fits
        A row of the table each.
    best
        The position of the one with the lowest BIC.
    """

    fits: tuple[Alternative, ...]
    best: int
    results: tuple[Result, ...] = field(default=(), metadata={"kept": False})

    def __repr__(self) -> str:
        return f"<Alternatives: {counted(len(self.fits), 'fit')}, the best with {self._best}>"

    def __iter__(self) -> Iterator[Result]:
        """The results, in the order of the table."""
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.fits)

    def __getitem__(self, number: int | tuple[int, ...]) -> Result:
        """The result with so many states; of several latent variables a number for each."""
        asked = number if isinstance(number, tuple) else (number,)
        for position, fit in enumerate(self.fits):
            if tuple(fit.numbers.values()) == asked:
                if not self.results:
                    raise LacunetError(
                        f"the result with {_in_words(fit.numbers)} was not kept in the file.",
                        "learn again with this number.",
                    )
                return self.results[position]
        known = ", ".join(_in_words(fit.numbers) for fit in self.fits)
        raise LacunetError(f"nothing was learned with {number!r} states.", f"there is {known}.")

    def to_frame(self, library: Library | None = None) -> Any:
        """The table as a dataframe, of pandas where that is installed, otherwise of PyArrow.

        ``library`` says which instead: ``"pandas"``, ``"polars"`` or ``"pyarrow"``.
        """
        return frame_of(self._columns(), library)

    def as_data(self) -> list[dict[str, Any]]:
        """The table in plain lists and dictionaries."""
        columns = self._columns()
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return [
            {name: None if _is_nan(cell) else cell for name, cell in row.items()} for row in rows
        ]

    def _columns(self) -> dict[str, list[Any]]:
        columns: dict[str, list[Any]] = {
            name: [fit.numbers[name] for fit in self.fits] for name in self.fits[0].numbers
        }
        columns["log-likelihood"] = [fit.log_likelihood for fit in self.fits]
        columns["parameters"] = [fit.parameters for fit in self.fits]
        columns["BIC"] = [fit.bic for fit in self.fits]
        columns["entropy"] = [fit.entropy for fit in self.fits]
        columns["smallest"] = [fit.smallest for fit in self.fits]
        columns["starts"] = [fit.starts for fit in self.fits]
        columns["agreed"] = [fit.agreed for fit in self.fits]
        columns["best"] = [position == self.best for position in range(len(self.fits))]
        return columns

    def _parts(self) -> Iterator[object]:
        yield self.table

    @property
    def table(self) -> TextTable:
        """The table as it is printed."""
        header = [
            *self.fits[0].numbers,
            *("log-likelihood", "parameters", "BIC", "entropy", "smallest", "starts agreed", ""),
        ]
        rows = []
        for position, fit in enumerate(self.fits):
            rows.append(
                [
                    *map(str, fit.numbers.values()),
                    f"{fit.log_likelihood:,.2f}",
                    f"{fit.parameters:,}",
                    f"{fit.bic:,.1f}",
                    "-" if isnan(fit.entropy) else f"{fit.entropy:.3f}",
                    f"{fit.smallest:.1%}",
                    f"{fit.agreed} of {fit.starts}",
                    "best" if position == self.best and len(self.fits) > 1 else "",
                ]
            )
        return TextTable(header, rows, left=0)

    @property
    def sentence(self) -> str:
        """Which numbers were compared, for a report; empty where there was but one."""
        if len(self.fits) == 1:
            return ""
        tried = []
        for name in self.fits[0].numbers:
            numbers = [fit.numbers[name] for fit in self.fits]
            tried.append(f"{min(numbers)} to {max(numbers)} states of {name}")
        return (
            f"Models with {' and '.join(tried)} were compared by the BIC, which is lowest with "
            f"{self._best}."
        )

    @property
    def _best(self) -> str:
        return _in_words(self.fits[self.best].numbers)


@dataclass(frozen=True)
class Memberships:
    """What the memberships of rows add up to, latent variable by latent variable."""

    shares_of: Mapping[str, FloatArray]  # the weight of the rows in each state
    uncertainty: float  # the entropy of all memberships, in nats
    weight: float

    @classmethod
    def of(cls, posterior_of: Mapping[str, FloatArray], weights: FloatArray) -> Memberships:
        """Those of some rows.

        Examples
        --------
        >>> rows = np.array([[1.0, 0.0], [0.5, 0.5]])
        >>> known = Memberships.of({"Class": rows}, np.array([1.0, 1.0]))
        >>> known.shares_of["Class"].tolist(), known.relative_entropy, known.smallest
        ([1.5, 0.5], 0.5, 0.25)
        """
        uncertainty = 0.0
        for rows in posterior_of.values():
            logs = np.log(rows, out=np.zeros_like(rows), where=rows > 0)
            uncertainty -= float(weights @ (rows * logs).sum(axis=1))
        shares_of = {name: weights @ rows for name, rows in posterior_of.items()}
        return cls(shares_of, uncertainty, float(weights.sum()))

    @classmethod
    def added(cls, parts: Sequence[Memberships]) -> Memberships:
        """Those of all rows."""
        return cls(
            {v: np.sum([part.shares_of[v] for part in parts], axis=0) for v in parts[0].shares_of},
            sum(part.uncertainty for part in parts),
            sum(part.weight for part in parts),
        )

    @property
    def relative_entropy(self) -> float:
        """One if all rows are in one state for certain; NaN where there is but one."""
        most = sum(float(np.log(len(shares))) for shares in self.shares_of.values())
        return max(1 - self.uncertainty / (self.weight * most), 0.0) if most else nan

    @property
    def smallest(self) -> float:
        """The share of the rows in the smallest state."""
        return min(float(shares.min() / shares.sum()) for shares in self.shares_of.values())


def _in_words(numbers: Mapping[str, int]) -> str:
    """How many states there are, as in "Class 3"."""
    return ", ".join(f"{name} {number}" for name, number in numbers.items())


def _is_nan(cell: object) -> bool:
    return isinstance(cell, float) and isnan(cell)

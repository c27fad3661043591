r"""Estimates from several completed tables as one, by Rubin's rules.

Of :math:`m` completed tables with estimates :math:`q_i` and variances :math:`u_i`,

.. math::
    \bar q = \tfrac1m \sum_i q_i, \qquad
    T = \bar u + (1 + \tfrac1m) B, \qquad
    B = \tfrac{1}{m - 1} \sum_i (q_i - \bar q)^2

(D. B. Rubin, 1987). Its interval is that of a t distribution, whose degrees of freedom allow for
few tables and for few rows (J. Barnard and D. B. Rubin, 1999), as `mice` has it from 3.19 on, where
a small :math:`\lambda` stays what it is: with
:math:`\lambda = (1 + 1/m) B / T` and :math:`\nu` those that the complete data would have,

.. math::
    \frac1{\nu_m} = \frac{\lambda^2}{m - 1} +
    \left( \frac{\nu + 1}{\nu + 3} \, \nu \, (1 - \lambda) \right)^{-1}.

:math:`\lambda` is the share of the variance that missing values add. The *fraction of missing
information* also counts that few tables tell little of B, as R's `mice` has it:

.. math::
    \mathrm{fmi} = \frac{r + 2 / (\nu_m + 3)}{r + 1}, \qquad r = (1 + \tfrac1m) \, B / \bar u.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lacunet.errors import LacunetError, as_level
from lacunet.network.arguments import clear_arguments
from lacunet.network.labelled_tables import interval_legend
from lacunet.network.network import FloatArray
from lacunet.text import counted
from lacunet.text_tables import Displayed, TextTable

LEAST_TABLES = 2  # tables that show how far they differ
LEAST_DF = 1e-3  # below, quantiles of t are beyond all numbers


@dataclass(frozen=True, eq=False, repr=False)
class Pooled(Displayed):
    """Estimates pooled over completed tables; every field has the shape of one table's estimate.

    ``df`` are the degrees of freedom of its interval. ``lambda_`` is the share of the variance that
    missing values add, ``fmi`` the fraction of missing information: the names of R's `mice`. Of
    fits there are the ``names`` of the coefficients, as far as the fits have names, and the
    ``covariance`` of their estimates.
    """

    estimate: FloatArray
    standard_error: FloatArray
    df: FloatArray
    lambda_: FloatArray
    fmi: FloatArray
    names: tuple[str, ...] = ()
    covariance: FloatArray | None = None

    def interval(self, level: float = 0.95) -> FloatArray:
        """The interval of each estimate: its axes, then low and high."""
        from scipy.special import stdtrit

        level = as_level(level)
        quantiles = stdtrit(self.df, (1 + level) / 2)
        reach = np.where(self.df < LEAST_DF, np.inf, quantiles) * self.standard_error
        return np.stack([self.estimate - reach, self.estimate + reach], axis=-1)

    def __repr__(self) -> str:
        return f"<Pooled: {counted(self.estimate.size, 'estimate')}>"

    def _parts(self) -> Iterator[object]:
        columns = [
            self.estimate,
            self.standard_error,
            *np.moveaxis(self.interval(), -1, 0),
            self.df,
        ]
        rows = zip(*(np.ravel(column).tolist() for column in columns), strict=True)
        cells = [[f"{cell:.4g}" for cell in row] for row in rows]
        header = ["estimate", "standard error", "low", "high", "df"]
        if self.names:
            header = ["", *header]
            cells = [[name, *row] for name, row in zip(self.names, cells, strict=True)]
        yield TextTable(header, cells, left=1 if self.names else 0)
        yield interval_legend(0.95)


OF_EACH = (
    "give an estimate and its variance, numbers or arrays of one shape, from each of at least two "
    "completed tables."
)
LEAST_VARIANCE = 1e-300  # what is divided by, at least


def _check_each(name: str, values: FloatArray, is_right: NDArray[np.bool_], kind: str) -> None:
    """Refuse the first value that is not of a kind, by its position."""
    if not is_right.all():
        position = tuple(np.argwhere(~is_right)[0].tolist())
        raise LacunetError(
            f"{name}{[*position]} is {values[position]:g}, but must be {kind}.",
            f"the first index is the table, counted from 0: compute it from table {position[0]}, "
            "or leave that table out of both.",
        )


@clear_arguments
def pool(estimates: ArrayLike, variances: ArrayLike, df: float = np.inf) -> Pooled:
    """Pool what was estimated from each of several completed tables, by Rubin's rules.

    The tables are those of ``result.impute(data, draws=20)``. Whatever is computed from
    each of them, a mean or a coefficient, is pooled from the estimates and their variances.

    Parameters
    ----------
    estimates
        The estimate from each table: numbers, or arrays of one shape. The first axis is the tables.
    variances
        The variance of each estimate, as if its table had been observed: squared standard errors.
    df
        The degrees of freedom that the estimate would have had with complete data: n - 1 for a
        mean, n minus the number of coefficients for a regression; leave them out for large tables.

    Returns
    -------
    A value that prints. ``interval()`` gives the 95% intervals, ``interval(0.9)`` those at another
    level. Its ``estimate``, ``standard_error`` and ``df`` have the shape of one table's estimate,
    and so have ``lambda_``, the share of the variance that missing values add, and ``fmi``, the
    fraction of missing information.

    Examples
    --------
    Draw completed tables, compute a share and its variance from each, pool them.

    >>> from lacunet import learn
    >>> rows = {"Age": ["old", "young"] * 50, "Ill": ["yes", "no", "no", None] * 25}
    >>> result = learn("Age -> Ill", rows, "em", missingness="Age -> R[Ill]")
    >>> tables = result.impute(rows, draws=20, rng=0)
    >>> shares = np.array([table["Ill"].count("yes") / 100 for table in tables])
    >>> pooled = pool(shares, shares * (1 - shares) / 100, df=99)
    >>> round(float(pooled.estimate), 1), round(float(pooled.standard_error), 2)
    (0.3, 0.04)

    Of numbers that were computed elsewhere:

    >>> pooled = pool([0.30, 0.34, 0.26, 0.30], [0.0021, 0.0022, 0.0019, 0.0021], df=99)
    >>> print(pooled)
    estimate  standard error     low    high     df
         0.3         0.05838  0.1754  0.4246  14.72
    low, high: 95% interval
    >>> pooled.interval().round(2).tolist()
    [0.18, 0.42]
    """
    try:
        values, within = (np.asarray(each, dtype=np.float64) for each in (estimates, variances))
    except (TypeError, ValueError):
        raise LacunetError(
            "estimates and variances are not numbers, or arrays of one shape.", OF_EACH
        ) from None
    if values.shape != within.shape or values.ndim == 0 or len(values) < LEAST_TABLES:
        is_single = values.shape == within.shape and values.ndim and len(values) == 1
        raise LacunetError(
            f"estimates of shape {values.shape} and variances of shape {within.shape} cannot be "
            f"pooled{': one table is too few' if is_single else ''}.",
            OF_EACH,
        )
    return by_rubins_rules(values, within, df)


def by_rubins_rules(values: FloatArray, within: FloatArray, df: object) -> Pooled:
    """Estimates and variances of one shape, by table, pooled once they are found to be such."""
    _check_each("estimates", values, np.isfinite(values), "a finite number")
    is_variance = np.isfinite(within) & (within >= 0)
    _check_each("variances", within, is_variance, "a variance, a finite number from zero up")
    if not isinstance(df, Real) or not float(df) > 0:
        raise LacunetError(f"df is {df!r}, but degrees of freedom are a number above zero.")
    df, tables = float(df), len(values)
    between = (1 + 1 / tables) * values.var(axis=0, ddof=1)
    total = within.mean(axis=0) + between
    share = np.divide(between, total, out=np.zeros_like(total), where=total > 0)  # lambda
    few_tables = share**2 / (tables - 1)
    few_rows = np.zeros_like(share)
    if np.isfinite(df):
        left = (df + 1) / (df + 3) * df * (1 - share)
        few_rows = np.divide(1, left, out=np.full_like(share, np.inf), where=left > 0)
    both = few_tables + few_rows
    degrees = np.divide(1, both, out=np.full_like(share, np.inf), where=both > LEAST_VARIANCE)
    missing = share + (1 - share) * 2 / (degrees + 3)  # (r + 2 / (df + 3)) / (r + 1)
    return Pooled(
        estimate=values.mean(axis=0),
        standard_error=np.sqrt(total),
        df=degrees,
        lambda_=share,
        fmi=missing,
    )

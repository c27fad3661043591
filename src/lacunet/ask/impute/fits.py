"""Fits to several completed tables as one: coefficients and covariances, of any library."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lacunet.ask.impute.pool import LEAST_TABLES, Pooled, by_rubins_rules
from lacunet.errors import LacunetError
from lacunet.network.arguments import clear_arguments
from lacunet.network.network import FloatArray
from lacunet.text import counted, first_of

COEFFICIENTS = ("params", "params_")  # as statsmodels, linearmodels; lifelines call them
COVARIANCES = ("cov_params", "cov", "variance_matrix_")
WHAT_FITS_ARE = (
    "give results of statsmodels, or of what else has params and cov_params(), or pairs of the "
    "coefficients and their covariance matrix: pool_fits([(b1, V1), (b2, V2), ...])."
)


@dataclass(frozen=True)
class CompletedFit:
    """The coefficients of one fit; ``names`` is empty where they have none."""

    names: tuple[str, ...]
    coefficients: FloatArray
    covariance: FloatArray
    df: float  # of the residuals; infinite where the fit does not say


@clear_arguments
def pool_fits(fits: Iterable[Any], df: float | None = None) -> Pooled:
    """Pool a model that was fitted to each of several completed tables, by Rubin's rules.

    Parameters
    ----------
    fits
        A fit for each table: a result of statsmodels, or of any library whose results have
        ``params`` and ``cov_params()``; or a pair of the coefficients and their covariance matrix.
        Coefficients with names are matched by these.
    df
        The degrees of freedom that the model would have with complete data. By default those of the
        fits' residuals (``df_resid``), where these say so, and infinitely many elsewhere.

    Returns
    -------
    What `lacunet.pool` gives, with the ``names`` of the coefficients and the ``covariance`` of
    their estimates.

    Examples
    --------
    >>> fits = [([1.0, 0.5], [[0.04, 0.0], [0.0, 0.01]]), ([1.2, 0.7], [[0.04, 0.0], [0.0, 0.01]])]
    >>> pooled = pool_fits(fits, df=50)
    >>> pooled.estimate.round(2).tolist(), pooled.standard_error.round(3).tolist()
    ([1.1, 0.6], [0.265, 0.2])

    With statsmodels: ``pool_fits([smf.ols("y ~ x", table).fit() for table in tables])``.
    """
    read = [_fit(fit, number) for number, fit in enumerate(_listed(fits))]
    if len(read) < LEAST_TABLES:
        raise LacunetError(
            f"{counted(len(read), 'fit')} cannot be pooled: give fits to at least two tables."
        )
    first, *others = read
    read = [
        first,
        *(_in_order_of(fit, first, number) for number, fit in enumerate(others, start=1)),
    ]
    coefficients = np.array([fit.coefficients for fit in read])
    covariances = np.array([fit.covariance for fit in read])
    variances = np.diagonal(covariances, axis1=1, axis2=2)
    least = min(fit.df for fit in read)
    pooled = by_rubins_rules(coefficients, variances, least if df is None else df)
    centred = coefficients - coefficients.mean(axis=0)
    between = centred.T @ centred / (len(read) - 1)
    covariance = covariances.mean(axis=0) + (1 + 1 / len(read)) * between
    return replace(pooled, names=first.names, covariance=covariance)


def _listed(fits: Any) -> Sequence[Any]:
    if _part(fits, COEFFICIENTS) is not None or not isinstance(fits, Iterable):
        raise LacunetError(f"the fits are {type(fits).__name__!r}, not a list.", WHAT_FITS_ARE)
    return [*fits]


def _part(fit: Any, names: Sequence[str]) -> Any:
    """What a result has under the first of some names; a method is called. None if nothing."""
    for name in names:
        if hasattr(fit, name):
            part = getattr(fit, name)
            return part() if callable(part) else part
    return None


def _fit(fit: Any, number: int) -> CompletedFit:
    """The coefficients and covariances of a fit, found to be such."""
    is_pair = isinstance(fit, tuple | list) and len(fit) == 2
    given, matrix = fit if is_pair else (_part(fit, COEFFICIENTS), _part(fit, COVARIANCES))
    if given is None or matrix is None:
        raise LacunetError(
            f"fit {number} is {type(fit).__name__!r}, which has no coefficients and covariances.",
            WHAT_FITS_ARE,
        )
    try:
        coefficients, covariance = np.asarray(given, np.float64), np.asarray(matrix, np.float64)
    except (TypeError, ValueError):
        raise LacunetError(f"fit {number} does not consist of numbers.", WHAT_FITS_ARE) from None
    size = len(coefficients) if coefficients.ndim == 1 else 0
    if not size or covariance.shape != (size, size):
        raise LacunetError(
            f"fit {number} has coefficients of shape {coefficients.shape} and a covariance matrix "
            f"of shape {covariance.shape}.",
            "give a vector of k coefficients and a matrix of k x k.",
        )
    if not np.isfinite(covariance).all():
        raise LacunetError(f"the covariance matrix of fit {number} has entries without a number.")
    degrees: Any = getattr(fit, "df_resid", None)
    has_degrees = degrees is not None and np.ndim(degrees) == 0 and degrees > 0
    return CompletedFit(
        _names(fit, given, size),
        coefficients,
        covariance,
        float(degrees) if has_degrees else np.inf,
    )


def _names(fit: Any, coefficients: Any, size: int) -> tuple[str, ...]:
    """The names of coefficients: those of their series, or of the columns of the model."""
    names = getattr(coefficients, "index", None)
    if names is None or callable(names):  # lists have a method of that name
        names = getattr(getattr(fit, "model", None), "exog_names", None)
    if names is None or len(names) != size:
        return ()
    return tuple(map(str, names))


def _in_order_of(fit: CompletedFit, first: CompletedFit, number: int) -> CompletedFit:
    """A fit with its coefficients in the order of the first.

    Raises
    ------
    LacunetError
        It has other coefficients, as where a table lacks a category that others have.
    """
    if {*fit.names} != {*first.names} or len(fit.coefficients) != len(first.coefficients):
        other = [*({*fit.names} ^ {*first.names})]
        differ = f": only one of them has {first_of(sorted(other), 3)}" if other else ""
        raise LacunetError(
            f"fit 0 has {counted(len(first.coefficients), 'coefficient')}, fit {number} has "
            f"{len(fit.coefficients)}{differ}.",
            "fit the same model to every table; a category that some tables lack has to be "
            "declared, as in a pandas categorical column.",
        )
    if fit.names == first.names:
        return fit
    places = [fit.names.index(name) for name in first.names]
    return CompletedFit(
        first.names, fit.coefficients[places], fit.covariance[np.ix_(places, places)], fit.df
    )

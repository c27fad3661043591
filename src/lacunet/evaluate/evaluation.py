"""How good a learned network is: its parameters against the true ones, and on unseen data."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lacunet.data.table import EncodedTable
from lacunet.evaluate.divergence import SAMPLES, Divergence, divergence, same_parents
from lacunet.inference.likelihood import (
    complete_log_likelihoods,
    impossible_row,
    table_log_likelihood,
)
from lacunet.model.aligned import matched
from lacunet.model.network import FloatArray, Network

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from lacunet.data.reading import Unknown

GROUPS = 25  # of incomplete rows: enough for a standard error good to about 15%


@dataclass(frozen=True)
class Fit:
    """The log-likelihood of test data per row, in nats, and its standard error.

    The error is that of the mean over rows drawn anew; NaN where there are too few rows to
    tell, or where a row is impossible and the mean minus infinity.
    """

    mean: float
    standard_error: float
    rows: int
    weight: float


@dataclass(frozen=True)
class Evaluation:
    """The divergence from the truth, the error of the CPTs and, if asked, the fit to test data."""

    divergence: Divergence
    cpt_error: CptError
    fit: Fit | None


def evaluate(
    truth: Network,
    learned: Network,
    test: Any = None,
    *,
    weight: str | ArrayLike | None = None,
    missing: Sequence[str] = (),
    unknown: Unknown = "error",
    latent: Sequence[str] = (),
    memory: int | None = None,
    samples: int = SAMPLES,
    rng: np.random.Generator | int | None = None,
) -> Evaluation:
    """Compare a learned network with the true one and, if given, with test data.

    Parameters
    ----------
    truth, learned
        Networks with CPTs over the same variables and states.
    test
        Rows, complete or not, as `lacunet.data.read.read_table` takes them.
    weight, missing, unknown, latent
        How to read them.
    memory
        The bytes exact inference may take, on the true network and on test data.
    samples, rng
        As for `lacunet.evaluate.divergence.kl_divergence`.

    Examples
    --------
    >>> truth = Network({"Coin": ["head", "tail"]}, tables={"Coin": [0.5, 0.5]})
    >>> learned = Network({"Coin": ["head", "tail"]}, tables={"Coin": [0.25, 0.75]})
    >>> found = evaluate(truth, learned, {"Coin": ["head", "tail"]})
    >>> round(found.divergence.value, 4), found.cpt_error.largest, round(found.fit.mean, 4)
    (0.1438, 0.25, -0.837)
    """
    apart = divergence(truth, learned, memory=memory, samples=samples, rng=rng)
    errors = cpt_error(truth, learned)
    if test is None:
        return Evaluation(apart, errors, None)
    from lacunet.data.read import read_table

    table = read_table(
        test, learned, weight=weight, missing=missing, unknown=unknown, latent=latent
    )
    return Evaluation(apart, errors, fit(learned, table, memory))


def fit(network: Network, table: EncodedTable, memory: int | None = None) -> Fit:
    r"""The log-likelihood per row, and its standard error from the spread between parts.

    With :math:`L_g` the log-likelihood of part g and :math:`W_g` its weight,

    .. math::
        \bar{L} = \frac{\sum_g L_g}{\sum_g W_g}, \qquad
        \widehat{se}^2 = \frac{G}{G - 1} \frac{\sum_g (L_g - \bar{L} W_g)^2}{(\sum_g W_g)^2}.

    Where every row is complete a part is a row; otherwise a part is one in 25 of the rows,
    drawn with a fixed seed.
    """
    is_complete = not table.partially_observed
    logs, weights = _rows(network, table) if is_complete else _grouped(network, table, memory)
    mean = float(logs.sum() / weights.sum())
    if math.isinf(mean) or len(logs) < 2:
        return Fit(mean, math.nan, table.rows, table.total)
    spread = np.square(logs - mean * weights).sum() * len(logs) / (len(logs) - 1)
    return Fit(mean, math.sqrt(spread) / table.total, table.rows, table.total)


def _rows(network: Network, table: EncodedTable) -> tuple[FloatArray, FloatArray]:
    weights = np.ones(table.rows) if table.weights is None else table.weights
    logs = complete_log_likelihoods(network, table)
    if np.isneginf(logs).any():
        impossible_row(table, int(np.argmin(logs)))
    return logs * weights, weights


def _grouped(
    network: Network, table: EncodedTable, memory: int | None
) -> tuple[FloatArray, FloatArray]:
    # Shuffled: data that come sorted would make the parts more alike than chance does.
    shuffled = np.random.default_rng(GROUPS).permutation(table.rows)
    groups = [
        table.take(np.sort(shuffled[start::GROUPS])) for start in range(min(GROUPS, table.rows))
    ]
    with warnings.catch_warnings(record=True) as caught:  # one row is enough to name
        warnings.simplefilter("always")
        logs = [table_log_likelihood(network, group, memory) for group in groups]
    for first in caught[:1]:
        warnings.warn(first.message, first.category, stacklevel=4)
    return np.array(logs), np.array([group.total for group in groups])


@dataclass(frozen=True)
class CptError:
    r"""Absolute differences :math:`|\theta_{x|u} - \theta'_{x|u}|` over the cells of all CPTs.

    The largest is at state ``state`` of ``variable`` where the parents are as in ``given``.
    Families whose parents differ between the networks have no cells to compare; they are
    named in ``left_out``. Where that is all of them, the largest and the mean are NaN.
    """

    largest: float
    mean: float
    cells: int
    variable: str
    state: str
    given: Mapping[str, str]
    left_out: tuple[str, ...]


def cpt_error(truth: Network, learned: Network) -> CptError:
    """The largest and the mean difference between the CPTs of two networks.

    Examples
    --------
    >>> truth = Network({"A": ["x", "y"]}, tables={"A": [0.5, 0.5]})
    >>> learned = Network({"A": ["x", "y"]}, tables={"A": [0.25, 0.75]})
    >>> error = cpt_error(truth, learned)
    >>> error.largest, error.mean, error.variable, error.state
    (0.25, 0.25, 'A', 'x')
    """
    own = matched(truth, learned)
    compared = [name for name in truth.variables if same_parents(truth, own, name)]
    left_out = tuple(name for name in truth.variables if name not in compared)
    if not compared:
        return CptError(np.nan, np.nan, 0, "", "", {}, left_out)
    differences = {name: np.abs(truth.cpt(name).table - own.cpt(name).table) for name in compared}
    worst = max(compared, key=lambda name: float(differences[name].max()))
    table = differences[worst]
    at = np.unravel_index(np.argmax(table), table.shape)
    *given, child = zip(truth.family(worst), at, strict=True)
    cells = sum(table.size for table in differences.values())
    return CptError(
        largest=float(table.max()),
        mean=sum(float(table.sum()) for table in differences.values()) / cells,
        cells=cells,
        variable=worst,
        state=truth.states(worst)[child[1]],
        given={name: truth.states(name)[state] for name, state in given},
        left_out=left_out,
    )

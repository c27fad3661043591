r"""How good a learned network is: its divergence from the true one, its CPTs, and unseen data.

The Kullback-Leibler divergence is in nats. For networks of one structure it falls apart by
families, each row of a CPT weighing what its parents' states weigh in truth:

.. math::
    KL(\Pr \| \Pr') = \sum_X \sum_u \Pr(u)
        \sum_x \theta_{x|u} \log \frac{\theta_{x|u}}{\theta'_{x|u}}

Where a variable has other parents in the learned network, its term is the difference of two
expectations under the truth instead,
:math:`\sum \Pr(u,x) \log \theta_{x|u} - \sum \Pr(u',x) \log \theta'_{x|u'}`.
All marginals come from one calibration of the true network.

Where exact is out of reach, the divergence is a mean over samples of the true network. Only the
states of the parents are left to chance: given them, the divergence of the row is known. So
the estimate of networks of one structure has less spread than the mean of
log-ratios, and none at all where the rows agree. A state that the true network makes rare
and the learned one excludes may be missed by all samples: then the value is finite and the
true divergence is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isinf, nan, sqrt
from typing import Any

import numpy as np

from lacunet import randomness
from lacunet.ask.predict.posteriors import row_posteriors
from lacunet.data.network_or_edges import network_beside
from lacunet.data.table import EncodedTable
from lacunet.errors import warn
from lacunet.inference.errors import OverBudgetError
from lacunet.inference.joint import joint_marginals
from lacunet.inference.likelihood import impossible_row
from lacunet.inference.sampling import sample_codes
from lacunet.limits import Memory, gibibytes, memory_budget
from lacunet.network.alignment import match_network
from lacunet.network.arguments import clear_arguments
from lacunet.network.formats.files import AnyNetwork, as_network
from lacunet.network.network import FloatArray, Network, Scope

SAMPLES = 100_000
SAMPLES_AT_ONCE = 10_000
EVALUATION_SEED = 1951  # Kullback and Leibler

Lookup = tuple[Scope, FloatArray]


@dataclass(frozen=True)
class Divergence:
    """A divergence in nats: exact, or the mean over samples with its standard error."""

    value: float
    standard_error: float
    exact: bool
    samples: int


@clear_arguments
def kl_divergence(
    truth: AnyNetwork,
    learned: AnyNetwork,
    *,
    memory: Memory = None,
    samples: int = SAMPLES,
    rng: np.random.Generator | int | None = None,
) -> float:
    """The Kullback-Leibler divergence of the learned network from the true one, in nats.

    It is the sum of P(x) log(P(x) / Q(x)) over all configurations x, where P is the true network
    and Q the learned one; it is not symmetric. It is infinite if the learned network gives
    probability zero to something that the true one allows. Where exact inference on the true
    network would take more memory than the budget, the value is estimated and a warning says so.

    Parameters
    ----------
    truth, learned
        Networks with CPTs over the same variables and states, in any order; results of
        learning, paths and names of networks too. The structures may differ.
    memory
        The bytes exact inference may take.
    samples, rng
        For the estimate; without ``rng`` a fixed seed, so that the answer is repeatable.

    Examples
    --------
    >>> fair = Network({"Coin": ["head", "tail"]}, tables={"Coin": [0.5, 0.5]})
    >>> bent = Network({"Coin": ["head", "tail"]}, tables={"Coin": [0.25, 0.75]})
    >>> round(kl_divergence(fair, bent), 6)  # log 2 - log 3 / 2
    0.143841
    """
    truth, learned = as_network(truth), as_network(learned)
    kl = divergence(truth, learned, memory=memory, samples=samples, rng=rng)
    if not kl.exact:
        warn(
            f"the divergence is the mean over {kl.samples:,} samples, with a standard error "
            f"of {kl.standard_error:.2g}: exact inference is over the budget of "
            f"{gibibytes(memory_budget(memory))}."
        )
    return kl.value


def divergence(
    truth: Network,
    learned: Network,
    *,
    memory: Memory = None,
    samples: int = SAMPLES,
    rng: np.random.Generator | int | None = None,
) -> Divergence:
    """The divergence as `kl_divergence` gives it, and whether it is exact."""
    matched = match_network(truth, learned)
    terms = [(scope, table) for scope, table in _terms(truth, matched) if table.any()]
    try:
        marginals = joint_marginals(truth, [scope for scope, _ in terms], memory=memory)
    except OverBudgetError:
        generator = randomness.generator(EVALUATION_SEED if rng is None else rng)
        value, standard_error = sampled_divergence(truth, matched, samples, generator)
        return Divergence(value, standard_error, exact=False, samples=samples)
    exact = float(sum(map(_expected, marginals, (table for _, table in terms))))
    return Divergence(exact, 0.0, exact=True, samples=0)


def _terms(truth: Network, learned: Network) -> list[Lookup]:
    """The tables whose expectations under the truth add up to the divergence."""
    from scipy.special import rel_entr

    terms: list[Lookup] = []
    for name in truth.variables:
        if truth.parents(name) == learned.parents(name):
            cells = rel_entr(truth.cpt(name).table, learned.cpt(name).table)
            terms.append((truth.parents(name), np.asarray(cells.sum(axis=-1))))  # of each row
        else:
            terms.append((truth.family(name), _log_table(truth, name)))
            terms.append((learned.family(name), -_log_table(learned, name)))
    return terms


def _log_table(network: Network, name: str) -> FloatArray:
    """The logarithm of a CPT, minus infinity for zero."""
    with np.errstate(divide="ignore"):
        return np.log(network.cpt(name).table)


def _expected(probabilities: FloatArray, values: FloatArray) -> float:
    """The expectation of values; what has probability zero does not count, even if infinite."""
    possible = probabilities > 0
    return float(probabilities[possible] @ values[possible])


def sampled_divergence(
    truth: Network, learned: Network, samples: int, rng: np.random.Generator
) -> tuple[float, float]:
    """The mean over samples of the sum of the families' terms, and its standard error."""
    terms = _terms(truth, learned)
    sizes = [min(SAMPLES_AT_ONCE, samples - start) for start in range(0, samples, SAMPLES_AT_ONCE)]
    values = np.concatenate([_added_up(sample_codes(truth, rows, rng), terms) for rows in sizes])
    mean = float(values.mean())
    if isinf(mean):
        return mean, 0.0
    return mean, float(values.std(ddof=1)) / sqrt(samples)


def _added_up(rows: EncodedTable, terms: Sequence[Lookup]) -> FloatArray:
    """For each row the sum of the tables at what it shows."""
    total = np.zeros(rows.rows)
    for scope, table in terms:
        total += table[tuple(rows.columns[name] for name in scope)]
    return total


@dataclass(frozen=True)
class DataFit:
    """The log-likelihood of test data per row, in nats, and its standard error.

    The error is that of the mean over rows drawn anew; NaN where there are too few rows to
    tell, or where a row is impossible and the mean minus infinity. ``weight`` is what the rows
    are worth: their weighted sample size.
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
    fit: DataFit | None


def evaluate(
    truth: AnyNetwork, learned: AnyNetwork, test: Any = None, *, memory: Memory = None
) -> Evaluation:
    """Compare a learned network with the true one and, if given, with test data.

    Parameters
    ----------
    truth, learned
        As for `kl_divergence`.
    test
        Rows, complete or not, as `lacunet.learn` takes them.
    memory
        The bytes exact inference may take, on the true network and on test data.

    Examples
    --------
    >>> truth = Network({"Coin": ["head", "tail"]}, tables={"Coin": [0.5, 0.5]})
    >>> learned = Network({"Coin": ["head", "tail"]}, tables={"Coin": [0.25, 0.75]})
    >>> found = evaluate(truth, learned, {"Coin": ["head", "tail"]})
    >>> round(found.divergence.value, 4), found.cpt_error.largest, round(found.fit.mean, 4)
    (0.1438, 0.25, -0.837)
    """
    true_network = as_network(truth)
    learned_network = as_network(learned)
    return Evaluation(
        divergence(true_network, learned_network, memory=memory),
        cpt_error(true_network, learned_network),
        None if test is None else data_fit(learned_network, test, memory),
    )


def data_fit(network: Network, test: Any, memory: Memory = None) -> DataFit:
    """The fit of a network to test data, as `evaluate` has it."""
    from lacunet.counts.observations import whole_table
    from lacunet.data.data import as_data

    network = network_beside(network, as_data(test), "evaluate")
    return fit(network, whole_table(test, network, keep_sets=True), memory)


def fit(network: Network, table: EncodedTable, memory: Memory = None) -> DataFit:
    r"""The log-likelihood per row, and its standard error from the spread between rows.

    With :math:`l_i` the log-likelihood of row i and :math:`w_i` its weight,

    .. math::
        \bar{l} = \frac{\sum_i w_i l_i}{\sum_i w_i}, \qquad
        \widehat{se}^2 = \frac{n}{n - 1} \frac{\sum_i w_i^2 (l_i - \bar{l})^2}{(\sum_i w_i)^2}.
    """
    scaled = table.scaled()
    number = table.row_count
    logs = row_posteriors(network, scaled, (), memory).log_probability
    weights = scaled.row_weights
    if np.isneginf(logs).any():
        minus_infinity = impossible_row(network, scaled, int(np.argmin(logs)))
        return DataFit(minus_infinity, nan, number, scaled.total)
    mean = float(weights @ logs / weights.sum())
    squares = weights**2 if scaled.copies is None else scaled.copies.squares
    spread = nan
    if number > 1:
        spread = float(squares @ np.square(logs - mean)) * number / (number - 1)
    return DataFit(mean, sqrt(spread) / scaled.total, number, scaled.total)


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
    matched = match_network(truth, learned)
    compared = [name for name in truth.variables if truth.parents(name) == matched.parents(name)]
    left_out = tuple(name for name in truth.variables if name not in compared)
    if not compared:
        return CptError(
            largest=np.nan, mean=np.nan, cells=0, variable="", state="", given={}, left_out=left_out
        )
    differences = {
        name: np.abs(truth.cpt(name).table - matched.cpt(name).table) for name in compared
    }
    worst = max(compared, key=lambda name: float(differences[name].max()))
    table = differences[worst]
    cell = np.unravel_index(np.argmax(table), table.shape)
    *given, (_, child_state) = zip(truth.family(worst), cell, strict=True)
    cells = sum(table.size for table in differences.values())
    return CptError(
        largest=float(table.max()),
        mean=sum(float(table.sum()) for table in differences.values()) / cells,
        cells=cells,
        variable=worst,
        state=truth.states(worst)[child_state],
        given={name: truth.states(name)[state] for name, state in given},
        left_out=left_out,
    )

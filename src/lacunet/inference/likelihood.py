r"""How probable the data are under a network.

.. math::
    \log \Pr(D) = \sum_{i} w_i \log \Pr(\text{what row } i \text{ shows})

Rows are summed over what they do not show, exactly and all at once:

.. math::
    \log \Pr(D) = \sum_f \sum_{x, u} n(x, u) \log \theta(x \mid u)
                + \sum_{c} w_c \log Z_c

over the families that rows show completely and the problems that are left, see
`lacunet.counts.em_problems.compile`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lacunet.counts.em_problems.compile import compile_problems
from lacunet.data.table import EncodedTable, allowed_states
from lacunet.errors import warn
from lacunet.inference.errors import OverBudgetError
from lacunet.inference.expectation.expect import log_likelihoods
from lacunet.inference.expectation.expectation_plan import plan_of
from lacunet.limits import Memory, memory_budget
from lacunet.network.arguments import clear_arguments
from lacunet.network.formats.files import AnyNetwork, as_learned
from lacunet.network.network import FloatArray, Network
from lacunet.text import assigned, first_of

MAX_STATES_IN_ERROR = 12  # states of a row that is impossible


@clear_arguments
def log_likelihood(
    network: AnyNetwork,
    data: Any,
    *,
    memory: Memory = None,
) -> float:
    """The natural logarithm of the probability of the data: the sum of log P(x) over the rows x.

    Where rows have weights or counts w, it is the sum of w log P(x). The pattern of missing cells
    is not part of the likelihood, even for a result learned with a missingness graph.
    Sampling weights are scaled to add up to Kish's effective number of rows, (sum w)^2 / sum w^2,
    so that their scale does not matter. Data that cannot happen give minus infinity, with a warning
    that names the first such row.

    Parameters
    ----------
    network
        A network with CPTs, a result of learning, or the path or name of one.
    data
        Whatever `lacunet.learn` takes; cells may be missing.
    memory
        The bytes that reading the rows and summing over what they do not show may take; by
        default half of the memory there is.

    Returns
    -------
    The log-likelihood in nats, of all rows together. For that per row, divide it by the number of
    rows, or by Kish's number if they have weights.

    Raises
    ------
    OverBudgetError
        More than ``memory`` would be needed.

    Examples
    --------
    >>> rain = Network(
    ...     {"Rain": ["no", "yes"], "Wet": ["no", "yes"]},
    ...     {"Wet": ["Rain"]},
    ...     {"Rain": [0.5, 0.5], "Wet": [[0.9, 0.1], [0.1, 0.9]]},
    ... )
    >>> rows = {"Rain": ["yes", None], "Wet": ["no", "yes"]}
    >>> float(np.exp(log_likelihood(rain, rows)).round(6))  # 0.05 * 0.5
    0.025
    """
    from lacunet.counts.open_rows import open_rows
    from lacunet.data.data import as_data, columns_of_roles
    from lacunet.data.read import ReadReport

    learned = as_learned(network)
    data = replace(as_data(data), aside=columns_of_roles(learned, but=("weight", "counts")))
    opened = open_rows("log_likelihood", learned, data, memory, with_cpts=True)
    with opened.rows() as rows:
        total = 0.0
        before = 0
        read_report = ReadReport()
        for table in rows.tables(read_report):
            total += table_log_likelihood(opened.network, table, opened.budget, before)
            before += table.rows
            if np.isneginf(total):
                return total
        rows.warned_notes(read_report)
        return total * rows.look().scale


def table_log_likelihood(
    network: Network, table: EncodedTable, memory: Memory = None, before: int = 0
) -> float:
    """The log-likelihood of rows that are already encoded; ``before`` them were so many."""
    total = observed_log_likelihood(network, table, memory)
    if np.isneginf(total):
        return impossible_row(network, table, _first_impossible(network, table, memory), before)
    return total


def shown_log_likelihoods(network: Network, table: EncodedTable) -> FloatArray:
    """For each row the logarithm of the product of the CPT entries of the families that it shows.

    That is the log-probability of a row which is complete; minus infinity for zero.
    """
    logs = np.zeros(table.rows)
    for cpt in network.cpts:
        is_shown = table.is_shown(cpt.family)
        cell = np.ravel_multi_index(
            tuple(table.columns[name][is_shown] for name in cpt.family), cpt.table.shape
        )
        with np.errstate(divide="ignore"):
            logs[is_shown] += np.log(cpt.table).ravel()[cell]
    return logs


def impossible_row(network: Network, table: EncodedTable, row: int, before: int = 0) -> float:
    """Minus infinity, with a warning that names the row: by its number if that is known.

    It is not of rows that stand for others, or among which some of weight zero were left out.
    """
    if table.row_numbers is not None or (table.weights is None and table.copies is None):
        which = f"row {table.numbers[row] + before}"
    else:
        states = []
        for name in network.variables:
            size = network.cardinality(name)
            code = table.columns[name][row]
            if code != size:
                allowed = allowed_states(size, table.sets_of.get(name, ()))[code]
                possible = [network.states(name)[index] for index in np.flatnonzero(allowed)]
                states.append(assigned(name, " or ".join(possible)))
        which = f"a row with {first_of(states, MAX_STATES_IN_ERROR)}"
    warn(f"{which} has probability zero under the network: the log-likelihood is -inf.")
    return -np.inf


def _first_impossible(network: Network, table: EncodedTable, memory: Memory) -> int:
    """The first row of probability zero, by halving."""
    first, last = 0, table.rows
    while last - first > 1:
        middle = (first + last) // 2
        half = table.take(slice(first, middle))
        if np.isneginf(observed_log_likelihood(network, half, memory)):
            last = middle
        else:
            first = middle
    return first


def observed_log_likelihood(network: Network, table: EncodedTable, memory: Memory = None) -> float:
    """The natural logarithm of the probability of what all rows show, weighted.

    Data that cannot happen give minus infinity.

    Parameters
    ----------
    network
        A network with CPTs.
    memory
        The budget in bytes.

    Raises
    ------
    OverBudgetError
        What rows miss is joined into cliques that do not fit.

    Examples
    --------
    >>> import numpy as np
    >>> chain = Network(
    ...     {"A": ["0", "1"], "B": ["0", "1"]},
    ...     {"B": ["A"]},
    ...     {"A": [0.5, 0.5], "B": [[0.9, 0.1], [0.1, 0.9]]},
    ... )
    >>> columns = {"A": np.array([0, 2], np.uint8), "B": np.array([1, 0], np.uint8)}
    >>> table = EncodedTable({"A": 2, "B": 2}, columns)
    >>> float(np.exp(observed_log_likelihood(chain, table)).round(6))  # 0.05 * 0.5
    0.025
    """
    budget = memory_budget(memory)
    problems = compile_problems(network, table, memory=budget)
    plan = plan_of(problems, budget)
    if len(plan.left_out):
        raise OverBudgetError.component(problems.members_of(int(plan.left_out[0])), budget)
    cells = problems.layout.flat({name: network.cpt(name).table for name in network.variables})
    return float(log_likelihoods(plan, cells).sum())

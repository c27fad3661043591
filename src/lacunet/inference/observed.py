r"""The observed-data log-likelihood of incomplete rows, exactly.

.. math::
    \log \Pr(D) = \sum_f \sum_{x, u} n(x, u) \log \theta(x \mid u)
                + \sum_{c} w_c \log Z_c

over the families that rows show completely and the problems that are left, see
`lacunet.statistics.problems`.
"""

from __future__ import annotations

from lacunet.data.table import EncodedTable
from lacunet.inference.errors import OverBudgetError
from lacunet.inference.estep import log_likelihood
from lacunet.inference.estep_plan import plan_of
from lacunet.model.network import Network
from lacunet.statistics.problems import compile_problems

MEMORY = 8 * 2**30


def observed_log_likelihood(network: Network, table: EncodedTable, memory: int = MEMORY) -> float:
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
    >>> table = EncodedTable.of({"A": 2, "B": 2}, columns)
    >>> float(np.exp(observed_log_likelihood(chain, table)).round(6))  # 0.05 * 0.5
    0.025
    """
    problems = compile_problems(network, table)
    plan = plan_of(problems, memory)
    if len(plan.left_out):
        component = problems.component[plan.left_out[:1]]
        names = [network.variables[place] for place in problems.members.take(component).items]
        raise OverBudgetError.component(names, memory)
    cells = problems.layout.flat({name: network.cpt(name).table for name in network.variables})
    return log_likelihood(plan, cells)

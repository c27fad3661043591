r"""Factored deletion for MCAR data.

Van den Broeck, Mohan, Choi, Pearl and Darwiche (2015), "Factored Deletion for MCAR". Every
row that shows at least one variable of the family takes part.
"""

from __future__ import annotations

from lacunet.estimate.deletion.lattice import Aggregation, Axes, lattice
from lacunet.model.network import FloatArray
from lacunet.statistics.counts import Counts


def factored_mcar(counts: Counts, aggregation: Aggregation = "inverse-variance") -> FloatArray:
    r"""Estimate the joint of a family by all its factorisations at once.

    .. math::
        \Pr(y) = \prod_i \Pr(y_i \mid y_{i+1}, \dots, y_n)
        \approx \prod_i \Pr_D(y_i \mid y_{i+1}, \dots, y_n, R_{Y_i, \dots, Y_n} = \mathsf{ob})

    for every order of the variables, merged on the lattice of their subsets
    (`lacunet.estimate.deletion.lattice`). The result need not sum to one.
    """
    sizes = counts.cardinalities
    table_of: dict[Axes, FloatArray] = {}

    def number(shown: Axes, agree: Axes) -> FloatArray:
        if shown not in table_of:
            table_of.clear()
            shape = [size if axis in shown else 1 for axis, size in enumerate(sizes)]
            subset = counts.marginal([counts.scope[axis] for axis in shown])
            table_of[shown] = subset.dense().reshape(shape)
        free = tuple(axis for axis in shown if axis not in agree)
        return table_of[shown].sum(axis=free, keepdims=True) if free else table_of[shown]

    return lattice(sizes, number, aggregation)

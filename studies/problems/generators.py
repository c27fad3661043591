"""Networks made up at random: grids and random DAGs, as deterministic as one likes.

The grid is the benchmark of T. Sang, P. Beame and H. Kautz, "Performing Bayesian Inference
by Weighted Model Counting" (AAAI 2005). Determinism in a network means CPTs of zeros and
ones; the more of it there is, the less of the joint distribution is positive.
"""

from __future__ import annotations

import numpy as np

from lacunet.inference.sampling import check_share, check_whole
from lacunet.network.network import FloatArray, Network


def grid(size: int, ratio: float, rng: np.random.Generator) -> Network:
    """A square grid of binary variables, each a child of its left and its upper neighbour.

    Each node is deterministic with probability ``ratio``: a Boolean function of its parents,
    drawn evenly from those that are not constant. Every other node has in each row of its
    CPT a probability drawn evenly from (0, 1). The corner without parents has no function to
    draw, a constant would make it no variable at all: it is never deterministic.

    Parameters
    ----------
    size
        The number of nodes along a side.
    ratio
        The probability that a node with parents is deterministic.
    rng
        Where the randomness comes from.

    Returns
    -------
    A network over ``v_1_1``, ``v_1_2``, ..., row by row, with the states true and false.

    Examples
    --------
    >>> square = grid(2, 1.0, np.random.default_rng(0))
    >>> square.parents("v_2_2")
    ('v_2_1', 'v_1_2')
    >>> sorted(set(square.cpt("v_2_2").table.ravel().tolist()))
    [0.0, 1.0]
    """
    check_whole("the size of a grid", size, least=1)
    check_share("the ratio of deterministic nodes", ratio)
    parents_of = {
        f"v_{row}_{column}": _left_and_upper(row, column)
        for row in range(1, size + 1)
        for column in range(1, size + 1)
    }
    tables = {
        name: _function([2] * len(parents), 2, rng)
        if parents and rng.random() < ratio
        else _binary_rows(len(parents), rng)
        for name, parents in parents_of.items()
    }
    return Network(dict.fromkeys(parents_of, ("true", "false")), parents_of, tables)


def random_network(
    variables: int,
    rng: np.random.Generator,
    *,
    max_parents: int = 3,
    states: tuple[int, int] = (2, 2),
    determinism: float = 0.0,
) -> Network:
    """A network with a random DAG and random CPTs.

    The variables are put in a random order. Each has from none to ``max_parents`` parents
    among those before it, every number that can be had as likely as any other, and every
    set of that many. A variable with parents is deterministic with probability
    ``determinism``: a function of its parents that is not constant. Every other row of a
    CPT is drawn evenly from all distributions over the states.

    Parameters
    ----------
    variables
        The number of variables.
    rng
        Where the randomness comes from.
    max_parents
        The largest number of parents of a variable.
    states
        The smallest and the largest number of states; each variable draws its own.
    determinism
        The probability that a variable with parents is a function of them.

    Returns
    -------
    A network over ``X1``, ``X2``, ..., with the states ``s1``, ``s2``, ...

    Examples
    --------
    >>> made = random_network(4, np.random.default_rng(1), max_parents=1, states=(2, 3))
    >>> made.variables, max(len(made.parents(name)) for name in made.variables)
    (('X1', 'X2', 'X3', 'X4'), 1)
    """
    check_whole("the number of variables", variables, least=1)
    check_whole("the largest number of parents", max_parents)
    check_whole("the smallest number of states", states[0], least=2)
    check_whole("the largest number of states", states[1], least=states[0])
    check_share("the determinism", determinism)
    names = [f"X{number}" for number in range(1, variables + 1)]
    size_of = {name: int(rng.integers(states[0], states[1] + 1)) for name in names}
    parents = _random_parents(names, max_parents, rng)
    tables = {
        name: _function([size_of[parent] for parent in parents[name]], size_of[name], rng)
        if parents[name] and rng.random() < determinism
        else rng.dirichlet(np.ones(size_of[name]), [size_of[parent] for parent in parents[name]])
        for name in names
    }
    states_of = {name: [f"s{number}" for number in range(1, size_of[name] + 1)] for name in names}
    return Network(states_of, parents, tables)


def _left_and_upper(row: int, column: int) -> list[str]:
    left = [f"v_{row}_{column - 1}"] if column > 1 else []
    upper = [f"v_{row - 1}_{column}"] if row > 1 else []
    return left + upper


def _random_parents(
    names: list[str], max_parents: int, rng: np.random.Generator
) -> dict[str, list[str]]:
    order = rng.permutation(len(names))
    parents = {}
    for position, child in enumerate(order):
        number = rng.integers(0, min(max_parents, position) + 1)
        chosen = rng.choice(order[:position], number, replace=False)
        parents[names[child]] = [names[parent] for parent in chosen]
    return parents


def _function(parent_sizes: list[int], size: int, rng: np.random.Generator) -> FloatArray:
    """A function of the parents, even over those that are not constant."""
    values = rng.integers(0, size, parent_sizes)
    while (values == values.flat[0]).all():
        values = rng.integers(0, size, parent_sizes)
    return np.eye(size)[values]


def _binary_rows(parents: int, rng: np.random.Generator) -> FloatArray:
    first = rng.integers(1, 2**53, [2] * parents) / 2**53  # in (0, 1): neither end
    return np.stack([first, 1 - first], axis=-1)

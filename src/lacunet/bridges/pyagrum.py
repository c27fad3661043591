"""Networks to and from pyAgrum.

pyAgrum lists a CPT's variables child first, and its arrays have the axes the other way round.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lacunet.errors import LacunetError
from lacunet.formats.draft import network_of
from lacunet.model.network import Network, as_network


def to_pyagrum(network: Network) -> Any:
    """The same network as a ``pyagrum.BayesNet``.

    Raises
    ------
    LacunetError
        pyAgrum is not installed, or the network has no CPTs.
    """
    network, gum = as_network(network), _library()
    other = gum.BayesNet()
    for name in network.variables:
        other.add(gum.LabelizedVariable(name, name, list(network.states(name))))
    for name in network.variables:
        for parent in network.parents(name):
            other.addArc(parent, name)
    for cpt in network.cpts:
        numbers = cpt.table.transpose(_turned(cpt.parents)).ravel()
        other.cpt(cpt.child).fillWith(numbers.tolist())
    return other


def from_pyagrum(other: Any) -> Network:
    """The network of a ``pyagrum.BayesNet``.

    Rows that do not sum to one exactly are rescaled as those of files are: pyAgrum reads some
    formats in single precision. Variables that pyAgrum has cut into intervals keep their cut
    points.
    """
    variables = {other.variable(node).name(): other.variable(node) for node in other.nodes()}
    cpts = []
    for name in variables:
        cpt = other.cpt(name)
        parents = tuple(cpt.names[1:])
        cpts.append((name, parents, cpt.toarray().transpose(_turned(parents))))
    states_of = {name: own.labels() for name, own in variables.items()}
    network = network_of("the pyAgrum network", states_of, cpts)
    cuts = {
        name: own.ticks()
        for name, own in variables.items()
        if own.varType() == _library().VarType_DISCRETIZED
    }
    return Network(network.states_of, network.parents_of, network.tables_of, cuts)


def _turned(parents: Sequence[str]) -> list[int]:
    """The axes with the parents the other way round."""
    return [*range(len(parents))[::-1], len(parents)]


def _library() -> Any:
    try:
        import pyagrum
    except ImportError:
        raise LacunetError("pyAgrum is not installed.", "pip install pyagrum") from None
    return pyagrum

"""Networks to and from pyAgrum.

pyAgrum lists a CPT's variables child first, and its arrays have the axes the other way round.
"""

from __future__ import annotations

from typing import Any

from lacunet.errors import LacunetError
from lacunet.formats.draft import (
    Declared,
    Potential,
    Variables,
    assemble,
    declare,
    family,
    from_flat,
)
from lacunet.formats.source import Source
from lacunet.model.network import Network, as_network

LABEL = "the pyAgrum network"


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
        axes = [*range(len(cpt.parents))[::-1], len(cpt.parents)]
        other.cpt(cpt.child).fillWith(cpt.table.transpose(axes).ravel().tolist())
    return other


def from_pyagrum(other: Any) -> Network:
    """The network of a ``pyagrum.BayesNet``.

    Rows that do not sum to one exactly are rescaled as those of files are: pyAgrum reads some
    formats in single precision. Variables that pyAgrum has cut into intervals keep their cut
    points.
    """
    names = [other.variable(node).name() for node in other.nodes()]
    theirs = [other.variable(name) for name in names]
    variables = declare(
        Source.of(LABEL, ""),
        [
            Declared(name, tuple(own.labels()), LABEL)
            for name, own in zip(names, theirs, strict=True)
        ],
    )
    network = assemble(variables, [_potential(other, name, variables) for name in names])
    cuts = {
        name: own.ticks()
        for name, own in zip(names, theirs, strict=True)
        if own.varType() == _library().VarType_DISCRETIZED
    }
    return Network(network.states_of, network.parents_of, network.tables_of, cuts)


def _potential(other: Any, name: str, variables: Variables) -> Potential:
    cpt = other.cpt(name)
    parents = tuple(cpt.names[1:])
    members = family(variables, name, parents, LABEL)
    if not parents:
        return from_flat(members, cpt.toarray().ravel().tolist())
    axes = [*range(len(parents))[::-1], len(parents)]
    return from_flat(members, cpt.toarray().transpose(axes).ravel().tolist())


def _library() -> Any:
    try:
        import pyagrum
    except ImportError:
        raise LacunetError("pyAgrum is not installed.", "pip install pyagrum") from None
    return pyagrum

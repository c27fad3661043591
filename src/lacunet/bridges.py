"""Networks to and from pgmpy and pyAgrum, in memory; CPTs are carried to the last bit.

pgmpy has the axis of the child first. pyAgrum lists a CPT's variables child first, and its
arrays have the axes the other way round.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lacunet.errors import LacunetError
from lacunet.formats.draft import network_of
from lacunet.formats.files import AnyNetwork, as_network
from lacunet.model.network import Network


def to_pgmpy(network: AnyNetwork) -> Any:
    """The same network as a ``pgmpy.models.DiscreteBayesianNetwork``.

    A network without CPTs becomes a model without CPDs.
    """
    network = as_network(network)
    models, factors = _pgmpy()
    model = models.DiscreteBayesianNetwork()
    model.add_nodes_from(network.variables)
    model.add_edges_from(network.edges)
    for cpt in network.cpts if network.has_cpts else ():
        states = dict(zip(cpt.family, map(list, cpt.states), strict=True))
        rows = cpt.table.reshape(-1, cpt.table.shape[-1]).T
        parents = {
            "evidence": list(cpt.parents),
            "evidence_card": list(cpt.table.shape[:-1]),
        }
        model.add_cpds(
            factors.TabularCPD(
                cpt.child, len(rows), rows, **(parents if cpt.parents else {}), state_names=states
            )
        )
    return model


def from_pgmpy(model: Any) -> Network:
    """The network of a discrete model of pgmpy; names and states become strings.

    Raises
    ------
    LacunetError
        Some variable has no CPD: pgmpy then does not know its states.
    """
    if absent := [str(node) for node in model.nodes() if model.get_cpds(node) is None]:
        raise LacunetError(
            f"the pgmpy model has no CPD for {absent}, so their states are not known.",
            "lacunet.Network.from_data(data, model) takes the states from data.",
        )
    cpds = {str(node): model.get_cpds(node) for node in model.nodes()}
    states_of = {name: tuple(map(str, cpd.state_names[cpd.variable])) for name, cpd in cpds.items()}
    cpts = []
    for name, cpd in cpds.items():
        parents = tuple(map(str, cpd.variables[1:]))
        values = _in_order(cpd, states_of).transpose([*range(1, cpd.values.ndim), 0])
        cpts.append((name, parents, values))  # pgmpy has the child first
    return network_of("the pgmpy model", states_of, cpts)


def _in_order(cpd: Any, states_of: Mapping[str, Sequence[str]]) -> Any:
    """The values of a CPD, each axis in the order of the states in its variable's own CPD."""
    values = cpd.values
    for axis, variable in enumerate(cpd.variables):
        own = list(map(str, cpd.state_names[variable]))
        values = values.take([own.index(state) for state in states_of[str(variable)]], axis=axis)
    return values


def _pgmpy() -> tuple[Any, Any]:
    try:
        from pgmpy import models
        from pgmpy.factors import discrete
    except ImportError:
        raise LacunetError("pgmpy is not installed.", "pip install pgmpy") from None
    return models, discrete


def to_pyagrum(network: AnyNetwork) -> Any:
    """The same network as a ``pyagrum.BayesNet``.

    Raises
    ------
    LacunetError
        pyAgrum is not installed, or the network has no CPTs.
    """
    network, gum = as_network(network), _pyagrum()
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
        if own.varType() == _pyagrum().VarType_DISCRETIZED
    }
    return Network(network.states_of, network.parents_of, network.tables_of, cuts)


def _turned(parents: Sequence[str]) -> list[int]:
    """The axes with the parents the other way round."""
    return [*range(len(parents))[::-1], len(parents)]


def _pyagrum() -> Any:
    try:
        import pyagrum
    except ImportError:
        raise LacunetError("pyAgrum is not installed.", "pip install pyagrum") from None
    return pyagrum

"""Networks to and from pgmpy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lacunet.errors import LacunetError
from lacunet.formats.draft import network_of
from lacunet.model.network import Network, as_network


def to_pgmpy(network: Network) -> Any:
    """The same network as a ``pgmpy.models.DiscreteBayesianNetwork``.

    A network without CPTs becomes a model without CPDs.
    """
    network = as_network(network)
    models, factors = _library()
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


def _library() -> tuple[Any, Any]:
    try:
        from pgmpy import models
        from pgmpy.factors import discrete
    except ImportError:
        raise LacunetError("pgmpy is not installed.", "pip install pgmpy") from None
    return models, discrete

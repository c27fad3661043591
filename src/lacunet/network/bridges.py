"""Networks to and from pgmpy and pyAgrum, in memory; CPTs are carried to the last bit.

pgmpy has the axis of the child first. pyAgrum lists a CPT's variables child first, and its
arrays have the axes the other way round.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from lacunet.errors import LacunetError, warn
from lacunet.network.arguments import clear_arguments
from lacunet.network.formats.draft import network_of
from lacunet.network.formats.files import AnyNetwork, as_network, not_carried
from lacunet.network.interval_names import labels_of
from lacunet.network.network import Network

INFINITE_TICK = sys.float_info.max  # stands for infinity: pyAgrum takes no infinite ticks


@clear_arguments
def to_pgmpy(network: AnyNetwork) -> Any:
    """The same network as a ``pgmpy.models.DiscreteBayesianNetwork``.

    A network without CPTs becomes a model without CPDs. pgmpy has no place for cut points.
    """
    network = as_network(network)
    _say_lost(network, "pgmpy", has_cuts=False)
    models, factors = (_imported(f"pgmpy.{part}") for part in ("models", "factors.discrete"))
    model = models.DiscreteBayesianNetwork()
    model.add_nodes_from(network.variables)
    model.add_edges_from(network.edges)
    for cpt in network.cpts if network.has_cpts else ():
        states = dict(zip(cpt.family, map(list, cpt.states), strict=True))
        rows = cpt.table.reshape(-1, cpt.table.shape[-1]).T
        parents = list(cpt.parents) or None
        sizes = list(cpt.table.shape[:-1]) or None
        cpd = factors.TabularCPD(cpt.child, len(rows), rows, parents, sizes, state_names=states)
        model.add_cpds(cpd)
    return model


@clear_arguments
def from_pgmpy(model: Any) -> Network:
    """The network of a discrete model of pgmpy; names and states become strings.

    Raises
    ------
    LacunetError
        Some variable has no CPD: pgmpy then does not know its states.
    """
    if not hasattr(model, "get_cpds"):
        raise LacunetError(
            f"a model of pgmpy is needed, not {_kind(model)}.", "from_pgmpy(model) reads one."
        )
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
        states = list(map(str, cpd.state_names[variable]))
        values = values.take([states.index(state) for state in states_of[str(variable)]], axis=axis)
    return values


@clear_arguments
def to_pyagrum(network: AnyNetwork) -> Any:
    """The same network as a ``pyagrum.BayesNet``.

    A variable that was cut into intervals becomes a ``DiscretizedVariable``, whose labels are
    pyAgrum's. Where the outer intervals are open it is an empirical one, which takes values beyond
    its first and last tick; the largest number stands for infinity on one side.

    Raises
    ------
    LacunetError
        pyAgrum is not installed, or the network has no CPTs.
    """
    network = as_network(network)
    gum = _imported("pyagrum")
    other = gum.BayesNet()
    for name in network.variables:
        other.add(_variable(gum, network, name))
    _say_lost(network, "pyAgrum", has_cuts=True)
    for edge in network.edges:
        other.addArc(*edge)
    for cpt in network.cpts:
        numbers = cpt.table.transpose(_turned(cpt.parents)).ravel()
        other.cpt(cpt.child).fillWith(numbers.tolist())
    return other


def _variable(gum: Any, network: Network, name: str) -> Any:
    """A variable of pyAgrum, cut where the network cuts it."""
    cuts = network.cuts_of.get(name, ())
    inner = [cut for cut in cuts if math.isfinite(cut)]
    if not inner:  # it is not cut, or one interval has all numbers
        return gum.LabelizedVariable(name, name, list(network.states(name)))
    is_open = math.isinf(cuts[0]) and math.isinf(cuts[-1])
    ticks = [max(-INFINITE_TICK, min(INFINITE_TICK, cut)) for cut in cuts]
    if is_open:
        width = (inner[-1] - inner[0]) / max(1, len(inner) - 1) or 1.0
        ticks = [inner[0] - width, *inner, inner[-1] + width]
    variable = gum.DiscretizedVariable(name, name, ticks)
    variable.setEmpirical(is_open)
    if network.states(name) != labels_of(cuts):
        warn(f"the intervals of {name!r} lose their names {list(network.states(name))}.")
    return variable


def _cuts(variable: Any) -> tuple[float, ...]:
    """The cut points of a variable of pyAgrum."""
    ticks = [math.copysign(math.inf, t) if abs(t) >= INFINITE_TICK else t for t in variable.ticks()]
    if variable.isEmpirical():  # also takes what is below or above
        ticks[0] = -math.inf
        ticks[-1] = math.inf
    return tuple(ticks)


def _say_lost(network: Network, library: str, *, has_cuts: bool) -> None:
    """Warn of what the other library has no place for."""
    if lost := not_carried(network, has_cuts=has_cuts):
        warn(f"{library} does not carry: {'; '.join(lost)}. A .json file does.")


@clear_arguments
def from_pyagrum(other: Any) -> Network:
    """The network of a ``pyagrum.BayesNet``.

    Rows that do not sum to one exactly are rescaled as those of files are: pyAgrum reads some
    formats in single precision. Variables that pyAgrum has cut into intervals keep their cut
    points, and their states are named as lacunet names intervals.
    """
    if not hasattr(other, "variable") or not hasattr(other, "cpt"):
        raise LacunetError(
            f"a pyagrum.BayesNet is needed, not {_kind(other)}.",
            "from_pyagrum(bn) reads one; to_pyagrum(network) goes the other way.",
        )
    variables = {other.variable(node).name(): other.variable(node) for node in other.nodes()}
    cpts = []
    for name in variables:
        cpt = other.cpt(name)
        parents = tuple(cpt.names[1:])
        cpts.append((name, parents, cpt.toarray().transpose(_turned(parents))))
    cuts = {
        name: _cuts(variable)
        for name, variable in variables.items()
        if variable.varType() == _imported("pyagrum").VarType_DISCRETIZED
    }
    states_of = {
        name: labels_of(cuts[name]) if name in cuts else variable.labels()
        for name, variable in variables.items()
    }
    network = network_of("the pyAgrum network", states_of, cpts)
    return Network(network.states_of, network.parents_of, network.tables_of, cuts)


def _kind(value: object) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _turned(parents: Sequence[str]) -> list[int]:
    """The axes with the parents the other way round."""
    return [*range(len(parents))[::-1], len(parents)]


def _imported(module: str) -> Any:
    package = module.partition(".")[0]
    try:
        return import_module(module)
    except ImportError:
        name = package.replace("pyagrum", "pyAgrum")
        raise LacunetError(f"{name} is not installed.", f"pip install {package}") from None

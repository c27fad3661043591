"""Learn the parameters of discrete Bayesian networks from incomplete data.

>>> import lacunet as lc
>>> network = lc.Network({"A": ["no", "yes"], "B": ["no", "yes"]}, {"B": ["A"]})
>>> rows = {"A": ["yes", "no", None, "yes"], "B": ["yes", "no", "no", None]}
>>> result = lc.learn(network, rows, method="direct-mcar", prior=1)
>>> result.network.cpt("B").table.tolist()
[[1.0, 0.0], [0.0, 1.0]]
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lacunet.errors import LacunetError, LacunetWarning
    from lacunet.estimate.em.method import EM
    from lacunet.estimate.learn import Result, learn
    from lacunet.evaluate.divergence import kl_divergence
    from lacunet.formats.catalogue import example
    from lacunet.formats.files import read_network, write_network
    from lacunet.inference.likelihood import log_likelihood
    from lacunet.inference.query import marginals, query
    from lacunet.missingness.graph import MissingnessGraph
    from lacunet.model.network import Cpt, Network
    from lacunet.simulation.at_random import MAR, MCAR, InformedMAR
    from lacunet.simulation.by_graph import MissingByGraph
    from lacunet.simulation.sampling import sample
    from lacunet.simulation.simulate import hide, simulate

__version__ = "0.1.0"

__all__ = [
    "EM",
    "MAR",
    "MCAR",
    "Cpt",
    "InformedMAR",
    "LacunetError",
    "LacunetWarning",
    "MissingByGraph",
    "MissingnessGraph",
    "Network",
    "Result",
    "example",
    "hide",
    "kl_divergence",
    "learn",
    "log_likelihood",
    "marginals",
    "query",
    "read_network",
    "sample",
    "simulate",
    "write_network",
]

# Names are fetched when they are first used: importing the package costs next to nothing.
_HOME_OF = {
    "EM": "estimate.em.method",
    "MAR": "simulation.at_random",
    "MCAR": "simulation.at_random",
    "Cpt": "model.network",
    "InformedMAR": "simulation.at_random",
    "LacunetError": "errors",
    "LacunetWarning": "errors",
    "MissingByGraph": "simulation.by_graph",
    "MissingnessGraph": "missingness.graph",
    "Network": "model.network",
    "Result": "estimate.learn",
    "example": "formats.catalogue",
    "hide": "simulation.simulate",
    "kl_divergence": "evaluate.divergence",
    "learn": "estimate.learn",
    "log_likelihood": "inference.likelihood",
    "marginals": "inference.query",
    "query": "inference.query",
    "read_network": "formats.files",
    "sample": "simulation.sampling",
    "simulate": "simulation.simulate",
    "write_network": "formats.files",
}


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'lacunet' has no attribute {name!r}")
    found = getattr(import_module(f"lacunet.{_HOME_OF[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])

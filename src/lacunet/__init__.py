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
    from lacunet.building.bins import discretise
    from lacunet.building.network import Network
    from lacunet.completion.frames import impute, predict
    from lacunet.errors import LacunetError, LacunetWarning
    from lacunet.estimate.em.method import EM
    from lacunet.estimate.learn import Result, learn
    from lacunet.evaluate.divergence import kl_divergence
    from lacunet.formats.catalogue import example
    from lacunet.formats.files import read_network, write_network
    from lacunet.inference.likelihood import log_likelihood
    from lacunet.inference.query import marginals, query
    from lacunet.missingness.graph import MissingnessGraph
    from lacunet.model.network import Cpt
    from lacunet.simulate.at_random import MAR, MCAR, InformedMAR
    from lacunet.simulate.by_graph import MissingByGraph
    from lacunet.simulate.sampling import sample
    from lacunet.structure.cpdag import compare_structures, to_cpdag
    from lacunet.structure.learn import learn_structure

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
    "compare_structures",
    "discretise",
    "example",
    "impute",
    "kl_divergence",
    "learn",
    "learn_structure",
    "log_likelihood",
    "marginals",
    "predict",
    "query",
    "read_network",
    "sample",
    "to_cpdag",
    "write_network",
]

# Names are fetched when they are first used: importing the package costs next to nothing.
_HOME_OF = {
    "EM": "estimate.em.method",
    "MAR": "simulate.at_random",
    "MCAR": "simulate.at_random",
    "Cpt": "model.network",
    "InformedMAR": "simulate.at_random",
    "LacunetError": "errors",
    "LacunetWarning": "errors",
    "MissingByGraph": "simulate.by_graph",
    "MissingnessGraph": "missingness.graph",
    "Network": "building.network",
    "Result": "estimate.learn",
    "compare_structures": "structure.cpdag",
    "discretise": "building.bins",
    "example": "formats.catalogue",
    "impute": "completion.frames",
    "kl_divergence": "evaluate.divergence",
    "learn": "estimate.learn",
    "learn_structure": "structure.learn",
    "log_likelihood": "inference.likelihood",
    "marginals": "inference.query",
    "predict": "completion.frames",
    "query": "inference.query",
    "read_network": "formats.files",
    "sample": "simulate.sampling",
    "to_cpdag": "structure.cpdag",
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

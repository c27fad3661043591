"""Learn the parameters of discrete Bayesian networks from incomplete data.

>>> import lacunet as lc
>>> network = lc.Network({"A": ["no", "yes"], "B": ["no", "yes"]}, {"B": ["A"]})
>>> rows = {"A": ["yes", "no", None, "yes"], "B": ["yes", "no", "no", None]}
>>> result = lc.learn(network, rows, method="direct-mcar")
>>> result.network.cpt("A").table.tolist()
[0.3999999999999999, 0.6]
"""

from lacunet.errors import LacunetError, LacunetWarning
from lacunet.estimate.learn import Result, learn
from lacunet.formats.files import read_network, write_network
from lacunet.model.network import Cpt, Network

__version__ = "0.1.0"

__all__ = [
    "Cpt",
    "LacunetError",
    "LacunetWarning",
    "Network",
    "Result",
    "learn",
    "read_network",
    "write_network",
]

"""Learn the parameters of discrete Bayesian networks from incomplete data."""

from lacunet.errors import LacunetError, LacunetWarning
from lacunet.model.network import Cpt, Network

__version__ = "0.1.0"

__all__ = ["Cpt", "LacunetError", "LacunetWarning", "Network"]

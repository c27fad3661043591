"""Learn the parameters of discrete Bayesian networks from incomplete data.

>>> import lacunet as lc
>>> network = lc.Network({"A": ["no", "yes"], "B": ["no", "yes"]}, {"B": ["A"]})
>>> rows = {"A": ["yes", "no", None, "yes"], "B": ["yes", "no", "no", None]}
>>> result = lc.learn(network, rows, method="direct-mcar", pseudo_counts=0)
>>> result.network.cpt("B").table.tolist()
[[1.0, 0.0], [0.0, 1.0]]
"""

from __future__ import annotations

import lazy_loader

__version__ = "0.3.0"

# __init__.pyi has the names. They are fetched when they are first used, as are two modules that
# ``from lacunet import *`` leaves alone: one of them needs scikit-learn.
_fetched, __dir__, _names = lazy_loader.attach_stub(__name__, __file__)
__all__ = [name for name in _names if name not in ("plots", "sklearn")]


def __getattr__(name: str) -> object:
    if name not in _names and not name.startswith("_"):
        public = ", ".join(__all__)
        raise AttributeError(f"lacunet has no attribute {name!r}; it has {public}", name=name)
    globals()[name] = value = _fetched(name)
    return value

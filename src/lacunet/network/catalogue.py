"""Benchmark networks that come with the package.

The files hold the numbers of the Bayesian Network Repository (M. Scutari,
https://www.bnlearn.com/bnrepository), re-encoded, and the example of the book, ``screening``; see
NOTICE. The entries say what is in them without reading them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files

from lacunet.errors import LacunetError
from lacunet.network.arguments import clear_arguments
from lacunet.network.network import Network
from lacunet.text import did_you_mean


class UnknownNetworkError(LacunetError):
    """No bundled network has this name."""


@dataclass(frozen=True)
class Entry:
    """One bundled network; ``parameters`` are the free ones."""

    name: str
    variables: int
    edges: int
    parameters: int
    largest_in_degree: int
    source: str


def catalogue() -> tuple[Entry, ...]:
    """All bundled networks, from the smallest to the largest number of parameters.

    Examples
    --------
    >>> [entry.name for entry in catalogue() if entry.variables < 7]
    ['screening', 'cancer', 'earthquake', 'fire-alarm', 'survey']
    """
    return _ENTRIES


@clear_arguments
@cache
def example(name: str) -> Network:
    """A bundled network, with its CPTs.

    Parameters
    ----------
    name
        The name of a bundled network, as "asia" or "alarm"; ``lacunet show`` lists them.

    Raises
    ------
    UnknownNetworkError
        No bundled network has this name; the message suggests others.

    Examples
    --------
    >>> asia = example("asia")
    >>> asia.parents("either"), asia.cpt("smoke").table.tolist()
    (('lung', 'tub'), [0.5, 0.5])
    """
    from lacunet.network.formats.files import read_network

    if name not in bundled_names():
        hint = (
            did_you_mean(name, bundled_names())
            or f"the bundled networks are {', '.join(bundled_names())}."
        )
        raise UnknownNetworkError(f"no bundled network is called {name!r}.", hint)
    with as_file(files("lacunet.network.bundled") / f"{name}.json.gz") as path:
        return read_network(path)


def bundled_names() -> tuple[str, ...]:
    """The names of the bundled networks."""
    return tuple(entry.name for entry in _ENTRIES)


_ENTRIES = (
    Entry("screening", 4, 3, 7, 1, "made for the book: a test, and patients never verified"),
    Entry("cancer", 5, 4, 10, 2, "Korb and Nicholson (2010), Bayesian artificial intelligence"),
    Entry("earthquake", 5, 4, 10, 2, "Korb and Nicholson (2010), Bayesian artificial intelligence"),
    Entry("fire-alarm", 6, 5, 12, 2, "Poole and Mackworth (2010), Artificial intelligence"),
    Entry("asia", 8, 8, 18, 2, "Lauritzen and Spiegelhalter (1988), Local computations"),
    Entry("survey", 6, 6, 21, 2, "Scutari and Denis (2014), Bayesian networks with examples in R"),
    Entry("sachs", 11, 17, 178, 3, "Sachs et al. (2005), Causal protein-signaling networks"),
    Entry("child", 20, 25, 230, 2, "Spiegelhalter and Cowell (1992), Learning in expert systems"),
    Entry("alarm", 37, 46, 509, 4, "Beinlich et al. (1989), The ALARM monitoring system"),
    Entry("win95pts", 76, 112, 574, 7, "Microsoft, printer troubleshooting in Windows 95"),
    Entry("insurance", 27, 52, 1008, 3, "Binder et al. (1997), Adaptive probabilistic networks"),
    Entry("hepar2", 70, 123, 1453, 6, "Onisko (2003), Probabilistic causal models in medicine"),
    Entry("hailfinder", 56, 66, 2656, 4, "Abramson et al. (1996), Hailfinder"),
    Entry("water", 32, 66, 10083, 5, "Jensen et al. (1989), Control of waste water treatment"),
    Entry("munin1", 186, 273, 15622, 3, "Andreassen et al. (1989), MUNIN, an expert EMG assistant"),
    Entry("barley", 48, 84, 114005, 4, "Kristensen and Rasmussen (2002), Malting barley"),
)

"""What answers a query on the command line: a result or a network."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lacunet.cli.typed_files import is_data_name
from lacunet.errors import LacunetError
from lacunet.text import in_shell

if TYPE_CHECKING:
    from lacunet.learning.result import Result
    from lacunet.network.network import Network

LEARN_FIRST = "lacunet learn NETWORK DATA -o result.json"


def unrolled(known: Result | Network, options: Namespace) -> Result | Network:
    """The network over more waves, where these are asked for."""
    return known if options.unroll is None else known.unroll(options.unroll)


def known_network(options: Namespace, texts: Sequence[str]) -> Result | Network:
    """The result or the network that answers; data in place of a query are wrong usage."""
    from lacunet.learning.result import read_learned
    from lacunet.network.formats.files import as_network

    for text in (options.network, *texts):
        if is_data_name(text):
            problem = f"{options.command} asks a result, and {text!r} is data"
            options.usage_error(f"{problem}: learn first, by {LEARN_FIRST}")
    known = read_learned(options.network)
    if not as_network(known).has_cpts:
        raise LacunetError(
            f"the network in {options.network} has no CPTs.",
            f"learn them: lacunet learn {in_shell(options.network)} DATA -o result.json.",
        )
    return known

"""``lacunet show``: a network, or the CPT of a variable, as a table to read."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace

from lacunet.cli.options import NETWORK_HELP, add, add_json

HELP = "print a network, or the CPTs of some variables"
EXAMPLE = """example:
  lacunet show learned.bif
  lacunet show learned.bif HR CVP
  lacunet show learned.bif --dot | dot -Tsvg > learned.svg
"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    add(command, "network NETWORK", NETWORK_HELP)
    add(command, "variables VARIABLE", "whose CPT to print", nargs="*")
    add(command, "--dot", "print the graph in DOT", action="store_true")
    add_json(command, "print the same as JSON")


def run(options: Namespace) -> int:
    """Print what is asked for."""
    from lacunet.formats.files import read_network
    from lacunet.formats.lacunet_json import render

    network = read_network(options.network)
    cpts = [network.cpt(name) for name in options.variables]
    if options.dot:
        print(network.to_dot())
    elif not options.json:
        print("\n\n".join(map(str, cpts)) if cpts else network)
    elif cpts:
        rows = {
            cpt.child: {
                "parents": list(cpt.parents),
                "states": dict(zip(cpt.family, map(list, cpt.states), strict=True)),
                "table": cpt.table.tolist(),
            }
            for cpt in cpts
        }
        print(json.dumps(rows))
    else:
        print(render(network).rstrip())
    return 0

"""``lacunet show``: a network, or the CPT of a variable, as a table to read."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace

from lacunet.cli.options import NETWORK_HELP

HELP = "print a network, or the CPTs of some variables"
EXAMPLE = """example:
  lacunet show learned.bif
  lacunet show learned.bif HR CVP
  lacunet show learned.bif --dot | dot -Tsvg > learned.svg
"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    command.add_argument("network", metavar="NETWORK", help=f"{NETWORK_HELP}, or a bundled one")
    command.add_argument("variables", metavar="VARIABLE", nargs="*", help="whose CPT to print")
    command.add_argument("--dot", action="store_true", help="print the graph in DOT")
    command.add_argument("--json", action="store_true", help="print the same as JSON")


def run(options: Namespace) -> int:
    """Print what is asked for."""
    from lacunet.formats.catalogue import catalogue, example
    from lacunet.formats.files import read_network
    from lacunet.formats.lacunet_json import render

    is_bundled = options.network in {entry.name for entry in catalogue()}
    network = example(options.network) if is_bundled else read_network(options.network)
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

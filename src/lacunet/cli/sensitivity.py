"""``lacunet sensitivity``: how far an answer moves if values are not missing at random."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace

from lacunet.cli.inputs import data_of, options_for
from lacunet.cli.options import add, add_names, add_network_or_edges, add_shared
from lacunet.cli.terminal import progress_bar
from lacunet.cli.typed_networks import typed_network

HELP = "show how far an answer moves if values are not missing at random"
EXAMPLE = """examples:
  lacunet sensitivity net.bif rows.csv --query "Ill=yes|Age=old" --mechanism Ill
  lacunet sensitivity net.bif rows.csv --query "Ill=yes" --mechanism Ill \\
      --threshold 0.3
"""
MORE = """  lacunet sensitivity net.bif rows.csv --query "Ill=yes" --mechanism Ill \\
      --missingness graph.txt
  lacunet sensitivity net.bif rows.csv --mechanism Ill \\
      --query "P(Ill=yes | do(Drug=yes)) - P(Ill=yes | do(Drug=no))"

If values are missing at random, hidden values are distributed like the shown
ones of the same group (delta 0). A tilt of delta multiplies the odds of the
state among hidden values by e^delta. With --method em they are compared given
everything else that their rows show, which matters where another variable of
the query, a neighbour in the network, or one that decides on being hidden has
missing values too.
"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    add_network_or_edges(command)
    query = (
        "one state, what is given and done; or the difference of two such queries, P(...) - P(...)"
    )
    add(command, "--query X=x|Y=y", query, required=True)
    hidden = "the variable whose hidden values may differ from the shown ones"
    add(command, "--mechanism VARIABLE", hidden, required=True)
    tilted = "the state whose odds differ (default: that of the query, or the variable's last)"
    add(command, "--tilted-state S", tilted)
    add(command, "--threshold P", "the answer that would change a conclusion", type=float)
    within = (
        "compare within groups by these variables (default: learned from the data, with the "
        "variable's parents)"
    )
    add_names(command, "--within A,B", within, default=None)
    graph = "in place of --within, a missingness graph (a file or its text), for EM on it"
    add(command, "--missingness GRAPH", graph)
    method = (
        "compare shares of rows, or learn the whole network by EM for every tilt (default: em if "
        "another variable of the query or of --within, or a parent or child of the variable, has "
        "missing values)"
    )
    add(command, "--method", method, choices=["direct-mar", "em"])
    add_shared(command, "--pseudo-counts --json --memory")


def run(options: Namespace) -> None:
    """Print the answer over the tilts."""
    from lacunet.ask.sensitivity.sensitivity import sensitivity

    # A file may hold a result, with what it was learned under.
    named = options.network
    report = sensitivity(
        typed_network(options) if named is None else named,
        data_of(options),
        options.query,
        progress=progress_bar(),
        **options_for(
            options,
            "mechanism tilted_state threshold within missingness method pseudo_counts memory",
        ),
    )
    print(json.dumps(report.as_data()) if options.json else report)

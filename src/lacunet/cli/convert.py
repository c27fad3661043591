"""``lacunet convert``: a network into a file, from another format or from edges and data."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from lacunet.cli.options import add, add_network_or_edges, add_output
from lacunet.cli.terminal import note
from lacunet.cli.typed_files import has_data
from lacunet.cli.typed_networks import note_written, typed_network

HELP = "write a network in another format, or make one of edges and data"
EXAMPLE = """examples:
  lacunet convert alarm.bif -o alarm.xdsl
  lacunet convert alarm -o alarm.bif                     a bundled network
  lacunet convert survey.json -o survey.xdsl --rename
  lacunet convert "Age, Smoking -> Cancer" patients.csv --bins Age=4 -o net.json
"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    add_network_or_edges(command, "NETWORK [DATA]")
    out = "the file to write; its name says the format"
    add_output(command, "-o --output OUT", out, required=True)
    rename = "replace names that the format cannot carry: 40-59 by s40_59, in .uai by X0, X1, ..."
    add(command, "--rename", rename, action="store_true")


def run(options: Namespace) -> None:
    """Read or build the network, write the file."""
    from lacunet.network.formats.files import write_network

    if options.network is None:
        network = typed_network(options)
        write_network(network, options.output, rename=options.rename)
        note_written(network, options.output)
        return
    if has_data(options):
        options.usage_error("a network has its states already: data go with edges such as 'A -> B'")
    _convert(options)


def _convert(options: Namespace) -> None:
    """Read the one format, write the other."""
    from lacunet.learning.result import KEEP_ALL, Result, read_learned
    from lacunet.network.formats.errors import FormatError
    from lacunet.network.formats.files import as_network, read_network, write_network

    try:
        learned = read_learned(options.network)
    except FormatError as error:
        learned = read_network(options.network)
        note(f"the network alone is kept: {error.message}")
    if isinstance(learned, Result) and (not options.rename or options.output.endswith(KEEP_ALL)):
        learned.write(options.output)
    else:
        write_network(learned, options.output, rename=options.rename)
        if isinstance(learned, Result):
            note(f"{options.output}: the format does not carry how sure the CPTs are; .json does")
    note(f"{len(as_network(learned).variables)} variables written to {options.output}")

"""``lacunet show``: a network, or the CPT of a variable, as a table to read."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import asdict, astuple
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from lacunet.cli.options import NETWORK_HELP, add, add_output, add_shared
from lacunet.text_tables import TextTable

if TYPE_CHECKING:
    from lacunet.learning.result import Result
    from lacunet.network.catalogue import Entry
    from lacunet.network.cpt import Cpt
    from lacunet.network.network import Network

HELP = "print a network or a result, a CPT, or the bundled networks"
EXAMPLE = """examples:
  lacunet show                                lists the bundled networks
  lacunet show result.json
  lacunet show result.json HR CVP
  lacunet show result.json --page page.html   bars that answer, in a browser
  lacunet show first.bif --page both.html --beside second.bif
  lacunet show learned.bif --dot | dot -Tsvg > learned.svg
"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    add(command, "network NETWORK", NETWORK_HELP, nargs="?")
    add(command, "variables VARIABLE", "whose CPT to print", nargs="*")
    add_output(command, "--page PAGE.html", "write a page that shows beliefs, given evidence")
    add(command, "--beside NETWORK", "another network over the same variables, on the same page")
    add(command, "--dot", "print the graph in DOT", action="store_true")
    add_shared(command, "--json")


def run(options: Namespace) -> None:
    """Print what is asked for."""
    from lacunet.learning.result import read_learned
    from lacunet.network.formats.files import as_network

    if options.beside and not options.page:
        options.usage_error("--beside needs a page to stand on: give --page PAGE.html")
    if options.network is None:
        if options.page or options.dot:
            options.usage_error("name a network")
        _list_bundled(options)
        return
    known = read_learned(options.network)
    if options.page:
        _write_page(as_network(known), options)
    elif options.dot:
        print(as_network(known).to_dot())
    elif options.variables:
        _print_cpts([known.cpt(name) for name in options.variables], as_json=options.json)
    else:
        print(_as_json(known) if options.json else known)


def _print_cpts(cpts: Sequence[Cpt], *, as_json: bool) -> None:
    """Print some CPTs, with intervals where they have them."""
    from lacunet.show.plain_values import plain_attributes

    if not as_json:
        print("\n\n".join(map(str, cpts)))
        return
    rows = {cpt.child: plain_attributes(cpt, "parents table interval") for cpt in cpts}
    for cpt in cpts:
        rows[cpt.child]["states"] = dict(zip(cpt.family, cpt.states, strict=True))
    print(json.dumps(rows))


def _as_json(known: Result | Network) -> str:
    """A result as `lacunet learn --json` prints it, or a network as a file has it."""
    from lacunet.learning.result import Result
    from lacunet.network.formats.lacunet_json import render
    from lacunet.show.results.result_text import result_as_data

    if isinstance(known, Result):
        return json.dumps(result_as_data(known, 0.95 if known.uncertainty else None))
    return render(known).rstrip()


def _list_bundled(options: Namespace) -> None:
    """Print the catalogue of the bundled networks."""
    from lacunet.network.catalogue import catalogue

    entries = catalogue()
    if options.json:
        print(json.dumps([asdict(entry) for entry in entries]))
    else:
        print(catalogue_as_text(entries))


def catalogue_as_text(entries: Sequence[Entry]) -> str:
    """One line for each network."""
    header = ["network", "source", "variables", "edges", "parameters", "in-degree"]
    rows = []
    for name, *sizes, source in map(astuple, entries):
        rows.append([name, source, *(f"{size:,}" for size in sizes)])
    return str(TextTable(header, rows, left=2))


def _write_page(network: Network, options: Namespace) -> None:
    """Write the network as a page, alone or with another one."""
    from lacunet.cli.output import keep_page, page_source
    from lacunet.network.formats.files import read_network
    from lacunet.show.network_page import page, pair_page
    from lacunet.show.pages.live_network import ShownNetwork

    source = page_source(options)
    if not options.beside:
        keep_page(options.page, page(network, source))
        return
    paths = [Path(os.path.abspath(path)) for path in (options.network, options.beside)]
    networks = (network, read_network(options.beside))
    first, second = map(ShownNetwork, labels_apart(paths), networks)
    keep_page(options.page, pair_page(first, second, source))


def labels_apart(paths: Sequence[PurePath]) -> list[str]:
    """What tells two files apart: their names, or the ways from the last folder that they share.

    Examples
    --------
    >>> from pathlib import PurePosixPath
    >>> labels_apart([PurePosixPath("runs/1/net.bif"), PurePosixPath("runs/2/net.bif")])
    ['1/net.bif', '2/net.bif']
    """
    names = [path.name for path in paths]
    if names[0] != names[1]:
        return names
    folders = [folder for folder in paths[0].parents if folder in paths[1].parents]
    return [str(path.relative_to(folders[0]) if folders else path) for path in paths]

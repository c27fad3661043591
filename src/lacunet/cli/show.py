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
from lacunet.wording import text_table

if TYPE_CHECKING:
    from lacunet.formats.catalogue import Entry
    from lacunet.model.network import Cpt, Network

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
    from lacunet.formats.files import as_learned, read_network
    from lacunet.formats.lacunet_json import render
    from lacunet.report.plain import plain

    if options.beside and not options.page:
        options.usage_error("--beside needs a page to stand on: give --page PAGE.html")
    if options.network is None:
        if options.page or options.dot:
            options.usage_error("name a network")
        _list_bundled(options)
        return
    network = read_network(options.network)
    if options.page:
        _write_page(network, options)
        return
    cpts: list[Cpt] = []
    if options.variables:
        learned = as_learned(options.network)  # with intervals, where the file has them
        known = network if learned is options.network else learned
        cpts = [known.cpt(name) for name in options.variables]
    if options.dot:
        print(network.to_dot())
    elif not options.json:
        print("\n\n".join(map(str, cpts)) if cpts else network)
    elif cpts:
        rows = {cpt.child: plain(cpt, "parents table interval") for cpt in cpts}
        for cpt in cpts:
            rows[cpt.child]["states"] = dict(zip(cpt.family, cpt.states, strict=True))
        print(json.dumps(rows))
    else:
        print(render(network).rstrip())


def _list_bundled(options: Namespace) -> None:
    """Print the catalogue of the bundled networks."""
    from lacunet.formats.catalogue import catalogue

    entries = catalogue()
    if options.json:
        print(json.dumps([asdict(entry) for entry in entries]))
    else:
        print(catalogue_as_text(entries))


def catalogue_as_text(entries: Sequence[Entry]) -> str:
    """One line for each network; the source is left without alignment, it comes last."""
    header = ["network", "variables", "edges", "parameters", "largest in-degree"]
    rows, sources = [], ["source"]
    for name, *sizes, source in map(astuple, entries):
        rows.append([name, *(f"{size:,}" for size in sizes)])
        sources.append(source)
    lines = text_table(header, rows).splitlines()
    width = max(map(len, lines))
    return "\n".join(
        f"{line.ljust(width)}  {source}" for line, source in zip(lines, sources, strict=True)
    )


def _write_page(network: Network, options: Namespace) -> None:
    """Write the network as a page, alone or with another one."""
    from lacunet.cli.output import keep_page, page_source
    from lacunet.formats.files import read_network
    from lacunet.pages.live import ShownNetwork
    from lacunet.report.network import page, pair_page

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

"""``lacunet diagnose``: what is missing from data, how, and what that permits."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lacunet.cli.inputs import data_of
from lacunet.cli.options import add, add_network_or_edges, add_output, add_shared
from lacunet.cli.output import deliver
from lacunet.cli.terminal import note, progress_bar
from lacunet.cli.typed_networks import typed_network

if TYPE_CHECKING:
    from lacunet.counts.missing_values import MissingSummary
    from lacunet.data.table import EncodedTable
    from lacunet.network.network import Network

HELP = "say what is missing, whether at random, and which methods fit"
EXAMPLE = """examples:
  lacunet diagnose patients.csv
  lacunet diagnose alarm.bif patients.csv
  lacunet diagnose alarm.bif rows.csv --missingness-out graph.txt --try-graph

Without a network, all columns are looked at, without edges.
"""
MORE = """what is printed for each variable:
  missing       share of the rows that do not show it
  family shown  rows that show its family: the variable and all its parents
  influx        share of all shown cells that are in rows where it is missing:
                how much there is to predict it from
  outflux       share of all missing cells that are in rows that show it: how
                much it can help to predict
"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    add_network_or_edges(command, "[NETWORK] DATA")
    learn = "learn what decides whether values are shown, and write it as a missingness graph"
    add_output(command, "--missingness-out FILE", learn)
    trial = (
        "where the tests reject that values are missing at random: learn by EM with and without a "
        "missingness graph learned from the rows, and say whether the graph is worth having"
    )
    add(command, "--try-graph", trial, action="store_true")
    add_shared(command, "--seed --memory --json --report")


def run(options: Namespace) -> None:
    """Print the diagnosis."""
    import numpy as np

    from lacunet.ask.diagnose.diagnosis import diagnose_table, rows_to_diagnose
    from lacunet.show.diagnosis_page import page

    network = typed_network(options)
    left_out: Mapping[str, str] = getattr(options, "left_out", {})
    data = replace(data_of(options), aside=tuple(left_out))
    coded, summary, table = rows_to_diagnose(network, data, options.memory, progress_bar())
    note(*table.notes)
    random = np.random.default_rng(options.seed)
    diagnosis = diagnose_table(
        coded, summary, table, random, try_graph=options.try_graph, left_out=left_out.values()
    )

    def write_mechanisms() -> None:
        if options.missingness_out:
            latent = [*data.latent]
            _write_mechanisms(options.missingness_out, coded, table, summary, latent)

    deliver(
        options,
        json.dumps(diagnosis.as_data()) if options.json else str(diagnosis),
        write_mechanisms,
        page=lambda source: page(diagnosis, summary, source),
    )


def _write_mechanisms(
    path: str,
    network: Network,
    table: EncodedTable,
    summary: MissingSummary,
    latent: Sequence[str],
) -> None:
    """Learn what decides whether values are shown, and write it as a missingness graph."""
    from lacunet.missingness.learned.from_rows import (
        MOST_ROWS,
        ROWS_FOR_A_GRAPH,
        learned_graph,
    )

    some = table.take(slice(None, None, max(1, table.rows // MOST_ROWS)))
    graph = learned_graph(network, some, latent=latent, patterns=summary.patterns).tested_on(some)
    graph.write(path)
    if graph.doubt:
        note(graph.doubt)
    note(f"the learned mechanisms are in {path}")
    if table.row_count < ROWS_FOR_A_GRAPH:
        note(f"too few rows ({table.row_count:,}) to learn them reliably: check every edge")

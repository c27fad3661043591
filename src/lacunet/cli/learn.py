"""``lacunet learn``: a network file and data in, a network with learned CPTs out."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING

from lacunet.cli.inputs import data_of, level_asked, method_options, options_for, shapes_asked
from lacunet.cli.options import (
    add_method_arguments,
    add_network_or_edges,
    add_output,
    add_shared,
)
from lacunet.cli.output import deliver, keep_learned
from lacunet.cli.terminal import note, progress_bar
from lacunet.cli.typed_networks import typed_network
from lacunet.text import in_shell

if TYPE_CHECKING:
    import numpy as np

    from lacunet.counts.missing_values import MissingSummary
    from lacunet.counts.observations import Observations
    from lacunet.data.data import Data
    from lacunet.data.donors import DonorSampler
    from lacunet.learning.result import Result
    from lacunet.network.network import Network
    from lacunet.show.pages.provenance import Provenance

HELP = "learn the CPTs of a network from data with missing values"
EXAMPLE = """examples:
  lacunet learn "Age -> Disease -> Test" patients.csv --intervals -o result.json
  lacunet learn alarm.bif monday.parquet tuesday.parquet -o result.json
  lacunet learn alarm.bif patients.csv --missingness "Age -> R[BP]" --json
"""
MORE = """  lacunet learn alarm.bif rows.csv --method informed-direct --groups HR,BP
  lacunet learn alarm.bif --sql 'select * from visits' --database clinic.duckdb

what is printed for each CPT:
  rows shown   rows in which the variable and all its parents are observed
  effective    for the weakest CPT row, where known: "370 of 445" means that 445
               rows show its parents' states, and that it is as precise as if
               learned from 370 complete rows
  fell back    share of the rows' weight whose group had no data of its own, if
               any did
  unsupported  parent configurations that no row shows together with the
               variable
"""
KEPT = "where to write what is learned; only .json keeps intervals, bins and codes beside the CPTs"

REASONS = {
    "time limit": "the time limit",
    "interrupted": "an interruption",
    "iteration limit": "the limit of iterations",
    "cost limit": "the limit of what auto may compute",
}


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    add_network_or_edges(command)
    add_output(command, "-o --output OUT", KEPT)
    add_shared(
        command,
        "--json --pseudo-counts --experts --memory --threads --intervals --donors --level --report",
    )
    add_method_arguments(command)


def run(options: Namespace) -> int:
    """Learn, write the network, print what it rests on."""
    from lacunet.network.formats.files import check_target

    level_asked(options)  # refused before anything is read
    network = typed_network(options)
    if options.output:
        check_target(network, options.output)
    data = data_of(options)
    missing = None
    if not options.report:
        result, code = learn_with_options(network, options, data)
    elif data.classes:
        # Rows need other states for each number of classes: they are read again afterwards.
        result, code = learn_with_options(network, options, data)
        with _opened(options, result.network, data) as rows:
            missing = _missing_in(rows, result.network)
    else:
        # They stay open, and are first read for their gaps.
        with _opened(options, network, data, sampler=_sampler(options, network, data)) as rows:
            missing = _missing_in(rows, network)
            opened = replace(data, source=rows, query=None, database=None)
            result, code = learn_with_options(network, options, opened)
    note(*result.notes)
    if result.ended and result.ended.reason in REASONS:
        note(f"ended by {REASONS[result.ended.reason]}: the result is the best so far")
    deliver(
        options,
        _shown(result, options),
        lambda: _keep(result, options),
        page=lambda source: _page(result, options, missing, source),
    )
    return code


def _opened(
    options: Namespace, network: Network, data: Data, *, sampler: DonorSampler | None = None
) -> AbstractContextManager[Observations]:
    """The rows, opened for a network within the memory budget."""
    from lacunet.counts.observations import observations
    from lacunet.limits import memory_budget

    budget = memory_budget(options.memory)
    bare = network.with_tables(None)
    return observations(data, bare, budget, progress=progress_bar(), sampler=sampler)


def _sampler(options: Namespace, network: Network, data: Data) -> DonorSampler | None:
    """What draws the rows that are kept as donors, if some are."""
    from lacunet.data.column_rules import with_data_codes
    from lacunet.data.donors import donor_sampler

    if not options.donors:
        return None
    coded = with_data_codes(network.with_tables(None), data)
    return donor_sampler(coded, data, _chance(options), options.donors)


def _missing_in(rows: Observations, network: Network) -> MissingSummary:
    """What the rows miss of the variables and of the families of a network."""
    from lacunet.counts.observations import missing_in
    from lacunet.data.read import ReadReport

    return missing_in(rows, network.families, ReadReport())


def learn_with_options(network: Network, options: Namespace, data: Data) -> tuple[Result, int]:
    """What the data give, and the exit status."""
    from lacunet.learning.learn import learn
    from lacunet.learning.result import Interrupted

    try:
        result = learn(
            network,
            data,
            rng=_chance(options),
            progress=progress_bar(),
            intervals=options.intervals,
            **options_for(options, "method pseudo_counts experts memory threads donors"),
            **shapes_asked(options),
            **method_options(options),
        )
    except Interrupted as interrupted:
        return interrupted.result, 130
    return result, 0


def _chance(options: Namespace) -> np.random.Generator:
    """The source of randomness; the same each time it is asked for."""
    import numpy as np

    return np.random.default_rng(options.seed)


def _shown(result: Result, options: Namespace) -> str:
    """What was learned, as it is printed."""
    from lacunet.show.results.result_text import result_as_data, result_as_text

    level = level_asked(options) if result.uncertainty else None
    if options.json:
        return json.dumps(result_as_data(result, level))
    return result_as_text(
        result,
        level,
        with_cpts=True,
        shown_by=lambda name: f"{_show(options.output or 'FILE', name)} prints one",
    )


def _show(path: str, variable: str) -> str:
    return f"lacunet show {in_shell(path)} {in_shell(variable)}"


def _keep(result: Result, options: Namespace) -> None:
    """Write what was learned."""
    from lacunet.learning.result import KEEP_ALL

    if options.output:
        keep_learned(result.write, options.output)
        show = _show(options.output, result.network.order[-1])
        note(f"the learned network is in {options.output}; {show} prints a CPT")
        if result.donors is not None and options.output.lower().endswith(KEEP_ALL):
            note(f"it holds {result.donors.about}; --donors 0 leaves them out")
    elif not options.json:
        note("nothing was written; -o FILE writes the learned network")


def _page(
    result: Result, options: Namespace, missing: MissingSummary | None, source: Provenance
) -> str:
    """The result as one HTML page."""
    from lacunet.learning.result import KEEP_ALL
    from lacunet.missingness.graph import graph_of
    from lacunet.show.results.result_page import page

    graph = options.missingness
    if (options.output or "").lower().endswith(KEEP_ALL):
        source = replace(source, learned=options.output)
    return page(
        result,
        missing,
        source,
        level=level_asked(options),
        missingness=graph_of(graph, result.network) if graph else None,
    )

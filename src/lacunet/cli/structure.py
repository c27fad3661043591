"""``lacunet structure``: data in, a network with edges and CPTs out."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from lacunet.cli.inputs import data_of, options_for, time_limit_left
from lacunet.cli.options import add, add_data, add_names, add_output, add_shared, refusing
from lacunet.cli.output import deliver, keep_learned
from lacunet.cli.terminal import note, progress_bar
from lacunet.cli.typed_networks import note_written

if TYPE_CHECKING:
    from lacunet.data.data import Data

ENDINGS = (".json", ".json.gz")
HELP = "learn a network, edges and CPTs, from data with missing values"
EXAMPLE = """examples:
  lacunet structure patients.csv -o net.bif
  lacunet structure patients.csv --bins Age=18,40,65 --bins Dose=4 -o net.json
  lacunet structure patients.csv --tiers "Age,Sex; Disease; Test" --json
  lacunet structure patients.csv --purpose imputation -o model.json
"""
MORE = """what is printed for each edge:
  ->, --      the direction follows from the edges found and the constraints, or
              the data tell only that there is an edge
  adjacent    probability that there is an edge: the share of bootstrap
              replicates that have it, corrected by how often such edges are
              true in published networks; an edge that all replicates have gets
              0.92 to 0.99, more in small networks than in large ones, and only
              a required one gets 1
  directed    probability that there is an edge and it goes this way; the rest
              of adjacent is for the other way. Where it is below half of
              adjacent, most replicates that have the edge have it the other
              way; beside ->, other edges would undo the arrow then
"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    from lacunet.network.edges import tiers_of

    add_data(command)
    add_output(command, "-o --output OUT", "where to write the network")
    group = command.add_argument_group("structure")
    several: dict[str, Any] = {"action": "append", "default": []}
    purpose = "imputation: a network that completes rows and answers no queries"
    add(group, "--purpose", purpose, choices=["structure", "imputation"], default="structure")
    kept = "for imputation: columns whose effects on each other are hardly shrunk"
    add_names(group, "--keep-pairs A,B", kept)
    add(group, "--required EDGES", "edges that must be there: 'A -> B; A, C -> D'", **several)
    add(group, "--forbidden EDGES", "edges that are not allowed", **several)
    tiers = "groups of columns, 'A,B; C,D': no edge leads from a later group into an earlier one"
    add(group, "--tiers T", tiers, type=refusing(tiers_of), action="extend")
    add(group, "--max-parents N", "maximum number of parents", type=int, default=4)
    missingness = (
        "how values go missing: 'learn' (default), 'none' for completely at random, "
        "or a missingness graph: a file, or its text"
    )
    group.add_argument("--missingness", metavar="GRAPH", default="learn", help=missingness)
    method = "'closed-form' returns the network that the search starts from"
    add(group, "--method", method, choices=["auto", "closed-form"], default="auto")
    score = "sparse-bic: BIC without a penalty for states that never seem to occur together"
    add(group, "--score", score, choices=["sparse-bic", "bic", "bdeu"], default="sparse-bic")
    strengths = (
        "bootstrap replicates for edge strengths (default: 20, none above 200,000 rows; 0 for none)"
    )
    add(group, "--strengths N", strengths, type=int, nargs="?", const=20)
    limit = "time limit in seconds, as in 5; the best so far is returned"
    add(group, "--time-limit SECONDS", limit, type=float)
    add_shared(group, "--json --seed --pseudo-counts --memory")


def run(options: Namespace) -> int:
    """Learn, write the network, print the edges."""
    import numpy as np

    from lacunet.data.original_tables import hold_data_in_memory
    from lacunet.missingness.graph import graph_of
    from lacunet.network.formats.files import check_target, write_network
    from lacunet.show.structure_text import structure_as_data, structure_as_text
    from lacunet.structure.columns import find_columns
    from lacunet.structure.learn_structure import learn_structure

    data = data_of(options)
    if options.data == ["-"]:  # can be read once only
        data = hold_data_in_memory(data)
    if options.purpose == "imputation":
        return _learn_for_imputation(options, data)
    columns = find_columns(data)
    note(*columns.notes)  # at once: what is left out may be named among the constraints
    if options.output:
        check_target(columns.network, options.output)
    missingness = None if options.missingness == "none" else options.missingness
    if missingness not in ("learn", None):
        missingness = graph_of(missingness, columns.network)
    learned = learn_structure(
        replace(data, states=columns.network, bins=None, aside=columns.left_out),
        missingness=missingness,
        rng=np.random.default_rng(options.seed),
        progress=progress_bar(),
        **_arguments(options),
    )
    note(*learned.notes)
    if learned.ended in ("time limit", "memory limit", "interrupted", "round limit"):
        end = "was interrupted" if learned.ended == "interrupted" else f"ended by {learned.ended}"
        note(f"the search {end}: the result is the best so far")

    def write() -> None:
        if options.output:
            keep_learned(partial(write_network, learned.network), options.output)
            note_written(columns.network, options.output)
        elif not options.json:
            note("nothing was written; -o FILE writes the network")

    with_all_notes = replace(learned, notes=(*columns.notes, *learned.notes))
    if options.json:
        text = json.dumps(structure_as_data(with_all_notes))
    else:
        text = structure_as_text(with_all_notes)
    deliver(options, text, write)
    return 130 if learned.ended == "interrupted" else 0


def _arguments(options: Namespace) -> dict[str, Any]:
    """What `lacunet.learn_structure` takes for either purpose; it refuses what is for the other."""
    return {
        "required": "; ".join(options.required),
        "forbidden": "; ".join(options.forbidden),
        "keep_pairs": tuple(options.keep_pairs),
        **options_for(options, "tiers max_parents method score strengths"),
        **options_for(options, "pseudo_counts memory"),
        "time_limit": time_limit_left(options),
    }


def _learn_for_imputation(options: Namespace, data: Data) -> int:
    """Learn a dense network, write it, and say how it was learned."""
    import numpy as np

    from lacunet.structure.learn_structure import learn_structure

    if options.output and not options.output.lower().endswith(ENDINGS):
        options.usage_error("a network for imputation is written to a .json file")
    model = learn_structure(
        data,
        purpose="imputation",
        rng=np.random.default_rng(options.seed),
        progress=progress_bar(),
        **_arguments(options),
        **options_for(options, "missingness"),
    )

    def write() -> None:
        if options.output:
            keep_learned(model.write, options.output)
        elif not options.json:
            note("nothing was written; -o FILE.json writes the network")

    known = {
        "variables": list(model.network.variables),
        "edges": list(map(list, model.edges)),
        "rows": model.rows,
        "missing": dict(model.missing),
        "ended": model.ended,
        "why": model.why,
        "notes": list(model.notes),
    }
    deliver(options, json.dumps(known) if options.json else f"{model!r}\n{model.why}", write)
    return 0

# ruff: noqa
# mypy: ignore-errors
"""Move the modules of the package into its rooms, by the map below; run once, then delete it.

    python scripts/move_rooms.py          # in a clean checkout; then read `git diff -M` and commit

It moves files with git, rewrites imports (those in bodies of functions too), dotted names in
strings, comments and documents, paths in documents, the stub with the public names, the import
contracts and the settings that name folders, and ends with ruff. Files that the move brings
(`docs/architecture.md`, `CONTRIBUTING.md`) lie in `scripts/rooms`. What it did not understand it
prints; the tests tell the rest.
"""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

PACKAGE = "lacunet"
DONE = "\0"  # in names that were rewritten, until all are
SOURCE = Path("src") / PACKAGE

# Old name below the package -> new one. A package moves with all in it; the longest name wins.
MOVES: dict[str, str] = {
    # root
    "wording": "text",
    "output": "atomic_files",
    "display": "text_tables",
    # network
    "model": "network",
    "model.aligned": "network.alignment",
    "model.asking": "network.askable",
    "model.intervals": "network.interval_names",
    "model.labelled": "network.labelled_tables",
    "model.table": "network.named_axes",
    "formats": "network.formats",
    "formats.catalogue": "network.catalogue",
    "formats.edges": "network.edge_texts",
    "bridges": "network.bridges",
    "building.edges": "network.edges",
    "data.keywords": "network.read_options",
    # data
    "data": "data",
    "data.given": "data.data",
    "data.reading": "data.column_rules",
    "data.typed": "data.query_text",
    "data.text": "data.delimited_text",
    "data.seen": "data.spellings",
    "data.coded": "data.scratch_rows",
    "data.counted": "data.copies_columns",
    "data.whole": "data.original_tables",
    "data.skips": "data.skipped_questions",
    "data.source": "data.source_parts",
    "data.files": "data.data_files",
    "building": "data",
    "building.network": "data.network_from_data",
    # counts
    "statistics": "counts",
    "statistics.solved": "counts.family_sums",
    "statistics.opened": "counts.open_rows",
    "statistics.missing": "counts.missing_values",
    "statistics.rows": "counts.distinct_rows",
    "statistics.streamed": "counts.streaming",
    "statistics.problems": "counts.em_problems",
    "statistics.problems.evidence": "counts.em_problems.coarsened_cells",
    "statistics.problems.layout": "counts.em_problems.cell_layout",
    # missingness
    "estimands": "missingness.formulas",
    "estimands.patterns": "missingness.formulas.pattern_odds",
    "estimands.shares": "missingness.formulas.pattern_shares",
    "missingness.asked": "missingness.learned.not_asked",
    "missingness.augmented": "missingness.augmented_network",
    "missingness.design_effect": "missingness.independence.design_effect",
    "missingness.fitted": "missingness.learned.from_rows",
    "missingness.gathered": "missingness.verdict_rows",
    "missingness.independence": "missingness.independence.stratified",
    "missingness.learn": "missingness.learned.learn_missingness",
    "missingness.mechanisms": "missingness.mechanism_cpts",
    "missingness.mutual": "missingness.learned.mutual",
    "missingness.text": "missingness.graph_text",
    "missingness.identified.intervals": "missingness.identified.set_intervals",
    "missingness.identified.sets": "missingness.identified.identified_sets",
    "missingness.recover.answers": "missingness.recover.decide",
    "missingness.refute.asked": "missingness.refute.ordered_query",
    "missingness.refute.printed": "missingness.refute.witness_text",
    # inference
    "inference.elimination.order": "inference.elimination.elimination_order",
    "inference.expectation.groups": "inference.expectation.message_groups",
    "inference.expectation.plan": "inference.expectation.expectation_plan",
    "inference.expectation.structure": "inference.expectation.steps",
    "simulation.sampling": "inference.sampling",
    # learning
    "estimate": "learning",
    "estimate.asked_pseudo_counts": "learning.pseudo_count_arguments",
    "estimate.count": "learning.count_rows",
    "estimate.deletion": "learning.closed_forms",
    "estimate.families": "learning.family_reports",
    "estimate.intervals": "learning.interval_recipes",
    "estimate.mechanisms": "learning.ignorable_mechanisms",
    "estimate.method": "learning.plan",
    "estimate.options": "learning.method_options",
    "estimate.registry": "learning.methods",
    "estimate.saved": "learning.result_json",
    "estimate.em.climb": "learning.em.iterations",
    "estimate.em.first_fit": "learning.em.with_learned_pseudo_counts",
    "estimate.em.fit": "learning.em.restarts",
    "estimate.em.labels": "learning.em.latent_state_order",
    "estimate.em.method": "learning.em.em",
    "estimate.em.on_graph": "learning.em.on_missingness_graph",
    "estimate.em.stage": "learning.em.em_stage",
    "estimate.em.uncertain": "learning.em.em_uncertainty",
    "uncertainty": "learning.uncertainty",
    "uncertainty.direct": "learning.uncertainty.frequencies",
    "uncertainty.recovered": "learning.uncertainty.by_formula",
    "uncertainty.searched": "learning.uncertainty.after_search",
    "uncertainty.spread": "learning.uncertainty.cpt_intervals",
    # ask
    "evaluate": "ask.evaluate",
    "uncertainty.effect": "ask.effect",
    "uncertainty.bounds": "ask.worst_case",
    "diagnosis": "ask.diagnose",
    "diagnosis.at_random": "ask.diagnose.at_random_tests",
    "diagnosis.on_graph": "ask.diagnose.em_on_learned_graph",
    "diagnosis.sensitivity": "ask.sensitivity.sensitivity",
    "diagnosis.tilted_query": "ask.sensitivity.tilted_query",
    "uncertainty.tilt": "ask.sensitivity.tilt",
    "estimate.em.tilted": "ask.sensitivity.tilted_em",
    "completion": "ask.predict",
    "completion.assumptions": "ask.predict.missingness_assumptions",
    "completion.bounds": "ask.predict.unsupported_bounds",
    "completion.mechanisms": "ask.predict.rows_with_mechanisms",
    "completion.rows": "ask.predict.completions",
    "completion.shares": "ask.predict.unsupported_shares",
    "imputation": "ask.impute",
    # structure
    "structure.chained": "structure.chained_completions",
    "structure.judge": "structure.judge_by_em",
    "structure.learn": "structure.learn_structure",
    "structure.mechanisms": "structure.mechanisms_of_rows",
    "structure.order": "structure.order_search",
    "structure.parents": "structure.scored_parents",
    "structure.polish": "structure.final_moves",
    "structure.region": "structure.affected_region",
    "structure.rows": "structure.indexed_rows",
    "structure.sets": "structure.set_scores",
    # show
    "report": "show",
    "report.diagnosed": "show.diagnosis_page",
    "report.evaluated": "show.evaluation_text",
    "report.explained": "show.formula_text",
    "report.network": "show.network_page",
    "report.plain": "show.plain_values",
    "report.simulated": "show.simulation_text",
    "report.structured": "show.structure_text",
    "report.learned": "show.results",
    "report.learned.methods": "show.results.methods_text",
    "report.learned.page": "show.results.result_page",
    "report.learned.sections": "show.results.page_sections",
    "report.learned.show": "show.results.show_result",
    "report.learned.tables": "show.results.cpt_tables",
    "report.learned.text": "show.results.result_text",
    "report.recovered": "show.verdicts",
    "report.recovered.page": "show.verdicts.verdict_page",
    "report.recovered.reported": "show.verdicts.verdict_on_data",
    "report.recovered.text": "show.verdicts.verdict_text",
    "pages": "show.pages",
    "pages.live": "show.pages.live_network",
    "figures": "show.figures",
    "figures.in_notebooks": "show.figures.notebook_figures",
    "figures.layout": "show.figures.node_layout",
    "figures.network": "show.figures.network_figure",
    "studio": "show.studio",
    "studio.columns": "show.studio.column_proposals",
    "studio.page": "show.studio.studio_page",
    "studio.reading": "show.studio.file_proposals",
    # cli
    "cli.answering": "cli.known_networks",
    "cli.asked": "cli.inputs",
    "cli.building": "cli.typed_networks",
    "cli.files": "cli.typed_files",
}

# Modules that become one: the new name, its docstring, the old names in order.
MERGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "limits": (
        """How much time, memory and threads there are to work with: each is an argument.

Long work asks, between its parts, whether it may go on (`Deadline`), and what is laid out in memory
asks first what may be used (`memory_budget`). Only PyArrow starts threads that count.
""",
        ("deadline", "memory", "threads"),
    ),
}

# Folders of files that are no modules.
FOLDERS = {
    "networks": "network/bundled",
    "tables": "data/bundled",
    "pages/assets": "show/pages/assets",
}

# The docstring of each package: what it is, and in which order to read it.
PACKAGES: dict[str, str] = {
    "network": """What may be: variables with their states, a DAG and CPTs, and how they are written.

Read `network` (the noun) and `dictionary` (what values in data mean); `askable` is what a network
answers, as methods that import what carries them out. `named_axes` are the tables that everything
computes with, `labelled_tables` those that people read; `nodes` says how nodes are written,
`mechanisms` how a network keeps how values went missing. `edges` reads edges in any language,
`edge_texts` tells edges from files and names; `formats/` are network files, `catalogue` the bundled
networks, `bridges` other libraries.
""",
    "network.formats": """Network files, one module per format.

`files` chooses by the file's name, `source` is a text with line numbers, `draft` the checks that
all formats share; `endings` is the table of formats.
""",
    "data": """The door, both ways: any dataframe or file becomes columns of codes, and rows go out again.

`data` is the noun: rows, and how they are read. In: `source_parts` (parts and pieces),
`data_files`, `delimited_text`, `frames` and `databases` (where they come from), `column_rules`
(which column gives which variable, by which rules), `matching` and `encode` (values to codes),
`batches`, and `read`, the way in; `table` is the result. `stream` reads rows that memory does not
hold, `scratch_rows` keeps them as codes in a scratch folder. Without a network: `states`, `bins` and
`proposals` say what columns show, `raw_columns` how to read those that are no variables as they are, `network_from_data` makes a network of it, and `network_or_edges`
tells which is meant. Out: `write`, and `original_tables` for frames that are given back as they
came, in their own `spellings` and with missing cells as `fill` writes them. `examples` are the
bundled tables. Questions come in by `query_text` and `evidence` (the values in them).
""",
    "counts": """What is counted, and by whom; all of it adds up.

`distinct` packs configurations into keys, `counts` are the result, `count` the in-memory engine;
`groups` are rows that agree on some variables, `family_sums` what they say of a family,
`distinct_rows` the rows over a few variables, `folds` divides rows between samples, `units` are
those of a survey, `missing_values` sums up what is missing; `em_problems/` compiles rows for EM.
`gather` makes what a plan needs of all of these: `Needs` in, `Statistics` out. `observations` are
the rows to gather from, wherever they are: held, read in passes (`passes`, `streaming`), or on `spark`.
`open_rows` opens a network and its data together: the one door of all that learns, counts or asks.
""",
    "counts.em_problems": """Incomplete rows compiled for EM.

`compile` reads rows into problems, `connected` finds what belongs together in them, `cell_layout`
says where every CPT's cells are, `ragged` holds lists of unequal length end to end,
`coarsened_cells` what is known of a cell that does not show its state.
""",
    "missingness": """Missingness graphs: categories, separators, recoverability, tests.

`graph` has the noun. Below it: `graph_text` (how one is written), `separation/` (what it
separates), `formulas/` (what is estimated, as values), `recover/` (is there an estimand?),
`refute/` (is there a proof that there is none?), `identified/` (and for the states at hand?),
`verdict_rows` (the rows that it takes), `population` (laws from elsewhere), `verdict` (the answer,
and the estimate). On top of it: `implications` (what data can refute, tested by `independence/`),
`mechanism_cpts` (graphs with their parameters), `learned/` (graphs from data), `augmented_network`
(mechanisms as nodes of a network), `confounding` (what hidden causes leave of a network's answers). `limits`
has how far the searches for estimands and for proofs go.
""",
    "missingness.formulas": """One language for every formula: what is estimated, in words, in LaTeX, and computed.

Read in this order: `notation` (the symbols), `samples` (weighted rows and the propensities that
weigh them), `terms` (every term with its words, columns and computation), `pattern_odds` (the odds
of missingness patterns), `pattern_shares` (mechanisms as variables), `deletion` (the closed forms).
""",
    "missingness.identified": """What the numbers of states at hand identify, and how far.

"Not recoverable" is said of all numbers of states. `generic` decides for those of a network
whether a query is identified all the same, near almost every model. Where it is not,
`identified_sets` follows the models that look the same to the lowest and the highest answer.
`assumptions` does both for the graph with each edge that it does not have.
""",
    "missingness.independence": """Tests of independence: within strata, and in a survey with a design.""",
    "missingness.learned": """Missingness graphs learned from rows.

`from_rows` finds what decides whether a value is shown, from a table; `learn_missingness` from any
data and within a time limit. `mutual` are values that decide on each other, `not_asked` which rows
tell why cells are empty where questions were not asked of all.
""",
    "missingness.recover": """Is there an estimand? `decide` asks; the others search, from the plainest formula on.

`chain` goes by the chain rule, `fix_and_select` and `propensity` are the search below it,
`by_mechanisms` searches once more, with mechanisms as variables.
""",
    "missingness.refute": """Is there a proof that there is none? A `witness` is a pair of models, found along a `tangent`.

`submodels` are small graphs, a `grid` has their configurations, and `models` are the laws on it;
`ordered_query` is the query, `witness_text` the pair for people to read.
""",
    "missingness.separation": """What a missingness graph separates.

`mixed` graphs, the `drawing` over a network with its category, `separator` sets.
""",
    "inference": """What a network says: expectations over compiled problems, queries, likelihoods, samples.

`expectation/` is the exact E-step, `loopy` the approximate one, `engine` the face of both;
`elimination/` has orders and the junction tree, which `joint` and `query` ask; an `answer` is what
comes back, `unsupported` how far CPT rows without data could move it. `likelihood` scores rows,
`sampling` draws them.
""",
    "inference.elimination": """In which order variables are summed out, and the junction tree for queries.

`elimination_order` finds orders for one graph, `batched` for thousands of components at once;
`junction_tree` plans and passes messages.
""",
    "inference.expectation": """The E-step: expected counts of compiled problems, exactly.

Read `steps` (those that eliminate a component), `messages` (equal sub-expressions once), `shards`
and `message_groups` (laid out in arrays), `expectation_plan` (within a budget), then `expect`, the
step itself; `forecast` says what it will cost; `draw` gives posteriors, draws and best completions.
""",
    "learning": """How CPTs are learned: `learn` is the road itself, plan, count, estimate.

`plan` says what every method takes and gives, `family_reports` what is said of a CPT, `cpts` makes
every CPT and its report, `method_options` and `pseudo_count_arguments` check what users ask for.
`closed_forms/` are the estimators by counts, `em/` the iteration, `auto` chooses, `mgraph` follows a
missingness graph by `recovery`. `methods` knows them by name; `explain` prints a plan;
`interval_recipes` says how sure, by what is in `uncertainty/`. A `result` is what comes out,
`result_json` its file. `count_rows` counts now, to learn later. The help text of a method's option
stands beside the option, in the method's class.
""",
    "learning.closed_forms": """The closed forms: one function per estimator, with the shape of its equation.

`direct` and `factored` deletion estimate the joint of a family from its counts (MCAR) or within
groups of rows (MAR), `by_groups` puts the groups together; the `lattice` is what factored
deletion walks, and `influence` is how much each row moves what they say. `forms` is the table of
all of them: a new one is a file and a row.
""",
    "learning.em": """EM that reads the data once.

`em` is the way in; `start` says where it begins, `iterations` climbs from one start, `restarts`
makes several and keeps the best, `em_stage` brings the statistics to them.
`with_learned_pseudo_counts` learns the prior on the way, `latent_state_order` orders states that no
row shows, `on_missingness_graph` makes mechanisms observed nodes, `em_uncertainty` says how sure it is.
""",
    "learning.uncertainty": """How sure a number is: standard errors, effective sizes and intervals.

Read `cpt_intervals` first: the one value that everything here ends in. Then where a variance comes
from: `frequencies` (direct deletion, by counts), `rate_matrix` (EM, without rows), `jackknife`
(everything else), `by_formula` (what a missingness graph recovers), `after_search` (edges that were
learned, too), `posterior` (what rows and experts leave open). `delta` carries them over to the
answers of queries.
""",
    "ask": """Answers to questions, by a network and by rows.

`effect` (of setting a variable), `worst_case` (if nothing is assumed about why values are missing),
`evaluate` (how good a network is); `predict/` and `impute/` for every row, `diagnose/` before anything
is learned, `sensitivity/` for what if values are not missing at random. The query itself is in
`lacunet.inference`.
""",
    "ask.diagnose": """What is missing, how, and what that permits: looked at before anything is learned.

`patterns` counts what is missing together; `at_random_tests` asks whether values are missing
completely at random, or at random; `em_on_learned_graph` whether another method would say something
else; `diagnosis` puts it all together and says it in words.
""",
    "ask.impute": """Multiple imputation: parameters are drawn, then completions, then estimates are pooled.

Read `pool` (Rubin's rules), `draws` (networks drawn from what is known about the parameters), then
`impute` (rows in memory) and `pieces` (files, some rows at a time).
""",
    "ask.predict": """What a network says about every row: posteriors, and completions of what rows do not show.

Read `completions` (the problems that each row has, completions as codes), `posteriors` (as arrays,
with what they owe to CPT rows without data) and `unsupported_bounds` (how far these could move
them), then `predictor` (a network made ready to predict, one row or many) and `predict`, which reads
dataframes and files for it; `rows_with_mechanisms` makes what a row misses evidence.
""",
    "ask.sensitivity": """How far an answer moves if values are not missing at random.

`tilt` lets hidden values differ from shown ones by a stated amount, `tilted_em` is EM under it,
`tilted_query` what is asked; `sensitivity` puts it together: a table, a curve, words.
""",
    "structure": """The network itself from data, complete or not.

Read `cpdag` (what data can tell of a DAG), `indexed_rows`, `gains` and `ges` (the closed-form
seed), `scored_parents` and `order_search` (scored parent sets, and the search over orders of the
variables), `search` (the two together, for complete rows), `judge_by_em` and `penalty` (the exact
score of the observed cells), `final_moves`, and `learn_structure`, which puts them together;
`columns`, `knowledge` and `mechanisms_of_rows` prepare what the user gives, `strengths` says how
sure each arc is.
""",
    "simulation": """Hiding values, and simulated data.

Read `at_random` and `by_graph` (mechanisms), then `simulate`, which hides values as mechanisms say
and is the way in. Rows are drawn by `lacunet.inference.sampling`.
""",
    "show": """Each result, for people (text), for programs (data) and in a browser (a page).

One place per kind of result: `results/` (of learning), `verdicts/`, `network_page` (a network as it
is, or two side by side), `diagnosis_page`, `evaluation_text`, `formula_text`, `simulation_text`,
`structure_text`; `plain_values` makes data of values. `pages/` is what every page is made of,
`figures/` what is drawn, `studio/` the whole work on a local page.
""",
    "show.figures": """Figures: each is drawn once, for pages and for papers.

Read in this order: `shapes` (lines, boxes, discs and words with a style each, and the picture
they make: SVG by itself, PDF and PNG by matplotlib), `charts` (lines, ranges, patterns of
missing values, heat maps, forest plots), `node_layout` (where the nodes of a graph go),
`network_figure` (a network with what is missing of it), `notebook_figures` (nouns in a notebook).
""",
    "show.pages": """Pages: what one self-contained HTML file is made of, whatever it tells.

Read in this order: `kit` (the frame every page shares: policy, escaping, tables, tiles, writing),
`numbers` (what a page carries, packed), `live_network` (the network of a page, and how the browser
asks it), `provenance` (where a page comes from; every page of a result is put together there),
`notebook` (a page inside a notebook). What runs in the browser is in `assets`.

A page makes no request, opens from disk, and shows every name as text.
""",
    "show.results": """A result of learning: in words and as data, as a page, as tables and sentences for a paper.

`result_text` is what the command line prints, `result_page` the page with its `page_sections` (what
is missing, how EM went, the complete rows against the result), `cpt_tables` and `methods_text` are for
papers, `show_result` makes pages from Python.
""",
    "show.studio": """The studio: a local page on which a table becomes an answer, and the code that does the same.

Read in this order: `project` (what the user has said, as one value), `folder` (the files that
may be seen), `sketch` (a network and its mechanisms as one text, and the verdicts on them),
`file_proposals` and `column_proposals` (what a file and its columns seem to hold), `commands` (a
project as shell commands and as Python), `runs` (these commands, run in a process of their own),
`server` (who may ask what), `studio_page` (the page itself; what runs in it is
``show/pages/assets/studio.js``).

There is no second way: learning, diagnosing and drawing pages are the commands that the studio
exports. Here are only what must answer while the user draws, and the door.
""",
    "show.verdicts": """Verdicts on a missingness graph: in words and as data, and as a page.

`verdict_on_data` is a verdict together with its estimate or identified set; `verdict_text` and
`verdict_page` show it.
""",
    "cli": """The command line: one thin function a command, in a file with the command's name.

`parsing` reads what is typed; `options` are the arguments that commands share, `values`,
`typed_files`, `typed_networks`, `known_networks` and `inputs` what becomes of them; `output` and
`terminal` are where results and notes go.

Results go to stdout; progress, notes and errors to stderr, as JSON if the progress is. Exit codes:
0 done, 1 a problem with the input (a message, no traceback), 2 wrong usage, 130 interrupted, 143
stopped by SIGTERM.
""",
}

# Old folder or file of tests -> new one; the longest name wins.
TESTS: dict[str, str] = {
    "model": "network",
    "formats": "network/formats",
    "bridges": "network",
    "building": "data",
    "building/test_edges.py": "network/test_edges.py",
    "simulation/test_catalogue.py": "network/test_catalogue.py",
    "data/test_given.py": "data/test_data.py",
    "statistics": "counts",
    "statistics/test_counted.py": "learning/test_count_rows.py",
    "statistics/test_missing.py": "counts/test_missing_values.py",
    "statistics/test_streamed.py": "counts/test_streaming.py",
    "estimands/test_deletion.py": "missingness/test_deletion_formulas.py",
    "simulation/test_sampling.py": "inference/test_sampling.py",
    "estimate": "learning",
    "estimate/test_saved.py": "learning/test_result_json.py",
    "uncertainty": "learning",
    "uncertainty/test_bounds.py": "ask/test_worst_case.py",
    "uncertainty/test_effect.py": "ask/test_effect.py",
    "uncertainty/test_nhanes.py": "ask/test_nhanes.py",
    "uncertainty/test_searched.py": "learning/test_after_search.py",
    "uncertainty/test_spread.py": "learning/test_cpt_intervals.py",
    "uncertainty/test_tilt.py": "ask/test_tilt.py",
    "completion": "ask",
    "completion/test_mechanisms.py": "ask/test_rows_with_mechanisms.py",
    "completion/test_rows.py": "ask/test_completions.py",
    "imputation": "ask",
    "diagnosis": "ask",
    "evaluate": "ask",
    "structure/test_chained.py": "structure/test_chained_completions.py",
    "structure/test_judge.py": "structure/test_judge_by_em.py",
    "structure/test_sets.py": "structure/test_set_scores.py",
    "report": "show",
    "pages": "show",
    "figures": "show",
    "studio": "show",
    "learning.py": "road.py",
    "test_deadline.py": "test_limits.py",
    "test_output.py": "test_atomic_files.py",
    "test_display.py": "test_text_tables.py",
}

# Modules of the tests that are imported by another name now.
TEST_MODULES = {"learning": "road"}

# Pieces of settings, as they are once paths were rewritten: (file, old, new).
SETTINGS: list[tuple[str, str, str]] = [
    ("pyproject.toml", '"tests/show", "tests/show"]', '"tests/show"]'),
    ("tests/mypy.ini", "tests/show, tests/show, ", "tests/show, "),
    ("Makefile", "tests/network tests/network/formats ", "tests/network "),
    (
        "src/lacunet/inference/expectation/draw.py",
        "The steps of `structure` eliminate a component.",
        "The `steps` eliminate a component.",
    ),
    (
        "tests/test_names.py",
        "# Words that could name any value",
        '''def test_no_two_modules_have_one_name() -> None:
    """But for those of every room, and for commands, which are called like what they run."""
    modules = [path for path in SOURCE.rglob("*.py") if not path.name.startswith("__")]
    places = defaultdict(list)
    for path in sorted(modules):
        room = path.relative_to(SOURCE).parts[0]
        if room != "cli" and path.stem not in {"errors", "limits"}:
            places[path.stem].append(str(path.relative_to(SOURCE)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


# Words that could name any value''',
    ),
    ("scripts/bundle_networks.py", '.parent / "networks"', '.parent / "network" / "bundled"'),
    ("scripts/bundle_tables.py", '/ "lacunet" / "tables"', '/ "lacunet" / "data" / "bundled"'),
]

CONTRACTS = """
[tool.importlinter]
root_packages = ["lacunet", "studies"]
exclude_type_checking_imports = true  # a method's annotation may name what it returns

# Methods of the nouns import what carries them out in their bodies, each in a line of its own here.
[[tool.importlinter.contracts]]
name = "Rooms: imports point backwards along the road"
type = "layers"
exhaustive = true
containers = ["lacunet"]
exhaustive_ignores = ["__main__"]
ignore_imports = [
  "lacunet.network.network -> lacunet.data.network_from_data",  # Network.from_data
  "lacunet.network.network -> lacunet.structure.cpdag",  # Network.cpdag
  "lacunet.network.network -> lacunet.show.figures.notebook_figures",  # a network in a notebook
  "lacunet.network.askable -> lacunet.inference.query",  # Network.query, marginals
  "lacunet.network.askable -> lacunet.inference.likelihood",  # Network.log_likelihood
  "lacunet.network.askable -> lacunet.ask.effect",  # Network.effect
  "lacunet.network.askable -> lacunet.ask.predict.predict",  # Network.predict
  "lacunet.network.askable -> lacunet.ask.predict.predictor",  # Network.compile
  "lacunet.network.askable -> lacunet.ask.impute.impute",  # Network.impute
  "lacunet.network.askable -> lacunet.simulation.simulate",  # Network.sample
  "lacunet.network.read_options -> lacunet.data.data",  # what methods refuse beside Data
  "lacunet.network.formats.files -> lacunet.learning.result",  # a result's file as a network
  "lacunet.missingness.graph -> lacunet.ask.effect",  # MissingnessGraph.effect
  "lacunet.missingness.graph -> lacunet.show.figures.notebook_figures",  # a graph in a notebook
  "lacunet.missingness.verdict -> lacunet.learning.uncertainty.by_formula",  # Verdict.estimate
  "lacunet.learning.result -> lacunet.ask.worst_case",  # Result.worst_case
  "lacunet.learning.result -> lacunet.show.results.*",  # Result.show, report, table, methods_text
  "lacunet.structure.learn_structure -> lacunet.show.structure_text",  # print of a structure
  "lacunet.structure.learn_structure -> lacunet.show.figures.notebook_figures",  # in a notebook
]
layers = [
  "cli",
  "show : plots : demo",
  "simulation | sklearn",
  "structure",
  "ask",
  "learning",
  "inference",
  "missingness",
  "counts",
  "data",
  "network",
  "errors : text : text_tables : progress : limits : randomness : atomic_files",
]

[[tool.importlinter.contracts]]
name = "Inside learning: imports point towards the counts"
type = "layers"
exhaustive = true
containers = ["lacunet.learning"]
ignore_imports = [
  "lacunet.network.* -> lacunet.**",  # methods of nouns, as above
  "lacunet.network.formats.files -> lacunet.learning.result",
  "lacunet.missingness.graph -> lacunet.ask.effect",
  "lacunet.missingness.graph -> lacunet.show.figures.notebook_figures",
  "lacunet.missingness.verdict -> lacunet.learning.uncertainty.by_formula",
  "lacunet.learning.result -> lacunet.ask.worst_case",
  "lacunet.learning.result -> lacunet.show.results.*",
]
layers = [
  "explain",
  "learn",
  "result | count_rows",
  "result_json",
  "notes",
  "interval_recipes",
  "methods",
  "mgraph",
  "auto",
  "em",
  "ignorable_mechanisms | recovery",
  "closed_forms",
  "cpts | method_options | pseudo_count_arguments",
  "uncertainty",
  "plan",
  "family_reports | pseudo_counts",
]

[[tool.importlinter.contracts]]
name = "Inside inference: queries and likelihoods sit on the two engines"
type = "layers"
exhaustive = true
containers = ["lacunet.inference"]
ignore_imports = [
  "lacunet.network.* -> lacunet.**",  # methods of nouns, as above
  "lacunet.network.formats.files -> lacunet.learning.result",
  "lacunet.missingness.graph -> lacunet.ask.effect",
  "lacunet.missingness.graph -> lacunet.show.figures.notebook_figures",
  "lacunet.missingness.verdict -> lacunet.learning.uncertainty.by_formula",
]
layers = [
  "query | likelihood | sampling",
  "unsupported",
  "answer | joint",
  "engine",
  "loopy",
  "expectation",
  "elimination",
  "errors",
]

[[tool.importlinter.contracts]]
name = "Inside missingness: the graph sits on the searches, they on formulas and what separates"
type = "layers"
exhaustive = true
containers = ["lacunet.missingness"]
ignore_imports = [
  "lacunet.network.* -> lacunet.**",  # methods of nouns, as above
  "lacunet.network.formats.files -> lacunet.learning.result",
  "lacunet.missingness.graph -> lacunet.ask.effect",
  "lacunet.missingness.graph -> lacunet.show.figures.notebook_figures",
  "lacunet.missingness.verdict -> lacunet.learning.uncertainty.by_formula",
]
layers = [
  "learned",
  "mechanism_cpts | implications | augmented_network | confounding",
  "graph",
  "recover",
  "verdict",
  "identified | verdict_rows | population",
  "refute",
  "separation",
  "graph_text",
  "formulas | independence",
  "errors | limits",
]

[[tool.importlinter.contracts]]
name = "Inside missingness.recover: answers on the chain rule on fix and select"
type = "layers"
exhaustive = true
containers = ["lacunet.missingness.recover"]
ignore_imports = [
  "lacunet.network.* -> lacunet.**",  # methods of nouns, as above
  "lacunet.network.formats.files -> lacunet.learning.result",
  "lacunet.missingness.graph -> lacunet.ask.effect",
  "lacunet.missingness.graph -> lacunet.show.figures.notebook_figures",
  "lacunet.missingness.verdict -> lacunet.learning.uncertainty.by_formula",
]
layers = [
  "decide | full_law",
  "monotone",
  "chain",
  "effects",
  "fix_and_select",
  "by_mechanisms",
  "queries | propensity",
]

[[tool.importlinter.contracts]]
name = "Inside show: results on pages on figures"
type = "layers"
containers = ["lacunet.show"]
ignore_imports = [
  "lacunet.network.* -> lacunet.**",  # methods of nouns, as above
  "lacunet.network.formats.files -> lacunet.learning.result",
  "lacunet.missingness.graph -> lacunet.ask.effect",
  "lacunet.missingness.graph -> lacunet.show.figures.notebook_figures",
  "lacunet.missingness.verdict -> lacunet.learning.uncertainty.by_formula",
  "lacunet.learning.result -> lacunet.ask.worst_case",
  "lacunet.learning.result -> lacunet.show.results.*",
  "lacunet.structure.learn_structure -> lacunet.show.structure_text",
  "lacunet.structure.learn_structure -> lacunet.show.figures.notebook_figures",
]
layers = ["studio", "results : verdicts", "pages", "figures"]

[[tool.importlinter.contracts]]
name = "Rules of what was not asked are applied to rows where these are read"
type = "forbidden"
source_modules = [
  "lacunet.counts",
  "lacunet.missingness.formulas",
  "lacunet.inference",
  "lacunet.learning",
  "lacunet.ask.impute",
  "lacunet.ask.sensitivity",
  "lacunet.ask.worst_case",
  "lacunet.ask.effect",
  "lacunet.structure",
]
forbidden_modules = ["lacunet.data.skipped_questions"]
allow_indirect_imports = true

"""

PLACES = ("src", "tests", "docs", "scripts", "benchmarks", "studies", "fuzz")
TEXTS = (".md", ".rst", ".toml", ".txt", ".yaml", ".yml", ".ini")


# ---- names


def dotted(path: Path) -> str:
    """The name of a module below the package; "" for the package itself."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def moved(name: str) -> str:
    """The new name of a module or package, by the longest name that the map has of it."""
    for new, (_, olds) in MERGES.items():
        if name in olds:
            return new
    head = name
    while head:
        if head in MOVES:
            return MOVES[head] + name[len(head) :]
        head = head.rpartition(".")[0]
    return name


def moved_folder(name: str) -> str:
    """The new place of a folder of files, or of a file in one, as a path."""
    for old, new in FOLDERS.items():
        if name == old or name.startswith(f"{old}/"):
            return new + name[len(old) :]
    return name


def moved_test(name: str) -> str:
    """The new place of a file of tests, below their folder."""
    head = name
    while head:
        if head in TESTS:
            return TESTS[head] + name[len(head) :]
        head = head.rpartition("/")[0]
    return name


# ---- the rewriting of one file


def rewritten_imports(text: str, old_modules: set[str], path: str) -> str:
    """The text with every `from package...` import taken from where its names are now."""
    lines = text.splitlines(keepends=True)
    renamed: dict[str, str] = {}
    scope_of: dict[str, ast.AST] = {}
    tree = ast.parse(text)
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.Lambda)]

    def function_around(node):
        """The innermost function that a node is in; the module if there is none."""
        around = [f for f in functions if f.lineno <= node.lineno <= f.end_lineno]
        return max(around, key=lambda f: f.lineno, default=tree)

    edits: list[tuple[int, int, str]] = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or node.level or node.module is None:
            continue
        if node.module.partition(".")[0] != PACKAGE:
            continue
        module = node.module[len(PACKAGE) + 1 :]
        wanted: dict[str, list[str]] = {}
        for alias in node.names:
            name, as_name = alias.name, alias.asname
            full = f"{module}.{name}" if module else name
            if full in old_modules:
                home, _, last = moved(full).rpartition(".")
                if last != name and as_name is None:
                    renamed[name] = last
                    scope_of[name] = function_around(node)
                name = last
            elif module:
                home = moved(module)
            else:
                home = ""
            wanted.setdefault(home, []).append(f"{name} as {as_name}" if as_name else name)
        if [*wanted] == [module] and not renamed.keys() & {alias.name for alias in node.names}:
            continue
        first, last_line = node.lineno - 1, node.end_lineno or node.lineno
        old = "".join(lines[first:last_line])
        comments = re.findall(r"#[^\n]*", old)
        if len(comments) > 1 or (comments and last_line - first > 1):
            print(f"{path}:{node.lineno}: comments inside an import: {comments}")
        indent = old[: len(old) - len(old.lstrip())]
        new = ""
        for home, names in wanted.items():
            source = f"{PACKAGE}{DONE}.{home}" if home else PACKAGE
            behind = f"  {comments[0]}" if comments and not new else ""
            new += f"{indent}from {source} import {', '.join(names)}{behind}\n"
        edits.append((first, last_line, new))
    # names of modules that are used in the file
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in renamed:
            if any(first < node.lineno <= last for first, last, _ in edits):
                continue
            scope, inner = scope_of[node.id], function_around(node)
            if scope is not tree and not scope.lineno <= node.lineno <= scope.end_lineno:
                continue
            if inner is not tree and node.id in {arg.arg for arg in inner.args.args}:
                continue
            line = lines[node.lineno - 1].encode()
            start, end = node.col_offset, node.end_col_offset or 0
            if line[start:end].decode() != node.id:
                continue  # rewritten before
            edits.append((node.lineno - 1, -node.col_offset - 1, renamed[node.id]))
    for first, last_line, new in sorted(
        edits, key=lambda edit: (edit[0], abs(edit[1])), reverse=True
    ):
        if last_line < 0:
            start = -last_line - 1
            encoded = lines[first].encode()
            name = re.match(rb"\w+", encoded[start:])
            assert name is not None
            lines[first] = (
                encoded[:start] + new.encode() + encoded[start + len(name[0]) :]
            ).decode()
        else:
            lines[first:last_line] = [new]
    return "".join(lines)


def rewritten_names(text: str, old_modules: set[str]) -> str:
    """The text with dotted names of modules, and what is in them, as they are now."""
    folders = {name.replace("/", "."): new.replace("/", ".") for name, new in FOLDERS.items()}

    def now(match: re.Match[str]) -> str:
        words = match[1].split(".")
        for length in range(len(words), 0, -1):
            head, rest = ".".join(words[:length]), words[length:]
            if head in old_modules or head in folders:
                new = folders.get(head) or moved(head)
                return ".".join([PACKAGE, new, *rest])
        return match[0]

    return re.sub(rf"(?<![\w.@/]){PACKAGE}\.([a-z_]+(?:\.[a-z_]+)*)", now, text)


def rewritten_paths(text: str, old_files: set[str]) -> str:
    """The text with paths of modules and tests as they are now.

    A path is from the top of the repository, or, in the words of this code, from the package.
    """

    def new_path(path: str) -> str:
        folder = path.endswith("/")
        path = path.rstrip("/")
        if (new := moved_folder(path)) == path:
            stem, suffix = (path[:-3], ".py") if path.endswith(".py") else (path, "")
            new = moved(stem.replace("/", ".")).replace(".", "/") + suffix
        return new + "/" * folder

    def from_top(match: re.Match[str]) -> str:
        return f"src/{PACKAGE}/{new_path(match[1])}"

    def from_package(match: re.Match[str]) -> str:
        return new_path(match[0]) if match[0] in old_files else match[0]

    text = re.sub(rf"\bsrc/{PACKAGE}/([a-z_/]+(?:\.py)?)", from_top, text)
    text = re.sub(r"(?<![\w./-])[a-z_]+(?:/[a-z_]+)+\.(?:py|js|css)\b", from_package, text)
    return re.sub(r"(?<![\w/])tests/([\w/]+(?:\.py)?)", lambda m: f"tests/{moved_test(m[1])}", text)


def refilled(text: str, before: str) -> str:
    """The text with paragraphs of prose filled anew where longer names made lines too long."""
    old, lines = {*before.splitlines()}, text.splitlines()
    at = 0
    while at < len(lines):
        line = lines[at]
        if len(line) <= 100 or line in old or line.lstrip().startswith(("from ", "import ")):
            at += 1
            continue
        start = re.match(r"\s*(?:# )?", line)[0]
        end = at + 1
        while (
            end < len(lines)
            and lines[end].startswith(start)
            and re.match(r"[\w`:(\\\"']", lines[end][len(start) :])
            and not lines[end][len(start) :].startswith('"""')
        ):
            end += 1
        words = " ".join(part[len(start) :] for part in lines[at:end])
        if not re.match(r"[\w`:(\\]", line[len(start) :]) or '"""' in words or " = " in line:
            print(f"too long, left as it is: {line.strip()}")
            at += 1
            continue
        lines[at:end] = textwrap.wrap(
            words,
            100,
            initial_indent=start,
            subsequent_indent=start,
            break_on_hyphens=False,
            break_long_words=False,
        )
    return "\n".join(lines) + "\n" * text.endswith("\n")


def rewritten_reference(text: str, old_modules: set[str]) -> str:
    """A page of the reference: its names are below the package."""
    before, mark, names = text.partition(".. public-names::")

    def now(match: re.Match[str]) -> str:
        room, _, last = match[0].rpartition(".")
        return f"{moved(room)}.{last}" if room in old_modules else match[0]

    return before + mark + re.sub(r"(?<![\w.])[a-z_.]+\.[A-Z]\w*", now, names)


def rewritten_stub(text: str) -> str:
    """The stub of the package, whose imports are relative to it."""
    return re.sub(
        r"^from \.([\w.]+) import", lambda m: f"from .{moved(m[1])} import", text, flags=re.M
    )


def merged(docstring: str, texts: list[str]) -> str:
    """Several modules as one: their imports, then their bodies, in order."""
    imports: list[str] = []
    bodies: list[str] = []
    for text in texts:
        lines = text.splitlines()
        body = ast.parse(text).body
        taken: set[int] = set()
        for index, node in enumerate(body):
            is_docstring = index == 0 and isinstance(node, ast.Expr)
            if is_docstring or isinstance(node, ast.Import | ast.ImportFrom):
                span = range(node.lineno - 1, node.end_lineno or node.lineno)
                taken.update(span)
                if not is_docstring:
                    imports += [lines[at] for at in span]
        bodies.append("\n".join(line for at, line in enumerate(lines) if at not in taken).strip())
    future = [line for line in dict.fromkeys(imports) if "__future__" in line]
    others = [line for line in imports if line not in future]
    head = "\n".join([*future, "", *others])
    return f"{wrapped(docstring)}\n{head}\n\n" + "\n\n\n".join(bodies) + "\n"


# ---- the move


def wrapped(docstring: str) -> str:
    """A docstring with its quotes, in lines of at most a hundred characters."""
    first, *others = docstring.strip().split("\n\n")
    if len(first) > 97:
        print(f"too long: {first!r}")
    paragraphs = [first, *(textwrap.fill(paragraph, 100) for paragraph in others)]
    return '"""' + "\n\n".join(paragraphs) + "\n" * (len(paragraphs) > 1) + '"""\n'


def git(*words: str) -> str:
    """Run git, and give what it prints."""
    return subprocess.run(["git", *words], check=True, capture_output=True, text=True).stdout


def move(old: Path, new: Path) -> None:
    """Move a file, and make the folder that it goes to."""
    new.parent.mkdir(parents=True, exist_ok=True)
    git("mv", str(old), str(new))


def files() -> Iterator[Path]:
    """Every file that is kept."""
    yield from map(Path, git("ls-files").splitlines())


def main() -> None:
    """Move everything."""
    if shutil.which("ruff") is None:
        sys.exit("ruff is not on the path")
    if git("status", "--porcelain", "--untracked-files=no"):
        sys.exit("the checkout is not clean")
    kept = [*files()]
    modules = {
        dotted(path): path for path in kept if path.is_relative_to(SOURCE) and path.suffix == ".py"
    }
    old_modules = {name for name in modules if name} | {"__main__"}
    old_files = {str(path.relative_to(SOURCE)) for path in kept if path.is_relative_to(SOURCE)}
    for name in old_modules:
        if (new := moved(name)) != name and new in old_modules and moved(new) != new:
            sys.exit(f"{name} becomes {new}, which is itself moved to {moved(new)}")

    # What is written in them.
    itself = Path(__file__).resolve()
    for path in kept:
        is_code, is_text = (
            path.suffix in {".py", ".pyi"},
            path.suffix in TEXTS or path.name in ("Makefile", "NOTICE"),
        )
        if path.resolve() == itself or "cases" in path.parts or not (is_code or is_text):
            continue
        if (
            path.parts[0] == "scripts"
            and path.parts[1:2] == ("rooms",)
            or path.name == "CHANGELOG.md"
        ):
            continue
        text = old = path.read_text(encoding="utf-8")
        if path.suffix == ".py":
            text = rewritten_imports(text, old_modules, str(path))
        if path.suffix == ".pyi":
            text = rewritten_stub(text)
        text = rewritten_paths(rewritten_names(text, old_modules), old_files).replace(DONE, "")
        if path.suffix == ".py":
            text = refilled(text, old)
        if path.suffix == ".rst":
            text = rewritten_reference(text, old_modules)
        if path.is_relative_to("tests") and path.suffix == ".py":
            for name, new in TEST_MODULES.items():
                text = re.sub(rf"^from {name} import", f"from {new} import", text, flags=re.M)
            place = Path("tests") / moved_test(str(path.relative_to("tests")))
            deeper = len(place.parts) - len(path.parts)
            text = re.sub(
                r"(Path\(__file__\)(?:\.resolve\(\))?\.parents\[)(\d+)\]",
                lambda match, deeper=deeper: f"{match[1]}{int(match[2]) + deeper}]",  # type: ignore[misc]
                text,
            )
        if text != old:
            path.write_text(text, encoding="utf-8")

    # Where they are.
    for new, (docstring, olds) in MERGES.items():
        paths = [modules[old] for old in olds if old in modules]
        text = merged(docstring, [path.read_text(encoding="utf-8") for path in paths])
        text = re.sub(rf"^from {PACKAGE}\.{new} import .*\n", "", text, flags=re.M)
        move(paths[0], SOURCE / f"{new}.py")
        for path in paths[1:]:
            git("rm", "-qf", str(path))
        (SOURCE / f"{new}.py").write_text(text, encoding="utf-8")
    merged_away = {old for _, olds in MERGES.values() for old in olds}
    for path in kept:
        if not path.is_relative_to(SOURCE):
            continue
        inside = str(path.relative_to(SOURCE))
        if path.suffix == ".py" and path.name != "__init__.py":
            name = dotted(path)
            if name not in merged_away and moved(name) != name:
                move(path, SOURCE / (moved(name).replace(".", "/") + ".py"))
        elif path.suffix == ".py":
            pass
        elif (new_place := moved_folder(inside)) != inside:
            move(path, SOURCE / new_place)
    for path in kept:
        if path.is_relative_to("tests"):
            inside = str(path.relative_to("tests"))
            if (new_place := moved_test(inside)) != inside:
                if (Path("tests") / new_place).exists():
                    sys.exit(f"there is tests/{new_place} already")
                move(path, Path("tests") / new_place)

    # The packages.
    for name, path in modules.items():
        if path.name == "__init__.py" and name and name != "cli":
            git("rm", "-qf", str(path))
    for name, docstring in PACKAGES.items():
        path = SOURCE / name.replace(".", "/") / "__init__.py"
        if not path.parent.is_dir():
            sys.exit(f"there is no {name}")
        if name == "cli":
            text = path.read_text(encoding="utf-8")
            first = ast.parse(text).body[0]
            body = "".join(text.splitlines(keepends=True)[first.end_lineno :])
            path.write_text(
                wrapped(docstring) + body.lstrip("\n").join(["\n", ""]), encoding="utf-8"
            )
        else:
            path.write_text(wrapped(docstring), encoding="utf-8")
        git("add", str(path))
    for folder in sorted({path.parent for path in SOURCE.rglob("*.py")}):
        if not (folder / "__init__.py").exists():
            print(f"{folder} has no __init__.py")

    for place in (SOURCE, Path("tests")):
        for folder in sorted(place.rglob("*"), reverse=True):
            if folder.is_dir() and not [*folder.iterdir()]:
                folder.rmdir()

    # Settings, contracts and documents.
    for file, before, after in SETTINGS:
        text = Path(file).read_text(encoding="utf-8")
        if before not in text:
            print(f"{file} does not hold {before!r}")
        Path(file).write_text(text.replace(before, after), encoding="utf-8")
    settings = Path("pyproject.toml")
    text = settings.read_text(encoding="utf-8")
    start = text.index("[tool.importlinter]")
    end = text.index(
        '[[tool.importlinter.contracts]]\nname = "The package does not know the studies"'
    )
    settings.write_text(text[:start] + CONTRACTS.lstrip() + text[end:], encoding="utf-8")
    for brought in (path for path in kept if path.is_relative_to("scripts/rooms")):
        target = (
            Path(brought.name) if brought.name == "CONTRIBUTING.md" else Path("docs") / brought.name
        )
        target.write_text(brought.read_text(encoding="utf-8"), encoding="utf-8")
        git("rm", "-qf", str(brought))

    for command in (["ruff", "check", "--fix", "-q", "."], ["ruff", "format", "-q", "."]):
        subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
    subprocess.run(["ruff", "check", "."], check=False)
    git("add", "-u")


if __name__ == "__main__":
    main()

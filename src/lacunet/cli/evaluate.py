"""``lacunet evaluate``: a learned network against the truth and against test data."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace

from lacunet.cli.inputs import data_of
from lacunet.cli.options import DATA_HELP, NETWORK_HELP, add, add_data_arguments, add_shared
from lacunet.cli.typed_files import has_data, is_data_name

HELP = "compare a learned network with the true one, or with test data"
EXAMPLE = """examples:
  lacunet evaluate truth.bif result.json
  lacunet evaluate truth.bif result.json --data test.csv --json
  lacunet evaluate result.json test.csv

one network alone: its log-likelihood per row of test data
"""


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of this command."""
    first = f"the true network, or with test data alone the learned one: {NETWORK_HELP}"
    add(command, "truth NETWORK", first)
    second = "the learned network, if NETWORK is the true one; or test data"
    add(command, "learned LEARNED", second, nargs="?")
    test = f"test data, complete or not: {DATA_HELP.removeprefix('data files: ')}"
    add(command, "--data DATA", test, nargs="+", action="extend")
    add_shared(command, "--json --memory")
    add_data_arguments(command)


def run(options: Namespace) -> None:
    """Print the divergence, the errors of the CPTs and the fit to test data."""
    from lacunet.ask.evaluate import data_fit, evaluate
    from lacunet.network.formats.files import read_network
    from lacunet.show.evaluation_text import evaluation_as_data, evaluation_as_text, fit_as_text
    from lacunet.text_tables import fitting

    if options.learned is not None and is_data_name(options.learned):
        options.data = [options.learned, *(options.data or [])]
        options.learned = None
    test = data_of(options) if has_data(options) else None
    if options.learned is None and test is None:
        options.usage_error("give a second network, or test data behind --data, or both")
    truth = read_network(options.truth)
    if options.learned is None:
        fit = data_fit(truth, test, options.memory)
        print(json.dumps(evaluation_as_data(fit)) if options.json else fitting(fit_as_text(fit)))
        return
    scores = evaluate(truth, read_network(options.learned), test, memory=options.memory)
    text = evaluation_as_text(scores)
    print(json.dumps(evaluation_as_data(scores)) if options.json else fitting(text))

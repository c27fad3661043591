"""``python -m studies.comparison NETWORK DATA``: which method is best on data like these."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser

from lacunet.counts.observations import whole_table
from lacunet.data.column_rules import with_data_codes
from lacunet.data.data import Data
from lacunet.errors import LacunetError
from lacunet.network.formats.files import read_network
from studies.comparison.compare import case_of, compare
from studies.comparison.text import comparison_as_data, comparison_as_text


def main() -> int:
    """Learn, simulate, learn by every method, and rank the methods."""
    command = ArgumentParser(prog="python -m studies.comparison", description=__doc__)
    command.add_argument("network")
    command.add_argument("data", nargs="+")
    command.add_argument("--methods", help="names, separated by commas")
    command.add_argument("--separator", help="for the informed methods, separated by commas")
    command.add_argument("--repetitions", type=int, default=5)
    command.add_argument("--seed", type=int, default=0)
    command.add_argument("--limit", type=float, default=60.0, help="seconds for each method")
    command.add_argument("--processes", type=int, default=1)
    command.add_argument("--json", action="store_true")
    options = command.parse_args()
    try:
        network = read_network(options.network).with_tables(None)
        data = Data(options.data)
        table = whole_table(data, network)
        separator = tuple(options.separator.split(",")) if options.separator else None
        case = case_of(with_data_codes(network, data), table, separator=separator)
        chosen = {"methods": options.methods.split(",")} if options.methods else {}
        comparison = compare(
            case,
            repetitions=options.repetitions,
            seed=options.seed,
            limit=options.limit,
            processes=options.processes,
            **chosen,
        )
    except LacunetError as error:
        print(f"studies: {error}", file=sys.stderr)
        return 1
    as_json = json.dumps(comparison_as_data(comparison))
    print(as_json if options.json else comparison_as_text(comparison))
    return 0


if __name__ == "__main__":
    sys.exit(main())

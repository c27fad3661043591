"""``python -m studies.leaderboard``."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path

from studies.leaderboard.cases import cases
from studies.leaderboard.entry import entry_names
from studies.leaderboard.page import page
from studies.leaderboard.run import read, run

HERE = Path(__file__).parent


def main() -> None:
    """Run, or write the page."""
    parser = ArgumentParser(prog="python -m studies.leaderboard", description=__doc__)
    parser.add_argument("what", choices=["run", "page"])
    parser.add_argument("results", type=Path, help="CSV file, one line per learner and case")
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--repetitions", type=int, default=1)
    parser.add_argument(
        "--most-cells", type=int, default=10**9, help="larger networks are left out"
    )
    parser.add_argument("--entries", nargs="*", default=entry_names(), choices=entry_names())
    parser.add_argument(
        "--limit", type=int, default=10, help="processor seconds for one learner on one case"
    )
    parser.add_argument("--seconds", type=float, default=600.0, help="begin nothing after this")
    options = parser.parse_args()
    if options.what == "run":
        problems = cases(options.rows, options.repetitions, options.most_cells)
        run(options.entries, problems, options.results, limit=options.limit, until=options.seconds)
    else:
        toy = (HERE / "entries" / "uniform.py").read_text()
        target = HERE.parent / "pages" / "leaderboard.md"
        target.write_text(page(read(options.results), toy))


if __name__ == "__main__":
    main()

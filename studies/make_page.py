"""Put the tables of finished runs into docs/experiments-results.md.

    python -m studies.make_page RUNS          # RUNS/NAME is the folder of the block NAME
    python -m studies.make_page RUNS --run    # first run, or finish, what the blocks say

A block of the page begins with ``<!-- run NAME [at REVISION] [only TITLES]: ARGUMENTS -->``, where
ARGUMENTS are those of ``python -m studies``, and ends with ``<!-- end NAME -->``. Between them
stand the command, what it was run with, and the tables, of which ``only`` (a regular expression)
chooses those whose title begins so. Figures are copied where `FIGURES` says. A block whose folder
is not there stays as it is.
"""

from __future__ import annotations

import re
import shutil
import sys
from argparse import ArgumentParser
from pathlib import Path

from studies.command import main as run_study
from studies.paper.studies import study_named
from studies.report.contest import contest_sheet
from studies.report.tables import as_markdown, sheets
from studies.runner.journal import kept_study, read_journal

PAGE = Path(__file__).parents[1] / "docs" / "experiments-results.md"
BLOCK = re.compile(
    r"(<!-- run (?P<name>\S+)(?: at (?P<revision>\S+))?(?: only (?P<only>\S+))?: (?P<command>.+?) "
    r"-->\n).*?(<!-- end (?P=name) -->)",
    re.DOTALL,
)
FIGURES = {
    "table-mcar": {
        "figure-alarm-mcar-divergence-rows.svg": "experiments-alarm-mcar-size.svg",
        "figure-alarm-mcar-divergence-seconds.svg": "experiments-alarm-mcar-time.svg",
    },
    "figure-fire-alarm": {
        "figure-fire-alarm-first-divergence-rows.svg": "experiments-fire-alarm.svg"
    },
    "early-stopping": {
        "figure-fire-alarm-first-divergence-rows.svg": "experiments-early-stopping.svg"
    },
    "mnar": {"figure-pair-each-the-other-divergence-rows.svg": "experiments-mnar.svg"},
    "figure-alarm": {
        "figure-alarm-second-log-likelihood-rows.svg": "experiments-alarm-mar-size.svg",
        "figure-alarm-second-log-likelihood-seconds.svg": "experiments-alarm-mar-time.svg",
    },
    "table-informed": {
        "figure-alarm-informed-divergence-rows.svg": "experiments-alarm-informed.svg"
    },
}


def block(found: re.Match[str], runs: Path, is_run: bool) -> str:
    """A block of the page with the tables of its run."""
    folder, command = runs / found["name"], found["command"]
    if is_run and run_study([*command.split(), "-o", str(folder)]):
        sys.exit(f"{command} failed")
    outcomes = list(read_journal(folder).values())
    if not outcomes:
        return found[0]
    study = kept_study(study_named(command.split()[0]), folder)
    made = [*sheets(study, outcomes), *contest_sheet(study, outcomes)]
    made = [one for one in made if re.match(found["only"] or "", one.title)]
    for source, target in FIGURES.get(found["name"], {}).items():
        if (folder / source).exists():
            shutil.copyfile(folder / source, PAGE.with_name(target))
    versions = "; ".join(dict.fromkeys(f"{one.version}; {one.machine}" for one in outcomes))
    at = f" (revision {found['revision']})" if found["revision"] else ""
    facts = f"Seed {study.seed}, {len(outcomes):,} cells, {versions}{at}."
    return f"{found[1]}`python -m studies {command}`\n\n{facts}\n\n{as_markdown(made)}\n{found[6]}"


def main() -> None:
    """Run what is asked for, and write the page."""
    options = ArgumentParser(description=__doc__.split("\n", 1)[0])
    options.add_argument("runs", type=Path)
    options.add_argument("--run", action="store_true", help="run, or finish, what the page shows")
    given = options.parse_args()
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(BLOCK.sub(lambda found: block(found, given.runs, given.run), text), "utf-8")


if __name__ == "__main__":
    main()

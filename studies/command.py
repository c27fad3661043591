"""``python -m studies``: the paper's tables and figures, with its numbers beside ours."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from lacunet.cli.options import add, add_shared
from lacunet.cli.terminal import say
from lacunet.cli.values import limit, natural, parse_names, positive
from lacunet.errors import LacunetError
from lacunet.progress import Progress

if TYPE_CHECKING:
    from studies.paper.studies import Study
    from studies.runner.run import Forecast

HELP = "Run one of the paper's experiments and show its numbers beside the published ones."
NAMES = (
    "table-mcar",
    "figure-fire-alarm",
    "early-stopping",
    "figure-alarm",
    "table-large",
    "table-informed",
    "mnar",
    "structure-mcar",
    "structure-mechanisms",
    "structure-paper",
    "example-appendix",
    "all",
    "page",
    "restore",
)
EXAMPLE = """example:
  python -m studies table-mcar --quick
  python -m studies table-mcar --repetitions 8,1000000:2 --processes 2 -o runs/table-mcar
  python -m studies table-large --grid grid-90-20-1.bif.gz --limits 60 --networks water,barley
  python -m studies figure-alarm --networks my-network.bif --sizes 1000,10000
  python -m studies all --grid grid-90-20-1.bif.gz -o runs
  python -m studies page -o runs
  python -m studies restore --grid grid-90-20-1.bif.gz -o runs

'all' runs everything that studies/pages/paper.md shows, each study in a folder of its own; 'page'
writes this page and its figures from these folders. 'all --methods default' adds a column wherever
'auto' has one. 'restore' puts the published outcomes of studies/results into such folders, for
'all' to go on from there. Time limits are limits of processor time.
A run can be stopped at any time: the same command continues where it stopped. Asking for more
sizes, repetitions or methods adds to what is there.
"""
SECONDS_BETWEEN_LINES = 30.0
RUNS = "build/studies"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line of the studies and give its exit code."""
    options = parser().parse_args(arguments)
    try:
        return run(options)
    except LacunetError as error:
        print(f"studies: {error}", file=sys.stderr)
        return 1


def parser() -> ArgumentParser:
    """The parser of the command line."""
    command = ArgumentParser(
        prog="python -m studies",
        description=HELP,
        epilog=EXAMPLE,
        formatter_class=RawDescriptionHelpFormatter,
    )
    add_arguments(command)
    command.set_defaults(usage_error=command.error)
    return command


def add_arguments(command: ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("name", metavar="NAME", choices=NAMES, help=f"one of {', '.join(NAMES)}")
    output = "folder for the results (default: build/studies/NAME, or NAME-quick there)"
    add(command, "-o --output FOLDER", output)
    add(command, "--quick", "a small version: a minute or two", action="store_true")
    add(command, "--sizes 100,1000", "numbers of rows", type=numbers)
    every = "learning problems for each size; SIZE:NUMBER for a different number at one size"
    add(command, "--repetitions 8,1000000:2", every, type=repetitions)
    add(command, "--methods A,B", "methods to compare", type=parse_names)
    add(command, "--networks A,B", "bundled names or files", type=parse_names)
    add(command, "--settings A,B", "only these settings", type=parse_names)
    add(command, "--limits 60,300", "time limits in seconds", type=seconds)
    add(command, "--test-rows N", "rows to test on", type=positive)
    add(command, "--grid FILE", "table-large: a file with the network Grid 90-20-1")
    add(command, "--seed N", "random seed (default: 0)", type=natural)
    add(
        command,
        "--processes N",
        "number of processes that run at the same time (default: 1)",
        type=positive,
    )
    add(command, "--forecast", "say what would be run, and stop", action="store_true")
    add(command, "--report", "run nothing: report what is there", action="store_true")
    add(command, "--retry", "run the cells that crashed again", action="store_true")
    anew = "methods to run again where another revision of the program ran them"
    add(command, "--anew A,B", anew, type=parse_names, default=[])
    add_shared(command, "--json")


# What takes part in a run; the rest is where the results go and how they are printed.
OF_A_RUN = (
    *("sizes", "repetitions", "methods", "networks", "settings", "limits", "test_rows", "grid"),
    *("seed", "processes", "forecast", "retry", "anew"),
)
OF_ALL = ("methods", "grid", "processes", "forecast", "retry", "anew")


def run(options: Namespace) -> int:
    """Run what is missing, write the report, print the tables."""
    _refuse_unused(options)
    others = {"all": _run_all, "page": _write_page, "restore": _restore}
    others["example-appendix"] = _appendix
    if options.name in others:
        return others[options.name](options)
    from studies.errors import StudyError
    from studies.paper.studies import study_named, titled
    from studies.report.write import report
    from studies.runner.journal import kept_study

    folder = Path(options.output or f"{RUNS}/{options.name}{'-quick' * options.quick}")
    if options.report:
        quick = folder.with_name(f"{folder.name}-quick")
        if not folder.exists() and not options.output and quick.exists():
            raise StudyError.no_results(folder, f"{quick} does: add --quick.")
        study = titled(kept_study(study_named(options.name, quick=options.quick), folder))
    else:
        study = study_of(options)
        if not _run_cells(study, folder, options):
            return 130
        if options.forecast:
            return 0
    written = report(study, folder)
    print(json.dumps(written.data) if options.json else written.text)
    for text in written.failures:
        say(text)
    say(f"{len(written.files)} files are in {folder}; the tables are in {folder / 'table.md'}")
    if written.is_empty:
        raise StudyError("no cell gave a network.", "the causes are listed above.")
    return 0


def _run_cells(study: Study, folder: Path, options: Namespace) -> bool:
    """Say what is to be run, and run it; False if somebody interrupted."""
    from studies.runner.journal import keep_to_purpose
    from studies.runner.run import forecast
    from studies.runner.run import run as run_cells

    processes, choice = options.processes or 1, {"retry": options.retry, "anew": options.anew}
    _tell_forecast(study, forecast(study.cells, folder, processes, **choice), options)
    if options.forecast:
        return True
    keep_to_purpose(study, folder)
    try:
        run_cells(study.cells, folder, processes, _progress(), **choice)
    except KeyboardInterrupt:
        say(f"interrupted; the finished cells are in {folder}, the same command continues")
        return False
    return True


def _run_all(options: Namespace) -> int:
    """Run what the schedule says, one part after the other, then report every folder."""
    from studies.paper.schedule import SCHEDULE
    from studies.paper.studies import study_named, titled, with_grid
    from studies.problems.learners import learners_named
    from studies.report.write import report
    from studies.runner.journal import kept_study

    root = Path(options.output or RUNS)
    for study in () if options.report else SCHEDULE:
        if options.methods:  # wherever the default stands
            if "auto" not in [learner.name for learner in study.learners]:
                continue
            study = replace(study, learners=learners_named(options.methods))  # noqa: PLW2901
        if options.grid and study.name == "table-large":
            study = with_grid(study, options.grid)  # noqa: PLW2901
        if not _run_cells(study, root / study.name, options):
            return 130
    for folder in () if options.forecast else sorted(root.iterdir()):
        report(titled(kept_study(study_named(folder.name), folder)), folder)
        say(f"the report is in {folder}")
    return 0


def _write_page(options: Namespace) -> int:
    """Write the page on the paper from the folders of finished runs."""
    from studies.report.side_by_side import write_page

    page = Path(__file__).parent / "pages" / "paper.md"
    for mark in write_page(Path(options.output or RUNS), page):
        say(f"no results for {mark}")
    say(f"the page is {page}")
    return 0


def _restore(options: Namespace) -> int:
    """Fill folders of runs with what was published, where they have no outcomes of their own."""
    from studies.paper.studies import study_named, with_grid
    from studies.runner.journal import restore

    for results in sorted((Path(__file__).parent / "results").glob("*.parquet")):
        study = study_named(results.stem)
        if options.grid and study.name == "table-large":
            study = with_grid(study, options.grid)
        folder = Path(options.output or RUNS) / study.name
        say(f"{restore(study, folder, results):,} cells were put into {folder}")
    return 0


def _refuse_unused(options: Namespace) -> None:
    """Refuse options that would have no effect: nobody types them for nothing."""
    given = [name for name in OF_A_RUN if getattr(options, name) not in (None, False, [])]
    if options.name == "example-appendix":
        given += [name for name in ("output", "quick", "report") if getattr(options, name)]
        words = "example-appendix has nothing to choose"
    elif options.report:
        words = "--report runs nothing"
    elif options.name == "restore":
        given = [name for name in given if name != "grid"]
        given += [name for name in ("quick", "json") if getattr(options, name)]
        words = "restore runs nothing"
    elif options.name == "page":
        given += [name for name in ("quick", "json") if getattr(options, name)]
        words = "page runs nothing"
    elif options.name == "all":
        given = [name for name in given if name not in OF_ALL]
        given += [name for name in ("quick", "json") if getattr(options, name)]
        words = "all runs what its schedule says"
    else:
        given = [] if options.name == "table-large" else [name for name in given if name == "grid"]
        words = f"{options.name} has no grid network"
    if given:
        unused = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        options.usage_error(f"{words}: {unused} cannot be used here")


def study_of(options: Namespace) -> Study:
    """The study asked for, with what the user replaced."""
    from studies.paper.studies import (
        checked,
        study_named,
        titled,
        with_grid,
        with_settings,
    )
    from studies.problems.learners import learners_named
    from studies.problems.sources import source_of

    study = study_named(options.name, quick=options.quick)
    study = with_settings(study, options.settings) if options.settings else study
    if options.networks:
        study = replace(study, networks=tuple(map(source_of, options.networks)))
    study = with_grid(study, options.grid) if options.grid else study
    if options.repetitions:
        every, at = options.repetitions
        study = replace(study, repetitions=every, repetitions_at=at)
    replaced = {
        "sizes": options.sizes,
        "limits": options.limits,
        "test_rows": options.test_rows,
        "seed": options.seed,
        "learners": learners_named(options.methods, study.finds) if options.methods else None,
    }
    given = {name: value for name, value in replaced.items() if value is not None}
    return titled(checked(replace(study, **given)))


def _tell_forecast(study: Study, ahead: Forecast, options: Namespace) -> None:
    from studies.report.tables import duration

    resized = any((options.sizes, options.repetitions, options.networks, options.limits))
    if ahead.likely_seconds is not None:
        time = f"about {duration(ahead.likely_seconds)}, judging by the finished cells"
    elif options.quick and not resized:
        time = "made for a minute or two"
    else:
        most = duration(max(limit or inf for limit in study.limits))
        time = f"the time is not known before some are finished (limit: {most} per cell)"
    say(
        f"{study.name}: {ahead.to_run:,} of {ahead.cells:,} cells are to be run "
        f"({ahead.problems:,} learning problems, {len(study.learners)} methods, "
        f"{options.processes or 1} at a time); {time}"
    )


def _appendix(options: Namespace) -> int:
    from studies.paper.appendix import (
        appendix_as_data,
        appendix_as_text,
        appendix_example,
    )

    lines = appendix_example()
    print(json.dumps(appendix_as_data(lines)) if options.json else appendix_as_text(lines))
    return 0


def _progress() -> Progress:
    """A live bar on a terminal; elsewhere a line now and then, as runs are long."""
    from lacunet.cli.terminal import progress_bar

    return progress_bar() if sys.stderr.isatty() else _line_now_and_then()


def _line_now_and_then() -> Progress:
    from time import monotonic

    from studies.report.tables import duration

    began = monotonic()
    last, before = [began], [0.0]

    def tell(stage: str, done: float, total: float | None, note: str = "") -> None:
        if not note:
            before[0] = done  # finished by an earlier run
        elif monotonic() - last[0] >= SECONDS_BETWEEN_LINES:
            last[0] = monotonic()
            left = (last[0] - began) * ((total or 0) - done) / (done - before[0])
            say(
                f"{done:,.0f} of {total or 0:,.0f} {stage} are done, the last: {note}; at this "
                f"pace {duration(left)} are left"
            )

    return tell


def numbers(text: str) -> tuple[int, ...]:
    """Whole numbers separated by commas, in order and each once.

    Examples
    --------
    >>> numbers("1000,100")
    (100, 1000)
    """
    return tuple(sorted({positive(part) for part in text.split(",")}))


def repetitions(text: str) -> tuple[int, dict[int, int]]:
    """A number for all sizes, then ``SIZE:NUMBER`` for single ones.

    Examples
    --------
    >>> repetitions("8,1000000:2")
    (8, {1000000: 2})
    """
    every, *others = text.split(",")
    pairs: Sequence[Sequence[str]] = [part.split(":") for part in others]
    if any(len(pair) != 2 for pair in pairs):
        raise ArgumentTypeError(f"{text!r} is not of the form NUMBER,SIZE:NUMBER,...")
    return positive(every), {positive(size): positive(number) for size, number in pairs}


def seconds(text: str) -> tuple[float | None, ...]:
    """Time limits separated by commas; ``none`` is no limit."""
    return tuple(dict.fromkeys(map(limit, text.split(","))))

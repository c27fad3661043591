"""``python -m studies.imputation``: run rivals on tables, and report on what was run.

    python -m studies.imputation run JOURNAL.jsonl --tables categories --seeds 0,1
    python -m studies.imputation coverage JOURNAL.jsonl --tables TV16,earnings --samples 100
    python -m studies.imputation report JOURNAL.jsonl
    python -m studies.imputation page JOURNAL.jsonl COVERAGE.jsonl

A run appends one line for each table, seed and rival; those that are there are not run again.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lacunet.errors import LacunetError
from studies.imputation.coverage import covered
from studies.imputation.holes import with_holes
from studies.imputation.judges import coefficients, right_cells, states_of, two_way_distance
from studies.imputation.page import coverage_of, mean_error, write
from studies.imputation.rivals import LIKELIEST, RIVALS, quietly, warm_up
from studies.imputation.tables import CATEGORIES, NUMBERS, TABLES, StudyTable

DRAWS = 5


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit code."""
    parser = ArgumentParser(prog="python -m studies.imputation", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run")
    run.add_argument("journal", type=Path)
    run.add_argument("--tables", default="categories")
    run.add_argument("--rivals", default=",".join([*RIVALS, *LIKELIEST]))
    run.add_argument("--seeds", default="0,1")
    coverage = commands.add_parser("coverage")
    coverage.add_argument("journal", type=Path)
    coverage.add_argument("--tables", default="TV16,distance,earnings")
    coverage.add_argument("--rivals", default="lacunet proper")
    coverage.add_argument("--samples", type=int, default=100)
    coverage.add_argument("--rows", type=int, default=1_000)
    report = commands.add_parser("report")
    report.add_argument("journal", type=Path)
    page = commands.add_parser("page")
    page.add_argument("journal", type=Path)
    page.add_argument("coverage", type=Path)
    asked = parser.parse_args(arguments)
    try:
        return COMMANDS[asked.command](asked)
    except LacunetError as error:
        print(error, file=sys.stderr)
        return 1


def carry_out(asked: Namespace) -> int:
    """Run what is not in the journal yet."""
    done = {(line["table"], line["seed"], line["rival"]) for line in lines_of(asked.journal)}
    groups = {"categories": CATEGORIES, "numbers": NUMBERS, "all": TABLES}
    names = [*groups[asked.tables]] if asked.tables in groups else asked.tables.split(",")
    warm_up()
    for seed in map(int, asked.seeds.split(",")):
        for name in names:
            for rival in asked.rivals.split(","):
                if (name, seed, rival.strip()) in done:
                    continue
                line = judged(name, TABLES[name], rival.strip(), seed)
                print(line["table"], seed, line["rival"], line["distance"], line["seconds"])
                with asked.journal.open("a") as journal:
                    journal.write(json.dumps(line) + "\n")
    return 0


def cover(asked: Namespace) -> int:
    """Draw samples that are not in the journal yet, and see which intervals hold the truth."""
    done = {
        (line["table"], line["rows"], line["sample"], line["rival"])
        for line in lines_of(asked.journal)
    }
    for sample in range(asked.samples):
        for name in asked.tables.split(","):
            for rival in map(str.strip, asked.rivals.split(",")):
                key = name, asked.rows, sample, rival
                if key in done:
                    continue
                line = dict(zip(("table", "rows", "sample", "rival"), key, strict=True))
                line |= covered(TABLES[name], rival, sample, asked.rows)
                with asked.journal.open("a") as journal:
                    journal.write(json.dumps(line) + "\n")
    for name, rival, kind, held, number in coverage_of(lines_of(asked.journal)):
        print(f"{name:20} {rival:16} {kind:12} {held / number:.3f} of {number}")
    return 0


def lines_of(journal: Path) -> list[dict[str, Any]]:
    """What was run."""
    if not journal.exists():
        return []
    return [json.loads(line) for line in journal.read_text().splitlines()]


def judged(name: str, table: StudyTable, rival: str, seed: int) -> dict[str, Any]:
    """How near a rival comes to one table, with the holes of a seed."""
    truth = table.rows(seed)
    holed = with_holes(truth, seed, table.hidden)
    tables, seconds = quietly({**RIVALS, **LIKELIEST}[rival], holed, table.numbers, DRAWS, seed)
    line: dict[str, Any] = {"table": name, "seed": seed, "rival": rival, "rows": len(truth)}
    line["columns"] = truth.shape[1]
    line["seconds"] = round(seconds, 3)
    drawn = [two_way_distance(truth, whole, table.numbers) for whole in tables]
    line["distance"] = round(float(np.mean(drawn)), 5)
    if rival != "complete rows":
        line["right"] = round(float(np.mean([right_cells(truth, holed, t) for t in tables])), 4)
    if table.regressions:
        line["coefficients"] = [*regressed(truth, tables, table)]
    return line


def regressed(truth: Any, tables: Sequence[Any], table: StudyTable) -> Iterator[dict[str, Any]]:
    """Each coefficient in the truth, its standard error, and its mean over completed tables."""
    states = states_of(truth)
    for regression in table.regressions:
        full, variances = coefficients(truth, regression, states)
        pooled = np.mean([coefficients(whole, regression, states)[0] for whole in tables], axis=0)
        for name, value, variance, mean in zip(
            regression.predictors, full, variances, pooled, strict=True
        ):
            yield {
                "outcome": regression.outcome,
                "predictor": name,
                "full": float(value),
                "error": float(np.sqrt(variance)),
                "pooled": float(mean),
            }


def tell(asked: Namespace) -> int:
    """Print what the journal has: a row for each table and seed."""
    lines = lines_of(asked.journal)
    rivals = list(dict.fromkeys(line["rival"] for line in lines))
    cells = {(line["table"], line["seed"], line["rival"]): line for line in lines}
    print("table seed | " + " | ".join(rivals))
    for table, seed in dict.fromkeys((line["table"], line["seed"]) for line in lines):
        parts = []
        for rival in rivals:
            line = cells.get((table, seed, rival))
            if line is None:
                parts.append("-")
                continue
            text = f"{line['distance']:.4f} {line['seconds']:.1f}"
            if line.get("coefficients"):
                text += f" {mean_error(line):.2f}"
            parts.append(text)
        print(f"{table:20} {seed} | " + " | ".join(parts))
    return 0


def write_page(asked: Namespace) -> int:
    """Write the tables and the figure of the book's page."""
    write(lines_of(asked.journal), lines_of(asked.coverage))
    return 0


COMMANDS = {"run": carry_out, "coverage": cover, "report": tell, "page": write_page}


if __name__ == "__main__":
    sys.exit(main())

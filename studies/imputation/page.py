"""The tables and the figure of `docs/beside-mice.md`, from journals of runs.

The page is written by hand; what stands between two markers is replaced.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from studies.imputation.rivals import LIKELIEST
from studies.imputation.tables import CATEGORIES, NUMBERS

DOCS = Path(__file__).parent.parent.parent / "docs"
PAGE = DOCS / "beside-mice.md"
FIGURE = DOCS / "beside-mice.svg"
OURS, OURS_PROPER, SPARSE = "lacunet", "lacunet proper", "lacunet sparse"
MICE = ("mice cart", "mice default")
WITHIN = 1.03  # of the best
SHOWN = (OURS, OURS_PROPER, SPARSE, *MICE, "margin", "complete rows")

Line = dict[str, Any]
Cells = dict[tuple[str, str], list[Line]]  # by table and rival, a line for each draw of holes


def mean_error(line: Line) -> float:
    """The mean distance of coefficients from those of the truth, in standard errors."""
    return fmean(abs(one["pooled"] - one["full"]) / one["error"] for one in line["coefficients"])


def cells_of(lines: Iterable[Line]) -> Cells:
    """The lines of each table and rival."""
    cells: Cells = defaultdict(list)
    for line in lines:
        cells[line["table"], line["rival"]].append(line)
    return cells


def paired(cells: Cells) -> Cells:
    """The same without draws of holes that lacunet or one of mice's two has not completed."""
    whole: Cells = {}
    for (name, rival), lines in cells.items():
        seeds = [
            {line["seed"] for line in cells.get((name, needed), [])} for needed in (OURS, *MICE)
        ]
        kept = [line for line in lines if all(line["seed"] in of_rival for of_rival in seeds)]
        if kept:
            whole[name, rival] = kept
    return whole


def distances(cells: Cells) -> list[str]:
    """The rows of the table of categories."""
    rows = [
        "| table (columns, rows, draws of holes) | chosen on | lacunet | proper | sparse "
        "| mice cart | mice default | margin | complete rows | of the best: lacunet, proper "
        "| of the time |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, table in CATEGORIES.items():
        if (name, OURS) not in cells:
            continue
        first, number = cells[name, OURS][0], len(cells[name, OURS])
        parts = [_distance_and_time(cells.get((name, rival), [])) for rival in SHOWN]
        best, share = beside_mice(cells, name, OURS)
        best_of_proper, _ = beside_mice(cells, name, OURS_PROPER)
        chosen = "yes" if table.role == "chosen on" else ""
        rows.append(
            f"| {name} ({first['columns']}, {first['rows']:,}, {number}) | {chosen} "
            f"| {' | '.join(parts)} | {best:.2f}, {best_of_proper:.2f} | {share:.2f} |"
        )
    return rows


def beside_mice(cells: Cells, name: str, ours: str) -> tuple[float, float]:
    """The distance beside that of the better of mice's two, and the time beside the quicker's."""
    distance = fmean(line["distance"] for line in cells[name, ours])
    mice = [cells[name, rival] for rival in MICE]
    best = min(fmean(line["distance"] for line in lines) for lines in mice)
    quickest = min(fmean(line["seconds"] for line in lines) for lines in mice)
    return distance / best, fmean(line["seconds"] for line in cells[name, ours]) / quickest


def _distance_and_time(lines: Sequence[Line]) -> str:
    if not lines:
        return ""
    distance = fmean(line["distance"] for line in lines)
    seconds = fmean(line["seconds"] for line in lines)
    text = f"{distance:.4f}".removeprefix("0")
    return f"{text} / {seconds:.1f}" if seconds >= 0.05 else text


def right(cells: Cells) -> list[str]:
    """The rows of the table of right cells, of tables of categories."""
    rivals = (*LIKELIEST, OURS, MICE[0])
    rows = [
        "| table | dense, most probable | sparse, most probable | tree, most probable "
        "| dense, drawn | mice cart, drawn |",
        "|---|" + "---:|" * len(rivals),
    ]
    for name in CATEGORIES:
        of_rivals = [cells.get((name, rival), []) for rival in rivals]
        if all(of_rivals):
            shares = [fmean(line["right"] for line in lines) for lines in of_rivals]
            rows.append(f"| {name} | " + " | ".join(f"{share:.3f}"[1:] for share in shares) + " |")
    return rows


def errors(cells: Cells) -> list[str]:
    """The rows of the table of numbers: coefficients, distances, seconds."""
    rivals = (OURS, OURS_PROPER, SPARSE, *MICE, "complete rows")
    rows = [
        "| table (columns, of numbers) | chosen on | lacunet | proper | sparse | mice cart "
        "| mice default | complete rows |",
        "|---|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, table in NUMBERS.items():
        if (name, OURS) not in cells:
            continue
        parts = []
        for rival in rivals:
            lines = cells.get((name, rival), [])
            if not lines:
                parts.append("")
                continue
            distance = fmean(line["distance"] for line in lines)
            error = fmean(mean_error(line) for line in lines)
            seconds = fmean(line["seconds"] for line in lines)
            text = f"{error:.2f} / {distance:.4f}".replace(" 0.", " .")
            parts.append(f"{text} / {seconds:.1f}" if seconds >= 0.05 else text)
        chosen = "yes" if table.role == "chosen on" else ""
        columns = cells[name, OURS][0]["columns"]
        rows.append(
            f"| {name} ({columns}, {len(table.numbers)}) | {chosen} | {' | '.join(parts)} |"
        )
    return rows


def quitting(cells: Cells) -> list[str]:
    """The effect of quitting on weight, draw by draw."""
    rivals = (OURS, OURS_PROPER, SPARSE, *MICE)
    rows = [
        "| holes | all rows (s.e.) | " + " | ".join(rivals) + " |",
        "|---|---:|" + "---:|" * len(rivals),
    ]
    for seed in sorted({line["seed"] for line in cells["nhefs", OURS]}):
        parts = []
        for rival in rivals:
            line = _of_seed(cells.get(("nhefs", rival), []), seed)
            effect = "" if line is None else f"{_quit(line)['pooled']:.2f} ({mean_error(line):.2f})"
            parts.append(effect)
        line = _of_seed(cells["nhefs", OURS], seed)
        assert line is not None
        full = _quit(line)
        rows.append(
            f"| {seed + 1} | {full['full']:.2f} ({full['error']:.2f}) | {' | '.join(parts)} |"
        )
    means = []
    for rival in rivals:
        lines = cells.get(("nhefs", rival), [])
        if not lines:
            means.append("")
            continue
        effect = mean_and_error([_quit(line)["pooled"] for line in lines])
        means.append(f"{effect} ({mean_and_error([mean_error(line) for line in lines])})")
    rows.append(f"| mean ± its standard error | | {' | '.join(means)} |")
    return rows


def mean_and_error(numbers: Sequence[float]) -> str:
    """A mean and its standard error."""
    if len(numbers) < 2:
        return f"{fmean(numbers):.2f}"
    return f"{fmean(numbers):.2f} ± {stdev(numbers) / len(numbers) ** 0.5:.2f}"


def _of_seed(lines: Sequence[Line], seed: int) -> Line | None:
    return next((line for line in lines if line["seed"] == seed), None)


def _quit(line: Line) -> dict[str, float]:
    found: dict[str, float] = next(
        one
        for one in line["coefficients"]
        if (one["outcome"], one["predictor"]) == ("wt82_71", "qsmk")
    )
    return found


def coverage_of(lines: Iterable[Line]) -> Iterator[tuple[str, str, str, int, int]]:
    """Of each table, rival and kind of estimate: how many intervals hold the truth, of how many."""
    sums: dict[tuple[str, str, str], list[int]] = {}
    for line in lines:
        for kind, (held, number) in line["covered"].items():
            total = sums.setdefault((line["table"], line["rival"], kind), [0, 0])
            total[0] += held
            total[1] += number
    for (table, rival, kind), (held, number) in sums.items():
        yield table, rival, kind, held, number


def coverages(lines: Sequence[Line]) -> list[str]:
    """The rows of the table of coverage."""
    kinds = ("mean", "proportion", "coefficient")
    found = {
        (table, rival, kind): f"{held / number:.3f}".removeprefix("0")
        + f" ± {_error_of_share(lines, table, rival, kind):.3f}".replace("0.", ".")
        for table, rival, kind, held, number in coverage_of(lines)
    }
    rows = ["| table | samples | means | proportions | coefficients |", "|---|---:|---:|---:|---:|"]
    for name in dict.fromkeys(line["table"] for line in lines):
        samples = [line for line in lines if (line["table"], line["rival"]) == (name, OURS_PROPER)]
        if not samples:
            continue
        parts = [found.get((name, OURS_PROPER, kind), "") for kind in kinds]
        size = f"{len(samples)} of {samples[0]['rows']:,} rows"
        rows.append(f"| {name} | {size} | {' | '.join(parts)} |")
    return rows


def _error_of_share(lines: Sequence[Line], table: str, rival: str, kind: str) -> float:
    """The standard error of a coverage: estimates of one sample go together."""
    of_kind = [
        line["covered"][kind]
        for line in lines
        if (line["table"], line["rival"]) == (table, rival) and kind in line["covered"]
    ]
    number = sum(asked for _, asked in of_kind)
    share = sum(held for held, _ in of_kind) / number
    surplus = [held - share * asked for held, asked in of_kind]
    return float(sum(one * one for one in surplus) ** 0.5 / number)


def draw_figure(cells: Cells, target: Path) -> None:
    """Distance and time of mice as multiples of lacunet's, table by table."""
    import matplotlib.pyplot as plt

    plt.switch_backend("svg")
    plt.rcParams["svg.hashsalt"] = "lacunet"
    plt.rcParams["font.size"] = 9
    figure, panels = plt.subplots(1, 2, figsize=(8.5, 4.2), sharex=True, sharey=True)
    titles = {OURS: "parameters as they are", OURS_PROPER: "parameters drawn for each table"}
    for axes, (ours, title) in zip(panels, titles.items(), strict=True):
        _draw_panel(axes, cells, ours)
        axes.set_title(title, fontsize=9)
        axes.axhline(1.0, color="#808080", linewidth=0.8)
        axes.set_xlabel("processor time, as a multiple of lacunet's")
    panels[0].set_xscale("log")
    panels[0].set_ylabel("distance from the hidden truth,\nas a multiple of lacunet's")
    panels[1].legend(frameon=False)
    figure.tight_layout()
    figure.savefig(target, metadata={"Date": None})


def _draw_panel(axes: Any, cells: Cells, ours: str) -> None:
    """A mark for each table and each of mice's two: filled for tables of categories."""
    styles = {"mice cart": ("#d55e00", "s"), "mice default": ("#0072b2", "o")}
    for rival, (colour, marker) in styles.items():
        for group, kind in ((CATEGORIES, "categories"), (NUMBERS, "with numbers")):
            multiples = [
                [
                    _ratio(cells[name, rival], cells[name, ours], of)
                    for of in ("seconds", "distance")
                ]
                for name in group
                if (name, ours) in cells
            ]
            axes.scatter(
                [times for times, _ in multiples],
                [farther for _, farther in multiples],
                marker=marker,
                edgecolors=colour,
                facecolors=colour if group is CATEGORIES else "none",
                label=f"{rival}, {kind}",
            )


def _ratio(lines: Sequence[Line], others: Sequence[Line], of: str) -> float:
    return fmean(line[of] for line in lines) / fmean(line[of] for line in others)


def filled(text: str, parts: dict[str, Sequence[str]]) -> str:
    """The page with what stands between the markers of each part replaced."""
    for name, rows in parts.items():
        begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = "\n".join([before + begin, *rows, end + after])
    return text


def write(lines: Sequence[Line], covered: Sequence[Line]) -> None:
    """Write the tables into the page, and the figure beside it."""
    cells = paired(cells_of(lines))
    parts: dict[str, Sequence[str]] = {
        "categories": distances(cells),
        "numbers": errors(cells),
        "right": right(cells),
        "quitting": quitting(cells),
        "coverage": coverages(covered),
    }
    PAGE.write_text(filled(PAGE.read_text(), parts))
    draw_figure(cells, FIGURE)
    judged = [name for name in CATEGORIES if (name, OURS) in cells]
    for ours in (OURS, OURS_PROPER):
        beside = {name: beside_mice(cells, name, ours) for name in judged}
        near = sum(best <= WITHIN for best, _ in beside.values())
        quick = sum(share <= 0.2 for _, share in beside.values())
        print(f"{ours}: {near} of {len(judged)} within 3% of the best, {quick} in a fifth of time")

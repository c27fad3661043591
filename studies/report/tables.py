"""The tables of an experiment, in the paper's layout, with the paper's figures beside ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, isinf, isnan, log10

from lacunet.comparison.summary import Difference, Summary
from lacunet.wording import text_table
from studies.paper.published import Published, printed, published
from studies.paper.studies import Study
from studies.problems.learners import ALL, TITLES, is_yardstick
from studies.report.summary import Draws, best_method, by_group, difference, summary
from studies.runner.outcomes import Outcome

MEASURES = {
    "seconds": "Processor time [s]",
    "log_likelihood": "Test set log-likelihood per row",
    "divergence": "Kullback-Leibler divergence",
    "shd": "Structural Hamming distance of the CPDAGs per edge of the truth",
    "f1": "F1 of the CPDAGs",
    "skeleton_errors": "Errors of the skeleton",
}
DIGITS = {"log_likelihood": 2, "divergence": 3, "shd": 3, "f1": 3, "skeleton_errors": 1}
LEGEND = (
    "n: learning problems; mean ± standard error over them; * the best of ours, in the paper what "
    "is in bold; ~ some were stopped by the time limit; (k/n) only k of n gave a network; - none "
    "did; [,] after a median the quartiles, after a paired difference its 95% interval (Student's "
    "t), with the number of problems in which the method was better than the best mean"
)
Line = tuple[str, ...]


@dataclass(frozen=True)
class Sheet:
    """A table in words: the first ``left`` columns are labels."""

    title: str
    header: Line
    rows: tuple[Line, ...]
    left: int


@dataclass(frozen=True)
class _Spot:
    """One line of a table: a network and a size, with the draws of every method there."""

    network: str
    rows: int
    measure: str
    draws: Mapping[str, Draws]
    paper: Mapping[str, Published]

    @property
    def summaries(self) -> dict[str, Summary | None]:
        return {method: summary(draws, self.measure) for method, draws in self.draws.items()}

    @property
    def best(self) -> str | None:
        """The best of those that compete: the yardstick saw the complete rows."""
        if self.measure == "seconds":
            return None
        found = {name: one for name, one in self.summaries.items() if not is_yardstick(name)}
        return best_method(found, self.measure)

    @property
    def problems(self) -> int:
        return max(map(len, self.draws.values()))


def sheets(study: Study, outcomes: Sequence[Outcome]) -> list[Sheet]:
    """For each measure, setting and limit with outcomes a sheet; for divergences three."""
    methods = methods_in_order(study, outcomes)
    groups = by_group(outcomes)
    places = sorted(
        {(setting, limit) for _, setting, limit, _, _ in groups},
        key=lambda place: place[1] or float("inf"),
    )
    settings = list(dict.fromkeys(one.setting for one in outcomes))
    places.sort(key=lambda place: settings.index(place[0]))
    made = []
    for measure in study.measures:
        for setting, limit in places:
            spots: dict[tuple[str, int], dict[str, Draws]] = {}
            for group, draws in sorted(groups.items(), key=lambda item: item[0][3]):
                if group[1:3] == (setting, limit):
                    spots.setdefault((group[0], group[3]), {})[group[4]] = draws
            most = "no time limit" if limit is None else f"limit {duration(limit)}"
            found = [
                _Spot(
                    network,
                    rows,
                    measure,
                    draws,
                    printed(study.name, network, setting, limit, rows, measure),
                )
                for (network, rows), draws in spots.items()
            ]
            for words, lines in KINDS if measure in ("divergence", "shd") else KINDS[:1]:
                made.append(
                    _sheet(
                        f"{MEASURES[measure]}{words}: {setting} setting, {most}",
                        methods,
                        found,
                        lines,
                    )
                )
    return made


def methods_in_order(study: Study, outcomes: Iterable[Outcome]) -> tuple[str, ...]:
    """The methods that have outcomes: those of the study in its order, then any others.

    Those that are known from print only are there too.
    """
    there = {one.method for one in outcomes}
    known = ALL[study.finds]
    there |= {one.method for one in published(study.name) if not known[one.method].method}
    names = (*(learner.name for learner in study.learners), *known)
    return tuple(name for name in dict.fromkeys(names) if name in there)


def _sheet(title: str, methods: Line, spots: Sequence[_Spot], lines: _Lines) -> Sheet:
    networks = list(dict.fromkeys(spot.network for spot in spots))
    rows = [
        (spot.network, power(spot.rows), *line)
        for network in networks
        for spot in spots
        if spot.network == network
        for line in lines(spot, methods)
    ]
    blank = [("", "", *row[2:]) if row[2] == "paper" else row for row in rows]
    header: Line = ("network", "rows", "", "n", *(TITLES[name] for name in methods))
    skip = 0 if len(networks) > 1 else 1
    return Sheet(title, header[skip:], tuple(row[skip:] for row in blank), 4 - skip)


def _means(spot: _Spot, methods: Line) -> list[Line]:
    found, best = spot.summaries, spot.best
    cells = [
        cell_text(found[name], spot.measure, name == best) if name in found else ""
        for name in methods
    ]
    ours = ("ours", f"{spot.problems}", *cells)
    if not spot.paper:
        return [ours]
    return [ours, ("paper", "", *(_paper_text(spot.paper.get(name)) for name in methods))]


def _spreads(spot: _Spot, methods: Line) -> list[Line]:
    found = spot.summaries
    cells = [_spread_text(found.get(name), spot.measure) for name in methods]
    return [("ours", f"{spot.problems}", *cells)]


def _differences(spot: _Spot, methods: Line) -> list[Line]:
    best = spot.best
    if best is None:
        return []
    behind = {
        name: difference(draws, spot.draws[best], spot.measure)
        for name, draws in spot.draws.items()
    }
    cells = [
        "best" if name == best else difference_text(behind.get(name), spot.measure)
        for name in methods
    ]
    return [("ours", f"{spot.problems}", *cells)]


_Lines = Callable[[_Spot, Line], list[Line]]
KINDS: tuple[tuple[str, _Lines], ...] = (
    ("", _means),
    (", median [quartiles], worst", _spreads),
    (" above the best, paired", _differences),
)


def _paper_text(one: Published | None) -> str:
    return "" if one is None else f"{one.text or '-'}{'*' if one.is_best else ''}"


def cell_text(found: Summary | None, measure: str, is_best: bool = False) -> str:
    """A mean with its standard error and its marks.

    Examples
    --------
    >>> from lacunet.comparison.summary import summary_of
    >>> cell_text(summary_of([0.12, 0.13]), "divergence", is_best=True)
    '0.125 ± 0.005*'
    """
    if found is None:
        return "-"
    digits = _digits(found.mean, measure)
    text = f"{found.mean:.{digits}f}"
    if not isnan(found.standard_error) and measure != "seconds":
        text += f" ± {found.standard_error:.{digits}f}"
    marks = ("*" if is_best else "") + ("~" if found.stopped else "")
    return text + marks + ("" if found.is_whole else f" ({found.count}/{found.asked})")


def _spread_text(found: Summary | None, measure: str) -> str:
    if found is None:
        return "-"
    low, median, high, worst = (
        f"{value:.{_digits(value, measure)}f}"
        for value in (found.quartiles[0], found.median, found.quartiles[1], found.worst)
    )
    return f"{median} [{low}, {high}], {worst}"


def difference_text(found: Difference | None, measure: str) -> str:
    """A paired difference with its interval, and in how many problems it was below zero.

    Examples
    --------
    >>> difference_text(Difference(0.125, 0.1, 0.15, 32, 3), "divergence")
    '+0.125 [+0.100, +0.150] 3/32'
    """
    if found is None:
        return "-"
    digits = max(_digits(abs(value), measure) for value in (found.mean, found.high - found.mean))
    text = f"{found.mean:+.{digits}f}"
    if not isnan(found.low):
        text += f" [{found.low:+.{digits}f}, {found.high:+.{digits}f}]"
    return f"{text} {found.better}/{found.count}"


def _digits(value: float, measure: str) -> int:
    """As the paper prints it; more where nothing would be left of the number."""
    if measure == "seconds":
        return 0 if value >= 100 else 1 if value >= 10 else 2
    if measure != "divergence" or not isfinite(value) or not 0 < value < 0.01:
        return DIGITS[measure]
    return min(12, max(DIGITS[measure], 2 - int(log10(value))))


def power(rows: int) -> str:
    """A number of rows, powers of ten as such.

    Examples
    --------
    >>> power(10_000), power(31_623)
    ('10^4', '31,623')
    """
    exponent = len(str(rows)) - 1
    return f"10^{exponent}" if rows == 10**exponent and rows > 10 else f"{rows:,}"


def duration(seconds: float) -> str:
    """A time in the unit people would use.

    Examples
    --------
    >>> duration(300), duration(10), duration(7200), duration(float("inf"))
    ('5 min', '10 s', '2 h', 'none')
    """
    if isinf(seconds):
        return "none"
    if seconds >= 7200:
        return f"{seconds / 3600:.3g} h"
    return f"{seconds / 60:.3g} min" if seconds >= 60 else f"{seconds:.3g} s"


def as_text(made: Sequence[Sheet]) -> str:
    """The sheets as plain text."""
    parts = [f"{one.title}\n\n{text_table(one.header, one.rows, one.left)}" for one in made]
    return "\n\n".join([*parts, LEGEND])


def as_markdown(made: Sequence[Sheet]) -> str:
    """The sheets as Markdown tables."""
    parts = []
    for one in made:
        rule = ["---" if at < one.left else "---:" for at in range(len(one.header))]
        lines = [_markdown_row(row) for row in (one.header, rule, *one.rows)]
        parts.append(f"**{one.title}**\n\n" + "\n".join(lines))
    return "\n\n".join(parts)


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(escaped, cells)) + " |"


def escaped(text: str) -> str:
    """The text with no mark that Markdown would take for its own."""
    return text.replace("*", r"\*").replace("~", r"\~")

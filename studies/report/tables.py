"""The tables of a study, in the paper's layout, with the paper's figures beside ours.

There is one table for each measure and setting. A size has a line for each time limit, unless a
longer limit gave the same: then one line stands for several.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite, isinf, isnan, log10

from lacunet.text_tables import TextTable
from studies.comparison.summary import Difference, Summary
from studies.paper.published import Published, printed, published
from studies.paper.studies import Study, study_named
from studies.problems.learners import ALL, is_yardstick
from studies.report.summary import (
    Draws,
    best_method,
    by_group,
    difference,
    level_with_best,
    summary,
    value_of,
)
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
HEAVY_TAILED = ("divergence", "shd")  # a few problems decide the mean
SAME = "="
LEGEND = (
    "n: learning problems; mean ± standard error over them; [n=k] over k of them; * the best of "
    "ours and all that a paired 95% interval cannot tell from it, nobody where n is 1, and in the "
    "paper what is in bold; ~ some were stopped by the time limit; = as with the shorter limit; "
    "(k/n) only k of n gave a network; - none did; [,] after a median the quartiles, after a "
    "paired difference its 95% interval (Student's t), with the number of problems in which the "
    "method was better than the best mean"
)
Line = tuple[str, ...]


@dataclass(frozen=True)
class Sheet:
    """A table in words: the first ``left`` columns are labels. ``name`` is for choosing it."""

    name: str
    title: str
    header: Line
    rows: tuple[Line, ...]
    left: int


@dataclass(frozen=True)
class Spot:
    """A network, a size and a limit, with the draws of every method there.

    ``limits`` are all limits that it stands for. The methods of ``same`` have what they had
    within the limit before.
    """

    network: str
    rows: int
    limits: tuple[float | None, ...]
    measure: str
    draws: Mapping[str, Draws]
    paper: Mapping[float | None, Mapping[str, Published]]
    same: frozenset[str] = frozenset()

    @property
    def problems(self) -> int:
        """The largest number of problems that a method was given."""
        return max(map(len, self.draws.values()))


def sheets(study: Study, outcomes: Sequence[Outcome]) -> list[Sheet]:
    """For each measure and setting a sheet; paired differences and spreads where they matter."""
    methods = methods_in_order(study, outcomes)
    settings = list(dict.fromkeys(one.setting for one in outcomes))
    titles = {setting.name: setting.words for setting in study.settings}
    made = []
    for measure in study.measures:
        for setting in settings:
            spots = spots_of(study, outcomes, setting, measure)
            words = f"{setting} setting ({titles[setting]})" if setting in titles else setting
            for name, more, lines in KINDS:
                if name in ("", "paired") or measure in HEAVY_TAILED:
                    if measure == "seconds" and name:
                        continue
                    title = f"{MEASURES[measure]}{more}: {words}"
                    kind = f"{measure}-{name}" if name else measure
                    made.append(_sheet(study, f"{kind}/{setting}", title, methods, spots, lines))
    return [one for one in made if one.rows]


def spots_of(study: Study, outcomes: Iterable[Outcome], setting: str, measure: str) -> list[Spot]:
    """The spots of one table in order; limits that gave the same are one spot."""
    groups = by_group(outcomes)
    limits = {limit for _, _, limit, _, _ in groups}
    shown = limits & set(study.limits) or limits  # others, such as tenths, are for contests
    places: dict[tuple[str, int], dict[float | None, dict[str, Draws]]] = {}
    for (network, own, limit, rows, method), draws in groups.items():
        if own == setting and limit in shown:
            places.setdefault((network, rows), {}).setdefault(limit, {})[method] = draws
    names = [*(source.name for source in study.networks), *(network for network, _ in places)]
    order = {name: at for at, name in enumerate(dict.fromkeys(names))}
    found: list[Spot] = []
    for network, rows in sorted(places, key=lambda place: (order[place[0]], place[1])):
        found += _merged(study, network, rows, setting, measure, places[network, rows])
    return found


def _merged(
    study: Study,
    network: str,
    rows: int,
    setting: str,
    measure: str,
    by_limit: Mapping[float | None, Mapping[str, Draws]],
) -> list[Spot]:
    spots: list[Spot] = []
    before: dict[str, Draws] = {}
    for limit in sorted(by_limit, key=lambda limit: inf if limit is None else limit):
        draws = by_limit[limit]
        paper = {limit: printed(study.name, network, setting, limit, rows, measure)}
        same = frozenset(name for name in draws if _agree(draws[name], before.get(name)))
        if spots and same == set(draws):
            last = spots[-1]
            spots[-1] = Spot(
                network,
                rows,
                (*last.limits, limit),
                measure,
                last.draws,
                {**last.paper, **paper},
                last.same,
            )
        else:
            spots.append(Spot(network, rows, (limit,), measure, draws, paper, same))
        before = {**before, **draws}
    return spots


def _agree(one: Draws, two: Draws | None) -> bool:
    """Whether a longer limit changed nothing for a method."""
    if two is None or one.keys() != two.keys():
        return False
    return all(
        (one[at].status, value_of(one[at], "seconds"), value_of(one[at], "log_likelihood"))
        == (two[at].status, value_of(two[at], "seconds"), value_of(two[at], "log_likelihood"))
        for at in one
    )


def methods_in_order(study: Study, outcomes: Iterable[Outcome]) -> tuple[str, ...]:
    """The methods of the paper and those that have outcomes, in the order of the study.

    Methods beside the study follow, and yardsticks come last.
    """
    there = {one.method for one in outcomes} | {one.method for one in published(study.name)}
    usual = (learner.name for learner in study_named(study.name).learners)
    names = dict.fromkeys((*usual, *ALL[study.finds]))
    return tuple(sorted((name for name in names if name in there), key=is_yardstick))


_Lines = Callable[[Spot, Line], Line]


def _sheet(
    study: Study, name: str, title: str, methods: Line, spots: Sequence[Spot], lines: _Lines
) -> Sheet:
    rows: list[Line] = []
    for spot in spots:
        ours = lines(spot, methods)
        if not ours:
            continue
        label = (spot.network, power(spot.rows), within(spot.limits), "ours", f"{spot.problems}")
        rows.append((*label, *ours))
        for limit, paper in spot.paper.items() if lines is _means else ():
            if paper:
                own = within((limit,)) if len(spot.limits) > 1 else ""
                rows.append(("", "", own, "paper", "", *_paper_line(paper, methods)))
    header: Line = ("network", "rows", "within", "", "n", *map(study.title_of, methods))
    shown = [at for at in range(len(header)) if not _is_needless(at, rows)]
    return Sheet(
        name,
        title,
        tuple(header[at] for at in shown),
        tuple(tuple(row[at] for at in shown) for row in _without_repeats(rows)),
        sum(at < 5 for at in shown),
    )


def _is_needless(at: int, rows: Sequence[Line]) -> bool:
    """Whether a column says the same everywhere: one network, one limit."""
    return at in (0, 2) and len({row[at] for row in rows if row[at]}) <= 1


def _without_repeats(rows: Iterable[Line]) -> list[Line]:
    """A network and a size are named once."""
    found: list[Line] = []
    last: Line = ("", "")
    for row in rows:
        repeated = row[:2] == last
        last = row[:2] if row[0] else last
        found.append(("", "", *row[2:]) if repeated else row)
    return found


def _means(spot: Spot, methods: Line) -> Line:
    stars: frozenset[str] = frozenset()
    if spot.measure != "seconds":
        stars = level_with_best(spot.draws, spot.measure)
    cells = []
    for name in methods:
        if name in spot.same:
            cells.append(SAME)
        elif name not in spot.draws:
            cells.append("")
        else:
            found = summary(spot.draws[name], spot.measure)
            fewer = len(spot.draws[name]) < spot.problems
            cells.append(cell_text(found, spot.measure, name in stars, fewer))
    return tuple(cells)


def _paper_line(paper: Mapping[str, Published], methods: Line) -> Line:
    return tuple(_paper_text(paper.get(name)) for name in methods)


def _spreads(spot: Spot, methods: Line) -> Line:
    found = {name: summary(draws, spot.measure) for name, draws in spot.draws.items()}
    return tuple(_spread_text(found.get(name), spot.measure) for name in methods)


def _differences(spot: Spot, methods: Line) -> Line:
    best = best_method(spot.draws, spot.measure)
    if best is None or len(spot.draws) == 1:
        return ()
    behind = {
        name: difference(draws, spot.draws[best], spot.measure)
        for name, draws in spot.draws.items()
    }
    return tuple(
        "best"
        if name == best
        else SAME
        if name in spot.same and best in spot.same
        else difference_text(behind[name], spot.measure)
        if name in behind
        else ""
        for name in methods
    )


KINDS: tuple[tuple[str, str, _Lines], ...] = (
    ("", "", _means),
    ("spread", ", median [quartiles], worst", _spreads),
    ("paired", " behind the best, paired", _differences),
)


def _paper_text(one: Published | None) -> str:
    return "" if one is None else f"{one.text or '-'}{'*' if one.is_best else ''}"


def cell_text(
    found: Summary | None, measure: str, is_best: bool = False, fewer: bool = False
) -> str:
    """A mean with its standard error and its marks; ``fewer`` problems than others are told.

    Examples
    --------
    >>> from studies.comparison.summary import summary_of
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
    number = f" [n={found.asked}]" if fewer else ""
    return text + marks + ("" if found.is_whole else f" ({found.count}/{found.asked})") + number


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


def within(limits: Sequence[float | None]) -> str:
    """One or several time limits in words.

    Examples
    --------
    >>> within((60.0, 300.0)), within((300.0,)), within((None,))
    ('1, 5 min', '5 min', 'no limit')
    """
    words = ["no limit" if limit is None else duration(limit) for limit in limits]
    units = {word.split()[-1] for word in words}
    if len(units) == 1 and None not in limits:
        return ", ".join(word.split()[0] for word in words) + f" {units.pop()}"
    return ", ".join(words)


def as_text(made: Sequence[Sheet]) -> str:
    """The sheets as plain text."""
    parts = [f"{one.title}\n\n{TextTable(one.header, one.rows, one.left)}" for one in made]
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

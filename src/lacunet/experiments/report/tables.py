"""The tables of an experiment, in the paper's layout, with the paper's figures beside ours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isnan, log10

from lacunet.experiments.paper.published import Published, printed
from lacunet.experiments.paper.studies import Study
from lacunet.experiments.report.summary import Group, Mean, best_method, summarise
from lacunet.experiments.runner.learners import LEARNERS
from lacunet.experiments.runner.outcomes import Outcome
from lacunet.wording import text_table

MEASURES = {
    "seconds": "Runtime [s]",
    "log_likelihood": "Test set log-likelihood, a row",
    "divergence": "Kullback-Leibler divergence",
}
DIGITS = {"log_likelihood": 2, "divergence": 3}
LEGEND = (
    "mean ± standard error over repetitions; * the best of ours, in the paper what is in bold; "
    "~ some were stopped by the time limit; (k/n) only k of n gave a network; - none did"
)


@dataclass(frozen=True)
class Sheet:
    """A table in words: the first ``left`` columns are labels."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left: int


@dataclass(frozen=True)
class _Place:
    """What all numbers of a sheet have in common."""

    measure: str
    setting: str
    limit: float | None
    methods: tuple[str, ...]


def sheets(study: Study, outcomes: Sequence[Outcome]) -> list[Sheet]:
    """One sheet for each measure, setting and limit that has outcomes."""
    methods = methods_in_order(study, outcomes)
    settings = list(dict.fromkeys(one.setting for one in outcomes))
    limits = sorted({one.limit for one in outcomes}, key=lambda limit: limit or float("inf"))
    made = []
    for measure in study.measures:
        means = summarise(outcomes, measure)
        for setting in settings:
            for limit in limits:
                place = _Place(measure, setting, limit, methods)
                made += _sheet(study, place, means, len(settings) * len(limits) > 1)
    return made


def methods_in_order(study: Study, outcomes: Iterable[Outcome]) -> tuple[str, ...]:
    """The methods that have outcomes: those of the study in its order, then any others."""
    there = {one.method for one in outcomes}
    return tuple(name for name in dict.fromkeys((*_names(study), *LEARNERS)) if name in there)


def _names(study: Study) -> tuple[str, ...]:
    return tuple(learner.name for learner in study.learners)


def _sheet(
    study: Study, place: _Place, means: dict[Group, Mean | None], several: bool
) -> list[Sheet]:
    spots = dict.fromkeys(
        (network, rows)
        for network, setting, limit, rows, _ in sorted(means, key=lambda group: group[3])
        if (setting, limit) == (place.setting, place.limit)
    )
    if not spots:
        return []
    networks = list(dict.fromkeys(network for network, _ in spots))
    rows: list[tuple[str, ...]] = []
    for network in networks:
        for size in [size for name, size in spots if name == network]:
            rows += _lines(study, place, means, (network, size))
    header = ("network", "rows", "", *(LEARNERS[name].title for name in place.methods))
    if len(networks) == 1:
        header, rows = header[1:], [row[1:] for row in rows]
    title = MEASURES[place.measure] + (f": {_where(place)}" if several else "")
    return [Sheet(title, header, tuple(rows), 2 + (len(networks) > 1))]


def _where(place: _Place) -> str:
    limit = "no time limit" if place.limit is None else f"limit {duration(place.limit)}"
    return f"{place.setting} setting, {limit}"


def _lines(
    study: Study, place: _Place, means: dict[Group, Mean | None], spot: tuple[str, int]
) -> list[tuple[str, ...]]:
    network, size = spot
    group = (network, place.setting, place.limit, size)
    own = {name: means[*group, name] for name in place.methods if (*group, name) in means}
    rivals = {name: mean for name, mean in own.items() if name != "complete"}
    best = None if place.measure == "seconds" else best_method(rivals, place.measure)
    cells = [
        cell_text(own[name], place.measure, name == best) if name in own else ""
        for name in place.methods
    ]
    lines = [(network, power(size), "ours", *cells)]
    paper = printed(study.name, *group[:3], size, place.measure)
    if paper:
        lines.append(("", "", "paper", *(_paper_text(paper.get(name)) for name in place.methods)))
    return lines


def _paper_text(one: Published | None) -> str:
    if one is None:
        return ""
    return f"{one.text or '-'}{'*' if one.is_best else ''}"


def cell_text(mean: Mean | None, measure: str, is_best: bool = False) -> str:
    """A mean with its standard error and its marks.

    Examples
    --------
    >>> cell_text(Mean(0.1234, 0.0051, 4, 4), "divergence", is_best=True)
    '0.123 ± 0.005*'
    """
    if mean is None:
        return "-"
    digits = _digits(mean.value, measure)
    text = f"{mean.value:.{digits}f}"
    if not isnan(mean.standard_error) and measure != "seconds":
        text += f" ± {mean.standard_error:.{digits}f}"
    marks = ("*" if is_best else "") + ("~" if mean.stopped else "")
    return text + marks + ("" if mean.is_whole else f" ({mean.count}/{mean.asked})")


def _digits(value: float, measure: str) -> int:
    """As the paper prints it; more where nothing would be left of the number."""
    if measure == "seconds":
        return 0 if value >= 100 else 1 if value >= 10 else 2
    small = measure == "divergence" and 0 < value < 0.01
    return max(DIGITS[measure], 1 - int(log10(value)) + 1) if small else DIGITS[measure]


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
    """A time limit in the unit people would use.

    Examples
    --------
    >>> duration(300), duration(10), duration(7200)
    ('5 min', '10 s', '2 h')
    """
    if seconds >= 7200:
        return f"{seconds / 3600:.3g} h"
    return f"{seconds / 60:.3g} min" if seconds >= 60 else f"{seconds:g} s"


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
    return "\n\n".join([*parts, _escaped(LEGEND)])


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(_escaped, cells)) + " |"


def _escaped(text: str) -> str:
    return text.replace("*", r"\*").replace("~", r"\~")

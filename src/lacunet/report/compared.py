"""The result of a comparison, and an evaluation, for people and for programs."""

from __future__ import annotations

from dataclasses import asdict
from math import isnan
from typing import Any

from lacunet.comparison.compare import YARDSTICK, Comparison, Standing
from lacunet.comparison.summary import Difference, Summary
from lacunet.evaluate import DataFit, Evaluation
from lacunet.figures.charts import ranges
from lacunet.pages.kit import Tile, figure, named, paragraph, section, table
from lacunet.pages.provenance import Provenance, report_page
from lacunet.wording import assigned, counted, finite, text_table

DIGITS = 4  # of divergences
HEADER = (
    *("method", "KL divergence", "median", "worst", "behind the best [95% interval]"),
    *("test log-likelihood per row", "seconds"),
)


def comparison_as_text(found: Comparison) -> str:
    """Who is the most accurate on data like the user's, who is as good, and what it costs."""
    lines = [
        f"simulated from the learned network: {counted(found.case.rows, 'row')}, "
        f"{found.hidden:.1%} of the cells hidden by mechanisms fitted to the data, "
        f"{counted(found.repetitions, 'draw')}",
        "",
        text_table(HEADER, _rows(found)),
        "",
        *_verdict(found),
        *(f"{one.method}: {one.message}" for one in found.standings if one.message),
        "the line 'complete' is what the rows would give if nothing were missing",
    ]
    return "\n".join(lines)


def _verdict(found: Comparison) -> list[str]:
    best = found.best
    if best is None:
        cause = "nothing is missing" if not found.case.missingness.mechanisms else "all are level"
        return [f"{cause}: the methods learn the same, so there is no winner"]
    level = _level_with(best, found)
    if level:
        costs = ", ".join(f"{one.method} ({_cost(one)})" for one in (best, *level))
        lines = [f"{costs} are the most accurate here, equal to {DIGITS} digits"]
    else:
        lines = [f"{best.method} is the most accurate here, {_cost(best)}"]
    if found.repetitions < 2:
        lines.append("one draw does not show what is chance: ask for more with --repetitions")
    if peers := [one for one in found.as_good if one not in (best, *level)]:
        told = ", ".join(f"{one.method} ({_cost(one)})" for one in peers)
        lines.append(f"not clearly worse (the 95% interval of the difference holds 0): {told}")
    return lines


def _level_with(best: Standing, found: Comparison) -> list[Standing]:
    """The methods that the printed digits do not tell from the best."""
    others = [one for one in found.standings if one.method not in (best.method, YARDSTICK)]
    return [one for one in others if one.is_whole and _mean(one) == _mean(best)]


def _mean(one: Standing) -> str:
    return "" if one.divergence is None else f"{one.divergence.mean:.{DIGITS}f}"


def _cost(one: Standing) -> str:
    return "time unknown" if one.seconds is None else f"{one.seconds.mean:.2g} s"


def _rows(found: Comparison) -> list[list[str]]:
    return [
        [
            one.method,
            _number(one.divergence, DIGITS),
            *_spread(one.divergence),
            _behind(one.behind) if one.method != YARDSTICK else "",
            _number(one.log_likelihood, 3),
            "-" if one.seconds is None else f"{one.seconds.mean:.3g}",
        ]
        for one in found.standings
    ]


def _number(found: Summary | None, digits: int) -> str:
    if found is None:
        return "-"
    text = f"{found.mean:.{digits}f}"
    if not isnan(found.standard_error):
        text += f" ± {found.standard_error:.{digits}f}"
    return text if found.is_whole else f"{text} ({found.count}/{found.asked})"


def _spread(found: Summary | None) -> tuple[str, str]:
    return ("-", "-") if found is None else (f"{found.median:.4f}", f"{found.worst:.4f}")


def _behind(found: Difference | None) -> str:
    if found is None:
        return "-"
    interval = "" if isnan(found.low) else f" [{found.low:+.4f}, {found.high:+.4f}]"
    return f"{found.mean:.4f}{interval}"


def comparison_as_data(found: Comparison) -> dict[str, Any]:
    """The same in plain lists and dictionaries."""
    best = found.best
    return {
        "rows": found.case.rows,
        "hidden": found.hidden,
        "repetitions": found.repetitions,
        "mechanisms": str(found.case.missingness.graph),
        "best": None if best is None else best.method,
        "as_good": [one.method for one in found.as_good],
        "methods": [_standing_as_data(one) for one in found.standings],
    }


def _standing_as_data(one: Standing) -> dict[str, Any]:
    names = ("divergence", "behind", "log_likelihood", "seconds")
    parts = {name: getattr(one, name) for name in names}
    numbers = {
        name: None if part is None else {"value": part.mean, **asdict(part)}
        for name, part in parts.items()
    }
    return {"method": one.method, **finite(numbers), "message": one.message}


def comparison_page(found: Comparison, source: Provenance) -> str:
    """The same as one HTML page; ``source`` is what made the comparison."""
    title = "Methods compared on data like these"
    facts = [
        _winner(found),
        Tile("rows", f"{found.case.rows:,}", "simulated from the learned network"),
        Tile("hidden", f"{found.hidden:.1%}", "by mechanisms fitted to the data"),
        Tile("draws", f"{found.repetitions:,}"),
    ]
    spreads = [
        (one.method, (own.quartiles[0], own.median, own.quartiles[1], own.worst))
        for one in found.standings
        if (own := one.divergence) is not None
    ]
    words = (
        "KL divergence from the network that the rows were drawn from, on a log axis: the disc is "
        "the median over the draws, the bar spans the quartiles, the tick is the worst draw. "
        "'complete' is what the rows would give if nothing were missing."
    )
    chart = ranges(spreads, "KL divergence [nats]")
    messages = [f"{one.method}: {one.message}" for one in found.standings if one.message]
    sections = [
        section("verdict", "In words", *map(paragraph, _verdict(found))),
        section("accuracy", "How far each ends from the truth", figure(chart, words)),
        section(
            "methods",
            "Method by method",
            table(HEADER, _rows(found), identifier="standings"),
            *map(paragraph, messages),
        ),
        section(
            "mechanisms",
            "What hid the values",
            f"<pre>{named(str(found.case.missingness.graph))}</pre>",
        ),
    ]
    return report_page("compared", title, facts, sections, comparison_as_data(found), source)


def _winner(found: Comparison) -> Tile:
    best = found.best
    if best is None:
        return Tile("most accurate", "all level")
    level = _level_with(best, found)
    names = ", ".join(one.method for one in (best, *level))
    return Tile("most accurate", names, f"equal to {DIGITS} digits" if level else _cost(best))


def evaluation_as_text(found: Evaluation) -> str:
    """The divergence, the CPT errors and the fit, one line each."""
    divergence, error = found.divergence, found.cpt_error
    how = "nats, exact"
    if not divergence.exact:
        how = (
            f"nats (standard error {divergence.standard_error:.2g}), estimated from "
            f"{divergence.samples:,} samples: exact is beyond the memory budget"
        )
    lines = [f"KL divergence        {divergence.value:.6g} {how}"]
    if error.cells:
        given = ", ".join(assigned(name, state) for name, state in error.given.items())
        where = assigned(error.variable, error.state) + (f" given {given}" if given else "")
        lines += [
            f"largest CPT error    {error.largest:.6g} at {where}",
            f"mean CPT error       {error.mean:.6g} over {error.cells:,} cells",
        ]
    if error.left_out:
        lines.append(f"not compared         {', '.join(error.left_out)}: other parents")
    if found.fit is not None:
        lines.append(fit_as_text(found.fit))
    return "\n".join(lines)


def fit_as_text(fit: DataFit) -> str:
    """The log-likelihood of test data, in a line."""
    return (
        f"log-likelihood       {fit.mean:.6g} per row (standard error "
        f"{fit.standard_error:.2g}) on {counted(fit.rows, 'row')}"
    )


def fit_as_data(fit: DataFit) -> dict[str, Any]:
    """The same as `evaluation_as_data` has it."""
    data: dict[str, Any] = finite({"fit": asdict(fit)})
    return data


def evaluation_as_data(found: Evaluation) -> dict[str, Any]:
    """The same in plain dictionaries; an infinity is a string, NaN is None."""
    data: dict[str, Any] = finite(asdict(found))
    return data

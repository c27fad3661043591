"""Pictures of networks, data and results, for notebooks and papers.

Each function returns a `Picture`: a notebook shows it, ``picture.write("name.svg")`` keeps it as
SVG, PDF or PNG, ``picture.figure()`` is a matplotlib figure. SVG needs nothing; the others need
matplotlib (``pip install lacunet[plots]``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import isnan, nan
from typing import Any

import numpy as np

from lacunet.ask.effect import MEASURES, Effect
from lacunet.errors import LacunetError
from lacunet.inference.answer import Answer
from lacunet.learning.result import Result
from lacunet.missingness.graph import MissingnessGraph, graph_of, network_and_graph
from lacunet.network.arguments import clear_arguments
from lacunet.network.cpt import Cpt
from lacunet.network.formats.files import AnyNetwork, NetworkOrEdges, as_learned, as_network
from lacunet.network.network import FloatArray
from lacunet.show.figures import charts
from lacunet.show.figures.charts import Estimate, Series
from lacunet.show.figures.network_figure import network_picture
from lacunet.show.figures.picture import Picture
from lacunet.text import assigned

__all__ = [
    "cpt_forest",
    "cpt_heatmap",
    "effect_forest",
    "em_trace",
    "forest",
    "learning_curves",
    "missing_patterns",
    "network_figure",
]

MAX_DRAWN_ROWS = 64


def __dir__() -> list[str]:
    """What people use; not what this file imports."""
    return __all__


@clear_arguments
def cpt_heatmap(network: AnyNetwork, variable: str) -> Picture:
    """The CPT of a variable: one line for each configuration of its parents, shaded.

    Lines that no data support are hatched, where the network knows.

    Examples
    --------
    >>> import lacunet as lc
    >>> from lacunet.plots import cpt_heatmap
    >>> cpt_heatmap(lc.example("asia"), "dysp").words
    'P(dysp | bronc, either)'
    """
    network = as_network(network)
    cpt = network.cpt(variable)
    rows = _drawable_rows(cpt, "the page of `lacunet learn --report` shows it in parts.")
    supported = np.ones(len(rows), bool) if cpt.supported is None else cpt.supported.ravel()
    configurations = product(*(network.states(parent) for parent in cpt.parents))
    return charts.heat_map(
        rows,
        [", ".join(states) for states in configurations],
        network.states(variable),
        title=cpt.title,
        given=", ".join(cpt.parents),
        is_supported=supported.tolist(),
    )


def _drawable_rows(cpt: Cpt, way_out: str) -> FloatArray:
    rows = cpt.table.reshape(-1, cpt.table.shape[-1])
    if len(rows) > MAX_DRAWN_ROWS:
        raise LacunetError(
            f"the CPT of {cpt.child!r} has {len(rows):,} rows, more than {MAX_DRAWN_ROWS} can be "
            "drawn.",
            way_out,
        )
    return rows


@clear_arguments
def missing_patterns(network: NetworkOrEdges, data: Any, most: int = 14) -> Picture:
    """The commonest patterns of missing values, a column each, and how often each occurs.

    Parameters
    ----------
    data
        Whatever `lacunet.learn` takes.
    most
        The number of patterns to draw.
    """
    from lacunet.counts.observations import missing_in
    from lacunet.counts.open_rows import open_rows
    from lacunet.data.read import ReadReport

    with open_rows("missing_patterns", network, data).rows() as rows:
        return charts.patterns(missing_in(rows, (), ReadReport()), most)


@clear_arguments
def em_trace(result: AnyNetwork) -> Picture:
    """The log-posterior at each iteration of EM."""
    result = _learned(result)
    ended = result.ended
    if ended is None or not ended.trace:
        raise LacunetError(
            f"{result.method!r} has no iterations to draw.", "learn with em or auto instead."
        )
    trace = Series("log-posterior", range(len(ended.trace)), ended.trace)
    return charts.lines([trace], f"iteration ({ended.reason})", "log-posterior")


def _learned(result: AnyNetwork) -> Result:
    learned = as_learned(result)
    if not isinstance(learned, Result):
        raise LacunetError(
            "a result of learning is drawn here, not a network.",
            "learn it from data: lacunet.learn(network, data).",
        )
    return learned


@clear_arguments
def learning_curves(
    values: Mapping[str, Mapping[int, Sequence[float]]], y_label: str = "KL divergence"
) -> Picture:
    """Median with quartiles against the number of rows, a line for each method.

    Parameters
    ----------
    values
        For each method, for each number of rows, one value for each repetition.

    Raises
    ------
    LacunetError
        A method has no number of rows.
    """
    series = []
    for method, curve in values.items():
        if not curve:
            raise LacunetError(
                f"{method!r} has no number of rows to draw.",
                f"give its values by rows, as in {{{method!r}: {{1000: [0.12, 0.1]}}}}, or leave "
                "it out.",
            )
        rows = sorted(curve)
        quartiles = np.array(
            [np.quantile(curve[n], [0.25, 0.5, 0.75]) if len(curve[n]) else [nan] * 3 for n in rows]
        )
        low, median, high = quartiles.T.tolist()
        numbers = dict.fromkeys(end(len(curve[n]) for n in rows) for end in (min, max))
        label = f"{method} (n={' to '.join(map(str, numbers))})"
        series.append(Series(label=label, x=rows, y=median, low=low, high=high))
    return charts.lines(series, "rows", y_label, log_x=True, log_y=True)


@clear_arguments
def forest(answers: Mapping[str, Any], *, reference: float | None = None) -> Picture:
    """Answers below one another, each with its interval: queries, effects, any estimates.

    What rests on CPT rows without data, by a tenth or more, has a hollow disc, a dotted interval
    and the share in words.

    Parameters
    ----------
    answers
        For each label an answer of `Network.query` (all its states are drawn), or numbers: a
        value, or a value with the low and the high end of its interval.
    reference
        A value to compare with, drawn as a line.

    Raises
    ------
    LacunetError
        The numbers of a label are not one value, or its low end is above its high end.

    Examples
    --------
    >>> from lacunet.plots import forest
    >>> forest({"treated": (0.3, 0.2, 0.4), "not treated": (0.5, 0.45, 0.56)}).words
    'probability: 2 estimates'
    """
    estimates: list[Estimate] = []
    for label, answer in answers.items():
        if isinstance(answer, Answer):
            estimates += _of_answer(label, answer)
        else:
            estimates.append(_of_numbers(label, answer))
    return charts.forest(estimates, "probability", reference=reference)


def _of_numbers(label: str, given: Any) -> Estimate:
    """A value, or a value with the ends of its interval."""
    try:
        numbers = np.ravel(given).astype(float).tolist()
    except (TypeError, ValueError):
        numbers = []
    if len(numbers) == 1:  # a value alone
        numbers += [nan, nan]
    value, low, high = numbers if len(numbers) == 3 else [nan] * 3
    if isnan(value) or isnan(low) != isnan(high) or low > high:
        raise LacunetError(
            f"{label!r} is given {given!r}.",
            "give a value, or (value, low, high): with the low and the high end of its interval.",
        )
    return Estimate(label, value, low, high)


@clear_arguments
def effect_forest(effects: Effect | Sequence[Effect], measure: str = "difference") -> Picture:
    """The contrasts of one or more effects, each with its interval.

    Parameters
    ----------
    effects
        What `Network.effect` gives.
    measure
        "difference", "ratio" or "odds ratio"; the line is where there is no effect.
    """
    if measure not in MEASURES:
        raise LacunetError(f"the measure is {measure!r}.", f"it is one of {', '.join(MEASURES)}.")
    estimates = []
    for effect in [effects] if isinstance(effects, Effect) else effects:
        for contrast in effect.contrasts:
            value, low, high = getattr(contrast, measure.replace(" ", "_"))
            label = f"{contrast.outcome}: {contrast.state} vs {contrast.reference}"
            share = effect.unsupported_of(contrast)
            estimates.append(
                Estimate(
                    label=label,
                    value=value,
                    low=low,
                    high=high,
                    unsupported=share,
                    group=effect.title,
                )
            )
    return charts.forest(estimates, measure, reference=0.0 if measure == "difference" else 1.0)


def _of_answer(label: str, answer: Answer) -> list[Estimate]:
    cells = list(product(*answer.states))
    values = np.asarray(answer).ravel()
    ends = np.full((len(cells), 2), nan)
    if answer.level is not None:
        ends = answer.interval.reshape(-1, 2)
    share = answer.unsupported or 0.0
    return [
        Estimate(
            label=", ".join(cell),
            value=float(value),
            low=float(low),
            high=float(high),
            unsupported=share,
            group=label,
        )
        for cell, value, (low, high) in zip(cells, values, ends, strict=True)
    ]


@clear_arguments
def cpt_forest(result: AnyNetwork, variable: str, level: float = 0.95) -> Picture:
    """The entries of a CPT with their intervals, a group for each configuration of the parents.

    Entries of a variable with two states are drawn for the second one alone.
    """
    result = _learned(result)
    network = result.network
    cpt = network.cpt(network.known(variable))
    rows = _drawable_rows(cpt, f"take result.table({variable!r}) instead.")
    ends = result.interval(variable, level).reshape(*rows.shape, 2)
    bare = np.zeros(len(rows), bool) if cpt.supported is None else ~cpt.supported.ravel()
    states = network.states(variable)
    shown = range(1, 2) if len(states) == 2 else range(len(states))
    estimates = []
    rows_of_states = list(product(*map(network.states, cpt.parents)))
    named = [
        ", ".join(assigned(p, s) for p, s in zip(cpt.parents, parents, strict=True))
        for parents in rows_of_states
    ]
    # Labels without their middle may be alike: then the states stand alone, in the parents' order.
    is_long = len(shown) == 1 and any(charts.short(text) != text for text in named)
    if is_long:
        named = [", ".join(parents) for parents in rows_of_states]
    for number, given in enumerate(named):
        for k in shown:
            label = states[k] if len(shown) > 1 else given or states[k]
            low, high = ends[number, k].tolist()
            group = given if len(shown) > 1 else ""
            value = float(rows[number, k])
            estimates.append(
                Estimate(
                    label=label,
                    value=value,
                    low=low,
                    high=high,
                    unsupported=float(bare[number]),
                    group=group,
                )
            )
    title = cpt.title
    if len(shown) == 1:
        parents = ", ".join(map(charts.short, cpt.parents)) if is_long else "..."
        title = f"P({assigned(variable, states[-1])} | {parents})"
    return charts.forest(estimates, title)


@clear_arguments
def network_figure(
    network: AnyNetwork,
    *,
    missingness: MissingnessGraph | str | None = None,
    width: float = 700,
) -> Picture:
    """The network as a figure; of a result of learning, with what is missing of each variable.

    Parameters
    ----------
    missingness
        How values go missing: a graph, its text or a file's path. Its mechanisms are drawn.
    width
        About how wide the figure may be, in pixels (96 to the inch).

    Examples
    --------
    >>> import lacunet as lc
    >>> from lacunet.plots import network_figure
    >>> network_figure(lc.example("asia")).words
    '8 variables, 8 edges'
    """
    network, missingness = network_and_graph(network, missingness)
    missing = None
    source = as_learned(network)
    if isinstance(source, Result):
        missing = {name: count / source.rows for name, count in source.missing.items()}
    known = as_network(source)
    graph = None if missingness is None else graph_of(missingness, known)
    return network_picture(known, missing, graph, width=width)

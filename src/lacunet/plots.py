"""Pictures of networks, data and results; each function returns its matplotlib figure.

Needs matplotlib (``pip install lacunet[plots]``). No global state is touched: show a figure in
a notebook by returning it, keep it with ``figure.savefig("name.svg")``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from lacunet.errors import LacunetError
from lacunet.estimate.learn import Result
from lacunet.formats.files import AnyNetwork, as_network

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ROWS = 64
INK, MISSING, LINE = "#0b5cad", "#d9730d", "#d0d7de"
STYLES = (
    ("#0b5cad", "-"),
    ("#b34700", "--"),
    ("#4b7f52", ":"),
    ("#7b4fa3", "-."),
    ("#1b1f24", "-"),
)


def cpt_heatmap(network: AnyNetwork, variable: str) -> Figure:
    """The CPT of a variable: one line for each configuration of its parents, shaded.

    Examples
    --------
    >>> import lacunet as lc
    >>> from lacunet.plots import cpt_heatmap
    >>> [axes] = cpt_heatmap(lc.example("asia"), "dysp").axes
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['yes, yes', 'yes, no', 'no, yes', 'no, no']
    """
    network = as_network(network)
    cpt = network.cpt(variable)
    rows = cpt.table.reshape(-1, cpt.table.shape[-1])
    if len(rows) > MOST_ROWS:
        raise LacunetError(
            f"the CPT of {variable!r} has {len(rows):,} rows, more than {MOST_ROWS} can be drawn.",
            "the page of `lacunet learn --report` shows it in parts.",
        )
    figure = _figure(1.5 + 0.9 * rows.shape[1], 1.2 + 0.32 * len(rows))
    axes = figure.subplots()
    axes.imshow(rows, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for (line, column), value in np.ndenumerate(rows):
        colour = "white" if value > 0.55 else "black"
        axes.text(column, line, f"{value:.3f}", ha="center", va="center", color=colour)
    configurations = product(*(network.states(parent) for parent in cpt.parents))
    axes.set_yticks(range(len(rows)), [", ".join(states) for states in configurations])
    axes.set_xticks(range(rows.shape[1]), network.states(variable))
    axes.set_ylabel(", ".join(cpt.parents))
    given = f" | {', '.join(cpt.parents)}" if cpt.parents else ""
    axes.set_title(f"P({variable}{given})", parse_math=False)
    return figure


def missing_patterns(network: AnyNetwork, data: Any, most: int = 14) -> Figure:
    """The commonest patterns of missing values, a column each, and how often each occurs.

    Parameters
    ----------
    data
        Whatever `lacunet.learn` takes.
    most
        The number of patterns to draw.
    """
    from lacunet.data.read import read_table
    from lacunet.statistics.missing import missing_summary

    summary = missing_summary(read_table(data, as_network(network)), [])
    holes = [k for k in np.argsort(-summary.missing_rows) if summary.missing_rows[k] > 0]
    order = np.argsort(-summary.rows)[:most]
    shares = summary.rows[order] / summary.rows.sum()
    figure = _figure(2.5 + 0.3 * len(order), 1.8 + 0.26 * len(holes))
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[1, max(len(holes), 1) / 4])
    above.bar(range(len(order)), shares, color=MISSING)
    above.set_ylabel("share of the rows")
    for line, variable in enumerate(holes):
        is_missing = summary.is_missing[order, variable]
        colours = [MISSING if missing else LINE for missing in is_missing]
        below.scatter(range(len(order)), [line] * len(order), c=colours, s=50)
    rates = summary.missing_rows / summary.rows.sum()
    names = [f"{summary.variables[k]} ({rates[k]:.0%})" for k in holes]
    below.set_yticks(range(len(holes)), names)
    below.invert_yaxis()
    below.set_xticks([])
    below.set_xlabel("patterns; filled: missing")
    return figure


def em_trace(result: Result) -> Figure:
    """The log-posterior at each iteration of EM, and the held-out curve if there is one."""
    ended = result.ended
    if ended is None or not ended.trace:
        raise LacunetError(
            f"{result.method!r} has no iterations to draw.", "learn with em or auto instead."
        )
    figure = _figure(5, 3.2 if not ended.heldout else 5.4)
    panels = figure.subplots(2 if ended.heldout else 1, 1, squeeze=False)
    axes: Sequence[Axes] = panels[:, 0].tolist()
    axes[0].plot(ended.trace, color=INK, marker=".")
    axes[0].set_ylabel("log-posterior")
    axes[0].set_title(f"{ended.reason} after {ended.iterations} iterations")
    if ended.heldout:
        axes[1].plot(ended.heldout, color=STYLES[1][0], linestyle="--", marker=".")
        axes[1].set_ylabel("held-out log-likelihood")
        axes[1].set_xlabel("start, 1, 2, 4, 8, 16 steps, convergence")
    axes[0].set_xlabel("iteration")
    return figure


def learning_curves(
    values: Mapping[str, Mapping[int, Sequence[float]]], y_label: str = "KL divergence"
) -> Figure:
    """Median with quartiles against the number of rows, a line for each method.

    Parameters
    ----------
    values
        For each method, for each number of rows, one value for each repetition.

    Examples
    --------
    >>> from lacunet.plots import learning_curves
    >>> [axes] = learning_curves({"em": {100: [0.3, 0.2, 0.4], 1000: [0.1, 0.1, 0.2]}}).axes
    >>> axes.lines[0].get_ydata().tolist()
    [0.3, 0.1]
    """
    figure = _figure(5.5, 3.6)
    axes = figure.subplots()
    for number, (method, curve) in enumerate(values.items()):
        colour, dashes = STYLES[number % len(STYLES)]
        rows = sorted(curve)
        quartiles = np.array([np.quantile(curve[n], [0.25, 0.5, 0.75]) if len(curve[n]) else
                              [nan] * 3 for n in rows])  # fmt: skip
        repetitions = dict.fromkeys(end(len(curve[n]) for n in rows) for end in (min, max))
        label = f"{method} (n={' to '.join(map(str, repetitions))})"
        axes.plot(rows, quartiles[:, 1], color=colour, linestyle=dashes, marker=".", label=label)
        axes.fill_between(rows, quartiles[:, 0], quartiles[:, 2], color=colour, alpha=0.15)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("rows")
    axes.set_ylabel(y_label)
    axes.legend()
    return figure


def _figure(width: float, height: float) -> Figure:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise LacunetError(
            "drawing needs matplotlib.", "install it with: pip install lacunet[plots]"
        ) from None

    class Picture(Figure):  # type: ignore[misc, unused-ignore]
        """A figure that notebooks show although pyplot does not know it."""

        def _repr_png_(self) -> bytes:
            from io import BytesIO

            stream = BytesIO()
            self.savefig(stream, format="png", dpi=100)
            return stream.getvalue()

    return Picture(figsize=(width, height), layout="constrained")

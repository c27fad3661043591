"""Results as pages, from Python: in a notebook, in a file, two of them side by side."""

from __future__ import annotations

import os
from datetime import datetime
from typing import Any

from lacunet.data.data import as_data
from lacunet.errors import as_level
from lacunet.inference.answer import DEFAULT_LEVEL
from lacunet.learning.result import Result
from lacunet.missingness.graph import MissingnessGraph, graph_of
from lacunet.network.formats.files import AnyNetwork, as_learned, as_network
from lacunet.show.network_page import pair_page
from lacunet.show.pages.kit import check_page_name, write_page
from lacunet.show.pages.live_network import ShownNetwork
from lacunet.show.pages.notebook import Page
from lacunet.show.pages.numbers import Behind, rows_behind
from lacunet.show.pages.provenance import Provenance, provenance
from lacunet.show.results.result_page import page


def result_page(result: Result, beside: Result | AnyNetwork | None = None) -> Page:
    """The page of a result, for a notebook; with ``beside``, of two over the same variables."""
    if beside is not None:
        other = as_learned(beside)
        first, second = _labels(result, other)
        return Page(pair_page(_side(first, result), _side(second, other), _here()))
    return Page(page(result, source=_here(), level=_level(result)))


def write_report(
    result: Result,
    path: str | os.PathLike[str],
    data: Any = None,
    *,
    level: float | None = None,
    missingness: MissingnessGraph | str | None = None,
) -> None:
    """Write the page of a result to a file; the parameters are those of `Result.report`."""
    from lacunet.counts.observations import missing_in_data

    check_page_name(path)
    network = result.network
    seen = None
    if data is not None:
        seen = missing_in_data(as_data(data).weighed_as(result), network, network.families)
    text = page(
        result,
        seen,
        _here(),
        level=_level(result) if level is None else as_level(level),
        missingness=None if missingness is None else graph_of(missingness, network),
    )
    write_page(path, text)


def _level(result: Result) -> float | None:
    return None if result.uncertainty is None else DEFAULT_LEVEL


def _labels(first: Result, second: Any) -> tuple[str, str]:
    """The methods, if they tell the two apart."""
    methods = [str(getattr(model, "method", "network")) for model in (first, second)]
    if methods[0] != methods[1]:
        return (methods[0], methods[1])
    return ("first", "second")


def _side(label: str, model: Any) -> ShownNetwork:
    network = as_network(model)
    if not isinstance(model, Result):
        return ShownNetwork(label, network)
    rows = {name: rows_behind(model.families[name]) for name in network.variables}
    return ShownNetwork(label, network, Behind(rows))


def _here() -> Provenance:
    return provenance(datetime.now().astimezone())

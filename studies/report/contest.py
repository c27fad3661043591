"""Our best method against the best entry that the paper printed, place by place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lacunet.comparison.summary import Summary
from studies.paper.published import Published, published
from studies.paper.studies import Study
from studies.problems.learners import TITLES
from studies.report.summary import Group, by_group, summary
from studies.report.tables import Sheet, cell_text, duration, power
from studies.runner.outcomes import Outcome

MEASURE = "log_likelihood"


@dataclass(frozen=True)
class Contest:
    """One place in the paper's tables: its entry in bold, and our best mean there.

    ``limit`` is the limit that ours was run under, which may be shorter than the paper's.
    ``unchosen`` is the mean of `auto` there: the best of many methods is known only afterwards.
    """

    paper: Published
    network: str
    limit: float
    method: str
    found: Summary
    unchosen: Summary | None = None

    @property
    def gain(self) -> float:
        """By how much our log-likelihood is above the paper's."""
        return self.found.mean - (self.paper.value or 0.0)


def contests(study: Study, outcomes: Sequence[Outcome]) -> list[Contest]:
    """Every place that both have; the yardstick that saw the complete rows does not compete."""
    groups = by_group(one for one in outcomes if one.method != "complete")
    summaries = {group: summary(draws, MEASURE) for group, draws in groups.items()}
    networks = dict.fromkeys(one.network for one in outcomes)
    places = [
        (paper, network)
        for paper in published(study.name)
        for network in networks
        if paper.is_best and network.startswith(paper.network)
    ]
    found = [one for paper, network in places if (one := _contest(paper, network, summaries))]
    return sorted(found, key=_order)


def _contest(
    paper: Published, network: str, summaries: Mapping[Group, Summary | None]
) -> Contest | None:
    """Our best within the paper's limit: what a shorter limit gave is had within a longer."""
    found = [
        Contest(paper, network, limit, method, one)
        for (name, setting, limit, rows, method), one in summaries.items()
        if (name, setting, rows) == (network, paper.setting, paper.rows)
        and limit is not None
        and limit <= (paper.limit or 0.0)
        and one is not None
        and one.is_whole
    ]
    if not found:
        return None
    best = max(found, key=lambda one: (one.gain, -one.limit))
    autos = [one for one in found if one.method == "auto"]
    return replace(best, unchosen=max(autos, key=lambda one: one.limit).found if autos else None)


def _order(one: Contest) -> tuple[str, str, float, int]:
    return one.network, one.paper.setting, one.paper.limit or 0.0, one.paper.rows


def contest_sheet(study: Study, outcomes: Sequence[Outcome]) -> list[Sheet]:
    """The contests as a sheet; none where the paper has nothing in bold."""
    found = contests(study, outcomes)
    if not found:
        return []
    rows = tuple(
        (
            one.network,
            one.paper.setting,
            power(one.paper.rows),
            duration(one.paper.limit or 0.0),
            f"{TITLES[one.paper.method]} {one.paper.text}",
            duration(one.limit),
            f"{TITLES[one.method]} {cell_text(one.found, MEASURE)}",
            f"{one.found.count}",
            f"{one.gain:+.2f}",
            f"{one.unchosen.mean - (one.paper.value or 0.0):+.2f}" if one.unchosen else "",
        )
        for one in found
    )
    ahead = sum(one.gain > 0 for one in found)
    title = f"Our best against the paper's best: above it in {ahead} of {len(found)} places"
    header = (
        *("network", "setting", "rows", "within", "paper's best"),
        *("within", "our best", "n", "gain", "gain of auto"),
    )
    return [Sheet(title, header, rows, 2)]

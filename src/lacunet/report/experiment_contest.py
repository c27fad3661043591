"""Our best method against the best entry that the paper printed, place by place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lacunet.experiments.learners import LEARNERS
from lacunet.experiments.outcomes import Outcome
from lacunet.experiments.published import Published, published
from lacunet.experiments.studies import Study
from lacunet.experiments.summary import Mean, best_method, summarise
from lacunet.report.experiment_tables import Sheet, cell_text, duration, power

MEASURE = "log_likelihood"


@dataclass(frozen=True)
class Contest:
    """One place in the paper's tables: its entry in bold, and our best mean there."""

    paper: Published
    network: str
    method: str
    mean: Mean

    @property
    def gain(self) -> float:
        """By how much our log-likelihood is above the paper's."""
        return self.mean.value - (self.paper.value or 0.0)


def contests(study: Study, outcomes: Sequence[Outcome]) -> list[Contest]:
    """Every place that both have; the yardstick that saw the complete rows does not compete."""
    means = summarise([one for one in outcomes if one.method != "complete"], MEASURE)
    networks = dict.fromkeys(one.network for one in outcomes)
    found = []
    for paper in published(study.name):
        for network in networks:
            if paper.is_best and network.startswith(paper.network):
                place = (network, paper.setting, paper.limit, paper.rows)
                own = {group[4]: mean for group, mean in means.items() if group[:4] == place}
                method = best_method(own, MEASURE)
                mean = own[method] if method else None
                found += [Contest(paper, network, method, mean)] if method and mean else []
    return found


def contest_sheet(study: Study, outcomes: Sequence[Outcome]) -> list[Sheet]:
    """The contests as a sheet; none where the paper has nothing in bold."""
    found = contests(study, outcomes)
    if not found:
        return []
    rows = tuple(
        (
            one.network,
            one.paper.setting,
            duration(one.paper.limit or 0.0),
            power(one.paper.rows),
            f"{LEARNERS[one.paper.method].title} {one.paper.text}",
            f"{LEARNERS[one.method].title} {cell_text(one.mean, MEASURE)}",
            f"{one.gain:+.2f}",
        )
        for one in found
    )
    ahead = sum(one.gain > 0 for one in found)
    title = f"Our best against the paper's best: above it in {ahead} of {len(found)} places"
    header = ("network", "setting", "limit", "rows", "paper's best", "our best", "gain")
    return [Sheet(title, header, rows, 4)]

"""What may be claimed: one comparison per place of the paper's tables, named beforehand.

`auto`, what the program does if nothing is chosen (with the paper's prior), meets the best entry
that the paper printed, within the same time limit and within a tenth of it: the machine of 2015
and ours differ. It wins or loses where the difference is more than two standard errors of our
mean; the paper gives none of its own. And the closed forms, which are the same estimators, are held
against their own numbers in the paper: they should agree within two standard errors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Literal

from lacunet.text import counted
from studies.comparison.summary import Summary
from studies.paper.published import Published, published
from studies.paper.studies import Study
from studies.problems.learners import CLOSED_FORMS
from studies.report.summary import Group, by_group, summary
from studies.report.tables import Sheet, cell_text, duration, power
from studies.runner.outcomes import Outcome

MEASURE = "log_likelihood"
CHAMPION = "auto"
ERRORS = 2.0  # standard errors of our mean
SAME_NETWORKS = ("grid-90-20-1", "water")  # the paper had other versions of the other two
Verdict = Literal["win", "tie", "loss", "one problem", "no network", ""]


@dataclass(frozen=True)
class Contest:
    """A place in the paper's tables: its entry in bold, ours within its limit and a tenth of it."""

    paper: Published
    network: str
    whole: Summary | None
    tenth: Summary | None

    @property
    def verdicts(self) -> tuple[Verdict, Verdict]:
        """How it ends within the same limit, and within a tenth of it."""
        return self._verdict(self.whole), self._verdict(self.tenth)

    def _verdict(self, found: Summary | None) -> Verdict:
        if found is None:
            return ""
        if not found.is_whole:
            return "no network"
        if isnan(found.standard_error):
            return "one problem"
        gain = found.mean - (self.paper.value or 0.0)
        if abs(gain) <= ERRORS * found.standard_error:
            return "tie"
        return "win" if gain > 0 else "loss"


def contests(study: Study, outcomes: Sequence[Outcome], champion: str = CHAMPION) -> list[Contest]:
    """Every place in bold of the paper's tables that the champion was run at."""
    groups = by_group(one for one in outcomes if one.method == champion)
    found = []
    for paper in published(study.name):
        for network in dict.fromkeys(network for network, *_ in groups):
            if not (paper.is_best and paper.limit and network.startswith(paper.network)):
                continue
            whole, tenth = (
                _at(groups, (network, paper.setting, limit, paper.rows, champion))
                for limit in (paper.limit, paper.limit / 10)
            )
            if whole is not None or tenth is not None:
                found.append(Contest(paper, network, whole, tenth))
    return sorted(found, key=_order)


def _at(groups: Mapping[Group, Mapping[int, Outcome]], group: Group) -> Summary | None:
    """The summary there; where nobody gave a network, one of no problems."""
    if group not in groups:
        return None
    found = summary(groups[group], MEASURE)
    nan = float("nan")
    return found or Summary(nan, nan, nan, (nan, nan), nan, 0, len(groups[group]))


def _order(one: Contest) -> tuple[bool, str, str, float, int]:
    is_other = not one.network.startswith(SAME_NETWORKS)
    return is_other, one.network, one.paper.setting, one.paper.limit or 0.0, one.paper.rows


def tally(found: Sequence[Contest]) -> str:
    """Wins, ties and losses, within the limits and within a tenth of them."""
    lines = []
    for words, number in (("within the same limit", 0), ("within a tenth of it", 1)):
        counts = Counter(one.verdicts[number] for one in found)
        places = sum(count for verdict, count in counts.items() if verdict)
        if not places:
            continue
        won, even = counted(counts["win"], "win"), counted(counts["tie"], "tie")
        text = f"{words}: {won}, {even}, {counted(counts['loss'], 'loss', 'losses')}"
        if counts["one problem"]:
            text += f", {counts['one problem']} with one problem only"
        if counts["no network"]:
            text += f", {counts['no network']} without a network in time"
        lines.append(f"{text} in {places} places")
    numbers = [one.asked for each in found for one in (each.whole, each.tenth) if one]
    return f"{'; '.join(lines)} ({_from_to(numbers)} learning problems in each)"


def _from_to(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low}" if low == high else f"{low} to {high}"


def contest_sheet(
    study: Study, outcomes: Sequence[Outcome], champion: str = CHAMPION
) -> list[Sheet]:
    """The contests as a sheet; none where the paper has nothing in bold."""
    found = contests(study, outcomes, champion)
    if not found:
        return []
    rows = tuple(
        (
            one.network,
            one.paper.setting,
            power(one.paper.rows),
            duration(one.paper.limit or 0.0),
            f"{study.title_of(one.paper.method)} {one.paper.text}",
            *_words(one, one.whole, one.verdicts[0]),
            *_words(one, one.tenth, one.verdicts[1]),
        )
        for one in found
    )
    title = f"{study.title_of(champion)} against the paper's best"
    header = (
        *("network", "setting", "rows", "within", "paper's best"),
        *(study.title_of(champion), "n", "difference", "verdict"),
        *("in a tenth of the time", "n", "difference", "verdict"),
    )
    return [Sheet(f"contest-{champion}", title, header, rows, 2)]


def _words(one: Contest, found: Summary | None, verdict: Verdict) -> tuple[str, str, str, str]:
    if found is None or not found.count:
        return ("" if found is None else "-", "", "", verdict)
    gain = f"{found.mean - (one.paper.value or 0.0):+.2f}"
    return cell_text(found, MEASURE), f"{found.count}", gain, verdict


def contest_tallies(
    study: Study, outcomes: Sequence[Outcome], champion: str = CHAMPION
) -> list[str]:
    """The tallies in sentences: on the paper's networks, then on those that differ."""
    found = contests(study, outcomes, champion)
    same = [one for one in found if one.network.startswith(SAME_NETWORKS)]
    others = [one for one in found if not one.network.startswith(SAME_NETWORKS)]
    lines = [f"On the networks that are the paper's, {tally(same)}."] if same else []
    return lines + ([f"On the others, {tally(others)}."] if others else [])


def agreement_sheet(study: Study, outcomes: Sequence[Outcome]) -> list[Sheet]:
    """How many means of each closed form are within two standard errors of the paper's.

    The paper's numbers of several limits are of different problems: each is a comparison, even
    where ours is the same within all of them.
    """
    groups = by_group(outcomes)
    found: dict[tuple[str, str, str], list[tuple[int, bool]]] = {}
    for paper in published(study.name):
        if paper.method not in (*CLOSED_FORMS, "informed-direct", "informed-factored"):
            continue
        for (network, setting, limit, rows, method), draws in groups.items():
            is_there = network.startswith(paper.network) and setting.startswith(paper.setting)
            if not is_there or (rows, method) != (paper.rows, paper.method):
                continue
            ours = None if paper.measure == "seconds" else summary(draws, paper.measure)
            if paper.value is None or ours is None or isnan(ours.standard_error):
                continue
            place = (network, setting, paper.measure)
            if limit == (paper.limit or limit) and ours.is_whole:
                near = abs(ours.mean - paper.value) <= ERRORS * ours.standard_error
                found.setdefault(place, []).append((ours.count, near))
    lines = [
        (
            *(network, setting, measure.replace("_", "-")),
            _from_to([count for count, _ in pairs]),
            *(f"{sum(near for _, near in pairs)}", f"{len(pairs)}"),
        )
        for (network, setting, measure), pairs in found.items()
    ]
    if not lines:
        return []
    title = "Closed forms: means within two standard errors of the paper's"
    header = ("network", "setting", "measure", "n", "agree", "of")
    return [Sheet("agreement", title, header, tuple(lines), 4)]

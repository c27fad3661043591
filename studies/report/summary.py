"""The outcomes of repetitions in few numbers (`studies.comparison.summary`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from studies.comparison.summary import Difference, Summary, difference_of, summary_of
from studies.problems.learners import is_yardstick
from studies.runner.outcomes import Outcome

Group = tuple[str, str, float | None, int, str]  # network, setting, limit, rows, method
Draws = Mapping[int, Outcome]  # by repetition
LARGER_IS_BETTER = {
    **dict.fromkeys(("log_likelihood", "f1"), True),
    **dict.fromkeys(("divergence", "seconds", "shd", "skeleton_errors"), False),
}


def by_group(outcomes: Iterable[Outcome]) -> dict[Group, dict[int, Outcome]]:
    """The repetitions of each place and method."""
    groups: dict[Group, dict[int, Outcome]] = {}
    for one in outcomes:
        group = (one.network, one.setting, one.limit, one.rows, one.method)
        groups.setdefault(group, {})[one.repetition] = one
    return groups


def value_of(outcome: Outcome, measure: str) -> float | None:
    """What the cell gave; a number only if it gave a network."""
    value: float | None = getattr(outcome, measure)
    return value if outcome.status == "ok" else None


def summary(draws: Draws, measure: str) -> Summary | None:
    """One measure over the repetitions, None where nobody gave a number."""
    values = [value for one in draws.values() if (value := value_of(one, measure)) is not None]
    stopped = sum(one.ended == "time limit" for one in draws.values())
    return summary_of(values, len(draws), stopped, LARGER_IS_BETTER[measure])


def difference(draws: Draws, others: Draws, measure: str) -> Difference | None:
    """How far a method is behind another in the repetitions that both have."""
    sign = -1.0 if LARGER_IS_BETTER[measure] else 1.0
    both = [
        (value_of(draws[at], measure), value_of(others[at], measure))
        for at in draws
        if at in others
    ]
    return difference_of(
        [(sign * one, sign * two) for one, two in both if one is not None and two is not None]
    )


def best_method(found: Mapping[str, Draws], measure: str) -> str | None:
    """The method of the best mean among those that gave a number in most repetitions.

    The yardstick that saw the complete rows does not compete.
    """
    whole = {
        name: one
        for name, draws in found.items()
        if not is_yardstick(name) and (one := summary(draws, measure)) and one.is_whole
    }
    most = max((one.count for one in whole.values()), default=0)
    means = {name: one.mean for name, one in whole.items() if one.count == most}
    choose = max if LARGER_IS_BETTER[measure] else min
    return choose(means, key=lambda name: means[name]) if means else None


def level_with_best(found: Mapping[str, Draws], measure: str) -> frozenset[str]:
    """The best method, and all that a paired 95% interval cannot tell from it.

    Empty where there is a single repetition: nothing is known of chance then. A method that was
    run in fewer repetitions is compared in those, and may be clearly better in them.
    """
    best = best_method(found, measure)
    if best is None or len(found[best]) < 2:
        return frozenset()
    level = {best}
    for name, draws in found.items():
        one, behind = summary(draws, measure), difference(draws, found[best], measure)
        if not is_yardstick(name) and one and one.is_whole and behind and behind.low <= 0:
            level.add(name)
    return frozenset(level)

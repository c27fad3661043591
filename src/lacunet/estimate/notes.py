"""What to know of the rows that a plan meets, whether it is carried out or only explained."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from lacunet.data.errors import DataWarning
from lacunet.data.read import note_on_sets
from lacunet.data.reading import IGNORED
from lacunet.errors import warn
from lacunet.estimate.method import Plan
from lacunet.missingness.asked import notes_on_rules
from lacunet.statistics.gather import Statistics
from lacunet.wording import first_of, listed

MOST_NAMED = 3  # variables in a note
LEAST_WORTH = 0.1  # of the number of rows: weighted rows that are worth less get a note


def notes_on_rows(plan: Plan, statistics: Statistics) -> tuple[str, ...]:
    """How the rows were read and will be used."""
    used = (*_on_weights(statistics), *_on_sets(plan, statistics))
    return (*statistics.notes, *used, *plan.notes)


def warned_of_missing(plan: Plan, statistics: Statistics, latent: Sequence[str]) -> tuple[str, ...]:
    """Notes, which are warnings too, on what the rows miss."""
    notes = (
        *_on_unseen(statistics, {*latent, *_coarse(plan, statistics)}),
        *_on_ignored(statistics, latent),
        *_on_rules(plan, statistics),
    )
    for note in notes:
        warn(note, DataWarning)
    return notes


def _on_weights(statistics: Statistics) -> Iterator[str]:
    """That a few rows outweigh all others."""
    if statistics.total < LEAST_WORTH * statistics.rows:
        yield (
            f"the weights differ so much that the {statistics.rows:,} rows are worth about "
            f"{statistics.total:.1f}: a few rows decide the CPTs, and intervals are not reliable. "
            "Check the largest weights."
        )


def _on_sets(plan: Plan, statistics: Statistics) -> Iterator[str]:
    """How many cells a plan without EM takes as missing that are one of several states."""
    if statistics.cells_of_sets and not _coarse(plan, statistics):
        yield note_on_sets(statistics.cells_of_sets)


def _coarse(plan: Plan, statistics: Statistics) -> Collection[str]:
    """The variables of which EM knows by cells that are one of several states."""
    has_problems = any(stage.needs.problems is not None for stage in plan.stages)
    return statistics.cells_of_sets if has_problems else ()


def _on_unseen(statistics: Statistics, expected: Collection[str]) -> Iterator[str]:
    """Columns that hold no value."""
    if unseen := [name for name in statistics.never_shown if name not in expected]:
        states = "its states" if len(unseen) == 1 else "their states"
        yield (
            f"no row shows {listed(unseen)}: the data cannot tell {states} apart, and what is "
            "learned of them rests on the prior, or on where EM starts."
        )


def _on_ignored(statistics: Statistics, latent: Sequence[str]) -> Iterator[str]:
    """What columns may say of missing values that the network does not have."""
    is_ignored = any(IGNORED in note for note in statistics.notes)
    partly = [v for v, missing in statistics.missing_of.items() if missing and v not in latent]
    if is_ignored and partly:
        yield (
            f"values of {first_of(partly, MOST_NAMED)} may be missing because of what the ignored "
            "columns hold, and the CPTs are biased then: lacunet.diagnose(data) (lacunet diagnose "
            "DATA) tests all columns, and those that it names belong in the network."
        )


def _on_rules(plan: Plan, statistics: Statistics) -> Iterator[str]:
    """Questions of which rows do not show whether they were asked, where there is no graph."""
    if plan.graph is None:
        partially = [name for name, missing in statistics.missing_of.items() if missing]
        yield from notes_on_rules(plan.network, partially)

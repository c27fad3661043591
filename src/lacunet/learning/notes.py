"""What to know of the rows that a plan meets, whether it is carried out or only explained."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from lacunet.counts.gather import Statistics
from lacunet.data.column_rules import IGNORED
from lacunet.data.errors import DataWarning
from lacunet.data.read import note_on_sets
from lacunet.errors import warn
from lacunet.learning.plan import Learned, Plan
from lacunet.missingness.learned.not_asked import notes_on_rules
from lacunet.text import first_of, listed

MAX_VARIABLES_IN_NOTE = 3
LEAST_WORTH = 0.1  # of the number of rows: weighted rows that are worth less get a note


def notes_on_rows(plan: Plan, statistics: Statistics) -> tuple[str, ...]:
    """How the rows were read and will be used."""
    notes = [*statistics.notes]
    if statistics.total < LEAST_WORTH * statistics.rows:
        notes.append(
            f"the weights differ so much that the {statistics.rows:,} rows are worth about "
            f"{statistics.total:.1f}: a few rows decide the CPTs, and intervals are not reliable. "
            "Check the largest weights."
        )
    if statistics.cells_of_sets and not _coarse(plan, statistics):
        notes.append(note_on_sets(statistics.cells_of_sets))
    return (*notes, *plan.notes)


def warn_of_missing(plan: Plan, statistics: Statistics, latent: Sequence[str]) -> tuple[str, ...]:
    """Notes, which are warnings too, on what the rows miss."""
    notes: list[str] = []
    expected = {*latent, *_coarse(plan, statistics)}
    if unseen := [name for name in statistics.never_shown if name not in expected]:
        states = "its states" if len(unseen) == 1 else "their states"
        notes.append(
            f"no row shows {listed(unseen)}: the data cannot tell {states} apart, and what is "
            "learned of them rests on the prior, or on where EM starts."
        )
    partly = [name for name, missing in statistics.missing_of.items() if missing]
    known = [name for name in partly if name not in latent]
    if known and any(IGNORED in note for note in statistics.notes):
        notes.append(
            f"values of {first_of(known, MAX_VARIABLES_IN_NOTE)} may be missing because of what "
            "the ignored columns hold; the CPTs would then be biased. lacunet.diagnose(data) "
            "(lacunet diagnose DATA) tests all columns: consider adding those that it names "
            "to the network. "
            "To end this warning, name columns that do not matter: lacunet.Data(data, "
            "without=[...]) (--without)."
        )
    if plan.graph is None:
        notes += notes_on_rules(plan.network, partly)
    for note in notes:
        warn(note, DataWarning)
    return tuple(notes)


def warn_of_no_step(learned: Learned) -> None:
    """Warn where a limit left no step to EM: what stands may assume more than EM does."""
    ended = learned.ended
    if ended is not None and ended.stands and ended.reason in ("time limit", "cost limit"):
        warn(learned.notes[-1])  # the stage of EM is the last


def _coarse(plan: Plan, statistics: Statistics) -> Collection[str]:
    """The variables of which EM knows by cells that are one of several states."""
    has_problems = any(stage.needs.problems is not None for stage in plan.stages)
    return statistics.cells_of_sets if has_problems else ()

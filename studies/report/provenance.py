"""Where numbers come from: command, seed, numbers of problems, revision, versions, machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lacunet.text import counted
from studies.paper.studies import Study, study_named
from studies.report.figures import numbers_in_words
from studies.runner.outcomes import Outcome


def facts(study: Study, outcomes: Sequence[Outcome], typed: str = "") -> str:
    """What made some outcomes, in a few sentences; ``typed`` is the command, if it is known."""
    number_at: dict[int, int] = {}
    for one in outcomes:
        number_at[one.rows] = max(number_at.get(one.rows, 0), one.repetition + 1)
    revisions = ", ".join(dict.fromkeys(one.revision or "unknown" for one in outcomes))
    versions = "; ".join(dict.fromkeys(one.version for one in outcomes))
    machines = "; ".join(dict.fromkeys(one.machine for one in outcomes))
    return (
        f"`{typed or command(study, outcomes)}`; seed {study.seed}, up to "
        f"{numbers_in_words(number_at)} problems per place, {counted(len(outcomes), 'cell')}, "
        f"revision {revisions}; {versions}; {machines}."
    )


def command(study: Study, outcomes: Sequence[Outcome]) -> str:
    """The command line that gives these results: what differs from the study's own choices."""
    usual = study_named(study.name)
    sizes = sorted({one.rows for one in outcomes})
    at = {rows: max(one.repetition + 1 for one in outcomes if one.rows == rows) for rows in sizes}
    most = max(at.values())
    others = [f"{rows}:{number}" for rows, number in at.items() if number != most]
    as_usual = all(usual.repetitions_at.get(rows, usual.repetitions) == at[rows] for rows in sizes)
    parts = {
        "sizes": _other(usual.sizes, sizes),
        "repetitions": [] if as_usual else [most, *others],
        "limits": _other(usual.limits, [one.limit for one in outcomes]),
        "networks": _other([one.name for one in usual.networks], [one.network for one in outcomes]),
        "settings": _other([one.name for one in usual.settings], [one.setting for one in outcomes]),
        "methods": _other([one.name for one in usual.learners], [one.method for one in outcomes]),
        "seed": _other([usual.seed], [study.seed]),
        "test-rows": _other([usual.test_rows], [study.test_rows]),
    }
    words = [f"--{name} {','.join(map(_typed, own))}" for name, own in parts.items() if own]
    return " ".join(["python -m studies", study.name, *words])


def _other(usual: Sequence[Any], there: Sequence[Any]) -> list[Any]:
    """What is there, each once, unless it is what is usual."""
    found = list(dict.fromkeys(there))
    return [] if set(found) == set(usual) else found


def _typed(value: float | str | None) -> str:
    return "none" if value is None else f"{value:.9g}" if isinstance(value, float) else str(value)

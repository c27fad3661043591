"""Outcomes on disk: nothing finished is lost, nothing torn is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from lacunet.experiments.errors import ExperimentError
from lacunet.experiments.runner.journal import NAME, journal_in, read_journal
from lacunet.experiments.runner.outcomes import Outcome


def outcome(number: int) -> Outcome:
    return Outcome(
        key=f"key {number}",
        task="task",
        network="asia",
        setting="mcar",
        rows=100,
        repetition=number,
        seed=0,
        method="em",
        limit=None,
        status="ok",
        seconds=0.1,
        log_likelihood=-1 / 3,
        divergence=1e-17,
    )


def filled(folder: Path, count: int) -> bytes:
    with journal_in(folder) as journal:
        for number in range(count):
            journal.append(outcome(number))
    return (folder / NAME).read_bytes()


def test_outcomes_come_back_to_the_last_bit(tmp_path: Path) -> None:
    filled(tmp_path, 3)
    assert list(read_journal(tmp_path).values()) == [outcome(number) for number in range(3)]


def test_an_outcome_is_on_disk_as_soon_as_it_is_appended(tmp_path: Path) -> None:
    with journal_in(tmp_path) as journal:
        journal.append(outcome(0))
        assert list(read_journal(tmp_path)) == ["key 0"]


@pytest.mark.parametrize("kept", [0, 1, 40, -2])
def test_a_torn_last_line_is_dropped_and_the_others_stay(tmp_path: Path, kept: int) -> None:
    whole = filled(tmp_path, 3)
    last = whole[:-1].rfind(b"\n") + 1
    torn = whole[last:][:kept]
    (tmp_path / NAME).write_bytes(whole[:last] + torn)
    assert list(read_journal(tmp_path)) == ["key 0", "key 1"]
    with journal_in(tmp_path) as journal:
        assert list(journal.finished) == ["key 0", "key 1"]
        journal.append(outcome(2))
    assert (tmp_path / NAME).read_bytes() == whole


def test_a_broken_line_in_the_middle_is_named(tmp_path: Path) -> None:
    whole = filled(tmp_path, 3)
    (tmp_path / NAME).write_bytes(whole.replace(b'"key 1"', b'"key 1', 1))
    with pytest.raises(ExperimentError, match="line 2"):
        read_journal(tmp_path)


def test_two_runs_cannot_write_to_one_folder(tmp_path: Path) -> None:
    with (
        journal_in(tmp_path),
        pytest.raises(ExperimentError, match="another run"),
        journal_in(tmp_path),
    ):
        pass


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(ExperimentError, match="cannot be kept"),
        journal_in(tmp_path / "file" / "folder"),
    ):
        pass

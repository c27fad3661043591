"""Outcomes on disk: nothing finished is lost, nothing torn is kept."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from pyarrow import parquet

from studies.errors import StudyError
from studies.paper.studies import study_named
from studies.problems.sources import Source
from studies.runner.journal import (
    NAME,
    PURPOSE,
    journal_in,
    keep_to_purpose,
    read_journal,
    restore,
)
from studies.runner.outcomes import Outcome, as_plain, tidy


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


PLAIN = as_plain(outcome(0))


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
    with pytest.raises(StudyError, match="line 2"):
        read_journal(tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        b"[1, 2]",
        b'"text"',
        b"7",
        b"null",
        b"{}",
        b"\xff\xfe",
        b"[" * 100_000,
        *(
            json.dumps(PLAIN | change).encode()
            for change in (
                {"rows": "many"},
                {"rows": 10**400},
                {"rows": 0},
                {"rows": True},
                {"method": "a\nb"},
                {"status": "fine"},
                {"network": None},
                {"network": "\x1b[31m"},
                {"setting": ["first"]},
                {"limit": "soon"},
                {"divergence": {"value": 1}},
                {"seconds": "1"},
                {"more": 1},
            )
        ),
    ],
)
def test_what_no_run_could_have_written_is_named_and_refused(tmp_path: Path, line: bytes) -> None:
    (tmp_path / NAME).write_bytes(line + b"\n")
    with pytest.raises(StudyError, match="line 1: this is not a result"):
        read_journal(tmp_path)


@pytest.mark.parametrize("name", [NAME, PURPOSE])
def test_a_link_or_a_fifo_is_not_taken_for_a_journal(tmp_path: Path, name: str) -> None:
    precious = tmp_path / "precious"
    precious.write_text("keep me")
    for number, make in enumerate((lambda path: path.symlink_to(precious), os.mkfifo)):
        folder = tmp_path / str(number)
        folder.mkdir()
        make(folder / name)
        refused = read_journal if name == NAME else partial(keep_to_purpose, study_named("mnar"))
        with pytest.raises(StudyError, match="not a plain file"):
            refused(folder)
        with suppress(StudyError), journal_in(folder) as journal:
            journal.append(outcome(0))
    assert precious.read_text() == "keep me"


@pytest.mark.parametrize(
    "text", ["[]", "7", "{", '{"study": 1}', '{"study": "mnar", "seed": 0, "networks": []}', "\xff"]
)
def test_an_odd_purpose_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / PURPOSE).write_text(text, encoding="latin-1")
    with pytest.raises(StudyError, match="does not say what this folder is for"):
        keep_to_purpose(study_named("mnar"), tmp_path)


def test_the_purpose_is_replaced_in_one_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_to_purpose(study_named("mnar"), tmp_path)
    before = (tmp_path / PURPOSE).read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    more = replace(study_named("mnar"), networks=(Source("asia"),))
    with pytest.raises(StudyError, match="No space left"):
        keep_to_purpose(more, tmp_path)
    assert (tmp_path / PURPOSE).read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == [PURPOSE]


def test_problems_that_were_drawn_otherwise_are_not_averaged_with_ours(tmp_path: Path) -> None:
    keep_to_purpose(study_named("mnar"), tmp_path)
    kept = json.loads((tmp_path / PURPOSE).read_text())
    del kept["drawing"]  # as the version before wrote it
    (tmp_path / PURPOSE).write_text(json.dumps(kept))
    with pytest.raises(StudyError, match="with drawing 1, not 2"):
        keep_to_purpose(study_named("mnar"), tmp_path)


def test_two_runs_cannot_write_to_one_folder(tmp_path: Path) -> None:
    with (
        journal_in(tmp_path),
        pytest.raises(StudyError, match="another run"),
        journal_in(tmp_path),
    ):
        pass


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(StudyError, match="cannot be kept"),
        journal_in(tmp_path / "file" / "folder"),
    ):
        pass


def test_published_outcomes_begin_a_folder_and_replace_none_of_its_own(tmp_path: Path) -> None:
    filled(tmp_path / "published", 3)
    published = read_journal(tmp_path / "published")
    parquet.write_table(tidy(published.values()), tmp_path / "results.parquet")
    own = replace(outcome(1), seconds=99.0)
    with journal_in(tmp_path / "run") as journal:
        journal.append(own)
    study = study_named("table-mcar")
    assert restore(study, tmp_path / "run", tmp_path / "results.parquet") == 2
    assert restore(study, tmp_path / "run", tmp_path / "results.parquet") == 0
    assert read_journal(tmp_path / "run") == {**published, own.key: own}

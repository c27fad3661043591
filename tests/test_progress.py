"""Wherever progress can be asked for, True is a bar and a function is called."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

import lacunet as lc
from lacunet import progress as room
from public_names import functions_with

ASIA = lc.example("asia")
ROWS = lc.simulate(ASIA, 60, lc.MCAR(0.3, share=0.5), rng=1).to_frame()

CALLS: dict[str, Callable[[Any], object]] = {
    "learn": lambda asked: lc.learn(ASIA, ROWS, "em", progress=asked),
    "explain": lambda asked: lc.explain(ASIA, ROWS, progress=asked),
    "count": lambda asked: lc.count(ASIA, ROWS, progress=asked),
    "diagnose": lambda asked: lc.diagnose(ROWS, ASIA, rng=0, progress=asked),
    "sensitivity": lambda asked: lc.sensitivity(ASIA, ROWS, "lung=yes", "tub", progress=asked),
    "learn_structure": lambda asked: lc.learn_structure(ROWS, strengths=10, progress=asked),
}


def test_every_public_function_that_tells_its_progress_is_here() -> None:
    assert functions_with("progress") == CALLS.keys()


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.filterwarnings("ignore")
def test_true_is_a_bar(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []

    class Heard:
        def __call__(self, stage: str, *_: object) -> None:
            told.append(stage)

    monkeypatch.setattr(room, "Bar", Heard)
    CALLS[name](True)
    assert told


@pytest.mark.parametrize("name", CALLS)
def test_what_is_no_progress_is_refused(name: str) -> None:
    with pytest.raises(lc.LacunetError, match="'yes'"):
        CALLS[name]("yes")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_terminal_that_does_not_say_how_wide_it_is_has_a_bar() -> None:
    master, slave = os.openpty()  # of no rows and no columns, as recorders and containers give
    with os.fdopen(slave, "w") as terminal:
        bar = room.Bar(terminal, delay=0)
        bar("intervals", 1, 4)
        bar.close()
    shown = b""
    with suppress(OSError):  # Linux says so that nobody writes any more
        while part := os.read(master, 4096):
            shown += part
    os.close(master)
    assert b"intervals:" in shown

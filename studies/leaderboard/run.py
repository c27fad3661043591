"""Every entry on every case, in another process, with a limit of processor time."""

from __future__ import annotations

import csv
import multiprocessing
import resource
from collections.abc import Iterable
from dataclasses import dataclass, fields
from math import ceil
from pathlib import Path
from signal import SIGKILL, SIGXCPU
from time import monotonic, process_time
from typing import Any

import numpy as np

import lacunet as lc
from studies.leaderboard.cases import Case
from studies.leaderboard.entry import Learned, entry

TRIAL = Case("medicaltest", "MCAR", 20, 0)
SCORING = 300  # processor seconds for the comparison with the truth, which is not the learner's
RIVALS = ("pandas", "pgmpy.models", "pgmpy.parameter_estimator", "pyagrum", "sklearn.impute")


@dataclass(frozen=True)
class Line:
    """One entry on one case. ``problem`` is empty where it learned a network."""

    entry: str
    network: str
    setting: str
    rows: int
    repetition: int
    kl: float
    seconds: float
    covered: int
    intervals: int
    problem: str


def scored(name: str, case: Case, limit: int | None = None) -> Line:
    """Learn, within ``limit`` seconds of processor time, and compare with the truth."""
    truth, frame = case.truth(), case.frame()
    bare = lc.Network(
        {variable: truth.states(variable) for variable in truth.variables},
        {variable: truth.parents(variable) for variable in truth.variables},
    )
    if limit is not None:
        _allow(limit)
    start = process_time()
    learned = entry(name).learn(bare, frame)
    seconds = process_time() - start
    if limit is not None:
        _allow(SCORING)
    covered, intervals = coverage(truth, learned)
    kl = lc.kl_divergence(truth, learned.network)
    return line_of(name, case, kl=kl, seconds=seconds, covered=covered, intervals=intervals)


def coverage(truth: lc.Network, learned: Learned) -> tuple[int, int]:
    """How many intervals contain the truth, and how many there are; sure things are left out."""
    covered = intervals = 0
    for variable, ends in learned.intervals.items():
        table = truth.cpt(variable).table
        open_question = (table > 0) & (table < 1)
        inside = (ends[..., 0] <= table) & (table <= ends[..., 1])
        covered += int(np.count_nonzero(inside & open_question))
        intervals += int(np.count_nonzero(open_question))
    return covered, intervals


def line_of(name: str, case: Case, **measured: Any) -> Line:
    """A line with what was measured; the rest is not a number."""
    empty = {"kl": np.nan, "seconds": np.nan, "covered": 0, "intervals": 0, "problem": ""}
    return Line(
        entry=entry(name).NAME,
        network=case.network,
        setting=case.setting,
        rows=case.rows,
        repetition=case.repetition,
        **{**empty, **measured},
    )


def _allow(seconds: int) -> None:
    """From here on so much processor time; then the system ends the process."""
    soft = ceil(process_time()) + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.RLIM_INFINITY))


def _work(pipe: Any, limit: int) -> None:
    """Answer each entry and case that comes through the pipe with a line."""
    loaded = set()
    while True:
        try:
            name, case = pipe.recv()
        except (EOFError, ConnectionError):  # nobody asks any more
            return
        _allow(SCORING)
        try:
            if name not in loaded:  # what an entry imports is not part of its time
                scored(name, TRIAL)
                loaded.add(name)
            line = scored(name, case, limit)
        except Exception as error:  # an entry may fail in any way; the line says how
            line = line_of(name, case, problem=f"{type(error).__name__}: {error}".split("\n")[0])
        pipe.send(line)


class _Worker:
    """A process that learns; a new one where a learner went past its limit and was ended."""

    def __init__(self, limit: int) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["studies.leaderboard.run", *RIVALS])
        self.limit = limit
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, limit), daemon=True)
        self.process.start()
        theirs.close()

    def line(self, name: str, case: Case) -> Line | None:
        """What the entry gives on the case, or nothing if the process was ended."""
        self.pipe.send((name, case))
        try:
            answer: Line = self.pipe.recv()
        except EOFError:
            self.process.join()
            return None
        return answer

    def problem(self) -> str:
        """Why the process ended."""
        code = self.process.exitcode
        is_late = code in (-SIGXCPU, -SIGKILL)
        return f"not done in {self.limit} s" if is_late else f"ended with {code}"


def run(
    names: Iterable[str], cases: Iterable[Case], path: Path, *, limit: int, until: float
) -> None:
    """Run what ``path`` does not have yet; begin nothing after ``until`` seconds."""
    begun, done = monotonic(), {_key(line) for line in read(path)}
    names, worker = tuple(names), _Worker(limit)
    for case in cases:
        for name in names:
            if _key(line_of(name, case)) in done:
                continue
            if monotonic() - begun > until:
                return
            line = worker.line(name, case)
            if line is None:
                line = line_of(name, case, problem=worker.problem())
                worker = _Worker(limit)
            write(path, line)


def _key(line: Line) -> tuple[str, str, str, int, int]:
    return line.entry, line.network, line.setting, line.rows, line.repetition


def read(path: Path) -> list[Line]:
    """The lines of a file; none if there is no file."""
    if not path.exists():
        return []
    kinds = {
        "kl": float,
        "seconds": float,
        "entry": str,
        "network": str,
        "setting": str,
        "problem": str,
    }
    with path.open(newline="") as file:
        return [
            Line(**{name: kinds.get(name, int)(value) for name, value in row.items()})
            for row in csv.DictReader(file)
        ]


def write(path: Path, line: Line) -> None:
    """Add a line to a file."""
    names = [field.name for field in fields(Line)]
    is_new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file)
        if is_new:
            writer.writerow(names)
        writer.writerow([getattr(line, name) for name in names])

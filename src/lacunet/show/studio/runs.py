"""Commands run for the studio: each in a process of its own, that can be watched and ended.

A run has a folder: those that give results are called 1, 2, 3, others by their kind, as plan or
test. What it wrote counts once ``run.json`` is there, so a run that was cancelled or failed leaves
nothing.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from shutil import rmtree
from threading import Lock, Thread
from time import monotonic
from typing import Any

from lacunet.atomic_files import replacing
from lacunet.errors import LacunetError
from lacunet.show.plain_values import plain_attributes

KEPT_LINES = 40
LONGEST_LABEL = 60
SECONDS_TO_TIDY_UP = 5.0  # seconds to tidy up in, before a command is killed
TEXTS = ("learned.json", "network.json", "graph.txt", "methods.txt", "output.txt")
FILES = ("page.html", *TEXTS, "network.svg", "network.pdf")
RESULTS = ("learn", "beside")  # kinds whose runs are numbered, for the user to choose from


class BusyError(LacunetError):
    """Another run has not ended."""


@dataclass(frozen=True)
class AskedRun:
    """What is to be run, one command after the other.

    ``words`` say what is special about it, ``about`` is kept with it as it is given; ``after`` is
    done to the folder once the commands have ended well.
    """

    kind: str
    commands: Sequence[Sequence[str]] = ()
    words: str = ""
    about: Mapping[str, Any] = field(default_factory=dict)
    after: Callable[[Path], None] = lambda _: None


@dataclass
class CurrentRun:
    """The run that is going on, or that ended last; the one object here that changes."""

    name: str
    task: AskedRun
    status: str = "running"  # then done, failed or cancelled
    progress: dict[str, Any] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    began: float = field(default_factory=monotonic)
    ended: float | None = None

    @property
    def seconds(self) -> float:
        """How long it took, or takes so far."""
        return round((self.ended or monotonic()) - self.began, 1)

    def as_data(self) -> dict[str, Any]:
        """What the page shows of it."""
        return {
            **plain_attributes(self, "name status progress"),
            "kind": self.task.kind,
            "message": "\n".join(self.lines),
            "seconds": self.seconds,
        }


class Runs:
    """The runs of a project, one at a time; ``folder`` is where they are kept, below ``root``."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root = root
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self._secret = secrets.token_bytes(32)
        self.job: CurrentRun | None = None
        self._process: subprocess.Popen[str] | None = None
        self._thread: Thread | None = None
        self._lock = Lock()

    def path(self, name: str) -> str:
        """The folder of a run, as commands that are run in the root call it."""
        return (self.folder / name).relative_to(self.root).as_posix()

    def next_name(self, kind: str) -> str:
        """The name of the next run of a kind."""
        before = "" if kind in RESULTS else f"{kind}-"
        names = [path.name for path in self.folder.iterdir() if path.name.startswith(before)]
        numbers = [int(digits) for name in names if (digits := name[len(before) :]).isdecimal()]
        return f"{before}{max(numbers, default=0) + 1}"

    def finished(self) -> list[dict[str, Any]]:
        """What is known of each run that ended well, the latest first."""
        numbered = []
        for path in self.folder.iterdir():
            # Of a folder that came from elsewhere, nothing is taken for granted.
            with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
                about = self._written(path.name, "run.json").read_text(encoding="utf-8")
                run = {**json.loads(about), "name": path.name}
                numbered.append((int(path.name.rpartition("-")[-1]), run))
        return [run for _, run in sorted(numbered, key=lambda pair: -pair[0])]

    def known(self, name: str) -> dict[str, Any]:
        """What is known of a run that ended well."""
        for run in self.finished():
            if run["name"] == name:
                return run
        raise LacunetError(f"there is no run {name}.")

    def rename(self, name: str, label: str) -> None:
        """Give a run that ended well a name of the user's; the number stays."""
        about = self.known(name) | {"label": " ".join(label.split())[:LONGEST_LABEL]}
        self._write_about(name, about)

    def remove(self, name: str) -> None:
        """Delete a run that ended well, with its files."""
        self.known(name)
        rmtree(self.folder / name)

    def _write_about(self, name: str, about: Mapping[str, Any]) -> None:
        with replacing(self.folder / name / "run.json", follow_links=False) as file:
            file.write(json.dumps(about, ensure_ascii=False, indent=1).encode())

    def file(self, name: str, file: str) -> Path:
        """A file that a finished run wrote."""
        if file not in FILES or file not in self.known(name)["files"]:
            raise LacunetError(f"run {name} has no file {file}.")
        return self._written(name, file)

    def _written(self, name: str, file: str) -> Path:
        """A file in the folder of a run; one that a link leads out of it is refused."""
        path = self.folder / name / file
        if not path.is_file() or path.resolve() != self.folder.resolve() / name / file:
            raise LacunetError(f"run {name} has no file {file} of its own.")
        return path

    def key(self, name: str) -> str:
        """What opens the files of a run, and nothing else, as long as the studio runs."""
        return hmac.new(self._secret, name.encode(), "sha256").hexdigest()

    def start(self, name: str, task: AskedRun) -> None:
        """Run a task; its folder will have this name."""
        with self._lock:
            if self.job is not None and self.job.status == "running":
                raise BusyError(f"{self.job.task.kind} is still running.", "cancel it, or wait.")
            try:
                (self.folder / name).mkdir()
            except FileExistsError:
                raise BusyError(
                    f"another studio in this folder has just begun run {name}.", "try again."
                ) from None
            self.job = CurrentRun(name, task)
            self._thread = Thread(target=self._run, args=(self.job,), daemon=True)
            self._thread.start()

    def cancel(self) -> None:
        """End the run that is going on; it leaves nothing."""
        with self._lock:
            if self.job is None or self.job.status != "running":
                return
            self.job.status = "cancelled"
            self.job.ended = monotonic()
            process, thread = self._process, self._thread
        if process is not None and process.poll() is None:
            process.terminate()
            try:
                process.wait(SECONDS_TO_TIDY_UP)
            except subprocess.TimeoutExpired:
                process.kill()
        if thread is not None:
            thread.join(SECONDS_TO_TIDY_UP)

    def _run(self, job: CurrentRun) -> None:
        ended = False
        try:
            ended = all(self._carried_out(job, command) for command in job.task.commands)
            if ended:
                job.task.after(self.folder / job.name)
        except (OSError, LacunetError) as error:
            ended = False
            job.lines.append(str(error))
        with self._lock:
            if job.status == "running":
                job.ended = monotonic()
                if ended:
                    self._keep(job)
                job.status = "done" if ended else "failed"
        if job.status != "done":
            rmtree(self.folder / job.name, ignore_errors=True)

    def _carried_out(self, job: CurrentRun, command: Sequence[str]) -> bool:
        """Run one command; whether it ended well."""
        with self._lock:
            if job.status != "running":
                return False
            job.progress = {"stage": f"lacunet {command[0]}", "done": 0, "total": None, "note": ""}
            flags = [] if command[0] == "show" else ["--progress", "json"]
            # What is printed is shown in the page, however wide the terminal of the studio is.
            environment = {name: text for name, text in os.environ.items() if name != "COLUMNS"}
            with (self.folder / job.name / "output.txt").open("wb") as output:
                process = self._process = subprocess.Popen(
                    [sys.executable, "-m", "lacunet", *command, *flags],
                    cwd=self.root,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.PIPE,
                    text=True,
                    encoding="utf-8",
                    errors="replace",
                )
        assert process.stderr is not None
        with process.stderr as lines:
            for line in lines:
                _take(job, line.rstrip())
        return process.wait() == 0

    def _keep(self, job: CurrentRun) -> None:
        task = job.task
        about = {
            "name": job.name,
            **plain_attributes(task, "kind words"),
            "commands": [shlex.join(["lacunet", *command]) for command in task.commands],
            "notes": job.lines,
            "made": datetime.now().astimezone().isoformat(sep=" ", timespec="seconds"),
            "seconds": job.seconds,
            "files": [name for name in FILES if (self.folder / job.name / name).is_file()],
            **task.about,
        }
        self._write_about(job.name, about)


def _take(job: CurrentRun, line: str) -> None:
    """A line of a command: how far it is, or something to be said."""
    message = {"note": line.removeprefix("lacunet: note: ")}
    with suppress(ValueError):  # of commands without progress, and of a traceback
        message = json.loads(line)
    if "stage" in message:
        job.progress = message
        return
    is_error = "error" in message
    text = str(LacunetError(message["error"], message["hint"])) if is_error else message["note"]
    job.lines = [*job.lines, text][-KEPT_LINES:]

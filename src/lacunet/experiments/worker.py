"""The child process that cells are run in: it can be killed without losing anything.

It keeps the last problem drawn, so that the methods that meet the same problem do not pay
for drawing it again. Messages to the parent: "learning" as the clock starts, "judging" as it
stops, then the outcome.
"""

from __future__ import annotations

import os
import signal
from multiprocessing.connection import Connection
from threading import Thread
from time import sleep

from lacunet.experiments.cells import Cell, Drawn
from lacunet.experiments.solve import solve


def work(connection: Connection, parent: int) -> None:
    """Solve the cells that come in until the parent is gone or says so (None)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what an interrupt means
    Thread(target=_die_with, args=(parent,), daemon=True).start()
    key, drawn = "", None
    try:
        while (cell := connection.recv()) is not None:
            if drawn is None or cell.problem.key != key:
                key, drawn = cell.problem.key, cell.problem.draw()
            _answer(connection, cell, drawn)
    except (EOFError, BrokenPipeError):
        return


def _answer(connection: Connection, cell: Cell, drawn: Drawn) -> None:
    connection.send(solve(cell, drawn, connection.send))


def _die_with(parent: int) -> None:
    """End this process soon after its parent, even in the middle of a long cell."""
    while os.getppid() == parent:
        sleep(0.5)
    os._exit(1)

"""Work that other processes can import."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
from numpy.typing import NDArray

from lacunet.errors import LacunetError


def squared(number: int) -> int:
    time.sleep(0.05 * (number % 3 == 0))
    return number**2


def large(_: int) -> NDArray[np.float64]:
    return np.zeros(2**24)  # far more than a pipe holds


def killed(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def holds_back_interrupts(_: int) -> bool:
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def refusing(number: int) -> int:
    if number == 3:
        raise LacunetError("three is not taken.", "give another.")
    return number

"""On what, and by which version, the numbers were made."""

from __future__ import annotations

import os
import platform
from functools import cache
from pathlib import Path


@cache
def version() -> str:
    """The versions that can matter to a result."""
    import numpy as np

    from lacunet import __version__

    return f"lacunet {__version__}, numpy {np.__version__}, python {platform.python_version()}"


@cache
def machine() -> str:
    """The processor, how many of its cores there are, and the memory."""
    cores = os.cpu_count() or 1
    return f"{_processor()}, {cores} cores, {_memory_gib():.0f} GiB, {platform.system()}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _memory_gib() -> float:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    except (AttributeError, ValueError, OSError):  # not known on this system
        return float("nan")

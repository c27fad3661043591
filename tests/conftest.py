"""What all tests share: one kernel of linear algebra, Hypothesis without a clock, one browser.

OpenBLAS picks its kernel by the processor, which moves last digits. EM that is close to its
tolerance may then end one step earlier or later: of the frozen results, four of 77 moved by up to
4e-9. So all x86 processors take the kernel under which they were frozen.
"""

import os
import platform
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

if platform.machine() in ("x86_64", "AMD64"):
    os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")  # before NumPy is imported

settings.register_profile("lacunet", deadline=None)
settings.load_profile("lacunet")

# Those of a terminal, to which tables would keep. Readline sets them behind Python's back, for
# programs that tests start; what is set here can be taken away there.
os.environ["COLUMNS"] = ""
del os.environ["COLUMNS"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Debian's chromium, driven by Playwright; without them the tests that ask are skipped."""
    from browsing import CHROMIUM, FLAGS

    playwright = pytest.importorskip(
        "playwright.sync_api", reason="Playwright is not installed: run `make browser`"
    )
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()

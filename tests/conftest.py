"""Hypothesis without a clock: the machines that run the tests are shared. One browser for all."""

import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("lacunet", deadline=None)
settings.load_profile("lacunet")

os.environ.pop("COLUMNS", None)  # of a terminal, to which tables would keep


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

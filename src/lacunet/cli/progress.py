"""A live bar on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from lacunet.progress import Progress, silent


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Show each stage of long work as a bar on stderr, if that is a terminal."""
    if not sys.stderr.isatty():
        yield silent
        return
    from tqdm import tqdm

    # miniters=1: a stage of slow steps must not inherit the pace of the one before.
    bar = tqdm(
        file=sys.stderr, leave=False, delay=0.5, unit_scale=True, dynamic_ncols=True, miniters=1
    )

    def show(stage: str, done: float, total: float | None, note: str = "") -> None:
        if bar.desc != f"{stage}: ":
            bar.set_description(stage, refresh=False)
            bar.reset(total)
        bar.total = total
        bar.set_postfix_str(note, refresh=False)
        bar.update(done - bar.n)

    try:
        yield show
    finally:
        bar.close()

"""The command line: one thin function a command, in a file with the command's name.

`parsing` reads what is typed; `options` are the arguments that commands share, `values`,
`typed_files`, `typed_networks`, `known_networks` and `inputs` what becomes of them; `output` and
`terminal` are where results and notes go.

Results go to stdout; progress, notes and errors to stderr, as JSON if the progress is. Exit codes:
0 done, 1 a problem with the input (a message, no traceback), 2 wrong usage, 130 interrupted, 143
stopped by SIGTERM.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from lacunet.cli.parsing import asks_for_json, parse_command_line
from lacunet.cli.signals import Signals, stopping
from lacunet.cli.terminal import display, note, say_error, streams
from lacunet.errors import LacunetError, LacunetWarning

INTERRUPTED = 130  # of commands that were stopped; main tells by which signal


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit code."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    mode = "json" if asks_for_json(words) else "none"  # the command itself may show a bar
    with streams(), stopping() as signals, display(mode):
        code = _run(words, signals)
        return signals.status if code == INTERRUPTED else code


def _run(words: Sequence[str], signals: Signals) -> int:
    """Run a command; what ends it early becomes a message and an exit code."""
    try:
        options = parse_command_line(words)
        from lacunet.cli.inputs import limit_of
        from lacunet.cli.output import refuse_overwriting
        from lacunet.cli.typed_files import split_files

        options.limit = limit_of(options)  # from here on: reading a network takes time too
        split_files(options)
        with _warnings_as_notes(), display(getattr(options, "progress", "none")):
            refuse_overwriting(options)
            code: int = options.run(options) or 0
        sys.stdout.flush()
    except LacunetError as error:
        say_error(error.message, error.hint, f"lacunet: {error}")
        return 1
    except KeyboardInterrupt:
        cause = f"stopped by {signals.name}" if signals.name else "interrupted"
        say_error(f"{cause}; no unfinished file is left.")
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output has gone, as in `lacunet ... | head`
        sys.stderr.close()
        return 0
    except OSError as error:
        if error.filename is not None:  # a file, which should have been refused in words
            raise
        say_error(f"the output cannot be written: {error.strerror}.")
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - what is left has nowhere to go
        return 1
    return code


@contextmanager
def _warnings_as_notes() -> Iterator[None]:
    """Show our own warnings as one line on stderr, without a place in the code."""
    with warnings.catch_warnings():
        shown = warnings.showwarning

        def show(message: Any, category: type[Warning], *location: Any, **more: Any) -> None:
            if issubclass(category, LacunetWarning):
                note(str(message))
            else:
                shown(message, category, *location, **more)

        warnings.showwarning = show
        warnings.simplefilter("always", LacunetWarning)
        yield

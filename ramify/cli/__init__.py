"""The command line: one thin file for each verb; parse the call, call the library, print.

Results go to standard output or `-o`, all else to standard error. Exit codes: 0 done, 1 the work failed, 2 the call
was wrong, 130 interrupted. torch and numba are imported by the verbs that need them, so `ramify --help` is quick.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from collections.abc import Sequence


def main() -> None:
    """The command `ramify`. Terminated, it cleans up as after Ctrl-C. Its output is UTF-8 in every environment."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    # torch's threads spin while they wait for each other: for long, they take the cores from those they wait for.
    os.environ.setdefault("GOMP_SPINCOUNT", "3000")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    elif sys.stdout is None:  # closed by who called
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - open as long as we run
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run a command line and return its exit code; no exception that Ramify raises on purpose passes here."""
    from ramify.cli.app import app
    from ramify.errors import CallError, RamifyError

    try:
        try:
            code = app(list(arguments), prog_name="ramify", standalone_mode=True)
        finally:
            sys.stdout.flush()  # here, where a reader that has gone or a full disk is met
    except SystemExit as stop:  # how typer ends, after messages of its own
        return stop.code if isinstance(stop.code, int) else 1
    except CallError as error:
        return _say(f"{error}", 2)
    except RamifyError as error:
        return _say(f"{error}", 1)
    except BrokenPipeError:  # the reader of our output has gone, as `head` does
        _drop_output()
        return 1
    except OSError as error:  # a full disk, a name that is too long
        _drop_output()
        place = f"{error.filename}: " if error.filename is not None else ""
        return _say(f"{place}{error.strerror or error}", 1)
    return code if isinstance(code, int) else 0


def _drop_output() -> None:
    """Forget what is not yet written, or else Python tries again when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(message: str, code: int) -> int:
    print(f"ramify: {message}", file=sys.stderr)
    return code

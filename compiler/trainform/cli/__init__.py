"""argv to calls to exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

OK, DIFFERS, FAULTY, BUG, INTERRUPTED = 0, 1, 2, 70, 130
"""Exit codes. DIFFERS: something was found that the caller asked about. FAULTY: input or invocation."""


def main() -> NoReturn:
    """The command `trainform`: never returns."""
    import gc

    gc.disable()  # a compile makes trees, not cycles: collecting costs a tenth of it and frees nothing
    _follow_the_customs_of_pipes()
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """One command line, to its exit code; never raises."""
    if list(arguments) == ["--version"]:  # asked by scripts, often: answered before anything is imported
        from trainform import __version__

        print(f"trainform {__version__}")
        return OK
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        from trainform.cli.bug import report

        report(error)
        return BUG


def _run(arguments: Sequence[str]) -> int:
    import click

    from trainform.cli.app import app

    try:
        code = app.main(list(arguments), prog_name="trainform", standalone_mode=False)
    except click.Abort:
        return INTERRUPTED
    except click.ClickException as error:
        error.show()
        return FAULTY
    return code or OK


def _follow_the_customs_of_pipes() -> None:
    """`trainform … | head` ends quietly, and a character that the terminal lacks is no crash."""
    import signal

    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]

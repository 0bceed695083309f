"""The entry point: argv in, exit code out."""

from __future__ import annotations

import os
import sys

from trainform.cli import BUG, FAULTY, INTERRUPTED, OK

TYPE_CHECKING = False  # as in trainform/__init__.py
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import NoReturn


def main() -> NoReturn:
    """The command `trainform`. Never returns."""
    import gc

    gc.disable()  # a compile makes no cycles: collecting garbage would take a tenth of the time and free nothing
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"  # an installed package must not change our models
    set_up_streams()
    code = run(sys.argv[1:])
    _flush()
    os._exit(code)  # skips the interpreter's clean-up, which takes 15 ms


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code. Never raises."""
    if list(arguments) == ["--version"]:  # scripts ask for it often: answer without further imports
        return reported(_print_version)
    from trainform.cli.streams import escaped_streams

    with escaped_streams():
        return reported(lambda: _run(arguments))


def reported(command: Callable[[], int]) -> int:
    """The exit code of a command. What it raises is printed."""
    try:
        code = command()
        sys.stdout.flush()  # here, a full disk can still be reported
        return code
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        return _failed_to_read_or_write(error)
    except Exception as error:
        from trainform.cli.errors import report

        report(error)
        return BUG


def _print_version() -> int:
    from trainform import __version__

    print(f"trainform {__version__}")
    return OK


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


def _flush() -> None:
    """Flush what `run` could not."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            continue


def _failed_to_read_or_write(error: OSError) -> int:
    """A disk, a mode or a limit of the machine, as far as no diagnostic of `io` has told it: no bug. An error without
    a file name is from a standard stream."""
    from trainform.cli.terminal import print_line

    where = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else "standard input or output"
    print_line(f"trainform: error: {where}: {error.strerror or error}", sys.stderr)
    return FAULTY


def set_up_streams() -> None:
    """Let `trainform ... | head` end quietly, treat a stream that the caller closed (`>&-`) as an empty one, and escape
    characters that the terminal cannot show. For every process that prints."""
    import signal

    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - stays open
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]

"""argv to calls to exit code."""

from __future__ import annotations

import os
import sys
from types import ModuleType

TYPE_CHECKING = False  # as in trainform/__init__.py
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

OK, DIFFERS, FAULTY, BUG, INTERRUPTED = 0, 1, 2, 70, 130
"""Exit codes. DIFFERS: something was found that the caller asked about. FAULTY: input or invocation."""


def main() -> NoReturn:
    """The command `trainform`: never returns."""
    import gc

    gc.disable()  # a compile makes trees, not cycles: collecting costs a tenth of it and frees nothing
    _shut_out_plugins_of_pydantic()
    _open_what_is_closed()
    _follow_the_customs_of_pipes()
    code = run(sys.argv[1:])
    _flush()
    os._exit(code)  # nothing is left to do, and to take some hundred modules apart would take 15 ms


def run(arguments: Sequence[str]) -> int:
    """One command line, to its exit code; never raises."""
    try:
        code = _run(arguments)
        sys.stdout.flush()  # here, where a full disk can still be told
        return code
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        return _failed_to_read_or_write(error)
    except Exception as error:
        from trainform.cli.errors import report

        report(error)
        return BUG


def _run(arguments: Sequence[str]) -> int:
    if list(arguments) == ["--version"]:  # asked by scripts, often: answered before anything is imported
        from trainform import __version__

        print(f"trainform {__version__}")
        return OK
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


def _shut_out_plugins_of_pydantic() -> None:
    """Any installed package may bring one, and none has a part in a compile; to look for them takes 12 ms.

    Without this, `PYDANTIC_DISABLE_PLUGINS` would do the first, and nothing the second.
    """
    loader = ModuleType("pydantic.plugin._loader")
    vars(loader)["get_plugins"] = tuple
    sys.modules[loader.__name__] = loader


def _flush() -> None:
    """`run` has flushed what can be; here, what it could not."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            continue


def _failed_to_read_or_write(error: OSError) -> int:
    """A file is named in the error, and a bug: `io` tells of those. What has no name is a standard stream."""
    from trainform.cli.errors import report

    if error.filename is not None:
        report(error)
        return BUG
    print(f"trainform: error: standard input or output: {error.strerror}", file=sys.stderr)
    return FAULTY


def _open_what_is_closed() -> None:
    """`trainform … >&-`: a stream that the caller has closed is as good as an empty one."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - as long as we live


def _follow_the_customs_of_pipes() -> None:
    """`trainform … | head` ends quietly, and a character that the terminal lacks is no crash."""
    import signal

    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]

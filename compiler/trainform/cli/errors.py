"""Report bugs in trainform or a plugin."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from trainform.cli import BUG, OK
from trainform.cli.terminal import print_line, print_text
from trainform.core.plugin import PluginFailure
from trainform.core.registry import is_shipped

WITH_TRACEBACK = "Please report it to the project, with the text above and, if you may share it, the input."
WITHOUT_TRACEBACK = """\
Please report it to the project. Run the same command with TRAINFORM_DEBUG=1 in the environment,
and send what it prints and, if you may share it, the input."""


def report(error: BaseException) -> None:
    """Print to stderr what happened and how to report it, with the traceback if TRAINFORM_DEBUG is set."""
    import traceback  # slow to import and rarely needed

    debugging = _is_debugging()
    if debugging:
        traceback.print_exception(error)
    what = "".join(traceback.format_exception_only(error)).strip()
    print_line(f"trainform: internal error: {what}", sys.stderr)
    print_line(f"This is a bug in trainform or a plugin, not in your files ({_versions()}).", sys.stderr)
    print_text(f"{WITH_TRACEBACK if debugging else WITHOUT_TRACEBACK}\n", sys.stderr)


def report_failures(failures: Sequence[BaseException]) -> int:
    """Report the first plugin failure (a broken plugin breaks every job alike); returns the exit code, OK if none."""
    if not failures:
        return OK
    first = failures[0]
    if isinstance(first, PluginFailure) and not is_shipped(first.plugin):
        _report_plugin(first)
    else:
        report(first)
    return BUG


def _report_plugin(failure: PluginFailure) -> None:
    """Print to stderr whose bug it is."""
    import traceback

    if _is_debugging():
        traceback.print_exception(failure)
    print_line(f"trainform: {failure}", sys.stderr)
    print_line(
        f"This is a bug in plugin {failure.plugin}, not in your files or in trainform ({_versions()}).", sys.stderr
    )
    advice = "" if _is_debugging() else " Run the same command with TRAINFORM_DEBUG=1 to see where it happened."
    print_line(f"Report it to the authors of the plugin.{advice}", sys.stderr)


def _is_debugging() -> bool:
    return os.environ.get("TRAINFORM_DEBUG", "") not in ("", "0")


def _versions() -> str:
    from trainform import __version__

    python = ".".join(map(str, sys.version_info[:3]))
    return f"trainform {__version__}, Python {python}, {sys.platform}"

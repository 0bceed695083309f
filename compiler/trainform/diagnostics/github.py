"""Problems as GitHub Actions workflow commands, shown next to the lines of a pull request."""

from __future__ import annotations

from collections.abc import Iterable

from trainform.diagnostics.annotation import STDIN, message, title
from trainform.diagnostics.diagnostic import Diagnostic
from trainform.diagnostics.escape import log
from trainform.diagnostics.order import folded

_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}


def render_github(diagnostics: Iterable[Diagnostic], prefix: str = "") -> str:
    """A line `::error file=…,line=…,col=…,title=…::message` per problem; "" if there are none. GitHub shows ten
    annotations of each kind per step; the log holds them all.

    `prefix` is the path from the checkout's root to the root of the files, with a trailing slash; empty if they are the
    same.
    """
    return "".join(f"{_command(each, prefix)}\n" for each in folded(diagnostics))


def _command(diagnostic: Diagnostic, prefix: str) -> str:
    properties = ",".join(f"{name}={_property(value)}" for name, value in _properties(diagnostic, prefix).items())
    return f"::{_COMMANDS[diagnostic.severity]} {properties}::{_data(message(diagnostic))}"


def _properties(diagnostic: Diagnostic, prefix: str) -> dict[str, str]:
    properties: dict[str, str] = {}
    if diagnostic.file and diagnostic.file != STDIN:
        outside = diagnostic.file.startswith("/")
        properties["file"] = diagnostic.file if outside else prefix + diagnostic.file
        if position := diagnostic.position:
            properties |= {"line": str(position.line), "col": str(position.column)}
    return properties | {"title": f"{diagnostic.code} {title(diagnostic.code)}"}


def _data(text: str) -> str:
    """Escaped as in the runner's toolkit: a message must not end its line or start a command."""
    return log(text).replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

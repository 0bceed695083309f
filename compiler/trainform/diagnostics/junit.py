"""Problems as a JUnit report, which GitLab, Jenkins and others show with the tests of a change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from xml.sax.saxutils import escape, quoteattr

from trainform.diagnostics.diagnostic import Diagnostic, Severity
from trainform.diagnostics.escape import one_line
from trainform.diagnostics.order import at_least, folded
from trainform.diagnostics.text import render_text

SUITE = "trainform validate"
NOWHERE = "the repository as a whole"
"""The test case for problems without a file."""


def render_junit(diagnostics: Iterable[Diagnostic], files: Iterable[str], grave: Severity = "error") -> str:
    """One suite with a test case per file in `files` or with problems, sorted by name; clean files let viewers see what
    changed. A case fails if a problem is at least as severe as `grave`; others are its output. No times, for
    reproducible bytes."""
    told: dict[str, list[Diagnostic]] = {file: [] for file in files}
    for each in folded(diagnostics):
        told.setdefault(each.file or NOWHERE, []).append(each)
    failed = sum(at_least(grave, problems) for problems in told.values())
    counts = f'tests="{len(told)}" failures="{failed}" errors="0"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f"<testsuites {counts}>",
        f'  <testsuite name="{SUITE}" {counts} skipped="0">',
        *(line for file in sorted(told) for line in _case(file, told[file], grave)),
        "  </testsuite>",
        "</testsuites>",
    ]
    return "\n".join(lines) + "\n"


def _case(file: str, problems: list[Diagnostic], grave: Severity) -> Iterator[str]:
    head = f'    <testcase classname="{SUITE}" name={_attribute(file)}'
    if not problems:
        yield f"{head}/>"
        return
    yield f"{head}>"
    failures = [each for each in problems if at_least(grave, [each])]
    rest = [each for each in problems if not at_least(grave, [each])]
    if failures:
        yield f'      <failure type="{failures[0].code}" message={_summary(failures)}>{_text(failures)}</failure>'
    if rest:
        yield f"      <system-out>{_text(rest)}</system-out>"
    yield "    </testcase>"


def _summary(failures: list[Diagnostic]) -> str:
    more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
    return _attribute(failures[0].message.split("\n")[0] + more)


def _text(problems: list[Diagnostic]) -> str:
    """The terminal text without color; `render_text` leaves no character that XML forbids."""
    return escape(render_text(problems, colour=False))


def _attribute(text: str) -> str:
    return quoteattr(one_line(text))

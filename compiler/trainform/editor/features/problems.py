"""The squiggles: each finding with the span that it marks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from trainform.diagnostics import Diagnostic, Position
from trainform.diagnostics.annotation import message
from trainform.diagnostics.excerpt import end_of
from trainform.editor.positions import Lines, Span


class ShownProblem(NamedTuple):
    """A finding as an editor shows it: the span that it marks, in `line`, and `text` with the hint."""

    span: Span
    line: str
    text: str
    diagnostic: Diagnostic


def shown_problems(diagnostics: Iterable[Diagnostic], lines: Lines | None) -> list[ShownProblem]:
    """The findings of one file; `lines` is its text, if it is known."""
    return [_shown(each, lines) for each in diagnostics]


def _shown(diagnostic: Diagnostic, lines: Lines | None) -> ShownProblem:
    """The element at a finding's position is marked; for a finding about a file, the start of the file."""
    at, place = diagnostic.position or Position(1, 1), diagnostic.place
    line = lines.line(at.line) if lines else place.line(at.line) if place else ""
    is_of_file = diagnostic.position is None and diagnostic.file
    text = f"{diagnostic.file} {message(diagnostic)}" if is_of_file else message(diagnostic)
    return ShownProblem(Span(at, Position(at.line, max(end_of(line, at.column), at.column))), line, text, diagnostic)

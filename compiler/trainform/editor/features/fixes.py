"""Fixes that an editor offers: what a hint says to write, applied and compiled before anybody sees it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from trainform.diagnostics import Diagnostic, Path
from trainform.diagnostics.diagnostic import dotted
from trainform.diagnostics.fixes import Fix, RemoveElement, RenameKey, SetValue, proposals
from trainform.diagnostics.order import in_order
from trainform.editor.features.edits import TextEdit, applied, edit_of
from trainform.editor.positions import Lines, Span
from trainform.source import Document

if TYPE_CHECKING:
    from trainform.editor.snapshot import RepositorySnapshot

MOST_JOBS = 3
"""Jobs with which a fix of a runtime or an Environment is tried."""
MOST_FIXES = 20
"""Findings on one request that fixes are tried for."""


class OfferedFix(NamedTuple):
    """An edit of the file that makes a finding go away, and brings no error."""

    title: str
    edit: TextEdit
    diagnostic: Diagnostic


def fixes(snapshot: RepositorySnapshot, file: str, span: Span) -> list[OfferedFix]:
    """The fixes for the findings of a file that touch a span."""
    lines = snapshot.lines(file)
    found = [each for each in snapshot.findings.get(file, ()) if _touches(each, span)]
    if lines is None:
        return []
    tried = (fix for each in found[:MOST_FIXES] for fix in _tried(snapshot, lines, each))
    return [*{(fix.diagnostic.code, fix.edit): fix for fix in tried}.values()]


def _touches(diagnostic: Diagnostic, span: Span) -> bool:
    at = diagnostic.position
    return at is not None and span.start.line <= at.line <= span.end.line


def _tried(snapshot: RepositorySnapshot, lines: Lines, finding: Diagnostic) -> Iterator[OfferedFix]:
    """The proposals of a finding's hint that do what they promise. Different ones may come to the same text."""
    entry = snapshot.entry_at(finding.file, finding.position) if finding.position else None
    if entry is None:
        return
    document, edits = entry.document, dict[str, tuple[Fix, TextEdit]]()
    for proposal in proposals(finding):
        for fix in _narrowed(proposal, document, finding):
            if edit := edit_of(document, fix, finding.position):
                edits.setdefault(applied(lines, edit), (fix, edit))
    edits.pop(lines.text, None)
    if not edits:
        return
    jobs = _files_of(snapshot, finding)
    before = in_order(snapshot.said_with(finding.file, lines.text, jobs))
    for text, (fix, edit) in edits.items():
        if _is_cure(finding, before, in_order(snapshot.said_with(finding.file, text, jobs))):
            yield OfferedFix(_title(fix, edit), edit, finding)


def _narrowed(fix: Fix, document: Document, finding: Diagnostic) -> Iterator[Fix]:
    """A fix without what the message does not speak of: of several entries, the named ones, and of a text, the word."""
    value = _value(document, fix.path)
    if isinstance(fix, RemoveElement) and fix.named and isinstance(value, dict | list) and len(value) > 1:
        words = {*re.findall(r"[\w./-]+", finding.message)}
        named = [key for key, name in _names(value) if name in words]
        yield from (RemoveElement((*fix.path, key)) for key in named)
        if named and not isinstance(fix.path[-1], int):
            return
    if isinstance(fix, SetValue) and isinstance(value, str):
        words = {*_WORD.findall(finding.message)}
        inside = sorted((word for word in words if word != value and word in value and len(word) > 1), key=len)
        if inside:
            new = value.replace(inside[-1], fix.text.strip('"'))
            yield SetValue(fix.path, json.dumps(new, ensure_ascii=False))
            return
    yield fix


_WORD = re.compile(r"(?<=')[^']+(?=')|(?<=\")[^\"]+(?=\")|\$\w+|^\S+")
"""What a message may quote of a value."""


def _names(value: dict[str, Any] | list[Any]) -> Iterator[tuple[str | int, str]]:
    """The entries of a collection with what a message calls them."""
    if isinstance(value, dict):
        yield from ((key, key) for key in value)
    else:
        for index, each in enumerate(value):
            yield index, str(each.get("name", "")) if isinstance(each, dict) else str(each)


def _value(document: Document, path: Path) -> Any:
    value: Any = document.tree
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _files_of(snapshot: RepositorySnapshot, finding: Diagnostic) -> list[str]:
    """The files of jobs that a finding outside of their own concerns."""
    named = set(finding.jobs[:MOST_JOBS])
    return list(dict.fromkeys(each.file for each in snapshot.index if each.id in named))


def _is_cure(finding: Diagnostic, before: Iterable[Diagnostic], after: Iterable[Diagnostic]) -> bool:
    """Whether there are fewer of such findings, and no error that was not there."""
    old, new = Counter(map(_kind, before)), Counter(map(_kind, after))
    was, now = (Counter(map(_kind, filter(_is_error, found))) for found in (before, after))
    return new[_kind(finding)] < old[_kind(finding)] and now <= was


def _kind(diagnostic: Diagnostic) -> tuple[str, str]:
    return diagnostic.code, diagnostic.message


def _is_error(diagnostic: Diagnostic) -> bool:
    return diagnostic.severity == "error"


def _title(fix: Fix, edit: TextEdit) -> str:
    if isinstance(fix, RemoveElement):
        return f"Remove {dotted(fix.path)}"
    if isinstance(fix, RenameKey):
        return f"Rename to {fix.text}"
    return f"Write {edit.text.strip().lstrip(':').strip().rstrip(',').splitlines()[0]}"

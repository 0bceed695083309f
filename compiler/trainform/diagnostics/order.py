"""The order in which problems are told, and how they are counted."""

from __future__ import annotations

from collections.abc import Iterable

from trainform.diagnostics.diagnostic import Diagnostic, Severity, dotted

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


def in_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Sorted by file, line, column and code; the same problem found twice is told once.

    A runtime that ten jobs use is read once but checked with each of them, hence the doubles.
    """
    # Looked up once: a position costs a walk through the source, and every format asks for it several times.
    placed = (each._replace(at=each.position) if each.place else each for each in diagnostics)
    unique = {_key(diagnostic): diagnostic for diagnostic in placed}
    return [unique[key] for key in sorted(unique)]


def _key(diagnostic: Diagnostic) -> tuple[str | int, ...]:
    line, column = diagnostic.position or (0, 0)
    where = (diagnostic.file, line, column, diagnostic.code)
    what = (dotted(diagnostic.path), diagnostic.object, dotted(diagnostic.object_path))
    return (*where, *what, diagnostic.severity, diagnostic.message, diagnostic.plugin)


BROKEN_RUNTIME = "TF206"
"""Told to each job for each error of its runtime, which is told where it stands as well."""


def folded(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """In order, and each fault of a source once: an error in a runtime shows in the objects of every job that uses it,
    and the first of them stands for the others. Idempotent."""
    told = in_order(diagnostics)
    own = {_fault(each) for each in told if each.severity == "error" and not each.object}
    same = {(_fault(each), each.message) for each in told if not each.object}
    groups: dict[tuple[str | int, ...], list[Diagnostic]] = {}
    for diagnostic in told:
        fault = _fault(diagnostic)
        if not diagnostic.object or fault not in own or (fault, diagnostic.message) in same:
            groups.setdefault(_cause(diagnostic), []).append(diagnostic)
    return [_first_of(group) for group in groups.values()]


def _fault(diagnostic: Diagnostic) -> tuple[object, ...]:
    """What is at fault: a rendered object may show another side of an error that its source has already.

    A broken runtime is told many times to one element of a job; each message is a fault of its own.
    """
    apart = diagnostic.message if diagnostic.code == BROKEN_RUNTIME else ""
    return diagnostic.file, diagnostic.position, diagnostic.path, diagnostic.severity, apart


def _cause(diagnostic: Diagnostic) -> tuple[str | int, ...]:
    line, column = diagnostic.position or (0, 0)
    message = "" if diagnostic.code == BROKEN_RUNTIME else diagnostic.message
    field = dotted(diagnostic.path)
    return diagnostic.file, line, column, diagnostic.code, diagnostic.severity, field, message, diagnostic.plugin


def _first_of(group: list[Diagnostic]) -> Diagnostic:
    first = next((each for each in group if each.object), group[0])
    if len(group) > 1 and first.code == BROKEN_RUNTIME:
        message = f"{group[0].message}, and {counted(len(group) - 1, 'more error')}"
        return group[0]._replace(message=message, object="", object_path=())
    others = len({each.object for each in group if each.object}) - 1
    return first._replace(others=others) if others > 0 else first


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    return any(diagnostic.severity == "error" for diagnostic in diagnostics)


def at_least(severity: Severity, diagnostics: Iterable[Diagnostic]) -> bool:
    """Whether any problem is as grave as `severity`, or graver."""
    grave = SEVERITIES[: SEVERITIES.index(severity) + 1]
    return any(diagnostic.severity in grave for diagnostic in diagnostics)


def summary(diagnostics: Iterable[Diagnostic]) -> str:
    """`2 errors, 1 warning in 1 file`, or nothing when there is nothing to tell."""
    told = list(diagnostics)
    counts = [(severity, sum(1 for each in told if each.severity == severity)) for severity in SEVERITIES]
    parts = [counted(count, severity) for severity, count in counts if count]
    files = len({each.file for each in told if each.file})
    return ", ".join(parts) + (f" in {counted(files, 'file')}" if files else "")


FEW = 3


def brief(diagnostics: Iterable[Diagnostic]) -> tuple[list[Diagnostic], str]:
    """What a command tells in passing whose business is another: every error, a few warnings of each code,
    and the count of what is left out (`997 warnings, 1000 infos`), empty where nothing is."""
    told, left = [], dict.fromkeys(SEVERITIES, 0)
    shown: dict[str, int] = {}
    seen = set()
    for each in diagnostics:
        same = (each.code, each.file, each.path, each.message)  # found once with each Environment, for example
        if each.severity != "error" and same in seen:
            continue
        seen.add(same)
        shown[each.code] = shown.get(each.code, 0) + 1
        if each.severity == "error" or (each.severity == "warning" and shown[each.code] <= FEW):
            told.append(each)
        else:
            left[each.severity] += 1
    return told, ", ".join(counted(count, severity) for severity, count in left.items() if count)


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"

"""Order and counts of reported problems."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from trainform.diagnostics.diagnostic import TEMPLATE, Diagnostic, JobRef, Severity, dotted

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


def in_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Problems sorted by file, line, column and code, without duplicates, which arise because a runtime used by ten
    jobs is read once but checked with each; one stands for all their jobs."""
    # Looked up once: each lookup walks the source, and every format asks several times.
    placed = (each._replace(at=each.position) if each.place else each for each in diagnostics)
    unique: dict[tuple[str | int, ...], Diagnostic] = {}
    jobs: dict[tuple[str | int, ...], set[JobRef]] = {}
    for each in placed:
        key = _key(each)
        unique[key] = each
        if each.jobs:
            jobs.setdefault(key, set()).update(each.jobs)
    return [_concerning(unique[key], jobs.get(key, ())) for key in sorted(unique)]


def _concerning(diagnostic: Diagnostic, jobs: Collection[JobRef]) -> Diagnostic:
    return diagnostic if len(jobs) == len(diagnostic.jobs) else diagnostic._replace(jobs=tuple(sorted(jobs)))


def _key(diagnostic: Diagnostic) -> tuple[str | int, ...]:
    line, column = diagnostic.position or (0, 0)
    where = (diagnostic.file, line, column, diagnostic.code)
    what = (dotted(diagnostic.path), diagnostic.object, dotted(diagnostic.object_path))
    return (*where, *what, diagnostic.severity, diagnostic.message, diagnostic.plugin)


UNSELECTED = "TF166"
"""A job that nothing renders: reported, like errors, by every command that leaves it out."""

BROKEN_RUNTIME = "TF206"
"""Reported on each job for each error of its runtime, in addition to the error itself."""


def folded(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Problems in order, each source fault once: an error in a runtime appears in the objects of every job that uses
    it, and a fault of a template in every job that it makes. The first object stands for all. Idempotent."""
    told = in_order(diagnostics)
    own = {_fault(each) for each in told if each.severity == "error" and not each.object}
    same = {(_fault(each), each.message) for each in told if not each.object}
    groups: dict[tuple[str | int, ...], list[Diagnostic]] = {}
    for diagnostic in told:
        fault = _fault(diagnostic)
        if not diagnostic.object or fault not in own or (fault, diagnostic.message) in same:
            groups.setdefault(_cause(diagnostic), []).append(diagnostic)
    return _once_per_template(_first_of(group) for group in groups.values())


def _once_per_template(told: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Of problems at one place of a template whose messages only differ in values, the first with the number of the
    others."""
    shown: list[Diagnostic] = []
    earlier: dict[tuple[object, ...], list[int]] = {}
    for each in told:
        at = earlier.setdefault((*_fault(each), each.code, each.plugin), [])
        known = at[:FEW] if each.file.endswith(TEMPLATE) else ()
        same = next((index for index in known if _says_the_same(shown[index].message, each.message)), None)
        if same is None:
            at.append(len(shown))
            shown.append(each)
        else:
            shown[same] = shown[same]._replace(alike=shown[same].alike + 1)
    return shown


def once(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Problems in order. What is no error and says the same of the same field of many documents is told once, with the
    other places."""
    shown: list[Diagnostic] = []
    first: dict[tuple[object, ...], int] = {}
    for each in folded(diagnostics):
        same = first.setdefault((each.code, each.severity, each.message, each.path), len(shown))
        if same == len(shown) or each.severity == "error" or each.position is None:
            shown.append(each)
        else:
            shown[same] = shown[same]._replace(also=(*shown[same].also, (each.file, each.position.line)))
    return shown


def _says_the_same(first: str, second: str) -> bool:
    """Whether most words of two messages are equal: the values in them are few."""
    words, others = first.split(), second.split()
    equal = sum(one == other for one, other in zip(words, others, strict=False))
    return len(words) == len(others) and 2 * equal > len(words)


def _fault(diagnostic: Diagnostic) -> tuple[object, ...]:
    """Identity of a fault: a rendered object may show another symptom of an error already reported at its source. A
    broken runtime is reported several times on one element of a job; each message is a separate fault."""
    apart = diagnostic.message if diagnostic.code == BROKEN_RUNTIME else ""
    return diagnostic.file, diagnostic.position, diagnostic.path, diagnostic.severity, apart


def _cause(diagnostic: Diagnostic) -> tuple[str | int, ...]:
    line, column = diagnostic.position or (0, 0)
    message = "" if diagnostic.code == BROKEN_RUNTIME else diagnostic.message
    field = dotted(diagnostic.path)
    return diagnostic.file, line, column, diagnostic.code, diagnostic.severity, field, message, diagnostic.plugin


def _first_of(group: list[Diagnostic]) -> Diagnostic:
    first = next((each for each in group if each.object), group[0])
    first = _concerning(first, {job for each in group for job in each.jobs})
    if len(group) > 1 and first.code == BROKEN_RUNTIME:
        message = f"{group[0].message}, and {counted(len(group) - 1, 'more error')}"
        return group[0]._replace(message=message, object="", object_path=())
    others = len({each.object for each in group if each.object}) - 1
    return first._replace(others=others) if others > 0 else first


def gravest(told: list[Diagnostic], most: int) -> list[Diagnostic]:
    """The `most` gravest of them, the first of equal ones, in their order."""
    if len(told) <= most:
        return told
    ranked = sorted(range(len(told)), key=lambda index: SEVERITIES.index(told[index].severity))
    return [told[index] for index in sorted(ranked[:most])]


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    return any(diagnostic.severity == "error" for diagnostic in diagnostics)


def at_least(severity: Severity, diagnostics: Iterable[Diagnostic]) -> bool:
    """Whether any problem is at least as severe as `severity`."""
    grave = SEVERITIES[: SEVERITIES.index(severity) + 1]
    return any(diagnostic.severity in grave for diagnostic in diagnostics)


def summary(diagnostics: Iterable[Diagnostic]) -> str:
    """`2 errors, 1 warning in 1 file`, or empty."""
    told = list(diagnostics)
    counts = [
        (severity, sum(1 + len(each.also) for each in told if each.severity == severity)) for severity in SEVERITIES
    ]
    parts = [counted(count, severity) for severity, count in counts if count]
    files = len({file for each in told for file in (each.file, *(file for file, _ in each.also)) if file})
    return ", ".join(parts) + (f" in {counted(files, 'file')}" if files else "")


FEW = 3


def brief(diagnostics: Iterable[Diagnostic]) -> tuple[list[Diagnostic], str]:
    """For commands whose main output is something else: every error, a few warnings per code, and a count of the rest
    (`997 warnings, 1000 infos`), which may be empty."""
    told, left = [], dict.fromkeys(SEVERITIES, 0)
    shown: dict[str, int] = {}
    seen = set()
    for each in diagnostics:
        same = (each.code, each.file, each.path, each.message)  # for example, found once per Environment
        if each.severity != "error" and same in seen:
            continue
        seen.add(same)
        shown[each.code] = shown.get(each.code, 0) + 1
        if each.severity == "error" or (each.severity == "warning" and shown[each.code] <= FEW):
            told.append(each)
        else:
            left[each.severity] += 1
    return told, ", ".join(counted(count, severity) for severity, count in left.items() if count)


def first_of_kinds(told: list[Diagnostic]) -> tuple[list[Diagnostic], dict[str, int]]:
    """Every error, the first problem of each other code, and how many more of it there are."""
    shown, more = [], dict[str, int]()
    for each in told:
        if each.severity == "error" or each.code not in more:
            shown.append(each)
        if each.severity != "error":
            more[each.code] = more.get(each.code, -1) + 1
    return shown, {code: count for code, count in more.items() if count}


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"

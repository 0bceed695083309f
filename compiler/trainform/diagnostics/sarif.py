"""Problems as SARIF 2.1.0 for code-scanning services."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from trainform.diagnostics.annotation import STDIN, message, title
from trainform.diagnostics.codes import CODES
from trainform.diagnostics.diagnostic import Diagnostic, dotted
from trainform.diagnostics.order import folded
from trainform.diagnostics.pages import help_of
from trainform.diagnostics.silence import Suppressed, by_reason

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "%SRCROOT%"
"""The base of relative paths: the root of the checkout."""

NOWHERE = "trainform.yaml"
"""Location of problems without a file: code scanning rejects a result without one."""

_LEVELS = {"error": "error", "warning": "warning", "info": "note"}


def sarif_log(
    diagnostics: Iterable[Diagnostic],
    version: str,
    prefix: str = "",
    suppressed: Iterable[Suppressed] = (),
    page_of: Callable[[str], str] = lambda code: code,
    documentation: str = "",
) -> dict[str, Any]:
    """One log with one run: a result per problem, and a rule per code that occurs. Columns count characters from 1.

    `version` is trainform's. `prefix` is the path from the checkout's root to the root of the files, with a trailing
    slash; empty if they are the same. `suppressed` become results with a suppression.
    `page_of` gives the text of a code's page. `documentation` is the address of the folder `docs`, if it has one.
    """
    told: _Told = [*((each, None) for each in folded(diagnostics)), *_hushed(suppressed)]
    codes = sorted({each.code for each, _ in told})
    rules = [
        {"id": code, "shortDescription": {"text": title(code)}, **_help(code, page_of, documentation)} for code in codes
    ]
    run = {
        "tool": {"driver": {"name": "trainform", "version": version, "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"description": {"text": "The root of the checkout."}}},
        "results": _results(told, codes, prefix),
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _help(code: str, page_of: Callable[[str], str], documentation: str) -> dict[str, object]:
    if code not in CODES:
        return {}
    address = {"helpUri": f"{documentation}/codes/{code}.md"} if documentation else {}
    return help_of(code, page_of(code)) | address


_Told = list[tuple[Diagnostic, Suppressed | None]]


def _hushed(suppressed: Iterable[Suppressed]) -> _Told:
    """Suppressed problems in order, each once."""
    return [(one, group[0]) for group in by_reason(suppressed) for one in folded(each.diagnostic for each in group)]


def _results(told: _Told, codes: list[str], prefix: str) -> list[dict[str, Any]]:
    seen: Counter[str] = Counter()
    results = []
    for each, why in told:
        identity = _identity(each)
        seen[identity] += 1
        result = _result(each, codes.index(each.code), f"{identity}:{seen[identity]}", prefix)
        results.append(result | ({"suppressions": [why.to_json()]} if why else {}))
    return results


def _result(diagnostic: Diagnostic, rule: int, fingerprint: str, prefix: str) -> dict[str, Any]:
    jobs = {"properties": {"jobs": ["/".join(job) for job in diagnostic.jobs]}} if diagnostic.jobs else {}
    return {
        "ruleId": diagnostic.code,
        "ruleIndex": rule,
        "level": _LEVELS[diagnostic.severity],
        "message": {"text": message(diagnostic)},
        "locations": [_location(diagnostic, prefix)],
        "partialFingerprints": {"trainformField/v1": fingerprint},
        **jobs,
    }


def _location(diagnostic: Diagnostic, prefix: str) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": _artifact(diagnostic.file, prefix)}
    if position := diagnostic.position:
        physical["region"] = {"startLine": position.line, "startColumn": position.column}
    location: dict[str, Any] = {"physicalLocation": physical}
    if logical := _logical(diagnostic):
        location["logicalLocations"] = logical
    return location


def _artifact(file: str, prefix: str) -> dict[str, str]:
    """A file in the checkout by its path from the root; any other by its absolute path."""
    if file == STDIN:
        return {"uri": "stdin"}
    if file.startswith("/"):
        return {"uri": f"file://{quote(_bytes(file))}"}
    return {"uri": quote(_bytes(prefix + (file or NOWHERE))), "uriBaseId": ROOT}


def _logical(diagnostic: Diagnostic) -> list[dict[str, str]]:
    """The source field, and the field of the rendered object if the problem shows there."""
    places = [("", diagnostic.path)] if diagnostic.path else []
    if diagnostic.object:
        places.append((diagnostic.object, diagnostic.object_path))
    return [
        {"fullyQualifiedName": " ".join(filter(None, (name, dotted(path)))), "kind": "property" if path else "object"}
        for name, path in places
    ]


def _identity(diagnostic: Diagnostic) -> str:
    """A fingerprint that survives moved lines, new wording and further affected jobs: the code and the source field, or
    the rendered object's field if no source field is known."""
    rendered = ("", "") if diagnostic.path else (diagnostic.object, dotted(diagnostic.object_path))
    parts = "\0".join((diagnostic.code, diagnostic.file, dotted(diagnostic.path), *rendered))
    return sha256(_bytes(parts)).hexdigest()[:32]


def _bytes(text: str) -> bytes:
    """UTF-8; a file name may hold other bytes, as lone surrogates."""
    return text.encode(errors="surrogatepass")

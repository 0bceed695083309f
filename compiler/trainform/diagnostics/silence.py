"""Findings that are not shown, and why."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from trainform.diagnostics.diagnostic import Diagnostic


class Suppressed(NamedTuple):
    """A finding with the kind of its suppression, in SARIF's terms: by a comment in the source, or by the baseline."""

    diagnostic: Diagnostic
    kind: Literal["inSource", "external"]
    reason: str = ""

    def to_json(self) -> dict[str, str]:
        """SARIF's `suppression` object."""
        return {"kind": self.kind} | ({"justification": self.reason} if self.reason else {})


def by_reason(suppressed: Iterable[Suppressed]) -> list[list[Suppressed]]:
    """Groups of equal kind and reason, sorted."""
    groups: dict[tuple[str, str], list[Suppressed]] = {}
    for each in suppressed:
        groups.setdefault((each.kind, each.reason), []).append(each)
    return [groups[key] for key in sorted(groups)]

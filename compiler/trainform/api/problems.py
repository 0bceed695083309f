"""A problem of one document, by path; `of` makes it a diagnostic with a position."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from trainform.diagnostics import Diagnostic, Path, Severity

if TYPE_CHECKING:
    from trainform.source import Document

_UNKNOWN = ("TF101", "TF106", "TF107", "TF108")


class Problem(NamedTuple):
    """A problem of the element at `path`.

    `leave_out`: elements that later stages leave out of the model; None means the element itself, `()` nothing. `fill`:
    the value that a cluster webhook would set for a missing element. `stand_in`: path and value of a placeholder for
    the rules; `leave_out` then applies to later stages only. `lacks`: the element lacks something, which is not told
    if a part of it was left out because of another problem.
    """

    path: Path
    code: str
    message: str
    hint: str = ""
    severity: Severity = "error"
    leave_out: tuple[Path, ...] | None = None
    fill: str = ""
    stand_in: tuple[Path, Any] | None = None
    lacks: bool = False

    @property
    def gone(self) -> tuple[Path, ...]:
        """Elements to leave out of the model."""
        if self.leave_out is None:
            return () if self.fill else (self.path,)
        return self.leave_out

    def moved(self, move: Callable[[Path], Path]) -> Problem:
        """The problem with `move` applied to all its paths."""
        left_out = None if self.leave_out is None else tuple(map(move, self.leave_out))
        stand_in = self.stand_in and (move(self.stand_in[0]), self.stand_in[1])
        return self._replace(path=move(self.path), leave_out=left_out, stand_in=stand_in)

    def of(self, document: Document) -> Diagnostic:
        """The diagnostic; an unknown field is shown at its key."""
        at = document.key_position(self.path) if self.code in _UNKNOWN else None
        hint = _IN_A_TEMPLATE if self.code == "TF301" and _is_computed(self.path, document) else self.hint
        return Diagnostic(self.code, self.severity, self.message, hint, self.path, document, at)


_IN_A_TEMPLATE = "the filter dns makes a part of a name from a value: write {{ … | dns }}"


def _is_computed(path: Path, document: Document) -> bool:
    """Whether an expression of a template writes the element, so that its text is not in the file."""
    if not document.part.source.is_template:
        return False
    return "{{" in document.line(document.position(path).line)


def more_problems(count: int) -> Problem:
    """What stands for `count` further problems of a document."""
    return Problem((), "TF104", f"and {count:,} more problems in this object", "fix the first ones, then run again")


SERVER_WRITTEN = {
    "status": (),
    "metadata": (
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "finalizers",
        "generation",
        "managedFields",
        "ownerReferences",
        "resourceVersion",
        "selfLink",
        "uid",
    ),
}
"""Fields in a live object's dump that a repository does not need."""

_OF_CONTROLLERS = ("finalizers", "ownerReferences")


def server_written(path: Path) -> Problem:
    """A note on a field of a live object's dump that a repository does not need."""
    who = "controllers in the cluster set it" if path[-1] in _OF_CONTROLLERS else "only the API server sets it"
    return Problem(path, "TF107", f"is ignored: {who}", "remove it", severity="info")

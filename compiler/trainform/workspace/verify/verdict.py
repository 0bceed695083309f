"""What `check` says of a job, or of a file that belongs to none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from trainform.io.paths import JobId

State = Literal["current", "unproven", "mispinned", "stale", "edited", "missing", "orphan", "foreign"]


class Mispin(NamedTuple):
    """A pin that nothing accounts for: at this line of the lockfile, and why."""

    pin: str
    file: str
    line: int
    message: str


class Verdict(NamedTuple):
    """The result for a job; for a file that belongs to none, `job` holds what is known of its location. `pins` are
    those of a mispinned job, which only a comparison with a commit finds."""

    job: JobId
    state: State
    files: Sequence[str] = ()
    pins: Sequence[Mispin] = ()

    @property
    def is_good(self) -> bool:
        return self.state in ("current", "unproven")

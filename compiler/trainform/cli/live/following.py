"""What `trainform status --watch` prints."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from trainform.cli import DIFFERS, OK
from trainform.cli.streams import wants_colour
from trainform.cli.terminal import flush, print_line, print_text
from trainform.review.live.text import headline, render_changes, render_status
from trainform.workspace.live.follow import follow_status

if TYPE_CHECKING:
    from trainform.cluster.connection import Login
    from trainform.review.live.model import LiveStatus


def follow(root: str, env: Sequence[str], jobs: Sequence[str], login: Login) -> int:
    """Print the table, then a line for each change, until all jobs ended or the time is over; returns the exit
    code."""
    gc.enable()  # it goes on for hours
    colour = wants_colour(sys.stdout)
    before: LiveStatus | None = None
    has_changed = False
    with closing(follow_status(root, env, jobs, login)) as found:
        for now in found:
            told = render_changes(before, now, colour=colour) if before else render_status(now, colour=colour)
            has_changed |= bool(before and told)
            print_text(told)
            flush()
            before = now
            if now.has_ended:
                break
    assert before is not None  # it begins with a status
    if has_changed:
        print_line(headline(before))
    if not before.has_ended:
        print_line(f"not all jobs ended within {login.seconds:g} s", sys.stderr)
        return DIFFERS
    return OK if before.is_as_in_git else DIFFERS

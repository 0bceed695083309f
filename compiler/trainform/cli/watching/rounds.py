"""One round of a watch: `render`, and what it means in the words of `diff`."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from trainform.cli import OK
from trainform.cli.main import reported, run, set_up_streams
from trainform.cli.streams import escaped_streams

if TYPE_CHECKING:
    from trainform.review.diff.model import Diff

BASE = "HEAD"
"""What `diff` compares with, too."""


def one_round(command: Sequence[str], root: str, env: Sequence[str], told: Diff | None, *, brief: bool) -> Diff | None:
    """Run a command line of `render` and print what it tells; if it wrote, tell what the change does to jobs, except
    what an earlier round `told`, and `brief` or in full. The diff that is known now; None if none could be made yet."""
    gc.disable()  # as in `main`
    set_up_streams()
    if run(command) != OK:
        return told
    known = told

    def tell() -> int:
        nonlocal known
        now = _difference(root, env)
        if now is not None:
            _print(now, told, brief=brief)
            known = now
        return OK

    with escaped_streams():
        reported(tell)
    return known


def _difference(root: str, env: Sequence[str]) -> Diff | None:
    """None where nothing is committed that it could compare with."""
    from trainform.cli.terminal import print_line
    from trainform.io.git import GitError, NoCommit
    from trainform.io.repository import open_repository
    from trainform.workspace import InvocationError
    from trainform.workspace.diff.difference import diff

    repository, problems = open_repository(root)
    try:
        return diff(repository, problems, BASE, env).diff
    except NoCommit:
        return None
    except (GitError, InvocationError) as error:
        print_line(f"no diff: {error}", sys.stderr)
        return None


def _print(diff: Diff, told: Diff | None, *, brief: bool) -> None:
    from trainform.cli.streams import wants_colour
    from trainform.cli.terminal import print_text
    from trainform.review.diff.text import render_news

    print_text(render_news(diff, told, BASE, colour=wants_colour(sys.stdout), brief=brief))

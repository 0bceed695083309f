"""`trainform render --watch`: wait for a moment to render, and do so in an interpreter of its own."""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from trainform.cli import OK
from trainform.cli.options import is_quiet, is_verbose
from trainform.cli.terminal import flush, print_line
from trainform.cli.watching.rounds import one_round
from trainform.io.workers import WorkerDied, in_new_interpreter
from trainform.workspace.watch.moments import moments, need_watchfiles

if TYPE_CHECKING:
    from trainform.review.diff.model import Diff


class WatchedRender(NamedTuple):
    """What a run of `render` is asked to do each time."""

    root: str
    jobs: Sequence[str]
    environments: Sequence[str]
    keep_going: bool
    no_cache: bool
    workers: int

    def command(self, *more: str) -> list[str]:
        """The command line."""
        words = ["render", f"--root={self.root}", *(f"--env={each}" for each in self.environments), *more]
        words += ["--keep-going"] * self.keep_going + ["--no-cache"] * self.no_cache
        words += [f"--workers={self.workers}"] * bool(self.workers)
        return [*words, "--", *self.jobs]


def watch_and_render(asked: WatchedRender) -> int:
    """Render at once and after each change, until KeyboardInterrupt, or InvocationError once the repository is gone."""
    need_watchfiles()
    gc.enable()  # it goes on for hours
    command = asked.command(*["--quiet"] * is_quiet(), *["--verbose"] * is_verbose())
    render_and_tell = partial(one_round, brief=not is_verbose())
    told: Diff | None = None
    for number, moment in enumerate(moments(asked.root)):
        if moment.waits:
            _say(f"waiting: {moment.waits}")
            continue
        if number:
            _say("")
        try:
            told = in_new_interpreter(render_and_tell, command, asked.root, asked.environments, told)
        except WorkerDied as error:
            if _is_about_output(error):
                break
            print_line(f"trainform: error: the process that renders {error}", sys.stderr)
        if not number:
            _say("watching for changes; Ctrl-C ends")
    return OK


def _say(line: str) -> None:
    if not is_quiet():
        print_line(line)
        flush()


def _is_about_output(error: WorkerDied) -> bool:
    """Whether nobody reads what is printed any more, as in `… | head`."""
    return hasattr(signal, "SIGPIPE") and error.code == -signal.SIGPIPE

"""`trainform status --watch`: the status of jobs, and each time that it may have changed."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING

from trainform.cluster.watch import Watches
from trainform.workspace.live.status import standing

if TYPE_CHECKING:
    from trainform.cluster.connection import Login
    from trainform.review.live.model import LiveStatus


def follow_status(root: str, asked: Sequence[str], jobs: Sequence[str], login: Login) -> Generator[LiveStatus]:
    """See `status`. Ends when the login's time is over."""
    with standing(root, asked, jobs, login) as found:
        yield found.status()
        with Watches(found.connection.client, found.sources) as watches:
            for source, news in watches.news():
                found.take(source, news)
                yield found.status()

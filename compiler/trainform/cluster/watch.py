"""Watches of the Kubernetes API: what changes of a kind, as it happens."""

from __future__ import annotations

import json
import math
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from trainform.cluster import MAY_PASS, ClusterError, Expired, OutOfTime, Unreachable
from trainform.cluster.client import FIRST_PAUSE, LONGEST_PAUSE, ApiStream, Client
from trainform.cluster.resource import ApiResource
from trainform.diagnostics.escape import one_line
from trainform.k8s.tree import Tree, metadata_of, number, table, text

WATCH_SECONDS = 50
"""After which the server ends a stream, and it is asked for anew. So a connection that is dead is noticed: nothing ever
comes, not even the end."""

LONGEST_WATCH = 2.0 * WATCH_SECONDS
"""Seconds after which we end a stream that the server does not."""

LONGEST_LINE = 16 << 20
"""Bytes of one event; etcd keeps no object of more than 1.5 MiB."""

LONGEST_REFUSAL = 300.0
"""Seconds after which a refusal that may pass is believed: a kind that is removed stays away, and who must log in anew
is sent there for ever."""

MOST_NEWS = 1000
"""News that wait to be read."""

LONGEST_WAIT = 1.0
"""Seconds of one wait for news: on some systems, Ctrl-C does not end a longer one."""


class WatchSource(NamedTuple):
    """What is watched: a kind, in all namespaces or one, from the version of a list on; empty for a list first."""

    resource: ApiResource
    namespace: str
    version: str


class Listed(NamedTuple):
    """All objects that there are."""

    trees: Sequence[Tree]


class Changed(NamedTuple):
    """An object that is new or was changed; `gone`: it was deleted."""

    tree: Tree
    gone: bool


class BrokenOff(NamedTuple):
    """The stream broke off, for a reason, and will be asked for again."""

    reason: str


News = Listed | Changed | BrokenOff | ClusterError
"""ClusterError: there is no more to come from this source."""


def follow(
    client: Client,
    source: WatchSource,
    pause: Callable[[float], object] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[News]:
    """What changes, without end. Goes on where a stream ended; where that is not possible any more (410), everything
    is listed again. Raises ClusterError if another attempt is of no use."""
    resource, namespace, version = source
    wait, refused = FIRST_PAUSE, math.inf
    while True:
        began = clock()
        first, refused = min(refused, began), math.inf
        try:
            if not version:
                found = client.listing(resource, namespace)
                version = found.version
                yield Listed(found.trees)
            for event in _events(client, resource, namespace, version):
                version = text(metadata_of(event.tree), "resourceVersion") or version
                wait = FIRST_PAUSE
                if event.kind != "BOOKMARK":
                    yield Changed(event.tree, event.kind == "DELETED")
        except OutOfTime:
            raise
        except Expired:
            version = ""
        except MAY_PASS as error:
            refused = math.inf if isinstance(error, Unreachable) else first
            if began - refused >= LONGEST_REFUSAL:
                raise
            yield BrokenOff(str(error))
        if clock() - began > LONGEST_PAUSE:
            wait = FIRST_PAUSE
        pause(wait)
        wait = min(wait * 2, LONGEST_PAUSE)


class _Event(NamedTuple):
    """`kind` is ADDED, MODIFIED, DELETED or BOOKMARK."""

    kind: str
    tree: Tree


def _events(client: Client, resource: ApiResource, namespace: str, version: str) -> Iterator[_Event]:
    """The events of one stream. Raises Expired, and Unreachable where it breaks off."""
    query = {
        "watch": "true",
        "resourceVersion": version,
        "allowWatchBookmarks": "true",
        "timeoutSeconds": str(WATCH_SECONDS),
    }
    with client.opened(resource.path(namespace), **query) as stream:
        for line in _lines(stream):
            event = _event(line)
            if event.kind == "ERROR":
                raise _error(event.tree)
            if event.kind in ("ADDED", "MODIFIED", "DELETED", "BOOKMARK"):
                yield event._replace(tree={**event.tree, **resource.head})


def _lines(stream: ApiStream) -> Iterator[bytes]:
    """Whole lines: half a line at the end is of a stream that broke off."""
    left, end = b"", time.monotonic() + LONGEST_WATCH
    for chunk in stream.chunks:
        *lines, left = (left + chunk).split(b"\n")
        yield from filter(None, lines)
        if time.monotonic() > end:
            return
        if len(left) > LONGEST_LINE:
            raise Unreachable(f"an event has more than {LONGEST_LINE >> 20} MiB")


def _event(line: bytes) -> _Event:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Unreachable("an event is not JSON") from error
    if not isinstance(found, dict):
        raise Unreachable("an event is no object")
    return _Event(text(found, "type"), table(found, "object"))


def _error(status: Tree) -> ClusterError:
    message = one_line(text(status, "message")) or "the server ended the watch"
    return Expired(message, 410) if number(status, "code") == 410 else Unreachable(message)


class Watches:
    """Follows several sources at once, each in a thread of its own, until the block ends."""

    def __init__(self, client: Client, sources: Sequence[WatchSource]) -> None:
        self._client, self._sources = client, sources
        self._news: queue.Queue[tuple[WatchSource, News | Exception]] = queue.Queue(MOST_NEWS)
        self._over = threading.Event()

    def __enter__(self) -> Watches:
        for source in self._sources:
            threading.Thread(target=self._follow, args=(source,), daemon=True).start()
        return self

    def __exit__(self, *_error: object) -> None:
        """The threads end by themselves, at the latest with the process."""
        self._over.set()

    def news(self) -> Iterator[tuple[WatchSource, News]]:
        """What happens, until the client's time is over."""
        while True:
            try:
                source, news = self._news.get(timeout=min(self._client.deadline.left(), LONGEST_WAIT))
            except OutOfTime:
                return
            except queue.Empty:
                continue
            if isinstance(news, Exception) and not isinstance(news, ClusterError):
                raise news
            yield source, news

    def _follow(self, source: WatchSource) -> None:
        try:
            for news in follow(self._client, source, self._over.wait):
                if self._over.is_set():
                    return
                self._news.put((source, news))
        except OutOfTime:
            return
        except Exception as error:
            self._news.put((source, error))

"""How a watch goes on: where it begins again, how long it waits before, and how it ends."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice

import pytest

from trainform.cluster import ClusterError, NotAllowed, NotFound, OutOfTime, Rejected
from trainform.cluster.client import LONGEST_PAUSE, ApiAnswer, ApiRequest, ApiStream, Broken, Client
from trainform.cluster.deadline import Deadline
from trainform.cluster.resource import ApiResource
from trainform.cluster.watch import LONGEST_WATCH, BrokenOff, Changed, Listed, News, Watches, WatchSource, follow

PODS = ApiResource("v1", "Pod", "pods", True)
GONE = {"type": "ERROR", "object": {"code": 410, "message": "too old"}}


def pod(name: str, version: int) -> dict:
    return {"metadata": {"name": name, "resourceVersion": str(version)}}


def event(kind: str, name: str, version: int) -> dict:
    return {"type": kind, "object": pod(name, version)}


class Server:
    """Plays a script: for each watch, the events of its stream, or an error. A list always has the pod `listed`. After
    the script, the time is over."""

    def __init__(self, *streams: Sequence[dict] | Exception | ApiStream) -> None:
        self.streams = [*streams]
        self.asked: list[str] = []
        self.pauses: list[float] = []
        self.closed = 0

    def send(self, request: ApiRequest) -> ApiAnswer:
        self.asked.append("list")
        listed = {"kind": "PodList", "metadata": {"resourceVersion": "50"}, "items": [pod("listed", 7)]}
        return ApiAnswer(200, {}, json.dumps(listed).encode())

    def opening(self, request: ApiRequest) -> ApiStream:
        self.asked.append(request.path.partition("resourceVersion=")[2].partition("&")[0])
        if not self.streams:
            raise OutOfTime("the script is over")
        stream = self.streams.pop(0)
        if isinstance(stream, Exception):
            raise stream
        if isinstance(stream, ApiStream):
            return stream
        return ApiStream(200, {}, iter([json.dumps(each).encode() + b"\n" for each in stream]), self.close)

    def close(self) -> None:
        self.closed += 1


def followed(server: Server, version: str = "10", clock: Callable[[], float] = lambda: 0.0) -> list[News]:
    """What a watch tells until the script is over."""
    client, found = Client(server.send, opening=server.opening), list[News]()
    with suppress(OutOfTime):
        for each in follow(client, WatchSource(PODS, "", version), server.pauses.append, clock):
            found.append(each)
    return found


def changed(name: str, version: int, *, gone: bool = False) -> Changed:
    return Changed({**pod(name, version), "apiVersion": "v1", "kind": "Pod"}, gone)


def test_events_are_news_and_move_on_where_the_next_stream_begins():
    server = Server([event("ADDED", "a", 11), event("MODIFIED", "a", 12)], [event("DELETED", "a", 13)])
    assert followed(server) == [changed("a", 11), changed("a", 12), changed("a", 13, gone=True)]
    assert server.asked == ["10", "12", "13"]
    assert server.closed == 2


def test_bookmarks_are_no_news_and_move_on_all_the_same():
    server = Server([event("BOOKMARK", "", 30)])
    assert followed(server) == []
    assert server.asked == ["10", "30"]


def test_without_a_version_everything_is_listed_first():
    server = Server([])
    assert followed(server, version="") == [Listed([{**pod("listed", 7), "apiVersion": "v1", "kind": "Pod"}])]
    assert server.asked == ["list", "50", "50"]


def test_what_is_too_old_is_listed_again():
    server = Server([event("ADDED", "a", 11), GONE], [])
    first, second = followed(server)
    assert first == changed("a", 11)
    assert isinstance(second, Listed)
    assert server.asked == ["10", "list", "50", "50"]


def test_pauses_grow_while_nothing_comes():
    """Also where every stream ends at once, and where every version is too old: no server is asked without a pause."""
    for nothing in ([], [GONE], Broken("closed")):
        server = Server(*[nothing] * 9)
        followed(server)
        assert server.pauses == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]
    assert LONGEST_PAUSE == 30


def test_pauses_begin_anew_after_an_event():
    server = Server([], [], [], [event("BOOKMARK", "", 30)], [])
    followed(server)
    assert server.pauses == [0.5, 1, 2, 0.5, 1]


def test_pauses_begin_anew_after_a_stream_that_was_quiet_for_long():
    times = iter([0, 0, 0, 0, 0, 100, 100])
    server = Server([], [], [])
    followed(server, clock=lambda: next(times))
    assert server.pauses == [0.5, 1, 0.5]


def test_a_stream_that_the_server_never_ends_is_ended(monkeypatch):
    """It may send empty lines for ever."""
    now = iter(range(0, 1000, 10))
    monkeypatch.setattr("trainform.cluster.watch.time.monotonic", lambda: next(now))

    def lines() -> Iterator[bytes]:
        while True:
            yield b"\n"

    server = Server(ApiStream(200, {}, lines(), lambda: None))
    assert followed(server) == []
    assert next(now) < 2 * LONGEST_WATCH


def test_what_another_attempt_does_not_mend_ends_the_watch():
    refusal = ApiStream(403, {}, iter([b'{"message": ""}']), lambda: None)
    with pytest.raises(NotAllowed):
        followed(Server(refusal))


def refusal(status: int = 404) -> ApiStream:
    return ApiStream(status, {}, iter([b"<html>"]), lambda: None)


def minutes(*streams: Sequence[dict] | Exception | ApiStream) -> list[News]:
    """What is told where a minute lies between the requests."""
    server = Server(*streams)
    return followed(server, clock=lambda: 60.0 * len(server.asked))


@pytest.mark.parametrize("status", [302, 404, 418, 501])
def test_a_refusal_is_tried_again_for_five_minutes(status):
    told = minutes(*[refusal(status) for _ in range(5)])
    assert [type(each) for each in told] == [BrokenOff] * 5
    with pytest.raises((NotFound, Rejected)):
        minutes(*[refusal(status) for _ in range(6)])


@pytest.mark.parametrize(
    "between", [[], [GONE], Broken("closed"), refusal(503)], ids=["stream", "too old", "closed", "503"]
)
def test_five_minutes_are_of_refusals_in_a_row(between):
    """Whoever answers in between, or not at all: it is not the same refusal that stays."""
    minutes(*[refusal() for _ in range(5)], between, *[refusal() for _ in range(4)])


def test_a_connection_without_streams():
    (news,) = islice(follow(Client(Server().send), WatchSource(PODS, "", "10")), 1)
    assert news == BrokenOff("this connection has no streams")


def test_several_sources_are_followed_at_once_until_the_time_is_over():
    left = iter([60.0] * 8)

    class Script(Deadline):
        def left(self) -> float:
            try:
                return next(left)
            except StopIteration:
                raise OutOfTime("over") from None

    server = Server([event("ADDED", "a", 11)], Broken("closed"), NotAllowed("no"))
    client = Client(server.send, deadline=Script(), opening=server.opening)
    sources = [WatchSource(PODS, "a", "10"), WatchSource(PODS, "b", "10")]
    found = []
    with Watches(client, sources) as watches:
        for _, news in watches.news():
            found.append(news)
            if isinstance(news, ClusterError):
                break
    assert changed("a", 11) in found


def test_a_bug_in_a_thread_is_raised_where_it_is_seen():
    client = Client(Server().send, opening=lambda request: 1 / 0)  # type: ignore[arg-type, return-value]
    with Watches(client, [WatchSource(PODS, "", "10")]) as watches, pytest.raises(ZeroDivisionError):
        next(watches.news())


@pytest.mark.parametrize(("passed", "left"), [(0, 3), (2.5, 0.5)])
def test_a_deadline_says_what_is_left(passed, left):
    times = iter([100.0, 100.0 + passed])
    assert Deadline(3, lambda: next(times)).left() == left


def test_a_deadline_that_is_over():
    times = iter([100.0, 103.0])
    with pytest.raises(OutOfTime, match=r"did not answer everything within 3 s \(--timeout\)"):
        Deadline(3, lambda: next(times)).left()


def test_pauses_and_answers_are_bounded_by_the_deadline():
    """`Retry-After` may be 30 s, and an answer may take 300 s."""
    now, asked, pauses = [0.0], [], []

    def send(request: ApiRequest) -> ApiAnswer:
        asked.append(request.seconds)
        now[0] += 1
        return ApiAnswer(429, {"retry-after": "30"}, b"{}")

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        now[0] += seconds

    with pytest.raises(OutOfTime):
        Client(send, pause, deadline=Deadline(40, lambda: now[0])).get("/version")
    assert asked == [40, 9]
    assert pauses == [30, 8]

"""Requests to the Kubernetes API: what is tried again, what an answer means, and how lists are read page by page."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn
from urllib.parse import urlencode

from trainform.cluster import ClusterError, Expired, NotAllowed, NotFound, NotLoggedIn, Rejected, Unreachable
from trainform.cluster.deadline import Deadline
from trainform.diagnostics.escape import one_line
from trainform.k8s.tree import Tree, metadata_of, tables, text

if TYPE_CHECKING:
    from trainform.cluster.resource import ApiResource

ATTEMPTS = 5
FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0
"""Seconds between attempts: each pause is twice the one before. A server that says how long to wait (`Retry-After`) is
believed, up to the longest pause."""

TRY_AGAIN = frozenset((429, 500, 502, 503, 504))
PAGE = 500
"""Objects of a page, as kubectl asks for."""

MOST_OBJECTS = 200_000
"""Objects of one list, beyond which something is wrong with the cluster."""

MOST_PAGES = 2000
"""Pages of one list: a server may send pages without objects for ever."""

RESTARTS = 3
"""How often a list begins anew whose pages expired while it was read."""


class ApiRequest(NamedTuple):
    """`path` has no host; `body` is empty for a GET. `seconds` are left for the whole answer."""

    method: str
    path: str
    body: bytes = b""
    content_type: str = ""
    accept: str = "application/json"
    seconds: float = math.inf


class ApiAnswer(NamedTuple):
    """`headers` have names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class ApiStream(NamedTuple):
    """An answer whose body goes on. `chunks` raises Broken."""

    status: int
    headers: Mapping[str, str]
    chunks: Iterator[bytes]
    close: Callable[[], None]


class VersionedList(NamedTuple):
    """The objects of a list, and the version of the whole, from which a watch can go on."""

    trees: Sequence[Tree]
    version: str


class Broken(Exception):
    """No complete answer came: a timeout, or a connection that was closed. Another attempt may succeed."""


Transport = Callable[[ApiRequest], ApiAnswer]
"""Sends one request, once. Raises Broken, and ClusterError where another attempt is of no use."""

Opening = Callable[[ApiRequest], ApiStream]
"""The same for an answer that goes on."""


class Client:
    """The Kubernetes API of one cluster. Every method raises ClusterError, and OutOfTime after the deadline. It may be
    used by several threads."""

    def __init__(
        self,
        send: Transport,
        pause: Callable[[float], object] = time.sleep,
        *,
        deadline: Deadline | None = None,
        opening: Opening | None = None,
    ) -> None:
        self._send, self._pause, self._opening = send, pause, opening
        self.deadline = deadline or Deadline()

    def get(self, path: str, **query: str) -> Tree:
        """An object, by its path."""
        return _json(self._answer(ApiRequest("GET", _with(path, query))), path)

    def listed_at(self, path: str, field: str, **query: str) -> Tree:
        """A list, or a page of one, whose members are in `field`. Anything else must not look like an empty list: what
        is in none counts as gone."""
        found = self.get(path, **query)
        if not text(found, "kind").endswith("List") or type(found.get(field)) not in (list, type(None)):
            raise Unreachable(f"the answer to {path} is no list: something else than the API server answers")
        return found

    def log(self, path: str, **query: str) -> str:
        """The log of a container, as far as it is UTF-8."""
        answer = self._answer(ApiRequest("GET", _with(f"{path}/log", query), accept="*/*"))
        return answer.body.decode(errors="replace")

    def listed(self, resource: ApiResource, namespace: str = "", **query: str) -> Sequence[Tree]:
        """Every object of a kind, in all namespaces or one."""
        return self.listing(resource, namespace, **query).trees

    def listing(self, resource: ApiResource, namespace: str = "", **query: str) -> VersionedList:
        """The same, with the version."""
        for _ in range(RESTARTS):
            try:
                return self._pages(resource, namespace, query)
            except Expired:
                continue
        raise Unreachable(f"the list of {resource.plural} expired {RESTARTS} times while it was read: try again later")

    def apply(self, resource: ApiResource, tree: Tree, manager: str) -> Tree:
        """What a server-side apply would store. Nothing is stored: it is a dry run."""
        metadata = metadata_of(tree)
        path = resource.path(text(metadata, "namespace"), text(metadata, "name"))
        query = {"dryRun": "All", "fieldManager": manager, "force": "true", "fieldValidation": "Strict"}
        body = json.dumps(tree).encode()  # JSON is YAML
        request = ApiRequest("PATCH", _with(path, query), body, "application/apply-patch+yaml")
        return _json(self._answer(request), path)

    @contextmanager
    def opened(self, path: str, **query: str) -> Iterator[ApiStream]:
        """An answer that goes on, if it is a success; asked for once. Raises Unreachable if it breaks off in here."""
        if self._opening is None:
            raise Unreachable("this connection has no streams")
        request = ApiRequest("GET", _with(path, query), seconds=self.deadline.left())
        try:
            stream = self._opening(request)
            try:
                if stream.status != 200:
                    self._refuse_stream(stream, request)
                yield stream
            finally:
                stream.close()
        except Broken as error:
            raise Unreachable(str(error)) from error

    def _refuse_stream(self, stream: ApiStream, request: ApiRequest) -> NoReturn:
        answer = ApiAnswer(stream.status, stream.headers, b"".join(stream.chunks))
        if stream.status in TRY_AGAIN:
            raise Unreachable(f"{answer.status} {_message(answer)}".rstrip(), answer.status)
        _refuse(answer, request)

    def _pages(self, resource: ApiResource, namespace: str, query: Mapping[str, str]) -> VersionedList:
        found: list[Tree] = []
        path, more = resource.path(namespace), ""
        for _ in range(MOST_PAGES):
            asked = {**query, "limit": str(PAGE), **({"continue": more} if more else {})}
            page = self.listed_at(path, "items", **asked)
            found += ({**each, **resource.head} for each in tables(page, "items"))
            last, more = more, text(metadata_of(page), "continue")
            if not more:
                return VersionedList(found, text(metadata_of(page), "resourceVersion"))
            if more == last or len(found) > MOST_OBJECTS:
                break
        raise Unreachable(f"the list of {resource.plural} does not end")

    def _answer(self, request: ApiRequest) -> ApiAnswer:
        """The answer, if it is a success. Tries again where that may help."""
        pause, why = FIRST_PAUSE, ""
        for attempt in range(ATTEMPTS):
            try:
                answer = self._send(request._replace(seconds=self.deadline.left()))
            except Broken as error:
                why, wait = str(error), pause
            else:
                if answer.status not in TRY_AGAIN or _is_of_a_webhook(answer):
                    return answer if 200 <= answer.status < 300 else _refuse(answer, request)
                why = f"{answer.status} {_message(answer)}".rstrip()
                wait = _asked_to_wait(answer, pause)
            if attempt + 1 < ATTEMPTS:
                self._pause(min(wait, LONGEST_PAUSE, self.deadline.left()))
                pause *= 2
        raise Unreachable(f"no answer to {request.method} {_shown(request)} after {ATTEMPTS} attempts: {why}")


def _with(path: str, query: Mapping[str, str]) -> str:
    return f"{path}?{urlencode(query)}" if query else path


def _shown(request: ApiRequest) -> str:
    return request.path.partition("?")[0]


def _is_of_a_webhook(answer: ApiAnswer) -> bool:
    """Whether a webhook does not work: every object would wait for it, and it is what a user wants to know."""
    return answer.status == 500 and "failed calling webhook" in _message(answer)


def _asked_to_wait(answer: ApiAnswer, otherwise: float) -> float:
    """`Retry-After` in seconds; Kubernetes never sends a date."""
    given = answer.headers.get("retry-after", "")
    return float(given) if given.isascii() and given.isdecimal() else otherwise


def _json(answer: ApiAnswer, path: str) -> Tree:
    try:
        found = json.loads(answer.body, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise Unreachable(f"the answer to {path} is not the JSON of an API server") from error
    if not isinstance(found, dict):
        raise Unreachable(f"the answer to {path} is not the JSON of an API server")
    return found


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _status(answer: ApiAnswer) -> dict[str, Any]:
    """The Status object that comes with a refusal, or empty."""
    try:
        return _json(answer, "")
    except ClusterError:
        return {}


LONGEST_MESSAGE = 2000
"""Characters that are shown of what a server says."""


def _message(answer: ApiAnswer) -> str:
    """On one line: the server may be anybody's."""
    said = text(_status(answer), "message") or answer.body[:200].decode(errors="replace").strip()
    return one_line(said[:LONGEST_MESSAGE])


_BY_STATUS: dict[int, type[ClusterError]] = {401: NotLoggedIn, 404: NotFound, 410: Expired}


def _refuse(answer: ApiAnswer, request: ApiRequest) -> NoReturn:
    message = one_line(text(_status(answer), "message")[:LONGEST_MESSAGE]) or _without_a_status(answer, request)
    if answer.status == 401:
        message = f"the cluster does not accept the credentials of this kubeconfig: {message}"
    kind = _BY_STATUS.get(answer.status, Rejected)
    if answer.status == 403 and _is_about_rights(answer):
        kind = NotAllowed
    raise kind(message, answer.status)


def _without_a_status(answer: ApiAnswer, request: ApiRequest) -> str:
    """A refusal that is not in the words of the API: of a proxy, say. Redirects are not followed, since the token would
    go along."""
    told = f"the server answered {answer.status} to {request.method} {_shown(request)}"
    if 300 <= answer.status < 400:
        place = one_line(answer.headers.get("location", "").partition("?")[0][:LONGEST_MESSAGE])
        return f"{told}, which leads to {place or 'another place'}: a proxy may want you to log in"
    said = _message(answer)
    return f"{told}: {said}" if said else told


_LACKS_A_RULE = re.compile(r'is forbidden: User ".*?" cannot \w+ (resource|path) ')


def _is_about_rights(answer: ApiAnswer) -> bool:
    """Whether RBAC refused it. A webhook and a quota refuse with 403, too."""
    message = text(_status(answer), "message")[:LONGEST_MESSAGE]
    return not message or _LACKS_A_RULE.search(message) is not None

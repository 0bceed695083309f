"""The way to a cluster: the user's kubeconfig, as the client package `kubernetes` reads it, exec plugins included."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Thread
from typing import Any, NamedTuple, TypeVar

from trainform.cluster import ClusterError, NotLoggedIn, Unreachable
from trainform.cluster.client import ApiAnswer, ApiRequest, ApiStream, Broken, Client, Opening, Transport
from trainform.cluster.deadline import Deadline
from trainform.diagnostics.suggest import did_you_mean, listed

Result = TypeVar("Result")

INSTALL = 'pip install "trainform[cluster]"'
CONNECT_TIMEOUT, READ_TIMEOUT = 10.0, 60.0
"""Seconds, the second longer than a watch lasts: one that is silent for so long is dead."""

ANSWER_SECONDS = 300.0
"""For a whole answer: a server that sends a byte now and then would never run into the other timeout."""

LONGEST_ANSWER = 256 << 20
"""Bytes of one answer."""


LONGEST_REFUSAL = 1 << 20
"""Bytes of an answer that should have gone on, and says why not."""

COMMAND_SECONDS = 600.0
"""For all that a command asks, unless the user says otherwise."""


class Login(NamedTuple):
    """Which cluster, and how to log in: files and a context that the user named. Without files, those of `KUBECONFIG`,
    else `~/.kube/config`; in a pod without any of these, its service account. `seconds` are for all that is asked."""

    files: str = ""
    context: str = ""
    seconds: float = COMMAND_SECONDS


class Connection(NamedTuple):
    """`server` is the address, `context` the name in the kubeconfig; empty in a pod."""

    client: Client
    context: str
    server: str


def kubeconfig_files(login: Login) -> list[str]:
    """The files that `connected` will read."""
    named = login.files or os.environ.get("KUBECONFIG", "") or "~/.kube/config"
    return [os.path.expanduser(each) for each in named.split(os.pathsep) if each]


@contextmanager
def connected(login: Login) -> Iterator[Connection]:
    """A client of the cluster. Raises ClusterError. Certificates that the client package unpacks are removed at the
    end."""
    kubernetes = _client_package()
    with tempfile.TemporaryDirectory(prefix="trainform-") as scratch:
        configuration = kubernetes.client.Configuration()
        context = _load(kubernetes, configuration, login, scratch)
        try:
            api = kubernetes.client.ApiClient(configuration)
        except ValueError as error:  # such as a proxy of an unknown kind
            raise Unreachable(f"no way to {configuration.host}: {_without_lines(error)}") from error
        try:
            send, opening = _transport(api, configuration)
            client = Client(send, deadline=Deadline(login.seconds), opening=opening)
            yield Connection(client, context, str(configuration.host))
        finally:
            api.close()


def _client_package() -> Any:
    try:
        import kubernetes
        import kubernetes.client
        import kubernetes.config
    except ImportError as error:
        raise ClusterError(f"this needs the client package of Kubernetes: {INSTALL}") from error
    return kubernetes


def _load(kubernetes: Any, configuration: Any, login: Login, scratch: str) -> str:
    """Fill in address and credentials; the name of the context."""
    files = kubeconfig_files(login)
    if not (login.files or login.context or any(map(os.path.exists, files))):
        try:
            kubernetes.config.load_incluster_config(client_configuration=configuration)
        except kubernetes.config.ConfigException as error:
            raise _no_kubeconfig(files) from error
        return ""
    if not any(map(os.path.exists, files)):
        raise _no_kubeconfig(files)
    joined = os.pathsep.join(files)
    try:
        context = _context(kubernetes, joined, login.context)
        kubernetes.config.load_kube_config(joined, context, configuration, persist_config=False, temp_file_path=scratch)
    except ClusterError:
        raise
    except kubernetes.config.ConfigException as error:
        raise NotLoggedIn(f"{joined}: {_without_lines(error)}") from error
    except Exception as error:  # a file of any content: the package raises what its parsers do
        raise NotLoggedIn(f"{joined}: not a kubeconfig that can be read ({type(error).__name__})") from error
    return context


def _context(kubernetes: Any, files: str, asked: str) -> str:
    """The context that was asked for, else the current one. Raises NotLoggedIn if the files have none of that name."""
    found = kubernetes.config.kube_config.KubeConfigMerger(files).config.value
    known = [str(each["name"]) for each in found.get("contexts") or []]
    context = asked or str(found.get("current-context") or "")
    if not context:
        raise NotLoggedIn(f"{files}: no context is current: name one with --context; known: {listed(known)}")
    if context not in known:
        hint = did_you_mean(context, known) or f"known: {listed(known)}"
        raise NotLoggedIn(f'{files}: no context "{context}": {hint}')
    return context


def _no_kubeconfig(files: list[str]) -> NotLoggedIn:
    missing = f"{', '.join(files)} {'does' if len(files) == 1 else 'do'} not exist"
    return NotLoggedIn(f"no kubeconfig: {missing}; name one with --kubeconfig or KUBECONFIG")


def _without_lines(error: Exception) -> str:
    return " ".join(str(error).split())


def _transport(api: Any, configuration: Any) -> tuple[Transport, Opening]:
    import urllib3

    pool = api.rest_client.pool_manager
    host = str(configuration.host).rstrip("/")

    def begun(request: ApiRequest) -> Any:
        """The answer with its head."""
        headers = {"Accept": request.accept, "User-Agent": "trainform"}
        if request.content_type:
            headers["Content-Type"] = request.content_type
        headers |= {each["key"]: each["value"] for each in configuration.auth_settings().values()}
        return pool.request(
            request.method,
            host + request.path,
            body=request.body or None,
            headers=headers,
            timeout=urllib3.Timeout(connect=CONNECT_TIMEOUT, read=READ_TIMEOUT),
            retries=False,  # neither urllib3's own attempts, nor a redirect that would take the token elsewhere
            preload_content=False,
        )

    def exchange(request: ApiRequest) -> ApiAnswer:
        with _our_errors(host):
            answer = begun(request)
            body = _body(answer)
        if len(body) > LONGEST_ANSWER:
            raise Unreachable(f"the answer to {request.path} is larger than {LONGEST_ANSWER >> 20} MiB")
        answer.release_conn()
        return ApiAnswer(answer.status, _headers(answer), body)

    def send(request: ApiRequest) -> ApiAnswer:
        return _in_time(request, lambda: exchange(request))

    def start(request: ApiRequest) -> Any:
        with _our_errors(host):
            return begun(request)

    def opening(request: ApiRequest) -> ApiStream:
        answer = _in_time(request, lambda: start(request))
        return ApiStream(answer.status, _headers(answer), _chunks(answer, host), answer.close)

    return send, opening


def _headers(answer: Any) -> dict[str, str]:
    return {key.lower(): value for key, value in answer.headers.items()}


@contextmanager
def _our_errors(host: str) -> Iterator[None]:
    from urllib3.exceptions import HTTPError, LocationValueError, ProxyError, SSLError

    try:
        yield
    except (SSLError, ProxyError, LocationValueError) as error:
        raise Unreachable(f"cannot connect to {host}: {_without_lines(error)}") from error
    except (HTTPError, ValueError) as error:
        raise Broken(_reason(error, host)) from error


def _chunks(answer: Any, host: str) -> Iterator[bytes]:
    """What comes, as soon as it does; at most so much of a refusal. Nothing is unpacked."""
    left = LONGEST_REFUSAL
    with _our_errors(host):
        for chunk in answer.stream(1 << 16, decode_content=False):
            yield chunk
            left -= len(chunk)
            if answer.status != 200 and left < 0:
                return


def _in_time(request: ApiRequest, call: Callable[[], Result]) -> Result:
    try:
        return _within(min(ANSWER_SECONDS, request.seconds), call)
    except TimeoutError as error:
        if request.seconds < ANSWER_SECONDS:
            raise Broken("the time is over") from error
        path = request.path.partition("?")[0]
        raise Unreachable(f"the answer to {path} was not complete within {ANSWER_SECONDS:g} s") from error


def _body(answer: Any) -> bytes:
    """At most one byte too many. Nothing is unpacked: no compression was asked for, and what is packed may be a
    thousand times larger. A read that gives less than it could is not the end; there, urllib3 tells what is missing."""
    body = bytearray()
    while chunk := answer.read(LONGEST_ANSWER + 1 - len(body), decode_content=False):
        body += chunk
    return bytes(body)


def _within(seconds: float, call: Callable[[], Result]) -> Result:
    """What the call returns or raises; TimeoutError if it takes longer. It is then left to a thread that ends with the
    process: nothing else ends a read in every state of a connection, such as an endless row of `100 Continue`."""

    def work(answer: Future[Result]) -> None:
        if hasattr(signal, "SIGPIPE"):  # which ends a command where nobody reads its output; here it is an error
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPIPE})
        try:
            answer.set_result(call())
        except BaseException as error:
            answer.set_exception(error)
        finally:
            del answer  # the error's traceback leads here: a connection that broke would stay until a collection

    answer: Future[Result] = Future()
    Thread(target=work, args=(answer,), daemon=True).start()
    try:
        return answer.result(seconds)
    finally:
        del answer


def _reason(error: Exception, host: str) -> str:
    """In our own words: the package's name objects and addresses in memory."""
    import urllib3.exceptions as kinds

    reasons = (
        (kinds.NewConnectionError, f"{host} cannot be reached, or refused the connection"),
        (kinds.ConnectTimeoutError, f"no connection to {host} within {CONNECT_TIMEOUT:g} s"),
        (kinds.ReadTimeoutError, f"no answer within {READ_TIMEOUT:g} s"),
        (kinds.ProtocolError, "the connection was closed before the answer was complete"),
        (ValueError, "the answer is not HTTP"),
    )
    return next((told for kind, told in reasons if isinstance(error, kind)), type(error).__name__)

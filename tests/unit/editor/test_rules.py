"""What the protocol asks of every server."""

from __future__ import annotations

import json
import sys

import pytest
from pygls.exceptions import JsonRpcInternalError

from trainform.editor.protocol.server import TrainformServer
from trainform.editor.session import Session


class Written:
    """What a client would read."""

    def __init__(self) -> None:
        self.data = b""

    def write(self, data: bytes) -> None:
        self.data += data

    def close(self) -> None:
        pass


def test_an_internal_error_is_told_without_its_traceback():
    server, written = TrainformServer(), Written()
    server.protocol.set_writer(written, include_headers=False)
    try:
        raise ValueError("broken")
    except ValueError:
        error = JsonRpcInternalError.of(sys.exc_info()).to_response_error()
    server.protocol._send_response(7, error=error)
    told = json.loads(written.data)
    assert told["id"] == 7
    assert told["error"] == {
        "code": -32603,
        "message": "internal error, which is a bug in trainform or a plugin: ValueError: broken",
    }


@pytest.mark.parametrize("problem", [ValueError("broken"), RecursionError("deep")])
def test_a_bug_in_the_background_is_told_in_one_line_and_does_not_end_the_session(problem, caplog):
    told = list[str]()

    def fail() -> None:
        raise problem

    Session(lambda _: None, told.append)._guarded(fail)
    name = type(problem).__name__
    assert told == [f"internal error, which is a bug in trainform or a plugin: {name}: {problem}"]
    assert "Traceback" in caplog.text

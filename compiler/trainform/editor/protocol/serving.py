"""One client, from its first message to its last."""

from __future__ import annotations

import gc
import logging
import sys
from typing import BinaryIO

from trainform.editor.protocol import server, wiring


class _KeptOpen:
    """A stream that pygls does not close: the process flushes it at its end."""

    def __init__(self, stream: BinaryIO) -> None:
        self.write = stream.write
        self.flush = stream.flush

    def close(self) -> None:
        self.flush()


def serve(incoming: BinaryIO, outgoing: BinaryIO) -> bool:
    """Serve one client until it says goodbye, or its end of the streams is closed. Returns whether it asked for the
    shutdown before."""
    gc.enable()  # other commands end before it would matter
    gc.freeze()  # what is imported stays: looking at it again and again would interrupt an answer
    logging.basicConfig(stream=sys.stderr, level=logging.ERROR)
    own = server.TrainformServer()
    server.register(own)
    wiring.register(own)
    try:
        own.start_io(incoming, _KeptOpen(outgoing))  # type: ignore[arg-type]  # all that it uses
    finally:
        own.session.stop()
    return own.is_shut_down

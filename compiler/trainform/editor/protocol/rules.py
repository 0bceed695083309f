"""What the protocol asks of every server, where pygls does something else.

Each request is answered: also one that cannot be read, or that comes before `initialize` or after `shutdown`. No answer
holds a traceback, which is for the log. Lines end as the protocol says, and columns are counted in UTF-16 units.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Generator, Sequence
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInternalError,
    JsonRpcInvalidRequest,
    JsonRpcServerNotInitialized,
)
from pygls.protocol import LanguageServerProtocol, lsp_method
from pygls.protocol.json_rpc import JsonRPCNotification
from pygls.workspace import TextDocument, Workspace

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_NOTHING = JsonRPCNotification(method="", jsonrpc="", params=None)
"""A message that is not handled."""

log = logging.getLogger(__name__)


class TrainformProtocol(LanguageServerProtocol):
    """The protocol, kept to the letter."""

    @lsp_method(lsp.INITIALIZE)
    def lsp_initialize(self, params: lsp.InitializeParams) -> Generator[Any, Any, lsp.InitializeResult]:
        """Columns are always counted in UTF-16 units, which every client knows."""
        if params.capabilities.general:
            params.capabilities.general.position_encodings = None
        result = yield from super().lsp_initialize(params)
        self._workspace = _Buffers(
            self.workspace.root_uri, workspace_folders=[*self.workspace.folders.values()]
        )  # before any document is opened
        return result

    def structure_message(self, data: dict[str, Any]) -> Any:
        """A message as its type. pygls drops a request that does not fit: nobody knows its id any more."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "method" in data and isinstance(data.get("id"), str | int):
                self._send_response(data["id"], error=error.to_response_error())
            return _NOTHING

    def handle_message(self, message: Any) -> None:
        """Pass a message on. pygls is silent after a shutdown, and fails in many ways before the start."""
        method, number = getattr(message, "method", ""), getattr(message, "id", None)
        is_early = self._workspace is None and method not in ("", lsp.INITIALIZE, lsp.EXIT)
        is_late = self._shutdown and method not in ("", lsp.EXIT)
        if not (is_early or is_late):
            super().handle_message(message)
        elif number is not None:
            refusal = JsonRpcServerNotInitialized if is_early else JsonRpcInvalidRequest
            self._send_response(number, error=refusal().to_response_error())

    def _send_response(self, msg_id: Any, result: Any = None, error: lsp.ResponseError | None = None) -> None:
        if error is not None and error.code == JsonRpcInternalError.CODE:
            message = f"internal error, which is a bug in trainform or a plugin: {error.message}"
            error = lsp.ResponseError(error.code, message)  # without the traceback, which is in the log
        super()._send_response(msg_id, result, error)


class _Buffers(Workspace):
    """The open documents."""

    def _create_text_document(self, doc_uri: str, source: str | None = None, *rest: Any, **more: Any) -> TextDocument:
        document = super()._create_text_document(doc_uri, source, *rest, **more)
        return _Buffer(document.uri, source, document.version, document.language_id, position_codec=self.position_codec)


class _Buffer(TextDocument):
    """A text in which edits land where the editor means them: Python knows eight more ends of a line."""

    @property
    def lines(self) -> Sequence[str]:
        return _LINE.findall(self.source)

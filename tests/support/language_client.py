"""A client of `trainform lsp`, over stdio."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from lsprotocol import types as lsp
from pytest_lsp import LanguageClient, make_test_lsp_client

COMMAND = (sys.executable, "-m", "trainform", "lsp")
PATIENCE = 30.0
"""Seconds that a loaded machine may take."""


class Editor:
    """What a person does in an editor, and what they see."""

    def __init__(self, client: LanguageClient) -> None:
        self.client = client
        self._versions: dict[str, int] = {}

    def open(self, path: Path, text: str | None = None) -> None:
        self._versions[path.as_uri()] = 1
        text = path.read_text(encoding="utf-8", errors="replace") if text is None else text
        item = lsp.TextDocumentItem(path.as_uri(), "yaml", 1, text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))

    def type(self, path: Path, text: str) -> None:
        uri = path.as_uri()
        self._versions[uri] += 1
        document = lsp.VersionedTextDocumentIdentifier(version=self._versions[uri], uri=uri)
        change = lsp.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, [change]))

    def close(self, path: Path) -> None:
        document = lsp.TextDocumentIdentifier(path.as_uri())
        self.client.text_document_did_close(lsp.DidCloseTextDocumentParams(document))

    def changed_on_disk(self, *paths: Path) -> None:
        events = [lsp.FileEvent(path.as_uri(), lsp.FileChangeType.Changed) for path in paths]
        self.client.workspace_did_change_watched_files(lsp.DidChangeWatchedFilesParams(events))

    def squiggles(self, path: Path) -> list[lsp.Diagnostic]:
        return [*self.client.diagnostics.get(path.as_uri(), ())]

    def codes(self, path: Path) -> list[str]:
        return sorted(str(each.code) for each in self.squiggles(path))

    async def sees(self, what: Callable[[], bool]) -> None:
        """Wait until something is shown."""
        async with asyncio.timeout(PATIENCE):
            while not what():
                await asyncio.sleep(0.01)

    async def actions(self, path: Path, where: lsp.Range) -> list[lsp.CodeAction]:
        context = lsp.CodeActionContext(self.squiggles(path))
        document = lsp.TextDocumentIdentifier(path.as_uri())
        found = await self.client.text_document_code_action_async(lsp.CodeActionParams(document, where, context))
        return [each for each in found or () if isinstance(each, lsp.CodeAction)]


@asynccontextmanager
async def editing(*folders: Path, capabilities: lsp.ClientCapabilities | None = None) -> AsyncIterator[Editor]:
    """An editor that shows these folders, until it is closed as a person would."""
    client = make_test_lsp_client()
    await client.start_io(*COMMAND)
    try:
        shown: Sequence[lsp.WorkspaceFolder] = [lsp.WorkspaceFolder(each.as_uri(), each.name) for each in folders]
        await client.initialize_session(
            lsp.InitializeParams(capabilities or lsp.ClientCapabilities(), workspace_folders=shown)
        )
        yield Editor(client)
        await client.shutdown_session()
    except BaseException:
        if client._server is not None and client._server.returncode is None:
            client._server.kill()
        raise

"""The Language Server Protocol: messages become calls of plain functions, and their answers the protocol's types."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar
from urllib.parse import urlsplit

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from trainform import __version__
from trainform.diagnostics import Position, Severity
from trainform.diagnostics.pages import page
from trainform.editor.features.fixes import OfferedFix, fixes
from trainform.editor.features.problems import ShownProblem, shown_problems
from trainform.editor.positions import Lines, Place16, Span, to_editor
from trainform.editor.protocol.rules import TrainformProtocol
from trainform.editor.session import OpenBuffer, Session, ToldFile
from trainform.editor.snapshot import RepositorySnapshot
from trainform.io.resources import documentation

SOURCE = "trainform"
SEVERITIES: dict[Severity, lsp.DiagnosticSeverity] = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "info": lsp.DiagnosticSeverity.Information,
}
LOOK_AFTER = 5.0
"""Seconds between two looks whether the editor is still there."""
Answer = TypeVar("Answer")

log = logging.getLogger(__name__)


class TrainformServer(LanguageServer):
    """A server with the session that answers it."""

    def __init__(self) -> None:
        super().__init__("trainform", __version__, protocol_cls=TrainformProtocol, max_workers=2)
        self.session = Session(self._tell, self._complain)
        self.is_shut_down = False
        self.after_change: Callable[[], None] = lambda: None
        self._loop: asyncio.AbstractEventLoop | None = None

    def begin(self) -> None:
        """Start the session, unless that is done; the answers of its thread are written by the thread that runs now."""
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self.session.start()

    def end_with(self, editor: int) -> None:
        """End when an editor was killed: programs that it started may hold its end of our streams open."""
        if not _is_alive(editor):
            os._exit(1)  # a thread still waits for the next message
        asyncio.get_running_loop().call_later(LOOK_AFTER, self.end_with, editor)

    def report_server_error(self, error: Exception, source: object) -> None:
        """A client's mistake is for the log: pygls would show it to the user."""
        log.error("%s", error)

    def _tell(self, told: ToldFile) -> None:
        uri = _uri(told.path)
        problems = shown_problems(told.findings, told.lines)
        diagnostics = [_diagnostic(each) for each in problems]
        self._soon(
            lambda: self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, diagnostics, told.version))
        )

    def _complain(self, message: str) -> None:
        params = lsp.ShowMessageParams(lsp.MessageType.Error, f"trainform: {message}")
        self._soon(lambda: self.window_show_message(params))

    def _soon(self, work: Callable[[], None]) -> None:
        assert self._loop is not None  # the session starts after it
        try:
            self._loop.call_soon_threadsafe(work)
        except RuntimeError:  # the client is gone, and the loop with it
            self.session.stop()

    async def answer(self, uri: str, question: Callable[[RepositorySnapshot, str], Answer]) -> Answer | None:
        """The answer to a question about a file; None for one that is in no repository."""
        self.begin()
        path = _path(uri)
        return await asyncio.wrap_future(self.session.ask(path, question)) if path else None


def register(server: TrainformServer) -> None:
    """Let the server take what the editor tells of its buffers and files, and offer fixes."""
    _register_life(server)
    _register_files(server)

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix]))
    async def actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        only = params.context.only
        if only is not None and not any(lsp.CodeActionKind.QuickFix.value.startswith(kind) for kind in only):
            return []
        return await _actions(server, params.text_document.uri, params.range, params.context.diagnostics)


def _register_life(server: TrainformServer) -> None:
    @server.feature(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams) -> None:
        if params.process_id is not None and _is_alive(params.process_id):  # it is not in another container
            server.end_with(params.process_id)

    @server.feature(lsp.INITIALIZED)
    def initialized(_: lsp.InitializedParams) -> None:
        server.begin()
        folders = [*server.workspace.folders] or ([server.workspace.root_uri] if server.workspace.root_uri else [])
        server.session.use_folders(_paths(folders))
        _watch(server)

    @server.feature(lsp.SHUTDOWN)
    def shut_down(_: None) -> None:
        server.is_shut_down = True
        server.session.stop()


def _register_files(server: TrainformServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        _change(server, params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        _change(server, params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        if path := _path(params.text_document.uri):
            server.session.change(path, None)

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def changed_on_disk(params: lsp.DidChangeWatchedFilesParams) -> None:
        server.session.change_on_disk(_paths(change.uri for change in params.changes))
        server.after_change()

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS)
    def changed_folders(params: lsp.DidChangeWorkspaceFoldersParams) -> None:
        added, removed = params.event.added, params.event.removed
        server.session.use_folders(_paths(each.uri for each in added), _paths(each.uri for each in removed))


async def _actions(
    server: TrainformServer, uri: str, where: lsp.Range, shown: Sequence[lsp.Diagnostic]
) -> list[lsp.CodeAction]:
    def question(snapshot: RepositorySnapshot, file: str) -> list[lsp.CodeAction]:
        lines = snapshot.lines(file)
        if lines is None:
            return []
        start, end = (lines.from_editor(Place16(at.line, at.character)) for at in (where.start, where.end))
        return [_action(uri, each, lines, shown) for each in fixes(snapshot, file, Span(start, end))]

    return await server.answer(uri, question) or []


def _action(uri: str, fix: OfferedFix, lines: Lines, shown: Sequence[lsp.Diagnostic]) -> lsp.CodeAction:
    start, end = (lsp.Position(*lines.to_editor(at)) for at in fix.edit.span)
    line = (fix.diagnostic.position or Position(1, 1)).line - 1
    return lsp.CodeAction(
        fix.title,
        lsp.CodeActionKind.QuickFix,
        [each for each in shown if each.code == fix.diagnostic.code and each.range.start.line == line],
        edit=lsp.WorkspaceEdit({uri: [lsp.TextEdit(lsp.Range(start, end), fix.edit.text)]}),
    )


def _watch(server: TrainformServer) -> None:
    """Ask the client to tell about files that change outside of it, if it can."""
    workspace = server.client_capabilities.workspace
    watched = workspace.did_change_watched_files if workspace else None
    if watched is None or not watched.dynamic_registration:
        return
    options = lsp.DidChangeWatchedFilesRegistrationOptions([lsp.FileSystemWatcher("**/*")])
    wanted = lsp.Registration("files", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
    server.client_register_capability(lsp.RegistrationParams([wanted]), lambda _: None)


def _change(server: TrainformServer, uri: str) -> None:
    if path := _path(uri):
        document = server.workspace.get_text_document(uri)
        server.session.change(path, OpenBuffer(document.source, document.version or 0))
        server.after_change()


def _path(uri: str) -> str | None:
    """The file that a URI names; None for what is no file of this machine, such as an unsaved one without a name."""
    try:
        path = to_fs_path(uri) if urlsplit(uri).scheme == "file" else None
    except ValueError:  # not a URI
        return None
    return os.path.normpath(path) if path and "\0" not in path and os.path.isabs(path) else None


def _is_alive(process: int) -> bool:
    """Whether there is such a process, where the system tells."""
    if os.name != "posix" or process <= 0:
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # of another user
        return True
    return True


def _paths(uris: Iterable[str]) -> list[str]:
    return [path for path in map(_path, uris) if path]


def _uri(path: str) -> str:
    return from_fs_path(path) or ""


def _diagnostic(problem: ShownProblem) -> lsp.Diagnostic:
    told = problem.diagnostic
    address = documentation()
    described = page(told.code).removeprefix("docs/")
    return lsp.Diagnostic(
        _range(problem),
        problem.text,
        SEVERITIES[told.severity],
        told.code,
        lsp.CodeDescription(f"{address}/{described}") if address and described else None,
        SOURCE,
    )


def _range(problem: ShownProblem) -> lsp.Range:
    start, end = (to_editor(at, problem.line) for at in problem.span)
    return lsp.Range(lsp.Position(*start), lsp.Position(*end))

"""What the server answers beyond diagnostics: requests become calls of features, and answers the protocol's types.

A feature sees places as the compiler counts them; `_File` converts at the border.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from trainform.core.provenance import SHIPPED
from trainform.editor.features.completion import Completion, OfferKind, completion
from trainform.editor.features.hover import hover
from trainform.editor.features.inlay import inlay_hints
from trainform.editor.features.navigation import definition, references
from trainform.editor.features.rename import RenameRefused, renamable, rename
from trainform.editor.features.symbols import Symbol, symbols
from trainform.editor.outline_node import Shape
from trainform.editor.positions import Lines, Place16, Span
from trainform.editor.protocol.previews import Previews
from trainform.editor.protocol.uris import folder_of, uri_of
from trainform.editor.search import Location, lines_of

if TYPE_CHECKING:
    from trainform.diagnostics import Position
    from trainform.editor.protocol.server import TrainformServer
    from trainform.editor.snapshot import RepositorySnapshot

TRIGGERS = (" ", ":", "-", "{", "[", ",")
"""Characters after which an editor asks for a completion by itself."""

_REFUSED = -32803
"""The protocol's code for a request that failed for a reason that the user should read."""

_KINDS: dict[OfferKind, lsp.CompletionItemKind] = {
    "field": lsp.CompletionItemKind.Property,
    "value": lsp.CompletionItemKind.EnumMember,
    "name": lsp.CompletionItemKind.Reference,
}
_SHAPES: dict[Shape, lsp.SymbolKind] = {
    "": lsp.SymbolKind.Null,
    "scalar": lsp.SymbolKind.Field,
    "block": lsp.SymbolKind.String,
    "mapping": lsp.SymbolKind.Object,
    "list": lsp.SymbolKind.Array,
}
Answer = TypeVar("Answer")


def register(server: TrainformServer) -> None:
    """Let the server answer these requests."""
    _register_reading(server)
    _register_names(server)
    Previews(server).register()


def _register_reading(server: TrainformServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    async def hovered(params: lsp.HoverParams) -> lsp.Hover | None:
        def question(here: _File, at: Position) -> lsp.Hover | None:
            found = hover(here.snapshot, here.file, at)
            text = lsp.MarkupContent(lsp.MarkupKind.Markdown, found.text) if found else None
            return lsp.Hover(text, here.range(found.span)) if found and text else None

        return await _at(server, params, question)

    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=TRIGGERS))
    async def completed(params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
        def question(here: _File, at: Position) -> list[lsp.CompletionItem]:
            found = completion(here.snapshot, here.file, at)
            return [*_items(found, here.range(found.span))] if found else []

        return await _at(server, params, question) or []

    @server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    async def hinted(params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        def question(here: _File) -> list[lsp.InlayHint]:
            visible = Span(here.position(params.range.start), here.position(params.range.end))
            found = inlay_hints(here.snapshot, here.file, visible)
            return [lsp.InlayHint(here.place(at), label, padding_left=True) for at, label in found]

        return await _of(server, params.text_document.uri, question) or []

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def listed(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        def question(here: _File) -> list[lsp.DocumentSymbol]:
            return [_symbol(here, each) for each in symbols(here.snapshot, here.file)]

        return await _of(server, params.text_document.uri, question) or []


def _register_names(server: TrainformServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    async def defined(params: lsp.DefinitionParams) -> list[lsp.Location]:
        def question(here: _File, at: Position) -> list[lsp.Location]:
            return here.locations(definition(here.snapshot, here.file, at))

        return await _at(server, params, question) or []

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    async def referred(params: lsp.ReferenceParams) -> list[lsp.Location]:
        def question(here: _File, at: Position) -> list[lsp.Location]:
            return here.locations(references(here.snapshot, here.file, at))

        return await _at(server, params, question) or []

    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    async def renaming(params: lsp.PrepareRenameParams) -> lsp.Range | None:
        def question(here: _File, at: Position) -> lsp.Range | None:
            found = renamable(here.snapshot, here.file, at)
            return here.range(found) if found else None

        return await _unless_refused(_at(server, params, question))

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    async def renamed(params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        def question(here: _File, at: Position) -> lsp.WorkspaceEdit:
            changes: dict[str, list[lsp.TextEdit]] = {}
            for file, (span, text) in rename(here.snapshot, here.file, at, params.new_name):
                changes.setdefault(here.uri(file), []).append(lsp.TextEdit(here.range(span, file), text))
            return lsp.WorkspaceEdit(changes)

        return await _unless_refused(_at(server, params, question))


@dataclass(frozen=True, slots=True)
class _File:
    """A file that a request is about. `folder` is the repository as the editor names it."""

    snapshot: RepositorySnapshot
    file: str
    folder: str

    def lines(self, file: str) -> Lines:
        return lines_of(self.snapshot, file)

    def position(self, at: lsp.Position) -> Position:
        return self.lines(self.file).from_editor(Place16(at.line, at.character))

    def place(self, at: Position, file: str = "") -> lsp.Position:
        return lsp.Position(*self.lines(file or self.file).to_editor(at))

    def range(self, span: Span, file: str = "") -> lsp.Range:
        return lsp.Range(self.place(span.start, file), self.place(span.end, file))

    def uri(self, file: str) -> str:
        return uri_of(self.folder, file)

    def locations(self, found: Iterable[Location]) -> list[lsp.Location]:
        return [lsp.Location(self.uri(file), self._range_of_name(file, span)) for file, span in found]

    def _range_of_name(self, file: str, span: Span) -> lsp.Range:
        """There may be thousands: a file is only read again if its columns have to be counted."""
        if file.startswith(SHIPPED) or not self.snapshot.names(file).is_ascii:
            return self.range(span, file)
        return lsp.Range(*(lsp.Position(at.line - 1, at.column - 1) for at in span))


async def _of(server: TrainformServer, uri: str, question: Callable[[_File], Answer]) -> Answer | None:
    """The answer to a question about a file; None for one that is in no repository."""
    return await server.answer(uri, lambda snapshot, file: question(_File(snapshot, file, folder_of(uri, file))))


class _Place(Protocol):
    """What requests about a place have in common."""

    @property
    def text_document(self) -> lsp.TextDocumentIdentifier: ...
    @property
    def position(self) -> lsp.Position: ...


async def _at(server: TrainformServer, params: _Place, question: Callable[[_File, Position], Answer]) -> Answer | None:
    """The answer to a question about a place."""
    return await _of(server, params.text_document.uri, lambda here: question(here, here.position(params.position)))


async def _unless_refused(answer: Awaitable[Answer]) -> Answer:
    try:
        return await answer
    except RenameRefused as reason:
        raise JsonRpcException(str(reason), _REFUSED) from None


def _items(found: Completion, place: lsp.Range) -> Iterator[lsp.CompletionItem]:
    """The offers, in their order."""
    for number, offer in enumerate(found.offers):
        yield lsp.CompletionItem(
            offer.label,
            kind=_KINDS[offer.kind],
            detail=offer.detail or None,
            documentation=lsp.MarkupContent(lsp.MarkupKind.Markdown, offer.text) if offer.text else None,
            sort_text=f"{number:05}",
            text_edit=lsp.TextEdit(place, offer.insert),
        )


def _symbol(here: _File, symbol: Symbol) -> lsp.DocumentSymbol:
    children = [_symbol(here, each) for each in symbol.children]
    whole, name = here.range(symbol.whole), here.range(symbol.name)
    return lsp.DocumentSymbol(
        symbol.label, _SHAPES[symbol.shape], whole, name, symbol.detail or None, children=children
    )

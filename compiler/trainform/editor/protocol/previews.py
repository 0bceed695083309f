"""The rendered manifests of a job beside its TrainJob, live: requests of our own.

The command `trainform.openRendered` with `{"uri": …, "position": …, "environment": …}`, of which the last may be
missing, answers null where there is no job, else

    {"uri": "trainform-rendered:/repo/rendered/prod/ml/llm.yaml", "environment": "prod", "environments": ["prod"],
     "text": …, "note": "", "origins": [{"line": 3, "owner": "TrainJob llm", "uri": …, "sourceLine": 8}, …]}

`uri` names a document that exists nowhere else, `origins` says where its lines come from; lines count from 0. After
each change, a notification `trainform/rendered` brings the same. Where the TrainJob does not parse at the moment, it
brings only `uri` and `note`. The command `trainform.closeRendered` with `{"uri": …}`, that of the preview, ends it.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from trainform.editor.features.rendered import RenderedPreview, rendered, rendered_again
from trainform.editor.positions import Place16
from trainform.editor.protocol.uris import folder_of, uri_of

if TYPE_CHECKING:
    from trainform.editor.protocol.server import TrainformServer
    from trainform.editor.snapshot import RepositorySnapshot
    from trainform.io.paths import JobId

OPEN = "trainform.openRendered"
CLOSE = "trainform.closeRendered"
RENDERED = "trainform/rendered"
SCHEME = "trainform-rendered"

_PAUSE = 0.05
"""Seconds without a change after which previews are rendered again."""
_UNPARSED = "the TrainJob cannot be read at the moment: these are its manifests as they were before"

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Shown:
    """A preview that is open: the file with the TrainJob, and which job it is."""

    source: str
    job: JobId


class Previews:
    """The open previews of one client."""

    def __init__(self, server: TrainformServer) -> None:
        self._server = server
        self._open: dict[str, _Shown] = {}
        self._waiting: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def register(self) -> None:
        self._server.after_change = self._refresh_soon

        @self._server.command(OPEN)
        async def open_rendered(*asked: Any) -> Json | None:
            return await self._show(asked[0] if asked else None)

        @self._server.command(CLOSE)
        def close_rendered(*asked: Any) -> None:
            self._open.pop(_text(asked[0] if asked else None, "uri"), None)

    async def _show(self, asked: Any) -> Json | None:
        uri, environment = _text(asked, "uri"), _text(asked, "environment")
        place = _place(asked)

        def question(snapshot: RepositorySnapshot, file: str) -> tuple[Json, JobId] | None:
            lines = snapshot.lines(file)
            found = rendered(snapshot, file, lines.from_editor(place), environment) if lines else None
            return (told(found, folder_of(uri, file)), found.id) if found else None

        answer = await self._server.answer(uri, question)
        if answer is None:
            return None
        preview, job = answer
        self._open[preview["uri"]] = _Shown(uri, job)
        return preview

    def _refresh_soon(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
        if self._open:
            self._waiting = asyncio.get_running_loop().call_later(_PAUSE, self._refresh)

    def _refresh(self) -> None:
        for uri, shown in self._open.items():
            task = asyncio.ensure_future(self._tell(uri, shown))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _tell(self, uri: str, shown: _Shown) -> None:
        def question(snapshot: RepositorySnapshot, file: str) -> Json | None:
            found = rendered_again(snapshot, file, shown.job)
            return told(found, folder_of(shown.source, file)) if found else None

        preview = await self._server.answer(shown.source, question)
        if uri in self._open:
            self._server.protocol.notify(RENDERED, preview or {"uri": uri, "note": _UNPARSED})


def told(preview: RenderedPreview, folder: str) -> Json:
    """What a client hears of a preview; `folder` is the repository as the client names it."""
    origins = [
        {"line": number, "owner": origin.owner}
        | ({"uri": uri_of(folder, origin.file), "sourceLine": origin.line - 1} if origin.file else {})
        for number, origin in enumerate(preview.origins)
        if origin is not None
    ]
    return {
        "uri": f"{SCHEME}:{quote(folder + preview.folder)}.yaml",
        "environment": preview.id[0],
        "environments": [*preview.environments],
        "text": preview.text,
        "note": preview.note,
        "origins": origins,
    }


def _text(asked: Any, key: str) -> str:
    value = asked.get(key) if isinstance(asked, dict) else None
    return value if isinstance(value, str) else ""


def _place(asked: Any) -> Place16:
    at = asked.get("position") if isinstance(asked, dict) else None
    numbers = [at.get(key) if isinstance(at, dict) else None for key in ("line", "character")]
    line, character = (number if isinstance(number, int) and number >= 0 else 0 for number in numbers)
    return Place16(line, character)

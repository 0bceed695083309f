"""The projects of an editor, worked on in a thread of their own, so that the editor is always answered.

Messages are taken before each step, and a step is short: a keystroke waits for one step at most, and what it makes
stale is not compiled any more. Several keystrokes that come during a step are answered together.
"""

from __future__ import annotations

import logging
import os
import queue
import threading
import traceback
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import Future
from functools import partial
from typing import NamedTuple, TypeVar

from trainform.core.provenance import SHIPPED
from trainform.core.registry import PluginError
from trainform.diagnostics import Diagnostic
from trainform.editor.fields import fields_of
from trainform.editor.links import RUNTIME_KINDS
from trainform.editor.positions import Lines
from trainform.editor.project import Project
from trainform.editor.roots import FileOfRoot, is_root, place_of
from trainform.editor.snapshot import RepositorySnapshot
from trainform.io.links import leads_out
from trainform.io.settings import FILE
from trainform.workspace import InvocationError

Answer = TypeVar("Answer")

log = logging.getLogger(__name__)

PATIENCE = 0.2
"""Seconds without a message before everything is compiled in one piece, which no message interrupts."""
LEISURE = 1.0
"""Seconds without a message before a schema is made ready, which no message interrupts either."""


class ToldFile(NamedTuple):
    """The findings of a file, an absolute path as the editor names it. `version` is that of its buffer, if it is
    open; `lines` its text."""

    path: str
    version: int | None
    lines: Lines | None
    findings: list[Diagnostic]


class OpenBuffer(NamedTuple):
    """The text of a buffer and the number that the editor gives it."""

    text: str
    version: int


class _Work(NamedTuple):
    """What to do if no message comes for `patience` seconds."""

    do: Callable[[], object]
    patience: float = 0


class Session:
    """Every method may be called from any thread. `tell` and `complain` are called in the session's own."""

    def __init__(self, tell: Callable[[ToldFile], None], complain: Callable[[str], None]) -> None:
        self._tell = tell
        self._complain = complain
        self._inbox: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="trainform", daemon=True)
        self._folders: list[str] = []
        self._projects: dict[str, Project] = {}
        self._named: dict[str, str] = {}
        self._buffers: dict[str, OpenBuffer] = {}
        self._unread = [RUNTIME_KINDS[0], "Environment", "TrainJob"]
        self._told: dict[str, dict[tuple[str, str], list[Diagnostic]]] = {}

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End after the current step."""
        self._inbox.put(None)

    def join(self, seconds: float) -> None:
        self._thread.join(seconds)

    def use_folders(self, added: Collection[str], removed: Collection[str] = ()) -> None:
        """The folders that the editor shows: their repositories are told as a whole."""
        self._inbox.put(lambda: self._use_folders(added, removed))

    def change(self, path: str, buffer: OpenBuffer | None) -> None:
        """A buffer has another text; None: it was closed."""
        self._inbox.put(lambda: self._change(path, buffer))

    def change_on_disk(self, paths: Iterable[str]) -> None:
        """Files or folders were changed by somebody else."""
        found = [*paths]
        self._inbox.put(lambda: self._change_on_disk(found))

    def ask(self, path: str, question: Callable[[RepositorySnapshot, str], Answer]) -> Future[Answer | None]:
        """The answer to a question about a file, from the repository as it is now; None for a file in none."""
        future: Future[Answer | None] = Future()
        self._inbox.put(lambda: self._answer(future, path, question))
        return future

    # In the session's own thread.

    def _run(self) -> None:
        while True:
            work = self._next_work()
            try:
                message = self._inbox.get(timeout=work.patience if work else None)
            except queue.Empty:
                if work:
                    self._guarded(work.do)
                continue
            if message is None:
                return
            self._guarded(message)

    def _next_work(self) -> _Work | None:
        """What to do as long as no message comes: at last, what spares somebody who asks a wait."""
        projects = self._projects.values()
        if busy := next((each for each in projects if not each.is_settled), None):
            return _Work(partial(self._work_on, busy), PATIENCE if busy.is_long else 0)
        if curious := next((each for each in projects if each.is_curious), None):
            return _Work(curious.learn)
        return _Work(self._read_schema, LEISURE) if projects and self._unread else None

    def _read_schema(self) -> None:
        fields_of(self._unread.pop())

    def _work_on(self, project: Project) -> None:
        self._guarded(project.step)
        for file, findings in project.take_changes().items():
            self._tell_file(project, file, findings)

    def _guarded(self, work: Callable[[], object]) -> None:
        try:
            work()
        except (InvocationError, PluginError) as error:
            self._complain(str(error))
        except Exception as error:  # a bug must not end the session: the next change may do without it
            log.exception("internal error")
            reason = "".join(traceback.format_exception_only(error)).strip()
            self._complain(f"internal error, which is a bug in trainform or a plugin: {reason}")

    def _tell_file(self, project: Project, file: str, findings: list[Diagnostic]) -> None:
        """Tell a file's findings, with those of other projects that hold it. What is wrong with no file that the
        editor could show stands at trainform.yaml."""
        path = self._path(project.root, file if _is_shown(file) else FILE)
        self._told.setdefault(path, {})[project.root, file] = findings
        self._tell_all_of(path)

    def _tell_all_of(self, path: str) -> None:
        buffer = self._buffers.get(path)
        everything = [each for found in self._told[path].values() for each in found]
        if not everything:
            del self._told[path]
        lines = Lines(buffer.text) if buffer else None
        self._tell(ToldFile(path, buffer.version if buffer else None, lines, everything))

    def _path(self, root: str, file: str) -> str:
        """As the editor names it: its way to the repository may lead over a link."""
        return os.path.join(self._named.get(root, root), *file.split("/"))

    def _use_folders(self, added: Collection[str], removed: Collection[str]) -> None:
        self._folders = [each for each in [*self._folders, *added] if each not in removed]
        closed = {*map(os.path.realpath, removed)} & self._projects.keys()
        open_ones = {root for path in self._buffers for root, _ in self._places(path)}
        self._forget(sorted(closed - open_ones))
        for folder in added:
            for root, _ in self._places(os.path.join(folder, FILE)):
                self._project(root)
        self._pass_on_buffers()

    def _forget(self, roots: Iterable[str]) -> None:
        """Forget repositories that are no more, or that nobody looks at; nothing is shown of them."""
        for root in roots:
            del self._projects[root]
            for path, told in [*self._told.items()]:
                mine = [key for key in told if key[0] == root]
                for key in mine:
                    del told[key]
                if mine:
                    self._tell_all_of(path)

    def _pass_on_buffers(self) -> None:
        """A repository that was not there, such as before a `git switch`, has not heard of the open buffers."""
        for path, buffer in self._buffers.items():
            self._pass_on(path, buffer)

    def _project(self, root: str) -> Project:
        if root not in self._projects:
            self._projects[root] = Project(root)
        return self._projects[root]

    def _places(self, path: str) -> list[FileOfRoot]:
        """The repositories that hold a file: the nearest, and those around it that are known."""
        place = place_of(path, self._folders)
        if place is None:
            return []
        self._named.setdefault(place.root, path.removesuffix(place.file.replace("/", os.sep)).rstrip(os.sep))
        real = f"{place.root}/{place.file}"
        around = [root for root in self._projects if root != place.root and real.startswith(f"{root}/")]
        return [place, *(FileOfRoot(root, real.removeprefix(f"{root}/")) for root in around)]

    def _change(self, path: str, buffer: OpenBuffer | None) -> None:
        if buffer is None:
            self._buffers.pop(path, None)
        else:
            self._buffers[path] = buffer
        self._pass_on(path, buffer)

    def _pass_on(self, path: str, buffer: OpenBuffer | None) -> None:
        text = None if buffer is None else buffer.text.encode(errors="surrogatepass")
        for root, file in self._places(path):
            if not leads_out(root, file):
                self._project(root).change(file, text)

    def _change_on_disk(self, paths: Iterable[str]) -> None:
        self._forget([root for root in self._projects if not is_root(root, self._folders)])
        files: dict[str, list[str]] = {}
        for path in paths:
            for root, file in self._places(path):
                files.setdefault(root, []).append(file)
        for root, changed in files.items():
            self._project(root).change_on_disk(changed)
        self._pass_on_buffers()

    def _answer(
        self, future: Future[Answer | None], path: str, question: Callable[[RepositorySnapshot, str], Answer]
    ) -> None:
        if not future.set_running_or_notify_cancel():
            return
        try:
            place = place_of(path, self._folders)
            future.set_result(question(self._project(place.root).snapshot(), place.file) if place else None)
        except Exception as error:
            future.set_exception(error)


def _is_shown(file: str) -> bool:
    """Whether findings can stand at a file; there are some of no file, and some of shipped runtimes."""
    return bool(file) and not file.startswith(SHIPPED)

"""One repository in an editor: the open buffers, and what is wrong in it, kept up to date in small steps.

The result is that of `trainform validate` for the same bytes, because it is put together like there: from chunks of job
files, and from what only the whole shows. Here, an open file is a chunk of its own, so that a keystroke compiles one
file again. If chunks concern each other, everything is compiled in one piece, as there.
"""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from trainform.diagnostics import Diagnostic
from trainform.diagnostics.order import in_order
from trainform.editor.names import FileNames
from trainform.editor.snapshot import RepositorySnapshot, read_names
from trainform.editor.units import (
    CompiledUnit,
    Findings,
    ObjectPlace,
    by_file,
    compiled,
    in_one_piece,
    offering,
    together,
)
from trainform.io.paths import BASELINE, FOLDER, LOCKS
from trainform.io.repository import ENDINGS
from trainform.io.settings import Settings
from trainform.source.marks import forget_nodes
from trainform.workspace.discovery import Workspace, discover
from trainform.workspace.parallel import Chunk, leaves_questions, slices
from trainform.workspace.shards import ALL
from trainform.workspace.validate import seen_together

if TYPE_CHECKING:
    from trainform.io.paths import JobId

STEP = 10
"""Files that are compiled in one step in the background: a keystroke waits that long at most."""


class Buffers(dict[str, bytes]):
    """The open buffers, by file. It notes what it is asked for, so that it is known which files a result depends on."""

    def __init__(self, texts: Mapping[str, bytes]) -> None:
        super().__init__(texts)
        self.asked: set[str] = set()

    def get(self, file: str, default: object = None) -> bytes | None:  # type: ignore[override]
        self.asked.add(file)
        return super().get(file)


UnitFiles = tuple[str, ...]
"""The job files of a unit, which name it."""

SHARED: UnitFiles = ()
"""The unit of what all jobs share."""


@dataclass(slots=True)
class Project:
    """The state of one repository; for one thread.

    `change` and `change_on_disk` say what happened, and cost nothing; `step` does the most urgent piece of the work
    that follows, and `take_changes` gives the findings that changed since the last call.
    """

    root: str
    _texts: dict[str, bytes] = field(default_factory=dict)
    _workspace: Workspace | None = None
    _digests: dict[str, bytes] = field(default_factory=dict)
    _units: dict[UnitFiles, CompiledUnit] = field(default_factory=dict)
    _unit_of: dict[str, UnitFiles] = field(default_factory=dict)
    _mentions: dict[str, dict[UnitFiles, None]] = field(default_factory=dict)
    _readers: dict[str, dict[UnitFiles, None]] = field(default_factory=dict)
    _names: dict[str, FileNames] = field(default_factory=dict)
    _unlearned: dict[str, None] = field(default_factory=dict)
    _holds_no_job: dict[str, bool] = field(default_factory=dict)
    _lone: dict[str, set[str]] = field(default_factory=dict)
    _waiting: dict[UnitFiles, None] = field(default_factory=dict)
    _is_outdated: bool = True
    _is_assembled: bool = False
    _across: Findings = field(default_factory=dict)
    _in_one_piece: Findings | None = None
    _findings: Findings = field(default_factory=dict)
    _stale: set[str] = field(default_factory=set)
    _untold: set[str] = field(default_factory=set)
    _snapshot: RepositorySnapshot | None = None

    # What happened.

    def change(self, file: str, text: bytes | None) -> None:
        """An open buffer has this text; None: it was closed, and the file on disk counts again."""
        if text == self._texts.get(file) or self._is_output(file):
            return
        if text is None:
            del self._texts[file]
        else:
            self._texts[file] = text
        self._touch(file, listed=text is None)

    def change_on_disk(self, files: Iterable[str]) -> None:
        """These files, or folders, were created, changed or deleted by somebody else."""
        for file in files:
            if file in self._texts:
                continue
            if job := self._job_of_output(file):
                self._wait(key for key, unit in self._units.items() if job in unit.validation.jobs)
            self._touch(file, listed=True)

    def _touch(self, path: str, *, listed: bool = False) -> None:
        """Note what depends on a file, or on a folder. `listed`: it may have appeared or gone."""
        if self._snapshot is not None:
            self._snapshot, self._names = None, {**self._names}  # a snapshot stays as it is
        for known in (self._holds_no_job, self._names):
            _forget(known, path, below=listed)
        self._wait([*self._readers.get(path, ())])
        is_alone = self._unit_of.get(path) == (path,) and (path in self._lone_near(path)) == self._is_lone(path)
        if listed or not (is_alone or self._cannot_be_input(path)):
            self._is_outdated = True

    @property
    def _settings(self) -> Settings:
        return self._workspace.repository.settings if self._workspace else Settings()

    def _cannot_be_input(self, file: str) -> bool:
        """Whether a file is none that trainform looks for: something else reads it, or nothing."""
        return not file.endswith(ENDINGS) and not file.startswith(f"{self._settings.environments}/")

    def _is_output(self, file: str) -> bool:
        return file.startswith((f"{FOLDER}/", f"{self._settings.rendered}/"))

    def _job_of_output(self, file: str) -> JobId | None:
        """The job that a lockfile or a rendered file belongs to."""
        for folder in (LOCKS, self._settings.rendered):
            parts = file.removeprefix(f"{folder}/").removesuffix(".lock").split("/")
            if file.startswith(f"{folder}/") and len(parts) >= 3:
                return parts[0], parts[1], parts[2]
        return None

    def _wait(self, units: Iterable[UnitFiles]) -> None:
        for key in [*units]:
            if key == SHARED:
                self._is_outdated = True
            else:
                self._waiting[key] = None
            self._is_assembled = False

    # The work that follows.

    @property
    def is_settled(self) -> bool:
        """Whether nothing is left to do."""
        return self._is_assembled and not (self._is_outdated or self._waiting)

    @property
    def is_long(self) -> bool:
        """Whether the next step may take long: it compiles everything in one piece."""
        return self._in_one_piece is not None and not (self._is_outdated or self._waiting or self._is_assembled)

    @property
    def is_curious(self) -> bool:
        """Whether names of files are not known yet, for which somebody would have to wait who asks."""
        return self.is_settled and bool(self._unlearned)

    def learn(self) -> None:
        """Get to know the names in some more files."""
        repository = self._now.repository
        for file in [*islice(self._unlearned, STEP)]:
            del self._unlearned[file]
            self._names[file] = read_names(repository, file)

    def step(self) -> None:
        """Do the most urgent piece of work. After an error, nothing is tried again before the next change. Raises
        InvocationError if a plugin does not load."""
        try:
            if self._is_outdated:
                self._look_again()
            elif self._waiting:
                key = self._most_urgent()
                self._put(key, self._compile(key))
            elif not self._is_assembled:
                self._assemble()
        except BaseException:
            self._is_outdated, self._is_assembled = False, True
            self._waiting.clear()
            self._digests = {}
            raise

    def take_changes(self) -> Findings:
        """The findings of each file for which they changed since the last call, in order: of all files once nothing is
        left to do, and before that of open files that nothing is left to do for."""
        if self.is_settled:
            ready = {*self._untold}
        elif self._is_outdated or not self._waiting:
            return {}
        else:
            ready = {file for file in self._untold & self._texts.keys() if self._is_known(file)}
        self._untold -= ready
        return {file: self._findings.get(file, []) for file in sorted(ready)}

    def _is_known(self, file: str) -> bool:
        """Whether the unit is compiled that says most of a file: for one that jobs share, that of what they share."""
        key = self._unit_of.get(file, SHARED)
        return key in self._units and key not in self._waiting

    def snapshot(self) -> RepositorySnapshot:
        """The repository as it is now. Raises InvocationError like `step`."""
        if self._workspace is None or self._is_outdated:
            self._look_again()
        if self._snapshot is None:
            index = tuple(entry for unit in self._units.values() for entry in unit.jobs)
            self._snapshot = RepositorySnapshot(self._now, {**self._findings}, index, self._beside, self._names)
        return self._snapshot

    def _beside(self, file: str) -> Sequence[str]:
        return sorted(self._lone_near(file) - {file})

    @property
    def _now(self) -> Workspace:
        """The repository with the buffers of this moment."""
        assert self._workspace is not None  # `_look_again` comes first
        return self._workspace.reopened({**self._texts})

    def _most_urgent(self) -> UnitFiles:
        own = (self._unit_of.get(file) for file in self._texts)
        return next((key for key in own if key in self._waiting and key is not None), None) or next(iter(self._waiting))

    def _look_again(self) -> None:
        """Read what all jobs share, and list the job files. If something changed that jobs share, all are compiled
        again."""
        self._is_outdated = False
        buffers = Buffers(self._texts)
        workspace = discover(self.root, unsaved=buffers)
        first = compiled(workspace, workspace.read([]), Chunk([], first=True), buffers.asked)
        digests = {file: _digest(workspace, file) for file in sorted({*first.read, BASELINE})}
        has_changed = digests != self._digests
        self._workspace, self._digests, self._snapshot = workspace, digests, None
        self._put(SHARED, first)
        self._regroup(workspace.job_files)
        if has_changed:
            self._wait({*self._unit_of.values()})

    def _regroup(self, files: Sequence[str]) -> None:
        """Give each file a unit: one of its own if it is open, or holds no TrainJob. What is there no more is
        forgotten."""
        lone: dict[str, set[str]] = {}
        for file in filter(self._is_lone, files):
            lone.setdefault(posixpath.dirname(file), set()).add(file)
        before, self._lone = self._lone, lone
        single = {file for file in files if file in self._texts or self._unit_of.get(file) == (file,)}
        single.update(*lone.values())
        grouped = [file for file in files if file not in single]
        present = {*grouped}
        kept = [key for key in dict.fromkeys(self._unit_of.values()) if present.issuperset(key)]
        new = present.difference(*kept)
        groups = [*kept, *map(tuple, slices([file for file in grouped if file in new], STEP))]
        wanted = [*((file,) for file in files if file in single), *groups]
        for key in self._units.keys() - {*wanted, SHARED}:
            self._stale |= self._drop(key).keys()
        self._waiting = {key: None for key in self._waiting if key in self._units}
        self._unit_of = {file: key for key in wanted for file in key}
        self._wait(key for key in wanted if key not in self._units)
        changed = {folder for folder in {*before, *lone} if before.get(folder) != lone.get(folder)}
        if changed:
            self._wait({key for file, key in self._unit_of.items() if posixpath.dirname(file) in changed})

    def _is_lone(self, file: str) -> bool:
        """Whether a file may hold objects, but no TrainJob, as far as its bytes tell: if they mislead, everything is
        compiled in one piece."""
        if file not in self._holds_no_job:
            data = self._now.repository.read(file) if self._workspace else b""
            self._holds_no_job[file] = isinstance(data, bytes) and b"TrainJob" not in data and b"kind" in data
        return self._holds_no_job[file]

    def _lone_near(self, file: str) -> set[str]:
        return self._lone.get(posixpath.dirname(file), set())

    def _compile(self, key: UnitFiles) -> CompiledUnit:
        assert self._workspace is not None  # units are made of its files
        buffers = Buffers(self._texts)
        workspace = self._workspace.reopened(buffers)
        if key[0] in self._lone_near(key[0]):
            environments = workspace.read(key)
            if not any(each.train_jobs() for each in environments):
                return offering(key[0], environments, buffers.asked)
        beside = {file for folder in {*map(posixpath.dirname, key)} for file in self._lone.get(folder, ())}
        environments = workspace.read(key, beside=sorted(beside.difference(key)))
        return compiled(workspace, environments, Chunk(key, first=False), buffers.asked)

    def _put(self, key: UnitFiles, unit: CompiledUnit) -> None:
        before = self._drop(key)
        self._units[key] = unit
        self._unlearned |= dict.fromkeys(file for file in key if file not in self._names)
        for path in _with_folders({*unit.read, *key}):
            self._readers.setdefault(path, {})[key] = None
        for file in unit.findings:
            self._mentions.setdefault(file, {})[key] = None
        self._waiting.pop(key, None)
        self._is_assembled = False
        changed = {file for file in {*before, *unit.findings} if before.get(file) != unit.findings.get(file)}
        at_once = {*key} if key else self._texts.keys() - self._unit_of.keys()
        self._refresh(changed & at_once)
        self._stale |= changed - at_once  # other units may speak of them, too
        forget_nodes()

    def _drop(self, key: UnitFiles) -> Findings:
        """Forget a unit, if there is one; the result are its findings."""
        unit = self._units.pop(key, None)
        if unit is None:
            return {}
        for file in unit.findings:
            del self._mentions[file][key]
        for path in _with_folders({*unit.read, *key}):
            del self._readers[path][key]
        return unit.findings

    def _assemble(self) -> None:
        """Say what only the whole shows."""
        units, now = [*self._units.values()], self._now
        was_in_one_piece = self._in_one_piece is not None
        if self._concern_each_other(units):
            whole = in_one_piece(now)
            self._in_one_piece = by_file([*whole.diagnostics, *seen_together(whole, now, ALL)])
            forget_nodes()
        else:
            before, self._across = self._across, by_file(seen_together(together(units), now, ALL))
            self._in_one_piece = None
            self._stale |= {file for file in {*before, *self._across} if before.get(file) != self._across.get(file)}
        if was_in_one_piece or self._in_one_piece is not None:
            self._stale |= {*self._mentions, *self._findings, *(self._in_one_piece or ())}
        self._is_assembled, self._snapshot = True, None
        self._refresh(self._stale)
        self._stale = set()

    def _concern_each_other(self, units: Sequence[CompiledUnit]) -> bool:
        names: set[JobId] = set()
        stats = [unit.validation.stats for unit in units]
        if any(each.concerns(names) for each in stats) or not all(unit.is_settled for unit in units):
            return True
        taken = frozenset[ObjectPlace]().union(*(unit.taken for unit in units))
        return any(not unit.offered <= taken for unit in units) or leaves_questions(self._now.environments, stats)

    def _refresh(self, files: Iterable[str]) -> None:
        """Put the findings of these files together again."""
        for file in files:
            found = self._found(file)
            if found != self._findings.get(file, []):
                self._untold.add(file)
                self._findings[file] = found
                if not found:
                    del self._findings[file]

    def _found(self, file: str) -> list[Diagnostic]:
        if self._in_one_piece is not None:
            return self._in_one_piece.get(file, [])
        told = [self._units[key].findings[file] for key in sorted(self._mentions.get(file, ()))]
        told += [self._across[file]] if file in self._across else []
        return told[0] if len(told) == 1 else in_order(each for part in told for each in part)


def _with_folders(files: Iterable[str]) -> set[str]:
    """Files, and the folders above each."""
    found = set[str]()
    for path in files:
        while path and path not in found:
            found.add(path)
            path = posixpath.dirname(path)
    return found


def _forget(known: dict[str, Any], path: str, *, below: bool) -> None:
    """Forget a file; if it may be a folder, what is below it."""
    if known.pop(path, None) is None and below:
        for file in [file for file in known if file.startswith(f"{path}/")]:
            del known[file]


def _digest(workspace: Workspace, file: str) -> bytes:
    data = workspace.repository.read(file)
    return hashlib.sha256(data if isinstance(data, bytes) else repr(data).encode(errors="replace")).digest()

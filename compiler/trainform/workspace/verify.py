"""Whether what is rendered follows from its inputs, untouched by hand: what `trainform check` finds."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from trainform import __version__
from trainform.diagnostics import Diagnostic
from trainform.io import paths as disk
from trainform.io.paths import JobId, lock_file, snapshot_file
from trainform.output.layout import job_folder
from trainform.workspace.fingerprint import digest_of, digests_of_files
from trainform.workspace.plan import digests_of
from trainform.workspace.selection import named, train_jobs
from trainform.workspace.shared_files import shared_lists
from trainform.workspace.staleness import third_party
from trainform.workspace.state import Held, State
from trainform.workspace.uptodate import Frozen, is_selected, missing_snapshots, remake, unchanged_jobs

if TYPE_CHECKING:
    from trainform.workspace.lockfile import Pins
    from trainform.workspace.target import Target

StateName = Literal["current", "unproven", "stale", "edited", "missing", "orphan"]


class Verdict(NamedTuple):
    """What is found of a job; of a file that belongs to none, `job` holds what is known of its place."""

    job: JobId
    state: StateName
    files: Sequence[str] = ()


@dataclass(slots=True)
class Examination:
    """The jobs of some targets, and what stands on disk of them."""

    targets: Sequence[Target]
    state: State
    frozen: dict[JobId, Frozen] = field(default_factory=dict)
    asked: set[JobId] = field(default_factory=set)

    @classmethod
    def of(cls, targets: Sequence[Target], state: State) -> Examination:
        frozen = {job.id: job for target in targets for job in unchanged_jobs(target, state)}
        asked = {
            (target.name, *named(document, target))
            for target in targets
            for document in train_jobs(target)
            if is_selected(target, document)
        }
        return cls(targets, state, frozen, asked)

    def verdicts(self) -> list[Verdict]:
        """One for each job that has a TrainJob here."""
        return self._proven([self.at_a_glance(job) for job in sorted(self.asked)])

    def at_a_glance(self, job: JobId) -> Verdict:
        """By digests alone; what they do not settle is unproven, as yet."""
        if self.state.is_broken(job):
            return Verdict(job, "edited", [lock_file(job)])
        if self.state.lock_file(job) is None:
            return Verdict(job, "missing")
        held = self.state.held(job)
        if isinstance(held, Diagnostic) or held.lock_file is None:
            return Verdict(job, "missing")
        wrong = sorted({*held.edited({}), *held.foreign({})})
        if wrong:
            return Verdict(job, "edited", _within(held, wrong))
        if job not in self.asked:
            return Verdict(job, "orphan", _within(held, held.digests))
        if held.missing:
            return Verdict(job, "missing", _within(held, held.missing))
        frozen = self.frozen.get(job)
        if frozen is None or held.lock_file.underway:
            return Verdict(job, "stale", _within(held, held.digests))
        if frozen.lock.source != frozen.document.file:
            return Verdict(job, "stale", [lock_file(job)])
        return Verdict(job, "unproven")

    def _proven(self, found: Sequence[Verdict]) -> list[Verdict]:
        """Compiles what this very compiler pinned once more, and compares bytes."""
        from trainform.workspace.compiling import shipped_catalogue

        unproven = [self.frozen[each.job] for each in found if each.state == "unproven"]
        provable = [job for job in unproven if self._is_provable(job)]
        made, problems = remake(self.state.repository, self.targets, provable, shipped_catalogue())
        damaged = {problem.file for problem in problems}
        proven = {job.id: self._compared(job, made.get(job.id), damaged) for job in provable}
        return [proven.get(each.job, each) for each in found]

    def _is_provable(self, job: Frozen) -> bool:
        pins = job.lock.pins
        return pins.compiler == __version__ and pins.plugins == third_party() and self._has_keys(job.id, pins)

    def _has_keys(self, job: JobId, pins: Pins) -> bool:
        """Whether the key files are those that were copied in: the rendered copy is all that is left of others."""
        from trainform.core.secrets import key_files

        target = next(target for target in self.targets if target.name == job[0])
        keys = key_files(document.tree for document in target.inputs.documents) if pins.keys else {}
        digests = {name: digest_of([tree]) for (namespace, name), tree in keys.items() if namespace == job[1]}
        return all(digests.get(name) == digest for name, digest in pins.keys.items())

    def _compared(self, job: Frozen, made: Mapping[str, bytes] | None, damaged: set[str]) -> Verdict:
        if lacking := missing_snapshots(self.state.repository.root, job.lock):
            return Verdict(job.id, "missing", lacking)
        if edited := sorted(damaged.intersection(map(snapshot_file, digests_of(job.lock)))):
            return Verdict(job.id, "edited", edited)
        digests = digests_of_files(made or {})
        wrong = {name for name, digest in job.lock.files.items() if digests.get(name) != digest}
        wrong |= digests.keys() - job.lock.files.keys()
        folder = job_folder(self.state.repository.settings.rendered, *job.id)
        files = [f"{folder}/{name}" for name in sorted(wrong)]
        return Verdict(job.id, "edited", files) if files else Verdict(job.id, "current")


def of_no_job(state: State, asked: Collection[JobId], paths: Collection[str] | None) -> Iterator[Verdict]:
    """What is on disk and belongs to none of the jobs `asked` for: jobs that are gone, lists of shared folders that
    do not list what is there, and other files. `paths` are the files that may be such; None for all."""
    gone = Examination((), state)
    yield from (gone.at_a_glance(job) for job in state.ids() if job not in asked)
    yield from _lists(state)
    yield from _strays(state, asked, paths)


def _lists(state: State) -> Iterator[Verdict]:
    repository, jobs = state.repository, state.ids()
    for each in shared_lists(repository.settings.rendered, jobs, set(jobs)):
        found = disk.file_bytes(repository.root, each.file)
        if not each.is_current(found):
            name: StateName = "missing" if found is None else "edited"
            yield Verdict((each.environment, each.namespace, ""), name, [each.file])


def _strays(state: State, asked: Collection[JobId], paths: Collection[str] | None) -> Iterator[Verdict]:
    """Files below an environment of `rendered/` that are in no job's folder, and no list of ours."""
    repository, jobs = state.repository, state.ids()
    lists = {each.file for each in shared_lists(repository.settings.rendered, jobs, set(jobs))}
    prefix, known = f"{repository.settings.rendered}/", {*asked, *jobs}
    for path in disk.files_below(repository.root, repository.settings.rendered) if paths is None else sorted(paths):
        if not path.startswith(prefix) or (paths and not disk.exists(repository.root, path)):
            continue
        environment, *parts = path.removeprefix(prefix).split("/")
        namespace, name = [*parts[:-1], "", ""][:2]
        if parts and path not in lists and (environment, namespace, name) not in known:
            yield Verdict((environment, namespace, name), "orphan", [path])


def _within(held: Held, names: Collection[str]) -> list[str]:
    return [f"{held.folder}/{name}" for name in names]

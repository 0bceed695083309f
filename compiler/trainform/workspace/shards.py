"""`--shard 2/4`: several runs, on several machines, that together write the same files as one run. A hash of its
environment, namespace and name assigns each job, so adding jobs moves none. Files that jobs share (folder lists,
snapshots, `.gitattributes`) belong to the first shard, so no file is written twice."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from trainform.k8s.tree import table
from trainform.workspace import InvocationError
from trainform.workspace.fingerprint import NOTHING, CurrentInputs, is_frozen
from trainform.workspace.selection import is_selected, job_id

if TYPE_CHECKING:
    from trainform.io.paths import JobId
    from trainform.source import Document
    from trainform.workspace.inputs import EnvironmentInputs
    from trainform.workspace.lockfile import Lock
    from trainform.workspace.state import LockStore


class Shard(NamedTuple):
    """Shard `number` (from 1) of `of` shards."""

    number: int
    of: int

    @property
    def is_first(self) -> bool:
        return self.number == 1

    def has(self, job: JobId) -> bool:
        digest = hashlib.sha256("/".join(job).encode(errors="surrogatepass")).digest()
        return int.from_bytes(digest[:8], "big") % self.of == self.number - 1


ALL = Shard(1, 1)
"""Everything, as without `--shard`."""


class JobElsewhere(NamedTuple):
    """A job of another shard, with its TrainJob."""

    id: JobId
    document: Document


def take_other_shards(inputs: EnvironmentInputs, shard: Shard) -> list[JobElsewhere]:
    """Remove the jobs of other shards; return those that the environment's selector matches."""
    if shard.of == 1:
        return []
    found = [JobElsewhere(job_id(inputs, document), document) for document in inputs.train_jobs()]
    others = [each for each in found if not shard.has(each.id)]
    inputs.leave_out(each.document for each in others)
    inputs.partial = True
    return [each for each in others if is_selected(inputs, each.document)]


def frozen_lock(job: JobElsewhere, locks: LockStore) -> Lock | None:
    """The job's lock, if the job is frozen."""
    lock = locks.lock(job.id)
    return lock if lock is not None and is_frozen(lock, job.document) else None


def pinned_snapshots(job: JobElsewhere, lock: Lock | None, current: CurrentInputs) -> set[str]:
    """Digests of the snapshots that another shard's job will be pinned to: those of `lock` if it is kept."""
    if lock is not None:
        return {*lock.pins.snapshots}
    runtime = current.runtime(*_runtime(job))
    return {current.environment.digest, runtime.digest if runtime else NOTHING}


def _runtime(job: JobElsewhere) -> tuple[str, str, str]:
    reference = table(table(job.document.tree, "spec"), "runtimeRef")
    kind = str(reference.get("kind") or "ClusterTrainingRuntime")
    return kind, job.id[1] if kind == "TrainingRuntime" else "", str(reference.get("name") or "")


def parse(text: str) -> Shard:
    """Parse a shard such as `2/4`. Raises InvocationError for anything else."""
    number, _, count = text.partition("/")
    if not (number.isascii() and number.isdigit() and count.isascii() and count.isdigit()):
        raise InvocationError(f'"{text}" is not a shard: write 2/4 for the second of four', "--shard")
    shard = Shard(int(number), int(count))
    if not 1 <= shard.number <= shard.of:
        raise InvocationError(f'"{text}": the first number must be between 1 and the second', "--shard")
    return shard

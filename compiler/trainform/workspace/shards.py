"""`--shard 2/4`: one of four runs, on four machines, that together do what one run would.

A job belongs to a shard by a hash of its environment, namespace and name alone, so that it stays there whatever else is
added. What jobs share (lists of folders, snapshots, `.gitattributes`) belongs to the first shard: no file is written by
two, and the files of all shards together are those of one run.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

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
    """The shard `number`, counted from 1, `of` so many."""

    number: int
    of: int

    @property
    def is_first(self) -> bool:
        return self.number == 1

    def has(self, job: JobId) -> bool:
        digest = hashlib.sha256("/".join(job).encode(errors="surrogatepass")).digest()
        return int.from_bytes(digest[:8], "big") % self.of == self.number - 1


ALL = Shard(1, 1)
"""Everything: what is done without `--shard`."""


class JobElsewhere(NamedTuple):
    """A job of another shard, with its TrainJob."""

    id: JobId
    document: Document


def take_other_shards(inputs: EnvironmentInputs, shard: Shard) -> list[JobElsewhere]:
    """Takes the jobs of other shards out of an environment; those that its selector takes are returned."""
    if shard.of == 1:
        return []
    found = [JobElsewhere(job_id(inputs, document), document) for document in inputs.train_jobs()]
    others = [each for each in found if not shard.has(each.id)]
    inputs.leave_out(each.document for each in others)
    inputs.partial = True
    return [each for each in others if is_selected(inputs, each.document)]


def frozen_lock(job: JobElsewhere, locks: LockStore) -> Lock | None:
    """The lock of a job whose TrainJob did not change since."""
    lock = locks.lock(job.id)
    return lock if lock is not None and is_frozen(lock, job.document) else None


def pinned_snapshots(job: JobElsewhere, lock: Lock | None, current: CurrentInputs) -> set[str]:
    """The digests of the snapshots that the lock of a job of another shard will name: those of `lock`, if it stays."""
    if lock is not None:
        return {*lock.pins.snapshots}
    runtime = current.runtime(*_runtime(job)) if isinstance(_reference(job), dict) else None
    return {current.environment.digest, runtime.digest if runtime else NOTHING}


def _reference(job: JobElsewhere) -> Any:
    spec = job.document.tree.get("spec")
    return spec.get("runtimeRef") if isinstance(spec, dict) else None


def _runtime(job: JobElsewhere) -> tuple[str, str, str]:
    reference = _reference(job)
    kind = str(reference.get("kind") or "ClusterTrainingRuntime")
    return kind, job.id[1] if kind == "TrainingRuntime" else "", str(reference.get("name") or "")


def parse(text: str) -> Shard:
    """The shard that `2/4` on a command line means. Raises InvocationError for anything else."""
    number, _, count = text.partition("/")
    if not (number.isascii() and number.isdigit() and count.isascii() and count.isdigit()):
        raise InvocationError(f'"{text}" is not a shard: write 2/4 for the second of four', "--shard")
    shard = Shard(int(number), int(count))
    if not 1 <= shard.number <= shard.of:
        raise InvocationError(f'"{text}": the first number must be between 1 and the second', "--shard")
    return shard

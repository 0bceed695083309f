"""`--shard 2/4`: one of four runs, on four machines, that together do what one run would.

A job belongs to a shard by its environment, namespace and name alone, so that it stays there whatever else is added.
What jobs share, the lists of folders, snapshots and `.gitattributes`, belongs to the first shard: no file is
written by two, and the files of all shards together are those of one run.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from trainform.workspace.fingerprint import is_frozen
from trainform.workspace.plan import digests_of
from trainform.workspace.selection import named, train_jobs
from trainform.workspace.uptodate import NOTHING, is_selected

if TYPE_CHECKING:
    from trainform.io.paths import JobId
    from trainform.source import Document
    from trainform.workspace.fingerprint import Present
    from trainform.workspace.lockfile import Lock
    from trainform.workspace.state import State
    from trainform.workspace.target import Target


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


class Elsewhere(NamedTuple):
    """A job of another shard. `document` is its TrainJob."""

    id: JobId
    document: Document


def set_others_apart(target: Target, shard: Shard) -> list[Elsewhere]:
    """Takes the jobs of other shards out of a target."""
    if shard.of == 1:
        return []
    found = [Elsewhere((target.name, *named(document, target)), document) for document in train_jobs(target)]
    others = [each for each in found if not shard.has(each.id)]
    apart = {id(each.document) for each in others}
    inputs = target.inputs
    inputs.documents = [document for document in inputs.documents if id(document) not in apart]
    inputs.diagnostics = [problem for problem in inputs.diagnostics if id(problem.place) not in apart]
    target.partial = True
    return [each for each in others if is_selected(target, each.document)]


def frozen_lock(job: Elsewhere, state: State) -> Lock | None:
    """The lock of a job whose TrainJob did not change since."""
    lock = state.lock(job.id)
    return lock if lock is not None and is_frozen(lock, job.document) else None


def digests_named(job: Elsewhere, lock: Lock | None, present: Present) -> set[str]:
    """The digests of the snapshots that the lock of a job of another shard names once that is done, too: those of
    `lock`, if it stays on that."""
    if lock is not None:
        return {*digests_of(lock)}
    runtime = present.runtime(*_runtime(job)) if isinstance(_reference(job), dict) else None
    return {present.environment.digest, runtime.digest if runtime else NOTHING}


def _reference(job: Elsewhere) -> Any:
    spec = job.document.tree.get("spec")
    return spec.get("runtimeRef") if isinstance(spec, dict) else None


def _runtime(job: Elsewhere) -> tuple[str, str, str]:
    reference = _reference(job)
    kind = str(reference.get("kind") or "ClusterTrainingRuntime")
    return kind, job.id[1] if kind == "TrainingRuntime" else "", str(reference.get("name") or "")


def parse(text: str) -> Shard:
    """The shard that `2/4` on a command line means. Raises BadParameter for anything else."""
    number, _, count = text.partition("/")
    if not (number.isascii() and number.isdigit() and count.isascii() and count.isdigit()):
        raise click.BadParameter(f'"{text}" is not a shard: write 2/4 for the second of four', param_hint="--shard")
    shard = Shard(int(number), int(count))
    if not 1 <= shard.number <= shard.of:
        raise click.BadParameter(f'"{text}": the first number must be between 1 and the second', param_hint="--shard")
    return shard

"""`trainform ci`: every problem of a repository and a verdict for each rendered job, from one read and one compile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from trainform.workspace.frozen import Rebuilt, files_and_pins
from trainform.workspace.parallel import Chunk, ChunkStats, map_chunks
from trainform.workspace.shards import ALL
from trainform.workspace.validate import ChunkValidation, WorkspaceValidation, seen_together, validate_chunk
from trainform.workspace.verify.verification import Verification, verify_chunk

if TYPE_CHECKING:
    from trainform.io.paths import JobId
    from trainform.workspace.discovery import Workspace
    from trainform.workspace.inputs import EnvironmentInputs


class Examined(NamedTuple):
    """What `validate` and `check` say of the same files."""

    validation: WorkspaceValidation
    verification: Verification

    @property
    def stats(self) -> ChunkStats:
        """Of `validate`, which compiles every job: what it says to concern several chunks, does for `check`, too."""
        return self.validation.stats

    def add(self, other: Examined) -> None:
        """Add what they say of another chunk."""
        self.validation.add(other.validation)
        self.verification.add(other.verification)


def examine(workspace: Workspace, workers: int = 0) -> Examined:
    """What `validate` and `check` say of the whole workspace. A job that is pinned to today's inputs is compiled once:
    what `validate` compiles is what `check` compares with the disk."""
    whole = map_chunks(workspace, partial(_examine_chunk, workspace), workers)
    whole.validation.diagnostics += seen_together(whole.validation, workspace, ALL)
    whole.verification.add_what_belongs_to_no_job(workspace)
    whole.verification.sort(workspace)
    return whole


def _examine_chunk(workspace: Workspace, environments: list[EnvironmentInputs], chunk: Chunk) -> Examined:
    untouched = [replace(each, sources=each.sources.copied()) for each in environments]
    validated = validate_chunk(workspace, ALL, environments, chunk)
    verification = verify_chunk(workspace, ALL, untouched, chunk, _compiled(environments, validated))
    return Examined(validated.validation, verification)


def _compiled(environments: list[EnvironmentInputs], validated: ChunkValidation) -> Mapping[JobId, Rebuilt]:
    compilations = zip(environments, validated.outcome.compilations, strict=True)
    found = (files_and_pins(each.name, compilation, validated.current[each.name]) for each, compilation in compilations)
    return {job: rebuilt for jobs in found for job, rebuilt in jobs.items()}

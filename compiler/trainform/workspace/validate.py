"""What `trainform validate` finds, slice by slice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from trainform.diagnostics import Diagnostic
from trainform.io.paths import JobId
from trainform.workspace.compiling import compile_targets
from trainform.workspace.shards import Shard, set_others_apart
from trainform.workspace.slices import Census, Slice, count, in_slices, settle
from trainform.workspace.staleness import Groups, behind, merge, tell_behind

if TYPE_CHECKING:
    from trainform.core.pipeline import PluginFailure
    from trainform.workspace.discovery import Survey
    from trainform.workspace.state import State
    from trainform.workspace.target import Target


@dataclass(slots=True)
class Validated:
    """What is found in some files, or in all. `documents` counts them, `files` are those that hold any."""

    census: Census = field(default_factory=Census)
    documents: int = 0
    files: set[str] = field(default_factory=set)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    behind: Groups = field(default_factory=dict)
    failures: list[PluginFailure] = field(default_factory=list)


def validate_all(survey: Survey, problems: Sequence[Diagnostic], state: State, shard: Shard, workers: int) -> Validated:
    """Every problem of a repository, `problems` among them, and who is behind."""
    whole = Validated()
    parts = in_slices(survey, partial(_validate, problems, state, shard), workers)
    for each in parts:
        whole.documents += each.documents
        whole.files |= each.files
        whole.diagnostics += each.diagnostics
        whole.failures += each.failures
    whole.behind = merge(each.behind for each in parts)
    whole.diagnostics += tell_behind(whole.behind)
    return whole


def _validate(
    problems: Sequence[Diagnostic], state: State, shard: Shard, targets: list[Target], part: Slice | None
) -> Validated:
    census = count(targets, part)
    elsewhere: list[JobId] = [job.id for target in targets for job in set_others_apart(target, shard)]
    shared = set() if part is None or part.first else set(part.files)
    documents = {
        id(document): document.file
        for target in targets
        for document in target.inputs.documents
        if not shared or document.file in shared
    }
    outcome = compile_targets(targets, problems, wants_job=not documents and not problems)
    settle(census, targets, outcome, elsewhere)
    late = behind(targets, outcome, state.fresh())
    told = outcome.all_diagnostics() if part is None else part.told(outcome, whole=True)
    return Validated(census, len(documents), set(documents.values()), told, late, outcome.failures)

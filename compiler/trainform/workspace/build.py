"""`trainform render` and `trainform upgrade`: discover, plan, write, save the cache."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from trainform.diagnostics.order import has_errors
from trainform.io.paths import links_out
from trainform.io.place import os_error
from trainform.io.staging import Staging, writing
from trainform.workspace import InvocationError
from trainform.workspace.apply import apply
from trainform.workspace.cache.affected import affected
from trainform.workspace.cache.build_cache import BuildCache
from trainform.workspace.chunk import plan_chunk
from trainform.workspace.discovery import Workspace, discover
from trainform.workspace.parallel import map_chunks
from trainform.workspace.plan import BuildOptions, ChangeSet
from trainform.workspace.shared.files import add_shared_files, lists_removed

if TYPE_CHECKING:
    from trainform.io.repository import Repository


class Built(NamedTuple):
    """The result of a build: the plan, and whether it was `written`."""

    repository: Repository
    plan: ChangeSet
    written: bool


def build(root: str, options: BuildOptions) -> Built:
    """Render the selected jobs and write what changed. Any error prevents writing; with `keep_going`, jobs without
    errors are written. Raises InvocationError if the build is impossible in this repository."""
    _refuse_links(root)
    with writing(root) as staging:
        workspace = discover(root, options.environments)
        workspace.refuse_sparse_checkout()
        cache = BuildCache.open(workspace, enabled=options.covers_everything and options.cached)
        plan = plan_everything(workspace, options, cache, staging)
        if may_write := plan.may_write(options):
            apply(plan, workspace.repository.settings.rendered, staging)
        if not has_errors(plan.problems()):
            cache.save(plan.facts, plan.clean_files, quiet=not plan.diagnostics)
        return Built(workspace.repository, plan, may_write)


def plan_everything(workspace: Workspace, options: BuildOptions, cache: BuildCache, staging: Staging) -> ChangeSet:
    """Plan all jobs and the files they share. An unreadable file is a conflict."""
    plan = ChangeSet()
    try:
        plan = plan_jobs(workspace, options, cache, staging)
        if options.prunes:
            plan.prune(workspace, options)
        plan.tell_namesakes(workspace)
        if options.shard.is_first:
            add_shared_files(plan, workspace, options)
    except OSError as error:
        plan.conflicts.append(os_error("TF701", error.filename or "", error, "cannot be read"))
    if plan.lists_removed:
        plan.conflicts.append(lists_removed(plan.lists_removed))
    return plan


def plan_jobs(workspace: Workspace, options: BuildOptions, cache: BuildCache, staging: Staging) -> ChangeSet:
    """Plan each job: those that may have changed are read and compiled, chunk by chunk."""
    found = affected(workspace, options, cache)
    if found.others is not None and not found.files and cache.is_quiet_with(found.others.present):
        return found.others
    work = partial(plan_chunk, workspace, options, staging)
    one_piece = options.in_one_piece
    return map_chunks(workspace, work, options.workers, files=found.files, known=found.others, one_piece=one_piece)


def _refuse_links(root: str) -> None:
    """Nothing may be written or deleted through a link that leads out of the repository or into git's own folder."""
    if outside := links_out(root):
        raise InvocationError(f"{outside[0]} leads out of the repository: remove the link")

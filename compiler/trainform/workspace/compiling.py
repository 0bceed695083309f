"""From targets to compiled jobs: what the commands share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from trainform.diagnostics import Diagnostic
from trainform.diagnostics.order import has_errors
from trainform.workspace.target import Target

if TYPE_CHECKING:
    from trainform.api import Read
    from trainform.core.catalogue import Catalogue
    from trainform.core.compile import Compilation, CompiledJob
    from trainform.core.pipeline import Observer, PluginFailure
    from trainform.core.registry import Installed
    from trainform.source import Document


class Outcome(NamedTuple):
    """Compiled jobs with their own diagnostics, and those of the stream or repository as a whole."""

    jobs: list[CompiledJob]
    diagnostics: list[Diagnostic]
    failures: list[PluginFailure]
    compilations: list[Compilation]
    catalogue: Catalogue

    def all_diagnostics(self) -> list[Diagnostic]:
        return [*self.diagnostics, *(each for job in self.jobs for each in job.diagnostics)]


def compile_targets(
    targets: Sequence[Target],
    problems: Iterable[Diagnostic] = (),
    *,
    wants_job: bool = True,
    observe: Observer | None = None,
    cache: dict[Document, Read] | None = None,
) -> Outcome:
    """Compile every target. `problems` are those of the repository itself; `wants_job` says whether it
    is worth telling that there is no TrainJob (TF202), which errors of files explain otherwise; `observe`
    follows the stages of each job. `cache` is filled with what is read of documents."""
    from trainform.core.compile import compile_documents

    plugins = [each.plugin for each in installed()]
    catalogue = shipped_catalogue()
    cache = {} if cache is None else cache
    for target in targets:
        cache.update(target.reads)
    compilations = [
        compile_documents(
            target.inputs.documents,
            catalogue=catalogue,
            plugins=plugins,
            source=target.inputs.diagnostics,
            cache=cache,
            partial=target.partial,
            observe=observe,
        )
        for target in targets
    ]
    told = [*problems, *(each for compilation in compilations for each in compilation.diagnostics)]
    if not wants_job or has_errors([each for target in targets for each in target.inputs.diagnostics]):
        told = [each for each in told if each.code != "TF202"]
    jobs = [job for compilation in compilations for job in compilation.jobs]
    failures = [failure for compilation in compilations for failure in compilation.failures]
    return Outcome(jobs, list(dict.fromkeys(told)), failures, compilations, catalogue)


def installed() -> tuple[Installed, ...]:
    """The plugins; one that cannot be used is an error of this installation, not a bug of ours."""
    import click

    from trainform.core.registry import PluginError
    from trainform.installed import installed_plugins

    try:
        return installed_plugins()
    except PluginError as error:
        raise click.ClickException(str(error)) from error


@cache
def shipped_catalogue() -> Catalogue:
    """The runtimes that trainform brings along, each read once."""
    from trainform.core.catalogue import Catalogue
    from trainform.io.resources import shipped_runtimes

    return Catalogue(dict(shipped_runtimes()))

"""Compile environments with the installed plugins and the shipped catalog."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from trainform.diagnostics import Diagnostic
from trainform.diagnostics.order import UNSELECTED, has_errors
from trainform.installed import stdout_kept
from trainform.workspace.lints import Judgement, Lints, judge, judge_problems

if TYPE_CHECKING:
    from trainform.api import Read
    from trainform.core.catalogue import Catalogue
    from trainform.core.compile import Compilation, CompiledJob
    from trainform.core.pipeline import Observer
    from trainform.core.plugin import PluginFailure
    from trainform.source import Document
    from trainform.workspace.inputs import EnvironmentInputs


class Outcome(NamedTuple):
    """Compiled jobs with their own diagnostics, and the diagnostics of the whole stream or repository. `compilations`
    has one entry per environment, in the given order. `judged`: what became of findings that are not told."""

    jobs: list[CompiledJob]
    diagnostics: list[Diagnostic]
    failures: list[PluginFailure]
    compilations: list[Compilation]
    catalogue: Catalogue
    judged: Judgement

    def all_diagnostics(self) -> list[Diagnostic]:
        return [*self.diagnostics, *(each for job in self.jobs for each in job.diagnostics)]

    def errors(self) -> list[Diagnostic]:
        return [each for each in self.all_diagnostics() if each.severity == "error"]

    def left_out(self) -> list[Diagnostic]:
        """Errors, which leave jobs out of every result, and jobs that no Environment selects."""
        return [each for each in self.all_diagnostics() if each.severity == "error" or each.code == UNSELECTED]


def compile_environments(
    environments: Sequence[EnvironmentInputs],
    problems: Iterable[Diagnostic] = (),
    *,
    wants_job: bool = True,
    observe: Observer | None = None,
    cache: dict[Document, Read] | None = None,
) -> Outcome:
    """Compile the jobs of each environment. `problems` are those of the repository itself. The team's lint settings
    apply to all. `wants_job`: report if there is no TrainJob (TF202), unless file errors explain it. `observe` follows
    the stages of each job. `cache` is filled with the parsed documents. Raises InvocationError if a plugin does not
    load."""
    from trainform.core.compile import compile_documents

    catalogue = shipped_catalogue()
    cache = {} if cache is None else cache
    for each in environments:
        cache.update(each.reads)
    compilations, judged = [], Judgement()
    for each in environments:
        with stdout_kept():
            compilation = compile_documents(
                each.sources.documents,
                catalogue=catalogue,
                plugins=each.plugins.plugins,
                source=each.sources.diagnostics,
                cache=cache,
                partial=each.partial,
                only=each.document is None,
                observe=observe,
            )
        compilations.append(judge(compilation, each.sources.documents, each.lints, judged))
    lints = environments[0].lints if environments else Lints()
    own = judge_problems([*problems], lints, judged)
    told = [*own, *(each for compilation in compilations for each in compilation.diagnostics)]
    if not wants_job or has_errors([problem for each in environments for problem in each.sources.diagnostics]):
        told = [each for each in told if each.code != "TF202"]
    jobs = [job for compilation in compilations for job in compilation.jobs]
    failures = [failure for compilation in compilations for failure in compilation.failures]
    return Outcome(jobs, list(dict.fromkeys(told)), failures, compilations, catalogue, judged)


@cache
def shipped_catalogue() -> Catalogue:
    """The runtimes shipped with trainform, each read once."""
    from trainform.core.catalogue import Catalogue
    from trainform.io.resources import shipped_runtimes

    return Catalogue(dict(shipped_runtimes()))

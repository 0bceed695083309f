"""The compiler: turns documents into each job's finished objects and problems. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from trainform.api import Read, Runtime, TrainJob, deprecation
from trainform.api.placeholders import with_hint
from trainform.core.catalogue import find_runtime, place_of
from trainform.core.destination import Destination
from trainform.core.finish import finish
from trainform.core.gitops import content_hash
from trainform.core.guests.settings import NO_SETTINGS, SettingsOfPlugins, read_settings
from trainform.core.inputs import Input, Inputs, sort
from trainform.core.pipeline import Pipeline
from trainform.core.plan import Plan
from trainform.core.take_apart import Shared, take_apart
from trainform.diagnostics import Diagnostic, dotted
from trainform.diagnostics.diagnostic import JobRef
from trainform.diagnostics.order import has_errors
from trainform.source import Document

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trainform.core.catalogue import Catalogue
    from trainform.core.cluster.facts import ObjectKey
    from trainform.core.guests.originals import Originals
    from trainform.core.pipeline import Observer
    from trainform.core.plugin import Plugin, PluginFailure
    from trainform.core.secrets import SecretNeed
    from trainform.k8s.tree import Tree


class CompiledJob(NamedTuple):
    """The result for one TrainJob. `objects` is empty if any diagnostic is an error; `secrets` (the key Secrets it
    needs) and `runtime` are set even then. `patches`: indexes of the Environment's patches that matched an object."""

    name: str
    namespace: str
    environment: str
    document: Document
    objects: list[Tree]
    diagnostics: list[Diagnostic]
    deviations: list[str]
    secrets: list[SecretNeed]
    runtime: Input | None
    patches: frozenset[int] = frozenset()


class Compilation(NamedTuple):
    """All jobs in document order, and the problems that belong to no single job. `failures`: exceptions raised by
    plugins. `inputs`: what the jobs were compiled from. `unmatched`: patches and settings of the Environment that
    matched no job; also in the diagnostics unless the compile was partial."""

    jobs: list[CompiledJob]
    diagnostics: list[Diagnostic]
    failures: list[PluginFailure]
    environment: str
    inputs: Inputs
    unmatched: list[Diagnostic]


def compile_documents(
    documents: Iterable[Document],
    *,
    catalogue: Catalogue,
    plugins: Sequence[Plugin],
    source: Iterable[Diagnostic] = (),
    cache: dict[Document, Read] | None = None,
    partial: bool = False,
    only: bool = True,
    observe: Observer | None = None,
) -> Compilation:
    """Compile the TrainJobs in `documents`, for the Environment in them if there is one. Never raises for bad input.

    `source`: problems that the front end found. `cache`: parsed documents shared between environments. `partial`: these
    are not all jobs, so a patch that matches none of them is not an error. `only`: no other Environment may select the
    jobs that this one does not. `observe`: called after each stage of each job.
    """
    pipeline = Pipeline.of(plugins, observe)
    given, found, reads = [*documents], [*source], {} if cache is None else cache
    if not pipeline.guests:
        return prepare(sort(given, found, reads), catalogue, pipeline).all_compiled(partial=partial, only=only)
    from trainform.core.guests.originals import Originals  # most installations have no third-party plugin

    originals = Originals()
    work = prepare(sort(given, found, reads), catalogue, pipeline, originals)
    compilation = work.all_compiled(partial=partial, only=only)
    if originals.undo():
        # A plugin edited an input in place: compile again, to find out which one, and without its edits.
        again = prepare(sort(given, found, reads), catalogue, pipeline, originals, strict=True)
        compilation = again.all_compiled(partial=partial, only=only)
    return compilation


Stopped = dict["ObjectKey | None", list[JobRef]]
"""The jobs that cannot use a runtime, by its key, or the Environment (None)."""


class Prepared(NamedTuple):
    """A compile before its first job: what all jobs share, and the jobs that the Environment selects."""

    shared: Shared
    selected: list[Input]

    def all_compiled(self, *, partial: bool = False, only: bool = True) -> Compilation:
        """Compile every job."""
        jobs = [compile_job(item, self.shared) for item in self.selected]
        failed = any(has_errors(job.diagnostics) for job in jobs)
        found = self.compilation(stopped_by(jobs, self.shared.inputs), failed=failed, partial=partial, only=only)
        return found._replace(jobs=jobs)

    def compilation(self, stopped: Stopped, *, failed: bool, partial: bool = False, only: bool = True) -> Compilation:
        """The result after the last job, without the jobs. `failed`: a job has an error, so that patches may have
        missed it."""
        inputs, destination = self.shared.inputs, self.shared.destination
        unmatched = [] if failed else destination.unmatched()
        general = _naming_jobs(inputs.diagnostics, stopped, inputs)
        told = [*map(with_hint, general), *([] if partial else [*_no_job(inputs, self.selected), *unmatched])]
        if only and self.selected:
            told += _unselected(inputs, self.selected, destination)
        return Compilation([], told, self.shared.failures, destination.name, inputs, unmatched)


def prepare(
    inputs: Inputs,
    catalogue: Catalogue,
    pipeline: Pipeline,
    originals: Originals | None = None,
    *,
    strict: bool = False,
) -> Prepared:
    """Read the settings of plugins, and select the jobs that are this Environment's."""
    settings = _settings(inputs, pipeline)
    if settings.unusable:
        pipeline = pipeline.of_usable(settings.unusable)
    shared = Shared(inputs, Destination.of(inputs), catalogue, pipeline, [], originals, strict, settings)
    if originals is not None:
        originals.watch_shared(inputs)
    return Prepared(shared, [item for item in inputs.jobs if shared.destination.selects(item)])


def stopped_by(jobs: Iterable[CompiledJob], inputs: Inputs) -> Stopped:
    """Which of the jobs errors of runtimes and of the Environment stop."""
    stopped: Stopped = {}
    for job in jobs:
        reference = (job.environment, job.namespace, job.name)
        if job.runtime is not None and not job.runtime.sound:
            stopped.setdefault(job.runtime.key, []).append(reference)
        if inputs.environment is not None and not inputs.environment.sound:
            stopped.setdefault(None, []).append(reference)
    return stopped


def _naming_jobs(diagnostics: Iterable[Diagnostic], stopped: Stopped, inputs: Inputs) -> list[Diagnostic]:
    """Errors of runtimes and of the Environment, each with the jobs that it stops."""
    named: dict[Document, set[JobRef]] = {}
    for key, jobs in stopped.items():
        item = inputs.environment if key is None else inputs.runtimes.get(key)
        for place in {each.place for each in _errors(item)}:
            if isinstance(place, Document):
                named.setdefault(place, set()).update(jobs)
    if not named:
        return [*diagnostics]
    return [
        each._replace(jobs=tuple(sorted(named[each.place])))
        if each.severity == "error" and isinstance(each.place, Document) and each.place in named
        else each
        for each in diagnostics
    ]


def _errors(item: Input | None) -> list[Diagnostic]:
    """What keeps jobs from using a runtime or an Environment."""
    return [] if item is None or item.sound else [each for each in item.diagnostics if each.severity == "error"]


def compile_job(item: Input, shared: Shared) -> CompiledJob:
    """Compile one TrainJob: link, take apart, run the stages, patch, admit, check."""
    job = item.model
    if not isinstance(job, TrainJob):
        return _result(item, shared, list(item.diagnostics))
    runtime, problems = find_runtime(job, item, shared.inputs, shared.catalogue)
    diagnostics = [*item.diagnostics, *problems, *_unusable_environment(item, shared)]
    if runtime is None or not isinstance(runtime.model, Runtime):
        return _result(item, shared, diagnostics)
    diagnostics += filter(None, [deprecation(runtime.model, item.document)])

    def attempt(pipeline: Pipeline) -> list[Diagnostic]:
        return run_stages(item, runtime, shared._replace(pipeline=pipeline), diagnostics).diagnostics

    try:
        plan = run_stages(item, runtime, shared, diagnostics)
        if shared.pipeline.guests and has_errors(plan.diagnostics):
            from trainform.core.guests.culprit import with_culprits

            plan.diagnostics[:] = with_culprits(plan.diagnostics, diagnostics, shared.pipeline, attempt)
    except Exception as error:
        from trainform.core.guests.culprit import failure_of

        failure = failure_of(error, shared.pipeline, attempt)
        shared.failures.append(failure)
        plan = take_apart(item, runtime, shared, diagnostics)
        plan.ledger.actor = failure.plugin
        plan.report(failure.code, str(failure), hint=failure.hint)
    return _result(item, shared, plan.diagnostics, plan, runtime)


def run_stages(item: Input, runtime: Input, shared: Shared, diagnostics: list[Diagnostic]) -> Plan:
    """The plan of a job after all stages. Raises PluginFailure, and whatever else a plan raises that a plugin broke."""
    plan = take_apart(item, runtime, shared, diagnostics)
    if shared.destination.hashes_names:
        # Built under its plain name, then again under the hashed one; only the second build reports problems.
        shared.pipeline.build(plan)
        plan.patch()
        plan = take_apart(item, runtime, shared, diagnostics, f"{plan.name}-{content_hash(plan.objects)}")
    shared.pipeline.run(plan, finish)
    return plan


def _result(
    item: Input, shared: Shared, diagnostics: list[Diagnostic], plan: Plan | None = None, runtime: Input | None = None
) -> CompiledJob:
    _, namespace, name = item.key
    job = (shared.destination.name, namespace, name)
    at_home = (_in_repository(each, item, runtime, shared) for each in diagnostics)
    diagnostics = [_naming(job, with_hint(each), item) for each in at_home]
    told = (*diagnostics, *runtime.diagnostics) if runtime else diagnostics
    return CompiledJob(
        name,
        namespace,
        shared.destination.name,
        item.document,
        [] if plan is None or has_errors(diagnostics) else plan.objects,
        diagnostics,
        sorted({d.code.removeprefix("TF") for d in told if d.code.startswith("TFD")}),
        plan.secrets if plan else [],
        runtime,
        plan.patches if plan else frozenset(),
    )


def _in_repository(problem: Diagnostic, item: Input, runtime: Input | None, shared: Shared) -> Diagnostic:
    """What is wrong with a shipped runtime stands where the job refers to it: its user cannot edit the runtime."""
    if runtime is None or problem.place is not runtime.document or runtime.key in shared.inputs.runtimes:
        return problem
    field = f"{dotted(problem.path)}: " if problem.path else ""
    message = f"in the shipped runtime {runtime.key[2]}: {field}{problem.message}"
    return problem._replace(message=message, path=("spec", "runtimeRef", "name"), place=item.document, at=None)


def _naming(job: JobRef, problem: Diagnostic, item: Input) -> Diagnostic:
    """A problem outside of the job's own document names it."""
    return problem if problem.place is item.document else problem._replace(jobs=(job,))


def _settings(inputs: Inputs, pipeline: Pipeline) -> SettingsOfPlugins:
    """The settings of plugins. Problems are added to the inputs' diagnostics."""
    given = inputs.environment is not None and inputs.environment.document.tree.get("spec", {})
    if not pipeline.guests and not (isinstance(given, dict) and "plugins" in given):
        return NO_SETTINGS
    settings = read_settings(inputs.environment, pipeline.plugins)
    inputs.diagnostics += settings.diagnostics
    return settings


def _unusable_environment(item: Input, shared: Shared) -> list[Diagnostic]:
    """An error on each job of an unusable Environment."""
    environment = shared.inputs.environment
    if (environment is None or environment.sound) and not shared.settings.unusable:
        return []
    errors = _errors(environment)
    where = f", the first at {place_of(errors[0])}" if errors else ""
    message = f"Environment {shared.destination.name!r} has errors{where}: none of its jobs can be rendered"
    return [Diagnostic("TF163", "error", message, "fix the Environment first", place=item.document)]


def _no_job(inputs: Inputs, selected: Sequence[Input]) -> list[Diagnostic]:
    """An error if there is no TrainJob, unless an unreadable document may contain one."""
    if selected or any(_may_hide_a_job(problem) for problem in inputs.diagnostics):
        return []
    if inputs.jobs and inputs.environment:
        message = f"the Environment selects none of the {len(inputs.jobs)} TrainJobs"
        place = inputs.environment.document
        return [Diagnostic("TF202", "error", message, path=("spec", "jobs", "selector"), place=place)]
    hint = "a TrainJob has apiVersion: trainer.kubeflow.org/v1alpha1 and kind: TrainJob"
    return [Diagnostic("TF202", "error", "no TrainJob found", hint)]


def _unselected(inputs: Inputs, selected: Sequence[Input], destination: Destination) -> Iterator[Diagnostic]:
    """A warning for each job of a stream that its Environment leaves out."""
    if len(selected) < len(inputs.jobs):
        from trainform.api.unselected import JobSelection, unselected  # rarely needed

        chosen = {id(item) for item in selected}
        selection = JobSelection(f"Environment {destination.name}", destination.environment.spec.jobs, takes_file=True)
        for item in inputs.jobs:
            if id(item) not in chosen:
                yield unselected(item.document, [selection])


def _may_hide_a_job(problem: Diagnostic) -> bool:
    """Whether a problem is a parse error, or concerns the fields that make a document a job."""
    unread = problem.place is not None and not isinstance(problem.place, Document)
    return problem.severity == "error" and (unread or problem.path in (("apiVersion",), ("kind",)))

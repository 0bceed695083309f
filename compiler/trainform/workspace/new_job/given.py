"""A TrainJob that a program made: its name, its file, and what stands in the way."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from trainform import source
from trainform.diagnostics.order import has_errors
from trainform.diagnostics.text import render_text
from trainform.io.staging import writing
from trainform.io.writer import remove
from trainform.k8s.labels import labels_of
from trainform.k8s.tree import Tree, name_of
from trainform.output.emitter import emit_stream
from trainform.workspace import InvocationError
from trainform.workspace.bootstrap.writing import NewFile, write_new
from trainform.workspace.discovery import discover
from trainform.workspace.fingerprint import digest_of
from trainform.workspace.new_job.carriage import carriage
from trainform.workspace.selection import job_id
from trainform.workspace.shards import ALL
from trainform.workspace.validate import validate

if TYPE_CHECKING:
    from trainform.diagnostics import Diagnostic
    from trainform.source import Document
    from trainform.workspace.discovery import Workspace
    from trainform.workspace.inputs import EnvironmentInputs

HEAD = "# Written by trainform.sdk. It is a TrainJob like any other: edit it, or run the program again.\n"

LENGTH_OF_STEM = 30
"""Most characters of a name before its digest: the names of pods have 63, and say the step and two numbers, too."""

_OTHER = re.compile(r"[^a-z0-9]+")
_WILDCARD = re.compile(r"[*?\[]")


class GivenJob(NamedTuple):
    """A TrainJob without a namespace (then it is the Environment's) or with one. If it has a script, `runtime` is the
    runtime whose pods run it."""

    tree: Tree
    script: str = ""
    runtime: Tree | None = None


class Added(NamedTuple):
    """The file of the job, from the root, and what `validate` finds there; no errors. `is_new`: it was written now."""

    file: str
    is_new: bool
    findings: list[Diagnostic]


def name_by_content(stem: str, given: GivenJob) -> str:
    """A name that starts with `stem` and ends with a digest of the job: another job of this stem has another name."""
    clean = _OTHER.sub("-", stem.lower()).lstrip("-0123456789")[:LENGTH_OF_STEM].strip("-") or "job"
    return f"{clean}-{digest_of([given.tree, {'script': given.script}])[:8]}"


def add_job(root: str, environment: str, given: GivenJob) -> Added:
    """Write a job and its script, unless they are there already. Raises InvocationError, with what to do, if another
    job has the name, if `environment` would not render the job, or if the job has errors: then nothing is written."""
    workspace = discover(root, [environment])
    (inputs,) = workspace.read()
    file = _place(workspace, inputs, name_of(given.tree))
    files = _files(file, given)
    if taken := _taken(inputs, given.tree):
        if taken.file != file or not _is_there(workspace, files):
            raise InvocationError(_another(taken))
        return Added(file, False, [])
    _check_labels(inputs, given.tree)
    made = write_new(workspace.repository.root, files)
    if made.diagnostics:
        raise InvocationError(_told(made.diagnostics))
    found = _findings(workspace.repository.root, environment, file)
    if has_errors(found):
        with writing(root) as staging:
            for path, _ in made.write:
                remove(staging.root, path)
        errors = [each for each in found if each.severity == "error"]
        raise InvocationError(f"the TrainJob has errors, so it was not written:\n{_told(errors)}")
    return Added(file, True, found)


def _place(workspace: Workspace, inputs: EnvironmentInputs, name: str) -> str:
    """The first file that the Environment would render: in the jobs folder, else in a folder of its own patterns."""
    if not name or "/" in name or name.startswith("."):
        raise InvocationError(f'"{name}" is no name of a TrainJob')
    from trainform.api.selectors import matches_path

    folder = workspace.repository.settings.jobs
    jobs = inputs.environment.spec.jobs if inputs.environment else None
    patterns = jobs.paths if jobs and "paths" in jobs.model_fields_set else [f"{folder}/**"]
    for place in [folder, *_folders(patterns, folder)]:
        if matches_path(patterns, file := f"{place}/{name}.yaml"):
            return file
    raise InvocationError(
        f"no file name below {folder}/ is certain to be on the paths of Environment {inputs.name} "
        f'({", ".join(patterns)}): add a folder to them, such as "{folder}/{inputs.name}/**"'
    )


def _folders(patterns: list[str], jobs: str) -> Iterator[str]:
    """The part of each pattern before its first wildcard, without the file's name, if it is in the jobs folder."""
    for pattern in patterns:
        folder = os.path.normpath(_WILDCARD.split(pattern)[0].rpartition("/")[0]).replace(os.sep, "/")
        if folder.startswith(f"{jobs}/"):
            yield folder


def _files(file: str, given: GivenJob) -> dict[str, NewFile]:
    """The script first: a TrainJob without its script has an error."""
    if not given.script:
        return {file: NewFile(HEAD + emit_stream([given.tree]))}
    metadata, spec = given.tree["metadata"], given.tree["spec"]
    carried = carriage(metadata["name"], metadata.get("namespace", ""), given.runtime or {})
    patches = [*(spec.get("runtimePatches") or ()), carried.patch]
    tree = given.tree | {"spec": spec | {"runtimePatches": patches}}
    script = f"{os.path.dirname(file)}/{carried.file}"
    return {script: NewFile(given.script), file: NewFile(HEAD + emit_stream([tree, carried.generator]))}


def _taken(inputs: EnvironmentInputs, tree: Tree) -> Document | None:
    """A TrainJob of this name in the Environment."""
    wanted = (inputs.name, str(tree["metadata"].get("namespace") or inputs.namespace), name_of(tree))
    return next((each for each in inputs.train_jobs() if job_id(inputs, each) == wanted), None)


def _is_there(workspace: Workspace, files: dict[str, NewFile]) -> bool:
    """Whether files hold this; of YAML only the objects count, as somebody may have added comments."""
    read = workspace.repository.read
    return all(_content(path, read(path)) == _content(path, file.text.encode()) for path, file in files.items())


def _content(path: str, data: bytes | Diagnostic) -> Any:
    if path.endswith(".yaml") and isinstance(data, bytes):
        return [each.tree for each in source.load(data, path).documents]
    return data


def _another(taken: Document) -> str:
    name = name_of(taken.tree)
    return (
        f"{taken.file} has another TrainJob called {name}: give this one its own name, such as "
        f'options=[Name("{name}-2")], or remove that one first with delete_job("{name}")'
    )


def _check_labels(inputs: EnvironmentInputs, tree: Tree) -> None:
    from trainform.api.selectors import matches_labels, selector_text

    selector = inputs.environment.spec.jobs.selector if inputs.environment else None
    if selector is not None and not matches_labels(selector, labels_of(tree)):
        raise InvocationError(
            f"Environment {inputs.name} renders only jobs with {selector_text(selector)}: add the labels, such as "
            'options=[Labels({"team": "nlp"})]'
        )


def _findings(root: str, environment: str, file: str) -> list[Diagnostic]:
    workspace = discover(root, [environment], [f"{root}/{file}"])
    return [each for each in validate(workspace, ALL, 1).diagnostics if each.file == file]


def _told(found: list[Diagnostic]) -> str:
    return render_text(found, colour=False).rstrip("\n")

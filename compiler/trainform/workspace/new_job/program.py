"""`trainform job new`: the text of a TrainJob that teaches, and where it goes."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from textwrap import indent
from typing import TYPE_CHECKING, NamedTuple

from trainform.diagnostics import Diagnostic
from trainform.diagnostics.suggest import did_you_mean
from trainform.k8s.labels import labels_of
from trainform.k8s.tree import Tree
from trainform.output.emitter import emit
from trainform.workspace import InvocationError
from trainform.workspace.bootstrap.editor import has_schemas, with_modeline
from trainform.workspace.bootstrap.templates import rendered
from trainform.workspace.bootstrap.writing import NewFile, write_new
from trainform.workspace.discovery import Workspace, discover
from trainform.workspace.new_job.carriage import RUNNERS, SCRIPT, carriage
from trainform.workspace.new_job.function import CannotCarry, script_of
from trainform.workspace.runtimes import known_runtimes
from trainform.workspace.selection import job_id

if TYPE_CHECKING:
    from trainform.workspace.bootstrap.writing import Bootstrap

FRAMEWORK = "trainer.kubeflow.org/framework"


class NewJob(NamedTuple):
    """What the user asked for. `function` is `file:name`; `file` is where the TrainJob goes, from the root."""

    name: str
    runtime: str = "torch-distributed"
    namespace: str = ""
    queue: str = ""
    image: str = ""
    command: Sequence[str] = ()
    nodes: int = 1
    gpus: int = 0
    cpu: str = "4"
    memory: str = "16Gi"
    variables: Sequence[tuple[str, str]] = ()
    function: str = ""
    file: str = ""


def new_job(root: str, wanted: NewJob) -> Bootstrap:
    """Write the TrainJob, and the script of its function. Raises InvocationError for what cannot be."""
    workspace = discover(root)
    runtime = _runtime(workspace, wanted.runtime)
    framework = labels_of(runtime).get(FRAMEWORK, "")
    _refuse_double(workspace, wanted)
    file = _place(wanted, workspace.repository.settings.jobs)
    files: dict[str, NewFile] = {}
    command, patch, generator = [*wanted.command], "", ""
    if wanted.function:
        carried = carriage(wanted.name, wanted.namespace, runtime)
        files[f"{os.path.dirname(file)}/{carried.file}"] = NewFile(_script(wanted.function))
        command = command or [*RUNNERS.get(framework, ["python"]), SCRIPT]
        patch, generator = _item(carried.patch), emit(carried.generator)
    if not command:
        raise InvocationError('say what runs, such as --command "torchrun train.py"')
    values = wanted._asdict() | {
        "kind": runtime["kind"],
        "queue": _quoted(wanted.queue) if wanted.queue else "",
        "image": _quoted(wanted.image) if wanted.image else "",
        "command": list(map(_quoted, command)),
        "variables": [(_quoted(key), json.dumps(value)) for key, value in wanted.variables],
        "patch": patch,
        "generator": generator,
    }
    text = rendered("job/job.yaml", values)
    files[file] = NewFile(with_modeline(file, text) if has_schemas(workspace.repository.root) else text)
    return write_new(workspace.repository.root, files)


def _runtime(workspace: Workspace, name: str) -> Tree:
    known = known_runtimes(workspace.repository).by_name()
    if name not in known:
        hint = did_you_mean(name, known) or f"known are {', '.join(sorted(known))}"
        raise InvocationError(f'there is no runtime "{name}": {hint}', "--runtime")
    return known[name].tree


def _refuse_double(workspace: Workspace, wanted: NewJob) -> None:
    for inputs in workspace.read():
        for document in inputs.train_jobs():
            _, namespace, name = job_id(inputs, document)
            if (namespace, name) == (wanted.namespace or inputs.namespace, wanted.name):
                raise InvocationError(f"{document.file} has a job {namespace}/{name} already: take another name")


def _place(wanted: NewJob, jobs: str) -> str:
    file = os.path.normpath(wanted.file).replace(os.sep, "/") if wanted.file else f"{jobs}/{wanted.name}.yaml"
    if not file.startswith(f"{jobs}/") or not file.endswith((".yaml", ".yml")):
        raise InvocationError(f'"{file}": write a path such as {jobs}/{wanted.name}.yaml', "--file")
    return file


def _script(given: str) -> str:
    from trainform.io.repository import read_file

    file, _, name = given.rpartition(":")
    if not file or not name.isidentifier():
        raise InvocationError(f'"{given}": write FILE:FUNCTION, such as train.py:train', "--from-function")
    data = read_file("", os.path.abspath(file))
    if isinstance(data, Diagnostic):
        raise InvocationError(f"{file}: {data.message}", "--from-function")
    try:
        # As Python reads it. With other line ends, the ConfigMap would hold it as binary data.
        return script_of(data.decode("utf-8-sig").replace("\r\n", "\n"), name, file)
    except UnicodeDecodeError as error:
        raise InvocationError(f"{file} is not UTF-8", "--from-function") from error
    except CannotCarry as error:
        raise InvocationError(str(error), "--from-function") from error


def _item(tree: Tree) -> str:
    """The YAML of a list's item, as far in as the template has its lists."""
    return indent("- " + indent(emit(tree), "  ")[2:], "    ")


_PLAIN = re.compile(r"[A-Za-z/_][\w./=+-]*\Z", re.ASCII)


def _quoted(text: str) -> str:
    """A string of YAML: as it is, if nothing else can be meant."""
    is_plain = _PLAIN.match(text) and text.lower() not in ("true", "false", "null", "yes", "no", "on", "off", "y", "n")
    return text if is_plain else json.dumps(text)

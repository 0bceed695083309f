"""The manifests of a job, as `trainform render` would write them now, beside its TrainJob.

They are one text: a stream of documents, in which a line `--- # rendered/prod/ml/llm/jobset-llm.yaml` stands before the
bytes of each file. Each line knows where its value comes from, so that an editor can scroll both texts together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from trainform.diagnostics import Position
from trainform.diagnostics.escape import one_line
from trainform.editor.at_hand import jobs_at
from trainform.k8s.tree import object_name
from trainform.output.layout import is_part, job_files, job_folder
from trainform.review.explain.leaves import leaves_of
from trainform.source import load
from trainform.workspace.fingerprint import is_frozen
from trainform.workspace.frozen import FrozenJob, layout_of, rendered_files
from trainform.workspace.state import LockStore

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from trainform.editor.snapshot import JobInEditor, RepositorySnapshot
    from trainform.io.paths import JobId


class Origin(NamedTuple):
    """Who set the value of a rendered line, and where; `line` counts from 1, and is 0 if no file has it."""

    owner: str
    file: str = ""
    line: int = 0


class RenderedPreview(NamedTuple):
    """`text`, with the origin of each of its lines that has one. `environments` are all that select the job. `note`
    says why the text is not what the TrainJob asks for."""

    id: JobId
    folder: str
    text: str
    origins: tuple[Origin | None, ...]
    environments: tuple[str, ...]
    note: str = ""

    def lines_from(self, file: str, line: int) -> list[int]:
        """The rendered lines, from 1, that a line of a source file sets."""
        return [
            number for number, each in enumerate(self.origins, 1) if each and (each.file, each.line) == (file, line)
        ]


def rendered(snapshot: RepositorySnapshot, file: str, at: Position, environment: str = "") -> RenderedPreview | None:
    """The job at a place, in an Environment or in the first that selects it; None if there is no job."""
    return _preview(snapshot, jobs_at(snapshot, file, at), environment)


def rendered_again(snapshot: RepositorySnapshot, file: str, job: JobId) -> RenderedPreview | None:
    """A job of a file, wherever it stands now; None if it is gone, or the file does not parse."""
    environment, *name = job
    return _preview(snapshot, [each for each in snapshot.jobs(file) if [*each.id[1:]] == name], environment)


def _preview(snapshot: RepositorySnapshot, jobs: Sequence[JobInEditor], environment: str) -> RenderedPreview | None:
    chosen = next((job for job in jobs if job.id[0] == environment), jobs[0] if jobs else None)
    if chosen is None or not all(map(is_part, chosen.id)):
        return None
    folder = job_folder(snapshot.repository.settings.rendered, *chosen.id)
    files, note = _files(snapshot, chosen, folder)
    text = "".join(f"--- # {path}\n{data.decode(errors='replace')}" for path, data in files.items())
    text = text or _why_not(chosen)
    environments = tuple(dict.fromkeys(job.id[0] for job in jobs))
    return RenderedPreview(chosen.id, folder, text, tuple(_origins(chosen, text)), environments, note)


def _files(snapshot: RepositorySnapshot, job: JobInEditor, folder: str) -> tuple[Mapping[str, bytes], str]:
    """The files of a job by path. One whose TrainJob is as it was rendered stays as it was rendered."""
    compiled = job.compiled
    now = {f"{folder}/{name}": data for name, data in _now(job).items()}
    lock = LockStore(snapshot.repository).lock(job.id)
    if lock is None or not is_frozen(lock, compiled.document):
        return now, ""
    then = rendered_files(snapshot.repository, FrozenJob(job.id, compiled.document, lock))
    if not then or then.items() <= now.items():
        return now, ""
    name = "/".join(job.id[1:])
    return then, f"{name} stays as it was rendered; `trainform upgrade {name}` would render it from today's inputs"


def _now(job: JobInEditor) -> Mapping[str, bytes]:
    objects = job.compiled.objects
    return job_files(objects, layout_of(job.inputs.environment)) if objects else {}


def _why_not(job: JobInEditor) -> str:
    """The errors of a job that does not render, as comments."""
    errors = [each for each in job.compiled.diagnostics if each.severity == "error"]
    places = [f"{each.file}:{each.position.line}: " if each.position else "" for each in errors]
    told = [f"#   {where}{one_line(each.message)}\n" for where, each in zip(places, errors, strict=True)]
    return "".join(["# This job is not rendered:\n", *told])


def _origins(job: JobInEditor, text: str) -> Iterator[Origin | None]:
    owners = {(each.object, each.path): (each.value, each.owner) for each in job.fields}
    found: dict[int, Origin] = {}
    for document in load(text, "").documents:
        for leaf in leaves_of(document.tree):
            value, owner = owners.get((object_name(document.tree), leaf.path), (None, None))
            if owner is not None and value == leaf.value:
                line = document.key_position(leaf.path).line
                found.setdefault(line, Origin(str(owner), owner.file or "", owner.line or 0))
    for number in range(1, text.count("\n") + 1):
        yield found.get(number)

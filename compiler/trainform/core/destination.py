"""The Environment that jobs are compiled for, with its patches parsed once for all jobs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from trainform.api import TrainJob
from trainform.diagnostics import Diagnostic, Position
from trainform.diagnostics.suggest import did_you_mean
from trainform.k8s.labels import labels_of
from trainform.k8s.tree import Tree, value_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trainform.api import Environment
    from trainform.core.inputs import Input, Inputs
    from trainform.core.patches.objects import ObjectPatch, PatchProblem
    from trainform.diagnostics import Path
    from trainform.source import Document


class PatchedObjects(NamedTuple):
    """A job's objects after the final patches and images, the problems that these cause, by `Kind/name` the last patch
    that changed an object, by path in the JobSet the last entry of `images` that changed an image, and the indexes of
    the patches that matched an object."""

    objects: list[Tree]
    diagnostics: list[Diagnostic]
    changed: dict[str, int]
    images: dict[Path, int]
    matched: frozenset[int] = frozenset()


@dataclass(slots=True)
class Matched:
    """What an Environment's patches and settings have matched in the jobs so far: final patches with the `objects` they
    were tried on, replicated jobs with a patch of the runtime, steps that settings of Kueue may name, names of images,
    and entries of `images` that matched one."""

    patches: set[int] = field(default_factory=set)
    objects: list[Tree] = field(default_factory=list)
    jobs: set[tuple[int, str]] = field(default_factory=set)
    steps: set[str] = field(default_factory=set)
    images: set[str] = field(default_factory=set)
    used_images: set[int] = field(default_factory=set)

    def add(self, other: Matched) -> None:
        self.patches |= other.patches
        self.objects += other.objects
        self.jobs |= other.jobs
        self.steps |= other.steps
        self.images |= other.images
        self.used_images |= other.used_images


@dataclass(slots=True, eq=False)
class Destination:
    """An Environment, its document (None for the built-in `default`), its final patches, and what those have matched so
    far. A patch that matches nothing is an error at the end. `unusable`: the name of one that cannot be read."""

    given: Environment | None = None
    document: Document | None = None
    patches: list[ObjectPatch] = field(default_factory=list)
    matched: Matched = field(default_factory=Matched)
    complete: bool = True
    unusable: str = ""

    @classmethod
    def of(cls, inputs: Inputs) -> Destination:
        """The Environment among the inputs. Problems of its patches are added to the inputs' diagnostics."""
        item = inputs.environment
        if item is None:
            return cls()
        from trainform.api import Environment
        from trainform.core.patches.objects import read_patches

        if not isinstance(item.model, Environment):
            return cls(unusable=item.key[2])
        patches, problems = read_patches(item.model.spec.patches)
        inputs.diagnostics += [_diagnostic(problem, item.document) for problem in problems]
        return cls(item.model, item.document, patches, complete=item.sound and not problems)

    @property
    def environment(self) -> Environment:
        """The Environment, or the defaults if there is none. Check `given` first: importing these models is slow, and
        most runs have no Environment."""
        if self.given is None:
            from trainform.api import DEFAULT_ENVIRONMENT

            self.given = DEFAULT_ENVIRONMENT
        return self.given

    @property
    def is_default(self) -> bool:
        """Whether there is no Environment, so that a job compiles exactly as the controller would build it."""
        return self.document is None

    @property
    def name(self) -> str:
        return self.unusable or ("default" if self.given is None else self.given.name)

    @property
    def hashes_names(self) -> bool:
        """Whether object names carry a content hash."""
        return not self.is_default and self.environment.spec.gitops.naming == "content-hash"

    def selects(self, item: Input) -> bool:
        """Whether the Environment's selector matches the job. Non-string labels match nothing."""
        if self.is_default:
            return True
        from trainform.api.selectors import matches_labels

        labels = item.model.metadata.labels if isinstance(item.model, TrainJob) else labels_of(item.document.tree)
        return matches_labels(self.environment.spec.jobs.selector, labels or {})

    def patch(self, objects: list[Tree], stable: Callable[[str], str]) -> PatchedObjects:
        """A job's built objects after the final patches and images. Patches match an object by its `stable` name."""
        if self.document is None or not (self.patches or self.environment.spec.images):
            return PatchedObjects(objects, [], {}, {})
        from trainform.core.patches.consistency import consistency_problems
        from trainform.core.patches.objects import apply_patches, known_as

        patched = apply_patches(objects, self.patches, stable)
        self.matched.patches |= patched.matched
        self.matched.objects += [_head(known_as(tree, stable)) for tree in objects]
        problems = (*patched.problems, *consistency_problems(objects, patched))
        told = [_diagnostic(problem, self.document) for problem in problems]
        images: dict[Path, int] = {}
        return PatchedObjects(
            [self._with_images(tree, images) for tree in patched.objects],
            told,
            patched.changed,
            images,
            frozenset(patched.matched),
        )

    def _with_images(self, tree: Tree, changed: dict[Path, int]) -> Tree:
        entries = self.environment.spec.images
        if not entries or tree["kind"] != "JobSet":
            return tree
        from trainform.core.patches.images import with_images

        found = with_images(tree, entries)
        self.matched.images |= found.seen
        self.matched.used_images |= found.used
        changed |= found.changed
        return found.tree

    def setter(self, tree: Tree, path: Path, stable: Callable[[str], str]) -> Path:
        """The last patch that sets the element at `path` of a patched object, as a path in the Environment: inside the
        patch, unless that is a text. Empty if there is none."""
        from trainform.core.patches.objects import setter

        found = setter(tree, path, self.patches, stable)
        if found is None or self.document is None:
            return ()
        patch = patch_path(int(found[0]))
        return patch if isinstance(value_at(self.document.tree, patch), str) else (*patch, *found[1:])

    def image_path(self, index: int) -> Path:
        """The path of what an entry of the Environment's `images` sets: the digest, the tag or the name."""
        entry = self.environment.spec.images[index]
        field = "digest" if entry.digest is not None else "newName" if entry.new_tag is None else "newTag"
        return ("spec", "images", index, field)

    def unmatched(self) -> list[Diagnostic]:
        """Errors for patches that matched nothing in any job. Meaningful only if every job was rendered."""
        if self.document is None or not self.complete:
            return []
        from trainform.core.patches.objects import unmatched

        final = unmatched(self.patches, self.matched.patches, self.matched.objects)
        told = [_diagnostic(problem, self.document) for problem in final]
        return [*told, *self._unmatched_jobs(), *self._unmatched_steps(), *self._unmatched_images()]

    def _unmatched_jobs(self) -> Iterable[Diagnostic]:
        for index, patch in enumerate(self.environment.spec.runtime_patches):
            path = ("template", "spec", "replicatedJobs")
            for number, job in enumerate(value_at(patch.training_runtime_spec, path) or ()):
                if (index, str(job.get("name"))) not in self.matched.jobs:
                    yield Diagnostic(
                        "TF161",
                        "error",
                        f"no job here has a replicated job {job.get('name')!r}",
                        "fix the name, or remove the patch",
                        ("spec", "runtimePatches", index, "trainingRuntimeSpec", *path, number, "name"),
                        self.document,
                    )

    def _unmatched_steps(self) -> Iterable[Diagnostic]:
        """Settings for steps that no job here has: an error if a step has a similar name (a typo), else perhaps meant
        for future jobs."""
        kueue = self.environment.spec.scheduling.kueue
        for name in kueue.steps if kueue else ():
            if self.matched.steps and name not in self.matched.steps:
                near = did_you_mean(name, self.matched.steps)
                yield Diagnostic(
                    "TF355",
                    "error" if near else "info",
                    f"no job here has a replicated job {name!r}",
                    near or f"replicated jobs: {', '.join(sorted(self.matched.steps))}",
                    ("spec", "scheduling", "kueue", "steps", name),
                    self.document,
                )

    def _unmatched_images(self) -> Iterable[Diagnostic]:
        """Entries whose image no job here has, if one has a similar name (a typo). Others may be for future jobs."""
        for index, entry in enumerate(self.environment.spec.images):
            if index not in self.matched.used_images and (near := did_you_mean(entry.name, self.matched.images)):
                message = f"no container here has the image {entry.name}"
                path = ("spec", "images", index, "name")
                yield Diagnostic("TF367", "warning", message, near, path, self.document)


def _head(tree: Tree) -> Tree:
    """What the targets of patches ask of an object: the objects of all jobs would take too much memory."""
    return {key: tree[key] for key in ("apiVersion", "kind", "metadata")}


def patch_path(index: int) -> Path:
    """The path of a final patch in an Environment."""
    return ("spec", "patches", index, "patch")


def _diagnostic(problem: PatchProblem, document: Document) -> Diagnostic:
    path = ("spec", "patches", problem.index, *problem.path)
    return Diagnostic(
        "TF162",
        "error",
        problem.message,
        problem.hint,
        path[: 4 if problem.at else None],
        document,
        at=in_text(document, path[:4], problem.at) if problem.at else None,
        object=problem.object,
        object_path=problem.object_path,
    )


def in_text(document: Document, path: Path, at: Position) -> Position:
    """Translates a position inside a patch's text to one in the file, if the text is a block scalar (`|`)."""
    start = document.position(path)
    is_block = "|" in document.line(start.line)
    return Position(start.line + at.line, start.column) if is_block else start

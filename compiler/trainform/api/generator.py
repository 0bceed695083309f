"""ConfigMapGenerator: a ConfigMap of files that stand beside a TrainJob, in kustomize's words. A kind of ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any, NamedTuple

from pydantic import Field

from trainform.api.base import Model, absent
from trainform.api.environment_rules import inside_folder
from trainform.api.problems import Problem
from trainform.api.rules import repeated
from trainform.k8s.names import config_key, quoted


class GeneratorMetadata(Model):
    """The head of the ConfigMap."""

    name: str
    """The name by which the TrainJob refers to it."""
    namespace: str | None = None
    """That of the job. Default: the same."""
    labels: Annotated[dict[str, str], absent({})] = Field(default_factory=dict)
    """Labels of the ConfigMap. Default: none."""
    annotations: Annotated[dict[str, str], absent({})] = Field(default_factory=dict)
    """Annotations of the ConfigMap. Default: none."""


class CarriedFile(NamedTuple):
    """A file, as a path below the folder of the generator's file, and its key in the ConfigMap."""

    key: str
    path: str


class ConfigMapGenerator(Model):
    """A ConfigMap of files. `kinds` has checked the API version."""

    api_version: Any = None
    kind: str
    metadata: GeneratorMetadata
    """Name, namespace, labels and annotations."""
    files: list[str]
    """The files, `train.py` or `key=path`; the key is the file's name by default.
    Example: `[train.py, ds.json=config/zero3.json]`."""

    def carried(self) -> list[CarriedFile]:
        return [carried(entry) for entry in self.files]


def carried(entry: str) -> CarriedFile:
    """An entry of `files`, as kustomize reads it."""
    key, is_keyed, path = entry.partition("=")
    return CarriedFile(key, path) if is_keyed else CarriedFile(entry.rpartition("/")[2], entry)


def some_file(generator: ConfigMapGenerator) -> Iterator[Problem]:
    """An empty ConfigMap carries nothing."""
    if not generator.files:
        yield Problem(
            ("files",),
            "TF104",
            "must name at least one file",
            "for example files: [train.py]",
            leave_out=(),
            lacks=True,
        )


def files(generator: ConfigMapGenerator) -> Iterator[Problem]:
    """Files stay in the folder of the job, and each has its own valid key."""
    for index, each in enumerate(generator.carried()):
        yield from inside_folder(("files", index), each.path)
        if reason := config_key(each.key):
            yield Problem(("files", index), "TF104", quoted(each.key, reason), "write key=path")
    yield from repeated(("files",), [each.key for each in generator.carried()], "key")


RULES: tuple[Callable[[ConfigMapGenerator], Iterator[Problem]], ...] = (some_file, files)

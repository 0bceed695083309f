"""The references of every key of our kinds and of `trainform.yaml`, in the words of their models."""

from __future__ import annotations

from collections.abc import Iterator, Set
from itertools import groupby
from typing import Any, Literal, NamedTuple, get_args, get_origin, is_typeddict

from trainform.api.base import Metadata, Model
from trainform.api.environment import EnvironmentMetadata, EnvironmentSpec
from trainform.api.runtime import RuntimeSpec
from trainform.api.trainjob import RuntimePatch, TrainJobSpec
from trainform.io.settings import SettingsFile
from trainform.workspace.json_schema.models import fields
from trainform.workspace.json_schema.texts import field_texts

ENVIRONMENT = """\
# Every key of an Environment

What `environments/<env>/environment.yaml` may hold, generated from the code. [Environments](environments.md) explains
what each key is for. `runtimePatches` has the fields of
[a TrainJob's](job-keys.md).
"""
JOB = """\
# Every key of a TrainJob and a runtime

What `jobs/**/*.yaml` and `runtimes/*.yaml` may hold, generated from the code. Where a mapping is Kubernetes' own, such
as the JobSet in `spec.template.spec`, [an editor](editor.md) shows what is in it.
"""
SETTINGS = """\
# Every key of trainform.yaml

Settings of the repository, in the file `trainform.yaml` at its root, generated from the code. Every key is optional.

<!-- tested by: tests/unit/test_generated_pages.py -->
```yaml
jobs: training/jobs
lints: {TF608: off}
plugins:
  required: {acme-trainform: ">=1.2,<2"}
```
"""
REQUIRED = "required"

_TYPES = {bool: "boolean", int: "integer", str: "text", dict: "mapping"}


class Key(NamedTuple):
    """A key by its path, `spec.patches[].target`; `default` is "required" if it has none."""

    path: str
    type: str
    default: str
    meaning: str


def environment_keys() -> str:
    metadata, spec = keys("metadata", EnvironmentMetadata), keys("spec", EnvironmentSpec, {RuntimePatch})
    sections = groupby(spec, lambda key: key.path.partition(".")[2].partition(".")[0].removesuffix("[]"))
    tables = [_section("metadata", metadata), *(_section(f"spec.{name}", found) for name, found in sections)]
    return "\n".join([ENVIRONMENT, *tables])


def job_keys() -> str:
    metadata = _section("metadata", keys("metadata", Metadata))
    job = _section("spec of a TrainJob", keys("spec", TrainJobSpec))
    runtime = _section("spec of a TrainingRuntime or ClusterTrainingRuntime", keys("spec", RuntimeSpec))
    return "\n".join([JOB, metadata, job, runtime])


def settings_keys() -> str:
    return "\n".join([SETTINGS, *map(_item, keys("", SettingsFile)), ""])


def keys(path: str, kind: type, apart: Set[type] = frozenset()) -> Iterator[Key]:
    """Every key below `path`, in the order of the models. Those of the models `apart` stand on another page."""
    texts = field_texts(kind)
    for name, annotation, *_ in fields(kind):
        text = texts[name]
        below = f"{path}.{name}".removeprefix(".")
        example = f" Example: {text.example}" if text.example else ""
        yield Key(below, _type(annotation), text.default or REQUIRED, text.meaning + example)
        for inner, suffix in _models(annotation):
            yield from keys(below + suffix, inner, apart) if inner not in apart else ()


def _section(title: str, found: Iterator[Key]) -> str:
    return "\n".join([f"## {title}", "", *map(_item, found), ""])


def _item(key: Key) -> str:
    """An item of a list: no table is wide enough for the longest paths."""
    default = key.default if key.default == REQUIRED else f"default: {key.default}"
    return f"- **`{key.path}`** · {key.type} · {default}<br>\n  {key.meaning}"


def _type(annotation: Any) -> str:
    """The type in the words of YAML."""
    if get_origin(annotation) is Literal:
        return " | ".join(f"`{choice}`" for choice in get_args(annotation) if choice)
    inner = [each for each in get_args(annotation) if each is not type(None)]
    if get_origin(annotation) is list:
        return f"list of {_type(inner[0])}"
    if get_origin(annotation) is dict:
        return "mapping"
    if inner:
        return _type(inner[0])
    if annotation is Any:
        return "any"
    return "mapping" if is_typeddict(annotation) or issubclass(annotation, Model) else _TYPES[annotation]


def _models(annotation: Any, suffix: str = "") -> Iterator[tuple[type, str]]:
    """The models of ours in a type, and what a path has after the key to reach them."""
    if is_typeddict(annotation) or (isinstance(annotation, type) and issubclass(annotation, Model)):
        yield annotation, suffix
        return
    origin = get_origin(annotation)
    suffix += {list: "[]", dict: ".<name>"}.get(origin, "") if origin in (list, dict) else ""
    for each in get_args(annotation):
        yield from _models(each, suffix)

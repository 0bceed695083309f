"""Which schemas there are."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from trainform.api.base import Model
from trainform.api.environment import Environment
from trainform.api.generator import ConfigMapGenerator
from trainform.api.kinds import API_VERSION, ENVIRONMENT_GROUP, ENVIRONMENT_VERSION, TRAINER_KINDS
from trainform.api.problems import SERVER_WRITTEN
from trainform.api.rules import RUNTIME_KINDS
from trainform.api.runtime import MlPolicy, Runtime
from trainform.api.trainjob import CONTROLLER, MULTIKUEUE, RuntimeRef, TrainerSpec, TrainJob, TrainJobSpec
from trainform.diagnostics.codes import CODES, is_adjustable
from trainform.diagnostics.order import SEVERITIES
from trainform.io.settings import FILE, LINTS, MOST_RULES, LintsOfPaths, SettingsFile
from trainform.k8s.schema.definitions import Schema
from trainform.workspace.json_schema import kubernetes
from trainform.workspace.json_schema.models import Narrowing, Translation
from trainform.workspace.json_schema.names import ANY, schema_file
from trainform.workspace.json_schema.results import RESULTS
from trainform.workspace.json_schema.texts import summary

DRAFT = "https://json-schema.org/draft/2020-12/schema"

_SEVERITY: Schema = {"enum": [*SEVERITIES, "off", False]}
"""YAML reads a plain `off` as false, or as text: that depends on who reads."""
_LINTS = "Lints"
_USE_OF_LINTS: Schema = {"$ref": f"#/$defs/{_LINTS}", "additionalProperties": True}
_SEVERITIES: Schema = {
    "properties": {code: {**_SEVERITY, "description": CODES[code]} for code in CODES if is_adjustable(code)},
    "additionalProperties": _SEVERITY,
}
NARROWING: Narrowing = {
    (RuntimeRef, "kind"): {"enum": [*RUNTIME_KINDS]},
    (RuntimeRef, "apiGroup"): {"enum": [API_VERSION.partition("/")[0]]},
    (TrainerSpec, "numNodes"): {"minimum": 1},
    (TrainerSpec, "numProcPerNode"): {"minimum": 1},
    (TrainJobSpec, "activeDeadlineSeconds"): {"minimum": 1},
    (TrainJobSpec, "managedBy"): {"enum": [CONTROLLER, MULTIKUEUE]},
    (MlPolicy, "numNodes"): {"minimum": 1},
    (SettingsFile, LINTS): _USE_OF_LINTS,
    (SettingsFile, "lintsByPath"): {"maxItems": MOST_RULES},
    (LintsOfPaths, LINTS): _USE_OF_LINTS,
    (LintsOfPaths, "paths"): {"minItems": 1, "maxItems": MOST_RULES},
}
"""Values and limits that rules check, as their messages are better than those of a type."""


class PublishedSchema(NamedTuple):
    """A schema by the name that `trainform schema` takes."""

    name: str
    make: Callable[[], Schema]

    @property
    def file(self) -> str:
        return schema_file(self.name)

    def text(self) -> str:
        """The schema as it is printed and written."""
        return text_of(self.make())


class Written(NamedTuple):
    """A kind that people write. `model` is None for one whose shape stands beside those of other cluster facts."""

    model: type[Model] | None
    api_version: str
    about: str


_KINDS = {
    "TrainJob": Written(TrainJob, API_VERSION, "A training job: what to train, on which runtime."),
    "TrainingRuntime": Written(Runtime, API_VERSION, "The pods in which jobs of one namespace train."),
    "ClusterTrainingRuntime": Written(Runtime, API_VERSION, "The pods in which jobs of any namespace train."),
    "Environment": Written(Environment, ENVIRONMENT_VERSION, "A destination of jobs: what they need not know of it."),
    "ConfigMapGenerator": Written(ConfigMapGenerator, ENVIRONMENT_VERSION, "A ConfigMap of files beside a TrainJob."),
    "NodePool": Written(None, ENVIRONMENT_VERSION, "Nodes of a cluster that are all alike."),
}


def schemas() -> dict[str, PublishedSchema]:
    """Every schema by its name: those of documents that people write, then those of results."""
    found = [
        PublishedSchema(ANY, _any),
        *(PublishedSchema(kind, _of(kind)) for kind in _KINDS),
        PublishedSchema(FILE, _settings),
        *(PublishedSchema(each.__name__, _result(each)) for each in RESULTS),
    ]
    return {each.name: each for each in found}


def _of(kind: str) -> Callable[[], Schema]:
    def make() -> Schema:
        translation = Translation(NARROWING, closed=True)
        return _whole(kind, _document(kind, translation), translation)

    return make


def _document(kind: str, translation: Translation) -> Schema:
    """The schema of a document that people write, with its head."""
    model, version, about = _KINDS[kind]
    found = _of_model(model, translation) if model else kubernetes.definition(kind, translation.type_of_kubernetes)
    head = {"apiVersion": _constant(version, "The API version."), "kind": _constant(kind, "The kind.")}
    required = [*head, *(each for each in found.get("required", ()) if each not in head)]
    return {"description": about, **found, "properties": found["properties"] | head, "required": required}


def _of_model(model: type[Model], translation: Translation) -> Schema:
    """The body of a document, in which a dump of a live object may have fields that the compiler ignores."""
    found = translation.body(model)
    metadata = translation.definitions[found["properties"]["metadata"]["$ref"].rpartition("/")[2]]
    metadata["patternProperties"] = {f"^({'|'.join(SERVER_WRITTEN['metadata'])})$": {}}
    return {**found, "patternProperties": {"^status$": {}}}


def _any() -> Schema:
    """Documents of other kinds may hold anything."""
    translation = Translation(NARROWING, closed=True)
    for kind in _KINDS:
        translation.definitions[kind] = _document(kind, translation)
    head = {
        "apiVersion": _offered([API_VERSION, ENVIRONMENT_VERSION], "The API version."),
        "kind": _offered([*_KINDS], "The kind."),
    }
    about = "A document of a trainform repository: a job, a runtime, an Environment or what belongs to them."
    return _whole(
        "trainform",
        {"description": about, "properties": head, "allOf": [*map(_choice, _KINDS), _LIST]},
        translation,
    )


def _choice(kind: str) -> Schema:
    """A Trainer kind is read whatever its API version is, to report that; a kind of ours is one in our group only."""
    group = {} if kind in TRAINER_KINDS else {"apiVersion": {"pattern": rf"^{ENVIRONMENT_GROUP.replace('.', '[.]')}/"}}
    condition = {"properties": {**group, "kind": {"const": kind}}, "required": [*group, "kind"]}
    return {"if": condition, "then": {"$ref": f"#/$defs/{kind}"}}


_LIST: Schema = {
    "if": {"properties": {"kind": {"const": "List"}}, "required": ["kind"]},
    "then": {"properties": {"items": {"items": {"$ref": "#"}}}},
}
"""The items of a List are documents."""


def _offered(values: list[str], description: str) -> Schema:
    """Text for which an editor offers these values."""
    return {"description": description, "anyOf": [{"enum": values}, {"type": "string"}]}


def _constant(value: str, description: str) -> Schema:
    return {"type": "string", "const": value, "description": description}


def _settings() -> Schema:
    translation = Translation(NARROWING, closed=True)
    translation.definitions[_LINTS] = _SEVERITIES
    about = "Settings of a repository. Every key has a default."
    return _whole(FILE, {"description": about, **translation.body(SettingsFile)}, translation)


def _result(kind: type) -> Callable[[], Schema]:
    def make() -> Schema:
        translation = Translation({}, closed=False)
        body = translation.body(kind)
        head = {
            "apiVersion": _constant(ENVIRONMENT_VERSION, "The version of this document."),
            "kind": _constant(kind.__name__, "The kind of this document."),
        }
        required = [*head, *body.get("required", ())]
        found = {"description": summary(kind), "properties": head | body["properties"], "required": required}
        return _whole(kind.__name__, found, translation)

    return make


def _whole(title: str, document: Schema, translation: Translation) -> Schema:
    head = {"$schema": DRAFT, "title": title, "type": "object"}
    return head | document | {"$defs": dict(sorted(translation.definitions.items()))}


def text_of(schema: Schema) -> str:
    """A schema with each definition in a line of its own: small files, whose changes can be read."""
    entries = [f'"{key}":{_json(each)}' for key, each in schema.items() if key != "$defs"]
    definitions = [f'"{name}":{_json(each)}' for name, each in schema["$defs"].items()]
    if definitions:
        entries.append(f'"$defs":{_braces(definitions)}')
    return f"{_braces(entries)}\n"


def _braces(entries: list[str]) -> str:
    lines = ",\n".join(entries)
    return f"{{\n{lines}\n}}"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

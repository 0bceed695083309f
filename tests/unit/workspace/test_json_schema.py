"""JSON Schemas: they refuse nothing that the compiler takes, and say what the models say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import jsonschema
import jsonschema_rs
import pytest

from support.corpus import FAMILIES, cases
from trainform.api import read
from trainform.api.base import Model
from trainform.api.environment import Environment
from trainform.api.generator import ConfigMapGenerator
from trainform.api.runtime import Runtime
from trainform.api.trainjob import TrainJob
from trainform.diagnostics.codes import CODES, is_adjustable
from trainform.io.settings import KEYS, parse_settings
from trainform.k8s.schema.definitions import definitions
from trainform.source import load
from trainform.workspace.json_schema.catalogue import NARROWING, schemas
from trainform.workspace.json_schema.models import fields
from trainform.workspace.json_schema.names import ANY
from trainform.workspace.json_schema.results import RESULTS
from trainform.workspace.json_schema.texts import field_texts

ROOT = Path(__file__).parents[3]
NAMES = [*schemas()]
WRITTEN = ["TrainJob", "TrainingRuntime", "ClusterTrainingRuntime", "Environment", "ConfigMapGenerator", "NodePool"]


@cache
def schema(name: str) -> dict[str, Any]:
    return schemas()[name].make()


@cache
def validator(name: str) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(schema(name))


def refused(name: str, tree: Any) -> list[str]:
    """Where a schema refuses a tree."""
    return [".".join(map(str, each.instance_path)) for each in validator(name).iter_errors(tree)]


def at(name: str, path: str) -> dict[str, Any]:
    """What a schema says of the field at a path, with references followed. `[]` stands for an entry of a list."""
    whole = schema(name)
    found = whole
    for part in path.split("."):
        found = found["items"] if part == "[]" else found["properties"][part]
        if "$ref" in found:
            found = {**whole["$defs"][found["$ref"].rpartition("/")[2]], **found}
    return found


@pytest.mark.parametrize("name", NAMES)
def test_every_schema_is_valid_and_closed_under_references(name):
    made = json.loads(schemas()[name].text())
    jsonschema.Draft202012Validator.check_schema(made)
    assert made["title"]
    assert made["description"]
    assert set(references(made)) <= {"#", *(f"#/$defs/{each}" for each in made["$defs"])}


def references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"]
        for each in schema.values():
            yield from references(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from references(each)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_defined_that_is_not_used(name):
    made = schema(name)
    assert {f"#/$defs/{each}" for each in made["$defs"]} <= set(references(made))


@pytest.mark.parametrize("name", NAMES)
def test_the_bytes_are_the_same_each_time(name):
    assert schemas()[name].text() == schemas()[name].text()


@pytest.mark.parametrize("name", NAMES)
def test_only_words_of_json_schema_are_published(name):
    assert '"x-' not in schemas()[name].text()


# What the compiler takes


def documents() -> Iterator[tuple[str, str]]:
    """Streams of this repository, by a name of theirs."""
    for family in FAMILIES:
        yield from ((case.id, case.input) for case in cases(family))
    for folder in ("golden", "jobs", "runtimes", "environments"):
        for path in sorted((ROOT / folder).rglob("*.yaml")):
            if "expected" not in path.parts:
                yield str(path.relative_to(ROOT)), path.read_text()


def test_what_the_compiler_takes_is_valid_and_what_is_refused_it_refuses_too():
    """Of more than 2,000 documents, a tenth of which have errors."""
    seen, refusals, wrong = 0, 0, []
    for name, text in documents():
        for document in load(text.encode(), name).documents:
            seen += 1
            if found := refused(ANY, document.tree):
                refusals += 1
                if not any(each.severity == "error" for each in read(document).diagnostics):
                    wrong.append((name, found))
    assert wrong == []
    assert seen > 2000
    assert refusals > 200


def job(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "llm"},
        "spec": {"runtimeRef": {"name": "torch-distributed"}, **spec},
    }


def runtime(pod: Any) -> dict[str, Any]:
    template = {"spec": {"replicatedJobs": [{"name": "node", "template": {"spec": {"template": {"spec": pod}}}}]}}
    return job() | {"kind": "ClusterTrainingRuntime", "spec": {"template": template}}


CONTAINER = "spec.template.spec.replicatedJobs.0.template.spec.template.spec.containers.0"


@pytest.mark.parametrize(
    ("tree", "places"),
    [
        (job(), []),
        (job(trainer=None, suspend=None), []),
        (job() | {"status": {"conditions": []}}, []),
        (job() | {"metadata": {"name": "llm", "uid": "4", "creationTimestamp": None}}, []),
        (job(trainer={"numNodes": 0}), ["spec.trainer.numNodes"]),
        (job(trainer={"numNodes": "2"}), ["spec.trainer.numNodes"]),
        (job(trainer={"imag": "x"}), ["spec.trainer"]),
        (job(managedBy="me"), ["spec.managedBy"]),
        (job(trainer={"env": [None]}), ["spec.trainer.env.0"]),
        (job(trainer={"env": [{"name": "A", "value": None}]}), []),
        (job(trainer={"resourcesPerNode": {"nvidia.com/gpu": 8}}), ["spec.trainer.resourcesPerNode"]),
        (job(trainer={"resourcesPerNode": {"limits": {"nvidia.com/gpu": "8 GPUs"}}}),
         ["spec.trainer.resourcesPerNode.limits.nvidia.com/gpu"]),
        (runtime({"containers": [{"name": "node", "creationTimestamp": None}]}), []),
        (runtime({"containers": [{"name": "node", "imagePullPolicy": "Alway"}]}), [f"{CONTAINER}.imagePullPolicy"]),
        (runtime({"containers": [{"image": "example/img:1"}]}), [CONTAINER]),
        ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": "b"}}, []),
        ({"apiVersion": "example.com/v1", "kind": "Environment", "spec": 1}, []),
        ({"apiVersion": "trainform.dev/v1alpha1", "kind": "Environment", "metadata": {"name": "a"}}, []),
        ({"apiVersion": "trainform.dev/v1alpha1", "kind": "Environment", "metadata": {}}, ["metadata"]),
        ({"apiVersion": "v1", "kind": "List", "items": [job(), job(managedBy="me")]}, ["items.1.spec.managedBy"]),
    ],
)  # fmt: skip
def test_a_document_is_refused_where_it_is_wrong(tree, places):
    assert refused(ANY, tree) == places
    whole = load(json.dumps(tree).encode(), "stdin").documents
    errors = [each for document in whole for each in read(document).diagnostics if each.severity == "error"]
    assert bool(errors) == bool(places)


@pytest.mark.parametrize("name", WRITTEN)
def test_a_schema_of_one_kind_takes_no_other(name):
    assert "kind" in refused(name, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}})


# What the models say


def below(annotation: Any) -> Iterator[type[Model]]:
    if isinstance(annotation, type) and issubclass(annotation, Model):
        yield from models(annotation)
    for each in get_args(annotation):
        yield from below(each)


def models(model: type[Model]) -> Iterator[type[Model]]:
    yield model
    for field in model.model_fields.values():
        yield from below(field.annotation)


MODELS = {each.__name__: each for kind in (TrainJob, Runtime, Environment, ConfigMapGenerator) for each in models(kind)}
HEADS = ("TrainJob", "Runtime", "Environment", "ConfigMapGenerator")


@pytest.mark.parametrize("name", MODELS)
def test_every_field_of_a_model_has_a_text_and_stands_in_the_schema(name):
    model = MODELS[name]
    known = {each.name for each in fields(model)} - {"apiVersion", "kind"} if name in HEADS else None
    names = known or {each.name for each in fields(model)}
    assert names <= field_texts(model).keys()
    if known is None:
        published = next(schema(kind)["$defs"][name] for kind in WRITTEN if name in schema(kind)["$defs"])
        assert list(published["properties"]) == [each.name for each in fields(model)]
        assert published.get("required", []) == [each.name for each in fields(model) if each.required]
        assert all(each["description"] for each in published["properties"].values())
        for each in fields(model):
            assert choices(published["properties"][each.name]) >= values(each.annotation), each.name


def values(annotation: Any) -> set[str]:
    """The values that a type lists."""
    if get_origin(annotation) is Literal:
        return {*get_args(annotation)}
    return {value for each in get_args(annotation) for value in values(each)}


def choices(schema: Any) -> set[str]:
    """The values that a schema lists, of the field or its entries."""
    return {*schema.get("enum", ()), *schema.get("items", {}).get("enum", ())} - {None}


@pytest.mark.parametrize(
    ("name", "path", "said"),
    [
        ("TrainJob", "spec.runtimeRef.kind", {
            "enum": ["ClusterTrainingRuntime", "TrainingRuntime", None], "default": "ClusterTrainingRuntime",
        }),
        ("TrainJob", "spec.trainer.numNodes", {"type": ["integer", "null"], "minimum": 1, "maximum": 2**31 - 1}),
        ("TrainJob", "spec.trainer.command", {"maxItems": 128, "examples": [["torchrun", "train.py"]]}),
        ("TrainJob", "spec.suspend", {"type": ["boolean", "null"], "default": False}),
        ("TrainingRuntime", "spec.mlPolicy.mpi.sshAuthMountPath", {"default": "/root/.ssh", "maxLength": 4096}),
        ("ClusterTrainingRuntime", "spec.template.spec.replicatedJobs.[].template.spec.template.spec.restartPolicy",
         {"enum": ["Always", "Never", "OnFailure", "", None]}),
        ("Environment", "spec.gitops.engine", {"enum": ["none", "argocd", "flux", None], "default": "none"}),
        ("Environment", "spec.jobs.paths", {"default": ["jobs/**"], "examples": [["jobs/*/prod/**"]]}),
        ("Environment", "spec.cluster.kubernetes", {"type": ["string", "null"], "examples": ["1.36"]}),
        ("Environment", "spec.prices.currency", {"type": "string"}),
        ("trainform.yaml", "jobs", {"type": "string", "examples": ["training/jobs"]}),
        ("trainform.yaml", "lints.TF604", {"enum": ["error", "warning", "info", "off", False]}),
        ("DiffResult", "jobs.[].change", {
            "enum": ["new", "in-place", "needs-suspend", "restart", "orphan", "delete", "behind"],
        }),
        ("CheckResult", "jobs.[].state", {"type": "string"}),
    ],
)  # fmt: skip
def test_a_field_has_the_types_limits_defaults_and_examples_of_its_model(name, path, said):
    found = at(name, path)
    assert {key: found.get(key) for key in said} == said
    assert found["description"]


def examples(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The fields that have examples, each with its schema."""
    made = schema(name)
    for owner, each in [("", made), *made["$defs"].items()]:
        for field, said in each.get("properties", {}).items():
            if "examples" in said:
                yield f"{owner}.{field}", {**said, "$defs": made["$defs"]}


@pytest.mark.parametrize("name", NAMES)
def test_examples_and_defaults_are_valid(name):
    wrong = []
    for field, said in examples(name):
        given = [*said["examples"], *([said["default"]] if "default" in said else [])]
        wrong += [field for each in given if not jsonschema_rs.Draft202012Validator(said).is_valid(each)]
    assert wrong == []


def test_types_of_kubernetes_have_the_texts_of_kubernetes():
    found = at("TrainJob", "spec.trainer.resourcesPerNode.limits")
    assert found["description"].startswith("Limits describes the maximum amount of compute resources allowed.")


def test_what_rules_add_concerns_fields_that_exist():
    assert [key for key in NARROWING if key[1] not in {each.name for each in fields(key[0])}] == []


@pytest.mark.parametrize("kind", ["TrainJob", "TrainingRuntime", "ClusterTrainingRuntime"])
def test_what_kubernetes_requires_and_lists_is_required_and_listed(kind):
    """Of every type that a document holds."""
    found = {name.removeprefix("k8s."): each for name, each in schema(kind)["$defs"].items() if name.startswith("k8s.")}
    wanted = {name.replace(" ", ""): each for name, each in definitions().items()}
    assert found
    for name, each in found.items():
        assert each.get("required") == wanted[name].get("required"), name
        assert each.get("properties", {}).keys() == wanted[name].get("properties", {}).keys(), name
        for field, said in wanted[name].get("properties", {}).items():
            assert choices(each["properties"][field]) == choices(said), (name, field)


# trainform.yaml


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("{}", []),
        ("jobs: training/jobs\nlints: {TF608: off, ACME1: error}", []),
        ("lints: {TF608: 'off'}", []),
        ("plugins: {required: {acme: '>=1'}, disabled: [a]}", []),
        ("lintsByPath: [{paths: [jobs/**], lints: {TF607: off}}]", []),
        ("job: x", [""]),
        ("jobs: null", ["jobs"]),
        ("lints: {TF608: of}", ["lints.TF608"]),
        ("lintsByPath: [{paths: [jobs/**]}]", ["lintsByPath.0"]),
        ("lintsByPath: [{paths: [], lints: {}}]", ["lintsByPath.0.paths"]),
        ("plugins: {require: {}}", ["plugins"]),
    ],
)
def test_settings_are_refused_where_they_are_wrong(text, places):
    (document,) = load(text.encode(), "trainform.yaml").documents
    assert refused("trainform.yaml", document.tree) == places
    assert bool(parse_settings(text.encode())[1]) == bool(places)


def test_every_key_and_every_code_that_may_be_set_is_offered():
    assert list(at("trainform.yaml", "lints")["properties"]) == [code for code in CODES if is_adjustable(code)]
    assert list(schema("trainform.yaml")["properties"]) == list(KEYS)


# Results


@pytest.mark.parametrize("kind", RESULTS, ids=lambda kind: kind.__name__)
def test_every_field_of_a_result_is_described(kind):
    made = schema(kind.__name__)
    described = [made, *made["$defs"].values()]
    assert [name for each in described for name, field in each["properties"].items() if not field["description"]] == []
    assert made["properties"]["kind"]["const"] == kind.__name__


def test_a_later_version_may_add_fields_to_a_result():
    result = {"apiVersion": "trainform.dev/v1alpha1", "kind": "KeysResult", "wrote": [], "diagnostics": []}
    assert refused("KeysResult", result | {"later": 1}) == []
    assert refused("KeysResult", result | {"wrote": [1]}) == ["wrote.0"]

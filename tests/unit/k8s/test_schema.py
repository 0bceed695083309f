"""Is an object shaped as the API server wants it, and what is said when it is not."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import jsonschema
import pytest

from trainform.diagnostics import dotted
from trainform.k8s.schema.definitions import definitions, reference
from trainform.k8s.schema.fits import fits
from trainform.k8s.schema.validate import check

SCRIPT = Path(__file__).parents[3] / "scripts" / "derive_schemas.py"


def job(**spec):
    return {"spec": {"runtimeRef": {"name": "torch-distributed"}, **spec}}


def trainer(**fields):
    return job(trainer=fields)


def runtime(pod=None, **jobset):
    jobs = [{"name": "node", "template": {"spec": {"template": {"spec": pod}}}}] if pod else []
    return {"spec": {"template": {"spec": {"replicatedJobs": jobs, **jobset}}}}


def pod(**fields):
    return runtime({"containers": [{"name": "node"}], **fields})


def container(**fields):
    return runtime({"containers": [{"name": "node", **fields}]})


def said(problems):
    return [(problem.code, dotted(problem.path), problem.message, problem.hint) for problem in problems]


def only(kind, tree):
    """The one problem of `tree`, as code, path, message and hint."""
    (problem,) = check(kind, tree)
    return problem.code, dotted(problem.path), problem.message, problem.hint


CONTAINERS = "spec.template.spec.replicatedJobs[0].template.spec.template.spec.containers"

VALID = [
    ("TrainJob", job()),
    ("TrainJob", trainer(numNodes=0, resourcesPerNode={"limits": {"cpu": 1, "nvidia.com/gpu": "8"}})),
    ("TrainJob", job(suspend=None, trainer=None)),
    ("ClusterTrainingRuntime", container(image="busybox", ports=[{"containerPort": 29500}])),
    ("ClusterTrainingRuntime", container(livenessProbe={"tcpSocket": {"port": "http"}}, imagePullPolicy="")),
    ("TrainingRuntime", pod(nodeSelector={"zone": "a"}, volumes=[{"name": "shm", "emptyDir": {}}])),
    ("EnvVar", {"name": "A", "value": "1"}),
    ("ResourceRequirements", {"limits": {"memory": "1.5Gi"}, "claims": [{"name": "gpu"}]}),
    (
        "coscheduling PodGroup",
        {"metadata": {"name": "a"}, "spec": {"minMember": 1, "minResources": {"cpu": 1}}},
    ),
    ("volcano PodGroup", {"spec": {"minMember": 0, "queue": "q", "networkTopology": {"mode": "soft"}}}),
    ("ConfigMap", {"metadata": {"name": "a"}, "data": {"init.sh": "true"}}),
]

PROBLEMS = [
    # Unknown fields: the API server would drop them without a word.
    (
        ("TrainJob", trainer(imgae="busybox")),
        ("TF101", "spec.trainer.imgae", "unknown field", 'did you mean "image"?'),
    ),
    (
        ("ClusterTrainingRuntime", container(volumemounts=[])),
        ("TF101", f"{CONTAINERS}[0].volumemounts", "unknown field", 'did you mean "volumeMounts"?'),
    ),
    (
        ("TrainJob", trainer(resourcesPerNode={"nvidia.com/gpu": 1})),
        (
            "TF101",
            "spec.trainer.resourcesPerNode.nvidia.com/gpu",
            "unknown field",
            "known fields: claims, limits, requests",
        ),
    ),
    (
        ("TrainingRuntime", {"spec": {"mlPolicy": {"jax": {"numNodes": 2}}}}),
        ("TF101", "spec.mlPolicy.jax.numNodes", "unknown field", ""),
    ),
    # Wrong types.
    (
        ("TrainJob", trainer(env=[{"name": "A", "value": 1}])),
        ("TF102", "spec.trainer.env[0].value", "must be a string, not an integer", "put quotes around it"),
    ),
    (
        ("TrainJob", trainer(env=[{"name": "A", "value": True}])),
        ("TF102", "spec.trainer.env[0].value", "must be a string, not a boolean", "put quotes around it"),
    ),
    (
        ("TrainJob", trainer(command="python train.py")),
        (
            "TF102",
            "spec.trainer.command",
            'must be a list, not the string "python train.py"',
            'write ["python", "train.py"]',
        ),
    ),
    (
        ("TrainJob", trainer(numNodes="2")),
        ("TF102", "spec.trainer.numNodes", 'must be an integer, not the string "2"', "write 2 without quotes"),
    ),
    (
        ("TrainJob", trainer(numNodes=True)),
        ("TF102", "spec.trainer.numNodes", "must be an integer, not a boolean", ""),
    ),
    (
        ("TrainJob", trainer(numNodes=1.5)),
        ("TF102", "spec.trainer.numNodes", "must be an integer, not a fractional number", ""),
    ),
    (
        ("TrainJob", trainer(resourcesPerNode={"limits": {"cpu": 0.5}})),
        (
            "TF102",
            "spec.trainer.resourcesPerNode.limits.cpu",
            "must be an integer or a string, not a fractional number",
            "put quotes around it",
        ),
    ),
    (
        ("TrainJob", job(suspend="false")),
        ("TF102", "spec.suspend", 'must be true or false, not the string "false"', "write false without quotes"),
    ),
    (
        ("TrainJob", trainer(args=["a", None])),
        ("TF102", "spec.trainer.args[1]", "must be a string, not null", 'write "" if it is meant to be empty'),
    ),
    (
        ("ClusterTrainingRuntime", container(imagePullPolicy=1)),
        (
            "TF102",
            f"{CONTAINERS}[0].imagePullPolicy",
            "must be a string, not an integer",
            "put quotes around it",
        ),
    ),
    # Missing fields.
    (("TrainJob", {"spec": {}}), ("TF103", "spec.runtimeRef", "is required but missing", "")),
    (
        ("TrainJob", job(runtimePatches=[{"manager": None}])),
        ("TF103", "spec.runtimePatches[0].manager", "is required but missing", ""),
    ),
    (
        ("TrainingRuntime", runtime(failurePolicy={"rules": [{"action": "FailJobSet"}]})),
        ("TF103", "spec.template.spec.failurePolicy.rules[0].name", "is required but missing", ""),
    ),
    # Values that are not allowed.
    (
        ("TrainJob", trainer(numNodes=-1)),
        ("TF104", "spec.trainer.numNodes", "must be at least 0, not -1", ""),
    ),
    (
        ("TrainJob", trainer(numNodes=2**31)),
        ("TF104", "spec.trainer.numNodes", "must be at most 2147483647, not 2147483648", ""),
    ),
    (
        ("TrainJob", job(runtimePatches=[{"manager": f"a.io/{n}"} for n in range(17)])),
        ("TF104", "spec.runtimePatches", "must have at most 16 entries, not 17", ""),
    ),
    (("TrainJob", job(runtimeRef={"name": ""})), ("TF104", "spec.runtimeRef.name", "must not be empty", "")),
    (
        ("ClusterTrainingRuntime", container(imagePullPolicy="always")),
        (
            "TF104",
            f"{CONTAINERS}[0].imagePullPolicy",
            '"always" is not allowed here',
            'did you mean "Always"? allowed: Always, IfNotPresent, Never',
        ),
    ),
    (
        ("coscheduling PodGroup", {"spec": {"minMember": 0}}),
        ("TF104", "spec.minMember", "must be at least 1, not 0", ""),
    ),
    # Entries that stand twice in a list.
    (
        ("TrainJob", trainer(env=[{"name": "A"}, {"name": "B"}, {"name": "A"}])),
        (
            "TF105",
            "spec.trainer.env[2]",
            "has the same name A as entry [0]",
            "remove one of them, or make them distinct",
        ),
    ),
    (
        (
            "ClusterTrainingRuntime",
            container(ports=[{"containerPort": 80}, {"containerPort": 80, "protocol": "TCP"}]),
        ),
        (
            "TF105",
            f"{CONTAINERS}[0].ports[1]",
            "has the same containerPort 80 and protocol TCP as entry [0]",
            "remove one of them, or make them distinct",
        ),
    ),
    (
        (
            "TrainingRuntime",
            {
                "spec": {
                    "mlPolicy": {
                        "torch": {"envInjection": {"targets": [{"jobName": "n", "containerNames": ["a", "a"]}]}}
                    }
                }
            },
        ),
        (
            "TF105",
            "spec.mlPolicy.torch.envInjection.targets[0].containerNames[1]",
            "has the same a as entry [0]",
            "remove one of them, or make them distinct",
        ),
    ),
]


@pytest.mark.parametrize(("kind", "tree"), VALID)
def test_a_valid_object_has_no_problem(kind, tree):
    assert check(kind, tree) == []


@pytest.mark.parametrize(("given", "problem"), PROBLEMS, ids=[problem[1] for _, problem in PROBLEMS])
def test_a_problem_says_where_what_and_what_to_write_instead(given, problem):
    assert only(*given) == problem


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("16GB", "write 16G (powers of 1000) or 16Gi (powers of 1024)"),
        ("1.5mib", "write 1.5M (powers of 1000) or 1.5Mi (powers of 1024)"),
        ("4K", "write 4k (powers of 1000) or 4Ki (powers of 1024)"),
        ("1 Gi", "write 1Gi"),
        ("plenty", "write a number with an optional suffix, such as 500m, 16G or 16Gi"),
        ("", "write a number with an optional suffix, such as 500m, 16G or 16Gi"),
    ],
)
def test_a_bad_quantity_is_answered_with_a_good_one(written, hint):
    problem = only("ResourceRequirements", {"limits": {"memory": written}})
    assert problem == ("TF104", "limits.memory", f'"{written}" is not a quantity', hint)


def test_all_problems_are_found_in_one_go():
    tree = trainer(env=[{"name": "A", "value": 1}, {"name": "A"}, {"nmae": "B"}], numNodes="two")
    assert {(code, path) for code, path, _, _ in said(check("TrainJob", tree))} == {
        ("TF102", "spec.trainer.env[0].value"),
        ("TF105", "spec.trainer.env[1]"),
        ("TF101", "spec.trainer.env[2].nmae"),
        ("TF103", "spec.trainer.env[2].name"),
        ("TF102", "spec.trainer.numNodes"),
    }


def test_the_fields_of_a_mapping_where_a_list_is_due_are_dropped_too():
    assert said(check("TrainJob", trainer(env={"A": "x"}))) == [
        (
            "TF102",
            "spec.trainer.env",
            "must be a list, not a mapping",
            "write a list: each entry starts with `- `",
        ),
        ("TF101", "spec.trainer.env.A", "unknown field: expected a list", ""),
    ]


@pytest.mark.parametrize(
    ("kind", "tree"),
    [
        ("TrainJob", trainer(image=None, env=[{"name": "A", "value": None}])),
        (
            "ClusterTrainingRuntime",
            pod(volumes=[{"name": "shm", "emptyDir": None}], nodeSelector={"a": None}),
        ),
        (
            "PodTemplateSpec",
            {"metadata": {"creationTimestamp": None}, "spec": {"containers": [{"name": "a"}]}},
        ),
    ],
)
def test_null_means_absent(kind, tree):
    assert check(kind, tree) == []


def test_an_unknown_field_is_unknown_even_when_it_is_null():
    assert only("TrainJob", trainer(imgae=None))[:2] == ("TF101", "spec.trainer.imgae")


@pytest.mark.parametrize("tree", [None, "text", [], 1])
def test_something_else_than_a_mapping_is_one_problem(tree):
    assert [(problem.code, problem.path) for problem in check("TrainJob", tree)] == [("TF102", ())]


def test_an_unknown_kind_is_a_fault_of_the_caller():
    with pytest.raises(KeyError):
        check("TrainJobs", {})


@pytest.mark.parametrize(("kind", "tree"), [*VALID, *(given for given, _ in PROBLEMS)])
def test_the_reference_validator_agrees(kind, tree):
    reference_validator = jsonschema.Draft202012Validator(reference(kind) | {"$defs": definitions()})
    shape = [problem for problem in check(kind, tree) if problem.code != "TF105"]
    if None not in tree.get("spec", {}).values():
        assert reference_validator.is_valid(tree) == (shape == [])


def test_the_committed_schemas_are_those_that_the_script_derives():
    script = runpy.run_path(str(SCRIPT))
    assert script["derive"]() == definitions()
    committed = (script["FOLDER"] / "descriptions.json").read_text()
    assert script["describe"]() == json.loads(committed)


def test_every_description_belongs_to_a_field():
    for kind, texts in runpy.run_path(str(SCRIPT))["describe"]().items():
        assert texts.keys() <= definitions()[kind]["properties"].keys(), kind


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("", ""),
        ("One\n sentence.", "One sentence."),
        ("First. Second.", "First. Second."),
        (f"First. {'S' + 'o' * 240}.", "First."),
        ("See example.com/a.b for more. Or not.", "See example.com/a.b for more. Or not."),
    ],
)
def test_of_a_long_description_the_first_sentences_are_kept(text, kept):
    assert runpy.run_path(str(SCRIPT))["brief"](text) == kept


@pytest.mark.parametrize("table", ["LIST_KEYS", "FACTS", "DEFAULTS"])
def test_every_fact_of_the_script_speaks_of_a_field_that_exists(table):
    named = [field.partition(".") for field in runpy.run_path(str(SCRIPT))[table]]
    known = {(kind, field) for kind, schema in definitions().items() for field in schema.get("properties", ())}
    kinds = {(kind, "") for kind in definitions()}
    assert {(kind, field) for kind, _, field in named} <= known | kinds


def keywords(schema):
    """Every JSON Schema keyword under `schema`, names of properties left out."""
    for keyword, value in schema.items():
        yield keyword
        for inner in value.values() if keyword == "properties" else [value]:
            if isinstance(inner, dict):
                yield from keywords(inner)


def test_the_schemas_use_no_keyword_that_cannot_be_explained():
    used = {keyword for schema in definitions().values() for keyword in keywords(schema)}
    explained = {"additionalProperties", "enum", "pattern", "properties", "required", "type"}
    limits = {"maxItems", "maxLength", "maximum", "minItems", "minLength", "minProperties", "minimum"}
    silent = {"$ref", "default", "items", "x-go-omitempty", "x-kubernetes-list-map-keys", "x-refuses-null"}
    assert used == explained | limits | silent


@pytest.mark.parametrize(("kind", "tree"), VALID)
def test_a_valid_tree_fits_unless_a_null_needs_a_closer_look(kind, tree):
    assert fits(kind)(tree) == (None not in tree.get("spec", {}).values())


@pytest.mark.parametrize(("kind", "tree"), [given for given, _ in PROBLEMS])
def test_a_faulty_tree_does_not_fit(kind, tree):
    assert not fits(kind)(tree)


def test_every_pattern_is_anchored():
    patterns = re.findall(r'"pattern": "(.*?)"', json.dumps(definitions()))
    assert patterns
    assert all(pattern.startswith("^") and pattern.endswith("$") for pattern in patterns)

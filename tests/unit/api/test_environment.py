"""Environments: what they say by default, and every fault at its own element."""

from __future__ import annotations

import pytest

from trainform.api import DEFAULT_ENVIRONMENT, Environment
from trainform.api.advice.environment import ENVIRONMENT
from trainform.api.validation_errors import Reading, _fields, _models
from trainform.workspace.json_schema.texts import field_texts

FULL = """
  jobs:
    paths: ["jobs/**"]
    selector: {matchLabels: {team: a}, matchExpressions: [{key: b, operator: Exists}]}
  namespace: ml-prod
  values: {registry: registry.example.com, sizes: [1, 2], nothing: null}
  cluster:
    kubernetes: "1.36"
    jobset: "0.12"
    kueue: "0.17"
    schedulers: [coscheduling, volcano, kai, yunikorn]
    files: ["cluster/*.yaml"]
  scheduling:
    gang: {scheduler: yunikorn, scheduleTimeoutSeconds: 120, queue: team-a}
    kueue:
      localQueue: team-a
      priorityClass: high
      maxExecTimeSeconds: 86400
      multiKueue: false
      topology: {required: cloud.provider.com/topology-rack, slice: {required: a.io/host, size: 4}}
      steps:
        node: {topology: {preferred: cloud.provider.com/topology-block, group: all}}
        launcher: {topology: {unconstrained: true}}
  secrets: {mode: sops, store: {name: vault}, certificate: keys/cert.pem, recipients: [age1qz]}
  runtimePatches: [{manager: example.com/me, trainingRuntimeSpec: {template: {metadata: {labels: {a: b}}}}}]
  patches:
  - {target: {kind: JobSet, labelSelector: a=b}, patch: {metadata: {labels: {a: b}}}}
  - target: {group: jobset.x-k8s.io, version: v1alpha2, name: llm, namespace: ml, annotationSelector: a}
    patch: [{op: remove, path: /metadata/labels}]
  - {patch: "text"}
  gitops:
    engine: argocd
    naming: content-hash
    layout: per-job
    pruneProtection: confirm
    allow: [ttl, delete-claims]
"""


def test_every_field_is_read(reader):
    result = reader.environment(FULL)
    assert result.diagnostics == []
    spec = result.model.spec
    assert spec.jobs.selector.match_expressions[0].operator == "Exists"
    assert spec.values == {"registry": "registry.example.com", "sizes": [1, 2], "nothing": None}
    assert spec.scheduling.kueue.steps["node"].topology.group == "all"
    assert spec.scheduling.kueue.topology.slice.size == 4
    assert [type(patch.patch) for patch in spec.patches] == [dict, list, str]
    assert spec.runtime_patches[0].training_runtime_spec["template"]["metadata"] == {"labels": {"a": "b"}}
    assert spec.gitops.prune_protection == "confirm"


@pytest.mark.parametrize(
    "spec",
    [
        "{}",
        "null",
        "{jobs: {}, values: {}, cluster: {}, scheduling: {}, secrets: {}, patches: [], gitops: {}}",
        "{jobs: null, values: null, cluster: null, scheduling: null, secrets: null, gitops: null}",
        "{jobs: {paths: null, selector: null}, secrets: {mode: null}, gitops: {naming: null}}",
    ],
)
def test_an_empty_or_null_part_means_its_defaults(reader, spec):
    assert reader.environment(spec).model.spec == DEFAULT_ENVIRONMENT.spec


def test_the_default_environment_is_what_validation_would_make_of_it():
    head = {"apiVersion": "trainform.dev/v1alpha1", "kind": "Environment", "metadata": {"name": "default"}}
    assert Environment.model_validate(head) == DEFAULT_ENVIRONMENT


@pytest.mark.parametrize(
    ("spec", "code", "field"),
    [
        ("{jbos: {}}", "TF101", "jbos"),
        ("{jobs: {paths: jobs}}", "TF102", "jobs.paths"),
        ("{jobs: {paths: []}}", "TF104", "jobs.paths"),
        ("{jobs: {paths: [/jobs]}}", "TF151", "jobs.paths[0]"),
        ("{jobs: {paths: [jobs, ../jobs]}}", "TF151", "jobs.paths[1]"),
        ("{jobs: {paths: [jobs, 'jobs[z-a]']}}", "TF151", "jobs.paths[1]"),
        ("{jobs: {paths: ['jobs\\a']}}", "TF151", "jobs.paths[0]"),
        ("{jobs: {paths: ['']}}", "TF151", "jobs.paths[0]"),
        ("{jobs: {selector: {matchLabels: {a: 'b c'}}}}", "TF152", "jobs.selector.matchLabels.a"),
        (
            "{jobs: {selector: {matchExpressions: [{key: a, operator: In}]}}}",
            "TF152",
            "jobs.selector.matchExpressions[0].values",
        ),
        (
            "{jobs: {selector: {matchExpressions: [{key: a, operator: Is}]}}}",
            "TF104",
            "jobs.selector.matchExpressions[0].operator",
        ),
        ("{namespace: ML}", "TF301", "namespace"),
        ("{namespace: ''}", "TF301", "namespace"),
        ("{values: []}", "TF102", "values"),
        ("{cluster: {kubernetes: 1.36}}", "TF102", "cluster.kubernetes"),
        ("{cluster: {jobset: latest}}", "TF104", "cluster.jobset"),
        ("{cluster: {schedulers: [slurm]}}", "TF104", "cluster.schedulers[0]"),
        ("{cluster: {schedulers: [kai, kai]}}", "TF105", "cluster.schedulers[1]"),
        ("{cluster: {files: [../other/*.yaml]}}", "TF151", "cluster.files[0]"),
        ("{scheduling: {gang: {scheduler: slurm}}}", "TF104", "scheduling.gang.scheduler"),
        (
            "{cluster: {schedulers: [kai]}, scheduling: {gang: {scheduler: volcano}}}",
            "TF153",
            "scheduling.gang.scheduler",
        ),
        ("{scheduling: {gang: {queueLabel: a/b/c}}}", "TF301", "scheduling.gang.queueLabel"),
        ("{scheduling: {gang: {queue: ''}}}", "TF301", "scheduling.gang.queue"),
        (
            "{scheduling: {gang: {scheduleTimeoutSeconds: 0}}}",
            "TF104",
            "scheduling.gang.scheduleTimeoutSeconds",
        ),
        ("{scheduling: {kueue: {localQueue: Team_A}}}", "TF301", "scheduling.kueue.localQueue"),
        (
            "{scheduling: {kueue: {priorityClass: %s}}}" % ("a" * 64),
            "TF301",
            "scheduling.kueue.priorityClass",
        ),
        ("{scheduling: {kueue: {maxExecTimeSeconds: 0}}}", "TF104", "scheduling.kueue.maxExecTimeSeconds"),
        ("{scheduling: {kueue: {steps: {Node: {}}}}}", "TF301", "scheduling.kueue.steps.Node"),
        ("{scheduling: {kueue: {steps: {node: {queue: a}}}}}", "TF101", "scheduling.kueue.steps.node.queue"),
        ("{secrets: {mode: vault}}", "TF104", "secrets.mode"),
        ("{secrets: {mode: sops}}", "TF155", "secrets.recipients"),
        ("{secrets: {mode: sealed-secret}}", "TF155", "secrets.certificate"),
        ("{secrets: {certificate: /etc/cert.pem}}", "TF151", "secrets.certificate"),
        ("{secrets: {recipients: [me]}}", "TF104", "secrets.recipients[0]"),
        ("{secrets: {recipients: [AGE-SECRET-KEY-1QQ]}}", "TF156", "secrets.recipients[0]"),
        ("{runtimePatches: [{manager: me}]}", "TF303", "runtimePatches[0].manager"),
        ("{runtimePatches: [{manager: a.io/b}, {manager: a.io/b}]}", "TF105", "runtimePatches[1]"),
        ("{patches: [{target: {kind: JobSet}}]}", "TF103", "patches[0].patch"),
        ("{patches: [{target: {labels: a}, patch: {}}]}", "TF101", "patches[0].target.labels"),
        ("{gitops: {engine: argo}}", "TF104", "gitops.engine"),
        ("{images: [{name: a/b, newTag: 2}]}", "TF102", "images[0].newTag"),
        ("{images: [{name: a/b, digest: 2}]}", "TF102", "images[0].digest"),
        ("{images: [{name: a/b}]}", "TF368", "images[0]"),
        ("{jobs: {paths: [1]}}", "TF102", "jobs.paths[0]"),
        (
            "{scheduling: {gang: {scheduler: kai, topology: {name: a, required: 3}}}}",
            "TF102",
            "scheduling.gang.topology.required",
        ),
        ("{prices: {currency: USD, resources: {'': '1'}}}", "TF301", "prices.resources."),
        ("{prices: {currency: USD, resources: {a b: '1'}}}", "TF301", "prices.resources.a b"),
        ("{prices: {currency: USD, flavors: {'': {cpu: '1'}}}}", "TF301", "prices.flavors."),
        ("{prices: {currency: USD, flavors: {spot: {'': '1'}}}}", "TF301", "prices.flavors.spot."),
        ("{gitops: {allow: [ttl, ttl]}}", "TF105", "gitops.allow[1]"),
        ("{gitops: {allow: [everything]}}", "TF104", "gitops.allow[0]"),
    ],
)
def test_a_fault_is_told_at_its_element(reader, spec, code, field):
    assert reader.told(reader.environment(spec)) == [(code, f"spec.{field}")]


@pytest.mark.parametrize(
    ("topology", "faults"),
    [
        ("{required: a.io/rack}", []),
        ("{preferred: a.io/rack, group: g}", []),
        ("{unconstrained: true, slice: {required: a.io/host, size: 1}}", []),
        ("{required: a, preferred: b}", [("TF154", "")]),
        ("{required: a, unconstrained: true}", [("TF154", "")]),
        ("{preferred: a, unconstrained: true}", [("TF154", "")]),
        ("{required: a, preferred: b, unconstrained: true}", [("TF154", "")]),
        ("{required: 'a rack'}", [("TF104", ".required")]),
        ("{slice: {required: a}}", [("TF103", ".slice.size")]),
        ("{slice: {size: 2}}", [("TF103", ".slice.required")]),
        ("{slice: {required: a, size: 0}}", [("TF104", ".slice.size")]),
        ("{group: g}", [("TF154", ".group")]),
        ("{required: a, group: '7'}", [("TF104", ".group")]),
        ("{required: a, slice: {required: b, size: 2}, group: g}", [("TF154", ".group")]),
    ],
)
@pytest.mark.parametrize(
    ("spec", "place"),
    [("topology: %s", "topology"), ("steps: {node: {topology: %s}}", "steps.node.topology")],
)
def test_a_topology_is_what_kueue_would_let_through(reader, spec, place, topology, faults):
    result = reader.environment(f"{{scheduling: {{kueue: {{{spec % topology}}}}}}}")
    assert reader.told(result) == [(code, f"spec.scheduling.kueue.{place}{field}") for code, field in faults]


@pytest.mark.parametrize("name", ["Prod", "prod_eu", "a.b", "../x", "", "-a"])
def test_the_name_is_that_of_a_folder(reader, name):
    head = "apiVersion: trainform.dev/v1alpha1\nkind: Environment"
    assert reader.told(reader.text(f"{head}\nmetadata: {{name: '{name}'}}")) == [("TF301", "metadata.name")]


def test_a_name_is_all_that_is_required(reader):
    result = reader.text("apiVersion: trainform.dev/v1alpha1\nkind: Environment\nmetadata: {}")
    assert reader.told(result) == [("TF103", "metadata.name")]


@pytest.mark.parametrize("version", ["1.36", "1.10"])
def test_a_version_that_yaml_takes_for_a_number_is_shown_in_quotes(reader, version):
    [told] = reader.environment(f"{{cluster: {{kubernetes: {version}}}}}").diagnostics
    assert told.hint == f'write "{version}"'


@pytest.mark.parametrize(
    ("spec", "hint"),
    [
        ("{queue: a}", "write spec.scheduling.kueue.localQueue; for example"),
        ("{scheduling: {kueue: {queueName: a}}}", "write spec.scheduling.kueue.localQueue"),
        ("{scheduling: {kueue: {localQeue: a}}}", 'did you mean "localQueue"?'),
        ("{scheduling: {kueue: {steps: {node: {topolgy: {}}}}}}", 'did you mean "topology"?'),
        ("{extends: base}", "Environments do not inherit"),
        ("{trainer: {}}", "or use spec.runtimePatches"),
        ("{patches: [{path: a.yaml, patch: {}}]}", "write the patch, as YAML or as text"),
        ("{values: {}, gitops: {engine: argo}}", 'did you mean "argocd"? allowed: none, argocd, flux'),
    ],
)
def test_a_hint_says_what_to_write(reader, spec, hint):
    [told] = reader.environment(spec).diagnostics
    assert hint in told.hint
    assert "API server" not in told.message


def test_what_is_faulty_is_left_out_and_the_rest_is_there(reader):
    result = reader.environment("{namespace: a, gitops: {engine: flux, naming: hash}, cluster: {kueue: 0.17}}")
    assert not result.whole
    assert result.model.spec.namespace == "a"
    assert result.model.spec.gitops.engine == "flux"
    assert result.model.spec.gitops.naming == "stable"
    assert result.model.spec.cluster.kueue is None


@pytest.mark.parametrize("path", sorted(ENVIRONMENT))
def test_advice_is_given_only_where_there_is_no_such_field(path):
    *parents, field = path.replace("[]", ".0").split(".")
    place = tuple(int(part) if part.isdigit() else part for part in parents)
    problem = Reading(Environment, lambda path: None)._unknown((*place, field))
    assert problem.code == "TF106"
    assert field not in _fields(Environment, place)


def models(model, seen):
    """`model` and every model of ours below it."""
    if model not in seen:
        seen.append(model)
        for field in model.model_fields.values():
            for inner in _models(field.annotation):
                models(inner, seen)
    return seen


OURS = [model for model in models(Environment, []) if "trainjob" not in model.__module__]


@pytest.mark.parametrize("model", OURS, ids=lambda model: model.__name__)
def test_every_field_of_ours_has_its_reference(model):
    fields = {field.alias for field in model.model_fields.values()} - {"apiVersion", "kind"}
    assert fields - {"key", "operator"} <= field_texts(model).keys()
    assert all(text.meaning.endswith(".") for text in field_texts(model).values())


@pytest.mark.parametrize(
    ("gang", "told"),
    [
        ("{scheduler: kai, queue: a, queueLabel: a.io/queue}", []),
        ("{scheduler: kai, scheduleTimeoutSeconds: 9}", ["scheduleTimeoutSeconds"]),
        ("{scheduler: coscheduling, queue: a, scheduleTimeoutSeconds: 9}", ["queue"]),
        ("{scheduler: volcano, queue: a, queueLabel: a.io/queue}", ["queueLabel"]),
        ("{queue: a}", ["queue"]),
        ("{scheduler: none, queue: a}", ["queue"]),
        ("{scheduler: none, perStage: true}", ["perStage"]),
        ("{scheduler: none, perStage: false}", []),
        ("{scheduler: volcano, queueLabel: kai.scheduler/queue}", []),
    ],
)
def test_a_gang_setting_that_nobody_reads_is_told(reader, gang, told):
    found = reader.told(reader.environment(f"\n  scheduling: {{gang: {gang}}}"), "warning")
    assert found == [("TF165", f"spec.scheduling.gang.{key}") for key in told]

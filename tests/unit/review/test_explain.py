"""Who set each field: all of them have an owner, and the line named does hold the value."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import yaml

from support.golden import golden_cases, plugins_for
from trainform import Plugin
from trainform.core.catalogue import Catalogue
from trainform.core.compile import compile_documents
from trainform.core.plugin import STAGES
from trainform.installed import load_plugins
from trainform.io.resources import shipped_runtimes
from trainform.k8s.quantity import QuantityError, canonical
from trainform.k8s.tree import object_name
from trainform.review.explain.fields import FieldError, everything, find
from trainform.review.explain.leaves import leaves, node_of
from trainform.review.explain.owner import Owner
from trainform.review.explain.owners import Field, Recorder, explain
from trainform.review.explain.text import render_explained
from trainform.source import load
from trainform.testing import GoldenCase

ROOT = Path(__file__).parents[3]
CASES = [pytest.param(case, id=str(case)) for case in golden_cases()]
RUNTIMES = [file.stem for file in sorted((ROOT / "runtimes").glob("*.yaml"))]

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata:
  name: llm
  namespace: ml
  labels: {kueue.x-k8s.io/queue-name: of-the-job}
spec:
  runtimeRef: {name: rt}
  trainer:
    image: train:2
    command:
    - python
    - train.py
    args: ["--epochs", "3"]
    env:
    - name: SEED
      value: "1"
    numNodes: 4
    resourcesPerNode: {limits: {cpu: 8}}
  activeDeadlineSeconds: 3600
  suspend: true
  runtimePatches:
  - manager: example.com/machines
    trainingRuntimeSpec:
      template:
        metadata: {labels: {team: vision}}
        spec:
          replicatedJobs:
          - name: node
            template: {spec: {template: {spec: {
              nodeSelector: {gpu: h100},
              volumes: [{name: cache, emptyDir: {}}]}}}}
"""

RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: rt}
spec:
  mlPolicy: {numNodes: 2, torch: {}}
  podGroupPolicy:
    coscheduling: {scheduleTimeoutSeconds: 90}
  template:
    metadata:
      labels: {kueue.x-k8s.io/queue-name: of-the-template}
    spec:
      failurePolicy:
        rules:
        - {action: FailJobSet, name: oom}
      replicatedJobs:
      - name: node
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec:
            template:
              spec:
                nodeSelector: {gpu: a100, zone: b}
                volumes: [{name: shm, emptyDir: {medium: Memory}}]
                containers:
                - name: sidecar
                  image: log:1
                - name: node
                  image: train:1
                  command: [python, old.py, --debug]
                  env:
                  - {name: HOME, value: /root}
                  - {name: SEED, value: "0"}
"""

ENVIRONMENT = """\
apiVersion: trainform.dev/v1alpha1
kind: Environment
metadata: {name: prod}
spec:
  namespace: ml-prod
  scheduling:
    kueue: {localQueue: of-the-environment, topology: {unconstrained: true}}
  runtimePatches:
  - manager: example.com/platform
    trainingRuntimeSpec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {
      template: {spec: {nodeSelector: {zone: c}}}}}}]}}}
  patches:
  - target: {kind: JobSet}
    patch:
      metadata: {labels: {cost-centre: "42"}}
  - target: {kind: JobSet}
    patch: |
      spec:
        ttlSecondsAfterFinished: 60
  - target: {kind: PodGroup}
    patch:
    - {op: test, path: /spec/minMember, value: 4}
    - {op: replace, path: /spec/scheduleTimeoutSeconds, value: 45}
    - op: add
      path: /metadata/annotations
      value:
        why: patience
  gitops: {engine: argocd, allow: [ttl]}
"""

MIRRORED = ("example/", "registry.example.com/mirror/")
"""Images of the golden case with an Environment's `images`."""

NODE = "spec.replicatedJobs[0].template.spec.template.spec"


def explained(*texts: str, plugins: tuple[Plugin, ...] = (), before: bool = False) -> dict[str, Field]:
    """Every field of the first job, by object and path; the files are called job, rt and env.

    Further `plugins` come last, or with `before` first.
    """
    files = zip(texts, ("job", "rt", "env"), strict=False)
    documents = [document for text, name in files for document in load(text, name).documents]
    recorder = Recorder()
    compilation = compile_documents(
        documents,
        catalogue=Catalogue(dict(shipped_runtimes())),
        plugins=(*plugins, *load_plugins()) if before else (*load_plugins(), *plugins),
        observe=recorder,
    )
    job = compilation.jobs[0]
    told = [*compilation.diagnostics, *job.diagnostics]
    assert [(d.code, d.message) for d in told if d.severity == "error"] == []
    fields = [(each, each.to_json()) for each in explain(job, recorder, documents)]
    return {f"{told['object']}:{told['path']}": each for each, told in fields}


def owner_of(fields: dict[str, Field], field: str, object: str = "JobSet/llm") -> str:
    """`runtime rt rt:8`."""
    owner = fields[f"{object}:{field}"].owner
    return f"{owner} {owner.place}".strip()


# Every case


@pytest.mark.parametrize("case", CASES)
def test_every_leaf_of_every_object_has_an_owner(case: GoldenCase) -> None:
    for job, fields in of_case(case):
        told = [(each.object, each.path, each.value) for each in fields]
        assert told == [
            (object_name(tree), leaf.path, leaf.value)
            for tree in job.objects
            for leaf in leaves(tree, node_of(tree["kind"]))
        ]
        for each in fields:
            assert each.owner != Owner("default", "trainform"), each
            assert (each.owner.stage in STAGES) == (each.owner.kind == "plugin"), each
            assert each.owner.name, each


@pytest.mark.parametrize("case", CASES)
def test_the_line_that_is_named_holds_the_value(case: GoldenCase) -> None:
    for _, fields in of_case(case):
        for each in fields:
            owners = [(each.value, each.owner), *each.overrides]
            for value, owner in owners:
                assert owner.kind in ("plugin", "default") or holds(text_of(case, owner), owner, value), each


def of_case(case: GoldenCase):
    loaded, recorder = case.loaded(), Recorder()
    compilation = compile_documents(
        loaded.documents,
        catalogue=Catalogue(dict(shipped_runtimes())),
        plugins=plugins_for(case),
        source=loaded.diagnostics,
        observe=recorder,
    )
    return [(job, explain(job, recorder, loaded.documents)) for job in compilation.jobs]


def text_of(case: GoldenCase, owner: Owner) -> str:
    assert owner.file is not None
    shipped, _, name = owner.file.partition("catalogue/")
    file = case.folder / "input" / owner.file if shipped or not name else ROOT / "runtimes" / name
    return file.read_text(encoding="utf-8")


def holds(text: str, owner: Owner, value: object) -> bool:
    """Whether that line of the file has the value, by a reader that is not ours."""
    assert owner.line is not None
    if owner.stage == "naming":
        value = "content-hash"
    on_line = {*scalars(text).get(owner.line, []), *line_alone(text, owner.line)}
    if owner.kind == "environment" and str(value).startswith(MIRRORED):
        return any(each in str(value) for each in on_line)  # an image is put together
    return any(same(value, each) for each in on_line)


@cache
def scalars(text: str) -> dict[int, list[str]]:
    """The scalars that begin on each line, up to an error of syntax; an empty map as `{}`."""
    found: dict[int, list[str]] = {}
    with suppress(yaml.YAMLError):
        for root in yaml.compose_all(text, Loader=yaml.CSafeLoader):
            for node in nodes(root):
                if isinstance(node, yaml.ScalarNode) or not node.value:
                    shown = node.value if isinstance(node, yaml.ScalarNode) else "{}"
                    found.setdefault(node.start_mark.line + 1, []).append(shown)
    return found


def nodes(node):
    yield node
    if isinstance(node, yaml.MappingNode):
        for pair in node.value:
            for each in pair:
                yield from nodes(each)
    elif isinstance(node, yaml.SequenceNode):
        for each in node.value:
            yield from nodes(each)


def line_alone(text: str, number: int) -> list[str]:
    """The scalars of a line by itself: one of a patch that is a block of text."""
    line = text.splitlines()[number - 1].strip()
    return [each for found in scalars(line).values() for each in found]


def same(value: Any, text: str) -> bool:
    if value == {}:
        return text == "{}"
    if isinstance(value, bool) or value == "kueue.x-k8s.io/multikueue":
        return text in (str(value).lower(), str(value), "true")
    try:
        return text == str(value) or canonical(text) == canonical(value)
    except QuantityError:
        return False


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_every_field_of_a_shipped_runtime_has_an_owner(runtime: str) -> None:
    job = JOB.partition("  trainer:")[0].replace("{name: rt}", f"{{name: {runtime}}}")
    command = "[tune, run]" if runtime.startswith("torchtune") else "[python, train.py]"
    fields = explained(f"{job}  trainer: {{command: {command}, resourcesPerNode: {{limits: {{nvidia.com/gpu: 1}}}}}}\n")
    assert {each.owner.kind for each in fields.values()} >= {"trainjob", "runtime", "default"}
    assert Owner("default", "trainform") not in [each.owner for each in fields.values()]


# Who owns what


@pytest.mark.parametrize(
    ("field", "owner"),
    [
        ("kind", "plugin jobset (build)"),
        ("metadata.name", "TrainJob llm job:4"),
        ("metadata.namespace", "TrainJob llm job:5"),
        ("metadata.labels.kueue.x-k8s.io/queue-name", "TrainJob llm job:6"),
        ("metadata.labels.team", "patch by example.com/machines job:26"),
        ("metadata.labels.cost-centre", "Environment prod env:15"),
        ("spec.suspend", "TrainJob llm job:21"),
        ("spec.ttlSecondsAfterFinished", "Environment prod env:19"),
        ("spec.failurePolicy.rules[0].name", "plugin jobset (build)"),
        ("spec.failurePolicy.rules[1].name", "runtime rt rt:14"),
        ("spec.network.enableDNSHostnames", "default: JobSet's webhook"),
        ("spec.replicatedJobs[0].name", "runtime rt rt:16"),
        ("spec.replicatedJobs[0].groupName", "default: JobSet's CRD"),
        ("spec.replicatedJobs[0].template.spec.parallelism", "TrainJob llm job:18"),
        ("spec.replicatedJobs[0].template.spec.activeDeadlineSeconds", "TrainJob llm job:20"),
        (f"{NODE}.nodeSelector.gpu", "patch by example.com/machines job:31"),
        (f"{NODE}.nodeSelector.zone", "patch by example.com/platform env:11"),
        (f"{NODE}.volumes[0].emptyDir", "patch by example.com/machines job:32"),
        (f"{NODE}.volumes[1].emptyDir.medium", "runtime rt rt:23"),
        (f"{NODE}.containers[0].image", "runtime rt rt:26"),
        (f"{NODE}.containers[1].image", "TrainJob llm job:10"),
        (f"{NODE}.containers[1].command[0]", "TrainJob llm job:12"),
        (f"{NODE}.containers[1].args[1]", "TrainJob llm job:14"),
        (f"{NODE}.containers[1].env[0].value", "runtime rt rt:31"),
        (f"{NODE}.containers[1].env[1].value", "TrainJob llm job:17"),
        (f"{NODE}.containers[1].env[2].value", "plugin torch (enforce_ml_policy)"),
        (f"{NODE}.containers[1].resources.limits.cpu", "TrainJob llm job:19"),
    ],
)
def test_owner_of_a_field_of_the_jobset(field: str, owner: str) -> None:
    assert owner_of(whole(), field) == owner


@pytest.mark.parametrize(
    ("field", "owner"),
    [
        ("metadata.name", "TrainJob llm job:4"),
        ("metadata.annotations.why", "Environment prod env:27"),
        ("metadata.annotations.argocd.argoproj.io/sync-wave", "default: engine argocd"),
        ("spec.minMember", "plugin coscheduling (build)"),
        ("spec.scheduleTimeoutSeconds", "Environment prod env:23"),
    ],
)
def test_owner_of_a_field_of_the_pod_group(field: str, owner: str) -> None:
    assert owner_of(whole(), field, "PodGroup/llm") == owner


def test_marks_of_pods_are_the_plugin_s_that_asked_for_them() -> None:
    label = "spec.replicatedJobs[0].template.spec.template.metadata.labels.scheduling.x-k8s.io/pod-group"
    assert owner_of(whole(), label) == "plugin coscheduling (enforce_pod_group_policy)"


def test_multikueue_belongs_to_the_line_of_the_environment_that_asks_for_it() -> None:
    gang = "  podGroupPolicy:\n    coscheduling: {scheduleTimeoutSeconds: 90}\n"
    environment = ENVIRONMENT.partition("spec:\n")[0] + "spec: {scheduling: {kueue: {multiKueue: true}}}\n"
    fields = explained(JOB, RUNTIME.replace(gang, ""), environment)
    assert owner_of(fields, "spec.managedBy") == "Environment prod env:4"


@cache
def whole() -> dict[str, Field]:
    return explained(JOB, RUNTIME, ENVIRONMENT)


def test_a_value_that_someone_states_again_belongs_to_who_wins() -> None:
    fields = explained(JOB.replace("numNodes: 4", "numNodes: 2"), RUNTIME)
    assert owner_of(fields, "spec.replicatedJobs[0].template.spec.parallelism") == "TrainJob llm job:18"


def test_a_patch_does_not_own_the_name_that_it_looks_an_entry_up_by() -> None:
    patched = JOB.replace(
        "volumes: [{name: cache, emptyDir: {}}]", "volumes: [{name: shm, emptyDir: {sizeLimit: 1Gi}}]"
    )
    fields = explained(patched, RUNTIME)
    assert owner_of(fields, f"{NODE}.volumes[0].name") == "runtime rt rt:23"
    assert owner_of(fields, f"{NODE}.volumes[0].emptyDir.sizeLimit") == "patch by example.com/machines job:32"


STEP = """\
      - name: model-initializer
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: model-initializer}}
          spec:
            template:
              spec:
                containers:
                - name: model-initializer
                  image: init:1
                  envFrom: [{secretRef: {name: proxy}}]
                  volumeMounts: [{name: initializer, mountPath: /workspace}]
                volumes: [{name: initializer, emptyDir: {}}]
"""


def test_an_initializer_has_what_the_job_says_beside_what_the_runtime_says() -> None:
    job = f"{JOB}  initializer: {{model: {{storageUri: hf://a/b, secretRef: {{name: token}}}}}}\n"
    fields = explained(job, RUNTIME + STEP)
    container = NODE.replace("[0]", "[1]") + ".containers[0]"
    assert owner_of(fields, f"{container}.envFrom[0].secretRef.name") == "runtime rt rt:42"
    assert owner_of(fields, f"{container}.envFrom[1].secretRef.name") == "TrainJob llm job:33"
    assert owner_of(fields, f"{container}.env[0].name") == "plugin jobset (enforce_pod_spec)"
    assert owner_of(fields, f"{container}.env[0].value") == "TrainJob llm job:33"


def test_a_hashed_name_is_the_wish_of_the_environment() -> None:
    environment = ENVIRONMENT.replace("{engine: argocd,", "{naming: content-hash,")
    names = {
        (each.object.partition("/")[0], str(each.owner), each.owner.place)
        for key, each in explained(JOB, RUNTIME, environment).items()
        if key.endswith(":metadata.name")
    }
    assert names == {
        ("JobSet", "Environment prod (naming)", "env:28"),
        ("PodGroup", "Environment prod (naming)", "env:28"),
    }


def test_asking_twice_gives_the_same_answer() -> None:
    documents = [*load(JOB, "job").documents, *load(RUNTIME, "rt").documents, *load(ENVIRONMENT, "env").documents]
    recorder = Recorder()
    compilation = compile_documents(documents, catalogue=Catalogue(), plugins=load_plugins(), observe=recorder)
    job = compilation.jobs[0]
    first = explain(job, recorder, documents)
    assert first == explain(job, recorder, documents) != []


def test_a_job_with_an_error_has_no_fields() -> None:
    documents = load(JOB, "job").documents
    recorder = Recorder()
    compilation = compile_documents(documents, catalogue=Catalogue(), plugins=load_plugins(), observe=recorder)
    assert explain(compilation.jobs[0], recorder, documents) == []


# Plugins of others


class Toy(Plugin):
    """Knows nothing of explain."""

    name = "toy"

    def enforce_pod_spec(self, plan):
        node = plan.trainer_container
        node["image"] = f"mirror.example.com/{plan.trainer.image}"
        plan.trainer.image = None
        plan.label_jobset("toy", "yes")

    def pre_build_sync(self, plan):
        plan.pod_sets[0].pod_spec["hostNetwork"] = True

    def build(self, plan):
        metadata = {"name": f"{plan.name}-toy", "namespace": plan.namespace}
        return [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"k": "v"}}]


@pytest.mark.parametrize(
    ("object", "field", "owner"),
    [
        ("JobSet/llm", "metadata.labels.toy", "plugin toy (enforce_pod_spec)"),
        ("JobSet/llm", f"{NODE}.containers[1].image", "plugin toy (enforce_pod_spec)"),
        ("JobSet/llm", f"{NODE}.hostNetwork", "plugin toy (pre_build_sync)"),
        ("ConfigMap/llm-toy", "data.k", "plugin toy (build)"),
        ("ConfigMap/llm-toy", "metadata.namespace", "TrainJob llm job:5"),
    ],
)
def test_a_plugin_of_someone_else_is_explained(object: str, field: str, owner: str) -> None:
    # The one that sets `image` must come before the JobSet is put together.
    fields = explained(JOB, RUNTIME, plugins=(Toy(),), before=True)
    assert owner_of(fields, field, object) == owner


def test_what_a_plugin_overwrote_is_told() -> None:
    fields = explained(JOB, RUNTIME, plugins=(Toy(),), before=True)
    image = fields[f"JobSet/llm:{NODE}.containers[1].image"]
    assert image.value == "mirror.example.com/train:2"
    assert [(each.value, str(each.owner)) for each in image.overrides] == [
        ("train:1", "runtime rt"),
        ("train:2", "TrainJob llm"),
    ]


class HandsOn(Plugin):
    """Copies what someone wrote, and says where it stands."""

    name = "hands-on"

    def enforce_pod_spec(self, plan):
        team = plan.job.metadata.annotations["acme.example/team"]
        source = ("trainjob", ("metadata", "annotations", "acme.example/team"))
        plan.label_pods("team", team, source)
        plan.annotate_pods("acme.example/team", team.upper(), source)
        plan.annotate_jobset("team", team, source)
        plan.label_jobset("zone", "b", ("runtime", ("metadata", "labels", "zone")))
        plan.label_jobset("cost-centre", "42", ("environment", ("metadata", "annotations", "cost-centre")))
        pods, node = plan.trainer_pod_set, plan.trainer_container
        pods.set_env(node, {"name": "TEAM", "value": team}, source=source)
        pods.annotate("step", team, source)
        plan.spec["coordinator"] = {"replicatedJob": "node"}
        plan.record_source(("trainjob", ("metadata", "annotations", "first")), "spec", "coordinator", "replicatedJob")

    def build(self, plan):
        tree = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": f"{plan.name}-team", "namespace": plan.namespace},
            "data": {"name": plan.job.metadata.annotations["acme.example/team"]},
        }
        plan.record_source(("trainjob", ("metadata", "annotations", "acme.example/team")), "data", "name", object=tree)
        return [tree]


POD = "spec.replicatedJobs[0].template.spec.template.metadata"


@pytest.mark.parametrize(
    ("object", "field", "owner"),
    [
        ("JobSet/llm", f"{POD}.labels.team", "TrainJob llm job:7"),
        ("JobSet/llm", "metadata.annotations.team", "TrainJob llm job:7"),
        ("JobSet/llm", f"{POD}.annotations.step", "TrainJob llm job:7"),
        ("JobSet/llm", f"{NODE}.containers[1].env[7].value", "TrainJob llm job:7"),
        ("JobSet/llm", f"{NODE}.containers[1].env[7].name", "plugin hands-on (enforce_pod_spec)"),
        ("JobSet/llm", "spec.coordinator.replicatedJob", "TrainJob llm job:8"),
        ("JobSet/llm", "metadata.labels.zone", "runtime rt rt:3"),
        ("JobSet/llm", "metadata.labels.cost-centre", "Environment prod env:3"),
        ("ConfigMap/llm-team", "data.name", "TrainJob llm job:7"),
        # Not what the TrainJob says:
        ("JobSet/llm", f"{POD}.annotations.acme.example/team", "plugin hands-on (enforce_pod_spec)"),
    ],
)
def test_what_a_plugin_of_someone_else_hands_on_is_explained_by_its_line(object: str, field: str, owner: str) -> None:
    annotations = "  annotations:\n    acme.example/team: vision\n    first: node\n"
    job = JOB.partition("  activeDeadline")[0].replace(
        "  labels: {kueue.x-k8s.io/queue-name: of-the-job}\n", annotations
    )
    runtime = RUNTIME.replace("metadata: {name: rt}", "metadata: {name: rt, labels: {zone: b}}")
    environment = ENVIRONMENT.partition("spec:")[0].replace(
        "{name: prod}", '{name: prod, annotations: {cost-centre: "42"}}'
    )
    fields = explained(job, runtime, environment + "spec: {}\n", plugins=(HandsOn(),), before=True)
    assert owner_of(fields, field, object) == owner


def test_copies_are_recorded_only_while_somebody_observes_the_compile() -> None:
    plans = []
    look = type("Look", (Plugin,), {"name": "look", "validate": lambda self, plan: plans.append(plan)})
    documents = [*load(JOB, "job").documents, *load(RUNTIME, "rt").documents]
    plugins = (*load_plugins(), look())
    for observe in (None, Recorder()):
        compile_documents(documents, catalogue=Catalogue(), plugins=plugins, observe=observe)
    assert [bool(plan.ledger.copies) for plan in plans] == [False, True]


# What did not last


def test_earlier_values_are_told_in_their_order() -> None:
    field = explained(JOB, RUNTIME)["JobSet/llm:spec.replicatedJobs[0].template.spec.parallelism"]
    assert [(each.value, each.owner.place) for each in field.overrides] == [(2, "rt:5")]
    assert (field.value, field.owner.place) == (4, "job:18")


def test_what_a_plugin_could_have_copied_and_did_not_is_no_earlier_value() -> None:
    """The launcher of MPI is one pod, and never had the job's number of nodes."""
    job = JOB.partition("  trainer:")[0].replace("{name: rt}", "{name: deepspeed-distributed}")
    fields = explained(f"{job}  trainer: {{numNodes: 4}}\n")
    counts = {
        each.path[2]: (each.value, [old.value for old in each.overrides])
        for key, each in fields.items()
        if key.endswith("template.spec.parallelism")
    }
    assert counts == {0: (3, []), 1: (1, [])}


# FIELD


@pytest.mark.parametrize(
    ("asked", "path"),
    [
        ("spec.suspend", "spec.suspend"),
        ("suspend", "spec.suspend"),
        ("spec.replicatedJobs[0].template.spec.parallelism", "spec.replicatedJobs[0].template.spec.parallelism"),
        ("replicatedJobs[node].template.spec.parallelism", "spec.replicatedJobs[0].template.spec.parallelism"),
        ("containers[sidecar].image", f"{NODE}.containers[0].image"),
        ("containers[1].image", f"{NODE}.containers[1].image"),
        ("env[PET_NNODES].value", f"{NODE}.containers[1].env[2].value"),
        ("labels.kueue.x-k8s.io/queue-name", "metadata.labels.kueue.x-k8s.io/queue-name"),
        ("JobSet/llm:metadata.name", "metadata.name"),
        ("JobSet/llm.metadata.name", "metadata.name"),
        ("JobSet:metadata.name", "metadata.name"),
    ],
)
def test_a_field_is_found_by_its_path_or_its_end(asked: str, path: str) -> None:
    found = find(list(whole().values()), asked)
    assert [whole()[f"{found.object}:{path}"]] == found.fields


@pytest.mark.parametrize(
    ("asked", "size"), [("env[PET_NNODES]", 2), ("JobSet/llm:spec.network", 2), ("PodGroup/llm", 9), ("rules[0]", 4)]
)
def test_an_element_stands_for_all_fields_below_it(asked: str, size: int) -> None:
    assert len(find(list(whole().values()), asked).fields) == size


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("metadata.name", "PodGroup/llm:metadata.name\n  JobSet/llm:metadata.name"),
        ("image", "containers[sidecar].image"),
        ("name", "and 8 more"),
        ("imgae", 'did you mean "image"?'),
        ("containers[nod].image", 'did you mean "containers[node].image"?'),
        ("spec.suspended", 'did you mean "spec.suspend"?'),
        ("zzzz", "the objects are PodGroup/llm, JobSet/llm"),
        ("resourcesPerNode.limit", "no rendered field is called"),
        ("zzzz", "without FIELD, all fields are shown, each with the line that set it"),
        ("", "fits 2 fields"),
    ],
)
def test_a_field_that_fits_none_or_several_is_an_error_that_helps(asked: str, told: str) -> None:
    with pytest.raises(FieldError) as error:
        find(list(whole().values()), asked)
    assert told in str(error.value)


REPLICATED = "spec.replicatedJobs[node].template.spec"


@pytest.mark.parametrize("asked", ["numNodes", "trainer.numNodes", "spec.trainer.numNodes"])
def test_a_key_of_the_trainjob_leads_to_the_fields_that_it_sets(asked: str) -> None:
    with pytest.raises(FieldError) as error:
        find(list(whole().values()), asked)
    listed = "".join(f"\n  JobSet/llm:{REPLICATED}.{name}" for name in ("parallelism", "completions"))
    assert f'"{asked}" is a key of the TrainJob, and FIELD is a rendered field; it sets:' in str(error.value)
    assert listed in str(error.value)
    assert not error.value.is_ambiguous


def test_a_key_of_the_trainjob_stands_for_all_that_is_below_it() -> None:
    with pytest.raises(FieldError) as error:
        find(list(whole().values()), "resourcesPerNode")
    assert f"\n  JobSet/llm:{REPLICATED}.template.spec.containers[node].resources." in str(error.value)


# Text


def test_a_single_field_is_told_with_its_story() -> None:
    found = find(list(whole().values()), "containers[node].image")
    assert render_explained([found], colour=False) == dedent("""\
        JobSet/llm spec.replicatedJobs[0].template.spec.template.spec.containers[1].image
          now  train:2  TrainJob llm  job:10
          was  train:1  runtime rt    rt:28
        """)


def test_an_element_is_told_as_a_tree_with_owners_in_a_column() -> None:
    found = find(list(whole().values()), "failurePolicy")
    assert render_explained([found], colour=False) == dedent("""\
        JobSet/llm spec.failurePolicy
          rules:
          - name: trainjobDeadline   plugin jobset (build)
            action: FailJobSet       plugin jobset (build)
            onJobFailureReasons:
            - DeadlineExceeded       plugin jobset (build)
            targetReplicatedJobs:
            - node                   plugin jobset (build)
          - action: FailJobSet       runtime rt             rt:14
            name: oom                runtime rt             rt:14
          restartStrategy: Recreate  default: JobSet's CRD
        """)


@pytest.mark.parametrize(
    ("value", "shown"), [("1", '"1"'), (1, "1"), (True, "true"), ("true", '"true"'), ({}, "{}"), ("a\nb", '"a\\nb"')]
)
def test_values_are_written_so_that_their_type_shows(value: object, shown: str) -> None:
    field = Field("JobSet/llm", ("spec", "x"), (), value, Owner("plugin", "toy", "build"))
    assert f"x: {shown}  plugin" in render_explained(everything([field]), colour=False)


def test_colour_is_by_the_kind_of_owner() -> None:
    text = render_explained(everything(whole().values()), colour=True)
    assert "\x1b[32mTrainJob llm\x1b[0m" in text
    assert "\x1b[" not in render_explained(everything(whole().values()), colour=False)

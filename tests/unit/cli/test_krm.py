"""`trainform krm`: a ResourceList in, a ResourceList out."""

from __future__ import annotations

import json
from textwrap import dedent, indent

import pytest
import yaml

JOB = """\
- apiVersion: trainer.kubeflow.org/v1alpha1
  kind: TrainJob
  metadata: {name: llm, namespace: ml}
  spec: {runtimeRef: {name: torch-distributed}, trainer: {numNodes: 2}}
"""
CONFIG_MAP = """\
# about this ConfigMap
- apiVersion: v1
  kind: ConfigMap # not ours
  metadata: {name: "x", annotations: {internal.config.kubernetes.io/path: 'a.yaml'}}
  data:
    a: |
      # no comment
      text

    b: 0o644
  # its end
"""
RUNTIME = """\
- apiVersion: trainer.kubeflow.org/v1alpha1
  kind: TrainingRuntime
  metadata: {name: mine, namespace: ml, labels: {trainer.kubeflow.org/framework: torch}}
  spec:
    mlPolicy: {numNodes: 1}
    template:
      spec:
        replicatedJobs:
        - name: node
          template:
            metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
            spec: {template: {spec: {containers: [{name: node, image: "train:1.0"}]}}}
"""
ENVIRONMENT = """\
apiVersion: trainform.dev/v1alpha1
kind: Environment
metadata: {name: prod}
spec: {namespace: ml-prod, scheduling: {kueue: {localQueue: q}}}
"""
HEAD = "# about the list\napiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n"


def listed(*items, config=""):
    tail = "functionConfig:\n" + indent(dedent(config), "  ") if config else ""
    return HEAD + "".join(items) + tail


def kinds(text):
    return [item["kind"] for item in yaml.safe_load(text)["items"]]


@pytest.fixture
def krm(trainform):
    def call(text, code=0):
        ran = trainform("krm", stdin=text)
        assert ran.code == code, ran.err
        return ran

    return call


def results(ran):
    return yaml.safe_load(ran.out).get("results", [])


def test_rendered_objects_take_the_place_of_their_trainjob(krm):
    ran = krm(listed(CONFIG_MAP, JOB, CONFIG_MAP.replace('"x"', "y")))
    assert kinds(ran.out) == ["ConfigMap", "JobSet", "ConfigMap"]


def test_what_is_left_alone_keeps_its_text(krm):
    before, after = CONFIG_MAP, CONFIG_MAP.replace('"x"', "y")
    out = krm(listed(before, JOB, after)).out
    assert out.startswith(f"{HEAD}{before}- apiVersion: jobset.x-k8s.io/v1alpha2\n")
    assert f"\n{after}results:\n" in out or out.endswith(f"\n{after}")


@pytest.mark.parametrize("items", [(), (CONFIG_MAP,), (CONFIG_MAP, CONFIG_MAP.replace('"x"', "y"))])
def test_without_jobs_nothing_changes(krm, items):
    text = listed(*items) if items else HEAD.replace("items:", "items: []")
    assert krm(text).out == text


def test_the_head_comment_of_a_job_goes_with_it_and_that_of_its_neighbour_stays(krm):
    out = krm(listed("# the job\n", JOB, "# the neighbour\n", CONFIG_MAP)).out
    assert "# the job" not in out
    assert f"\n# the neighbour\n{CONFIG_MAP}" in out


def test_deeper_items_and_dashes_on_lines_of_their_own(krm):
    text = HEAD + indent(JOB.replace("- api", "-\n  api") + CONFIG_MAP, "    ")
    out = krm(text).out
    assert kinds(out) == ["JobSet", "ConfigMap"]
    assert indent(CONFIG_MAP, "    ") in out


def test_runtimes_and_environments_leave_the_list(krm):
    job = JOB.replace("torch-distributed", "mine, kind: TrainingRuntime")
    environment = "- " + indent(ENVIRONMENT, "  ")[2:]
    ran = krm(listed(RUNTIME, environment, job))
    (item,) = yaml.safe_load(ran.out)["items"]
    (node,) = item["spec"]["replicatedJobs"]
    assert node["template"]["spec"]["template"]["spec"]["containers"][0]["image"] == "train:1.0"


def test_nothing_left(krm):
    out = krm(listed(RUNTIME, "# the last\n", RUNTIME.replace("mine", "other"))).out
    assert yaml.safe_load(out)["items"] == []
    assert "items: []\n" in out


def test_facts_are_read_and_stay(krm):
    namespace = "- {apiVersion: v1, kind: Namespace, metadata: {name: ml}} # applied as well\n"
    assert namespace in krm(listed(namespace, JOB)).out


def test_what_is_local_stays_and_is_rendered_again_in_place(krm):
    """kpt writes what a function returns back to the files that it read."""
    local = JOB.replace(
        "namespace: ml}", 'namespace: ml, annotations: {config.kubernetes.io/local-config: "true"}} # source'
    )
    once = krm(listed(local, CONFIG_MAP)).out
    assert kinds(once) == ["TrainJob", "JobSet", "ConfigMap"]
    assert local in once
    head = "metadata:\n    annotations: {config.kubernetes.io/path: out/llm.yaml}\n"
    filed = once.replace("metadata:\n    name: llm", f"{head}    name: llm")
    again = yaml.safe_load(krm(filed.replace("numNodes: 2", "numNodes: 4")).out)["items"]
    assert [item["kind"] for item in again] == ["TrainJob", "JobSet", "ConfigMap"]
    assert again[1]["metadata"]["annotations"] == {"config.kubernetes.io/path": "out/llm.yaml"}
    assert again[1]["spec"]["replicatedJobs"][0]["template"]["spec"]["parallelism"] == 4


def test_an_anchor_in_what_leaves_is_no_trap(krm):
    job = JOB.replace("llm, namespace: ml}", "&name llm, namespace: ml}")
    other = CONFIG_MAP.replace('"x"', "*name")
    items = yaml.safe_load(krm(listed(job, other)).out)["items"]
    assert [item["metadata"]["name"] for item in items] == ["llm", "llm"]


def test_json(krm):
    tree = yaml.safe_load(listed(CONFIG_MAP, JOB))
    found = json.loads(krm(json.dumps(tree)).out)
    assert [item["kind"] for item in found["items"]] == ["ConfigMap", "JobSet"]


def test_a_plain_list(krm):
    out = krm(listed(CONFIG_MAP, JOB).replace("config.kubernetes.io/v1", "v1").replace("ResourceList", "List")).out
    assert kinds(out) == ["ConfigMap", "JobSet"]
    assert CONFIG_MAP in out


@pytest.mark.parametrize(
    "config",
    [
        ENVIRONMENT,
        "{apiVersion: v1, kind: ConfigMap, data: {namespace: ml-prod, scheduling.kueue.localQueue: q}}",
    ],
)
def test_an_environment_by_configuration(krm, config):
    job = JOB.replace(", namespace: ml", "")
    (item,) = yaml.safe_load(krm(listed(job, config=config)).out)["items"]
    assert item["metadata"]["namespace"] == "ml-prod"
    assert item["metadata"]["labels"] == {"kueue.x-k8s.io/queue-name": "q"}


def test_the_values_of_a_config_map_are_yaml_and_versions_are_text(krm):
    data = """\
        apiVersion: v1
        kind: ConfigMap
        data:
          cluster.kubernetes: "1.30"
          scheduling.gang.scheduler: coscheduling
          scheduling.gang.scheduleTimeoutSeconds: "77"
          cluster.schedulers: "[coscheduling]"
    """
    group = yaml.safe_load(krm(listed(JOB, config=data)).out)["items"][0]
    assert (group["kind"], group["spec"]["scheduleTimeoutSeconds"]) == ("PodGroup", 77)


@pytest.mark.parametrize(
    ("config", "code", "field"),
    [
        ("{apiVersion: example.com/v1, kind: Training}", "TF721", "kind"),
        ("{apiVersion: v1, kind: ConfigMap, data: {gitops: x, gitops.engine: argocd}}", "TF721", "data.gitops.engine"),
        ("{apiVersion: v1, kind: ConfigMap, data: {namespace: '[}'}}", "TF721", "data.namespace"),
        ("{apiVersion: v1, kind: ConfigMap, data: [namespace]}", "TF102", "data"),
        ("{apiVersion: v1, kind: ConfigMap, data: {namespaces: x}}", "TF101", "spec.namespaces"),
        ("{apiVersion: trainform.dev/v1, kind: Environment}", "TF205", "apiVersion"),
    ],
)
def test_configuration_that_cannot_be_used(krm, config, code, field):
    ran = krm(listed(JOB, config=config), code=2)
    found = [(result["tags"]["code"], result.get("field", {}).get("path")) for result in results(ran)]
    assert (code, field) in found


def test_an_error_leaves_the_items_as_they_are(krm):
    job = JOB.replace("torch-distributed", "torch-distribute").replace(
        "namespace: ml}",
        "namespace: ml, annotations: {internal.config.kubernetes.io/path: jobs/llm.yaml,"
        " internal.config.kubernetes.io/index: '3'}}",
    )
    text = listed(CONFIG_MAP, job)
    ran = krm(text, code=2)
    assert ran.out.startswith(text + "results:\n")
    assert results(ran) == [
        {
            "message": "ClusterTrainingRuntime 'torch-distribute' not found\nhelp: did you mean \"torch-distributed\"?",
            "severity": "error",
            "resourceRef": {
                "apiVersion": "trainer.kubeflow.org/v1alpha1",
                "kind": "TrainJob",
                "namespace": "ml",
                "name": "llm",
            },
            "field": {"path": "spec.runtimeRef.name"},
            "file": {"path": "jobs/llm.yaml", "index": 3},
            "tags": {"code": "TF201"},
        }
    ]
    assert "error TF201 spec.runtimeRef.name" in ran.err


def test_a_fault_that_jobs_share_is_one_result(krm):
    job = JOB.replace("torch-distributed}", "mine, kind: TrainingRuntime}")
    runtime = RUNTIME.replace('"train:1.0"', '"train:1.0", volumeMounts: [{name: none, mountPath: /a}]')
    text = listed(job, job.replace("llm", "bert"), job.replace("llm", "vit"), runtime)
    found = [each["tags"]["code"] for each in results(krm(text))]
    assert found.count("TF530") == 1


def test_earlier_results_are_kept(krm):
    text = listed(JOB.replace("torch-", "touch-")) + "results:\n- {message: earlier, severity: info} # theirs\n"
    found = results(krm(text, code=2))
    assert [result["message"][:7] for result in found] == ["earlier", "Cluster"]


def test_other_kinds_are_no_news(krm):
    assert results(krm(listed(CONFIG_MAP))) == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "TF720"),
        (JOB.replace("- ", "  "), "TF720"),
        ("a: 1\n---\nb: 2\n", "TF720"),
        ("items: [\n", "TF001"),
        (HEAD + "- text\n", "TF009"),
        (HEAD.replace("items:", "items: 7"), "TF009"),
    ],
)
def test_no_list_of_objects(krm, text, code):
    ran = krm(text, code=2)
    assert [result["tags"]["code"] for result in results(ran)] == [code]
    assert code in ran.err


def test_a_function_cannot_carry_files(krm):
    """It reads one list, and runs where no file of the repository is."""
    generator = "- {apiVersion: trainform.dev/v1alpha1, kind: ConfigMapGenerator, metadata: {name: s}, files: [a.py]}\n"
    assert "error TF648 files" in krm(listed(JOB, generator), code=2).err

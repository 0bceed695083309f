"""`trainform capacity`."""

from __future__ import annotations

import json

import pytest

from unit.cli.conftest import job

FACTS = """\
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: h100}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: gpu}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors:
    - name: h100
      resources:
      - {name: nvidia.com/gpu, nominalQuota: 2}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: default, namespace: ml}
spec: {clusterQueue: gpu}
"""


@pytest.fixture
def jobs(root):
    (root / "jobs" / "facts.yaml").write_text(FACTS)
    return root / "jobs"


def write(jobs, **nodes):
    (jobs / "llm.yaml").write_text("---\n".join(job(name, count) for name, count in nodes.items()))


def test_the_tables(jobs, trainform):
    write(jobs, big=3, first=1, second=2)
    ran = trainform("capacity")
    assert ran.code == 1
    assert ran.out.splitlines() == [
        "QUEUE  FLAVOR  RESOURCE        NOMINAL  BORROWABLE  ASKED",
        "gpu    h100    nvidia.com/gpu  2        0           6",
        "",
        "JOB        QUEUE    VERDICT  REASON",
        "ml/big     default  never    node asks nvidia.com/gpu 3; "
        "flavor h100 of ClusterQueue gpu has 2 nominal + 0 borrowable",
        "ml/first   default  fits",
        "ml/second  default  waits    node asks nvidia.com/gpu 2; "
        "flavor h100 of ClusterQueue gpu has 1 left beside the jobs before it",
    ]


def test_json(jobs, trainform):
    write(jobs, llm=2)
    ran = trainform("capacity", "--format", "json")
    assert ran.code == 0
    asked = {"pods": 2, "resources": {"nvidia.com/gpu": "2"}}
    assert json.loads(ran.out) == {
        "apiVersion": "trainform.dev/v1alpha1",
        "kind": "CapacityResult",
        "environments": {
            "default": {
                "queues": {"gpu": {"h100/nvidia.com/gpu": {"nominal": "2", "borrowable": "0", "asked": "2"}}},
                "jobs": [
                    {"namespace": "ml", "name": "llm", "queue": "default", "verdict": "fits", "reason": "", **asked}
                ],
            }
        },
    }


def test_without_facts_nothing_is_known(root, trainform):
    ran = trainform("capacity")
    assert ran.code == 0
    assert "unknown  has no label kueue.x-k8s.io/queue-name" in ran.out


def test_a_faulty_fact_is_an_error_and_no_verdict_is_given(jobs, trainform):
    (jobs / "facts.yaml").write_text(FACTS.replace("nominalQuota: 2", "nominalQuota: many"))
    ran = trainform("capacity")
    assert (ran.code, ran.out) == (2, "")
    assert "jobs/facts.yaml:13:46: error TF104" in ran.err


def test_a_faulty_job_is_an_error_and_the_others_are_told(jobs, trainform):
    write(jobs, good=1)
    (jobs / "bad.yaml").write_text(job("bad", nodes="many"))
    ran = trainform("capacity")
    assert ran.code == 2
    assert "ml/good  default  fits" in ran.out
    assert "jobs/bad.yaml:10:15: error TF102" in ran.err


def test_an_undeclared_fact_is_a_warning(jobs, trainform):
    write(jobs, llm=1)
    (jobs / "facts.yaml").write_text(FACTS.split("---\n", 1)[1])
    ran = trainform("capacity")
    assert ran.code == 0
    assert "warning TF563 spec.resourceGroups[0].flavors[0].name: ResourceFlavor h100 is not declared" in ran.err
    assert "unknown  ResourceFlavor h100 of ClusterQueue gpu is not declared" in ran.out


def test_an_environment_that_does_not_exist(trainform):
    assert trainform("capacity", "--env", "prod").code == 2


BROKEN = """
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: broken}
spec: {template: {spec: {replicatedJobs: []}}}
"""


def test_a_broken_runtime_that_no_job_uses_hides_nothing(jobs, trainform):
    write(jobs, llm=2)
    (jobs / "broken.yaml").write_text(BROKEN)
    ran = trainform("capacity")
    assert "ml/llm  default  fits" in ran.out


def in_an_environment(root, spec):
    folder = root / "environments" / "default"
    folder.mkdir(parents=True, exist_ok=True)
    head = "apiVersion: trainform.dev/v1alpha1\nkind: Environment\nmetadata: {name: default}\n"
    (folder / "environment.yaml").write_text(f"{head}spec: {spec}\n")
    (folder / "facts.yaml").write_text(FACTS)
    (root / "jobs" / "facts.yaml").unlink(missing_ok=True)


@pytest.fixture(params=["new", "frozen"])
def facts_apart(request, root, jobs, trainform):
    """A job of two GPUs that fits. The facts lie in the Environment's folder, as they usually do."""
    write(jobs, llm=2)
    in_an_environment(root, "{}")
    assert request.param == "new" or trainform("render").code == 0
    return root


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("runtimes/other.yaml", "kind: [\n"),
        ("runtimes/other.yaml", "kind: \x00\n"),
        ("runtimes/other.yaml", BROKEN),
        ("runtimes/other.yaml", f"{BROKEN}---{BROKEN}"),
        ("jobs/other.yaml", "kind: [\n"),
        ("jobs/other.yaml.j2", "{{ a"),
        ("jobs/other.yaml", job("other", "many")),
    ],
)
def test_what_is_broken_elsewhere_hides_no_verdict(facts_apart, trainform, file, text):
    (facts_apart / file).parent.mkdir(exist_ok=True)
    (facts_apart / file).write_text(text)
    ran = trainform("capacity")
    assert (ran.code, "ml/llm  default  fits" in ran.out) == (2, True)
    assert 'class="fits">fits<' in trainform("report").out


@pytest.mark.parametrize("file", ["environment.yaml", "facts.yaml", "more.yaml"])
def test_a_file_that_may_hold_facts_and_cannot_be_read_leaves_no_verdict(facts_apart, trainform, file):
    (facts_apart / "environments" / "default" / file).write_text("kind: [\n")
    ran = trainform("capacity")
    assert (ran.code, ran.out) == (2, "")


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: "",
        lambda text: "kind: [\n",
        lambda text: text.replace("replicatedJobs:", "replicatedJobs: 3\n  other:"),
        lambda text: text.replace('nvidia.com/gpu: "1"', "nvidia.com/gpu: many"),
        lambda text: text.replace("parallelism: 2", "parallelism: two"),
    ],
    ids=["empty", "no YAML", "a list that is none", "no quantity", "no number"],
)
def test_a_rendered_jobset_that_cannot_be_read_is_told_of(jobs, root, trainform, edit):
    write(jobs, llm=2, other=1)
    in_an_environment(root, "{}")
    assert trainform("render").code == 0
    file = root / "rendered/default/ml/llm/jobset-llm.yaml"
    text = file.read_text()
    file.write_text(edit(text))
    assert file.read_text() != text
    ran = trainform("capacity")
    assert ran.code == 0
    assert "ml/llm             unknown  its rendered JobSet is missing or not valid: run `trainform check`" in ran.out
    assert "ml/other  default  fits" in ran.out
    page = trainform("report").out
    assert 'class="missing">missing<' in page
    assert "its rendered JobSet is missing or not valid" in page


def test_a_frozen_job_is_judged_as_it_was_rendered(jobs, root, trainform):
    write(jobs, llm=2)
    in_an_environment(root, "{}")
    assert trainform("render").code == 0
    in_an_environment(root, "{scheduling: {kueue: {localQueue: another}}}")
    assert "ml/llm  default  fits" in trainform("capacity").out


def test_the_name_is_the_train_jobs(jobs, root, trainform):
    write(jobs, llm=2)
    in_an_environment(root, "{gitops: {naming: content-hash}}")
    assert "ml/llm  default  fits" in trainform("capacity").out

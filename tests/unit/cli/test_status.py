"""`trainform status`: what git says against what runs."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
import yaml

from support.api_server import Fault
from support.repositories import Repository, environment, job, runtime

QUEUE = "kueue.x-k8s.io/queue-name"
QUEUED = "  scheduling: {kueue: {localQueue: team}}\n"


@pytest.fixture
def repository(root: Path, trainform) -> Repository:
    return rendered_in_queue(root, trainform)


def rendered_in_queue(root: Path, trainform) -> Repository:
    """A repository with a rendered job in a queue."""
    found = Repository(root)
    found.write("environments/prod/environment.yaml", environment() + QUEUED)
    found.write("runtimes/torch.yaml", runtime())
    found.write("jobs/llm.yaml", job("llm"))
    assert trainform("render").code == 0
    return found


def rendered(repository: Repository, name: str = "llm") -> dict:
    tree: dict = yaml.safe_load((repository.root / f"rendered/prod/ml/{name}/jobset-{name}.yaml").read_text())
    return tree


def live(repository: Repository, *conditions: str, name: str = "llm", **spec) -> dict:
    """The JobSet as the cluster has it, admitted by Kueue."""
    tree = copy.deepcopy(rendered(repository, name))
    tree["spec"] |= {"suspend": False, **spec}
    pod = tree["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    pod["metadata"] = {"labels": {"kueue.x-k8s.io/podset": "node"}}
    pod["spec"] |= {"nodeSelector": {"pool": "h100"}, "tolerations": [{"operator": "Exists"}]}
    pod["spec"]["containers"][0].setdefault("resources", {})
    told = [{"type": each, "status": "True", "message": f"because of {each}"} for each in conditions]
    tree["status"] = {"conditions": told, "replicatedJobsStatus": [{"name": "node", "ready": 1, "active": 1}]}
    return tree


def workload(**status) -> dict:
    owner = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "llm", "uid": "1"}
    metadata = {"name": "jobset-llm-1a2b3", "namespace": "ml", "ownerReferences": [owner]}
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": metadata,
        "spec": {},
        "status": status,
    }


def jobs(ran) -> list[dict]:
    found: list[dict] = json.loads(ran.out)["jobs"]
    return found


def test_a_job_that_is_not_created(server, repository, trainform):
    ran = trainform("status")
    assert ran.code == 1
    assert ran.out == "JOB     STATE        REASON\nml/llm  not created\n\n1 job in prod: 1 not created\n"


def test_a_job_that_runs_is_as_in_git_whatever_kueue_wrote(server, repository, trainform):
    server.put(live(repository))
    ran = trainform("status")
    assert (ran.code, ran.err) == (0, "")
    assert "ml/llm  running  Jobs: 1 ready, 1 active" in ran.out
    assert ran.out.endswith("1 job in prod: 1 running\n")


NO_QUOTA = {"type": "QuotaReserved", "status": "False", "message": "insufficient unused quota for nvidia.com/gpu"}


@pytest.mark.parametrize(
    ("state", "reason", "spec", "conditions", "status"),
    [
        ("finished", "", {}, ["Completed"], {}),
        ("failed", "because of Failed", {}, ["Failed"], {}),
        ("queued", "Kueue has not seen it yet", {"suspend": True}, ["Suspended"], None),
        ("queued", "insufficient unused quota for nvidia.com/gpu", {"suspend": True}, [], {"conditions": [NO_QUOTA]}),
        (
            "queued", "waits for the admission check prov", {"suspend": True}, [],
            {"admissionChecks": [{"name": "prov", "state": "Pending"}, {"name": "other", "state": "Ready"}]},
        ),
    ],
)  # fmt: skip
def test_the_states_of_a_job(server, repository, trainform, state, reason, spec, conditions, status):
    server.put(live(repository, *conditions, **spec), *([] if status is None else [workload(**status)]))
    ran = trainform("status", "--format", "json")
    assert ran.code == (1 if state == "failed" else 0)
    (found,) = jobs(ran)
    assert (found["state"], found["reason"], found["drift"]) == (state, reason, [])


def test_a_job_without_a_queue_that_somebody_suspended(server, repository, trainform):
    repository.write("environments/prod/environment.yaml", environment())
    repository.write("jobs/llm.yaml", job("llm", nodes=3))
    trainform("render")
    tree = rendered(repository)
    server.put({**tree, "spec": {**tree["spec"], "suspend": True}})
    ran = trainform("status", "--format", "json")
    (found,) = jobs(ran)
    assert found["state"] == "suspended"


def test_a_job_that_drifted(server, repository, trainform):
    tree = live(repository)
    tree["spec"]["replicatedJobs"][0]["template"]["spec"]["parallelism"] = 7
    tree["metadata"]["labels"][QUEUE] = "other"
    server.put(tree)
    ran = trainform("status")
    assert ran.code == 1
    assert "ml/llm  running, drifted" in ran.out
    assert f'  metadata.labels.{QUEUE}: git has "team", the cluster "other"\n' in ran.out
    assert "  spec.replicatedJobs[node].template.spec.parallelism: git has 2, the cluster 7\n" in ran.out
    assert ran.out.endswith("1 job in prod: 1 running; 1 drifted\n")


def test_a_field_that_kueue_writes_is_drift_in_a_job_without_a_queue(server, repository, trainform):
    repository.write("environments/prod/environment.yaml", environment())
    repository.write("jobs/llm.yaml", job("llm") + "  suspend: true\n")
    trainform("render")
    tree = rendered(repository)
    server.put({**tree, "spec": {**tree["spec"], "suspend": False}})
    (found,) = jobs(trainform("status", "--format", "json"))
    assert found["drift"] == [{"field": "spec.suspend", "git": True, "live": False}]


def pod(name: str, code: int, finished: str, reason: str = "Error") -> dict:
    ended = {"exitCode": code, "reason": reason, "finishedAt": finished}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "ml", "labels": {"jobset.sigs.k8s.io/jobset-name": "llm"}},
        "status": {"containerStatuses": [{"name": "node", "state": {"terminated": ended}}]},
    }


def test_of_a_job_that_failed_the_first_pod_and_its_last_lines_are_told(server, repository, trainform):
    server.put(live(repository, "Failed"), pod("llm-b", 1, "2026-01-01T00:00:05Z"))
    server.put(pod("llm-a", 137, "2026-01-01T00:00:01Z", "OOMKilled"), pod("llm-c", 0, "2026-01-01T00:00:00Z"))
    server.logs["ml/llm-a"] = "".join(f"line {number}\n" for number in range(30)) + "\x1b[31mred\n"
    ran = trainform("status")
    assert ran.code == 1
    assert "  container node of pod llm-a ended with exit code 137 (OOMKilled)\n  | line 21\n" in ran.out
    assert "  | \\x1b[31mred\n" in ran.out
    asked = next(seen for seen in server.seen if seen.path.endswith("/log"))
    assert asked.query == {"container": "node", "tailLines": "10", "limitBytes": "16384"}


@pytest.mark.parametrize(
    ("marks", "orphaned"),
    [
        ({"annotations": {"argocd.argoproj.io/tracking-id": "prod-ml:jobset.x-k8s.io/JobSet:ml/old"}}, True),
        ({"annotations": {"argocd.argoproj.io/tracking-id": "other:jobset.x-k8s.io/JobSet:ml/old"}}, False),
        ({"labels": {"kustomize.toolkit.fluxcd.io/name": "prod.ml"}}, True),
        ({"labels": {"kustomize.toolkit.fluxcd.io/name": "prod.web"}}, False),
        ({}, True),
        ({"ownerReferences": [{"kind": "TrainJob", "name": "old"}]}, False),
    ],
)
def test_a_job_that_is_not_in_git_any_more(server, repository, trainform, marks, orphaned):
    tree = live(repository)
    server.put(tree, {**tree, "metadata": {"name": "old", "namespace": "ml", **marks}})
    found = {each["name"]: each["state"] for each in jobs(trainform("status", "--format", "json"))}
    assert found == {"llm": "running"} | ({"old": "orphaned"} if orphaned else {})


def test_what_another_environment_renders_is_no_orphan(server, repository, trainform):
    repository.write("environments/lab/environment.yaml", environment().replace("prod", "lab"))
    repository.write("jobs/more.yaml", job("more"))
    trainform("render")
    server.put(live(repository), live(repository, name="more"))
    text = environment().replace("spec:", "spec:\n  jobs: {paths: [jobs/llm.yaml]}")
    repository.write("environments/prod/environment.yaml", text)
    trainform("render")
    found = jobs(trainform("status", "--env", "prod", "--format", "json"))
    assert [each["name"] for each in found] == ["llm"]


def test_only_some_jobs(server, repository, trainform):
    repository.write("jobs/more.yaml", job("more"))
    trainform("render")
    server.put(live(repository))
    assert trainform("status", "llm").code == 0
    assert trainform("status", "ml/more").code == 1
    ran = trainform("status", "llmm")
    assert ran.code == 2
    assert 'no rendered job is named "llmm": did you mean "llm"' in ran.err


def test_rights_that_are_missing_leave_out_what_they_are_for(server, repository, trainform):
    server.put(live(repository, suspend=True))
    server.deny("workloads")
    ran = trainform("status")
    assert ran.code == 0
    rule = '{apiGroups: ["kueue.x-k8s.io"], resources: [workloads], verbs: [list]}'
    assert f"note: why jobs are queued is not known: a role needs {rule}\n" in ran.out
    server.deny("jobsets")
    ran = trainform("status")
    assert ran.code == 2
    assert 'a role needs {apiGroups: ["jobset.x-k8s.io"], resources: [jobsets], verbs: [list]}' in ran.err


def test_a_cluster_without_jobset(server, repository, trainform):
    server.kinds = [each for each in server.kinds if each[1] != "JobSet"]
    ran = trainform("status")
    assert ran.code == 2
    assert "JobSet is not installed in this cluster" in ran.err


def test_markdown_holds_no_markup_of_the_cluster(server, repository, trainform):
    tree = live(repository, "Failed")
    tree["status"]["conditions"][0]["message"] = "<img src=x> | **bold** @someone"
    server.put(tree)
    out = trainform("status", "--format", "markdown").out
    assert "| `ml/llm` | failed | &#60;img src=x&#62;" in out
    assert "<img" not in out
    assert "**bold**" not in out


def test_retire_reads_it(server, repository, trainform):
    server.put(live(repository, "Completed"))
    status = trainform("status", "--format", "json").out
    repository.write("status.json", status)
    found = json.loads(trainform("retire", "--finished", "status.json", "--dry-run", "--format", "json").out)
    assert [each["name"] for each in found["jobs"]] == ["llm"]
    ran = trainform("retire", "--finished", "lab=status.json")
    assert ran.code == 2


def test_report_shows_it(server, repository, trainform):
    server.put(live(repository, "Failed"))
    repository.write("status.json", trainform("status", "--format", "json").out)
    ran = trainform("report", "--live", "status.json")
    assert ran.code == 0
    assert '<th scope="col" data-filter="live">Cluster</th>' in ran.out
    assert '<td><span class="failed">failed</span></td>' in ran.out
    assert "cluster: because of Failed" in ran.out
    assert 'data-filter="live"' not in trainform("report").out


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "kind: StatusResult",
        "kind: StatusResult\nenvironment: lab",
        "[",
        '{"kind": "StatusResult", "jobs": [{"state": 3}]}',
    ],
)
def test_a_file_that_is_no_status(server, repository, trainform, text):
    repository.write("status.json", text)
    ran = trainform("report", "--live", "status.json")
    assert ran.code == 2
    assert "--live" in ran.err


def test_roles_are_printed(repository, trainform):
    ran = trainform("status", "--rbac")
    rules = next(yaml.safe_load_all(ran.out))["rules"]
    assert {"apiGroups": ["jobset.x-k8s.io"], "resources": ["jobsets"], "verbs": ["list"]} in rules


def test_who_may_not_list_all_namespaces_is_asked_about_those_of_git(server, repository, trainform):
    server.put(live(repository), {**live(repository), "metadata": {"name": "old", "namespace": "other"}})
    message = 'jobsets is forbidden: User "ci" cannot list resource "jobsets" in API group "x" at the cluster scope'
    server.fail("/apis/jobset.x-k8s.io/v1alpha2/jobsets", Fault(403, message))
    ran = trainform("status")
    assert ran.code == 0
    assert "1 job in prod: 1 running" in ran.out
    assert "note: orphans are looked for only in the namespaces of git: listing all is not allowed\n" in ran.out


def test_a_workload_that_was_deactivated(server, repository, trainform):
    server.put(live(repository, suspend=True), {**workload(), "spec": {"active": False}})
    (found,) = jobs(trainform("status", "--format", "json"))
    assert found["reason"].startswith("deactivated: ")


@pytest.mark.parametrize(
    ("denied", "note"),
    [
        ("pods", 'which pods failed is not known: a role needs {apiGroups: [""], resources: [pods], verbs: [list]}'),
        ("pods/log", 'logs cannot be read: a role needs {apiGroups: [""], resources: [pods/log], verbs: [get]}'),
    ],
)
def test_how_a_job_failed_is_told_as_far_as_rights_go(server, repository, trainform, denied, note):
    server.put(live(repository, "Failed"), pod("llm-a", 1, "2026-01-01T00:00:01Z"))
    server.deny(denied)
    ran = trainform("status")
    assert ran.code == 1
    assert f"note: {note}\n" in ran.out
    assert ("container node of pod llm-a ended with exit code 1" in ran.out) == (denied == "pods/log")


def test_a_log_that_is_gone_leaves_the_rest(server, repository, trainform):
    server.put(live(repository, "Failed"), pod("llm-a", 1, "2026-01-01T00:00:01Z"))
    server.fail("/api/v1/namespaces/ml/pods/llm-a/log", Fault(400, "container is gone"))
    assert "  container node of pod llm-a ended with exit code 1 (Error)\n" in trainform("status").out


def test_a_job_whose_manifest_is_gone_is_told(server, repository, trainform):
    (repository.root / "rendered/prod/ml/llm/jobset-llm.yaml").unlink()
    ran = trainform("status")
    assert ran.code == 1
    assert "note: ml/llm: its rendered JobSet is missing or not valid: run `trainform check`\n" in ran.out


def test_a_job_that_is_being_deleted(server, repository, trainform):
    tree = live(repository)
    server.put({**tree, "metadata": {**tree["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}})
    (found,) = jobs(trainform("status", "--format", "json"))
    assert (found["state"], found["reason"]) == ("running", "is being deleted")


def test_many_fields_that_drifted_are_counted(server, repository, trainform):
    tree = live(repository)
    tree["metadata"]["labels"] = {}
    container = tree["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"][0]
    container["env"] = [{"name": each["name"], "value": "x" * 200} for each in container["env"]]
    container["ports"] = []
    tree["spec"] |= {"network": {}, "successPolicy": {}, "startupPolicy": {}}
    server.put(tree)
    assert "  and 1 more field\n" in trainform("status").out


def test_an_environment_without_jobs(server, repository, trainform):
    repository.write("environments/lab/environment.yaml", environment().replace("prod", "lab"))
    ran = trainform("status", "--env", "lab")
    assert (ran.code, ran.out) == (0, "0 jobs in lab\n")

"""What a TrainJob has no place for is told, with code, field and line: nothing is dropped silently."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import pytest
import yaml

from support.migration import codes, jobset, migrated, rendered, train_job
from trainform.installed import given_by


def pytorch(spec: str = "", worker: str = "", pod: str = "", metadata: str = "name: llm") -> str:
    """A PyTorchJob with further fields."""
    return dedent(
        f"""\
        apiVersion: kubeflow.org/v1
        kind: PyTorchJob
        metadata: {{{metadata}}}
        spec:
          pytorchReplicaSpecs:
            Worker:
              replicas: 2
              template:
                spec:
                  containers: [{{name: pytorch, image: "example/train:1", command: [torchrun, train.py]}}]
        """
    ) + "".join(
        f"{' ' * indent}{line}\n"
        for indent, text in ((10, pod), (6, worker), (2, spec))
        for line in dedent(text).splitlines()
        if line
    )


def mpijob(spec: str) -> str:
    return dedent(
        f"""\
        apiVersion: kubeflow.org/v2beta1
        kind: MPIJob
        metadata: {{name: pi}}
        spec:
          {spec}
          mpiReplicaSpecs:
            Launcher:
              template: {{spec: {{containers: [{{name: mpi, image: "example/pi:1", command: [mpirun, pi]}}]}}}}
            Worker:
              replicas: 2
              template: {{spec: {{containers: [{{name: mpi, image: "example/pi:1"}}]}}}}
        """
    )


QUEUED = "runPolicy: {schedulingPolicy: {queue: a}}"
WORKER = "spec.pytorchReplicaSpecs.Worker"
CONTAINERS = f"{WORKER}.template.spec.containers"


@pytest.mark.parametrize(
    ("text", "code", "field", "line"),
    [
        (pytorch("elasticPolicy: {minReplicas: 1}"), "TF852", "spec.elasticPolicy.minReplicas", 11),
        (pytorch("elasticPolicy: {maxReplicas: 9}"), "TF852", "spec.elasticPolicy.maxReplicas", 11),
        (pytorch("elasticPolicy: {metrics: [{type: Pods}]}"), "TF852", "spec.elasticPolicy.metrics", 11),
        (pytorch("elasticPolicy: {rdzvBackend: etcd}"), "TF864", "spec.elasticPolicy.rdzvBackend", 11),
        (pytorch("elasticPolicy: {rdzvEndpoint: x}"), "TF862", "spec.elasticPolicy.rdzvEndpoint", 11),
        (pytorch("nprocPerNode: cpu"), "TF853", "spec.nprocPerNode", 11),
        (pytorch(worker="restartPolicy: Always"), "TF854", f"{WORKER}.restartPolicy", 11),
        (
            pytorch(pod="restartPolicy: Never"),
            "TF854",
            f"{WORKER}.template.spec.restartPolicy",
            11,
        ),
        (pytorch("runPolicy: {cleanPodPolicy: None}"), "TF855", "spec.runPolicy.cleanPodPolicy", 11),
        (pytorch("runPolicy: {cleanPodPolicy: All}"), "TF855", "spec.runPolicy.cleanPodPolicy", 11),
        (pytorch("cleanPodPolicy: All"), "TF855", "spec.cleanPodPolicy", 11),
        (pytorch("runPolicy: {ttlSecondsAfterFinished: 9}"), "TF855", "spec.runPolicy.ttlSecondsAfterFinished", 11),
        (
            pytorch("runPolicy: {schedulingPolicy: {minAvailable: 1}}"),
            "TF858",
            "spec.runPolicy.schedulingPolicy.minAvailable",
            11,
        ),
        (
            pytorch("runPolicy: {schedulingPolicy: {minAvailable: 2}}"),
            "TF858",
            "spec.runPolicy.schedulingPolicy.minAvailable",
            11,
        ),
        (
            pytorch("runPolicy: {schedulingPolicy: {minResources: {cpu: 1}}}"),
            "TF858",
            "spec.runPolicy.schedulingPolicy.minResources",
            11,
        ),
        (
            pytorch("runPolicy: {schedulingPolicy: {queue: a, scheduleTimeoutSeconds: 1}}"),
            "TF858",
            "spec.runPolicy.schedulingPolicy.scheduleTimeoutSeconds",
            11,
        ),
        (pytorch("runPolicy: {managedBy: example.com/me}"), "TF862", "spec.runPolicy.managedBy", 11),
        (pytorch("runPolicy: {backoff: 3}"), "TF862", "spec.runPolicy.backoff", 11),
        (pytorch("replicas: 3"), "TF862", "spec.replicas", 11),
        (pytorch(worker="resources: {}"), "TF862", f"{WORKER}.resources", 11),
        (pytorch(metadata="generateName: llm-"), "TF863", "metadata.generateName", 3),
        (pytorch(metadata="name: llm, uid: abc"), "TF107", "metadata.uid", 3),
        (mpijob("mpiImplementation: Intel"), "TF856", "spec.mpiImplementation", 5),
        (
            mpijob(f"launcherCreationPolicy: WaitForWorkersReady\n{' ' * 10}{QUEUED}"),
            "TF858",
            "spec.launcherCreationPolicy",
            5,
        ),
    ],
)
def test_what_is_lost_or_changed_is_told(text: str, code: str, field: str, line: int):
    found = migrated(text)
    assert (code, field, line) in codes(found)
    rendered(found)


@pytest.mark.parametrize(
    ("text", "field"),
    [
        (pytorch().replace("Worker", "Slave"), "spec.pytorchReplicaSpecs.Slave"),
        (pytorch().replace("replicas: 2", "replicas: 0"), "spec"),
        (pytorch().replace("replicas: 2", "replicas: 2000000000"), "spec.pytorchReplicaSpecs"),
        (pytorch().replace("replicas: 2", "replicas: '2'"), f"{WORKER}.replicas"),
        (pytorch("runPolicy: {backoffLimit: '3'}"), "spec.runPolicy.backoffLimit"),
        (pytorch().replace("containers:", "container:"), WORKER),
        (
            pytorch().replace("containers: [", "containers: [{name: node}, "),
            f"{WORKER}.template.spec.containers[0].name",
        ),
        (pytorch(metadata=""), "metadata"),
        (pytorch(metadata="name: ../../etc/passwd"), "metadata.name"),
        (pytorch(metadata="name: llm, namespace: ../.."), "metadata.namespace"),
        (mpijob("").replace("Launcher", "Starter"), "spec.mpiReplicaSpecs.Starter"),
        ("apiVersion: kubeflow.org/v1\nkind: TFJob\nmetadata: {name: a}\nspec: 3\n", "spec"),
    ],
)
def test_what_cannot_be_migrated_is_an_error_and_no_file(text: str, field: str):
    found = migrated(text)
    assert [(each.code, each.severity) for each in found.diagnostics] == [("TF850", "error")] * len(found.diagnostics)
    assert field in {each[1] for each in codes(found)}
    assert found.jobs == []


def test_a_policy_that_a_train_job_has_is_carried():
    text = pytorch("runPolicy: {suspend: true, activeDeadlineSeconds: 60, managedBy: kueue.x-k8s.io/multikueue}")
    found = migrated(text)
    spec = train_job(found)["spec"]
    assert found.diagnostics == []
    assert {key: spec[key] for key in ("suspend", "activeDeadlineSeconds", "managedBy")} == {
        "suspend": True,
        "activeDeadlineSeconds": 60,
        "managedBy": "kueue.x-k8s.io/multikueue",
    }


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ("queue: research", {"volcano": {}}),
        ("scheduleTimeoutSeconds: 30", {"coscheduling": {"scheduleTimeoutSeconds": 30}}),
        ("priorityClass: high", None),
    ],
)
def test_a_gang_is_that_of_the_only_scheduler_that_has_the_setting(policy: str, expected: object):
    found = migrated(pytorch(f"runPolicy: {{schedulingPolicy: {{{policy}}}}}"))
    assert yaml.safe_load(found.runtimes[0].text)["spec"].get("podGroupPolicy") == expected
    rendered(found)


def test_volcano_schedules_the_pods_of_its_gang():
    """The operator wrote the scheduler's name into pods that had none."""
    found = migrated(pytorch("runPolicy: {schedulingPolicy: {queue: research}}"))
    pods = [job["template"]["spec"]["template"]["spec"] for job in jobset(found)["spec"]["replicatedJobs"]]
    assert [pod["schedulerName"] for pod in pods] == ["volcano"]


def test_the_queue_and_the_priority_class_of_a_gang_arrive():
    found = migrated(pytorch("runPolicy: {schedulingPolicy: {queue: research, priorityClass: high}}"))
    (job,) = rendered(found)
    group = next(each for each in job["objects"] if each["kind"] == "PodGroup")
    assert (group["spec"]["queue"], group["spec"]["priorityClassName"]) == ("research", "high")


@pytest.mark.parametrize("name", given_by("torch").names)
def test_variables_that_the_trainer_sets_are_left_out_and_told(name: str):
    text = pytorch().replace("command:", f"env: [{{name: {name}, value: '9'}}], command:")
    found = migrated(text)
    path = f"{CONTAINERS}[0].env[0]"
    assert ("TF860", path, 10) in codes(found)
    rendered(found)


@pytest.mark.parametrize(
    ("env", "lost", "kept"),
    [
        ("[{name: MASTER_ADDR, value: other}, {name: A, value: x}]", 0, {"A": "x", "MASTER_ADDR": "llm-node-0-0.llm"}),
        ("[{name: A, value: x}, {name: WORLD_SIZE, value: '9'}]", 1, {"A": "x", "WORLD_SIZE": "1"}),
        ("[{name: A, value: x}, {name: B, value: b}, {name: A, value: z}]", 0, {"B": "b", "A": "z"}),
    ],
)
def test_a_variable_that_another_of_its_name_overrode_is_told(env: str, lost: int, kept: dict[str, str]):
    old = pytorch().replace("Worker:", "Master:").replace("replicas: 2", "replicas: 1").replace("torchrun", "python")
    found = migrated(old.replace("command:", f"env: {env}, command:"))
    assert codes(found) == [("TF860", f"{CONTAINERS.replace('Worker', 'Master')}[0].env[{lost}]", 10)]
    variables = {each["name"]: each.get("value") for each in train_job(found)["spec"]["trainer"]["env"]}
    assert [(name, variables[name]) for name in variables if name in kept] == [*kept.items()]
    rendered(found)


def test_a_variable_with_the_operator_s_own_value_is_not_worth_telling():
    """An old job that was read from a cluster may have what the operator wrote into it."""
    found = migrated(pytorch().replace("command:", "env: [{name: PYTHONUNBUFFERED, value: '1'}], command:"))
    assert codes(found) == []


def test_without_settings_of_its_own_a_job_needs_no_runtime():
    found = migrated(pytorch())
    assert found.runtimes == []
    assert found.diagnostics == []
    assert train_job(found)["spec"]["runtimeRef"] == {"name": "torch-distributed"}


def test_jobs_that_share_their_infrastructure_share_one_runtime():
    pod = "nodeSelector: {gpu: h100}"
    texts = [
        pytorch(pod=pod),
        pytorch(pod=pod, metadata="name: other, namespace: elsewhere").replace("example/train:1", "example/other:2"),
        pytorch(pod="nodeSelector: {gpu: a100}", metadata="name: third"),
    ]
    found = migrated("---\n".join(texts))
    assert len(found.runtimes) == 2
    first, second, third = rendered(found)
    selectors = [_pod(each)["nodeSelector"]["gpu"] for each in (first, second, third)]
    assert selectors == ["h100", "h100", "a100"]


def test_a_runtime_is_called_after_its_content():
    pod = "nodeSelector: {gpu: h100}"
    alone = migrated(pytorch(pod=pod))
    beside = migrated("---\n".join([pytorch(metadata="name: a"), pytorch(pod=pod, metadata="name: z")]))
    assert [each.name for each in alone.runtimes] == [each.name for each in beside.runtimes]


def _pod(job: dict[str, Any]) -> dict[str, Any]:
    tree = next(each for each in job["objects"] if each["kind"] == "JobSet")
    pod: dict[str, Any] = tree["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    return pod


CONFIG_MAP = """\
# What it reads.
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {a: b}  # tuned
"""
SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: board}\n"


def test_comments_above_a_job_and_a_config_map_beside_it_come_along():
    old = "# Trains.\n" + pytorch(pod="volumes: [{name: a, configMap: {name: settings}}]")
    found = migrated("---\n".join([old, CONFIG_MAP, SERVICE]))
    (file,) = found.jobs
    assert file.text.startswith("# Trains.\napiVersion: trainer")
    assert file.text.endswith(f"---\n{CONFIG_MAP}")
    assert [each[0] for each in codes(found)] == ["TF861"]
    assert any(each["kind"] == "ConfigMap" for each in rendered(found)[0]["objects"])


@pytest.mark.parametrize(("job_namespace", "goes_along"), [("ml", True), ("other", False), ("", False)])
def test_a_config_map_of_another_namespace_is_none_of_the_pods(job_namespace: str, goes_along: bool):
    metadata = f"name: llm, namespace: {job_namespace}" if job_namespace else "name: llm"
    old = pytorch(metadata=metadata, pod="volumes: [{name: a, configMap: {name: settings}}]")
    found = migrated(f"{old}---\n{CONFIG_MAP.replace('name: settings', 'name: settings, namespace: ml')}")
    assert ("kind: ConfigMap" in found.jobs[0].text) == goes_along
    told = [each.message for each in found.diagnostics]
    why = f"it is in namespace ml, and the job that names it in {job_namespace or 'none'}"
    assert told == ([] if goes_along else [f"ConfigMap/settings is left where it is: {why}"])


def test_a_config_map_of_a_job_for_multikueue_is_left_and_told_why():
    old = pytorch(
        "runPolicy: {managedBy: kueue.x-k8s.io/multikueue}", pod="volumes: [{name: a, configMap: {name: settings}}]"
    )
    (told,) = migrated(f"{old}---\n{CONFIG_MAP}").diagnostics
    assert told.message.endswith(
        "is left where it is: MultiKueue copies nothing but the JobSet of the job that names it"
    )


@pytest.mark.parametrize("file", ["base/kustomization.yaml", "any.yaml"])
def test_what_kustomize_would_change_is_told(file: str):
    head = "" if file.startswith("base") else "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
    (told,) = migrated(f"{head}namespace: prod\nresources: [job.yaml]\n", file).diagnostics
    assert (told.code, told.severity) == ("TF865", "warning")
    assert "kustomize build" in told.hint


def test_a_document_without_a_kind_is_told_without_a_name():
    (told,) = migrated("image: example/train:1\n", "values.yaml").diagnostics
    assert told.message == "this document is left where it is: it is no job"


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        ("apiVersion: kubeflow.org/v1\nkind: MXJob", "MXJob (kubeflow.org)"),
        ("apiVersion: batch/v1\nkind: CronJob", "CronJob (batch)"),
    ],
)
def test_a_job_of_another_kind_is_a_warning(head: str, kind: str):
    """It is told as a job: who moves in would else believe that it was done."""
    found = migrated(f"{pytorch()}---\n{head}\nmetadata: {{name: other}}\n")
    (left,) = (each for each in found.diagnostics if each.code == "TF861")
    assert left.severity == "warning"
    assert left.message.endswith(f"/other is left where it is: no job of the kind {kind} is migrated")
    assert left.hint.startswith("those that are: PyTorchJob, ")


def test_a_sidecar_that_reads_its_rank_gets_it():
    text = pytorch().replace("Worker", "Master").replace("replicas: 2", "replicas: 1").replace("torchrun", "python")
    sidecar = '{name: log, image: "example/log:1", args: [--rank=$(RANK)]}, {name: idle, image: "example/idle:1"}, '
    tree = jobset(migrated(text.replace("[{name: pytorch", f"[{sidecar}{{name: pytorch")))
    log, idle, _ = tree["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"]
    assert "RANK" in [each["name"] for each in log["env"]]
    assert "env" not in idle


@pytest.mark.parametrize("words", [129, 128])
def test_a_command_that_is_too_long_for_a_train_job_is_the_runtimes(words: int):
    command = [*["torchrun"] * (words - 1), "train.py"]
    found = migrated(pytorch().replace("[torchrun, train.py]", str(command)))
    container = jobset(found)["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"][0]
    assert container["command"] == command
    assert ("command" in train_job(found)["spec"]["trainer"]) == (words <= 128)


def test_roles_whose_ports_alone_differ_are_alike():
    text = pytorch().replace(
        "pytorchReplicaSpecs:",
        "pytorchReplicaSpecs:\n    Master: {template: {spec: {containers: "
        "[{name: pytorch, image: 'example/train:1', command: [torchrun, train.py], ports: [{containerPort: 1}]}]}}}",
    )
    found = migrated(text)
    assert train_job(found)["spec"]["trainer"]["numNodes"] == 3
    assert codes(found) == []


def test_items_of_a_list_are_migrated():
    items = [yaml.safe_load(pytorch(metadata=f"name: {name}")) for name in ("a", "b")]
    found = migrated(yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": items}))
    assert [each.name for each in found.jobs] == ["a", "b"]
    assert len(rendered(found)) == 2


@pytest.mark.parametrize("text", ["{{ .Values.image }}", "${trialParameters.image}"])
def test_placeholders_of_other_tools_are_told(text: str):
    found = migrated(pytorch().replace("example/train:1", text))
    assert [(each[0], each[2]) for each in codes(found)] == [("TF865", 10)]


def test_host_names_of_the_operators_services_are_those_of_the_jobset():
    text = pytorch().replace("Worker", "Master").replace("replicas: 2", "replicas: 1")
    text = text.replace("train.py", '"--store=llm-master-0.ml.svc:1", llm-master-0x, llm-worker-3')
    found = migrated(text)
    container = jobset(found)["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"][0]
    assert container["command"][1:] == ["--store=llm-node-0-0.llm.ml.svc:1", "llm-master-0x", "llm-worker-3"]
    assert [each[0] for each in codes(found)] == ["TF859"]


def test_a_broken_document_does_not_hide_the_others():
    found = migrated("a: [\n---\n" + pytorch())
    assert [each[0] for each in codes(found)] == ["TF001"]
    assert [each.name for each in found.jobs] == ["llm"]


SPREAD = """\
topologySpreadConstraints:
- {maxSkew: 1, topologyKey: rack, whenUnsatisfiable: DoNotSchedule, labelSelector: %s}
"""
NAMED = "{matchLabels: {training.kubeflow.org/job-name: llm, app: a}}"
SELECTED = "spec.pytorchReplicaSpecs.Worker.template.spec.topologySpreadConstraints[0].labelSelector"


def test_a_selector_of_the_jobs_name_is_jobsets_now():
    found = migrated(pytorch(pod=SPREAD % NAMED))
    assert ("TF868", f"{SELECTED}.matchLabels.training.kubeflow.org/job-name", 12) in codes(found)
    pod = jobset(found)["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    selector = pod["topologySpreadConstraints"][0]["labelSelector"]
    assert selector == {"matchLabels": {"jobset.sigs.k8s.io/jobset-name": "llm", "app": "a"}}


@pytest.mark.parametrize(
    ("selector", "field"),
    [
        ("{matchLabels: {training.kubeflow.org/job-role: master}}", "matchLabels.training.kubeflow.org/job-role"),
        (
            "{matchExpressions: [{key: training.kubeflow.org/replica-type, operator: Exists}]}",
            "matchExpressions[0].key",
        ),
    ],
)
def test_a_selector_of_a_label_that_no_pod_has_any_more_is_a_warning(selector, field):
    found = migrated(pytorch(pod=SPREAD % selector))
    assert [(each.code, each.severity) for each in found.diagnostics] == [("TF868", "warning")]
    assert codes(found)[0][1] == f"{SELECTED}.{field}"


def test_a_field_of_the_jobs_name_is_jobsets_now():
    env = "{name: JOB, valueFrom: {fieldRef: {fieldPath: \"metadata.labels['training.kubeflow.org/job-name']\"}}}"
    found = migrated(pytorch().replace("{name: pytorch,", f"{{name: pytorch, env: [{env}],"))
    field = train_job(found)["spec"]["trainer"]["env"][0]["valueFrom"]["fieldRef"]["fieldPath"]
    assert field == "metadata.labels['jobset.sigs.k8s.io/jobset-name']"


def test_empty_fields_that_a_client_wrote_do_not_make_a_runtime_of_its_own():
    written = "{name: pytorch, resources: {}, securityContext: {}, ports: [],"
    found = migrated(pytorch(pod="securityContext: {}").replace("{name: pytorch,", written))
    assert found.runtimes == []
    assert train_job(found)["spec"]["runtimeRef"] == {"name": "torch-distributed"}


@pytest.mark.parametrize(
    ("policy", "rules"), [("", [{"succeededIndexes": "0"}]), ("successPolicy: AllWorkers", None)], ids=["first", "all"]
)
def test_workers_without_a_chief_are_done_when_the_first_is_or_all_are(policy, rules):
    text = (
        pytorch(policy)
        .replace("PyTorchJob", "TFJob")
        .replace("pytorch", "tf")
        .replace("name: tf,", "name: tensorflow,")
    )
    job = jobset(migrated(text))["spec"]["replicatedJobs"][0]["template"]["spec"]
    assert job.get("successPolicy", {}).get("rules") == rules
    assert job["completions"] == 2

"""The bootstrap for Argo CD."""

from __future__ import annotations

import copy
from typing import Any

import jq
import pytest
import yaml

from support.kustomize import build, needs_kubectl, write
from trainform.output import argocd
from trainform.review.diff.update_rules import FREE_WHILE_SUSPENDED

HEALTH = {kind: f'-- {kind}\nreturn {{ status = "Healthy", message = "" }}\n' for kind in argocd.HEALTH_KINDS}
FILES = argocd.files("prod", HEALTH)
APPLICATION = argocd.application_set("prod")["spec"]["template"]["spec"]


QUEUED = {"kueue.x-k8s.io/queue-name": "team-a"}


def jobset(labels: dict[str, str] | None = None, **pod_template: Any) -> dict[str, Any]:
    jobs = [
        {"name": name, "replicas": 1, "template": {"spec": {"parallelism": 2, "template": copy.deepcopy(pod_template)}}}
        for name in ("launcher", "node")
    ]
    metadata = {"name": "llm", **({"labels": labels} if labels else {})}
    return {"kind": "JobSet", "metadata": metadata, "spec": {"replicatedJobs": jobs}}


def admitted(tree: dict[str, Any]) -> dict[str, Any]:
    """A JobSet as Kueue leaves it when it admits it."""
    tree = copy.deepcopy(tree)
    tree["spec"]["suspend"] = False
    for job in tree["spec"]["replicatedJobs"]:
        template = job["template"]["spec"]["template"]
        metadata = template.setdefault("metadata", {})
        metadata.setdefault("labels", {})["kueue.x-k8s.io/podset"] = job["name"]
        metadata.setdefault("annotations", {})["kueue.x-k8s.io/workload"] = "jobset-llm-1a2b3"
        template["spec"].setdefault("nodeSelector", {})["pool"] = "h100"
        template["spec"].setdefault("tolerations", []).append({"key": "gpu", "operator": "Exists"})
        template["spec"].setdefault("schedulingGates", []).append({"name": "kueue.x-k8s.io/topology"})
    return tree


def compared(tree: dict[str, Any]) -> dict[str, Any]:
    """What Argo CD compares: it deletes each ignored path, one after the other."""
    for path in argocd.IGNORED:
        tree = jq.compile(f"del({path})").input_value(tree).first()
    return tree


@pytest.mark.parametrize(
    "tree",
    [
        jobset(QUEUED, spec={"containers": [{"name": "node"}]}),
        jobset(QUEUED, metadata={"labels": {"team": "nlp"}}, spec={"containers": [], "nodeSelector": {"gpu": "h100"}}),
        jobset(QUEUED, metadata={"annotations": {"a": "b"}}, spec={"tolerations": [{"key": "spot"}], "containers": []}),
    ],
    ids=["bare", "labels", "annotations"],
)
def test_what_kueue_changes_is_no_drift(tree):
    assert compared(admitted(tree)) == compared(tree)


@pytest.mark.parametrize(
    "pod_template",
    [
        {"metadata": {"labels": {"team": "nlp"}}, "spec": {}},
        {"metadata": {"annotations": {"a": "b"}}, "spec": {}},
        {"spec": {"nodeSelector": {"zone": "a"}}},
        {"spec": {"tolerations": [{"operator": "Exists"}]}},
        {"spec": {"schedulingGates": [{"name": "example.com/gate"}]}},
    ],
)
@pytest.mark.parametrize("labels", [None, {"team": "nlp"}])
def test_without_a_queue_git_decides(labels, pod_template):
    changed, before = jobset(labels, **pod_template), jobset(labels, spec={})
    assert compared(changed) == changed != compared(before) == before


def test_without_a_queue_a_job_is_resumed_from_git():
    suspended = jobset(spec={})
    suspended["spec"]["suspend"] = True
    assert compared(suspended) != compared(jobset(spec={}))


def test_the_fields_of_kueue_are_those_that_diff_knows():
    paths = [path.removeprefix(argocd.QUEUED) for path in argocd.KUEUE_CHANGES[:-1]]
    pods = ".spec.replicatedJobs[]?.template.spec.template"
    assert paths == [".spec.suspend", *(f"{pods}.{'.'.join(map(str, field))}" for field in FREE_WHILE_SUSPENDED)]


CHILDREN = [
    ("batch", "Job"),
    ("", "Pod"),
    ("", "Service"),
    ("", "PersistentVolumeClaim"),
    ("kueue.x-k8s.io", "Workload"),
]


@pytest.mark.parametrize(("group", "kind"), CHILDREN)
def test_argo_cd_shows_what_belongs_to_a_job(group, kind):
    assert {"group": group, "kind": kind} in argocd.project()["spec"]["namespaceResourceWhitelist"]


def test_every_kind_with_a_health_check_is_shown():
    shown = {f"{each['group']}_{each['kind']}" for each in argocd.project()["spec"]["namespaceResourceWhitelist"]}
    assert shown.issuperset(argocd.HEALTH_KINDS)


def test_any_other_change_is_drift():
    changed = jobset(spec={"containers": [{"name": "node", "image": "other"}]})
    assert compared(changed) != compared(jobset(spec={"containers": [{"name": "node"}]}))


def test_ignored_fields_are_left_alone_when_syncing_too():
    assert "RespectIgnoreDifferences=true" in APPLICATION["syncPolicy"]["syncOptions"]


def test_nothing_is_forced_or_replaced():
    text = "".join(FILES.values())
    assert "Force=" not in text
    assert "Replace=" not in text


def test_nobody_deletes_jobs_by_deleting_applications():
    policy = argocd.application_set("prod")["spec"]["syncPolicy"]
    assert policy == {"applicationsSync": "create-update", "preserveResourcesOnDeletion": True}


def test_the_last_job_of_a_namespace_is_pruned():
    assert APPLICATION["syncPolicy"]["automated"] == {"prune": True, "selfHeal": True, "allowEmpty": True}


def test_plain_folders_are_read_without_kustomize():
    directory = APPLICATION["source"]["directory"]
    assert directory == {"recurse": True, "exclude": "{kustomization.yaml,*/kustomization.yaml}"}


def test_one_application_for_each_namespace_of_the_environment():
    spec = argocd.application_set("eu")["spec"]
    assert spec["generators"][0]["git"]["directories"] == [{"path": "rendered/eu/*"}]
    assert spec["template"]["metadata"]["name"] == "eu-{{ .path.basename }}"
    assert spec["template"]["spec"]["destination"]["namespace"] == "{{ .path.basename }}"


def test_an_environment_may_be_called_as_a_file_of_the_bootstrap():
    assert len(argocd.files("project", HEALTH)) == len(FILES) == 4


@pytest.mark.parametrize("name", FILES)
def test_every_file_is_yaml(name):
    assert yaml.safe_load(FILES[name])["kind"]


def test_the_scripts_arrive_as_they_are():
    data = yaml.safe_load(FILES["argocd-cm.yaml"])["data"]
    assert data == {f"resource.customizations.health.{kind}": text for kind, text in HEALTH.items()}


@needs_kubectl
def test_kustomize_builds_the_folder(tmp_path):
    kinds = [tree["kind"] for tree in build(write(tmp_path / "argocd", FILES))]
    assert sorted(kinds) == ["AppProject", "ApplicationSet"]


@needs_kubectl
def test_the_config_map_patches_that_of_argo_cd(tmp_path):
    theirs = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: argocd-cm, namespace: argocd}\ndata: {url: theirs}\n"
    kustomization = "resources: [theirs.yaml]\npatches: [{path: argocd-cm.yaml}]\n"
    texts = {"theirs.yaml": theirs, "kustomization.yaml": kustomization, "argocd-cm.yaml": FILES["argocd-cm.yaml"]}
    (merged,) = build(write(tmp_path, texts))
    assert merged["data"]["url"] == "theirs"
    assert len(merged["data"]) == 1 + len(argocd.HEALTH_KINDS)

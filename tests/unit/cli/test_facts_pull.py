"""`trainform facts pull`: a live cluster becomes files that the loader reads, and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from support.api_server import ApiServer, Fault, api_server
from support.repositories import Repository, environment, job, runtime
from trainform.cluster import client as cluster_client

KUEUE = "kueue.x-k8s.io/v1beta2"
GROUP = {
    "coveredResources": ["nvidia.com/gpu"],
    "flavors": [{"name": "h100", "resources": [{"name": "nvidia.com/gpu", "nominalQuota": "16"}]}],
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(cluster_client, "FIRST_PAUSE", 0.0)
    with api_server() as running:
        monkeypatch.setenv("KUBECONFIG", str(running.kubeconfig(tmp_path_factory.mktemp("home") / "config")))
        yield running


@pytest.fixture
def repository(root: Path) -> Repository:
    found = Repository(root)
    found.write("environments/prod/environment.yaml", environment())
    found.write("runtimes/torch.yaml", runtime())
    found.write("jobs/llm.yaml", job("llm"))
    return found


def node(name: str, memory: str = "1056270340Ki", **labels: str) -> dict:
    return {
        "apiVersion": "v1", "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": name, "pool": "h100", "serial": f"s-{name}", **labels},
            "annotations": {"node.alpha.kubernetes.io/ttl": "0"},
        },
        "spec": {"podCIDR": "10.0.0.0/24", "providerID": name,
                 "taints": [{"key": "gpu", "effect": "NoSchedule", "timeAdded": "2026-01-01T00:00:00Z"}]},
        "status": {"allocatable": {"cpu": "95", "memory": memory, "nvidia.com/gpu": "8", "hugepages-1Gi": "0"},
                   "conditions": [{"type": "Ready", "status": "True"}], "images": [{"names": ["a"]}]},
    }  # fmt: skip


CLUSTER = """\
apiVersion: v1
kind: Namespace
metadata: {name: ml, labels: {team: a, kubernetes.io/metadata.name: ml}}
spec: {finalizers: [kubernetes]}
status: {phase: Active}
---
apiVersion: v1
kind: Namespace
metadata: {name: kube-system}
---
apiVersion: v1
kind: Namespace
metadata: {name: gone, deletionTimestamp: "2026-01-01T00:00:00Z"}
---
apiVersion: v1
kind: LimitRange
metadata: {name: limits, namespace: ml}
spec: {limits: [{type: Container, default: {cpu: "1"}}]}
---
apiVersion: v1
kind: LimitRange
metadata: {name: limits, namespace: kube-system}
spec: {limits: []}
---
apiVersion: v1
kind: Secret
metadata: {name: top-secret, namespace: ml}
data: {a: c2VjcmV0}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high, annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}"}}
value: 1000
description: first
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: example.com/disk
parameters: {secretName: s}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: h100}
spec: {nodeLabels: {pool: h100}, topologyName: racks}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata: {name: racks}
spec: {levels: [{nodeLabel: rack}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: gpu, generation: 4}
spec:
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors: [{name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: "16"}]}]
  namespaceSelector: {}
status: {pendingWorkloads: 3}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: team, namespace: ml}
spec: {clusterQueue: gpu}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: kueue-manager-config, namespace: kueue-system}
data:
  controller_manager_config.yaml: |
    apiVersion: config.kueue.x-k8s.io/v1beta2
    kind: Configuration
    health: {port: 1}
    manageJobsWithoutQueueName: true
"""
"""Something of everything, and what must not be read."""


def cluster(server: ApiServer) -> None:
    server.put(*yaml.safe_load_all(CLUSTER), node("a", rack="r1"), node("b", rack="r2"))
    server.put(deployment("kueue", "v0.17.1"), deployment("jobset", "v0.12.0"))


def deployment(name: str, tag: str) -> dict:
    containers = [
        {"name": "proxy", "image": "example/proxy:v9.9.9"},
        {"name": "manager", "image": f"example/{name}/{name}:{tag}"},
    ]
    return {
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": f"{name}-controller-manager", "namespace": f"{name}-system"},
        "spec": {"template": {"spec": {"containers": containers}}},
    }  # fmt: skip


def pulled(root: Path) -> dict[str, list[dict]]:
    folder = root / "environments" / "prod" / "cluster"
    return {path.name: list(yaml.safe_load_all(path.read_text())) for path in sorted(folder.glob("*"))}


def test_a_cluster_becomes_files(server, repository, trainform):
    cluster(server)
    ran = trainform("facts", "pull")
    assert (ran.code, ran.err) == (0, "")
    files = pulled(repository.root)
    assert [*files] == [
        "clusterqueues.yaml", "configurations.yaml", "limitranges.yaml", "localqueues.yaml", "namespaces.yaml",
        "nodepools.yaml", "priorityclasses.yaml", "resourceflavors.yaml", "storageclasses.yaml", "topologies.yaml",
    ]  # fmt: skip
    assert files["clusterqueues.yaml"] == [
        {"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": {"name": "gpu"},
         "spec": {"namespaceSelector": {}, "resourceGroups": [GROUP]}}
    ]  # fmt: skip
    assert files["namespaces.yaml"] == [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ml", "labels": {"team": "a"}}}
    ]
    assert files["priorityclasses.yaml"][0] == {
        "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000
    }  # fmt: skip
    assert files["storageclasses.yaml"][0].keys() == {"apiVersion", "kind", "metadata", "provisioner"}
    assert [each["metadata"] for each in files["limitranges.yaml"]] == [{"name": "limits", "namespace": "ml"}]
    assert files["configurations.yaml"] == [
        {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration", "metadata": {"name": "kueue"},
         "manageJobsWithoutQueueName": True}
    ]  # fmt: skip
    assert "not installed: ResourceClaimTemplate, Cohort" not in ran.out
    assert "not installed: ResourceClaimTemplate, Queue, HyperNode, Queue.scheduling.run.ai" in ran.out


def test_what_was_pulled_is_what_the_other_commands_read(server, repository, trainform):
    cluster(server)
    trainform("facts", "pull")
    assert trainform("validate").code == 0
    assert json.loads(trainform("capacity", "--format", "json").out)["environments"]["prod"]["queues"] != {}


def test_a_second_pull_changes_no_byte(server, repository, trainform):
    cluster(server)
    trainform("facts", "pull")
    before = repository.files("environments")
    server.objects.reverse()
    for each in server.objects:
        each["metadata"] |= {"resourceVersion": "77", "uid": "other", "managedFields": []}
    ran = trainform("facts", "pull")
    assert ran.code == 0
    assert "nothing changed" in ran.out
    assert repository.files("environments") == before
    assert trainform("facts", "pull", "--check").code == 0


def test_no_secret_is_asked_for(server, repository, trainform):
    cluster(server)
    trainform("facts", "pull")
    assert [seen.path for seen in server.seen if "secret" in seen.path] == []
    assert {seen.method for seen in server.seen} == {"GET"}
    assert b"secret" not in b"".join(repository.files("environments").values()).lower()


def pools(root: Path) -> list[dict]:
    return [each["spec"] for each in pulled(root)["nodepools.yaml"]]


def test_nodes_are_counted_by_what_they_have_in_common(server, repository, trainform):
    server.put(*(node(name, memory, zone="z1") for name, memory in (("a", "1056270340Ki"), ("b", "1056270332Ki"))))
    trainform("facts", "pull")
    assert pools(repository.root) == [
        {
            "count": 2,
            "labels": {"pool": "h100", "zone": "z1"},
            "taints": [{"key": "gpu", "effect": "NoSchedule"}],
            "allocatable": {"cpu": "95", "memory": "1031424Mi", "nvidia.com/gpu": "8"},
        }
    ]


def test_a_node_that_is_replaced_changes_nothing(server, repository, trainform):
    server.put(node("a"), node("b"))
    trainform("facts", "pull")
    server.objects.clear()
    replaced = node("c")
    replaced["spec"] |= {"unschedulable": True}
    replaced["spec"]["taints"] += [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]
    replaced["status"]["conditions"] = [{"type": "Ready", "status": "Unknown"}]
    server.put(replaced, node("b"))
    ran = trainform("facts", "pull", "--check")
    assert ran.code == 0
    assert "note: 1 of 2 nodes not ready or cordoned at the moment: counted all the same" in ran.out


def test_labels_that_a_topology_names_stay_even_if_no_two_nodes_share_one(server, repository, trainform):
    cluster(server)
    trainform("facts", "pull")
    assert [each["labels"] for each in pools(repository.root)] == [
        {"pool": "h100", "rack": rack} for rack in sorted(["r1", "r2"], key=lambda rack: rack_place(repository, rack))
    ]


def rack_place(repository: Repository, rack: str) -> int:
    return (repository.root / "environments/prod/cluster/nodepools.yaml").read_text().index(rack)


def test_check_writes_nothing_and_shows_what_differs(server, repository, trainform):
    cluster(server)
    trainform("facts", "pull")
    before = repository.files("environments")
    queue = next(each for each in server.objects if each["kind"] == "ClusterQueue")
    queue["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"] = "24"
    ran = trainform("facts", "pull", "--check")
    assert ran.code == 1
    assert '-        nominalQuota: "16"\n+        nominalQuota: "24"\n' in ran.out
    assert "--- environments/prod/cluster/clusterqueues.yaml" in ran.out
    assert repository.files("environments") == before


def test_an_object_that_is_gone_leaves_its_file(server, repository, trainform):
    cluster(server)
    trainform("facts", "pull")
    server.objects = [each for each in server.objects if each["kind"] not in ("LimitRange", "ClusterQueue")]
    ran = trainform("facts", "pull")
    assert "removed environments/prod/cluster/limitranges.yaml" in ran.out
    assert "limitranges.yaml" not in pulled(repository.root)


def local_queue(name: str, spec: dict) -> dict:
    return {"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": {"name": name, "namespace": "ml"}, "spec": spec}


def test_files_by_hand_stay_and_what_they_declare_is_not_written_again(server, repository, trainform):
    cluster(server)
    mine = yaml.safe_dump(local_queue("team", {"clusterQueue": "mine"}))
    spec = {"count": 1, "allocatable": {"cpu": 1}}
    pool = {"apiVersion": "trainform.dev/v1alpha1", "kind": "NodePool", "metadata": {"name": "p"}, "spec": spec}
    repository.write("environments/prod/cluster/mine.yaml", mine)
    repository.write("environments/prod/nodes.yaml", yaml.safe_dump(pool))
    ran = trainform("facts", "pull")
    assert "note: LocalQueue ml/team stays as environments/prod/cluster/mine.yaml declares it" in ran.out
    assert (repository.root / "environments/prod/cluster/mine.yaml").read_text() == mine
    told = "note: no NodePool is written: environments/prod/nodes.yaml declares Node or NodePool\n"
    assert told in ran.out
    assert not {"localqueues.yaml", "nodepools.yaml"} & pulled(repository.root).keys()
    assert trainform("render").code == 0


def test_a_file_by_hand_is_never_replaced(server, repository, trainform):
    cluster(server)
    repository.write("environments/prod/cluster/topologies.yaml", "# mine\n")
    ran = trainform("facts", "pull")
    assert ran.code == 2
    assert "environments/prod/cluster/topologies.yaml: error TF706" in ran.err
    assert [*pulled(repository.root)] == ["topologies.yaml"]


def test_rights_that_are_missing_are_named_all_at_once_and_nothing_is_written(server, repository, trainform):
    cluster(server)
    server.deny("nodes", "clusterqueues", "configmaps")
    ran = trainform("facts", "pull")
    assert ran.code == 2
    assert '- {apiGroups: [""], resources: [nodes], verbs: [list]}' in ran.err
    assert '- {apiGroups: ["kueue.x-k8s.io"], resources: [clusterqueues], verbs: [list]}' in ran.err
    named = "resourceNames: [kueue-manager-config], verbs: [get]}  # in namespace kueue-system"
    assert f'- {{apiGroups: [""], resources: [configmaps], {named}' in ran.err
    assert not (repository.root / "environments/prod/cluster").exists()


def test_a_kind_can_be_left_out(server, repository, trainform):
    cluster(server)
    server.deny("nodes", "configmaps")
    assert trainform("facts", "pull", "--without", "Node", "--without", "Configuration").code == 0
    assert "nodepools.yaml" not in pulled(repository.root)


@pytest.mark.parametrize("option", [(), ("--rbac",)])
def test_a_kind_to_leave_out_must_be_one_of_facts(server, repository, trainform, option):
    ran = trainform("facts", "pull", "--without", "Nodes", *option)
    assert (ran.code, ran.out) == (2, "")
    assert "no kind of cluster facts: Nodes; they are Namespace, " in ran.err
    assert server.seen == []


@pytest.mark.parametrize("name", ["", "../kube-system", "ML", "a b"])
def test_a_namespace_has_a_name(root, trainform, name):
    """An empty one, as of a shell variable that is not set, would be all namespaces."""
    ran = trainform("facts", "pull", "--rbac", "--namespace", name)
    assert (ran.code, ran.out) == (2, "")
    assert "Invalid value for '--namespace': " in ran.err


def test_a_failure_in_between_writes_nothing(server, repository, trainform):
    cluster(server)
    trainform("facts", "pull")
    before = repository.files("environments")
    server.objects.clear()
    server.fail("/apis/kueue.x-k8s.io/v1beta2/clusterqueues", *[Fault(503, "shutting down")] * 9)
    ran = trainform("facts", "pull")
    assert ran.code == 2
    assert "503 shutting down" in ran.err
    assert repository.files("environments") == before


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("/api/v1", Fault(200, "welcome")),
        ("/api/v1", Fault(404, kind="page")),
        ("/api/v1/nodes", Fault(200, "welcome")),
        ("/apis/kueue.x-k8s.io/v1beta2", Fault(200, "welcome")),
        ("/apis/kueue.x-k8s.io/v1beta2/clusterqueues", Fault(200, "welcome")),
    ],
)
def test_what_answers_in_place_of_the_api_server_empties_no_file(server, repository, trainform, path, fault):
    """A gateway may say 200 to everything, or 404: neither means that the cluster has no such objects."""
    cluster(server)
    trainform("facts", "pull")
    before = repository.files("environments")
    server.fail(path, fault)
    ran = trainform("facts", "pull")
    assert ran.code == 2
    assert "API server" in ran.err
    assert repository.files("environments") == before


def test_only_some_namespaces(server, repository, trainform):
    cluster(server)
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "other"},
        "spec": {"hard": {"pods": "4"}},
    }
    server.put(quota, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}})
    trainform("facts", "pull", "--namespace", "ml")
    assert [each["metadata"]["name"] for each in pulled(repository.root)["namespaces.yaml"]] == ["ml"]
    assert "resourcequotas.yaml" not in pulled(repository.root)
    assert "/api/v1/limitranges" not in [seen.path for seen in server.seen]


@pytest.mark.parametrize("option", [(), ("--check",)])
def test_a_namespace_that_does_not_exist_empties_no_file(server, repository, trainform, option):
    cluster(server)
    trainform("facts", "pull", "--namespace", "ml")
    before = repository.files("environments")
    ran = trainform("facts", "pull", "--namespace", "ml-x", "--namespace", "ml", "--namespace", "vision", *option)
    assert (ran.code, ran.out) == (2, "")
    assert "Invalid value for --namespace: " in ran.err
    assert 'the cluster has no namespace "ml-x": did you mean "ml"?; ' in ran.err
    assert 'the cluster has no namespace "vision"\n' in ran.err
    assert repository.files("environments") == before


def test_a_namespace_that_is_being_deleted_is_none(server, repository, trainform):
    cluster(server)
    ran = trainform("facts", "pull", "--namespace", "gone")
    assert (ran.code, 'has no namespace "gone"' in ran.err) == (2, True)


def test_a_namespace_of_kubernetes_itself_can_be_named(server, repository, trainform):
    cluster(server)
    assert trainform("facts", "pull", "--namespace", "kube-system").code == 0


def test_who_does_not_list_namespaces_is_told_which_have_nothing(server, repository, trainform):
    """A role for some namespaces need not allow to list all."""
    cluster(server)
    server.deny("namespaces")
    ran = trainform("facts", "pull", "--without", "Namespace", "--namespace", "ml", "--namespace", "vision")
    assert (ran.code, ran.err) == (0, "")
    told = 'note: nothing was found in namespace "vision"; --without Namespace leaves open whether it exists\n'
    assert told in ran.out
    assert ran.out.count("nothing was found") == 1


def test_versions_are_compared_with_what_the_environment_says(server, repository, trainform):
    cluster(server)
    ran = trainform("facts", "pull")
    assert 'note: the cluster has kueue 0.17.1: write kueue: "0.17" in spec.cluster' in ran.out
    text = environment().replace("spec:\n", 'spec:\n  cluster: {kubernetes: "1.35", kueue: "0.17", jobset: "0.12.0"}\n')
    repository.write("environments/prod/environment.yaml", text)
    ran = trainform("facts", "pull", "--check")
    assert ran.code == 1
    assert ran.out.startswith('spec.cluster.kubernetes of environment prod is "1.35", but the cluster has 1.36.2\n')
    assert "kueue" not in ran.out.partition("\n")[0]


def test_a_fact_that_the_loader_would_refuse_is_left_out(server, repository, trainform):
    cluster(server)
    server.put(local_queue("bad", {}))
    ran = trainform("facts", "pull")
    assert "note: LocalQueue ml/bad is left out: is required but missing" in ran.out
    assert trainform("validate").code == 0


def test_files_that_the_environment_does_not_read_are_told(server, repository, trainform):
    cluster(server)
    text = environment().replace("spec:\n", "spec:\n  cluster: {files: [facts.yaml]}\n")
    repository.write("environments/prod/environment.yaml", text)
    ran = trainform("facts", "pull")
    assert 'note: 10 files will not be read: add "cluster/*.yaml" to spec.cluster.files of the Environment' in ran.out


def test_an_environment_must_be_named_where_there_are_several(server, repository, trainform):
    repository.write("environments/lab/environment.yaml", environment().replace("prod", "lab"))
    ran = trainform("facts", "pull")
    assert ran.code == 2
    assert "each environment is a cluster of its own: name one of lab, prod" in ran.err
    assert trainform("facts", "pull", "--env", "lab").code == 0


def test_roles_are_printed_without_a_cluster(server, repository, trainform):
    ran = trainform("facts", "pull", "--rbac", "--without", "Node")
    assert ran.code == 0
    objects = list(yaml.safe_load_all(ran.out))
    assert [each["kind"] for each in objects] == ["ClusterRole", "ClusterRoleBinding"] + ["Role", "RoleBinding"] * 2
    cluster_wide = objects[0]["rules"]
    assert {verb for rule in cluster_wide for verb in rule["verbs"]} == {"list"}
    resources = {name for rule in cluster_wide for name in rule["resources"]}
    assert {"clusterqueues", "priorityclasses", "topologies", "runtimeclasses"} <= resources
    assert not {"secrets", "nodes", "pods", "configmaps", "*"} & resources
    assert server.seen == []


def test_the_roles_for_some_namespaces_are_for_no_others(repository, trainform):
    objects = list(yaml.safe_load_all(trainform("facts", "pull", "--rbac", "--namespace", "ml").out))
    rules = {each["metadata"].get("namespace", ""): each["rules"] for each in objects if "rules" in each}
    assert "limitranges" not in {name for rule in rules[""] for name in rule["resources"]}
    assert {"apiGroups": [""], "resources": ["limitranges", "resourcequotas"], "verbs": ["list"]} in rules["ml"]


def test_the_roles_are_enough(server, repository, trainform):
    """Each request but discovery is one that the printed roles allow."""
    cluster(server)
    trainform("facts", "pull")
    asked = {seen.path.rpartition("/")[2] for seen in server.seen}
    objects = list(yaml.safe_load_all(trainform("facts", "pull", "--rbac").out))
    rules = [rule for each in objects for rule in each.get("rules", [])]
    allowed = {name for rule in rules for name in (rule.get("resourceNames") or rule["resources"])}
    discovery = {"version", "v1", "v1beta1", "v1beta2", "v1alpha1", "v2"}
    assert asked - allowed <= discovery


def test_json(server, repository, trainform):
    cluster(server)
    found = json.loads(trainform("facts", "pull", "--format", "json").out)
    assert found["kind"] == "FactsResult"
    assert found["files"][0] == {"file": "environments/prod/cluster/clusterqueues.yaml", "change": "added"}
    assert found["counts"]["Namespace"] == 1
    assert (found["written"], found["environment"], found["context"]) == (True, "prod", "test")


def test_what_kubectl_prints_is_read_as_it_is(repository, trainform):
    """A List, with status and managed fields."""
    items = [node("a"), next(yaml.safe_load_all(CLUSTER))]
    text = yaml.safe_dump({"apiVersion": "v1", "kind": "List", "metadata": {"resourceVersion": ""}, "items": items})
    repository.write("environments/prod/from-kubectl.yaml", text)
    ran = trainform("validate")
    assert (ran.code, ran.err) == (0, "")


def test_without_the_extra_the_install_line_is_told(repository, trainform, monkeypatch):
    monkeypatch.setitem(sys.modules, "kubernetes", None)
    ran = trainform("facts", "pull")
    assert ran.code == 2
    assert ran.err == 'Error: this needs the client package of Kubernetes: pip install "trainform[cluster]"\n'


def test_no_other_command_imports_the_client_package(repository):
    program = "import sys; from trainform.cli.main import run; run(sys.argv[1:]); print('kubernetes' in sys.modules)"
    for command in (["validate"], ["capacity"], ["facts", "pull", "--rbac"], ["facts", "pull", "--help"]):
        ran = subprocess.run([sys.executable, "-c", program, *command], capture_output=True, text=True, check=True)
        assert ran.stdout.endswith("False\n"), command


def test_a_configuration_of_an_unknown_version_is_left_out(server, repository, trainform):
    cluster(server)
    config = next(each for each in server.objects if each["kind"] == "ConfigMap")
    config["data"] = {"controller_manager_config.yaml": "apiVersion: config.kueue.x-k8s.io/v9\nkind: Configuration\n"}
    ran = trainform("facts", "pull")
    assert ran.code == 0
    assert "note: Kueue's configuration is left out: it is not a Configuration of a version that is known\n" in ran.out
    assert "configurations.yaml" not in pulled(repository.root)


def test_a_file_of_ours_that_somebody_spoiled_is_written_anew(server, repository, trainform):
    cluster(server)
    trainform("facts", "pull")
    file = repository.root / "environments/prod/cluster/topologies.yaml"
    whole = file.read_bytes()
    file.write_bytes(whole.partition(b"\n")[0] + b"\n\xff\xfe")
    assert trainform("facts", "pull", "--check").code == 1
    assert trainform("facts", "pull").code == 0
    assert file.read_bytes() == whole


def test_a_repository_without_an_environment(root, trainform):
    ran = trainform("facts", "pull")
    assert ran.code == 2
    assert "facts belong to an Environment" in ran.err

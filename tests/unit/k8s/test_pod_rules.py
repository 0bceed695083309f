"""What the API server refuses of the pods of a Job."""

import pytest

from trainform.diagnostics import dotted
from trainform.k8s.rules.jobset import WARNINGS
from trainform.k8s.rules.parts import Found
from trainform.k8s.rules.pod import check

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def pod(**spec):
    return {"spec": {"containers": [{"name": "main", "image": "busybox:1.37"}], **spec}}


def container(**fields):
    """A pod of one container with these fields, and of the volumes `data` and `tmp`."""
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "d"}}, {"name": "tmp", "emptyDir": {}}]
    return pod(containers=[{"name": "main", "image": "busybox:1.37", **fields}], volumes=volumes)


def sidecar(**fields):
    return pod(initContainers=[{"name": "side", "image": "busybox:1.37", **fields}])


def env(**variable):
    return container(env=[{"name": "A", **variable}])


def source(**reference):
    return env(valueFrom=reference)


def resources(limits=None, requests=None, **more):
    return container(resources={"limits": limits or {}, "requests": requests or {}, **more})


def probe(kind="livenessProbe", **fields):
    return container(**{kind: fields})


def mount(**fields):
    return container(volumeMounts=[{"name": "data", "mountPath": "/data", **fields}])


def volume(**sources):
    return pod(volumes=[{"name": "data", **sources}])


def node_affinity(**expression):
    terms = [{"matchExpressions": [{"key": "gpu", **expression}]}]
    return pod(affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}})


def found(template, claims=frozenset()):
    problems = Found()
    check(template, (), claims, problems)
    return [(problem.code, dotted(problem.path), problem.message) for problem in problems]


VALID = {
    "smallest": pod(),
    "labels": {"metadata": {"labels": {"team.example.com/x": "A_1", "empty": ""}}, **pod()},
    "annotation of any text": {"metadata": {"annotations": {"Acme.com/Note": "a b c"}}, **pod()},
    "variables": container(env=[{"name": "A", "value": ""}, {"name": "b.c-d", "value": "x"}]),
    "index of the pod": source(
        fieldRef={"fieldPath": "metadata.annotations['batch.kubernetes.io/job-completion-index']"}
    ),
    "address": source(fieldRef={"fieldPath": "status.podIP"}),
    "memory": source(resourceFieldRef={"resource": "limits.memory", "divisor": "1Mi"}),
    "secret": source(secretKeyRef={"name": "hf", "key": "HF_TOKEN"}),
    "empty value beside a source": env(value="", valueFrom={"fieldRef": {"fieldPath": "metadata.name"}}),
    "all of a secret": container(envFrom=[{"secretRef": {"name": "hf"}, "prefix": "HF_"}]),
    "mounts": mount(subPath="a/b", readOnly=True),
    "GPU as a limit": resources(limits={"nvidia.com/gpu": 8, "cpu": "4"}, requests={"cpu": "500m"}),
    "GPU twice": resources(limits={"nvidia.com/gpu": "8"}, requests={"nvidia.com/gpu": 8}),
    "same amount, written twice": resources(limits={"memory": "1Gi"}, requests={"memory": "1024Mi"}),
    "huge pages": resources(limits={"hugepages-2Mi": "4Mi", "memory": "1Gi"}),
    "resources of the pod": pod(resources={"requests": {"cpu": "8", "memory": "16Gi"}}),
    "port": container(ports=[{"containerPort": 29500, "name": "rdzv"}, {"containerPort": 80, "name": "http"}]),
    "probe": probe(tcpSocket={"port": 29500}, initialDelaySeconds=5),
    "probe of a named port": probe(httpGet={"port": "http", "path": "/"}),
    "probed sidecar": sidecar(restartPolicy="Always", readinessProbe={"exec": {"command": ["true"]}}),
    "tolerations": pod(tolerations=[{"operator": "Exists"}, {"key": "nvidia.com/gpu", "value": "x"}]),
    "nodes": pod(nodeSelector={"gpu": "h100"}),
    "affinity": node_affinity(operator="In", values=["h100"]),
    "newer nodes": node_affinity(operator="Gt", values=["3"]),
    "spread": pod(
        topologySpreadConstraints=[{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}]
    ),
    "gate": pod(schedulingGates=[{"name": "kueue.x-k8s.io/topology"}]),
    "empty source counts": volume(emptyDir={}),
    "device claim": pod(resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}]),
    "nobody": pod(securityContext={"runAsUser": 65534, "fsGroup": 0}),
}


@pytest.mark.parametrize("template", VALID.values(), ids=VALID)
def test_a_valid_pod_has_no_problem(template):
    assert found(template) == []


C = "spec.containers[0]"

REFUSED = {
    # containers
    "no container": (pod(containers=[]), "TF521", "spec.containers", "at least one container"),
    "container name": (
        pod(containers=[{"name": "My_C", "image": "a"}]),
        "TF521",
        f"{C}.name",
        '"My_C" must consist of lowercase letters',
    ),
    "one name twice": (
        pod(initContainers=[{"name": "main", "image": "a"}]),
        "TF521",
        "spec.initContainers[0].name",
        '"main" is also the name of a container',
    ),
    "ephemeral": (
        pod(ephemeralContainers=[{"name": "e"}]),
        "TF521",
        "spec.ephemeralContainers",
        "must not be set",
    ),
    "no image": (pod(containers=[{"name": "main"}]), "TF522", f"{C}.image", "a container needs an image"),
    "blank image": (container(image=" a "), "TF522", f"{C}.image", "starts or ends with a space"),
    # variables
    "variable name": (container(env=[{"name": "A=B"}]), "TF523", f"{C}.env[0].name", '"A=B" must consist'),
    "two values": (
        env(value="1", valueFrom={"fieldRef": {"fieldPath": "metadata.name"}}),
        "TF524",
        f"{C}.env[0]",
        '"A" has both value and valueFrom',
    ),
    "no source": (source(), "TF523", f"{C}.env[0].valueFrom", "has no source"),
    "two sources": (
        source(fieldRef={"fieldPath": "metadata.name"}, secretKeyRef={"name": "s", "key": "k"}),
        "TF523",
        f"{C}.env[0].valueFrom",
        "has 2 sources, but only one is allowed: fieldRef, secretKeyRef",
    ),
    "unknown field": (
        source(fieldRef={"fieldPath": "status.podIp"}),
        "TF523",
        f"{C}.env[0].valueFrom.fieldRef.fieldPath",
        '"status.podIp" is not a pod field',
    ),
    "unknown resource": (
        source(resourceFieldRef={"resource": "limits.nvidia.com/gpu"}),
        "TF523",
        f"{C}.env[0].valueFrom.resourceFieldRef.resource",
        "is not a resource that a variable can use",
    ),
    "secret without name": (
        source(secretKeyRef={"key": "k"}),
        "TF523",
        f"{C}.env[0].valueFrom.secretKeyRef.name",
        "is required but missing",
    ),
    "key": (
        source(configMapKeyRef={"name": "c", "key": "a b"}),
        "TF523",
        f"{C}.env[0].valueFrom.configMapKeyRef.key",
        '"a b" must consist of letters, digits',
    ),
    "all of nothing": (container(envFrom=[{"prefix": "A_"}]), "TF523", f"{C}.envFrom[0]", "has no source"),
    # volumes and mounts
    "volume name": (
        pod(volumes=[{"name": "D", "emptyDir": {}}]),
        "TF525",
        "spec.volumes[0].name",
        '"D" must',
    ),
    "volume of nothing": (volume(), "TF525", "spec.volumes[0]", "has no source"),
    "volume of two": (
        volume(emptyDir={}, hostPath={"path": "/x"}),
        "TF525",
        "spec.volumes[0]",
        "has 2 sources, but only one is allowed: emptyDir, hostPath",
    ),
    "unnamed secret": (
        volume(secret={}),
        "TF525",
        "spec.volumes[0].secret.secretName",
        "is required but missing",
    ),
    "mode": (
        volume(configMap={"name": "c", "defaultMode": 777}),
        "TF525",
        "spec.volumes[0].configMap.defaultMode",
        "must be between 0 and 0777 octal",
    ),
    "file outside": (
        volume(secret={"secretName": "s", "items": [{"key": "k", "path": "../k"}]}),
        "TF525",
        "spec.volumes[0].secret.items[0].path",
        "must not contain `..`",
    ),
    "negative size": (
        volume(emptyDir={"sizeLimit": "-1Gi"}),
        "TF525",
        "spec.volumes[0].emptyDir.sizeLimit",
        "must not be negative",
    ),
    "mount of nothing": (mount(name="dta"), "TF530", f"{C}.volumeMounts[0].name", 'no volume called "dta"'),
    "nowhere": (mount(mountPath=""), "TF526", f"{C}.volumeMounts[0].mountPath", "must not be empty"),
    "absolute": (mount(subPath="/a"), "TF526", f"{C}.volumeMounts[0].subPath", "must be a relative path"),
    "parent": (mount(subPath="a/../b"), "TF526", f"{C}.volumeMounts[0].subPath", "must not contain `..`"),
    "propagation": (
        mount(mountPropagation="Bidirectional"),
        "TF526",
        f"{C}.volumeMounts[0].mountPropagation",
        "requires a privileged container",
    ),
    # ports
    "port name": (
        container(ports=[{"containerPort": 1, "name": "tensorboard-http"}]),
        "TF527",
        f"{C}.ports[0].name",
        "at most 15 characters long, not 16",
    ),
    "port name of digits": (
        container(ports=[{"containerPort": 1, "name": "80"}]),
        "TF527",
        f"{C}.ports[0].name",
        "with at least one letter",
    ),
    "port name twice": (
        container(ports=[{"containerPort": 1, "name": "a"}, {"containerPort": 2, "name": "a"}]),
        "TF527",
        f"{C}.ports[1].name",
        "is already the name of another port",
    ),
    "host port out of range": (
        container(ports=[{"containerPort": 1, "hostPort": 70000}]),
        "TF527",
        f"{C}.ports[0].hostPort",
        "must be between 1 and 65535, not 70000",
    ),
    "host network with another port": (
        pod(
            hostNetwork=True,
            containers=[{"name": "a", "image": "a", "ports": [{"containerPort": 1, "hostPort": 2}]}],
        ),
        "TF527",
        f"{C}.ports[0].hostPort",
        "must equal containerPort (1) with hostNetwork",
    ),
    "one port of the host twice": (
        pod(
            hostNetwork=True,
            containers=[{"name": name, "image": "a", "ports": [{"containerPort": 29500}]} for name in ("a", "b")],
        ),
        "TF527",
        "spec.containers[1].ports[0].containerPort",
        'host port 29500 is already used by container "a"',
    ),
    # probes
    "probe of nothing": (probe(periodSeconds=3), "TF528", f"{C}.livenessProbe", "has no action"),
    "probe of two": (
        probe(exec={"command": ["a"]}, tcpSocket={"port": 1}),
        "TF528",
        f"{C}.livenessProbe",
        "has 2 actions, but only one is allowed: exec, tcpSocket",
    ),
    "probe of port 0": (
        probe(tcpSocket={"port": 0}),
        "TF528",
        f"{C}.livenessProbe.tcpSocket.port",
        "must be between 1 and 65535, not 0",
    ),
    "port in quotes": (
        probe(httpGet={"port": "8080"}),
        "TF528",
        f"{C}.livenessProbe.httpGet.port",
        "with at least one letter",
    ),
    "empty command": (probe(exec={}), "TF528", f"{C}.livenessProbe.exec.command", "at least one entry"),
    "negative delay": (
        probe(exec={"command": ["a"]}, initialDelaySeconds=-1),
        "TF528",
        f"{C}.livenessProbe.initialDelaySeconds",
        "must be at least 0",
    ),
    "alive twice": (
        probe(exec={"command": ["a"]}, successThreshold=2),
        "TF528",
        f"{C}.livenessProbe.successThreshold",
        "must be 1 for a livenessProbe",
    ),
    "grace of readiness": (
        probe("readinessProbe", exec={"command": ["a"]}, terminationGracePeriodSeconds=3),
        "TF528",
        f"{C}.readinessProbe.terminationGracePeriodSeconds",
        "must not be set for a readinessProbe",
    ),
    "hook of nothing": (
        container(lifecycle={"preStop": {}}),
        "TF528",
        f"{C}.lifecycle.preStop",
        "has no action",
    ),
    "probe of an init container": (
        sidecar(readinessProbe={"exec": {"command": ["a"]}}),
        "TF529",
        "spec.initContainers[0].readinessProbe",
        "must not be set on an init container that is not a sidecar",
    ),
    # resources
    "short name of a GPU": (
        resources(limits={"gpu": 1}),
        "TF531",
        f"{C}.resources.limits.gpu",
        'containers cannot request "gpu"',
    ),
    "half a GPU": (
        resources(limits={"nvidia.com/gpu": "500m"}),
        "TF531",
        f"{C}.resources.limits.nvidia.com/gpu",
        '"500m" is not a whole number',
    ),
    "negative": (
        resources(limits={"cpu": "-1"}),
        "TF531",
        f"{C}.resources.limits.cpu",
        "must not be negative",
    ),
    "huge pages alone": (
        resources(limits={"hugepages-2Mi": "4Mi"}),
        "TF531",
        f"{C}.resources",
        "requests huge pages without cpu or memory",
    ),
    "claim of nobody": (
        resources(claims=[{"name": "gpu"}]),
        "TF531",
        f"{C}.resources.claims[0].name",
        'the pod has no resource claim named "gpu"',
    ),
    "GPU for the pod": (
        pod(resources={"limits": {"nvidia.com/gpu": 1}}),
        "TF531",
        "spec.resources.limits.nvidia.com/gpu",
        "pod-level resources cannot include nvidia.com/gpu",
    ),
    "GPU as a request": (
        resources(requests={"nvidia.com/gpu": 1}),
        "TF532",
        f"{C}.resources.requests.nvidia.com/gpu",
        "needs a limit equal to its request",
    ),
    "fewer GPUs than the limit": (
        resources(limits={"nvidia.com/gpu": 2}, requests={"nvidia.com/gpu": 1}),
        "TF532",
        f"{C}.resources.requests.nvidia.com/gpu",
        "must equal the limit (2), not 1",
    ),
    "more than the limit": (
        resources(limits={"memory": "1Gi"}, requests={"memory": "2G"}),
        "TF532",
        f"{C}.resources.requests.memory",
        "must be at most the limit (1Gi), not 2G",
    ),
    "pod smaller than its containers": (
        pod(
            containers=[{"name": "main", "image": "a", "resources": {"requests": {"cpu": "4"}}}],
            resources={"requests": {"cpu": "2"}},
        ),
        "TF532",
        "spec.resources.requests.cpu",
        "must be at least the sum of its containers (4), not 2",
    ),
    # labels and scheduling
    "label": (
        {"metadata": {"labels": {"team": "a b"}}, **pod()},
        "TF533",
        "metadata.labels.team",
        'the value "a b" must consist',
    ),
    "label key": (
        {"metadata": {"labels": {"a/b/c": "x"}}, **pod()},
        "TF533",
        "metadata.labels.a/b/c",
        'the key "a/b/c" has an invalid prefix before the `/`',
    ),
    "huge annotations": (
        {"metadata": {"annotations": {"a": "ü" * 140_000}}, **pod()},
        "TF533",
        "metadata.annotations",
        "must have at most 262144 bytes in total, not 280001",
    ),
    "node label": (pod(nodeSelector={"a": "b c"}), "TF534", "spec.nodeSelector.a", 'the value "b c" must'),
    "toleration of no key": (
        pod(tolerations=[{"effect": "NoSchedule"}]),
        "TF534",
        "spec.tolerations[0].operator",
        "must be Exists if there is no key",
    ),
    "existing value": (
        pod(tolerations=[{"key": "a", "operator": "Exists", "value": "b"}]),
        "TF534",
        "spec.tolerations[0].value",
        "must not be set with operator Exists",
    ),
    "patience": (
        pod(tolerations=[{"key": "a", "effect": "NoSchedule", "operator": "Exists", "tolerationSeconds": 3}]),
        "TF534",
        "spec.tolerations[0].effect",
        "must be NoExecute",
    ),
    "in nothing": (
        node_affinity(operator="In"),
        "TF534",
        f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].values",
        "operator In needs at least one value",
    ),
    "above a word": (
        node_affinity(operator="Gt", values=["a"]),
        "TF534",
        f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].values",
        "needs exactly one value, an integer in quotes",
    ),
    "weight": (
        pod(affinity={"nodeAffinity": {PREFERRED: [{"weight": 0, "preference": {}}]}}),
        "TF534",
        f"spec.affinity.nodeAffinity.{PREFERRED}[0].weight",
        "must be between 1 and 100, not 0",
    ),
    "topology of nothing": (
        pod(affinity={"podAffinity": {REQUIRED: [{"topologyKey": ""}]}}),
        "TF534",
        f"spec.affinity.podAffinity.{REQUIRED}[0].topologyKey",
        "must not be empty",
    ),
    "no skew": (
        pod(topologySpreadConstraints=[{"maxSkew": 0, "topologyKey": "zone"}]),
        "TF534",
        "spec.topologySpreadConstraints[0].maxSkew",
        "must be at least 1, not 0",
    ),
    "gated on a node": (
        pod(nodeName="n", schedulingGates=[{"name": "a"}]),
        "TF534",
        "spec.nodeName",
        "must not be set together with schedulingGates",
    ),
    # the rest
    "privileges": (
        container(securityContext={"privileged": True, "allowPrivilegeEscalation": False}),
        "TF535",
        f"{C}.securityContext.allowPrivilegeEscalation",
        "must not be false with privileged: true",
    ),
    "negative user": (
        pod(securityContext={"runAsUser": -1}),
        "TF535",
        "spec.securityContext.runAsUser",
        "must be between 0 and 2147483647, not -1",
    ),
    "service account": (
        pod(serviceAccountName="My_SA"),
        "TF536",
        "spec.serviceAccountName",
        '"My_SA" must consist',
    ),
    "deadline": (
        pod(activeDeadlineSeconds=0),
        "TF536",
        "spec.activeDeadlineSeconds",
        "must be between 1 and",
    ),
    "no nameserver": (
        pod(dnsPolicy="None"),
        "TF536",
        "spec.dnsConfig.nameservers",
        "at least one nameserver",
    ),
    "processes shared twice": (
        pod(shareProcessNamespace=True, hostPID=True),
        "TF536",
        "spec.shareProcessNamespace",
        "must not be true with hostPID",
    ),
}


@pytest.mark.parametrize(("template", "code", "path", "message"), REFUSED.values(), ids=REFUSED)
def test_what_the_api_server_refuses_is_one_problem(template, code, path, message):
    ((found_code, found_path, found_message),) = found(template)
    assert (found_code, found_path) == (code, path)
    assert message in found_message


def test_claims_of_the_jobset_are_volumes_of_the_pod():
    template = mount(name="initializer")
    assert found(template, claims=frozenset({"initializer"})) == []


def test_only_what_jobset_admits_is_a_warning():
    assert sorted(WARNINGS) == ["TF507", "TF524", "TF529", "TF530", "TF532"]

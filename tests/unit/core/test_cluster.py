"""What the facts of a cluster say of a finished job, at the line that set it."""

from __future__ import annotations

from textwrap import dedent

import pytest

import trainform

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: llm, namespace: ml}
spec:
  runtimeRef: {name: rt}
  trainer:
    numNodes: 4
"""
RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: rt}
spec:
  mlPolicy: {numNodes: 1}
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec:
            template:
              spec:
"""
CONTAINERS = "containers: [{name: node, image: 'train:1', resources: {requests: {cpu: 2}, limits: {cpu: 4}}}]"
LABELLED = "{apiVersion: v1, kind: Namespace, metadata: {name: ml, labels: {pod-security.kubernetes.io/enforce: %s}}}"
QUOTA = "{apiVersion: v1, kind: ResourceQuota, metadata: {name: all, namespace: ml}, spec: {%s}}"
RANGE = "{apiVersion: v1, kind: LimitRange, metadata: {name: usual, namespace: ml}, spec: {limits: [%s]}}"
HIGH = "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 5}"
KATA = "{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: kata}, handler: kata}"
DISK = "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: disk}, provisioner: example.com/disk}"
ENVIRONMENT = "{apiVersion: trainform.dev/v1alpha1, kind: Environment, metadata: {name: prod}, spec: {cluster: {%s}}}"
SECRETS = ENVIRONMENT % "objects: [{kind: Secret, namespace: ml, names: [registry]}]"
EMPTY_CLAIM = "{accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, storageClassName: %s}"


def told(pod: str, *facts: str, containers: str = CONTAINERS) -> list[tuple[str, str, int | None]]:
    """Code, message and line of each error; the pod spec starts at line 15 of the runtime."""
    spec = "".join(f"                {line}\n" for line in (*dedent(pod).splitlines(), containers) if line)
    stream = "---\n".join([JOB, RUNTIME + spec, *(f"{fact}\n" for fact in facts)])
    result = trainform.compile_stream(stream)
    problems = [*result["diagnostics"], *(each for job in result["jobs"] for each in job["diagnostics"])]
    first = JOB.count("\n") + 1 + RUNTIME.count("\n")
    return [
        (each["code"], each["message"], each["line"] - first if each["line"] else None)
        for each in problems
        if each["severity"] == "error"
    ]


CASES = {
    "priority class": (
        "priorityClassName: hihg", [HIGH], [("TF330", "PriorityClass 'hihg' does not exist", 1)],
    ),
    "priority class that is there": ("priorityClassName: high", [HIGH], []),
    "priority class of every cluster": ("priorityClassName: system-node-critical", [HIGH], []),
    "priority class of which nothing is known": ("priorityClassName: high", [KATA], []),
    "runtime class": ("runtimeClassName: kat", [KATA], [("TF332", "RuntimeClass 'kat' does not exist", 1)]),
    "storage class": (
        "volumes: [{name: a, ephemeral: {volumeClaimTemplate: {spec: %s}}}]" % (EMPTY_CLAIM % "dikc"), [DISK],
        [("TF333", "StorageClass 'dikc' does not exist", 1)],
    ),
    "a bound of a LimitRange": (
        "", [RANGE % "{type: Container, max: {cpu: 3}}"],
        [("TF564", "cpu: has limit 4, but at most 3 is allowed (LimitRange usual, per container)", 1)],
    ),
    "a quota for requests": (
        "", [QUOTA % "hard: {requests.cpu: 7}"],
        [("TF566", "its pods together ask requests.cpu 8, but ResourceQuota all allows 7", 0)],
    ),
    "a quota for limits": (
        "", [QUOTA % "hard: {limits.cpu: 15}"],
        [("TF566", "its pods together ask limits.cpu 16, but ResourceQuota all allows 15", 0)],
    ),
    "a quota that suffices": ("", [QUOTA % "hard: {cpu: 8, limits.cpu: 16, pods: 4, count/jobs.batch: 1}"], []),
    "a quota for pods": (
        "", [QUOTA % "hard: {pods: 3}"],
        [("TF566", "its pods together ask pods 4, but ResourceQuota all allows 3", 0)],
    ),
    "a quota that needs an amount": (
        "", [QUOTA % "hard: {memory: 1Ti}"],
        [("TF566", "container node must set resources.requests.memory: ResourceQuota all counts it", 0)],
    ),
    "a quota for other pods": ("", [QUOTA % "hard: {pods: 3}, scopes: [Terminating]"], []),
    "a quota for a priority": (
        "priorityClassName: high",
        [HIGH, QUOTA % "hard: {pods: 3}, scopeSelector: {matchExpressions: "
         "[{scopeName: PriorityClass, operator: In, values: [high]}]}"],
        [("TF566", "its pods together ask pods 4, but ResourceQuota all allows 3", 0)],
    ),
    "the host's network": (
        "hostNetwork: true", [LABELLED % "baseline"],
        [("TF567", "must not be true: namespace ml enforces Pod Security level baseline", 1)],
    ),
    "a host path": (
        "volumes: [{name: a, hostPath: {path: /data}}]", [LABELLED % "baseline"],
        [("TF567", "hostPath volumes are forbidden: namespace ml enforces Pod Security level baseline", 1)],
    ),
    "no level": ("hostNetwork: true", [LABELLED % "privileged"], []),
    "nothing forbidden": ("", [LABELLED % "baseline"], []),
    "an object that is not listed": (
        "imagePullSecrets: [{name: registy}]", [SECRETS],
        [("TF568", "namespace ml has no Secret 'registy': the pods would not start", 1)],
    ),
    "an object that is listed": ("imagePullSecrets: [{name: registry}]", [SECRETS], []),
    "a kind that is not listed": ("serviceAccountName: robot", [SECRETS], []),
    "a variable of a newer Kubernetes": (
        "initContainers: [{name: a, image: 'a:1', env: [{name: 1a, value: b}]}]",
        [ENVIRONMENT % "kubernetes: '1.33'"],
        [("TF569", "this name of an environment variable needs Kubernetes 1.34, but spec.cluster says 1.33", 1)],
    ),
    "a variable of this Kubernetes": (
        "initContainers: [{name: a, image: 'a:1', env: [{name: 1a, value: b}]}]",
        [ENVIRONMENT % "kubernetes: '1.34'"], [],
    ),
    "a sidecar": (
        "initContainers: [{name: a, image: 'a:1', restartPolicy: Always}]",
        [ENVIRONMENT % "kubernetes: '1.28.9'"],
        [(
            "TF569", "a sidecar (an init container with restartPolicy: Always) needs Kubernetes 1.29, "
            "but spec.cluster says 1.28.9", 1,
        )],
    ),
    "an unknown version": ("initContainers: [{name: a, image: 'a:1', restartPolicy: Always}]", [], []),
    "an optional object": ("volumes: [{name: a, secret: {secretName: b, optional: true}}]", [SECRETS], []),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_the_cluster_says(case):
    pod, facts, expected = CASES[case]
    assert told(pod, *facts) == expected


def test_the_restricted_level_names_every_field_that_is_missing():
    messages = [message.partition(":")[0] for _, message, _ in told("", LABELLED % "restricted")]
    assert sorted(messages) == [
        "must be RuntimeDefault or Localhost", "must be false", "must be true", "must drop ALL capabilities",
    ]  # fmt: skip


def test_a_pod_that_meets_the_restricted_level():
    pod = "securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}"
    container = (
        "containers: [{name: node, image: 'train:1', "
        "securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}]"
    )
    assert told(pod, LABELLED % "restricted", containers=container) == []


def test_a_default_limit_below_the_request():
    container = "containers: [{name: node, image: 'train:1', resources: {requests: {cpu: 2}}}]"
    assert told("", RANGE % "{type: Container, default: {cpu: 1}}", containers=container) == [
        ("TF564", "cpu: requests 2, more than the limit 1, which a LimitRange sets where the container sets none", 1)
    ]

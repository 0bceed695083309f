"""A job in each state of its life is Synced, by the rules of both diff strategies that Argo CD computes itself.

`three_way` and `structured_merge` predict the live object from git's and the live one, as `gitops-engine/pkg/diff`
does. Live objects have what JobSet's webhook adds when it stores them, and what Kueue writes when it admits them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import jq
import pytest

from support.streams import compiled, job, jobset, replicated_job, runtime
from trainform.k8s.schema.definitions import Schema, reference, resolved
from trainform.output.argocd import IGNORED

Tree = dict[str, Any]
QUEUE = {"kueue.x-k8s.io/queue-name": "team-a"}
SPOT = {"key": "spot", "operator": "Exists"}


def three_way(git: Any, live: Any) -> bool:
    """Whether nothing differs in what git has. Without `last-applied-configuration`, git's object stands in for it."""
    if isinstance(git, dict) and isinstance(live, dict):
        return all(key in live and three_way(value, live[key]) for key, value in git.items())
    if isinstance(git, list) and isinstance(live, list):
        return len(git) == len(live) and all(map(three_way, git, live))
    return bool(git == live)


def structured_merge(git: Any, live: Any, schema: Schema | None = None) -> bool:
    """Whether a server-side apply changes nothing: maps and lists with keys are merged, other lists are replaced."""
    schema = resolved(schema or reference("JobSet"))
    if isinstance(git, dict) and isinstance(live, dict):
        fields = schema.get("properties", {})
        return all(key in live and structured_merge(each, live[key], fields.get(key, {})) for key, each in git.items())
    keys = schema.get("x-kubernetes-list-map-keys")
    if keys and isinstance(git, list) and isinstance(live, list):
        found = {tuple(each.get(key) for key in keys): each for each in live}
        pairs = [(each, found.get(tuple(each.get(key) for key in keys))) for each in git]
        return all(structured_merge(each, other, schema["items"]) for each, other in pairs)
    return bool(git == live)


STRATEGIES = [three_way, structured_merge]


def templates(tree: Tree) -> Iterator[Tree]:
    for each in tree["spec"]["replicatedJobs"]:
        yield each["template"]


def stored(git: Tree) -> Tree:
    """What JobSet's webhook stores: Go writes structs that are empty."""
    live = copy.deepcopy(git)
    live["metadata"] |= {"uid": "1", "resourceVersion": "2", "generation": 1, "managedFields": []}
    live["status"] = {"restarts": 0}
    for template in templates(live):
        template.setdefault("metadata", {})
        pods = template["spec"]["template"]
        pods.setdefault("metadata", {})
        for container in pods["spec"]["containers"]:
            container.setdefault("resources", {})
    for policy in live["spec"].get("volumeClaimPolicies", []):
        for claim in policy["templates"]:
            claim.setdefault("status", {})
    return live


def queued(git: Tree) -> Tree:
    live = stored(git)
    live["spec"]["suspend"] = True
    live["status"]["conditions"] = [{"type": "Suspended", "status": "True"}]
    return live


def admitted(git: Tree) -> Tree:
    live = queued(git)
    live["spec"]["suspend"] = False
    for template in templates(live):
        pods = template["spec"]["template"]
        pods["metadata"].setdefault("labels", {})["kueue.x-k8s.io/podset"] = "node"
        pods["metadata"].setdefault("annotations", {})["kueue.x-k8s.io/workload"] = "jobset-llm-1a2b3"
        pods["spec"].setdefault("nodeSelector", {})["pool"] = "h100"
        pods["spec"].setdefault("tolerations", []).append({"key": "gpu", "operator": "Exists"})
        pods["spec"].setdefault("schedulingGates", []).append({"name": "kueue.x-k8s.io/topology"})
    return live


def running(live: Tree) -> Tree:
    live["status"]["replicatedJobsStatus"] = [{"name": "node", "active": 1, "ready": 1}]
    return live


def restarted(live: Tree) -> Tree:
    live["status"] |= {"restarts": 2, "restartsCountTowardsMax": 2}
    return running(live)


def finished(live: Tree) -> Tree:
    live["status"] |= {"terminalState": "Completed", "conditions": [{"type": "Completed", "status": "True"}]}
    return live


def as_is(live: Tree) -> Tree:
    return live


def rendered(labels: dict[str, str], **spec: Any) -> Tree:
    node = {"name": "node", "image": "i:1", "volumeMounts": [{"name": "v", "mountPath": "/v"}]}
    pod = {"containers": [node], "tolerations": [SPOT], "nodeSelector": {"zone": "a"}}
    template = runtime("rt", replicated_job(pod=pod))
    storage = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claim = {"metadata": {"name": "v"}, "spec": storage}
    template["spec"]["template"]["spec"] |= {"volumeClaimPolicies": [{"templates": [claim]}], **spec}
    template["spec"]["template"]["metadata"] = {"labels": labels}
    return jobset(compiled(job(), template))


def compared(tree: Tree) -> Tree:
    """What is left after the ignore rules of the bootstrap."""
    for path in IGNORED:
        tree = jq.compile(f"del({path})").input_value(tree).first()
    return tree


IN_A_QUEUE = [(queued, as_is), (admitted, as_is), (admitted, running), (admitted, restarted), (admitted, finished)]
IN_NONE = [(stored, as_is), (stored, running), (stored, restarted), (stored, finished)]


@pytest.mark.parametrize("synced", STRATEGIES)
@pytest.mark.parametrize(
    ("labels", "admission", "state"),
    [*((QUEUE, *each) for each in IN_A_QUEUE), *(({}, *each) for each in IN_NONE)],
    ids=lambda each: "queue" if each == QUEUE else "" if each == {} else each.__name__,
)
def test_a_job_is_synced_in_each_state(
    synced: Callable[[Any, Any], bool],
    labels: dict[str, str],
    admission: Callable[[Tree], Tree],
    state: Callable[[Tree], Tree],
) -> None:
    git = rendered(labels)
    assert synced(compared(git), compared(state(admission(git))))


@pytest.mark.parametrize("synced", STRATEGIES)
def test_a_job_that_git_suspends_is_synced(synced: Callable[[Any, Any], bool]) -> None:
    git = rendered({}, suspend=True)
    assert synced(compared(git), compared(queued(git)))


@pytest.mark.parametrize("synced", STRATEGIES)
def test_what_somebody_else_changes_is_not(synced: Callable[[Any, Any], bool]) -> None:
    git = rendered({})
    assert not synced(compared(git), compared(admitted(git)))


def test_without_a_rule_the_status_of_claims_would_differ() -> None:
    git = rendered({})
    assert not structured_merge(git, stored(git))

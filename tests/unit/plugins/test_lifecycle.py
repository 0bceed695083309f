"""Life cycle: what an engine would run, kill or lose by itself, told before it does."""

from __future__ import annotations

from typing import Any

import pytest

from support.streams import Tree, compiled, job, replicated_job, runtime
from trainform.core.compile import Compilation
from trainform.diagnostics import Diagnostic

HOOK, OPTIONS = "argocd.argoproj.io/hook", "argocd.argoproj.io/sync-options"
FORCE = "kustomize.toolkit.fluxcd.io/force"
INSTANCE, TRACKING = "app.kubernetes.io/instance", "argocd.argoproj.io/tracking-id"
FLUX_NAME = "kustomize.toolkit.fluxcd.io/name"


def environment(engine: str = "argocd", naming: str = "stable", *, allow: Any = (), **spec: Any) -> Tree:
    gitops = {"engine": engine, "naming": naming, "allow": list(allow)}
    api = "trainform.dev/v1alpha1"
    metadata = {"name": "prod"}
    return {"apiVersion": api, "kind": "Environment", "metadata": metadata, "spec": {"gitops": gitops, **spec}}


def template(replicated: Tree | None = None, *, metadata: Tree | None = None, **spec: Any) -> Tree:
    """A runtime whose JobSet template has further fields."""
    tree = runtime("rt", replicated or replicated_job())
    tree["spec"]["template"]["spec"].update(spec)
    tree["spec"]["template"] |= {"metadata": metadata} if metadata else {}
    return tree


def told(*objects: Tree) -> list[Diagnostic]:
    """What the rules of the life cycle say."""
    compilation: Compilation = compiled(*objects)
    return [d for each in compilation.jobs for d in each.diagnostics if d.plugin == "lifecycle"]


def short(*objects: Tree) -> list[tuple[str, str]]:
    return [(d.code, d.severity) for d in told(*objects)]


def of_jobs(field: str, value: int) -> Tree:
    replicated = replicated_job()
    replicated["template"]["spec"][field] = value
    return replicated


TTL: Tree = {"ttlSecondsAfterFinished": 60}


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        ((template(**TTL), environment("argocd")), [("TF620", "error")]),
        ((template(**TTL), environment("flux")), [("TF620", "error")]),
        ((template(of_jobs("ttlSecondsAfterFinished", 0)), environment()), [("TF620", "error")]),
        ((template(**TTL), environment(allow=["ttl"])), []),
        ((template(**TTL), environment("none")), []),
        ((template(**TTL),), []),
        ((template(), environment()), []),
    ],
    ids=["argocd", "flux", "of the Job", "permitted", "no engine", "no Environment", "no ttl"],
)
def test_no_engine_gets_a_job_that_deletes_itself(objects, expected):
    assert short(job(), *objects) == expected


def claims(**retention: str) -> Tree:
    mounts = [{"name": "checkpoints", "mountPath": "/checkpoints"}]
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    policy: Tree = {"templates": [{"metadata": {"name": "checkpoints"}, "spec": spec}]}
    policy |= {"retentionPolicy": retention} if retention else {}
    return template(replicated_job(volumeMounts=mounts), volumeClaimPolicies=[policy])


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        ((claims(), environment(naming="content-hash")), [("TF621", "error")]),
        ((claims(whenDeleted="Delete"), environment("none", "content-hash")), [("TF621", "error")]),
        ((claims(whenDeleted="Retain"), environment(naming="content-hash")), []),
        ((claims(), environment(naming="content-hash", allow=["delete-claims"])), []),
        ((claims(), environment(naming="stable")), []),
        ((claims(),), []),
    ],
    ids=["default", "delete", "retain", "permitted", "stable", "no Environment"],
)
def test_claims_do_not_go_with_every_version(objects, expected):
    assert short(job(), *objects) == expected


@pytest.mark.parametrize(
    ("annotations", "expected"),
    [
        ({OPTIONS: "Force=true"}, ["Force=true"]),
        ({OPTIONS: "Validate=false, Replace=true,Force=true"}, ["Replace=true", "Force=true"]),
        ({FORCE: "Enabled"}, [f"{FORCE}: Enabled"]),
        ({OPTIONS: "Validate=false", FORCE: "disabled"}, []),
    ],
)
@pytest.mark.parametrize("given", [(), (environment(),)], ids=["no Environment", "argocd"])
def test_forcing_is_warned_of_with_and_without_an_environment(annotations, expected, given):
    problems = told(job(), template(metadata={"annotations": annotations}), *given)
    assert [problem.message.split(" can ")[0] for problem in problems] == expected
    assert {problem.severity for problem in problems} <= {"warning"}
    assert all(problem.path[:4] == ("spec", "template", "metadata", "annotations") for problem in problems)


MAX_TIME, QUEUE = "kueue.x-k8s.io/max-exec-time-seconds", "kueue.x-k8s.io/queue-name"
DELETES = {"kueueDeletesDeactivated": True}


@pytest.mark.parametrize(
    ("labels", "given", "expected"),
    [
        ({QUEUE: "a", MAX_TIME: "60"}, environment(cluster=DELETES), [("TF637", "error")]),
        ({QUEUE: "a", MAX_TIME: "60"}, environment("flux", cluster=DELETES), [("TF637", "error")]),
        ({QUEUE: "a"}, environment(cluster=DELETES), [("TF637", "warning")]),
        ({}, environment(cluster=DELETES), []),
        ({QUEUE: "a", MAX_TIME: "60"}, environment(), []),
        ({QUEUE: "a", MAX_TIME: "60"}, environment(cluster={"kueueDeletesDeactivated": False}), []),
        ({QUEUE: "a", MAX_TIME: "60"}, environment("none", cluster=DELETES), []),
        ({QUEUE: "a", MAX_TIME: "60"}, environment(cluster=DELETES, allow=["ttl"]), []),
    ],
    ids=["argocd", "flux", "no limit", "no queue", "unknown", "keeps them", "no engine", "allowed"],
)
def test_what_kueue_deletes_is_made_anew(labels, given, expected):
    assert short(job(), template(metadata={"labels": labels}), given) == expected


def test_a_time_limit_of_the_environment_is_told_there():
    kueue = {"localQueue": "a", "maxExecTimeSeconds": 60}
    (problem,) = told(job(), template(), environment(cluster=DELETES, scheduling={"kueue": kueue}))
    assert problem.path == ("spec", "scheduling", "kueue", "maxExecTimeSeconds")


@pytest.mark.parametrize("key", [HOOK, "helm.sh/hook"])
@pytest.mark.parametrize(("engine", "expected"), [("argocd", 1), ("flux", 1), ("none", 0)])
def test_training_is_no_hook(key, engine, expected):
    hooked = template(metadata={"annotations": {key: "Sync"}})
    assert short(job(), hooked, environment(engine)) == [("TF623", "error")] * expected


def test_a_hook_that_a_patch_makes_is_told_of_the_environment():
    patch = {"target": {"kind": "JobSet"}, "patch": {"metadata": {"annotations": {HOOK: "Sync"}}}}
    (problem,) = told(job(), template(), environment(patches=[patch]))
    assert problem.path == ("spec", "patches", 0, "patch", "metadata", "annotations", HOOK)
    assert problem.object_path == ("metadata", "annotations", HOOK)


@pytest.mark.parametrize(
    ("labels", "suspend", "expected"),
    [
        ({"kueue.x-k8s.io/queue-name": "team-a"}, True, [("TF624", "warning")]),
        ({"kueue.x-k8s.io/queue-name": "team-a"}, False, []),
        ({}, True, []),
    ],
)
def test_kueue_decides_about_suspended_jobs_in_its_queues(labels, suspend, expected):
    train = job(suspend=suspend)
    train["metadata"]["labels"] = labels
    assert short(train, template()) == expected


@pytest.mark.parametrize(
    ("engine", "field", "key", "expected"),
    [
        ("argocd", "labels", INSTANCE, 1),
        ("argocd", "annotations", TRACKING, 1),
        ("flux", "labels", FLUX_NAME, 1),
        ("flux", "labels", INSTANCE, 0),
        ("argocd", "labels", FLUX_NAME, 0),
        ("none", "labels", INSTANCE, 0),
    ],
)
def test_the_marks_of_an_engine_are_its_own_to_set(engine, field, key, expected):
    marked = template(metadata={field: {key: "jobs"}})
    assert short(job(), marked, environment(engine)) == [("TF625", "warning")] * expected


WAVE, RECONCILE = "argocd.argoproj.io/sync-wave", "kustomize.toolkit.fluxcd.io/reconcile"


@pytest.mark.parametrize(
    ("engine", "annotations", "expected"),
    [
        ("argocd", {WAVE: "5"}, 1),
        ("argocd", {WAVE: "-1"}, 1),
        ("argocd", {WAVE: "0"}, 0),
        ("argocd", {}, 0),
        ("flux", {WAVE: "5"}, 0),
        ("flux", {RECONCILE: "disabled"}, 1),
        ("flux", {RECONCILE: "Disabled"}, 1),
        ("flux", {RECONCILE: "enabled"}, 0),
        ("argocd", {RECONCILE: "disabled"}, 0),
        ("none", {RECONCILE: "disabled", WAVE: "5"}, 0),
    ],
)
def test_an_engine_that_is_told_to_wait_or_to_skip(engine, annotations, expected):
    marked = template(metadata={"annotations": annotations})
    assert short(job(), marked, environment(engine)) == [("TF641", "warning")] * expected


@pytest.mark.parametrize(
    ("options", "hints"),
    [
        ("Prune=false , Validate=false,,", []),
        ("Prune=False", ["write Prune=false"]),
        ("serversideapply = true", ["write ServerSideApply=true"]),
        ("Delete=maybe,Prune=confirm", ["options: ApplyOutOfSyncOnly"]),
    ],
)
def test_sync_options_are_read_as_argo_cd_reads_them(options, hints):
    problems = told(job(), template(metadata={"annotations": {OPTIONS: options}}), environment())
    assert [(problem.code, problem.severity) for problem in problems] == [("TF642", "warning")] * len(hints)
    assert all(problem.hint.startswith(hint) for problem, hint in zip(problems, hints, strict=True))


def test_what_argo_cd_does_not_take_for_forcing_is_no_forcing():
    assert [problem.code for problem in told(job(), template(metadata={"annotations": {OPTIONS: "force=true"}}))] == []


def namespace(name: str) -> Tree:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        ((job(), namespace("ml")), []),
        ((job(), namespace("other")), [("metadata", "namespace")]),
        ((job(namespace=""), namespace("other"), environment(namespace="ml")), [("spec", "namespace")]),
        ((job(namespace="default"), namespace("other")), []),
        ((job(), environment()), []),
    ],
    ids=["declared", "another one declared", "of the Environment", "always there", "none declared"],
)
def test_a_namespace_that_nobody_declared_is_told_where_it_is_named(objects, expected):
    problems = told(template(), *objects)
    assert [problem.path for problem in problems] == expected
    assert {problem.code for problem in problems} <= {"TF626"}


GANG = runtime("rt", podGroupPolicy={"coscheduling": {}})


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        ((GANG, environment()), [("TF627", "info")]),
        ((GANG, environment(cluster={"schedulers": ["coscheduling"]})), []),
        ((GANG, environment("none")), []),
        ((GANG,), []),
        ((template(), environment()), []),
    ],
    ids=["unknown", "installed", "no engine", "no Environment", "no gang"],
)
def test_a_pod_group_needs_its_scheduler(objects, expected):
    assert short(job(), *objects) == expected


def test_an_unknown_scheduler_is_told_in_the_same_words_for_all_jobs():
    one, two = told(job("one"), job("two"), GANG, environment())
    assert one._replace(jobs=()) == two._replace(jobs=())


TORCH = runtime("rt", policy={"torch": {}})
HASH = environment("none", "content-hash")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("tcp://llm-node-0-0.llm:1234", "write $(PET_MASTER_ADDR)"),
        ("llm-node-0-0", "write $(PET_MASTER_ADDR)"),
        ("--hosts=llm-node-0-1.llm,llm-node-0-2.llm", "take the name from a variable"),
        ("llm-node-0-0.llm.ml.svc.cluster.local", "write $(PET_MASTER_ADDR)"),
        ("my-llm-node-0-0.llm", ""),
        ("llm-launcher-0-0.llm", ""),
        ("llm", ""),
        ("--run=llm-node", ""),
    ],
)
def test_a_host_name_by_hand_does_not_follow_the_hash(text, hint):
    problems = told(TORCH, job(trainer={"args": ["train.py", text]}), HASH)
    assert [problem.code for problem in problems] == ["TF628"] * bool(hint)
    for problem in problems:
        assert problem.path == ("spec", "trainer", "args", 1)
        assert problem.hint.startswith(hint)


def test_host_names_by_hand_are_right_under_stable_naming():
    assert told(TORCH, job(trainer={"args": ["llm-node-0-0.llm"]}), environment("none")) == []


@pytest.mark.parametrize(
    ("volume", "expected"), [("llm-mpi-hostfile", ["TF628"]), ("llm-mpi-ssh-auth", []), ("shared", [])]
)
def test_an_object_by_hand_does_not_follow_the_hash(volume, expected):
    volumes = [{"name": "own", "configMap": {"name": volume}}]
    launcher = replicated_job("launcher", pod={"volumes": volumes})
    mpi = runtime("rt", replicated_job("node", ""), launcher, policy={"mpi": {}})
    assert [problem.code for problem in told(mpi, job(trainer={}), HASH)] == expected


@pytest.mark.parametrize(("given", "expected"), [(HASH, ["TF629"]), (environment(), [])], ids=["hash", "stable"])
def test_versions_of_a_job_do_not_share_a_subdomain(given, expected):
    ring = template(network={"subdomain": "ring"})
    assert [problem.code for problem in told(job(), ring, given)] == expected

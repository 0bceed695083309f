"""Names with a content hash: what follows them, what makes a new one, and what does not."""

from __future__ import annotations

import re
from typing import Any

import pytest

from support.golden import golden_cases
from support.streams import Tree, compiled, errors, job, jobset, replicated_job, runtime
from trainform import Plugin
from trainform.core.catalogue import Catalogue
from trainform.core.compile import CompiledJob, compile_documents
from trainform.core.gitops import ALPHABET, LENGTH, content_hash
from trainform.core.plugin import STAGES
from trainform.diagnostics.text import render_text
from trainform.installed import load_plugins
from trainform.io.resources import shipped_runtimes
from trainform.output.emitter import emit
from trainform.source import load
from trainform.testing import GoldenCase

HASHED = re.compile(f"llm-[{ALPHABET}]{{{LENGTH}}}")
NAMES = {"TF501", "TF506", "TF605", "TF612", "TF621", "TF628", "TF629"}
"""What is told of a job because of its name, or of its naming."""


def environment(naming: str = "content-hash", *, gitops: Tree | None = None, **spec: Any) -> Tree:
    spec = {"gitops": {"naming": naming, **(gitops or {})}, **spec}
    api = "trainform.dev/v1alpha1"
    return {"apiVersion": api, "kind": "Environment", "metadata": {"name": "prod"}, "spec": spec}


HASH, STABLE = environment(), environment("stable")


def name_of(*objects: Tree) -> str:
    """The name of the only JobSet."""
    name: str = jobset(compiled(*objects))["metadata"]["name"]
    return name


def objects_of(*objects: Tree) -> list[Tree]:
    compilation = compiled(*objects)
    assert errors(compilation) == []
    return compilation.jobs[0].objects


BESIDE = "core/companions-beside-a-job"
"""Its ConfigMaps have a hash of their own under stable names, and the job's otherwise: see the next test."""

WITHOUT_ENVIRONMENT = [
    pytest.param(case, id=str(case))
    for case in golden_cases()
    if str(case) != BESIDE and all(each.tree.get("kind") != "Environment" for each in case.loaded().documents)
]


def compile_case(case: GoldenCase, environment: Tree) -> list[CompiledJob]:
    loaded, own = case.loaded(), load(emit(environment), "environment.yaml")
    documents = [*loaded.documents, *own.documents]
    catalogue = Catalogue(dict(shipped_runtimes()))
    source = loaded.diagnostics
    return compile_documents(documents, catalogue=catalogue, plugins=load_plugins(), source=source).jobs


def test_what_stands_beside_a_job_changes_with_it():
    (case,) = (case for case in golden_cases() if str(case) == BESIDE)
    for given, names in ((environment(), r"llm-[0-9a-z]{8}-files"), (STABLE, r"llm-files-[0-9a-z]{8}")):
        (job,) = compile_case(case, given)
        found = {tree["metadata"]["name"] for tree in job.objects if tree["kind"] == "ConfigMap"}
        assert any(re.fullmatch(names, name) for name in found), found
        (tree,) = (tree for tree in job.objects if tree["kind"] == "JobSet")
        assert all(name in emit(tree) for name in found)


@pytest.mark.parametrize("case", WITHOUT_ENVIRONMENT)
def test_the_hash_follows_the_job_in_every_name_and_changes_nothing_else(case):
    permissive = environment(gitops={"allow": ["delete-claims"]})
    for hashed, stable in zip(compile_case(case, permissive), compile_case(case, STABLE), strict=True):
        name = next((tree["metadata"]["name"] for tree in hashed.objects if tree["kind"] == "JobSet"), "")
        unhashed = [emit(tree).replace(name, stable.name) for tree in hashed.objects]
        assert unhashed == [emit(tree) for tree in stable.objects]
        assert hashed.deviations == stable.deviations
        told = [d.code for d in hashed.diagnostics if d.code not in NAMES]
        assert told == [d.code for d in stable.diagnostics if d.code not in NAMES]


def test_a_hash_is_eight_characters_of_kubernetes_own_alphabet():
    assert HASHED.fullmatch(name_of(runtime(), job(), HASH))


TRAIN = runtime("rt", replicated_job(resources={"limits": {"cpu": "1"}}), policy={"torch": {}})


def labelled(**metadata: Any) -> Tree:
    tree = job()
    return {**tree, "metadata": {**tree["metadata"], **metadata}}


def label(key: str, value: str, field: str = "labels") -> Tree:
    return environment(patches=[{"target": {"kind": "JobSet"}, "patch": {"metadata": {field: {key: value}}}}])


@pytest.mark.parametrize(
    "objects",
    [
        (TRAIN, job(trainer={"image": "train:2"}), HASH),
        (TRAIN, job(trainer={"numNodes": 2}), HASH),
        (TRAIN, job(namespace="other"), HASH),
        (TRAIN, labelled(labels={"kueue.x-k8s.io/queue-name": "team-a"}), HASH),
        (TRAIN, labelled(annotations={"trainform.dev/rerun": "1"}), HASH),
        (TRAIN, labelled(annotations={"trainform.dev/rerun": "2"}), HASH),
        (TRAIN, job(), label("team", "vision")),
        (runtime("rt", replicated_job(resources={"limits": {"cpu": "2"}}), policy={"torch": {}}), job(), HASH),
    ],
    ids=["image", "nodes", "namespace", "queue", "rerun", "rerun again", "final patch", "runtime"],
)
def test_a_changed_job_is_a_new_object(objects):
    others = {name_of(TRAIN, job(), HASH), name_of(TRAIN, labelled(annotations={"trainform.dev/rerun": "7"}), HASH)}
    assert name_of(*objects) not in others


@pytest.mark.parametrize(
    "objects",
    [
        (runtime("rt", replicated_job(resources={"limits": {"cpu": "1000m"}}), policy={"torch": {}}), job(), HASH),
        (runtime("rt", {**TRAIN["spec"]["template"]["spec"]["replicatedJobs"][0], "groupName": "default"},
                 policy={"torch": {}}), job(), HASH),
        (TRAIN, labelled(labels={"team": "vision"}), HASH),
        (TRAIN, job(), environment(gitops={"engine": "argocd", "pruneProtection": "confirm"})),
        (TRAIN, job(), environment(gitops={"engine": "flux", "pruneProtection": "confirm"})),
        (TRAIN, job(), label("argocd.argoproj.io/sync-wave", "5", "annotations")),
    ],
    ids=["quantity", "default", "label of the TrainJob", "argocd", "flux", "wave"],
)  # fmt: skip
def test_what_does_not_change_what_runs_makes_no_new_object(objects):
    assert name_of(*objects) == name_of(TRAIN, job(), HASH)


MPI = job("llm", "deepspeed-distributed")


def test_keys_keep_the_name_of_the_job_and_make_no_new_one():
    by_mode = {mode: objects_of(MPI, environment(secrets={"mode": mode})) for mode in ("reference", "external-secret")}
    names = {mode: {tree["kind"]: tree["metadata"]["name"] for tree in trees} for mode, trees in by_mode.items()}
    assert names["external-secret"]["ExternalSecret"] == names["external-secret"]["SSHKey"] == "llm-mpi-ssh-auth"
    assert names["external-secret"]["JobSet"] == names["reference"]["JobSet"]


def test_the_order_of_objects_and_keys_does_not_matter():
    one, two = ({"kind": "ConfigMap", "metadata": {"name": name}} for name in "ab")
    backwards = {key: one[key] for key in reversed(one)}
    assert content_hash([one, two]) == content_hash([two, backwards])
    assert content_hash([one]) != content_hash([one, two])


def flux_patch(name: str) -> Tree:
    volume = {"name": name, "configMap": {"defaultMode": 0o700}}
    pod = {"spec": {"volumes": [volume]}}
    jobs = [{"name": "node", "template": {"spec": {"template": pod}}}]
    return {"target": {"kind": "JobSet"}, "patch": {"spec": {"replicatedJobs": jobs}}}


TEAM = {"metadata": {"labels": {"team": "vision"}}}
OF_JOBSET = {
    "apiVersion": "jobset.x-k8s.io/v1alpha2",
    "kind": "JobSet",
    "metadata": {"name": "llm", **TEAM["metadata"]},
}


@pytest.mark.parametrize(
    ("kind", "patch"),
    [
        ("JobSet", {"target": {"name": "llm"}, "patch": TEAM}),
        ("JobSet", {"target": {"name": "l.m", "kind": "JobSet"}, "patch": TEAM}),
        ("JobSet", {"patch": OF_JOBSET}),
        ("ConfigMap", {"target": {"name": "llm-mpi-hostfile"}, "patch": TEAM}),
    ],
    ids=["name", "pattern", "without target", "companion"],
)
def test_patches_know_objects_by_their_stable_names(kind, patch):
    patched = next(t for t in objects_of(MPI, environment(patches=[patch])) if t["kind"] == kind)
    assert patched["metadata"]["labels"] == {"team": "vision"}
    assert HASHED.match(patched["metadata"]["name"])


def test_patches_know_the_volume_of_flux_by_its_stable_name():
    flux = job("llm", "flux-distributed", trainer={"numNodes": 2, "command": ["lmp"]})
    tree = jobset(compiled(flux, environment(patches=[flux_patch("llm-flux-entrypoint")])))
    pod = tree["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    (volume,) = (each for each in pod["volumes"] if "configMap" in each)
    assert volume["configMap"] == {"name": f"{tree['metadata']['name']}-flux-entrypoint", "defaultMode": 0o700}


def test_a_patch_that_meets_nothing_is_told_the_stable_names():
    (told,) = errors(compiled(MPI, environment(patches=[{"target": {"name": "other"}, "patch": TEAM}])))
    assert told.hint == "available: llm, llm-mpi-hostfile"


def test_no_problem_is_told_twice():
    broken = job(trainer={"env": [{"name": "PET_NNODES", "value": "2"}], "numNodes": 2})
    told = render_text(compiled(TRAIN, broken, HASH).jobs[0].diagnostics, colour=False)
    assert told == render_text(compiled(TRAIN, broken, STABLE).jobs[0].diagnostics, colour=False)


def test_the_hint_on_a_long_name_leaves_room_for_the_hash():
    name = "a" * 50
    (told,) = errors(compiled(runtime(), job(name), HASH))
    assert (told.code, told.path) == ("TF501", ("metadata", "name"))
    assert told.hint == "use a name of at most 39 characters"
    assert errors(compiled(runtime(), job("a" * 39), HASH)) == []
    assert errors(compiled(runtime(), job("a" * 40), HASH)) != []


def recorder(calls: list[str]) -> Plugin:
    """A plugin that notes each stage that it takes part in."""

    def recorded(stage: str) -> Any:
        def call(self: Plugin, plan: Any) -> tuple[()]:
            calls.append(stage)
            return ()

        return call

    stages = {stage: recorded(stage) for stage in STAGES}
    plugin: Plugin = type("Recorder", (Plugin,), {"name": "toy", **stages})()
    return plugin


@pytest.mark.parametrize(("given", "runs"), [(STABLE, 1), (HASH, 2)], ids=["stable", "content-hash"])
def test_only_a_hash_takes_a_second_run_which_is_the_one_that_is_checked(given, runs):
    calls: list[str] = []
    compiled(runtime(), job(), given, plugins=(*load_plugins(), recorder(calls)))
    assert calls == [*STAGES[:-1] * runs, "check"]


def test_a_plugin_that_fails_is_told_once():
    def build(self, plan):
        raise ZeroDivisionError("oh no")

    toy = type("Toy", (Plugin,), {"name": "toy", "build": build})()
    compilation = compiled(runtime(), job(), HASH, plugins=(*load_plugins(), toy))
    assert [d.code for d in errors(compilation)] == ["TF901"]
    assert len(compilation.failures) == 1

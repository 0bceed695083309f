"""`trainform diff --live`: what a cluster would do with what is rendered, in the words of its API server."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import pytest
import yaml

from support.api_server import Fault, Refusal
from support.repositories import Repository, environment, job, runtime

JOBSET = "rendered/prod/ml/llm/jobset-llm.yaml"
PATH = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/ml/jobsets/llm"


@pytest.fixture
def repository(root: Path, trainform) -> Repository:
    found = Repository(root)
    found.write("environments/prod/environment.yaml", environment())
    found.write("runtimes/torch.yaml", runtime())
    found.write("jobs/llm.yaml", job("llm"))
    assert trainform("render").code == 0
    return found


def rendered(repository: Repository) -> dict:
    tree: dict = yaml.safe_load((repository.root / JOBSET).read_text())
    return tree


def test_an_object_that_would_be_created(server, repository, trainform):
    ran = trainform("diff", "--live")
    assert (ran.code, ran.err) == (1, "")
    assert ran.out == f"create     {JOBSET}: JobSet ml/llm\n\n1 object in prod: 1 to create\n"


def test_a_repository_that_nobody_rendered_is_told(server, root, trainform):
    Repository(root).write("jobs/llm.yaml", job("llm"))
    ran = trainform("diff", "--live")
    assert ran.out == "0 objects in default: nothing is rendered, so run `trainform render` first\n"


def test_nothing_is_stored(server, repository, trainform):
    trainform("diff", "--live")
    patches = [seen for seen in server.seen if seen.method != "GET"]
    expected = {"dryRun": "All", "fieldManager": "trainform", "force": "true", "fieldValidation": "Strict"}
    assert [(seen.method, seen.path, seen.query) for seen in patches] == [("PATCH", PATH, expected)]
    assert patches[0].headers["content-type"] == "application/apply-patch+yaml"
    assert json.loads(patches[0].body) == rendered(repository)


def test_an_engine_s_own_apply_can_be_tried(server, repository, trainform):
    trainform("diff", "--live", "--field-manager", "argocd-controller")
    assert server.seen[-1].query["fieldManager"] == "argocd-controller"


def test_no_change(server, repository, trainform):
    tree = rendered(repository)
    server.put({**tree, "status": {"restarts": 1}})
    assert trainform("diff", "--live").code == 0
    ran = trainform("diff", "--live", "--verbose")
    assert ran.out == f"no change  {JOBSET}: JobSet ml/llm\n\n1 object in prod: 1 unchanged\n"


def test_what_would_change_is_told_field_by_field(server, repository, trainform):
    tree = rendered(repository)
    tree["spec"]["replicatedJobs"][0]["template"]["spec"]["parallelism"] = 9
    tree["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]["containers"][0]["image"] = (
        "example/old:1"
    )
    server.put(tree)
    ran = trainform("diff", "--live")
    assert ran.code == 1
    assert "  spec.replicatedJobs[node].template.spec.parallelism: 9 → 2\n" in ran.out
    assert 'containers[node].image: "example/old:1" → "registry.example.com/train:1"\n' in ran.out


def test_what_a_webhook_would_add_is_part_of_the_change(server, repository, trainform):
    server.put(rendered(repository))

    def admit(tree):
        changed = copy.deepcopy(tree)
        changed["metadata"]["annotations"] = {"example.com/injected": "yes"}
        return changed

    server.admit = admit
    assert '  metadata.annotations: nothing → {"example.com/injected": "yes"}\n' in trainform("diff", "--live").out


DENIED = 'admission webhook "vjobset.kb.io" denied the request: spec.replicatedJobs: field is immutable'


@pytest.mark.parametrize(
    ("message", "code"),
    [(DENIED, 403), ('JobSet.jobset.x-k8s.io "llm" is invalid: spec.replicas: Required', 422), ("conflict", 409)],
)
def test_what_is_refused_is_told_in_the_server_s_words(server, repository, trainform, message, code):
    def admit(tree):
        raise Refusal(message, code)

    server.admit = admit
    ran = trainform("diff", "--live")
    assert ran.code == 2
    assert ran.out == f"refused    {JOBSET}: JobSet ml/llm\n  {message}\n\n1 object in prod: 1 refused\n"


def test_a_kind_that_is_not_installed(server, repository, trainform):
    server.kinds = [each for each in server.kinds if each[1] != "JobSet"]
    ran = trainform("diff", "--live")
    assert ran.code == 2
    assert '  no matches for kind "JobSet" in version "jobset.x-k8s.io/v1alpha2": is it installed?\n' in ran.out


def test_a_right_that_is_missing(server, repository, trainform):
    server.deny("jobsets")
    ran = trainform("diff", "--live")
    assert ran.code == 2
    assert 'User "ci" cannot get resource "jobsets"' in ran.out


def test_what_kueue_wrote_is_left_alone_as_engines_do(server, repository, trainform):
    """JobSet refuses git's values of these fields while the job runs."""
    place = "/spec/replicatedJobs/0/template/spec/template/spec/tolerations"
    patch = [{"op": "add", "path": place, "value": [{"key": "own", "operator": "Exists"}]}]
    spec = {
        "scheduling": {"kueue": {"localQueue": "team"}},
        "patches": [{"target": {"kind": "JobSet"}, "patch": patch}],
    }
    head = {"apiVersion": "trainform.dev/v1alpha1", "kind": "Environment", "metadata": {"name": "prod"}}
    repository.write("environments/prod/environment.yaml", yaml.safe_dump({**head, "spec": spec}))
    repository.write("jobs/llm.yaml", job("llm", nodes=3))
    assert trainform("render").code == 0
    tree = rendered(repository)
    pod = tree["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    assert pod["spec"]["tolerations"] == [{"key": "own", "operator": "Exists"}]
    pod["spec"]["tolerations"] = [{"key": "own", "operator": "Exists"}, {"key": "flavor", "operator": "Exists"}]
    tree["spec"]["suspend"] = False
    server.put(tree)
    ran = trainform("diff", "--live")
    assert ran.code == 0, ran.out


def test_a_secret_is_neither_read_nor_sent(server, repository, trainform):
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "key", "namespace": "ml"}, "sops": {}}
    repository.write("rendered/prod/ml/llm/secret-key.yaml", yaml.safe_dump(secret))
    server.put(rendered(repository))
    ran = trainform("diff", "--live")
    assert ran.code == 0
    assert "skipped    rendered/prod/ml/llm/secret-key.yaml: Secret ml/key\n" in ran.out
    assert [seen.path for seen in server.seen if "secrets" in seen.path] == []


def test_json_has_every_object(server, repository, trainform):
    server.put(rendered(repository))
    found = json.loads(trainform("diff", "--live", "--format", "json").out)
    assert (found["kind"], found["environment"], found["context"]) == ("LiveDiffResult", "prod", "test")
    expected = {
        "file": JOBSET,
        "kind": "JobSet",
        "namespace": "ml",
        "name": "llm",
        "effect": "none",
        "message": "",
        "fields": [],
    }
    assert found["objects"] == [expected]


def test_markdown_holds_no_markup_of_the_cluster(server, repository, trainform):
    def admit(tree):
        raise Refusal("<img src=x>\n# forged @someone")

    server.admit = admit
    out = trainform("diff", "--live", "--format", "markdown").out
    assert f"refused `{JOBSET}`\n\n    <img src=x>↵# forged @someone\n" in out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--live", "--base", "HEAD"], "--live compares with a cluster"),
        (["--live", "--format", "html"], "--live has the formats text, markdown and json"),
        (["--context", "x"], "need --live"),
    ],
)
def test_options_that_do_not_fit(server, repository, trainform, arguments, told):
    ran = trainform("diff", *arguments)
    assert ran.code == 2
    assert told in ran.err


def test_a_cluster_that_does_not_answer_is_an_error(server, repository, trainform):
    server.fail("/apis/jobset.x-k8s.io/v1alpha2", Fault(401, "Unauthorized"))
    ran = trainform("diff", "--live")
    assert ran.code == 2
    assert ran.err == "Error: the cluster does not accept the credentials of this kubeconfig: Unauthorized\n"


@pytest.mark.parametrize("spoil", [lambda file: file.write_text("[\n"), lambda file: file.unlink()])
def test_a_manifest_that_cannot_be_read_is_refused(server, repository, trainform, spoil):
    file = repository.root / JOBSET
    spoil(file)
    shown = JOBSET if file.exists() else "rendered/prod/ml/llm"
    ran = trainform("diff", "--live")
    assert ran.code == 2
    assert ran.out.startswith(f"refused    {shown}\n  holds no object: run `trainform check`\n")

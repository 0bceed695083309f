"""The bootstrap for Flux."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from support.kustomize import build, needs_kubectl, write
from trainform.k8s import names as names_module
from trainform.output import argocd, flux
from trainform.output.emitter import emit

FILES = flux.files("prod")
ROOT = flux.root("prod")["spec"]
SPEC = flux.settings()["spec"]
SSA = "kustomize.toolkit.fluxcd.io/ssa"


def of_a_namespace(environment: str = "prod", namespace: str = "ml") -> dict[str, Any]:
    tree: dict[str, Any] = yaml.safe_load(flux.namespace_file("rendered", environment, namespace))
    return tree


def test_one_kustomization_for_each_namespace():
    spec = of_a_namespace()["spec"]
    assert (spec["path"], spec["prune"]) == ("./rendered/prod/ml", True)
    assert (ROOT["path"], ROOT["prune"]) == ("./rendered/_flux/prod", True)


def test_a_failed_job_holds_up_no_other_namespace():
    assert SPEC["wait"] is True
    assert "wait" not in ROOT


def test_nothing_is_forced():
    assert "force" not in {*ROOT, *SPEC, *of_a_namespace()["spec"]}


def test_deleting_a_kustomization_leaves_the_jobs_running():
    assert ROOT["deletionPolicy"] == of_a_namespace()["spec"]["deletionPolicy"] == "Orphan"


def test_the_root_has_another_name_than_the_kustomization_of_earlier_versions():
    """Flux would prune every job of that one, as its path no longer has any."""
    assert flux.root("prod")["metadata"]["name"] != "trainform-prod"


@pytest.mark.parametrize(
    ("one", "other"),
    [(("a-b", "c"), ("a", "b-c")), (("e" * 63, "n" * 63), ("e" * 63, "n" * 62 + "m"))],
    ids=["dashes", "long"],
)
def test_names_are_labels_and_tell_namespaces_apart(one, other):
    names = [of_a_namespace(*each)["metadata"]["name"] for each in (one, other)]
    assert len({*names}) == 2
    assert not any(map(names_module.label_value, names))
    assert not any(map(names_module.dns1123_subdomain, names))


@needs_kubectl
def test_the_patch_reaches_every_namespace(tmp_path):
    files = {f"{name}.yaml": flux.namespace_file("rendered", "prod", name).decode() for name in ("ml", "nlp")}
    kustomization = emit({"resources": [*files], "patches": ROOT["patches"]})
    built = build(write(tmp_path, {**files, "kustomization.yaml": kustomization}))
    assert [tree["metadata"]["name"] for tree in built] == ["prod.ml", "prod.nlp"]
    assert [tree["spec"]["path"] for tree in built] == ["./rendered/prod/ml", "./rendered/prod/nlp"]
    (own,) = SPEC["patches"]
    for tree in built:
        (patch,) = tree["spec"].pop("patches")
        assert (patch["target"], yaml.safe_load(patch["patch"])) == (own["target"], yaml.safe_load(own["patch"]))
        assert tree["spec"] == {**tree["spec"], **{key: SPEC[key] for key in SPEC if key != "patches"}}


@pytest.mark.parametrize("index", range(flux.REPLICATED_JOBS))
def test_the_same_fields_are_ignored_as_by_argo_cd(index):
    """All but Argo CD's last expression, which tidies up what its own deletions leave behind."""
    paths = [path.removeprefix(argocd.QUEUED).replace("[]?", f"[{index}]") for path in argocd.KUEUE_CHANGES[:-1]]
    pointers = {path.replace("[", ".").replace("]", "").replace(".", "/") for path in paths}
    assert pointers <= set(SPEC["ignore"][0]["paths"])


def test_rules_are_about_jobsets_in_a_queue_only():
    """In any other JobSet, git decides, and an ignored field would never be applied."""
    assert [each["target"] for each in SPEC["ignore"]] == [SPEC["patches"][0]["target"]]
    assert SPEC["ignore"][0]["target"] == {
        "group": "jobset.x-k8s.io",
        "kind": "JobSet",
        "labelSelector": "kueue.x-k8s.io/queue-name",
    }


@pytest.mark.parametrize("name", FILES)
def test_every_file_is_yaml(name):
    assert yaml.safe_load(FILES[name])["kind"] == "Kustomization"


def test_an_environment_may_be_called_as_a_file_of_the_bootstrap():
    assert len(flux.files("kustomization")) == 2


@needs_kubectl
def test_kustomize_builds_the_folder(tmp_path):
    (built,) = build(write(tmp_path / "flux", FILES))
    assert built == flux.root("prod")


@needs_kubectl
@pytest.mark.parametrize(
    ("labels", "annotations"),
    [({"kueue.x-k8s.io/queue-name": "team-a"}, {SSA: "IfNotPresent"}), ({"team": "nlp"}, None)],
    ids=["in-a-queue", "in-none"],
)
def test_only_jobsets_of_a_queue_are_created_and_left_alone(tmp_path, labels, annotations):
    metadata = {"name": "llm", "namespace": "ml", "labels": labels}
    jobset = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": metadata, "spec": {}}
    kustomization = emit({"resources": ["jobset.yaml"], "patches": SPEC["patches"]})
    (built,) = build(write(tmp_path, {"jobset.yaml": emit(jobset), "kustomization.yaml": kustomization}))
    assert built["metadata"].get("annotations") == annotations

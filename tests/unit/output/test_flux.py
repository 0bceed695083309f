"""The bootstrap for Flux."""

from __future__ import annotations

import pytest
import yaml

from support.kustomize import build, needs_kubectl, write
from trainform.output import argocd, flux
from trainform.output.emitter import emit

FILES = flux.files("prod")
SPEC = flux.kustomization("prod")["spec"]
SSA = "kustomize.toolkit.fluxcd.io/ssa"


def test_one_kustomization_for_the_environment():
    assert SPEC["path"] == "./rendered/prod"
    assert (SPEC["prune"], SPEC["wait"]) == (True, True)
    assert "force" not in SPEC


def test_deleting_the_kustomization_leaves_the_jobs_running():
    assert SPEC["deletionPolicy"] == "Orphan"


@pytest.mark.parametrize("index", range(flux.REPLICATED_JOBS))
def test_the_same_fields_are_ignored_as_by_argo_cd(index):
    """All but Argo CD's last expression, which tidies up what its own deletions leave behind."""
    paths = [path.replace("[]?", f"[{index}]") for path in argocd.KUEUE_CHANGES[:-1]]
    pointers = {path.replace("[", ".").replace("]", "").replace(".", "/") for path in paths}
    assert pointers <= set(SPEC["ignore"][0]["paths"])


def test_rules_are_about_jobsets_only():
    assert SPEC["ignore"][0]["target"] == {"group": "jobset.x-k8s.io", "kind": "JobSet"}


@pytest.mark.parametrize("name", FILES)
def test_every_file_is_yaml(name):
    assert yaml.safe_load(FILES[name])["kind"] == "Kustomization"


def test_an_environment_may_be_called_as_a_file_of_the_bootstrap():
    assert len(flux.files("kustomization")) == 2


@needs_kubectl
def test_kustomize_builds_the_folder(tmp_path):
    (built,) = build(write(tmp_path / "flux", FILES))
    assert built == flux.kustomization("prod")


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

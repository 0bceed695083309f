"""Which files a job has, and what is in them."""

from __future__ import annotations

import pytest
import yaml

from trainform.output.emitter import HEADER
from trainform.output.layout import Layout, file_names, job_files, job_folder


def tree(kind, name="llm", api_version="v1"):
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}}


COSCHEDULING = tree("PodGroup", api_version="scheduling.x-k8s.io/v1alpha1")
VOLCANO = tree("PodGroup", api_version="scheduling.volcano.sh/v1beta1")


def test_the_folder_of_a_job():
    assert job_folder("rendered", "prod", "ml", "llm") == "rendered/prod/ml/llm"


@pytest.mark.parametrize("name", ["..", "a/b", "", ".hidden", "a\\b", "a\nb"])
def test_a_name_never_climbs_out_of_its_folder(name):
    with pytest.raises(ValueError, match="not a file name"):
        job_folder("rendered", "default", "ml", name)
    with pytest.raises(ValueError, match="not a file name"):
        job_folder("rendered", name, "ml", "llm")


@pytest.mark.parametrize(
    ("trees", "names"),
    [
        ([tree("JobSet"), tree("ConfigMap", "hosts")], ["jobset-llm.yaml", "configmap-hosts.yaml"]),
        ([tree("PodGroup"), tree("PodGroup", "b")], ["podgroup-llm.yaml", "podgroup-b.yaml"]),
        (
            [COSCHEDULING, VOLCANO, tree("JobSet")],
            ["podgroup.scheduling.x-k8s.io-llm.yaml", "podgroup.scheduling.volcano.sh-llm.yaml", "jobset-llm.yaml"],
        ),
    ],
)
def test_a_file_is_called_by_kind_and_name_and_by_group_where_that_is_ambiguous(trees, names):
    assert file_names(trees) == names


def test_two_objects_of_one_kind_and_name_are_a_bug():
    with pytest.raises(ValueError, match="share a kind and a name"):
        file_names([tree("JobSet"), tree("JobSet")])


def test_one_file_for_each_object():
    files = job_files([tree("ConfigMap", "hosts"), tree("JobSet")])
    assert sorted(files) == ["configmap-hosts.yaml", "jobset-llm.yaml"]
    assert files["jobset-llm.yaml"].startswith(HEADER)


def test_one_file_for_each_job():
    files = job_files([tree("ConfigMap", "hosts"), tree("JobSet")], Layout(one_file=True))
    assert sorted(files) == ["manifests.yaml"]
    assert [each["kind"] for each in yaml.safe_load_all(files["manifests.yaml"])] == ["ConfigMap", "JobSet"]


@pytest.mark.parametrize("one_file", [False, True])
def test_a_kustomization_where_it_is_asked_for(one_file):
    files = job_files([tree("ConfigMap", "hosts"), tree("JobSet")], Layout(one_file, kustomization=True))
    resources = yaml.safe_load(files.pop("kustomization.yaml"))["resources"]
    assert resources == sorted(files)

"""Which documents are ours, and what is said of the others."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("head", "subject"),
    [
        ("apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass", "fact"),
        ("apiVersion: v1\nkind: Namespace", "fact"),
        ("apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue", "fact"),
    ],
)
def test_kinds_that_are_known_but_have_no_model_here(reader, head, subject):
    result = reader.text(f"{head}\nmetadata: {{name: a}}")
    assert (result.subject, result.model, result.diagnostics) == (subject, None, [])


@pytest.mark.parametrize(
    ("head", "field", "hint"),
    [
        ("apiVersion: trainform.dev/v1\nkind: Environment", "apiVersion", "trainform.dev/v1alpha1"),
        ("apiVersion: trainform.dev/v1alpha1\nkind: Enviroment", "kind", "write kind: Environment"),
    ],
)
def test_a_near_miss_of_our_own_kind_names_it(reader, head, field, hint):
    result = reader.text(f"{head}\nmetadata: {{name: a}}")
    assert reader.told(result) == [("TF205", field)]
    assert hint in result.diagnostics[0].hint


@pytest.mark.parametrize(
    "head",
    ["apiVersion: v1\nkind: Service", "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: OptimizationJob"],
)
def test_other_kinds_are_left_alone_with_a_note(reader, head):
    result = reader.text(head)
    assert result.subject == "other"
    assert reader.told(result, "info") == [("TF204", "kind")]
    assert reader.told(result) == []


@pytest.mark.parametrize(
    "api_version",
    [
        "trainer.kubeflow.org/v2alpha1",
        "kubeflow.org/v1",
        "kubeflow.org/v2alpha1",
        "trainer.kubeflow.com/v1alpha1",
    ],
)
@pytest.mark.parametrize("kind", ["TrainJob", "TrainingRuntime", "ClusterTrainingRuntime"])
def test_another_api_version_names_the_current_one_and_the_rest_is_read_all_the_same(reader, api_version, kind):
    result = reader.text(f"apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: a}}\nspec: {{typo: 1}}")
    assert reader.told(result)[0] == ("TF205", "apiVersion")
    assert ("TF101", "spec.typo") in reader.told(result)
    assert "trainer.kubeflow.org/v1alpha1" in result.diagnostics[0].hint


@pytest.mark.parametrize("kind", ["PyTorchJob", "MPIJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob"])
@pytest.mark.parametrize("version", ["v1", "v2beta1"])
def test_jobs_of_the_training_operator_are_errors_that_name_the_way_to_a_trainjob(reader, kind, version):
    result = reader.text(f"apiVersion: kubeflow.org/{version}\nkind: {kind}")
    assert reader.told(result) == [("TF205", "kind")]
    assert "`trainform migrate FILE`" in result.diagnostics[0].hint


@pytest.mark.parametrize("kind", ["Trainjob", "TrainingRuntimes", "TrainJobs"])
def test_a_misspelt_kind_of_the_trainer_is_an_error(reader, kind):
    result = reader.text(f"apiVersion: trainer.kubeflow.org/v1alpha1\nkind: {kind}")
    assert reader.told(result) == [("TF205", "kind")]
    assert result.diagnostics[0].hint.startswith("did you mean")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("spec: {}", [("TF103", "apiVersion"), ("TF103", "kind")]),
        ("apiVersion: v1", [("TF103", "kind")]),
        ("apiVersion: v1\nkind: 5", [("TF102", "kind")]),
        ("kind: Service", [("TF103", "apiVersion")]),
    ],
)
def test_a_document_says_what_it_is(reader, text, told):
    assert reader.told(reader.text(text)) == told


def test_a_job_without_api_version_is_told_once(reader):
    result = reader.text("kind: TrainJob\nmetadata: {name: a}\nspec: {runtimeRef: {name: r}}")
    assert reader.told(result) == [("TF103", "apiVersion")]
    assert result.model.name == "a"

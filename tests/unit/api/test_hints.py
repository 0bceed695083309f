"""A hint says what to write instead of what people write."""

from __future__ import annotations

import pytest

from trainform.api import Read
from trainform.diagnostics import dotted


def hints(result: Read) -> dict[str, str]:
    return {dotted(problem.path): problem.hint for problem in result.diagnostics}


@pytest.mark.parametrize(
    ("spec", "field", "hint"),
    [
        ('  suspend: "yes"', "spec.suspend", "write true without quotes"),
        ("  suspend: maybe", "spec.suspend", ""),
        ('  trainer: {numNodes: "4"}', "spec.trainer.numNodes", "write 4 without quotes"),
        ("  trainer: {numNodes: 4;}", "spec.trainer.numNodes", "write 4"),
        ("  trainer: {numNodes: “4”}", "spec.trainer.numNodes", "write 4"),
        ("  trainer: {numNodes: ²}", "spec.trainer.numNodes", ""),
        ("  trainer: {command: a b}", "spec.trainer.command", 'write ["a", "b"]'),
        ("  trainer: {command: -a -b}", "spec.trainer.command", "put a space after the - of each entry"),
        (
            '  trainer: {command: "a\\nb"}',
            "spec.trainer.command",
            'write ["bash", "-c", "…"], with the script as the last entry',
        ),
        (
            "  trainer: {command: [{--a: b}]}",
            "spec.trainer.command[0]",
            'if you mean a single string, quote it: "--a: b"',
        ),
        ("  trainer: {env: [A=1]}", "spec.trainer.env[0]", 'write {name: A, value: "1"}'),
        ("  trainer: {env: [{A: b}]}", "spec.trainer.env[0].A", "write {name: A, value: …}"),
        ("  trainer: {env: [{nmae: A}]}", "spec.trainer.env[0].name", 'rename "nmae" to name'),
        (
            "  trainer: {env: {name: A, value: b}}",
            "spec.trainer.env.name",
            "write each variable as an entry: - {name: …, value: …}",
        ),
        ("  trainer: {resourcesPerNode: [{limits: {}}]}", "spec.trainer.resourcesPerNode", "remove the `- ` before it"),
        ("  trainer: {resourcesPerNode: 8 GPUs}", "spec.trainer.resourcesPerNode", ""),
        (
            "  trainer: {resourcesPerNode: {limits: {nvidia.com/gpu: 0.5}}}",
            "spec.trainer.resourcesPerNode.limits.nvidia.com/gpu",
            "write a whole number: devices cannot be split",
        ),
        ("  trainer: [{image: a}]", "spec.trainer", "remove the `- ` before it"),
        ("  initializer: {model: {secretRef: hf}}", "spec.initializer.model.secretRef", "write secretRef: {name: hf}"),
        ("  trainer: {suspend: true}", "spec.trainer.suspend", "suspend is a field of spec: fix its indentation"),
        ("  name: a", "spec.name", "name is a field of metadata: fix its indentation"),
        ("  kind: a", "spec.kind", "kind is a field of the document itself: fix its indentation"),
    ],
)
def test_a_job(reader, spec, field, hint):
    assert hints(reader.job(spec))[field] == hint


@pytest.mark.parametrize(
    ("metadata", "spec", "field", "hint"),
    [
        ("{nmae: a}", "{runtimeRef: {name: r}}", "metadata.name", 'rename "nmae" to name'),
        ("{}", "{runtimeRef: {name: r}}", "metadata.name", "write name: …, below metadata"),
        ('{name: ""}', "{runtimeRef: {name: r}}", "metadata.name", "write a name, such as llm"),
        ("{name: a}", "{runtimeref: {name: r}}", "spec.runtimeRef", 'rename "runtimeref" to runtimeRef'),
        ("{name: a}", "{runtimeRef: r}", "spec.runtimeRef", "write runtimeRef: {name: r}"),
        (
            "{name: a}",
            "{}",
            "spec.runtimeRef",
            "write runtimeRef: {name: torch-distributed}; `trainform runtimes` lists the names",
        ),
        (
            "{name: a, trainer: {}}",
            "{runtimeRef: {name: r}}",
            "metadata.trainer",
            "trainer is a field of spec: fix its indentation",
        ),
    ],
)
def test_what_a_job_cannot_be_without(reader, metadata, spec, field, hint):
    assert hints(reader.object("TrainJob", metadata, spec))[field] == hint


def test_a_misspelt_head_is_named(reader):
    result = reader.text("apiversion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\n")
    assert result.diagnostics[0].hint == 'rename "apiversion" to apiVersion'


@pytest.mark.parametrize("field", ["labels", "annotations"])
def test_an_entry_without_a_value_is_no_missing_field(reader, field):
    result = reader.object("TrainJob", f"{{name: a, {field}: {{a: , b: c}}}}")
    assert reader.told(result) == [("TF102", f"metadata.{field}.a")]
    assert getattr(result.model.metadata, field) == {"b": "c"}


@pytest.mark.parametrize("source", ["secretKeyRef: {name: a}", "secretKeyRef: {name: a, key: 1}", "secretRef: {}"])
def test_a_faulty_source_of_a_variable_takes_the_variable_with_it(reader, source):
    result = reader.job(f"  trainer: {{env: [{{name: A, valueFrom: {{{source}}}}}, {{name: B, value: b}}]}}")
    assert len(result.diagnostics) == 1
    assert result.model.spec.trainer.env == [{"name": "B", "value": "b"}]


def test_a_long_text_is_cut_in_a_message(reader):
    result = reader.job(f"  trainer: {{command: {'x' * 1000}}}")
    assert result.diagnostics[0].message == f'must be a list, not the string "{"x" * 60}…"'

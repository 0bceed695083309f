"""What is in a file."""

from __future__ import annotations

from support.marked import QUEUES, job, marked
from trainform.editor.features.symbols import MOST, Symbol, symbols


def told(found: list[Symbol] | tuple[Symbol, ...], depth: int = 0) -> list[str]:
    """One line for each, indented below its parent, with the lines that it spans."""
    lines = []
    for each in found:
        detail = f": {each.detail}" if each.detail else ""
        lines.append(f"{'  ' * depth}{each.label}{detail} {each.whole.start.line}-{each.whole.end.line}")
        lines += told(each.children, depth + 1)
    return lines


def test_a_job_is_shown_with_its_fields_and_where_each_ends(tmp_path):
    text = job(spec="trainer:\n  numNodes: 4\n  command: [a, b]\n  env:\n  - name: A\n    value: b\n")
    here = marked(tmp_path, {"jobs/llm.yaml": text})
    assert told(symbols(here.snapshot, "jobs/llm.yaml")) == [
        "TrainJob llm 1-13",
        "  apiVersion: trainer.kubeflow.org/v1alpha1 1-1",
        "  kind: TrainJob 2-2",
        "  metadata 3-5",
        "    name: llm 4-4",
        "    namespace: ml 5-5",
        "  spec 6-13",
        "    runtimeRef 7-7",
        "      name: torch 7-7",
        "    trainer 8-13",
        "      numNodes: 4 9-9",
        "      command 10-10",
        "        a 10-10",
        "        b 10-10",
        "      env 11-13",
        "        A 12-13",
        "          name: A 12-12",
        "          value: b 13-13",
    ]


def test_each_object_of_a_file_is_shown_by_kind_and_name(tmp_path):
    here = marked(tmp_path, {"environments/prod/queues.yaml": QUEUES})
    found = [each.label for each in symbols(here.snapshot, "environments/prod/queues.yaml")]
    assert found == ["LocalQueue team-a", "ClusterQueue shared", "ResourceFlavor h100", "WorkloadPriorityClass high"]


def test_a_half_typed_file_shows_what_is_whole(tmp_path):
    here = marked(tmp_path, {"jobs/llm.yaml": "kind: TrainJob\nspec:\n  trainer: {numNodes: 4, ima\n  susp"})
    assert told(symbols(here.snapshot, "jobs/llm.yaml")) == [
        "TrainJob 1-4",
        "  kind: TrainJob 1-1",
        "  spec 2-4",
        "    trainer 3-3",
        "      numNodes: 4 3-3",
    ]


def test_a_file_with_very_many_elements_shows_its_objects_only(tmp_path):
    many = "".join(f"    k{number}: v\n" for number in range(MOST))
    here = marked(tmp_path, {"jobs/llm.yaml": f"kind: TrainJob\nmetadata:\n  name: llm\n  labels:\n{many}"})
    [found] = symbols(here.snapshot, "jobs/llm.yaml")
    assert (found.label, found.children) == ("TrainJob llm", ())


def test_a_file_that_nobody_can_read_shows_nothing(tmp_path):
    assert symbols(marked(tmp_path, {}).snapshot, "jobs/none.yaml") == []

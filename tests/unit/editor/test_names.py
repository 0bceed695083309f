"""What a file declares and names."""

from __future__ import annotations

from support.marked import ENVIRONMENT, QUEUES, job
from trainform.editor.names import FileNames, names_of
from trainform.editor.positions import Span

TOPOLOGY = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata: {name: racks}
spec: {levels: [{nodeLabel: example.com/rack}]}
"""


def told(names: tuple) -> list[str]:
    """`kind name:line`, by the first kind that a name may be of."""
    return [f"{each.things[0].kind} {each.things[0].name}:{each.span.start.line}" for each in names]


def test_a_job_declares_itself_and_names_its_runtime():
    names = names_of(job("llm"))
    assert told(names.declared) == ["TrainJob llm:4"]
    assert told(names.named) == ["ClusterTrainingRuntime torch:7"]


def test_facts_declare_objects_and_the_levels_of_a_topology():
    assert told(names_of(QUEUES + "---\n" + TOPOLOGY).declared) == [
        "LocalQueue team-a:3",
        "ClusterQueue shared:8",
        "ResourceFlavor h100:22",
        "WorkloadPriorityClass high:28",
        "Topology racks:33",
        "level of a Topology example.com/rack:34",
    ]


def test_an_environment_declares_what_it_lists():
    text = ENVIRONMENT + "  cluster: {objects: [{kind: ConfigMap, namespace: ml, names: [a, b]}]}\n"
    assert told(names_of(text).declared) == ["Environment prod:3", "ConfigMap a:7", "ConfigMap b:7"]


def test_a_half_typed_file_has_the_names_that_are_there():
    assert told(names_of(job("llm") + "  trainer: {env: [").declared) == ["TrainJob llm:4"]
    assert names_of("") == FileNames()


def test_columns_of_other_letters_are_counted_by_whoever_shows_them():
    names = names_of(job("llm").replace("namespace: ml", "annotations: {a: 😀}"))
    assert not names.is_ascii
    assert isinstance(names.declared[0].span, Span)

"""What Kueue's webhook refuses of a pod's topology annotations."""

from __future__ import annotations

import json

import pytest

from trainform.plugin import JobSetView
from trainform_plugins.kueue.asked import GROUP, OFFSET, PREFERRED, REQUIRED, SLICE, SLICE_SIZE, SLICES, UNCONSTRAINED
from trainform_plugins.kueue.webhook import RULES, Refusal

RACK, HOST = "example.com/rack", "kubernetes.io/hostname"
NO_LIST = "must be a JSON list of 1 to 3 layers, each with topology and size"
HINT = """for example '[{"topology": "rack", "size": 8}, {"topology": "host", "size": 4}]'"""


def told(pods: int = 8, /, **annotations: str) -> list[Refusal]:
    """Key, message and hint of each refusal."""
    template = {"metadata": {"annotations": annotations}, "spec": {"containers": []}}
    job = {"name": "node", "template": {"spec": {"parallelism": pods, "template": template}}}
    (view,) = JobSetView.of({"kind": "JobSet", "spec": {"replicatedJobs": [job]}}).jobs
    return [refusal for rule in RULES for refusal in rule(view)]


def layers(*pairs: tuple[str, int]) -> str:
    return json.dumps([{"topology": level, "size": size} for level, size in pairs])


@pytest.mark.parametrize("value", ["1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False"])
def test_a_boolean_is_what_go_reads_as_one(value):
    assert told(**{UNCONSTRAINED: value}) == []


@pytest.mark.parametrize("value", ["", "yes", "tRUE", "2"])
def test_other_words_are_no_boolean(value):
    assert told(**{UNCONSTRAINED: value}) == [(UNCONSTRAINED, f'must be "true" or "false", not "{value}"', "")]


@pytest.mark.parametrize(("offset", "is_right"), [("0", True), ("12", True), ("-1", False), ("a", False), ("", False)])
def test_an_offset_is_a_number_of_at_least_0(offset, is_right):
    expected = [] if is_right else [(OFFSET, f'must be a number of at least 0, not "{offset}"', "")]
    assert told(**{OFFSET: offset}) == expected


@pytest.mark.parametrize("key", [REQUIRED, PREFERRED, SLICE])
def test_a_level_is_a_node_label(key):
    assert told(**{key: RACK}) == []
    ((told_key, message, hint),) = told(**{key: "not a label"})
    assert (told_key, hint) == (key, "")
    assert message.startswith('"not a label" is not a valid node label: it ')


def test_a_group_has_a_name_and_a_level():
    assert told(**{GROUP: "g", REQUIRED: RACK}) == told(**{GROUP: "g", PREFERRED: RACK}) == []
    assert told(**{GROUP: "7", REQUIRED: RACK}) == [(GROUP, 'must be a name, not the number "7"', "")]
    assert told(**{GROUP: "g"}) == [
        (GROUP, f"also needs {REQUIRED} or {PREFERRED}", "set the topology level of the group")
    ]


@pytest.mark.parametrize(
    ("key", "value"), [(SLICE, RACK), (SLICE_SIZE, "2"), (SLICES, layers((RACK, 2))), (OFFSET, "1")]
)
def test_a_group_has_no_slices(key, value):
    message = f"must not be combined with {key}: Kueue rejects both together"
    assert told(**{GROUP: "g", REQUIRED: RACK, key: value}) == [(GROUP, message, "")]


@pytest.mark.parametrize(("key", "value"), [(SLICE, RACK), (SLICE_SIZE, "2")])
def test_layers_are_not_combined_with_one_slice(key, value):
    message = f"must not be combined with {key}: Kueue rejects both together"
    assert told(**{SLICES: layers((RACK, 2)), key: value}) == [(SLICES, message, "")]


@pytest.mark.parametrize(
    "written",
    [
        "",
        "{",
        "1",
        "[1]",
        "[]",
        '{"topology": "rack", "size": 2}',
        '[{"topology": 1, "size": 2}]',
        '[{"topology": "rack", "size": "2"}]',
        '[{"topology": "rack", "size": true}]',
        '[{"topology": "rack", "size": 2.0}]',
        layers((RACK, 8), (HOST, 4), ("a", 2), ("b", 1)),
    ],
)
def test_layers_are_a_list_of_one_to_three(written):
    assert told(**{SLICES: written}) == [(SLICES, NO_LIST, HINT)]


@pytest.mark.parametrize("sizes", [[8], [1], [8, 4], [8, 8, 1]])
def test_layers_within_layers(sizes):
    assert told(**{SLICES: layers(*zip((RACK, HOST, "a"), sizes, strict=False))}) == []


@pytest.mark.parametrize(
    ("pairs", "messages"),
    [
        ([(RACK, 0)], [f"the size of layer {RACK} must be at least 1, not 0"]),
        ([(RACK, 2), (HOST, 0)], [f"the size of layer {HOST} must be at least 1, not 0"]),
        ([(RACK, 2), (HOST, -1)], [f"the size of layer {HOST} must be at least 1, not -1"]),
        ([(RACK, 4), (RACK, 2)], [f"level {RACK} must be in one layer only"]),
        ([(RACK, 8), (HOST, 3)], [f"slices of 3 pods ({HOST}) must divide those of 8 pods ({RACK})"]),
        ([(RACK, 9)], ["a slice of 9 pods is larger than the step, which has 8"]),
        ([(RACK, 4), (HOST, 8)], [f"slices of 8 pods ({HOST}) must divide those of 4 pods ({RACK})"]),
    ],
)
def test_layers_that_do_not_fit(pairs, messages):
    assert told(**{SLICES: layers(*pairs)}) == [(SLICES, message, "") for message in messages]


def test_a_layer_without_a_level_or_a_size_has_empty_ones():
    ((key, level, _), (_, size, _)) = told(**{SLICES: "[{}]"})
    assert (key, size) == (SLICES, "the size of layer  must be at least 1, not 0")
    assert level.startswith('"" is not a valid node label: it ')


@pytest.mark.parametrize("level", ["a b", "-"])
def test_the_level_of_a_layer_is_a_node_label(level):
    ((_, message, _),) = told(**{SLICES: layers((level, 2))})
    assert message.startswith(f'"{level}" is not a valid node label: it ')

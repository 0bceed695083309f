"""Whatever stands in an Environment's patches, the compiler answers with problems, never with a traceback."""

import copy
from types import SimpleNamespace

from hypothesis import given, settings
from hypothesis import strategies as st

from trainform.core.patches.consistency import consistency_problems
from trainform.core.patches.objects import apply_patches, read_patches, unmatched

POD = {"containers": [{"name": "node", "image": "a", "resources": {"limits": {"cpu": "1"}}}]}
JOB = {"name": "node", "template": {"spec": {"parallelism": 2, "template": {"spec": POD}}}}
METADATA = {"name": "llm", "namespace": "ml", "labels": {"a": "b"}}
OBJECTS = [
    {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": METADATA,
        "data": {"hostfile": "llm-node-0-0.llm\n"},
    },
    {
        "apiVersion": "g/v1",
        "kind": "PodGroup",
        "metadata": METADATA,
        "spec": {"minMember": 2, "minResources": {}},
    },
    {"apiVersion": "j/v1", "kind": "JobSet", "metadata": METADATA, "spec": {"replicatedJobs": [JOB]}},
]

NAMES = st.sampled_from(
    [
        *(
            "metadata",
            "spec",
            "data",
            "hostfile",
            "labels",
            "name",
            "replicatedJobs",
            "template",
            "minResources",
        ),
        *(
            "parallelism",
            "containers",
            "0",
            "-",
            "$patch",
            "$retainKeys",
            "$setElementOrder/containers",
            "status",
        ),
    ]
)
VALUES = st.sampled_from([None, True, 0, -1, 1.5, "", "node", "delete", "replace", "llm", "a in"])
trees = st.recursive(
    VALUES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
pointers = st.lists(NAMES, max_size=4).map(lambda tokens: "".join(f"/{token}" for token in tokens))
operations = st.fixed_dictionaries(
    {"op": st.sampled_from(["add", "remove", "replace", "move", "copy"]), "path": pointers | VALUES},
    optional={"from": pointers, "value": trees},
)
texts = st.none() | st.sampled_from(["", "llm", "JobSet", ".*", "(", "a=b", "a in", "*"])
targets = st.none() | st.builds(
    SimpleNamespace,
    **dict.fromkeys(("group", "version", "kind", "name", "namespace"), texts),
    label_selector=texts,
    annotation_selector=texts,
)
patches = st.builds(
    SimpleNamespace,
    patch=trees | st.lists(operations, max_size=3) | st.text("ab:-{}[]*&! \n", max_size=12),
    target=targets,
)


@given(st.lists(patches, max_size=4))
@settings(max_examples=500, deadline=None)
def test_any_patch_of_any_shape_is_answered(wanted):
    before = copy.deepcopy((OBJECTS, wanted))
    read, problems = read_patches(wanted)
    result = apply_patches(OBJECTS, read)
    misfits = consistency_problems(OBJECTS, result)
    lost = unmatched(read, result.matched, OBJECTS)
    assert {each.index for each in [*problems, *result.problems, *misfits, *lost]} <= set(range(len(wanted)))
    assert (OBJECTS, wanted) == before

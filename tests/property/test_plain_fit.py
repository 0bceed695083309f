"""Whatever a look by hand calls valid, the validator calls valid."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainform.k8s.schema.plain_fit import surely_fits
from trainform.k8s.schema.validate import check, expect_many
from trainform.k8s.schemas import definitions, reference, resolved

KINDS = ["EnvVar", "JobSet", "JobSetSpec", "PodSpec", "Quantity", "ResourceRequirements", "TrainingRuntimeSpecPatch"]

SLIPS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=3),
    st.sampled_from(["1Gi\n", "1.5", "a\n", "-a", {}, [], {"a": 1}, [1]]),
)
TEXTS = st.sampled_from(["a", "b", "a-1", "1", "1Gi", "-0.5e3", "", "TCP", "a\n", "ä"])


@st.composite
def trees(draw, schema, slips=True):
    """A tree that its schema takes, but for a slip here and there."""
    schema = resolved(schema)
    if slips and draw(st.integers(0, 40)) == 0:
        return draw(SLIPS)
    wanted = schema["type"]
    if isinstance(wanted, list):
        wanted = draw(st.sampled_from(wanted))
    if "enum" in schema:
        return draw(st.sampled_from(schema["enum"]))
    if wanted == "object":
        return draw(objects(schema, slips))
    if wanted == "array":
        return draw(st.lists(trees(schema["items"], slips), min_size=schema.get("minItems", 0), max_size=2))
    if wanted == "integer":
        below = int(slips)
        return draw(st.integers(schema.get("minimum", -5) - below, min(schema.get("maximum", 5), 70000) + below))
    return draw({"boolean": st.booleans(), "string": TEXTS}[wanted])


@st.composite
def objects(draw, schema, slips):
    fields, others = schema.get("properties", {}), schema.get("additionalProperties")
    names = draw(st.lists(st.sampled_from(sorted(fields)), max_size=3)) if fields else []
    needed = () if slips and draw(st.integers(0, 40)) == 0 else schema.get("required", ())
    tree = {name: draw(trees(fields[name], slips)) for name in {*names, *needed}}
    if others:
        tree |= draw(st.dictionaries(TEXTS, trees(others, slips), min_size=schema.get("minProperties", 0), max_size=2))
    if slips and draw(st.integers(0, 40)) == 0:
        tree["nmae"] = "a"
    return tree


@pytest.fixture(autouse=True, scope="module")
def judged_by_the_validator():
    expect_many()


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_what_surely_fits_is_valid(data):
    kind = data.draw(st.sampled_from(KINDS))
    tree = data.draw(trees(reference(kind)))
    if surely_fits(reference(kind), tree):
        assert check(kind, tree) == []


@settings(max_examples=100, deadline=None)
@given(trees(reference("ResourceRequirements"), slips=False))
def test_what_is_valid_and_plain_surely_fits(tree):
    assert surely_fits(reference("ResourceRequirements"), tree) == (check("ResourceRequirements", tree) == [])


def test_every_definition_says_what_type_it_has():
    """Without one, or where anything goes, nothing is sure; else a look would never do."""
    assert [kind for kind, schema in definitions().items() if "type" not in resolved(schema)] == []

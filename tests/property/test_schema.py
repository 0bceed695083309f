"""The check of shapes agrees with a reference validator, and with its own fast first look."""

from functools import cache

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema_rs import Draft202012Validator, RegexOptions

from trainform.k8s.schema.definitions import definitions, reference, resolved
from trainform.k8s.schema.fits import fits
from trainform.k8s.schema.validate import _problems, check

KINDS = [
    "ClusterQueue",
    "EnvVar",
    "JobSet",
    "JobSetSpec",
    "LimitRange",
    "PodSpec",
    "Quantity",
    "ResourceRequirements",
    "TrainingRuntimeSpecPatch",
]

SLIPS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False).filter(lambda number: not number.is_integer()),  # read as int
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
    wanted = schema.get("type")
    if wanted is None:
        return draw(SLIPS)
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


@cache
def validator(kind):
    return Draft202012Validator(reference(kind) | {"$defs": definitions()}, pattern_options=RegexOptions())


def has_null(tree):
    if isinstance(tree, dict):
        return any(value is None or has_null(value) for value in tree.values())
    return isinstance(tree, list) and any(map(has_null, tree))


def has_float(tree):
    inner = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    return isinstance(tree, float) or any(map(has_float, inner))


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_the_reference_validator_agrees(data):
    kind = data.draw(st.sampled_from(KINDS))
    tree = data.draw(trees(reference(kind)))
    assume(not has_null(tree))
    shape = [problem for problem in check(kind, tree) if problem.code != "TF105"]
    assert (shape == []) == validator(kind).is_valid(tree)


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_what_fits_has_no_problem_and_what_does_not_has_one_unless_it_needs_a_closer_look(data):
    kind = data.draw(st.sampled_from(KINDS))
    schema = reference(kind)
    tree = data.draw(trees(schema))
    assume(not has_null(tree) and not has_float(tree))  # 1.0 may be an integer
    assert fits(kind)(tree) == (not list(_problems(schema, tree, ())))


def test_every_definition_says_what_type_it_has():
    """Where anything goes, a field says so itself."""
    assert [kind for kind, schema in definitions().items() if "type" not in resolved(schema)] == []

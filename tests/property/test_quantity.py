"""What holds for every quantity."""

from hypothesis import given, settings
from hypothesis import strategies as st

from trainform.k8s.quantity import QuantityError, canonical, parse
from trainform.k8s.schema.definitions import definitions

# Up to `T`: from 10**21 on, Kubernetes has no suffix to write and loses the size.
SUFFIXES = ["", "n", "u", "m", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti", "e3", "e-3", "e10"]

quantities = st.builds(
    lambda sign, number, suffix: f"{sign}{number}{suffix}",
    st.sampled_from(["", "-", "+"]),
    st.from_regex(r"[0-9]{1,6}(\.[0-9]{0,4})?", fullmatch=True),
    st.sampled_from(SUFFIXES),
)


@given(quantities)
@settings(max_examples=200, deadline=None)
def test_the_canonical_form_is_the_same_amount(text):
    assert parse(canonical(text)) == parse(text)


@given(quantities)
@settings(max_examples=200, deadline=None)
def test_the_canonical_form_is_final(text):
    assert canonical(canonical(text)) == canonical(text)


@given(quantities, quantities)
@settings(max_examples=100, deadline=None)
def test_a_sum_is_exact_in_either_order_and_survives_writing(left, right):
    total = parse(left) + parse(right)
    assert total == parse(right) + parse(left)
    assert parse(str(total)) == total


@given(quantities, st.integers(1, 2000))
@settings(max_examples=100, deadline=None)
def test_a_multiple_is_that_many_in_a_row(text, times):
    assert (parse(text) * times).nano == sum(parse(text).nano for _ in range(times))


@given(quantities)
@settings(max_examples=100, deadline=None)
def test_whole_units_are_never_nearer_to_zero(text):
    whole, amount = parse(text).value(), parse(text).nano
    assert 0 <= abs(whole) * 10**9 - abs(amount) < 10**9


def form_or_reason(text):
    try:
        return canonical(text)
    except QuantityError as error:
        return str(error)


@given(st.text(max_size=12))
@settings(max_examples=200, deadline=None)
def test_any_text_is_read_or_refused_in_words(text):
    assert form_or_reason(text)


@given(st.from_regex(definitions()["Quantity"]["pattern"], fullmatch=True).filter(lambda text: len(text) <= 200))
@settings(max_examples=300, deadline=None)
def test_what_the_schema_lets_pass_can_be_read(text):
    assert canonical(text)

"""How amounts are read, added and written."""

import pytest

from trainform.k8s.quantity import Quantity, QuantityError, canonical, parse


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        ("4", "4"),
        (4, "4"),
        ("500m", "500m"),
        ("0.5", "500m"),
        ("1000m", "1"),
        ("1000", "1k"),
        (1000, "1k"),
        ("1024Mi", "1Gi"),
        ("1.5Gi", "1536Mi"),
        ("0.5Ki", "512"),
        ("0.1Gi", "107374182400m"),
        ("1e10", "10e9"),
        ("1e+3", "1e+3"),
        ("0.1n", "1n"),
        ("-0.5", "-500m"),
        ("0Gi", "0"),
        (" 4 ", "4"),
    ],
)
def test_canonical_form(written, stored):
    assert canonical(written) == stored


@pytest.mark.parametrize("text", ["+1E", "01M", "1.5e1", "12.Gi", "+1Ti"])
def test_text_that_the_fast_path_of_kubernetes_reads_is_kept(text):
    assert canonical(text) == text


@pytest.mark.parametrize(("text", "stored"), [("+1Ei", "1Ei"), ("+1e1", "10"), ("1.0Gi", "1Gi")])
def test_text_beyond_the_fast_path_is_rewritten(text, stored):
    assert canonical(text) == stored


def test_binary_amounts_stop_at_63_bits():
    assert canonical("1024Ei") == str(2**63 - 1)


@pytest.mark.parametrize("text", ["", "abc", "1e", "1_000", "1,5", "½", "1e1.5", "0x10", "--1", "1.2.3"])
def test_what_is_no_quantity_is_refused(text):
    with pytest.raises(QuantityError, match="is not a quantity"):
        canonical(text)


@pytest.mark.parametrize(
    ("text", "nearest"),
    [("1K", '"1Ki" or "1k"'), ("16GB", '"16Gi" or "16G"'), ("1gib", '"1Gi"'), ("1.5 Gi", '"1.5Gi"')],
)
def test_a_refusal_names_what_was_meant(text, nearest):
    with pytest.raises(QuantityError, match=f"; write {nearest}$"):
        canonical(text)


@pytest.mark.parametrize("value", [True, 0.5, None, ["1"], {}, 10**4000])
def test_only_texts_and_whole_numbers_are_quantities(value):
    with pytest.raises(QuantityError, match="whole number"):
        canonical(value)


@pytest.mark.parametrize("text", ["9" * 100_000, "0" * 199 + "x", "1e999999999", "1e-999999999"])
def test_absurd_texts_are_refused_at_once(text):
    with pytest.raises(QuantityError):
        canonical(text)


@pytest.mark.parametrize(
    ("left", "right", "total"),
    [
        ("500m", "1", "1500m"),
        ("1Gi", "512Mi", "1536Mi"),
        ("1Gi", "1G", "2073741824"),
        ("1G", "1Gi", "2073741824"),
        ("1e3", "1", "1001"),
        ("1e3", "1e3", "2e3"),
        ("500Mi", "548Mi", "1048Mi"),
    ],
)
def test_a_sum_is_written_in_the_format_of_the_left_amount(left, right, total):
    assert str(parse(left) + parse(right)) == total


def test_zero_takes_the_format_of_what_is_added():
    assert str(parse("0") + parse("1Gi")) == "1Gi"
    assert str(parse("0Gi") + parse("1G")) == "1G"


def test_a_multiple_is_written_canonically():
    assert str(parse("512Mi") * 2) == "1Gi"
    assert str(parse("01M") * 1) == "1M"


def test_amounts_compare_whatever_their_format():
    assert parse("1000m") == parse("1")
    assert hash(parse("1000m")) == hash(parse("1"))
    assert parse("1G") < parse("1Gi")
    assert max(parse("1500m"), parse("1")) == Quantity(1_500_000_000)


@pytest.mark.parametrize(("text", "whole"), [("1500m", 2), ("2", 2), ("1n", 1), ("-1500m", -2), ("0", 0)])
def test_whole_units_round_away_from_zero(text, whole):
    assert parse(text).value() == whole

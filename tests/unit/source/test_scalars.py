"""Plain scalars, as kubectl reads them."""

from __future__ import annotations

import pytest

from support.corpus import truth
from trainform.source import load

SCALARS = truth("yaml-scalars")


def read(scalar):
    """The value of one scalar, or the codes of what is wrong with it."""
    loaded = load(f"v: {scalar}\n", "f.yaml")
    errors = [d.code for d in loaded.diagnostics if d.severity == "error"]
    return errors or loaded.documents[0].tree["v"]


@pytest.mark.parametrize("scalar", [text for text, kubectl in SCALARS.items() if "value" in kubectl])
def test_a_scalar_has_the_value_and_type_that_kubectl_reads(scalar):
    value = read(scalar)
    assert (value, type(value).__name__) == (SCALARS[scalar]["value"], SCALARS[scalar]["type"])


@pytest.mark.parametrize("scalar", [text for text, kubectl in SCALARS.items() if "error" in kubectl])
def test_what_kubectl_refuses_is_an_error(scalar):
    assert isinstance(errors := read(scalar), list)
    assert errors[0] in ("TF001", "TF007")


@pytest.mark.parametrize(
    ("scalar", "value"),
    [
        ("0X1f", 31),
        ("-0b11", -3),
        ("-0o7", -7),
        ("+1_0", 10),
        ("-08", -8),
        ("1_e3", 1000),
        (".5_0", 0.5),
        (".5_", ".5_"),
        ("._5", "._5"),
        ("1e20", 10**20),
        ("1e21", 1e21),
        ("-9223372036854775808", -(2**63)),
        ("-9223372036854775809", -9223372036854776000),
        ("0xFFFFFFFFFFFFFFFFFF", "0xFFFFFFFFFFFFFFFFFF"),
        ("9" * 400, "9" * 400),
    ],
)
def test_numbers_have_the_limits_of_go(scalar, value):
    assert read(scalar) == value
    assert type(read(scalar)) is type(value)


@pytest.mark.parametrize(
    ("scalar", "value"),
    [
        ("!!str 1", "1"),
        ("!!str", ""),
        ('!!int "5"', 5),
        ("!!float 1", 1),
        ("!!bool y", True),
        ("!!null ~", None),
        ("!!binary aGk=", "hi"),
        ("!!timestamp 2026-11-27", "2026-11-27"),
        ('! "12"', "12"),
        ("!!str .inf", ".inf"),
    ],
)
def test_explicit_tags_decide(scalar, value):
    assert read(scalar) == value
    assert type(read(scalar)) is type(value)


@pytest.mark.parametrize("scalar", ["!!int abc", "!!int", "!!bool 1", "!!null x", "!!float .inf", '!!binary "a"'])
def test_a_text_that_does_not_fit_its_tag_is_an_error(scalar):
    assert read(scalar) == ["TF007"]


@pytest.mark.parametrize("value", ["!Ref x", "!Ref {a: 1}", "!!python/name x"])
def test_a_tag_that_kubernetes_ignores_is_a_warning(value):
    (warning,) = load(f"v: {value}", "f.yaml").diagnostics
    assert (warning.code, warning.severity, warning.path) == ("TF008", "warning", ("v",))


@pytest.mark.parametrize(
    "scalar", ["22:22", "190:20:30", "2026-11-27", "2026-11-27 10:00:00", "=", "<<", "1e400", "_7", ".5_"]
)
def test_a_string_that_other_readers_take_differently_is_a_warning_with_the_quoted_form(scalar):
    (document,) = load(f"a: 1\nv: {scalar}\n", "f.yaml").documents
    (warning,) = document.plain_scalars_read_differently()
    assert (warning.code, warning.severity, warning.path) == ("TF010", "warning", ("v",))
    assert (warning.position, warning.hint) == ((2, 4), f'write "{scalar}"')


@pytest.mark.parametrize(
    "scalar", ['"22:22"', "'='", "!!str 22:22", "on", "0644", "v1.2", "10.0.0.1", "8080:80", "1Gi"]
)
def test_other_scalars_are_not_warned_about(scalar):
    (document,) = load(f"v: {scalar}", "f.yaml").documents
    assert document.plain_scalars_read_differently() == []


def test_ambiguous_keys_count_too_and_only_in_their_own_list_item():
    items = "kind: List\nitems:\n- {a: 1}\n- 22:22: x\n"
    first, second = load(items, "f.yaml").documents
    assert first.plain_scalars_read_differently() == []
    assert [w.path for w in second.plain_scalars_read_differently()] == [("22:22",)]

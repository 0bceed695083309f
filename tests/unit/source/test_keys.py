"""Keys, duplicate keys, anchors and merge keys."""

from __future__ import annotations

import pytest

from trainform.source import load


def tree(text):
    loaded = load(text, "f.yaml")
    assert loaded.diagnostics == []
    return loaded.documents[0].tree


def problem(text):
    (found,) = load(text, "f.yaml").diagnostics
    return found


def test_a_duplicate_key_is_an_error_at_the_second_and_names_the_first():
    found = problem("spec:\n  a: 1\n  b: 2\n  a: 3\n")
    assert (found.code, found.severity, found.path, found.position) == (
        "TF005",
        "error",
        ("spec", "a"),
        (4, 3),
    )
    assert found.message == 'duplicate key "a", first defined on line 2'


def test_the_last_of_two_duplicate_keys_is_kept_as_kubernetes_does():
    assert load("a: 1\na: 2\n", "f.yaml").documents[0].tree == {"a": 2}


@pytest.mark.parametrize(
    ("key", "name"),
    [("1", "1"), ("true", "true"), ("1.5", "1.5"), ("2026-11-27", "2026-11-27"), ("!!str on", "on")],
)
def test_a_key_is_the_text_that_json_has_for_it(key, name):
    assert tree(f"{key}: x") == {name: "x"}


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("on", "true"),
        ("n", "false"),
        ("0644", "420"),
        ("1e3", "1000"),
        ("1.10", "1.1"),
        ("1234567.5", "1.2345675e+06"),
    ],
)
def test_a_key_that_is_read_as_another_text_is_an_error_with_the_quoted_form(key, name):
    found = problem(f"a: 1\n{key}: x")
    assert (found.code, found.path, found.position) == ("TF006", (name,), (2, 1))
    assert found.hint == f'write "{key}"'


@pytest.mark.parametrize("key", ["~", "null", "[a, b]", "? {a: b}\n"])
def test_what_cannot_be_a_key_is_an_error(key):
    assert problem(f"{key}: x").code == "TF006"


def test_an_unquoted_template_expression_is_recognised():
    found = problem("image: {{ env.image }}\n")
    assert (found.code, found.position) == ("TF006", (1, 9))
    assert "template" in found.hint


def test_aliases_stand_for_what_is_anchored():
    assert tree("a: &x {p: [1]}\nb: *x\nc: &y z\nd: *y\n") == {
        "a": {"p": [1]},
        "b": {"p": [1]},
        "c": "z",
        "d": "z",
    }


def test_aliased_values_are_not_shared():
    found = tree("a: &x {p: 1}\nb: *x\n")
    assert found["a"] is not found["b"]


def test_an_anchor_may_be_given_again():
    text = "a: &x 1\nb: *x\nc: &x {p: [on, 'on', 0644]}\nd: *x\ne: !!str 1\n"
    new = {"p": [True, "on", 420]}
    assert tree(text) == {"a": 1, "b": 1, "c": new, "d": new, "e": "1"}


def test_an_unknown_alias_is_an_error_beside_an_anchor_given_again():
    found = problem("a: &x 1\nb: &x 2\nc: *y\n")
    assert (found.code, found.position) == ("TF001", (3, 4))


def test_merged_entries_come_first_and_explicit_ones_win():
    merged = tree("base: &b {p: 1, q: 2}\njob: {<<: *b, q: 3, r: 4}\n")["job"]
    assert list(merged.items()) == [("p", 1), ("q", 3), ("r", 4)]


def test_the_first_of_several_merged_mappings_wins():
    assert tree("a: &a {p: 1}\nb: &b {p: 2, q: 2}\nc: {<<: [*a, *b]}\n")["c"] == {"p": 1, "q": 2}


def test_merges_go_through_merges():
    assert tree("a: &a {p: 1}\nb: &b {<<: *a, q: 2}\nc: {<<: *b}\n")["c"] == {"p": 1, "q": 2}


def test_a_quoted_merge_key_is_a_key():
    assert tree('"<<": {a: 1}') == {"<<": {"a": 1}}


@pytest.mark.parametrize("value", ["1", "[{a: 1}, 2]", "~"])
def test_only_mappings_can_be_merged(value):
    assert problem(f"a:\n  <<: {value}\n").code == "TF011"


def test_a_merge_below_a_key_that_it_merges_is_a_warning_since_kubectl_lets_it_win():
    loaded = load("base: &b {p: 1}\njob:\n  p: 2\n  <<: *b\n", "f.yaml")
    (warning,) = loaded.diagnostics
    assert (warning.code, warning.severity, warning.position) == ("TF012", "warning", (4, 3))
    assert loaded.documents[0].tree["job"] == {"p": 2}


@pytest.mark.parametrize("text", ["a: &x [*x]", "a: &x {b: {c: *x}}", "a: &x {<<: *x}"])
def test_a_value_that_contains_itself_is_an_error(text):
    assert problem(text).code == "TF011"

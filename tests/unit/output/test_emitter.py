"""Canonical YAML, byte for byte."""

from __future__ import annotations

import pytest

from trainform.output.emitter import emit, emit_stream


def value(tree):
    """What stands behind the key of a one-entry document."""
    return emit({"k": tree}).removeprefix("k:").removesuffix("\n").removeprefix(" ")


def test_a_manifest_in_its_canonical_form():
    tree = {
        "spec": {
            "suspend": True,
            "network": {},
            "replicatedJobs": [
                {"name": "node", "replicas": 1, "args": ["--lr", "1e3", ["nested", ["deeper"]], []]},
                {"template": {"spec": {"weight": 0.5, "empty": None}}},
            ],
        },
        "metadata": {"labels": {"team": "a"}, "uid": "x", "namespace": "ml", "name": "llm"},
        "kind": "JobSet",
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
    }
    assert emit(tree) == (
        "apiVersion: jobset.x-k8s.io/v1alpha2\n"
        "kind: JobSet\n"
        "metadata:\n"
        "  name: llm\n"
        "  namespace: ml\n"
        "  labels:\n"
        "    team: a\n"
        "  uid: x\n"
        "spec:\n"
        "  suspend: true\n"
        "  network: {}\n"
        "  replicatedJobs:\n"
        "  - name: node\n"
        "    replicas: 1\n"
        "    args:\n"
        "    - --lr\n"
        '    - "1e3"\n'
        "    - - nested\n"
        "      - - deeper\n"
        "    - []\n"
        "  - template:\n"
        "      spec:\n"
        "        weight: 0.5\n"
        "        empty: null\n"
    )


def test_the_tree_is_left_as_it_was():
    tree = {"kind": "A", "metadata": {"labels": {}, "name": "x"}, "apiVersion": "v1"}
    emit(tree)
    assert list(tree) == ["kind", "metadata", "apiVersion"]
    assert list(tree["metadata"]) == ["labels", "name"]


def test_documents_of_a_stream_are_set_apart():
    assert emit_stream([{"a": 1}, {"b": 2}]) == "a: 1\n---\nb: 2\n"
    assert emit_stream([]) == ""


def test_an_empty_document_is_an_empty_mapping():
    assert emit({}) == "{}\n"


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "torchrun",
        "ghcr.io/acme/job:9",
        "hf://x/y",
        "/workspace",
        "./run.sh",
        "$(POD_NAME)",
        "--epochs",
        "-x",
        "_a",
        "python train.py --x",
        "metadata.annotations['a/b']",
        "500m",
        "2Gi",
        "0.5Gi",
        "v1.2.3",
        "nonono",
        "a=b",
    ],
)
def test_strings_that_no_reader_mistakes_stay_bare(text):
    assert value(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "y",
        "n",
        "Y",
        "yes",
        "No",
        "on",
        "OFF",
        "true",
        "False",
        "null",
        "Null",
        "~",
        "nan",
        "Infinity",
        ".inf",
        ".nan",
        "1",
        "-1",
        "0644",
        "0o17",
        "0x1F",
        "0b11",
        "1e3",
        "7e10",
        "1E",
        "1_000",
        "_7",
        "22:22",
        "2026-11-27",
        "10.0.0.1",
        "=",
        "<<",
        "-",
        "--",
        "---",
        "...",
        "?",
        ": a",
        "a: b",
        "a:",
        "a #b",
        "a#b",
        "#a",
        " a",
        "a ",
        "&a",
        "*a",
        "!a",
        "%a",
        "@a",
        "`a`",
        "[a",
        "{a}",
        "|",
        ">",
        ",a",
        "'a'",
        "-1x",
    ],
)
def test_strings_that_some_reader_mistakes_are_quoted(text):
    assert value(text) == f'"{text}"'
    assert emit({text: 1}) == f'"{text}": 1\n'


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ('say "x"', 'say "x"'),
        ('"', '"\\""'),
        ("\\d\\", '"\\\\d\\\\"'),
        ("a\tb", '"a\\tb"'),
        ("é 😀", '"é 😀"'),
        ("\x00\x07\x7f", '"\\u0000\\u0007\\u007f"'),
        ("\x85\xa0\u2028\u2029\ufeff", '"\\u0085\\u00a0\\u2028\\u2029\\ufeff"'),
        ("\U000e0001", '"\\U000e0001"'),
    ],
)
def test_printable_characters_stay_readable_and_others_are_escaped(text, quoted):
    assert value(text) == quoted


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("a\nb", "|-\n  a\n  b"),
        ("a\nb\n", "|\n  a\n  b"),
        ("a\n\n", "|+\n  a\n"),
        ("a\n\n  b\n", "|\n  a\n\n    b"),
        ("# é\n- x: y", "|-\n  # é\n  - x: y"),
    ],
)
def test_several_lines_are_a_literal_block(text, block):
    assert value(text) == block


@pytest.mark.parametrize("text", ["\n", "\na", " a\nb", "a \nb", "a\n \nb", "a\nb ", "a\n\tb", "a\r\nb", "a\nb\x85"])
def test_lines_that_a_block_could_lose_are_quoted(text):
    assert value(text).startswith('"')
    assert "\n" not in value(text)


def test_blocks_are_indented_as_deep_as_they_stand():
    tree = {"a": [{"b": "x\ny"}, "p\nq\n", ["r\ns"]], "c": {"d": "t\nu"}}
    assert emit(tree) == ("a:\n- b: |-\n    x\n    y\n- |\n  p\n  q\n- - |-\n    r\n    s\nc:\n  d: |-\n    t\n    u\n")


def test_long_lines_are_never_folded():
    text = "word " * 200 + "end"
    assert value(text) == text


def test_a_key_too_long_for_a_simple_one_is_explicit():
    key = "k" * 1200
    assert emit({"a": [{key: {"b": 1}}, {"c": 1, key: [2]}]}) == (
        f"a:\n- ? {key}\n  :\n    b: 1\n- c: 1\n  ? {key}\n  :\n  - 2\n"
    )


@pytest.mark.parametrize(
    ("number", "text"),
    [(True, "true"), (0, "0"), (-3, "-3"), (0.25, "0.25"), (1e-7, "1.0e-07"), (1.5e300, "1.5e+300")],
)
def test_numbers_are_numbers_in_every_reader(number, text):
    assert value(number) == text


@pytest.mark.parametrize("other", [(1, 2), {1}, object()])
def test_other_types_have_no_place(other):
    with pytest.raises(TypeError):
        emit({"k": other})

"""Streams, encodings, JSON and lists."""

from __future__ import annotations

import importlib
import json
import sys

import pytest

from trainform.source import load, parser


def trees(text):
    loaded = load(text, "f.yaml")
    assert loaded.diagnostics == []
    return [document.tree for document in loaded.documents]


def problems(text):
    return [(d.code, d.position) for d in load(text, "f.yaml").diagnostics]


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\n---\nb: 2\n",
        "---\na: 1\n---\nb: 2",
        "a: 1\n...\n---\nb: 2\n...\n",
        "a: 1\n...\nb: 2\n",
        "%YAML 1.1\n# a comment\n---\na: 1\n---\nb: 2\n",
        "# a comment\n---\na: 1\n---\n\n---\n# nothing\n---\nb: 2\n---\n",
        "a: 1\r\n---\r\nb: 2\r\n",
        "\ufeffa: 1\n--- {b: 2}\n",
        b"\xef\xbb\xbfa: 1\n---\nb: 2\n",
        "--- # first\na: 1\n--- # second\nb: 2\n",
    ],
)
def test_a_stream_holds_any_number_of_documents(text):
    assert trees(text) == [{"a": 1}, {"b": 2}]


@pytest.mark.parametrize("text", ["", b"", "\n\n", "# only a comment", "---", "---\n---\n", "~", "\ufeff"])
def test_empty_documents_are_skipped(text):
    assert trees(text) == []


def test_a_line_of_dashes_within_a_block_scalar_is_text():
    assert trees("a: |\n  x\n  ---\n  y\n---\nb: 2\n") == [{"a": "x\n---\ny\n"}, {"b": 2}]


@pytest.mark.parametrize(("documents", "codes"), [(3, []), (4, ["TF004"]), (100, ["TF004"])])
@pytest.mark.parametrize("first", ["", "---\n", "# of a team\n---\n"])
def test_a_file_of_too_many_documents_is_refused(first, documents, codes):
    loaded = load(first + "---\n".join(["a: 1\n"] * documents), "f.yaml", 3)
    assert [problem.code for problem in loaded.diagnostics] == codes
    assert len(loaded.documents) == (0 if codes else 3)


def test_a_stream_of_far_too_many_documents_is_refused_unread(monkeypatch):
    monkeypatch.setattr(importlib.import_module("trainform.source.load"), "read_part", lambda *_: pytest.fail("read"))
    assert problems("---\n".join(["a: 1\n"] * 20_000)) == [("TF004", (1, 1))]


def test_items_of_a_list_are_documents_of_their_own():
    text = "kind: List\nitems:\n- kind: A\n- kind: List\n  items: [{kind: B}]\n-\n---\nkind: C\n"
    assert trees(text) == [{"kind": "A"}, {"kind": "B"}, {"kind": "C"}]


@pytest.mark.parametrize("text", ["kind: List\nitems: []\n", "kind: List\nitems:\n", "kind: List\n"])
def test_a_list_without_items_holds_nothing(text):
    assert load(text, "f.yaml") == ([], [])


@pytest.mark.parametrize("items", ["{a: 1}", "text", "0", '""'])
def test_the_items_of_a_list_are_a_list(items):
    loaded = load(f"kind: List\nitems: {items}\n", "f.yaml")
    (problem,) = loaded.diagnostics
    assert (loaded.documents, problem.code, problem.path, problem.position) == ([], "TF102", ("items",), (2, 8))


@pytest.mark.parametrize(
    ("text", "hint"), [("- a: 1\n", "write its entries as separate documents"), ("// a\n", "start comments with #")]
)
def test_what_is_no_object_gets_a_hint_where_the_mistake_is_known(text, hint):
    (problem,) = load(text, "f.yaml").diagnostics
    assert (problem.code, problem.hint.startswith(hint)) == ("TF009", True)


def test_a_binary_file_is_called_so():
    (problem,) = load(b"\x7fELF\x02\x00\xd0\x00\x00", "f.yaml").diagnostics
    assert (problem.code, problem.message) == ("TF002", "the file is binary, not text")


@pytest.mark.parametrize("text", ["- a\n", "text", "42", '"quoted"', "[{a: 1}]"])
def test_a_document_that_is_no_mapping_is_an_error(text):
    assert problems(f"a: 1\n---\n{text}") == [("TF009", (3, 1))]


def test_a_list_item_that_is_no_mapping_is_an_error():
    (problem,) = load("kind: List\nitems:\n- {a: 1}\n- text\n", "f.yaml").diagnostics
    assert (problem.code, problem.path, problem.position) == ("TF009", ("items", 1), (4, 3))


class TestJson:
    def test_is_read_like_yaml(self):
        tree = {"a": [1, 2.5, True, None, "é😀 \u2028"], "b": {"c": "/"}}
        assert trees(json.dumps(tree)) == trees(json.dumps(tree, indent="\t")) == [tree]

    def test_numbers_are_those_of_kubernetes(self):
        (tree,) = trees('{"a": [1.0, 1e3, 18446744073709551615, 1e400, -0.5]}')
        assert tree == {"a": [1, 1000, 18446744073709552000, "1e400", -0.5]}

    def test_a_duplicate_key_is_an_error_where_it_stands(self):
        assert problems('{"a": 1,\n "a": 2}') == [("TF005", (2, 2))]

    def test_a_mistake_is_an_error_where_it_stands(self):
        assert problems('{"a": {\n "b": 1\n') == [("TF001", (1, 7))]

    @pytest.mark.parametrize("text", ['{"a": "\\ud83d"}', '{"a": "\\ude00\\ud83d"}'])
    def test_half_a_surrogate_pair_is_an_error(self, text):
        assert problems(text) == [("TF001", (1, 8))]

    def test_positions_survive_surrogate_pairs(self):
        (document,) = load('{"a": "\\ud83d\\ude00", "b": 3}', "f.json").documents
        assert document.position(("b",)) == (1, 28)

    def test_absurd_depth_is_an_error(self):
        assert problems('{"a": ' + "[" * 200 + "]" * 200 + "}")[0][0] == "TF004"
        assert problems('{"a": ' * 50_000)[0][0] == "TF004"


class TestEncoding:
    @pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le"])
    def test_wide_encodings_are_named(self, encoding):
        (problem,) = load("kind: TrainJob".encode(encoding), "f.yaml").diagnostics
        assert problem.code == "TF002"
        assert encoding[:6].upper() in problem.message

    def test_a_byte_that_is_not_utf8_is_named_with_its_place(self):
        (problem,) = load(b"a: 1\r\nb: \xc3\xa9\xff\n", "f.yaml").diagnostics
        assert (problem.code, problem.position) == ("TF002", (2, 5))
        assert "0xff at offset 11" in problem.message
        assert problem.place
        assert problem.place.line(2) == "b: é\ufffd"

    @pytest.mark.parametrize(
        ("text", "position"),
        [("a: x\0y", (1, 5)), ("a: 1\nb: '\x07'", (2, 5)), ("a: \x7f", (1, 4)), ("a: \ud800", (1, 4))],
    )
    def test_control_characters_are_errors(self, text, position):
        assert problems(text) == [("TF003", position)]


class TestSeveralProblems:
    def test_a_broken_document_does_not_hide_the_others(self):
        loaded = load("a: [\n---\nb: 2\n---\nc: 'x\n---\nd: 4\n", "f.yaml")
        assert [document.tree for document in loaded.documents] == [{"b": 2}, {"d": 4}]
        assert [(d.code, d.position) for d in loaded.diagnostics] == [("TF001", (1, 4)), ("TF001", (5, 4))]

    def test_every_problem_of_a_document_is_found(self):
        assert problems("a: .inf\na: 1\non: 2\n[x]: 3\n") == [
            ("TF005", (2, 1)),
            ("TF006", (3, 1)),
            ("TF006", (4, 1)),
            ("TF007", (1, 4)),
        ]

    def test_a_problem_belongs_to_the_object_in_which_it_stands(self):
        loaded = load("kind: List\nitems:\n- a: 1\n- b: {c: 1, c: 2}\n", "f.yaml")
        (problem,) = loaded.diagnostics
        assert problem.place is loaded.documents[1]
        assert problem.path == ("b", "c")


def test_a_pyyaml_without_its_c_parser_is_refused_in_plain_words(monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml._yaml", None)
    with pytest.raises(ImportError, match="trainform needs PyYAML with its C extension"):
        importlib.reload(parser)

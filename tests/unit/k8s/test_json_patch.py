"""What JSON Patch does to a document, by RFC 6902 and RFC 6901."""

from __future__ import annotations

import copy

import pytest

from trainform.k8s.patch.json_patch import JsonPatchError, apply, read_operations, same_json
from trainform.k8s.patch.json_pointer import PointerError, parse, resolve, written


def patched(document, *patch):
    operations, problems = read_operations(patch)
    assert problems == []
    return apply(document, operations)


def refusal(document, *patch):
    operations, problems = read_operations(patch)
    if problems:
        return problems[0]
    with pytest.raises(JsonPatchError) as refused:
        apply(document, operations)
    return refused.value


def add(path, value):
    return {"op": "add", "path": path, "value": value}


def replace(path, value):
    return {"op": "replace", "path": path, "value": value}


def expect(path, value):
    return {"op": "test", "path": path, "value": value}


def remove(path):
    return {"op": "remove", "path": path}


def move(source, path):
    return {"op": "move", "from": source, "path": path}


def copy_of(source, path):
    return {"op": "copy", "from": source, "path": path}


# The cases of RFC 6902, appendix A.
@pytest.mark.parametrize(
    ("document", "operation", "result"),
    [
        ({"foo": "bar"}, add("/baz", "qux"), {"baz": "qux", "foo": "bar"}),
        ({"foo": ["bar", "baz"]}, add("/foo/1", "qux"), {"foo": ["bar", "qux", "baz"]}),
        ({"baz": "qux", "foo": "bar"}, remove("/baz"), {"foo": "bar"}),
        ({"foo": ["bar", "qux", "baz"]}, remove("/foo/1"), {"foo": ["bar", "baz"]}),
        ({"baz": "qux", "foo": "bar"}, replace("/baz", "boo"), {"baz": "boo", "foo": "bar"}),
        (
            {"foo": {"bar": "baz", "waldo": "fred"}, "qux": {"corge": "grault"}},
            move("/foo/waldo", "/qux/thud"),
            {"foo": {"bar": "baz"}, "qux": {"corge": "grault", "thud": "fred"}},
        ),
        (
            {"foo": ["all", "grass", "cows", "eat"]},
            move("/foo/1", "/foo/3"),
            {"foo": ["all", "cows", "eat", "grass"]},
        ),
        ({"baz": "qux", "foo": ["a", 2, "c"]}, expect("/foo/1", 2), {"baz": "qux", "foo": ["a", 2, "c"]}),
        ({"foo": "bar"}, add("/child", {"grandchild": {}}), {"foo": "bar", "child": {"grandchild": {}}}),
        ({"foo": "bar"}, add("/baz", "qux") | {"xyz": 123}, {"foo": "bar", "baz": "qux"}),
        ({"/": 9, "~1": 10}, expect("/~01", 10), {"/": 9, "~1": 10}),
        ({"foo": ["bar"]}, add("/foo/-", ["abc", "def"]), {"foo": ["bar", ["abc", "def"]]}),
    ],
    ids=[
        "add a member",
        "add a list entry",
        "remove a member",
        "remove a list entry",
        "replace a value",
        "move a value",
        "move a list entry",
        "test that holds",
        "add a nested object",
        "unknown members are ignored",
        "escapes",
        "add a list at the end",
    ],
)
def test_examples_of_the_rfc(document, operation, result):
    assert patched(document, operation) == result


@pytest.mark.parametrize(
    ("document", "operation"),
    [
        ({"baz": "qux"}, expect("/baz", "bar")),
        ({"foo": "bar"}, add("/baz/bat", "qux")),
        ({"/": 9, "~1": 10}, expect("/~01", "10")),
    ],
    ids=["test that fails", "parent that does not exist", "number against string"],
)
def test_examples_of_the_rfc_that_fail(document, operation):
    assert refusal(document, operation).operation == 0


@pytest.mark.parametrize(
    ("document", "patch", "result"),
    [
        ({"a": 1}, [add("/a", 2)], {"a": 2}),
        ({"a": []}, [add("/a/0", 1)], {"a": [1]}),
        ({"a": [1]}, [add("/a/1", 2)], {"a": [1, 2]}),
        ({"a": 1}, [add("", {"b": 2})], {"b": 2}),
        ({"a": 1}, [replace("", [])], []),
        ({"": {"": 1}}, [replace("//", 2)], {"": {"": 2}}),
        ({"0": 1}, [replace("/0", 2)], {"0": 2}),
        ({"-": 1}, [remove("/-")], {}),
        ({"a": None}, [remove("/a")], {}),
        ({"a": 1}, [add("/a", None)], {"a": None}),
        ({"a": {"b": 1}}, [copy_of("/a", "/c"), replace("/c/b", 2)], {"a": {"b": 1}, "c": {"b": 2}}),
        ({"a": [1, 2]}, [copy_of("/a/0", "/a/-")], {"a": [1, 2, 1]}),
        ({"a": {"b": 1}}, [move("/a/b", "/a")], {"a": 1}),
        ({"a": {"b": 1}}, [move("/a/b", "")], 1),
        ({"a": [1, 2]}, [move("/a/0", "/a/0")], {"a": [1, 2]}),
        ({"a": [1, 2]}, [move("/a/0", "/a/-")], {"a": [2, 1]}),
        ({"a": 1}, [move("", ""), copy_of("", "/b")], {"a": 1, "b": {"a": 1}}),
        ({"a": 1, "b": 2}, [remove("/a"), move("/b", "/a"), expect("/a", 2)], {"a": 2}),
        ({"a": 1}, [], {"a": 1}),
    ],
)
def test_operations(document, patch, result):
    assert patched(document, *patch) == result


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (1, 1.0, True),
        (10, 1e1, True),
        (1, True, False),
        (0, False, False),
        (True, True, True),
        (None, False, False),
        ("1", 1, False),
        ("1Gi", "1024Mi", False),
        ({"a": 1, "b": [2]}, {"b": [2.0], "a": 1}, True),
        ({"a": 1}, {"a": 1, "b": None}, False),
        ([1, 2], [2, 1], False),
        ([], {}, False),
        ([[True]], [[1]], False),
    ],
)
def test_equality_is_that_of_json(left, right, same):
    assert same_json(left, right) is same
    assert same_json(right, left) is same


@pytest.mark.parametrize(
    ("patch", "member", "message", "hint"),
    [
        ("remove", "", "an operation must be a mapping with `op` and `path`", ""),
        ({}, "op", "must be add, remove, replace, move, copy or test", ""),
        ({"op": "Replace", "path": ""}, "op", "must be add, remove", 'did you mean "replace"?'),
        ({"op": ["add"]}, "op", "must be add, remove", ""),
        ({"op": "add", "path": "/a"}, "value", "`add` needs `value`", ""),
        ({"op": "add", "path": "/a", "values": 1}, "value", "`add` needs `value`", "rename `values`"),
        ({"op": "move", "path": "/a"}, "from", "`move` needs `from`", ""),
        ({"op": "remove"}, "path", "`remove` needs `path`", ""),
        ({"op": "remove", "path": 1}, "path", "must be a JSON pointer", ""),
        (remove("spec.suspend"), "path", "is not a JSON pointer: it must start with `/`", "write /spec/suspend"),
        (remove("/a~b"), "path", "contains a `~` that is neither `~0` nor `~1`", "`/` as ~1"),
        (copy_of("a", "/b"), "from", "it must start with `/`", "write /a"),
    ],
)
def test_what_is_no_operation(patch, member, message, hint):
    problem = refusal({}, expect("", {}), patch)
    assert (problem.operation, problem.member) == (1, member)
    assert message in str(problem)
    assert hint in problem.hint


def test_every_malformed_operation_is_told():
    operations, problems = read_operations([{}, remove("/a"), remove("b")])
    assert [operation.index for operation in operations] == [1]
    assert [problem.operation for problem in problems] == [0, 2]


@pytest.mark.parametrize(
    ("operation", "member", "message", "hint"),
    [
        (remove("/spec/suspended"), "path", 'no "suspended" in /spec', 'did you mean "suspend"?'),
        (remove("/x"), "path", 'no "x" in the document', "available: metadata, spec"),
        (replace("/spec/jobs/2", 1), "path", "no entry 2 in /spec/jobs", "it has 2 entries, counted from 0"),
        (add("/spec/jobs/3", 1), "path", "no entry 3 in /spec/jobs", "it has 2"),
        (remove("/spec/jobs/-"), "path", "`-` refers to the position after the last entry of /spec/jobs", ""),
        (replace("/spec/jobs/01", 1), "path", '"01" is not an index', "without leading zeros"),
        (replace("/spec/jobs/-1", 1), "path", '"-1" is not an index', "write a number from 0"),
        (replace("/spec/jobs/٣", 1), "path", '"٣" is not an index', ""),
        (replace("/spec/jobs/1e0", 1), "path", '"1e0" is not an index', ""),
        (remove("/spec/jobs/node"), "path", '"node" is not an index', 'the entry named "node" has index 1'),
        (add("/spec/suspend/x", 1), "path", "/spec/suspend is a scalar and has no fields", ""),
        (add("/spec/suspend/x/y", 1), "path", "/spec/suspend is a scalar", ""),
        (add("/metadata/annotations/a", "b"), "path", 'no "annotations"', "add /metadata/annotations first"),
        (
            replace("/metadata/labels/example.com/team", "a"),
            "path",
            'no "example.com" in /metadata/labels',
            "write a `/` in a name as ~1: example.com~1team",
        ),
        (add("/metadata/labels/example.org/x", "a"), "path", "example.org", "~1: example.org~1x"),
        (move("/spec/x", "/y"), "from", 'no "x" in /spec', ""),
        (copy_of("/spec/jobs/7", "/y"), "from", "no entry 7", ""),
        (move("/spec", "/spec/inner"), "from", "cannot be moved into itself", ""),
        (move("", "/inner"), "from", "cannot be moved into itself", ""),
        (move("/spec/suspend", "/y/z"), "path", 'no "y" in the document', "add /y first"),
        (remove(""), "path", "the whole document cannot be removed", "$patch: delete"),
        (expect("/spec/suspend", 1), "value", "/spec/suspend is true, but must be 1", ""),
        (expect("/spec/none", None), "path", 'no "none" in /spec', ""),
    ],
)
def test_what_cannot_be_carried_out(operation, member, message, hint):
    document = {
        "metadata": {"labels": {"example.com/team": "ml"}},
        "spec": {"suspend": True, "jobs": [{"name": "launcher"}, {"name": "node"}]},
    }
    problem = refusal(document, expect("/spec/suspend", True), operation)
    assert (problem.operation, problem.member) == (1, member)
    assert message in str(problem)
    assert hint in problem.hint


def test_a_document_is_never_changed_and_untouched_parts_are_shared():
    document = {"a": {"x": [1, 2]}, "b": {"y": [3]}}
    before = copy.deepcopy(document)
    result = patched(document, add("/a/x/0", 0), remove("/a/x/1"), replace("/a/x/1", 5), add("/a/z", 1))
    assert document == before
    assert result["a"] == {"x": [0, 5], "z": 1}
    assert result["b"] is document["b"]


def test_a_value_is_not_changed_by_later_operations():
    value: dict = {"labels": {}}
    assert patched({}, add("/a", value), add("/a/labels/x", "y")) == {"a": {"labels": {"x": "y"}}}
    assert value == {"labels": {}}


@pytest.mark.parametrize("patch", [[copy_of("", "/a"), copy_of("", "/b")] * 60, [copy_of("", "/a")] * 200])
def test_copies_of_copies_come_to_an_end(patch):
    assert "the result has more than" in str(refusal({}, *patch))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", ()),
        ("/", ("",)),
        ("/foo/0", ("foo", "0")),
        ("/a~1b/m~0n", ("a/b", "m~n")),
        ("/~01", ("~1",)),
        ("/ /%20/é", (" ", "%20", "é")),
    ],
)
def test_a_pointer_is_read_and_written(text, tokens):
    assert parse(text) == tokens
    assert written(tokens) == text


def test_a_pointer_is_followed():
    document = {"a/b": [{"": 1}]}
    assert resolve(document, parse("/a~1b/0/")) == 1
    with pytest.raises(PointerError, match="is a scalar"):
        resolve(document, parse("/a~1b/0//x"))

"""What holds for every JSON Patch, of any document."""

import copy

from hypothesis import given, settings
from hypothesis import strategies as st

from trainform.k8s.patch.json_patch import JsonPatchError, apply, read_operations, same_json

TOKENS = st.sampled_from(["a", "b", "/", "~", "0", "1", "2", "-", "01", ""])
documents = st.recursive(
    st.sampled_from([None, True, 0, 1, 1.0, "x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TOKENS, inner, max_size=3),
    max_leaves=10,
)
pointers = st.lists(TOKENS, max_size=3).map(
    lambda tokens: "".join("/" + token.replace("~", "~0").replace("/", "~1") for token in tokens)
)
operations = st.fixed_dictionaries(
    {"op": st.sampled_from(["add", "remove", "replace", "move", "copy", "test"]), "path": pointers},
    optional={"from": pointers, "value": documents},
)


def plain(document, operation):
    """One operation as the RFC words it, on a copy that is changed in place; LookupError where it fails."""
    root = {"": copy.deepcopy(document)}
    op, path = operation["op"], operation["path"]
    if op in ("move", "copy"):
        if op == "move" and path.startswith(operation["from"] + "/"):
            raise LookupError
        value = copy.deepcopy(take(root, operation["from"], op == "move" and operation["from"] != ""))
    else:
        value = operation.get("value")
    if op in ("add", "move", "copy"):
        put(root, path, value)
    elif op == "test":
        if not same_json(take(root, path, False), value):
            raise LookupError
    else:
        take(root, path, True)
        if op == "replace":
            put(root, path, value)
    return root[""]


def holder(root, path):
    """What holds the element at `path`, and the element's token."""
    *parents, last = [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")]
    for token in parents:
        root = root[key_in(root, token)]
    return root, last


def key_in(container, token):
    if isinstance(container, dict):
        return token
    if not isinstance(container, list) or not token.isdigit() or str(int(token)) != token:
        raise LookupError
    return int(token)


def take(root, path, away):
    container, token = holder(root, path)
    key = key_in(container, token)
    value = container[key]
    if away:
        if not path:
            raise LookupError
        del container[key]
    return value


def put(root, path, value):
    container, token = holder(root, path)
    if isinstance(container, list):
        key = len(container) if token == "-" else key_in(container, token)
        if key > len(container):
            raise LookupError
        container.insert(key, value)
    else:
        container[key_in(container, token)] = value


def expected_of(document, operation):
    """The document after the operation; LookupError itself where that fails."""
    try:
        if (operation["op"], operation["path"]) == ("replace", ""):
            return copy.deepcopy(operation["value"])
        return plain(document, operation)
    except LookupError:
        return LookupError


def result_of(document, operation):
    try:
        return apply(document, [operation])
    except JsonPatchError:
        return LookupError


@given(documents, st.lists(operations, max_size=4))
@settings(max_examples=500, deadline=None)
def test_operations_do_what_the_rfc_says_and_change_nothing_given(document, patch):
    before = copy.deepcopy((document, patch))
    state = document
    for operation in read_operations(patch)[0]:
        expected, result = expected_of(state, patch[operation.index]), result_of(state, operation)
        assert same_json(result, expected)
        state = state if result is LookupError else result
    assert (document, patch) == before

"""What each parser promises of any bytes. A target raises where a promise is broken."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import yaml

from trainform.io.settings import parse_settings
from trainform.k8s.patch import json_patch
from trainform.k8s.patch.merge_keys import JOB_SET, OBJECT, POD_SPEC
from trainform.k8s.patch.strategic_merge import MergeError, merge
from trainform.migrate.program import migrate
from trainform.output.emitter import emit
from trainform.output.layout import is_part
from trainform.source import load
from trainform.source.templates.load import load_template, render_template
from trainform.stream import compile_stream
from trainform.workspace.lockfile import LockError, dump, parse

VALUES = {"registry": "registry.example.com", "gpus": 8, "hosts": ["a", "b"], "deep": {"x": {"y": "z"}}, "on": True}


def loader(data: bytes) -> None:
    """Documents and problems have places in the file, and what was read is emitted and read back alike."""
    loaded = load(data, "f.yaml")
    lines = 1 + data.count(b"\n") + data.count(b"\r")
    for problem in loaded.diagnostics:
        assert problem.message
        assert problem.position
        assert 1 <= problem.position.line <= lines
    for document in loaded.documents:
        assert all(document.position(path).line <= lines for path in _paths(document.tree))
        document.plain_scalars_read_differently()
    for document in () if loaded.diagnostics else loaded.documents:
        if document.tree and not _has(document.tree, _is_unemittable):
            assert load(emit(document.tree), "f.yaml").documents[0].tree == document.tree


def emitter(data: bytes) -> None:
    """A tree made of the bytes is read back by our loader and by PyYAML, and emitted alike again."""
    tree = {"root": _grown(iter(data), 0)}
    text = emit(tree)
    assert yaml.load(text, Loader=yaml.CSafeLoader) == tree
    read = load(text, "f.yaml").documents[0].tree
    assert read == tree
    assert emit(read) == text


def templates(data: bytes) -> None:
    """A template renders to text whose lines are lines of the template, or to problems in it."""
    rendered, problems = render_template(data, "f.yaml.j2", VALUES)
    lines = 1 + data.count(b"\n") + data.count(b"\r")
    assert all(1 <= line <= lines for line in rendered.lines)
    assert all(problem.severity == "error" for problem in problems)
    for problem in load_template(data, "f.yaml.j2", VALUES).diagnostics:
        assert problem.position is None or 1 <= problem.position.line <= lines


def streams(data: bytes) -> None:
    """A stream compiles to a document that is JSON; a job with errors has no objects."""
    text = data.decode(errors="replace")
    result = compile_stream(text)
    json.dumps(result, allow_nan=False)
    for job in result["jobs"]:
        failed = any(each["severity"] == "error" for each in job["diagnostics"])
        assert not (failed and job["objects"])
    assert compile_stream(text) == result


def lockfiles(data: bytes) -> None:
    """A lockfile is refused, or its files stay in their folder and it comes back as it was written."""
    try:
        file = parse(data)
    except LockError:
        return
    assert all(map(is_part, file.lock.files))
    assert parse(dump(file)) == file


def settings(data: bytes) -> None:
    """Every folder of `trainform.yaml` is below the root."""
    found, problems = parse_settings(data)
    for folder in found.folders:
        assert not folder.startswith("/")
        assert ".." not in folder.split("/")
    assert all(problem.position for problem in problems)


def patches(data: bytes) -> None:
    """Of a document and a patch in one stream: the result has no directive of a patch and no null that the document
    lacks, or the patch is refused."""
    trees = [document.tree for document in load(data, "f.yaml").documents]
    for base, patch in zip(trees[::2], trees[1::2], strict=False):
        if _has(base, _is_directive) or _has(base, _is_null):
            continue
        for node in (POD_SPEC, JOB_SET, OBJECT):
            try:
                merged = merge(base, patch, node)
            except MergeError:
                continue
            assert not _has(merged, _is_directive), merged
            assert not _has(merged, _is_null) or _has_null_in_a_list(patch), merged
        operations, _ = json_patch.read_operations(list(patch.values()))
        try:
            json_patch.apply(base, operations)
        except json_patch.JsonPatchError:
            continue


def migration(data: bytes) -> None:
    """What becomes of old jobs is text that loads without a problem, and each problem is JSON."""
    loaded = load(data, "f.yaml")
    found = migrate(loaded.documents, loaded.diagnostics)
    json.dumps([each.to_json() for each in found.diagnostics], allow_nan=False)
    for file in (*found.jobs, *found.runtimes):
        assert load(file.text, "f.yaml").diagnostics == []
        assert re.fullmatch(r"[a-z0-9.-]+", file.name)


TARGETS: dict[str, Callable[[bytes], None]] = {
    target.__name__: target for target in (loader, emitter, templates, streams, lockfiles, settings, patches, migration)
}


def _paths(tree: Any, prefix: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    waiting = [(tree, prefix)]
    while waiting:
        value, path = waiting.pop()
        yield path
        entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        waiting += [(entry, (*path, key)) for key, entry in entries]


def _has(tree: Any, wanted: Callable[[Any, Any], bool]) -> bool:
    waiting = [("", tree)]
    while waiting:
        key, value = waiting.pop()
        if wanted(key, value):
            return True
        if isinstance(value, dict):
            waiting += value.items()
        elif isinstance(value, list):
            waiting += [("", entry) for entry in value]
    return False


def _is_directive(key: Any, value: Any) -> bool:
    return isinstance(key, str) and key.startswith("$")


def _is_null(key: Any, value: Any) -> bool:
    return value is None


def _has_null_in_a_list(tree: Any) -> bool:
    return _has(tree, lambda key, value: isinstance(value, list) and None in value)


def _is_unemittable(key: Any, value: Any) -> bool:
    """What the API has no room for: half a surrogate pair, a number that is none."""
    texts = [text for text in (key, value) if isinstance(text, str)]
    if any("\ud800" <= character <= "\udfff" for text in texts for character in text):
        return True
    return isinstance(value, float) and not math.isfinite(value)


_WORDS = (
    "",
    "a",
    "on",
    "1e3",
    "22:22",
    "0644",
    "~",
    "- a",
    ": ",
    "#",
    "\n",
    " a",
    "a ",
    "\u2028",
    "😀",
    "---",
    "<<",
    "'",
)


def _grown(data: Iterator[int], depth: int) -> Any:
    """A tree that the bytes describe."""
    kind = next(data, 0) % 8
    size = next(data, 0) % 6
    if kind < 2 and depth < 12:
        return [_grown(data, depth + 1) for _ in range(size)]
    if kind < 4 and depth < 12:
        return {_text(data): _grown(data, depth + 1) for _ in range(size)}
    if kind == 4:
        return int.from_bytes(bytes(next(data, 0) for _ in range(size)), signed=True)
    if kind == 5:
        return (None, True, False, 0.5, 1e300, -1.5e-7)[size]
    return _text(data)


def _text(data: Iterator[int]) -> str:
    text = ""
    for _ in range(next(data, 0) % 12):
        number = next(data, 0)
        text += chr(number % 128) if number < 192 else _WORDS[number % len(_WORDS)]
    return text

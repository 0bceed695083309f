"""A fix does what its hint says: applied to the examples of the codes, the finding goes and no error comes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from support.editor import settled
from trainform.diagnostics import Diagnostic, Position
from trainform.diagnostics.diagnostic import dotted
from trainform.diagnostics.fixes import RemoveElement, RenameKey, SetValue, proposals
from trainform.editor.features.edits import applied, edit_of
from trainform.editor.features.fixes import OfferedFix, fixes
from trainform.editor.positions import Lines, Span
from trainform.editor.project import Project
from trainform.source import load
from trainform.source.text import split_documents
from trainform.workspace.discovery import discover
from trainform.workspace.shards import ALL
from trainform.workspace.validate import validate

FOLDER = Path(__file__).parents[3] / "docs" / "codes"
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("TF*.md"))}
EXAMPLES = {
    code: blocks[0]
    for code, text in PAGES.items()
    if "```console" not in text and (blocks := re.findall(r"^```yaml\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
}
FIXED = re.findall(
    r"\w+",
    """
    TF005 TF006 TF007 TF010 TF101 TF103 TF105 TF107 TF153 TF155 TF165 TF201 TF301 TF302 TF303
    TF311 TF312 TF321 TF323 TF330 TF332 TF333 TF350 TF352 TF353 TF360 TF361 TF362 TF364 TF367
    TF368 TF370 TF372 TF375 TF386 TF504 TF511 TF513 TF515 TF524 TF529 TF534 TF535 TF565 TF567
    TF568 TF609 TF613 TF619 TF620 TF622 TF623 TF624 TF625 TF627 TF628 TF629 TF630 TF633 TF635
    TF641 TF642 TF650 TFD02 TFD04 TFD06
    """,
)
"""The codes whose example has a fix. This list may only become longer."""

OF_JOBS = ("TrainJob", "ConfigMap", "Secret", "SealedSecret", "ExternalSecret", "PersistentVolumeClaim")
RUNTIMES = ("TrainingRuntime", "ClusterTrainingRuntime")
ENVIRONMENT = "apiVersion: trainform.dev/v1alpha1\nkind: Environment\nmetadata: {name: prod}\n"


def as_files(stream: str) -> dict[str, str]:
    """The documents of a stream where a repository has them."""
    parts: dict[str, list[str]] = {"jobs/all.yaml": [], "runtimes/all.yaml": [], "facts": []}
    name = "prod"
    for _, part in split_documents(stream):
        trees = [document.tree for document in load(part, "").documents]
        kinds = {str(tree.get("kind")) for tree in trees}
        if "Environment" in kinds:
            name = str(trees[0].get("metadata", {}).get("name", name))
        where = "runtimes/all.yaml" if kinds & {*RUNTIMES} else "facts"
        parts["jobs/all.yaml" if not trees or kinds & {*OF_JOBS} or "None" in kinds else where].append(
            part.removeprefix("---\n")
        )
    facts = parts.pop("facts")
    if facts and not any("kind: Environment" in each for each in facts):
        facts.insert(0, ENVIRONMENT)
    parts[f"environments/{name}/environment.yaml"] = facts
    return {file: "---\n".join(texts) for file, texts in parts.items() if texts}


def write(root: Path, files: Mapping[str, str]) -> None:
    for file, text in files.items():
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(text, encoding="utf-8")


def offered(root: Path, code: str) -> list[tuple[str, OfferedFix]]:
    """The fixes for all findings of a code."""
    project = Project(str(root))
    found = [each for told in settled(project).values() for each in told if each.code == code]
    places = {(each.file, each.position) for each in found if each.position}
    snapshot = project.snapshot()
    return [
        (file, fix)
        for file, at in sorted(places)
        for fix in fixes(snapshot, file, Span(at, at))
        if fix.diagnostic.code == code
    ]


def said(root: Path) -> tuple[list[tuple[str, str]], set[tuple[str, str]]]:
    """All findings of a repository, and the errors among them."""
    found = validate(discover(str(root)), ALL, workers=1).diagnostics
    found = [*dict.fromkeys(found)]
    return [(each.code, each.message) for each in found], {
        (each.code, each.message) for each in found if each.severity == "error"
    }


@pytest.mark.parametrize("code", FIXED)
def test_a_fix_removes_the_finding_of_the_example_and_brings_no_error(code, tmp_path):
    write(tmp_path, as_files(EXAMPLES[code]))
    found = offered(tmp_path, code)
    assert found
    before, errors = said(tmp_path)
    for file, fix in found:
        text = (tmp_path / file).read_text(encoding="utf-8")
        (tmp_path / file).write_text(applied(Lines(text), fix.edit), encoding="utf-8")
        after, now = said(tmp_path)
        kind = (code, fix.diagnostic.message)
        assert after.count(kind) < before.count(kind)
        assert now <= errors
        (tmp_path / file).write_text(text, encoding="utf-8")


def fix_of(text: str, fix: SetValue | RenameKey | RemoveElement, at: Position | None = None) -> str | None:
    (document,) = load(text, "a.yaml").documents
    edit = edit_of(document, fix, at)
    return None if edit is None else applied(Lines(text), edit)


@pytest.mark.parametrize(
    ("before", "fix", "after"),
    [
        ("a: 1  # why\nb: 2\n", SetValue(("a",), "3"), "a: 3  # why\nb: 2\n"),
        ("a:\nb: 2\n", SetValue(("a",), "3"), "a: 3\nb: 2\n"),
        ("a:\n  b: 1\nc: 2\n", SetValue(("a",), "3"), "a: 3\nc: 2\n"),
        ("a:\n  b: 1\n", SetValue(("a", "c"), "3"), "a:\n  c: 3\n  b: 1\n"),
        ("a: {b: 1}\n", SetValue(("a", "c"), "3"), "a: {c: 3, b: 1}\n"),
        ("a: {}\n", SetValue(("a", "c"), "3"), "a: {c: 3}\n"),
        ("a:\n", SetValue(("a", "b", "c"), "3"), "a: {b: {c: 3}}\n"),
        ("a:\n- b: 1\n", SetValue(("a", 0, "c"), "3"), "a:\n- c: 3\n  b: 1\n"),
        ("a: 1\n", RenameKey(("a",), "b"), "b: 1\n"),
        ("a: 1\nb: 2\n", RemoveElement(("a",)), "b: 2\n"),
        ("a: 1\nb: 2\n", RemoveElement(("b",)), "a: 1\n"),
        ("a:\n  b: 1\n", RemoveElement(("a", "b")), "a: {}\n"),
        ("a:\n- b\n- c\n", RemoveElement(("a", 0)), "a:\n- c\n"),
        ("a:\n- b\n- c\n", RemoveElement(("a", 1)), "a:\n- b\n"),
        ("a: [b, c]\n", RemoveElement(("a", 0)), "a: [c]\n"),
        ("a: [b, c]\n", RemoveElement(("a", 1)), "a: [b]\n"),
        ("a: |\n  x\n  y\nb: 1\n", SetValue(("a",), "z"), "a: z\nb: 1\n"),
    ],
)
def test_an_edit_changes_one_element_and_nothing_else(before, fix, after):
    assert fix_of(before, fix) == after


def test_of_duplicate_keys_the_one_at_the_finding_goes():
    assert fix_of("a: 1\nb: 2\na: 3\n", RemoveElement(("a",)), Position(1, 1)) == "b: 2\na: 3\n"


@pytest.mark.parametrize("fix", [SetValue(("x", "y", 0), "1"), RenameKey(("x",), "y"), RemoveElement(("a", "b"))])
def test_there_is_no_edit_for_what_is_not_there(fix):
    assert fix_of("a: 1\n", fix) is None


def test_json_is_left_alone():
    assert fix_of('{"a": 1}', SetValue(("a",), "2")) is None


@pytest.mark.parametrize(
    "hint",
    [
        "write a whole number; for a part of a GPU, use its own resource",
        "write spec.trainer.command",
        "write name: …, below metadata",
        "write registry/path/name:tag, without spaces",
        "fix the runtime first",
        "",
    ],
)
def test_advice_is_no_proposal(hint):
    found = Diagnostic("TF000", "error", "x", hint, ("spec", "a"))
    assert [dotted(each.path) for each in proposals(found)] == []


def test_of_a_text_only_the_word_changes_that_the_message_quotes(tmp_path):
    write(tmp_path, as_files(EXAMPLES["TF630"]))
    ((_, fix),) = offered(tmp_path, "TF630")
    assert fix.edit.text == '"--rank=$(PET_NODE_RANK)"'

"""Repositories that earlier versions rendered: this version must neither render their jobs again nor call them behind.

A recording holds inputs, locks, snapshots and manifests. `scripts/record_release.py` makes it; nothing may change it.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from trainform import __version__
from trainform.cli.main import run
from trainform.source import load
from trainform.workspace.fingerprint import NOTHING, digest_of
from trainform.workspace.inputs import digest_of_file
from trainform.workspace.lockfile import parse

FOLDER = Path(__file__).parents[2] / "recorded"
RECORDINGS = sorted(folder.name for folder in FOLDER.iterdir() if (folder / ".trainform").is_dir())
BEHIND_A_VERSION = "rendered by trainform"


@pytest.fixture(params=RECORDINGS)
def root(request, tmp_path):
    """A copy of a recording."""
    copy = tmp_path / "repository"
    shutil.copytree(FOLDER / request.param, copy)
    return copy


def files(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def recorded_by(root: Path) -> str:
    """The version that a recording's locks name."""
    (version,) = {parse(path.read_bytes()).lock.pins.compiler for path in root.rglob("*.lock")}
    return version


def causes(text: str) -> list[str]:
    """Why jobs are behind, but for being rendered by another version."""
    return [line for line in text.splitlines() if "behind:" in line and BEHIND_A_VERSION not in line]


def test_there_are_recordings():
    assert "0.1.0" in RECORDINGS


def manifests(root: Path) -> dict[str, bytes]:
    """What an engine applies: without the lists that versions before plain folders wrote."""
    rendered = files(root / "rendered").items()
    return {name: data for name, data in rendered if not name.endswith(("kustomization.yaml", ".gitkeep"))}


def test_no_recorded_job_is_stale_or_behind(root, capsys):
    assert run(["render", "--root", str(root)]) == 0  # lists of earlier versions go
    capsys.readouterr()
    assert run(["check", "--root", str(root), "--format", "json"]) == 0
    jobs = json.loads(capsys.readouterr().out)["jobs"]
    assert [job["name"] for job in jobs] == ["detection", "sweep-2", "llm", "detection", "sweep-1", "sweep-4"]
    assert {job["state"] for job in jobs} == {"current" if recorded_by(root) == __version__ else "unproven"}
    assert run(["validate", "--root", str(root)]) == 0
    assert causes(capsys.readouterr().out) == []


def test_a_render_changes_no_manifest(root, capsys):
    before = manifests(root)
    assert run(["render", "--root", str(root)]) == 0
    assert manifests(root) == before
    assert causes(capsys.readouterr().err) == []


@pytest.mark.parametrize("name", RECORDINGS)
def test_recorded_digests_are_those_of_today(name):
    folder = FOLDER / name
    train_jobs = {
        digest_of([document.tree])
        for path in (folder / "jobs").rglob("*.yaml")
        for document in load(path.read_bytes(), path.name).documents
    }
    found = [parse(path.read_bytes()).lock for path in sorted(folder.rglob("*.lock"))]
    assert train_jobs <= {lock.train_job for lock in found}
    for path in folder.rglob(".trainform/snapshots/*.yaml"):
        assert digest_of([document.tree for document in load(path.read_bytes(), path.name).documents]) == path.stem
    for path in folder.rglob("*.lock"):
        lock = parse(path.read_bytes()).lock
        environment, namespace, job = path.relative_to(folder / ".trainform" / "locks").with_suffix("").parts
        rendered = folder / "rendered" / environment / namespace / job
        assert lock.files == {file.name: digest_of_file(file.read_bytes()) for file in rendered.iterdir()}
        if lock.source_digest:
            assert lock.source_digest == digest_of_file((folder / lock.source).read_bytes())


@pytest.mark.parametrize(
    ("trees", "digest"),
    [
        ([], "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"),
        ([{"b": 1, "a": [True, None, 1.5]}], "4cd0b23a82472eecd6364142e12c6cd5eccf9c083995583ae9efe8c5ff518c5e"),
        ([{"é": "\U0001f600\u2028\t"}, {}], "cf269820f32e482da6cf2b04856fe51d84bcab285c49941b43e9910bb2b17df2"),
        ([{"half of a pair": "\ud800"}], "9f15ca2e0d8b9a1cf4215d7255844d11a27cf458efe58b664125021803b4241a"),
    ],
    ids=["nothing", "order-of-keys", "beyond-ascii", "no-unicode"],
)
def test_the_digest_of_trees_is_that_of_their_canonical_json(trees, digest):
    assert digest_of(trees) == digest


def test_no_documents_have_the_digest_that_locks_hold_where_there_is_no_environment():
    assert digest_of([]) == NOTHING

"""A miniature of this project: its own pyproject.toml and hook, and a file of each folder that the wheel is made of."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from release.build import HERE, Archives, build
from release.source import Source, export, find_source
from support.ci import ROOT, git

URL = "https://git.example.com/ml/trainform"
FILES = {
    "CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n## 1.2.3 - 2026-01-31\n\n- Something.\n",
    "README.md": "# trainform\n\n[deviations](docs/codes/TF101.md), `[code](stays)`\n",
    "compiler/trainform/__init__.py": '__version__ = "1.2.3"\n',
    "docs/codes/TF101.md": "# TF101\n",
    "plugins/trainform_plugins/__init__.py": "",
    "runtimes/plain.yaml": "kind: ClusterTrainingRuntime\n",
    "tests/test_something.py": "def test_something(): pass\n",
}


def commit(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "change")


def make_project(folder: Path) -> Path:
    (folder / "ci").mkdir(parents=True)
    for name in (".gitignore", "LICENSE", "NOTICE", "ci/requirements.txt", "hatch_build.py", "pyproject.toml"):
        shutil.copy(ROOT / name, folder / name)
    git(folder, "init", "--quiet")
    commit(folder, FILES)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "project")


@pytest.fixture(scope="session")
def released(tmp_path_factory: pytest.TempPathFactory) -> tuple[Source, Archives]:
    """A commit and its archives, which no test may change."""
    folder = tmp_path_factory.mktemp("release")
    source = find_source(make_project(folder / "project"), URL, {})
    return source, build(source, HERE, folder)


@pytest.fixture
def source(released: tuple[Source, Archives]) -> Source:
    return released[0]


@pytest.fixture
def archives(released: tuple[Source, Archives], tmp_path: Path) -> Archives:
    """Copies of them."""
    return Archives(*(Path(shutil.copy(path, tmp_path)) for path in released[1]))


@pytest.fixture
def tree(source: Source, tmp_path: Path) -> Path:
    """The files of the commit."""
    export(source, tmp_path / "exported")
    return tmp_path / "exported"

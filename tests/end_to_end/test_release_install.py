"""The archives tried as users would: with pip, in a new virtual environment."""

from __future__ import annotations

import zipfile

import pytest

from release.install import Installation, problems

PROGRAM = """\
import sys
def main():
    print("trainform 1.2.3" if "--version" in sys.argv else "coscheduling" if "plugins" in sys.argv else "kind: JobSet")
"""


@pytest.fixture
def wheel(tmp_path, monkeypatch):
    """A wheel of a program that answers as trainform does, with an extra that brings nothing."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    path, info = tmp_path / "trainform-1.2.3-py3-none-any.whl", "trainform-1.2.3.dist-info"
    metadata = "Metadata-Version: 2.1\nName: trainform\nVersion: 1.2.3\nProvides-Extra: secrets\n"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("trainform.py", PROGRAM)
        archive.writestr("broken.py", "import nowhere")
        archive.writestr(f"{info}/METADATA", metadata)
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/entry_points.txt", "[console_scripts]\ntrainform = trainform:main\n")
        archive.writestr(f"{info}/top_level.txt", "trainform\nbroken\n")
        archive.writestr(f"{info}/RECORD", "")
    return path


def test_what_answers_is_fit(wheel, tmp_path):
    assert list(problems(Installation(wheel, "secrets"), "1.2.3", tmp_path / "environment")) == []


@pytest.mark.parametrize(
    ("packages", "version", "problem"),
    [
        ((), "1.2.4", "trainform --version exits 0 and says: trainform 1.2.3"),
        (
            ("trainform",),
            "1.2.3",
            "importing the extra exits 1 and says: ModuleNotFoundError: No module named 'nowhere'",
        ),
    ],
    ids=["another version", "an extra that cannot be imported"],
)
def test_what_does_not_is_told_with_its_last_words(wheel, tmp_path, packages, version, problem):
    (found,) = problems(Installation(wheel, "secrets", packages), version, tmp_path / "environment")
    assert found.startswith("trainform-1.2.3-py3-none-any.whl[secrets]: ")
    assert found.endswith(problem)


def test_what_pip_refuses_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    wheel = tmp_path / "trainform-1.2.3-py3-none-any.whl"
    wheel.write_bytes(b"no wheel")
    (found,) = problems(Installation(wheel), "1.2.3", tmp_path / "environment")
    assert found.startswith(f"{wheel.name}: pip install exits 1 and says: ")

"""What the archives may hold."""

from __future__ import annotations

import zipfile

import pytest

from release.archives import compared, sdist_problems, secrets, wheel_problems

KEY = "-----BEGIN " + "PRIVATE KEY-----\n" + "MC4CAQAwBQYDK2VwBCIEI" * 4
WHEEL = "trainform-1.2.3-py3-none-any.whl"


def test_the_archives_of_a_commit_have_no_problem(archives, tree):
    assert list(wheel_problems(archives.wheel, tree, "1.2.3")) == []
    assert list(sdist_problems(archives.sdist, tree, "1.2.3")) == []


@pytest.mark.parametrize(
    "name", ["tests/test_x.py", "trainform/__pycache__/x.cpython-313.pyc", "trainform/new.py", "hatch_build.py"]
)
def test_nothing_else_belongs_into_the_wheel(archives, tree, name):
    with zipfile.ZipFile(archives.wheel, "a") as wheel:
        wheel.writestr(name, "")
    assert list(wheel_problems(archives.wheel, tree, "1.2.3")) == [f"{WHEEL}: {name} does not belong there"]


@pytest.mark.parametrize(
    ("file", "member"),
    [
        ("compiler/trainform/extra.py", "trainform/extra.py"),
        ("runtimes/extra.yaml", "trainform/catalogue/extra.yaml"),
        ("docs/codes/TF102.md", "trainform/codes/TF102.md"),
    ],
)
def test_each_file_of_the_packages_belongs_into_the_wheel(archives, tree, file, member):
    (tree / file).write_text("")
    assert list(wheel_problems(archives.wheel, tree, "1.2.3")) == [f"{WHEEL}: {member} is missing"]


@pytest.mark.parametrize("name", ["LICENSE", "NOTICE"])
def test_both_archives_hold_the_licence_and_the_notice(archives, tree, name):
    (tree / name).write_text("another")
    (found,) = wheel_problems(archives.wheel, tree, "1.2.3")
    assert found == f"{WHEEL}: trainform-1.2.3.dist-info/licenses/{name} is not as it is committed"
    (tree / name).unlink()
    assert f"trainform-1.2.3.tar.gz: trainform-1.2.3/{name} does not belong there" in sdist_problems(
        archives.sdist, tree, "1.2.3"
    )


def test_what_the_build_writes_may_hold_anything():
    assert list(compared("a", {"RECORD": b"1", "x": b"1"}, {"RECORD": None, "x": b"2"})) == [
        "a: x is not as it is committed"
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("trainform/.env", ""),
        ("trainform/tls.key", ""),
        ("trainform/id_ed25519", ""),
        ("trainform/x.py", KEY),
        ("trainform/x.py", "AGE-SECRET-KEY-1" + "A" * 58),
        ("trainform/x.py", "token = 'ghp_" + "a" * 36 + "'"),
    ],
)
def test_a_secret_is_found_by_name_and_by_content(name, text):
    assert list(secrets("a", {name: text.encode()})) == [f"a: {name} looks like a secret"]


@pytest.mark.parametrize("text", ['BEGIN = "-----BEGIN PRIVATE KEY-----"', "AGE-SECRET-KEY-1…", "ghp_x"])
def test_code_that_looks_for_secrets_is_none(text):
    assert list(secrets("a", {"trainform/keys/keyfile.py": text.encode()})) == []

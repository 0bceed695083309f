"""`trainform.yaml`."""

from __future__ import annotations

import pytest

from trainform.io.repository import open_repository
from trainform.io.settings import Settings, parse_settings


def test_every_key_has_a_default():
    assert parse_settings(b"") == (Settings(), [])
    assert parse_settings(b"# nothing\n") == (Settings(), [])


def test_folders_can_be_renamed():
    settings, problems = parse_settings(b"jobs: teams\nrendered: ./out/manifests/\n")
    assert problems == []
    assert settings == Settings(jobs="teams", rendered="out/manifests")


@pytest.mark.parametrize(
    ("written", "place"), [("a//b", "a/b"), ("./a/b/", "a/b"), ("a/./b", "a/b"), (".", ""), ("./", "")]
)
def test_a_place_in_git_may_be_written_as_any_path_to_it(written, place):
    settings, problems = parse_settings(f"repositoryPath: {written}\n".encode())
    assert problems == []
    assert settings.repository_path == place
    assert settings.rendered_in_git == (f"{place}/rendered" if place else "rendered")


KNOWN = "known keys: jobs, runtimes, environments, rendered, lints, lintsByPath, plugins, repositoryPath"


@pytest.mark.parametrize(
    ("text", "code", "line", "hint"),
    [
        ("jobs: jobs\nrenderd: out\n", "TF101", 2, 'did you mean "rendered"?'),
        ("colour: blue\n", "TF101", 1, KNOWN),
        ("jobs: 7\n", "TF102", 1, 'write "jobs: jobs"'),
        ("jobs: [a, b]\n", "TF102", 1, 'write "jobs: jobs"'),
        ("jobs: ../other\n", "TF703", 1, 'write "jobs: jobs"'),
        ("jobs: /etc\n", "TF703", 1, 'write "jobs: jobs"'),
        ("rendered: jobs/out\n", "TF703", 1, "choose separate folders"),
        ("jobs: .\n", "TF703", 1, "choose separate folders"),
        ("rendered: ./.trainform/staging\n", "TF703", 1, 'write "rendered: rendered"'),
        ("rendered: .git\n", "TF703", 1, 'write "rendered: rendered"'),
        ("jobs: a\n---\nruntimes: b\n", "TF703", 3, "merge the documents"),
    ],
)
def test_a_mistake_is_told_where_it_stands(text, code, line, hint):
    settings, problems = parse_settings(text.encode())
    assert settings == Settings()
    assert [(each.code, each.to_json()["line"], each.hint) for each in problems] == [(code, line, hint)]


def test_settings_that_cannot_be_read_are_an_error(tmp_path):
    (tmp_path / "trainform.yaml").mkdir()
    _, problems = open_repository(str(tmp_path))
    assert [(each.code, each.file) for each in problems] == [("TF701", "trainform.yaml")]

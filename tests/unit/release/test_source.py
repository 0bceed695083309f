"""What is released, and what a commit lacks to be."""

from __future__ import annotations

import pytest

from release.source import changelog_problems, find_source, page_of, unready
from support.ci import git
from unit.release.conftest import URL, commit

GITHUB = {"GITHUB_SERVER_URL": "https://hub.example.com", "GITHUB_REPOSITORY": "ml/trainform"}


@pytest.mark.parametrize(
    ("remote", "page"),
    [
        ("https://git.example.com/ml/trainform.git", URL),
        ("https://git.example.com/ml/trainform/", URL),
        ("https://user:secret@git.example.com/ml/trainform.git", URL),
        ("ssh://git@git.example.com/ml/trainform.git", URL),
        ("git@git.example.com:ml/trainform.git", URL),
        ("https://git.example.com:8443/ml/trainform", "https://git.example.com:8443/ml/trainform"),
        ("/srv/trainform.git", ""),
        ("../trainform", ""),
        ("file:///srv/trainform.git", ""),
        ("", ""),
    ],
)
def test_the_page_of_a_remote_has_neither_user_nor_token(remote, page):
    assert page_of(remote) == page


def test_the_address_is_what_is_given_else_the_remote_else_what_github_says(project):
    assert find_source(project, "", {}).url == ""
    assert find_source(project, "", GITHUB).url == "https://hub.example.com/ml/trainform"
    git(project, "remote", "add", "origin", "git@git.example.com:ml/trainform.git")
    assert find_source(project, "", GITHUB).url == URL
    assert find_source(project, "https://other.example.com/x/", GITHUB).url == "https://other.example.com/x"


def test_a_commit_that_is_ready(project):
    git(project, "tag", "v1.2.3")
    source = find_source(project, URL, {})
    assert (source.version, source.tag, list(unready(source))) == ("1.2.3", "v1.2.3", [])


def test_everything_that_is_missing_is_told(project):
    git(project, "tag", "v1.2.4")
    commit(project, {"CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n- Something.\n"})
    (project / "README.md").write_text("changed")
    assert list(unready(find_source(project, "", {}))) == [
        "the project's address is unknown: give --url, or add git's remote origin",
        "the commit has no tag v1.2.3",
        "changes are not committed: they are not in the archives",
        'CHANGELOG.md has no section "## 1.2.3 - YYYY-MM-DD"',
    ]


@pytest.mark.parametrize(
    ("changelog", "problems"),
    [
        ("## Unreleased\n\n## 1.0.0 - 2026-01-31\n- x\n", []),
        ("## 1.0.0 - 2026-01-31\n- x\n\n## 0.9.0 - 2025-01-31\n", []),
        ("## 1.0.0\n- x\n", ['CHANGELOG.md has no section "## 1.0.0 - YYYY-MM-DD"']),
        ("## 1.0.01 - 2026-01-31\n- x\n", ['CHANGELOG.md has no section "## 1.0.0 - YYYY-MM-DD"']),
        ("## 1.0.0 - 2026-01-31\n\n", ['CHANGELOG.md says nothing under "1.0.0 - 2026-01-31"']),
        ("## Unreleased\n- y\n## 1.0.0 - 2026-01-31\n- x\n", ['CHANGELOG.md still has lines under "Unreleased"']),
    ],
)
def test_the_changelog_has_a_section_of_the_version(changelog, problems):
    assert list(changelog_problems(changelog, "1.0.0")) == problems

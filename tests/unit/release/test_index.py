"""What a package index would say of the metadata, and how it would show the README."""

from __future__ import annotations

import pytest

from release.index import metadata_problems, readme_problems
from unit.release.conftest import URL

METADATA = """\
Metadata-Version: 2.4
Name: trainform
Version: 1.2.3
Summary: Compiles TrainJobs.
Project-URL: Homepage, https://git.example.com/ml/trainform
License-Expression: Apache-2.0
License-File: LICENSE
Classifier: Environment :: Console
Requires-Python: >=3.11
Description-Content-Type: text/markdown

# trainform
"""


def test_good_metadata():
    assert list(metadata_problems(METADATA.encode(), with_urls=True)) == []


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("Version: 1.2.3", "Version: latest", "'latest' is invalid for 'version'"),
        ("Environment :: Console", "Environment :: Consoul", "unknown classifier Environment :: Consoul"),
        ("Summary:", "Sumary:", "nobody reads sumary"),
        ("Apache-2.0", "Apache 2", "'Apache 2' is invalid for 'license-expression'"),
        ("License-File: LICENSE\n", "", "no license_files"),
        ("Project-URL: Homepage, https://git.example.com/ml/trainform\n", "", "no project_urls"),
        ("# trainform\n", "", "no description"),
    ],
)
def test_bad_metadata(old, new, problem):
    found = list(metadata_problems(METADATA.replace(old, new).encode(), with_urls=True))
    assert any(problem in each for each in found), found


def test_addresses_are_wanted_only_if_there_is_one():
    bare = METADATA.replace("Project-URL: Homepage, https://git.example.com/ml/trainform\n", "")
    assert list(metadata_problems(bare.encode(), with_urls=False)) == []


@pytest.fixture
def files(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("")
    return tmp_path


@pytest.mark.parametrize(
    "text",
    [
        f"[a]({URL}/blob/v1/docs/a.md#part) [docs]({URL}/tree/v1/docs) [b](https://example.com)",
        "# A part\n\n[a](#a-part)",
        "`a](b)` and\n\n    **code**\n",
        "| a | b |\n|---|---|\n| **c** | [d](https://example.com) |",
    ],
)
def test_a_readme_that_an_index_shows_well(text, files):
    assert list(readme_problems(text, URL, "v1", files)) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[a](docs/a.md)", "docs/a.md is relative: an index has no such file"),
        (f"[b]({URL}/blob/v1/docs/b.md)", f"{URL}/blob/v1/docs/b.md leads to no file of the commit"),
        ("![b](docs/b.svg)", "docs/b.svg is relative: an index has no such file"),
        ("[a] (docs/a.md) and [b]\n](x)", "shows '](' as text"),
        ("<script>alert()</script>", "shows '<script>' as text"),
        ("not** bold**", "shows '**' as text"),
        ("| a | b |\n| --- |\n", "shows '| ---' as text"),
    ],
)
def test_a_readme_that_it_does_not(text, problem, files):
    assert f"README: {problem}" in list(readme_problems(text, URL, "v1", files))


def test_without_an_address_links_lead_to_files(files):
    found = readme_problems("[a](docs/a.md) [b](docs/b.md)", "", "v1", files)
    assert list(found) == ["README: docs/b.md leads to no file of the commit"]

"""Every code block of every page is tested, or says why not.

A test that fails here says what to write above the block. A comment such as `<!-- untested: it needs a cluster -->` is
invisible to readers.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

import pytest
from ruamel.yaml import YAML

from support.ci import faults
from support.command_lines import of_this_project, verify
from support.markdown import ROOT, Block, blocks, prose
from support.stories import CLONE, Place, Story, begin, in_process, is_step, play, stories
from trainform import compile_stream

DOCS = ROOT / "docs"
COOKBOOK = sorted((DOCS / "cookbook").glob("[a-z]*.md"))
CODES = sorted((DOCS / "codes").glob("TF*.md"))
"""Pages with a form of their own, which `test_code_pages.py` and `test_code_stories.py` try."""

PAGES = [
    *(page for page in sorted(DOCS.rglob("*.md")) if "adr" not in page.parts and page not in CODES),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
]

UNTESTED = 16
"""How many blocks say why no test tries them. This number may only become smaller."""

BLOCKS = [block for page in PAGES for block in blocks(page)]
STORIES = [story for page in PAGES if page not in COOKBOOK for story in stories(page) if story.begins != CLONE]

ADVICE = """\
{place}: no test tries this block. Do one of these:
  - a file: ```yaml file=jobs/llm.yaml; commands and what they print: ```console, with lines that begin with `$ `.
    Files and commands of a page are tried in order, in one repository; `…` stands for any output
  - a part of a rendered file: <!-- excerpt of: rendered/prod/ml/llm/jobset-llm.yaml --> above it
  - a part of a file that is written by hand: <!-- part of: {parts} --> above it
  - lines of trainform, ./dev or a script, to be checked for commands and options that exist: indent them, or ```sh
  - <!-- tested by: tests/unit/test_plugins_page.py --> if a test of its own reads the page
  - <!-- untested: it needs a cluster --> if none can, and raise UNTESTED in tests/unit/test_pages.py
Readers do not see these comments. For a test alone, a whole block may stand in an HTML comment."""


@pytest.fixture
def place(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
    request: pytest.FixtureRequest,
) -> Place:
    """A folder for a story, and trainform in this process."""
    folder = tmp_path / "story"
    folder.mkdir()
    update = request.config.getoption("--update-golden")
    return in_process(folder, monkeypatch, capfdbinary, tmp_path / "programs", update=update)


# Whole stories


@pytest.mark.parametrize("page", COOKBOOK, ids=lambda page: page.stem)
def test_a_recipe_prints_what_it_shows_and_its_repository_is_in_order(page: Path, place: Place):
    (story,) = stories(page)
    begin(story.begins, place.folder)
    play(story.steps, place)
    assert place.say("trainform check").code == 0
    found = json.loads(place.say("trainform validate --format json").text)["diagnostics"]
    told = {each["code"] for each in found if each["severity"] != "info"}
    unexplained = sorted(code for code in told if code not in prose(page))
    assert unexplained == [], place.say("trainform validate").text


def test_the_cookbook_lists_every_recipe():
    index = (DOCS / "cookbook" / "README.md").read_text(encoding="utf-8")
    assert [page.name for page in COOKBOOK if f"({page.name})" not in index] == []


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.steps[0].place)
def test_a_page_is_true_from_its_first_block_to_its_last(story: Story, place: Place):
    begin(story.begins, place.folder)
    play(story.steps, place)


# Single blocks

SCHEMAS = {
    "a GitHub workflow": "github-workflows",
    "a GitLab pipeline": "gitlab-ci",
}
"""Files that others read, by the schema that check-jsonschema ships for them."""

JOB = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: llm, namespace: ml}
spec:
  runtimeRef: {name: torch-distributed}
  trainer:
    numNodes: 2
"""
ENVIRONMENT = "apiVersion: trainform.dev/v1alpha1\nkind: Environment\nmetadata: {name: prod}\nspec:\n"
OURS = {
    "Environment spec": f"{JOB}---\n{ENVIRONMENT}",
    "TrainJob spec.trainer": JOB.removesuffix("    numNodes: 2\n"),
}
"""What stands before a part of a file of ours."""

PARTS = ["trainform.yaml", *OURS, *SCHEMAS, "a pre-commit configuration"]


@pytest.mark.parametrize("block", [b for b in BLOCKS if of_this_project(b)], ids=lambda block: block.place)
def test_commands_and_their_options_exist(block: Block):
    for words in of_this_project(block):
        verify(words)


def is_whole(block: Block) -> bool:
    """Whether a block of YAML has whole objects."""
    plain = block.language == "yaml" and not block.marks and not block.file
    return plain and re.search(r"^apiVersion: ", block.text, re.MULTILINE) is not None


@pytest.mark.parametrize("block", [b for b in BLOCKS if is_whole(b)], ids=lambda block: block.place)
def test_whole_objects_compile(block: Block):
    assert_compiles(block, block.text)


@pytest.mark.parametrize("block", [b for b in BLOCKS if "part of" in b.marks], ids=lambda block: block.place)
def test_a_part_is_valid_in_its_whole(block: Block, place: Place):
    where = block.marks["part of"]
    assert where in PARTS, f"{block.place}: a block may be part of: {', '.join(PARTS)}"
    if where == "trainform.yaml":
        (place.folder / where).write_text(block.text)
        (place.folder / "jobs").mkdir()
        (place.folder / "jobs" / "llm.yaml").write_text(JOB)
        assert place.say("trainform validate").code == 0
    elif where in SCHEMAS:
        pytest.importorskip("check_jsonschema")
        assert faults(SCHEMAS[where], read(block.text)) == []
    elif where == "a pre-commit configuration":
        wanted = {hook["id"] for repository in read(block.text)["repos"] for hook in repository["hooks"]}
        assert wanted <= {hook["id"] for hook in read((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
    else:
        depth = where.count(".") + 1
        assert_compiles(block, OURS[where] + indent(dedent(block.text), "  " * depth))


def read(text: str) -> Any:
    """YAML 1.2, in which `on` is a word."""
    return YAML(typ="safe").load(text)


def assert_compiles(block: Block, text: str) -> None:
    """No error, and nothing that is passed over because trainform does not know it."""
    result = compile_stream(text)
    found = [*result["diagnostics"], *(each for job in result["jobs"] for each in job["diagnostics"])]
    ours = [each for each in found if each["code"] != "TF202"]  # an Environment alone has no TrainJob
    wrong = [each for each in ours if each["severity"] == "error" or each["code"] == "TF204"]
    assert wrong == [], f"{block.place}: {wrong}"


# All blocks


def is_tested(block: Block) -> bool:
    if {"untested", "tested by", "part of"} & block.marks.keys():
        return True
    return is_step(block) or is_whole(block) or bool(of_this_project(block))


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.place)
def test_every_block_is_tested_or_says_why_not(block: Block):
    assert is_tested(block), ADVICE.format(place=block.place, parts=" or ".join(PARTS))


@pytest.mark.parametrize("block", [b for b in BLOCKS if "tested by" in b.marks], ids=lambda block: block.place)
def test_a_test_that_a_block_names_reads_its_page(block: Block):
    test = ROOT / block.marks["tested by"]
    assert block.page.name in test.read_text(encoding="utf-8")


def test_fewer_and_fewer_blocks_are_untested():
    untested = [f"{block.place}: {block.marks['untested']}" for block in BLOCKS if "untested" in block.marks]
    assert len(untested) == UNTESTED, "\n".join(["set UNTESTED to their number, if that is fewer:", *untested])


@pytest.mark.parametrize("page", CODES, ids=lambda page: page.stem)
def test_a_page_of_a_code_has_a_story_or_an_example_and_its_cure(page: Path):
    others = [block for block in blocks(page) if not is_step(block)]
    assert [block.place for block in others if block.language != "yaml"] == []
    assert len(others) <= 2

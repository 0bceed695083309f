"""How pages are read and played: see `support/markdown.py` and `support/stories.py`."""

from __future__ import annotations

from contextlib import nullcontext
from textwrap import dedent

import pytest
from click import NoSuchOption

from support.command_lines import of_this_project, verify
from support.markdown import blocks
from support.stories import Place, Said, contains, is_step, matches, play, stories


@pytest.mark.parametrize(
    ("shown", "real", "same"),
    [
        (["a", "b"], "a\nb\n", True),
        (["a", "b"], "a\nb\nc\n", False),
        (["a", "b"], "b\na\n", False),
        (["…", "b"], "a\nb\n", True),
        (["…", "b"], "b\n", True),
        (["a", "…"], "a\nb\nc\n", True),
        (["…", "b", "…"], "a\nc\n", False),
        (["at … o'clock"], "at nine o'clock\n", True),
        (["at … o'clock"], "at nine\no'clock\n", False),
        (["a.c"], "abc\n", False),
        (["a", "", ""], "a  \n", True),
    ],
)
def test_what_is_shown_is_all_that_is_printed_but_for_ellipses(shown, real, same):
    assert matches(shown, real) == same


@pytest.mark.parametrize(
    ("part", "has"),
    [
        ({"a": 1}, True),
        ({"a": 2}, False),
        ({"z": 1}, False),
        ({"list": [{"name": "x"}, {"name": "z", "value": 3}]}, True),
        ({"list": [{"name": "z"}, {"name": "x"}]}, False),
        ({"list": ["x"]}, False),
        ({"a": {"b": 1}}, False),
    ],
)
def test_an_excerpt_has_fields_and_entries_in_their_order(part, has):
    whole = {"a": 1, "list": [{"name": "x"}, {"name": "y"}, {"name": "z", "value": 3}]}
    assert contains(whole, part) == has


PAGE = """\
    indented: it is a block

- an item

  its second paragraph, no block

      a block within the item

<!-- untested: it needs a cluster -->
```sh
kubectl get pods
```

Text.

<!-- excerpt of: a.yaml -->

    a: 1

<!--
```yaml file=b.yaml
b: 2
```
-->

~~~ text
```
~~~
"""


@pytest.fixture
def page(tmp_path, monkeypatch):
    """A page with this text."""

    def write(text):
        path = tmp_path / "page.md"
        path.write_text(dedent(text))
        monkeypatch.setattr("support.stories.ROOT", tmp_path)
        monkeypatch.setattr("support.markdown.ROOT", tmp_path)
        return path

    return write


def test_blocks_are_fenced_indented_or_hidden_and_marks_belong_to_the_next_one(page):
    found = blocks(page(PAGE))
    assert [(block.line, block.language, block.text) for block in found] == [
        (1, "", "indented: it is a block\n"),
        (7, "", "a block within the item\n"),
        (11, "sh", "kubectl get pods\n"),
        (18, "", "a: 1\n"),
        (22, "yaml", "b: 2\n"),
        (27, "text", "```\n"),
    ]
    assert [block.marks for block in found if block.marks] == [
        {"untested": "it needs a cluster"},
        {"excerpt of": "a.yaml"},
    ]
    assert [block.line for block in found if is_step(block)] == [18, 22]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("trainform render --env prod JOB", ""),
        ("trainform job new NAME --gpus 8  # a comment's apostrophe", ""),
        ("TRAINFORM_ROOT=a ci/check.sh && ./dev bench --size small", ""),
        ("trainform rendre", "no command 'rendre'"),
        ("trainform job old", "no command 'old'"),
        ("trainform render --envs prod", "--envs"),
        ("./dev bensh", "no command bensh"),
        ("./dev bench --sise small", "no such option"),
        ("git add . && ci/chek.sh", "there is no ci/chek.sh"),
    ],
)
def test_commands_and_options_that_do_not_exist_are_found(page, text, fault):
    (block,) = blocks(page(f"```sh\n{text}\n```\n"))
    with pytest.raises((AssertionError, NoSuchOption), match=fault) if fault else nullcontext():
        for words in of_this_project(block):
            verify(words)


def test_prose_and_other_programs_are_no_commands_of_ours(page):
    assert of_this_project(*blocks(page("```\nit's trainform\nkubectl get pods\n```\n"))) == []


TWO = """\
<!-- story: an empty folder -->
```console
$ say 1
one
$ say 2
```

<!-- story: an empty folder -->
```console
$ say 3
three
```
"""


def test_a_mark_begins_another_story(page):
    assert [(story.begins, len(story.steps)) for story in stories(page(TWO))] == [("an empty folder", 1)] * 2


@pytest.fixture
def place(tmp_path):
    """Where every command prints a number, written out."""
    return Place(tmp_path, lambda line: Said(0, {"1": "one\n", "2": "two\n", "3": "3\n"}[line[-1]]))


def test_what_a_page_shows_wrongly_fails_with_its_line(page, place):
    first, second = stories(page(TWO))
    assert play(first.steps, place) == Said(0, "two\n")
    with pytest.raises(pytest.fail.Exception, match=r"(?s)page.md:10: `say 3` prints something else.*\n-three\n\+3"):
        play(second.steps, place)


def test_an_update_writes_what_is_printed(page, place):
    path = page(TWO)
    play(stories(path)[1].steps, place._replace(update=True))
    assert path.read_text() == TWO.replace("three", "3")
    play(stories(path)[1].steps, place)


def test_an_update_leaves_a_page_alone_that_another_story_has_changed(page, place):
    path = page(TWO)
    _, second = stories(path)
    path.write_text(f"One more line.\n{TWO}")
    with pytest.raises(AssertionError, match="run pytest --update-golden again"):
        play(second.steps, place._replace(update=True))
    assert path.read_text() == f"One more line.\n{TWO}"


def test_a_program_that_fails_fails_the_story(page, tmp_path):
    (story,) = stories(page("```console\n$ false\n$ true\n```\n"))
    with pytest.raises(AssertionError, match=r"page.md:2: it is broken"):
        play(story.steps, Place(tmp_path, lambda _: Said(1, "it is broken")))

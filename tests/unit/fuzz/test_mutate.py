"""Cases are the same in every run, survive being kept in a file, and become as small as their fault allows."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from fuzz import case, mutate
from fuzz.case import Case, Entry, Step
from fuzz.minimize import minimized
from fuzz.process import Machine
from fuzz.seeds import Seeds
from fuzz.trees import mutated, read, write


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Seeds:
    """The seeds as they are before a render, which takes long."""
    found = Seeds(tmp_path_factory.mktemp("seeds"), Machine())
    found.rendered = found.files  # type: ignore[method-assign]
    return found


def test_the_same_number_and_seed_make_the_same_case(seeds):
    for number in range(20):
        assert mutate.make(seeds, number, 1) == mutate.make(seeds, number, 1)
    assert mutate.make(seeds, 1, 1) != mutate.make(seeds, 1, 2)


def test_a_case_is_read_back_as_it_was_written(seeds):
    for number in range(40):
        made = mutate.make(seeds, number, 2)
        assert case.parse(case.dump(made)) == made


def test_every_mutation_of_a_tree_leaves_one_that_can_be_written():
    chance = random.Random(1)
    for _ in range(500):
        trees = mutated([{"a": [1, {"b": None}], "c": {"d": "x"}}], [{"e": 1}], chance)
        assert trees
        for as_json in (True, False):
            assert write(trees, as_json=as_json)


def test_half_a_surrogate_pair_is_written_as_an_escape():
    assert "\\ud800" in write([{"a": "\ud800"}], as_json=False)


def test_what_is_no_yaml_is_told():
    assert read("a: [") is None
    assert read("") is None


def test_a_failing_case_loses_whatever_its_fault_does_not_need():
    text = "---\na: {b: [1, bad, 2], c: 3}\nd: 4\n---\ne: 5\n"
    files = {"x.yaml": Entry(text="f: 6"), "y.yaml": Entry(text=text), "z.yaml": Entry("link", "nowhere")}
    whole = Case(files, (Step(("check",)), Step(("render",))), "committed")

    def fails(tried: Case) -> bool:
        renders = any(step.command == "render" for step in tried.steps)
        return renders and "bad" in tried.files.get("y.yaml", Entry()).text

    small = minimized(whole, fails, seconds=10)
    assert small == replace(
        whole, files={"y.yaml": Entry(text="a:\n  b:\n  - bad\n")}, steps=(Step(("render",)),), git="none"
    )

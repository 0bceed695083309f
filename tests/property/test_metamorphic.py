"""How an input is written down changes nothing: what is compiled, what is told, and which deviations are named.

Inputs of the conformance corpus are written anew in other ways, and must compile to the same answer but for
positions. No expected output is needed, so that this holds for what nobody thought of.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from support.corpus import FAMILIES, cases
from trainform import compile_stream
from trainform.source import load

Tree = dict[str, Any]
SEPARATOR = "\n---\n"
SAMPLE = [case for family in FAMILIES for case in cases(family)[::14]]


class Quoting(yaml.SafeDumper):
    """Strings in quotes, which Kubernetes reads as strings whatever PyYAML thinks of them."""

    def ignore_aliases(self, data: object) -> bool:
        return not isinstance(data, dict | list) or not data


Quoting.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"'))


def as_yaml(tree: Tree, **options: Any) -> str:
    return str(yaml.dump(tree, Dumper=Quoting, sort_keys=False, allow_unicode=True, **options))


def as_json(trees: list[Tree]) -> str:
    return SEPARATOR.join(json.dumps(tree, ensure_ascii=False) for tree in trees)


def block_style(trees: list[Tree]) -> str:
    return SEPARATOR.join(as_yaml(tree, width=60) for tree in trees)


def flow_style(trees: list[Tree]) -> str:
    return SEPARATOR.join(as_yaml(tree, default_flow_style=True) for tree in trees)


def wide_indentation(trees: list[Tree]) -> str:
    return SEPARATOR.join(as_yaml(tree, indent=7) for tree in trees)


def comments_and_blank_lines(trees: list[Tree]) -> str:
    lines = SEPARATOR.join(as_yaml(tree, width=10**6) for tree in trees).splitlines()
    return "# a comment\n---\n" + "".join(f"{line}   # [ {{ : -\n\n  # {{%\n" for line in lines)


def carriage_returns(trees: list[Tree]) -> str:
    return "\ufeff" + block_style(trees).replace("\n", "\r\n")


def a_list(trees: list[Tree]) -> str:
    return as_json([{"apiVersion": "v1", "kind": "List", "items": trees}])


def lists_of_lists(trees: list[Tree]) -> str:
    return a_list([{"apiVersion": "v1", "kind": "List", "items": [tree, None]} for tree in trees])


def anchors_and_aliases(trees: list[Tree]) -> str:
    return SEPARATOR.join(as_yaml(shared(tree, {})) for tree in trees)


def shared(tree: Any, seen: dict[str, Any]) -> Any:
    """The tree with equal parts as one object, which PyYAML writes once and aliases."""
    if not isinstance(tree, dict | list):
        return tree
    text = json.dumps(tree)
    if text not in seen:
        entries = {k: shared(v, seen) for k, v in tree.items()} if isinstance(tree, dict) else None
        seen[text] = [shared(item, seen) for item in tree] if entries is None else entries
    return seen[text]


def keys_in_another_order(trees: list[Tree]) -> str:
    return as_json([with_sorted_keys(tree) for tree in trees])


def with_sorted_keys(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: with_sorted_keys(tree[key]) for key in sorted(tree, reverse=True)}
    return [with_sorted_keys(item) for item in tree] if isinstance(tree, list) else tree


def null_for_absent_fields(trees: list[Tree]) -> str:
    return as_json([with_nulls(tree) for tree in trees])


def with_nulls(tree: Tree) -> Tree:
    """The object with a null for optional fields that it lacks: the API server drops both alike."""
    spec = tree.get("spec")
    if not isinstance(spec, dict):
        return tree
    if tree.get("kind") != "TrainJob":
        return {**tree, "spec": {"mlPolicy": None, "podGroupPolicy": None, **spec}}
    trainer = spec.get("trainer")
    if isinstance(trainer, dict):
        trainer = {"image": None, "args": None, "env": None, "resourcesPerNode": None, **trainer}
    more = {"initializer": None, "runtimePatches": None, "suspend": None, "managedBy": None}
    return {**tree, "spec": {**more, **spec, "trainer": trainer}}


WAYS = (
    block_style,
    flow_style,
    wide_indentation,
    comments_and_blank_lines,
    carriage_returns,
    a_list,
    lists_of_lists,
    anchors_and_aliases,
    keys_in_another_order,
    null_for_absent_fields,
)


def answer(text: str) -> tuple[list[Any], list[Any]]:
    """What compiling `text` gives, in the order of its jobs, without positions and the text quoted in hints."""
    result = compile_stream(text)
    jobs = [{**job, "diagnostics": told(job["diagnostics"])} for job in result["jobs"]]
    return jobs, told(result["diagnostics"])


def told(diagnostics: list[Tree]) -> list[str]:
    kept = [{**each, "line": 0, "column": 0, "hint": bool(each["hint"])} for each in diagnostics]
    return sorted(re.sub(r"<stdin>:\d+|\bline \d+", "somewhere", json.dumps(each)) for each in kept)


@pytest.mark.parametrize("case", SAMPLE, ids=[case.id for case in SAMPLE])
def test_how_an_input_is_written_down_changes_nothing(case):
    loaded = load(case.input, "<stdin>")
    assert not loaded.diagnostics
    trees = [document.tree for document in loaded.documents]
    expected = answer(as_json(trees))
    assert answer(case.input) == expected
    assert [way.__name__ for way in WAYS if answer(way(trees)) != expected] == []


def other_order(jobs: list[Any]) -> list[Any]:
    return sorted(jobs, key=lambda job: (job["namespace"], job["name"]))


def reversed_documents(trees: list[Tree]) -> list[Tree]:
    return trees[::-1]


def beside_others(trees: list[Tree]) -> list[Tree]:
    """Objects that no job uses, at both ends."""
    pods = {"spec": {"template": {"spec": {"containers": [{"name": "node", "image": "a:1"}]}}}}
    job = {"name": "node", "template": {"metadata": {"labels": {STEP: "trainer"}}, **pods}}
    spec = {"template": {"spec": {"replicatedJobs": [job]}}}
    api = "trainer.kubeflow.org/v1alpha1"
    runtime = {"apiVersion": api, "kind": "ClusterTrainingRuntime", "metadata": {"name": "unused"}, "spec": spec}
    return [{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "unused"}}, *trees, runtime]


STEP = "trainer.kubeflow.org/trainjob-ancestor-step"


@pytest.mark.parametrize("changed", [reversed_documents, beside_others])
def test_what_stands_around_a_job_does_not_change_it(changed: Callable[[list[Tree]], list[Tree]]):
    for case in SAMPLE:
        trees = [document.tree for document in load(case.input, "<stdin>").documents]
        names = [(tree.get("kind"), json.dumps(tree.get("metadata"))) for tree in trees]
        if len(set(names)) < len(names):
            continue  # of two objects with one name, the second in order is the error
        (before, _), (after, _) = answer(as_json(trees)), answer(as_json(changed(trees)))
        assert other_order(after) == other_order(before), case.id

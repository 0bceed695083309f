"""Every golden case compiles to its files, and keeps what must hold for any output."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
import ryaml
from ruamel.yaml import YAML

from support.golden import compiled, golden_cases, plugin_of, plugins_for
from support.stored import empty_maps, loose_quantities
from trainform.core.finish import SCHEMAS
from trainform.installed import load_plugins
from trainform.k8s.defaults import admit
from trainform.k8s.schema import validate as schema
from trainform.output.emitter import emit
from trainform.source import load
from trainform.testing import DIAGNOSTICS, GoldenCase, files_of

each_case = pytest.mark.parametrize("case", golden_cases(), ids=str)


@each_case
def test_compiles_to_the_expected_files_in_any_order_of_documents(
    case: GoldenCase, request: pytest.FixtureRequest
) -> None:
    case.check(plugins_for(case), update=request.config.getoption("--update-golden"))


@each_case
def test_objects_are_valid_and_a_fixed_point_of_defaulting(case: GoldenCase) -> None:
    for job in compiled(case).jobs:
        for tree in job.objects:
            kind = SCHEMAS.get((tree["apiVersion"], tree["kind"]))
            assert kind is None or not schema.check(kind, tree)
            assert admit(tree) == tree
            assert not empty_maps(tree)
            assert not loose_quantities(tree)


@each_case
def test_output_reads_the_same_in_every_yaml_reader(case: GoldenCase) -> None:
    for job in compiled(case).jobs:
        for tree in job.objects:
            text = emit(tree)
            ours = load(text, "output").documents[0].tree
            assert ours == YAML(typ="safe", pure=True).load(text) == ryaml.load(StringIO(text))
            assert emit(ours) == text


@each_case
def test_a_plugin_that_does_not_act_leaves_no_trace(case: GoldenCase) -> None:
    everything = files_of(compiled(case))
    plugins = plugins_for(case)
    changed = set()
    for plugin in plugins:
        others = tuple(other for other in plugins if other is not plugin)
        if files_of(compiled(case, others)) != everything:
            changed.add(plugin.name)
    assert changed <= {*frameworks(case), plugin_of(case), "plain", "jobset", "secrets", "lifecycle"}


def frameworks(case: GoldenCase) -> set[str]:
    """The policies that the case's runtimes name: each is a plugin of the same name."""
    text = "".join(str(document.tree) for document in case.loaded().documents)
    known = (
        "torch",
        "mpi",
        "jax",
        "xgboost",
        "flux",
        "coscheduling",
        "volcano",
        "kueue",
        "kai",
        "yunikorn",
    )
    return {name for name in known if name in text} | {"torchtune"}


def test_other_hash_seeds_give_the_same_bytes() -> None:
    script = Path(__file__).with_name("digest_of_all_cases.py")
    runs = [
        subprocess.run(
            [sys.executable, str(script)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "20261127")
    ]
    assert runs[0] == runs[1] == digest_of_all_cases()


def digest_of_all_cases() -> str:
    lines = []
    for case in golden_cases():
        for name, text in sorted(files_of(compiled(case)).items()):
            lines.append(f"{case}/{name} {hashlib.sha256(text.encode()).hexdigest()}\n")
    return "".join(lines)


def test_every_plugin_has_its_cases() -> None:
    counts = {plugin.name: 0 for plugin in load_plugins()}
    failing = dict(counts)
    for case in golden_cases():
        counts[plugin_of(case)] = counts.get(plugin_of(case), 0) + 1
        failing[plugin_of(case)] = failing.get(plugin_of(case), 0) + (
            ": error " in case.expected().get(DIAGNOSTICS, "")
        )
    assert {name: count for name, count in counts.items() if count < 6} == {}
    assert [name for name, count in failing.items() if not count] == []

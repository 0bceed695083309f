"""The source of a function survives as it was written, whatever a shell, YAML or an editor would make of it."""

from __future__ import annotations

import io
import linecache
import runpy
from itertools import count
from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trainform import compile_stream
from trainform.io.resources import shipped_runtimes
from trainform.output.emitter import emit, emit_stream
from trainform.workspace.new_job.carriage import KEY, carriage
from trainform.workspace.new_job.literals import literal
from trainform.workspace.new_job.live import script_of_function

NUMBERS = count()
UNTIMED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
RUNTIME = yaml.safe_load(dict(shipped_runtimes())["torch-distributed.yaml"])
HARD = [
    "$HOME", "${A:-b}", "$(date)", "`id`",
    "\\", "\\n", "\\\\", "'", '"', "EOM", "\nEOM\n", "EOF", "\t", "#",
    "%s", "{}", "{{ x }}", "é",
    "\N{SNOWMAN}", "\u2028", "\x85", "---\n", "\n", " ", "\x1b", "\x00",
]  # fmt: skip
texts = st.lists(st.sampled_from(HARD) | st.text(max_size=5), max_size=8).map("".join)


def defined(source: str) -> Any:
    """A function from its source, as a notebook defines one: Python finds the source by the name of the cell."""
    name = f"<cell {next(NUMBERS)}>"
    linecache.cache[name] = (len(source), None, io.StringIO(source).readlines(), name)
    scope: dict[str, Any] = {}
    exec(compile(source, name, "exec", dont_inherit=True), scope)
    return scope["train"]


def source_with(text: str, indent: str) -> str:
    """A function that returns `text`, as a literal and, where that can be, as it is between triple quotes."""
    raw = text if '"""' not in text and text.isprintable() and not text.endswith(('"', "\\")) else ""
    lines = ["def train(given=None):", f"{indent}# {raw}", f'{indent}raw = r"""', raw, '"""']
    return "\n".join([*lines, f"{indent}return {text!r}, raw, given", ""])


def run(script: str, folder: Path) -> Any:
    path = folder / "script.py"
    path.write_bytes(script.replace("    train(", "    result = train(").encode())
    return runpy.run_path(str(path), run_name="__main__")["result"]


@UNTIMED
@given(texts, st.sampled_from(["    ", "\t", " "]), texts)
def test_a_function_survives(tmp_path_factory, text, indent, argument):
    folder = tmp_path_factory.getbasetemp()
    source = source_with(text, indent)
    function = defined(source)
    script = script_of_function(function, {"given": argument}).text
    assert source in script
    assert run(script, folder) == function(argument)


@UNTIMED
@given(texts)
def test_a_script_survives_the_way_to_the_manifest(text):
    script = script_of_function(defined(source_with(text, "    "))).text
    carried = carriage("llm", "", RUNTIME)
    job: dict[str, Any] = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "llm"},
    }
    job["spec"] = {"runtimeRef": {"name": "torch-distributed"}, "runtimePatches": [carried.patch]}
    config_map: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": carried.generator["metadata"]}
    config_map["data"] = {KEY: script}
    (compiled,) = compile_stream(emit_stream([job, config_map]))["jobs"]
    (made,) = [each for each in compiled["objects"] if each["kind"] == "ConfigMap"]
    assert yaml.safe_load(emit(made))["data"] == {KEY: script}


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda each: (
        st.lists(each, max_size=3)
        | st.dictionaries(st.text() | st.integers(), each, max_size=3)
        | st.lists(each, max_size=3).map(tuple)
    ),
    max_leaves=10,
)


@UNTIMED
@given(values)
def test_an_argument_survives(value):
    again = eval(literal(value, "x"))
    assert repr(again) == repr(value)

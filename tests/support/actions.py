"""A runner for composite actions of GitHub, as far as ours needs one.

Steps with `run` are run by sh; steps with `uses` are only reported. Of the expression language it knows what
`action.yml` uses; anything else is an error of the test.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

_EXPRESSION = re.compile(r"\$\{\{(.+?)\}\}")
_STATUS = re.compile(r"always\(\)|!cancelled\(\)")
_NAME = re.compile(r"\b(?:inputs|github)\.[\w.-]+")


@dataclass
class Result:
    """What a run did: the names of the steps that ran, their output, and whether all of them went well."""

    steps: list[str] = field(default_factory=list)
    uses: dict[str, dict[str, str]] = field(default_factory=dict)
    output: str = ""
    failed: list[str] = field(default_factory=list)


def run_action(
    action: Path, folder: Path, environment: Mapping[str, str], pull_request: str = "", **inputs: str
) -> Result:
    """Run the action of the folder `action` in `folder`. In names of inputs, `_` stands for `-`."""
    definition = yaml.safe_load((action / "action.yml").read_text())
    names = {
        "github.action_path": str(action),
        "github.token": "token",
        "github.event.pull_request.number": pull_request,
    }
    given = {name.replace("_", "-"): value for name, value in inputs.items()}
    assert given.keys() <= definition["inputs"].keys()
    for name, declared in definition["inputs"].items():
        names[f"inputs.{name}"] = given.get(name, _filled(declared.get("default", ""), names))
    result = Result()
    for step in definition["runs"]["steps"]:
        condition = step.get("if", "always()" if not result.failed else "")
        goes_on = not result.failed or _STATUS.search(condition)
        if goes_on and _value(condition or "always()", names):
            _run(step, action, folder, environment, names, result)
    return result


def _run(
    step: dict[str, Any],
    action: Path,
    folder: Path,
    environment: Mapping[str, str],
    names: Mapping[str, str],
    result: Result,
) -> None:
    result.steps.append(step["name"])
    if "uses" in step:
        result.uses[step["uses"]] = {key: _filled(text, names) for key, text in step["with"].items()}
        return
    own = {key: _filled(text, names) for key, text in step["env"].items()}
    command = [step["shell"], "-e", "-c", _filled(step["run"], names)]
    env = {**environment, "GITHUB_ACTION_PATH": str(action), **own}
    ran = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    result.output += ran.stdout + ran.stderr
    if ran.returncode:
        result.failed.append(step["name"])


def _filled(text: str, names: Mapping[str, str]) -> str:
    return _EXPRESSION.sub(lambda match: str(_value(match[1], names)), str(text))


def _value(expression: str, names: Mapping[str, str]) -> Any:
    python = _STATUS.sub("True", expression).replace("&&", " and ").replace("||", " or ")
    python = _NAME.sub(lambda match: repr(names[match[0]]), python)
    return eval(python.strip(), {"__builtins__": {}, "contains": lambda text, part: part in text})

"""The health checks for Argo CD, run as it runs them: Lua 5.1, `obj` a global, base and table libraries only."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import pytest
from lupa.lua51 import LuaRuntime

from support.health_cases import CASES, COSCHEDULING, VOLCANO, Case
from trainform.output.argocd import HEALTH_KINDS

CLOSED = "debug.setmetatable('', nil); string, math, io, os, debug, coroutine, python = nil"


def script(kind: str) -> str:
    return files("trainform.output").joinpath("health", f"{kind}.lua").read_text()


def health(kind: str, tree: dict[str, Any]) -> tuple[str, str]:
    """What Argo CD makes of the script's result: status and message."""
    lua = LuaRuntime(register_eval=False)
    lua.execute(CLOSED)
    lua.globals().obj = lua.table_from(tree, recursive=True)
    told = lua.execute(script(kind))
    return told["status"], told["message"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_health(case: Case):
    status, message = health(case.kind, case.object)
    assert status == case.argocd
    assert case.told in message


@pytest.mark.parametrize("kind", [COSCHEDULING, VOLCANO])
def test_a_gang_neither_makes_its_wave_wait_nor_decides_about_its_job(kind):
    answers = {health(case.kind, case.object)[0] for case in CASES if case.kind == kind}
    assert answers == {"Healthy"}


@pytest.mark.parametrize("kind", HEALTH_KINDS)
def test_an_object_of_nothing_is_no_failure(kind):
    assert health(kind, {})[0] in {"Healthy", "Progressing"}


def test_the_closed_runtime_is_as_closed_as_that_of_argo_cd():
    lua = LuaRuntime(register_eval=False)
    lua.execute(CLOSED)
    assert lua.eval("string == nil and io == nil and table.concat({'a'}) == 'a'")
    with pytest.raises(Exception, match="index a string value"):
        lua.execute("return ('a'):find('a')")


def test_every_kind_of_the_bootstrap_has_its_file_and_its_cases():
    assert {case.kind for case in CASES} == set(HEALTH_KINDS)

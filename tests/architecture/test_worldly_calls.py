"""Only the rooms at the edge touch the world; plugins see only the public API."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMPILER = ROOT / "compiler" / "trainform"
PLUGINS = ROOT / "plugins" / "trainform_plugins"

EDGE = {"cli", "cluster", "editor", "installed.py", "io", "keys", "local", "sdk", "testing.py", "workspace"}
INNER = {"editor/features", "local/plan"}
"""Pure parts of rooms at the edge."""
WORLDLY_MODULES = {
    "asyncio", "ctypes", "datetime", "fileinput", "getpass", "glob", "http", "io", "locale", "os", "pathlib",
    "multiprocessing", "platform", "random", "secrets", "shutil", "signal", "socket", "ssl", "subprocess",
    "sys", "tempfile", "threading", "time", "urllib.request", "uuid",
}  # fmt: skip
WORLDLY_PREFIXES = tuple(f"{module}." for module in sorted(WORLDLY_MODULES))
WORLDLY_CALLS = {"__import__", "breakpoint", "compile", "eval", "exec", "input", "open", "print"}


def modules(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def is_inner(path: Path) -> bool:
    return path.parts[0] not in EDGE or path.parent.as_posix() in INNER


def inner_modules() -> list[Path]:
    compiler = [path for path in modules(COMPILER) if is_inner(path.relative_to(COMPILER))]
    return compiler + modules(PLUGINS)


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def imports(tree: ast.AST) -> Iterator[tuple[str, list[str]]]:
    """Every module that is imported, anywhere in a file, with the names taken from it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, []) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module or "", [alias.name for alias in node.names]


def worldly(source: str) -> list[str]:
    """What in `source` reaches for files, processes, the network, time or chance."""
    tree = ast.parse(source)
    modules = [module for module, _ in imports(tree) if f"{module}.".startswith(WORLDLY_PREFIXES)]
    calls = [
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in WORLDLY_CALLS
    ]
    return modules + calls


@pytest.mark.parametrize("path", inner_modules(), ids=name)
def test_only_the_edge_touches_the_world(path):
    assert worldly(path.read_text()) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import os.path", ["os.path"]),
        ("from time import sleep", ["time"]),
        ("def f():\n    import random", ["random"]),
        ("open('x')", ["open"]),
        ("re.compile('x')\nplan.open('x')", []),
    ],
)
def test_the_check_itself_sees(source, found):
    assert worldly(source) == found


def foreign(source: str, plugin: str) -> list[str]:
    """What a plugin imports of ours that is neither the public API nor its own."""
    public = {"trainform", "trainform.plugin"}
    ours = ("trainform", "trainform_plugins")
    return [
        module
        for module, _ in imports(ast.parse(source))
        if module.partition(".")[0] in ours
        and module not in public
        and not module.startswith(f"trainform_plugins.{plugin}.")
    ]


@pytest.mark.parametrize("path", modules(PLUGINS), ids=name)
def test_a_plugin_imports_the_public_api_and_no_other_plugin(path):
    plugin = path.relative_to(PLUGINS).parts[0]
    assert foreign(path.read_text(), plugin) == []


@pytest.mark.parametrize("path", modules(COMPILER), ids=name)
def test_the_compiler_never_imports_a_plugin(path):
    assert [
        module for module, _ in imports(ast.parse(path.read_text())) if module.startswith("trainform_plugins")
    ] == []


STARTS_GIT = COMPILER / "io" / "git" / "process.py"
WORKERS = COMPILER / "io" / "workers.py"
STARTERS = ("system", "popen", "startfile", "posix_spawn", "posix_spawnp", "fork", "forkpty")


def started(source: str) -> list[str]:
    """What in `source` can start a process: a module made for it, or a function of `os`."""
    tree = ast.parse(source)
    made_for_it = ("subprocess", "multiprocessing", "pty", "concurrent.futures", "asyncio")
    modules = [module for module, _ in imports(tree) if module.startswith(made_for_it)]
    names = [f"os.{each}" for module, taken in imports(tree) if module == "os" for each in taken]
    names += [
        f"os.{node.attr}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os"
    ]
    return modules + [each for each in names if each[3:] in STARTERS or each[3:].startswith(("exec", "spawn"))]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import subprocess", ["subprocess"]),
        ("def f():\n    from concurrent.futures import ProcessPoolExecutor", ["concurrent.futures"]),
        ("import os\nos.system('git')", ["os.system"]),
        ("from os import execv", ["os.execv"]),
        ("import os\nos.replace('a', 'b')", []),
    ],
)
def test_the_check_itself_sees_a_process_start(source, found):
    assert started(source) == found


LOCAL = COMPILER / "local"
STARTS_CONTAINERS = {
    LOCAL / "containers.py": {"asyncio"},
    LOCAL / "inside" / "guard.py": {"os.execvpe", "os.fork"},
    LOCAL / "inside" / "network.py": {"os.fork", "subprocess"},
    LOCAL / "run.py": {"asyncio"},
    LOCAL / "sandbox.py": {"subprocess"},
    LOCAL / "supervisor.py": {"asyncio"},
}
"""What `trainform run` is made of, and no other command."""


@pytest.mark.parametrize("path", [*modules(COMPILER), *modules(PLUGINS)], ids=name)
def test_only_known_modules_start_git_workers_and_containers(path):
    allowed = {
        STARTS_GIT: {"subprocess"},
        WORKERS: {"concurrent.futures.process", "multiprocessing"},
        COMPILER / "cluster" / "connection.py": {"concurrent.futures"},  # a Future, for the answer of a thread
        COMPILER / "editor" / "session.py": {"concurrent.futures"},  # likewise
        COMPILER / "editor" / "protocol" / "previews.py": {"asyncio"},  # the pause before previews are rendered again
        COMPILER / "editor" / "protocol" / "server.py": {"asyncio"},  # the loop that reads messages
        **STARTS_CONTAINERS,
    }
    assert set(started(path.read_text())) <= allowed.get(path, set())


def test_git_is_started_by_one_function():
    tree = ast.parse(STARTS_GIT.read_text())
    starting = [
        function.name
        for function in tree.body
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("subprocess.")
    ]
    assert len(starting) == 1


def test_a_script_for_ci_starts_git_by_one_function():
    lines = [line.strip() for path in sorted((ROOT / "ci").glob("*.sh")) for line in path.read_text().splitlines()]
    starting = [line for line in lines if re.search(r"(?:^|[(;|&=]\s*|\bexec |\bif |! )git\s", line) and line[0] != "#"]
    assert len(starting) == 1
    assert "exec git --no-pager" in starting[0]


PRINTS = {
    "cli/main.py", "cli/streams.py", "cli/terminal.py", "io/lock.py", "sdk/backend.py",
    "local/inside/guard.py", "local/inside/network.py",
}  # fmt: skip
"""The modules that write to standard output and error, the last two in processes of their own. All others print through
`cli/terminal.py`."""


def printed(source: str) -> list[str]:
    """What in `source` writes to a standard stream by itself: `print`, `click.echo`, `sys.stdout.write`."""
    calls = [node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return [
        name for name in map(ast.unparse, calls) if re.fullmatch(r"print|click\.s?echo|sys\.std(out|err)\..+", name)
    ]


@pytest.mark.parametrize("path", modules(COMPILER), ids=name)
def test_one_module_prints(path):
    allowed = str(path.relative_to(COMPILER)) in PRINTS
    assert allowed or printed(path.read_text()) == []


@pytest.mark.parametrize(
    "source", ["print('x')", "sys.stdout.write('x')", "sys.stderr.buffer.write(b'x')", "click.echo('x')"]
)
def test_the_check_sees_what_prints(source):
    assert printed(source) != []

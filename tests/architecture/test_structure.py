"""The structure of the code: no import circles, no crowded folders, no class name that stands for two things."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]
COMPILER = ROOT / "compiler" / "trainform"
PLUGINS = ROOT / "plugins" / "trainform_plugins"
COMMANDS = COMPILER / "cli" / "commands"

MODULES_OF_A_FOLDER = 20
LINES_OF_CLI = 700


def circles(imports: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules each of which imports, over some steps, every other of its group."""
    reached = {module: _reachable(imports, module) for module in imports}
    groups = {
        tuple(sorted(other for other in reached[module] if module in reached[other]))
        for module in imports
        if module in reached[module]
    }
    return [list(group) for group in sorted(groups)]


def _reachable(imports: dict[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    left = [start]
    while left:
        new = imports[left.pop()] - found
        found |= new
        left += new
    return found


@pytest.mark.parametrize(
    ("imports", "found"),
    [
        ({"a": {"b"}, "b": set()}, []),
        ({"a": {"b"}, "b": {"a"}}, [["a", "b"]]),
        ({"a": {"b"}, "b": {"c"}, "c": {"b"}}, [["b", "c"]]),
        ({"a": {"b"}, "b": {"c", "a"}, "c": {"b"}, "d": {"a"}}, [["a", "b", "c"]]),
    ],
)
def test_the_check_itself_finds_circles(imports, found):
    assert circles(imports) == found


def test_no_modules_import_each_other_in_a_circle():
    """Imports for type checking included: a module is understood without those that are built on it."""
    graph = grimp.build_graph("trainform", "trainform_plugins", exclude_type_checking_imports=False, cache_dir=None)
    assert circles({module: graph.find_modules_directly_imported_by(module) for module in graph.modules}) == []


def folders() -> list[Path]:
    return sorted({path.parent for root in (COMPILER, PLUGINS) for path in root.rglob("*.py")} - {COMMANDS})


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: str(folder.relative_to(ROOT)))
def test_a_folder_holds_few_modules(folder):
    assert len([path for path in folder.glob("*.py") if path.name != "__init__.py"]) <= MODULES_OF_A_FOLDER


def test_the_command_line_is_small_without_its_commands():
    lines = sum(len(path.read_text().splitlines()) for path in COMPILER.glob("cli/*.py"))
    assert lines <= LINES_OF_CLI


def classes(path: Path) -> Iterator[str]:
    """The classes of a module that other modules may import."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield node.name


def test_no_class_name_stands_in_two_rooms():
    rooms = defaultdict(set)
    for path in COMPILER.rglob("*.py"):
        for name in classes(path):
            rooms[name].add(path.relative_to(COMPILER).parts[0])
    assert {name: sorted(found) for name, found in rooms.items() if len(found) > 1} == {}

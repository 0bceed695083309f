"""Files are opened in one place, which follows no link out of a repository and opens nothing but regular files."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

COMPILER = Path(__file__).parents[2] / "compiler" / "trainform"

OPENING = {
    "open", "os.open", "io.open", "os.fdopen", "mmap.mmap", "shutil.copyfile", "shutil.copy", "shutil.copytree",
    "codecs.open", "fileinput.input", "tempfile.NamedTemporaryFile", "tempfile.TemporaryFile",
}  # fmt: skip
OF_PATHS = {"read_text", "write_text", "open"}
"""Methods of `pathlib` and of `importlib.resources`."""

ALLOWED = {
    "io/files.py": {"os.open"},
    "io/git/checkout.py": {"open"},  # the file `.git` of a worktree, which git itself does not let into a commit
    "io/rehearsal.py": {"shutil.copytree"},  # names the same files again, and follows no link
    "io/resources.py": {"open"},  # files that ship with trainform
    "cluster/connection.py": {"tempfile.TemporaryDirectory"},  # for the client package, which unpacks certificates
    "cli/main.py": {"open"},  # the null device, for streams that the caller closed
    "cli/commands/report.py": {"read_text"},  # templates that ship with trainform
    "workspace/bootstrap/templates.py": {"read_text"},  # likewise
    "local/inside/guard.py": {"open", "os.open"},  # a program of its own: its specification, what it mounts, /proc
    "local/inside/network.py": {"open"},  # likewise: /proc
    "testing.py": {"read_text", "write_text"},  # golden cases, in the tests of plugins
}
READERS = {
    "io/links.py": "`read_file`, after a look at the folders above",
    "io/paths.py": "below `located` or `beneath`",
    "io/repository.py": "a file that is named on the command line",
    "io/cache_file.py": "in the folder of our own state",
}
"""Who may use `read_plain`, which does not look at the folders above a file; and how."""


def opened(source: str) -> Iterator[str]:
    """The calls in `source` that open a file."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        if name in OPENING:
            yield name
        elif isinstance(node.func, ast.Attribute) and node.func.attr in OF_PATHS and name != "BuildCache.open":
            yield node.func.attr


def modules() -> list[Path]:
    return sorted(COMPILER.rglob("*.py"))


def name(path: Path) -> str:
    return path.relative_to(COMPILER).as_posix()


@pytest.mark.parametrize("path", modules(), ids=name)
def test_only_one_module_opens_files(path):
    assert set(opened(path.read_text())) <= ALLOWED.get(name(path), set())


@pytest.mark.parametrize("path", modules(), ids=name)
def test_only_who_knows_where_folders_lead_reads_without_looking(path):
    imported = {
        alias.name
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module == "trainform.io.files"
        for alias in node.names
    }
    assert not imported & {"read_plain"} or name(path) in READERS


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("open('x')", ["open"]),
        ("with os.open('x', 0) as f: pass", ["os.open"]),
        ("Path('x').read_text()", ["read_text"]),
        ("json.load(path.open())", ["open"]),
        ("BuildCache.open(workspace)", []),
        ("re.compile('x')", []),
    ],
)
def test_the_check_itself_sees(source, found):
    assert list(opened(source)) == found

"""`./dev mutate`: how many of a module's mutants its tests notice."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import find_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, NoReturn

import click  # noqa: F401 - these here are shared by all forks
import coverage
import jinja2  # noqa: F401
import pydantic  # noqa: F401
import pytest
import yaml  # noqa: F401

from mutation.mutants import Mutant, sample, statements_of_functions
from mutation.table import PROJECT, TESTS

LONGEST = 3600
"""Seconds that the tests of a module may take without a mutant, on a busy machine too."""
PATIENCE = 5
"""A mutant whose tests take so many times as long as without it is noticed: it does not end."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="./dev mutate", description=__doc__)
    parser.add_argument("modules", nargs="*", metavar="MODULE", help=f"default: all of {', '.join(TESTS)}")
    parser.add_argument("--sample", type=int, default=60, help="mutants of each module, chosen by chance (default: 60)")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other mutants (default: 1)")
    parser.add_argument("--floor", type=int, default=0, help="fail where less per cent of a module's are noticed")
    options = parser.parse_args(arguments)
    if unknown := set(options.modules) - set(TESTS):
        parser.error(f"no tests are known for {', '.join(sorted(unknown))}: see tests/mutation/table.py")
    rates = [measured(module, options.sample, options.seed) for module in options.modules or TESTS]
    return 1 if any(rate < options.floor for rate in rates) else 0


class Trial(NamedTuple):
    """Tests, run with the module's source replaced. `only` are the ids of those that count (None: all), `seconds` is
    how long they may take, and `reached` a file for the lines of the module that each test runs."""

    module: str
    file: Path
    source: str
    tests: Sequence[str]
    only: frozenset[str] | None = None
    seconds: float = LONGEST
    reached: str = ""


def measured(module: str, count: int, seed: int) -> float:
    """Prints the mutants of a module that no test notices, and returns the rate of the others in per cent. A test that
    does not run a mutant's line cannot notice it, and is left out."""
    file = _file(module)
    source = file.read_text(encoding="utf-8")
    start = time.monotonic()
    with tempfile.NamedTemporaryFile() as reached:
        if _is_noticed(Trial(module, file, source, TESTS[module], reached=reached.name)):
            sys.exit(f"{module}: its tests fail without any mutant")
        by_line = {int(line): frozenset(tests) for line, tests in json.load(reached).items()}
    limit = PATIENCE * (time.monotonic() - start) + 10
    chosen, unnoticed, statements = sample(source, count, seed), 0, statements_of_functions(source)
    for mutant in chosen:
        lines = statements.get(mutant.line)
        only = None if lines is None else frozenset().union(*(by_line.get(line, frozenset()) for line in lines))
        if not _is_noticed(Trial(module, file, mutant.source, TESTS[module], only, limit)):
            unnoticed += 1
            print(f"  {_told(file, mutant)}", flush=True)
    rate = 100 * (1 - unnoticed / len(chosen))
    print(f"{module}: {len(chosen) - unnoticed} of {len(chosen)} noticed ({rate:.0f} %)", flush=True)
    return rate


def _told(file: Path, mutant: Mutant) -> str:
    return f"{os.path.relpath(file, PROJECT)}:{mutant.line}: {mutant.what}"


def _file(module: str) -> Path:
    """The file of a module, found without importing it."""
    package = find_spec(module.partition(".")[0])
    assert package is not None
    assert package.origin is not None
    path = Path(package.origin).parent.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def _is_noticed(trial: Trial) -> bool:
    """Whether a test fails, or does not end in time."""
    if trial.only is not None and not trial.only:
        return False
    child = os.fork()
    if child == 0:
        _test(trial)
    handle = os.pidfd_open(child)
    import select

    ended = bool(select.select([handle], [], [], trial.seconds)[0])
    os.close(handle)
    if not ended:
        os.killpg(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return not ended or os.waitstatus_to_exitcode(status) != 0


class _Choice:
    """A plugin of pytest that keeps only some tests."""

    def __init__(self, only: frozenset[str]) -> None:
        self.only = only

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid in self.only]


class _Reach:
    """A plugin of pytest that writes which tests run each line of a file, as JSON."""

    def __init__(self, module: Path, output: str) -> None:
        self.module, self.output = str(module), output
        self.coverage = coverage.Coverage(data_file=None, config_file=False, include=[self.module])
        self.coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[Any]:
        self.coverage.switch_context(item.nodeid)
        result = yield
        self.coverage.switch_context("")
        return result

    def pytest_unconfigure(self) -> None:
        self.coverage.stop()
        found = self.coverage.get_data().contexts_by_lineno(self.module)
        tests = {line: [test for test in names if test] for line, names in found.items()}
        Path(self.output).write_text(json.dumps(tests), encoding="utf-8")


class _Loader(SourceFileLoader):
    """Loads a mutant's source in place of the file's, without a cache."""

    source = ""

    def get_data(self, path: str) -> bytes:
        return self.source.encode()

    def path_stats(self, path: str) -> dict[str, int]:
        raise OSError("a mutant is not cached")


class _Finder(MetaPathFinder):
    def __init__(self, module: str, file: Path, source: str) -> None:
        self.module, self.file, self.source = module, file, source

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.module:
            return None
        loader = _Loader(fullname, str(self.file))
        loader.source = self.source
        return spec_from_file_location(fullname, self.file, loader=loader)


def _test(trial: Trial) -> NoReturn:
    """Run the tests with the mutant; never returns."""
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    sys.meta_path.insert(0, _Finder(trial.module, trial.file, trial.source))
    os.chdir(PROJECT)
    code, tests = 1, trial.tests
    plugins: list[object] = [_Reach(trial.file, trial.reached)] if trial.reached else []
    if trial.only is not None:
        plugins.append(_Choice(trial.only))
        tests = sorted({test.partition("::")[0] for test in trial.only})
    try:
        code = pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *tests], plugins)
    finally:
        os._exit(code)


if __name__ == "__main__":
    sys.exit(main())

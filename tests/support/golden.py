"""Our own golden cases, `golden/<plugin>/<case>/`."""

from __future__ import annotations

from pathlib import Path

from trainform import testing
from trainform.core.compile import Compilation
from trainform.core.plugin import Plugin
from trainform.installed import load_plugins
from trainform.testing import GoldenCase

ROOT = Path(__file__).parents[2] / "golden"


def golden_cases() -> list[GoldenCase]:
    return testing.golden_cases(ROOT)


def plugin_of(case: GoldenCase) -> str:
    return case.folder.parent.name


def plugins_for(case: GoldenCase) -> tuple[Plugin, ...]:
    """All plugins; lints speak in their own cases only, since they would say the same in each."""
    return tuple(plugin for plugin in load_plugins() if plugin.name != "lints" or plugin_of(case) == "lints")


def compiled(case: GoldenCase, plugins: tuple[Plugin, ...] | None = None) -> Compilation:
    return case.compile(plugins or plugins_for(case))

"""Plugins in running order, loaded from entry points, including trainform's own."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import NamedTuple

from trainform.core.plugin import STAGES, Plugin

GROUP = "trainform.plugins"

ORDER = (
    "plain",
    "torch",
    "torchtune",
    "mpi",
    "jax",
    "xgboost",
    "flux",
    "coscheduling",
    "volcano",
    "kueue",
    "kai",
    "yunikorn",
    "secrets",
    "jobset",
    "lifecycle",
    "lints",
)
"""Running order of plugins at each extension point; third-party plugins follow, by name. `plain` precedes `xgboost`,
whose variables come after the TrainJob's; `jobset` is the last to change anything, as it assembles the plan;
`lifecycle` and `lints` only inspect the result."""


def is_shipped(name: str) -> bool:
    """Whether a plugin is trainform's own."""
    return name in ORDER


class PluginError(Exception):
    """An unusable plugin. The message names the plugin and what to do."""


class Installed(NamedTuple):
    """A plugin and the distribution that provides it."""

    plugin: Plugin
    package: str
    version: str


class EntryPoint(NamedTuple):
    """An entry point; `value` is `module:attribute`."""

    name: str
    value: str
    package: str
    version: str


def from_entry_points(entry_points: Iterable[EntryPoint]) -> tuple[Installed, ...]:
    """The plugin of each entry point, in running order. Raises PluginError for one that does not load, is no plugin, or
    takes another's name: skipping it would render something else than requested."""
    declared: dict[str, EntryPoint] = {}
    for entry_point in entry_points:
        if (earlier := declared.setdefault(entry_point.name, entry_point)) is not entry_point:
            raise PluginError(_taken(entry_point, earlier))
    found = {name: _load(each) for name, each in declared.items()}
    third_party = sorted(found.keys() - set(ORDER))
    return tuple(found[name] for name in (*ORDER, *third_party) if name in found)


def _load(entry_point: EntryPoint) -> Installed:
    try:
        module, _, attribute = entry_point.value.partition(":")
        plugin = getattr(import_module(module), attribute)()
    except (Exception, SystemExit) as error:
        raise PluginError(f"plugin {entry_point.name!r} cannot be loaded: {error}") from error
    if not isinstance(plugin, Plugin):
        raise PluginError(f"plugin {entry_point.name!r} is not a subclass of trainform.Plugin")
    _check_names(entry_point.name, type(plugin))
    return Installed(plugin, entry_point.package, entry_point.version)


def _taken(entry_point: EntryPoint, earlier: EntryPoint) -> str:
    names = " and ".join(filter(None, [earlier.package, entry_point.package])) or "unknown"
    return f"two packages provide a plugin called {entry_point.name!r}: {names}; uninstall one of them"


def _check_names(name: str, kind: type[Plugin]) -> None:
    """Rejects public attributes that are no extension point: a misspelled one would never run."""
    if getattr(kind, "name", None) != name:
        raise PluginError(f"plugin {name!r} must have the class attribute name = {name!r}")
    known = {"name", "settings", "given", "judges_frozen", "applies", *STAGES}
    for base in kind.__mro__:
        if base in (Plugin, object):
            continue
        for attribute in vars(base):
            if not attribute.startswith("_") and attribute not in known:
                raise PluginError(
                    f"plugin {name!r} defines {attribute!r}, which is not an extension point; "
                    f"the extension points are {', '.join(STAGES)}; start helper names with an underscore"
                )

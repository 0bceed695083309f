"""The plugins of this installation."""

from __future__ import annotations

from functools import cache

from trainform.core.plugin import Plugin
from trainform.core.registry import GROUP, Installed, from_entry_points
from trainform.io.entry_points import EntryPoint, entry_points


@cache
def declared_plugins() -> tuple[EntryPoint, ...]:
    """What packages declare to be plugins, none of them loaded."""
    return tuple(entry_points(GROUP))


@cache
def installed_plugins() -> tuple[Installed, ...]:
    """Every installed plugin, in running order. Raises PluginError for one that cannot be used."""
    return from_entry_points(declared_plugins())


def load_plugins() -> tuple[Plugin, ...]:
    """The plugins alone, in running order. Raises PluginError as `installed_plugins` does."""
    return tuple(installed.plugin for installed in installed_plugins())

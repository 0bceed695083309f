"""The plugins of this installation."""

from __future__ import annotations

from functools import cache

from trainform.core.plugin import Plugin
from trainform.core.registry import GROUP, Installed, from_entry_points
from trainform.io.entry_points import entry_points


@cache
def installed_plugins() -> tuple[Installed, ...]:
    """Every installed plugin, in running order. Raises PluginError for one that cannot be used."""
    return from_entry_points(entry_points(GROUP))


def load_plugins() -> tuple[Plugin, ...]:
    """The plugins alone, in running order. Raises PluginError as `installed_plugins` does."""
    return tuple(installed.plugin for installed in installed_plugins())

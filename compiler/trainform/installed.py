"""The plugins of this installation."""

from __future__ import annotations

from functools import cache
from importlib.metadata import Distribution, entry_points

from trainform.core.plugin import Plugin
from trainform.core.registry import GROUP, EntryPoint, Installed, from_entry_points


@cache
def declared_plugins() -> tuple[EntryPoint, ...]:
    """The entry points that packages declare as plugins, not yet loaded."""
    return tuple(
        EntryPoint(each.name, each.value.partition("[")[0].strip(), *_name_and_version(each.dist))
        for each in entry_points(group=GROUP)
    )


@cache
def installed_plugins() -> tuple[Installed, ...]:
    """Every installed plugin, in running order. Raises PluginError for an unusable one."""
    return from_entry_points(declared_plugins())


def load_plugins() -> tuple[Plugin, ...]:
    """The plugins alone, in running order. Raises PluginError like `installed_plugins`."""
    return tuple(installed.plugin for installed in installed_plugins())


@cache
def _name_and_version(package: Distribution | None) -> tuple[str, str]:
    """Cached per package, since reading either parses all of its metadata."""
    return (package.metadata["Name"], package.metadata["Version"]) if package else ("", "")

"""The plugins of this installation, and which of them a repository uses.

A repository can only narrow what is installed. Nothing in it names code to load.
"""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from functools import cache
from importlib.metadata import Distribution, entry_points
from typing import TYPE_CHECKING, NamedTuple, TextIO

from trainform.core.given.model import NOTHING_GIVEN, Given
from trainform.core.plugin import Plugin
from trainform.core.registry import GROUP, EntryPoint, Installed, from_entry_points, is_shipped
from trainform.diagnostics import Diagnostic
from trainform.diagnostics.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trainform.io.plugin_settings import PluginRules, RequiredPackage

OURS = "trainform"


@cache
def declared_plugins() -> tuple[EntryPoint, ...]:
    """The entry points that packages declare as plugins, not yet loaded."""
    return tuple(
        EntryPoint(each.name, each.value.partition("[")[0].strip(), *_name_and_version(each.dist))
        for each in entry_points(group=GROUP)
    )


@cache
def loaded(entry_points: tuple[EntryPoint, ...]) -> tuple[Installed, ...]:
    """The plugins of these entry points, in running order. Raises PluginError for an unusable one."""
    with stdout_kept():
        return from_entry_points(entry_points)


def installed_plugins() -> tuple[Installed, ...]:
    """Every installed plugin, in running order. Raises PluginError for an unusable one."""
    return loaded(declared_plugins())


def load_plugins() -> tuple[Plugin, ...]:
    """The plugins alone, in running order. Raises PluginError like `installed_plugins`."""
    return tuple(installed.plugin for installed in installed_plugins())


def given_by(framework: str) -> Given:
    """What pods are given by the shipped plugin of a framework; nothing if there is none. Loads no other package."""
    shipped = loaded(tuple(each for each in declared_plugins() if each.package == OURS))
    return next((each.plugin.given for each in shipped if each.plugin.name == framework), NOTHING_GIVEN)


@cache
def _name_and_version(package: Distribution | None) -> tuple[str, str]:
    """Cached per package, since reading either parses all of its metadata."""
    return (package.metadata["Name"], package.metadata["Version"]) if package else ("", "")


def forget_installed() -> None:
    """Forget what is known of installed packages, after one was installed or removed."""
    for known in (declared_plugins, loaded, _name_and_version, _digests):
        known.cache_clear()


class PluginSet(NamedTuple):
    """Plugins in use, not yet loaded."""

    entry_points: tuple[EntryPoint, ...]

    @classmethod
    def installed(cls) -> PluginSet:
        """All that are installed."""
        return cls(declared_plugins())

    def following(self, rules: PluginRules) -> PluginSet:
        """Those that a repository uses."""
        disabled = {each.plugin for each in rules.disabled}
        packages = None if rules.required is None else {normal(each.package) for each in rules.required}
        return PluginSet(
            tuple(
                each
                for each in self.entry_points
                if each.package == OURS
                or (each.name not in disabled and (packages is None or normal(each.package) in packages))
            )
        )

    def load(self) -> tuple[Installed, ...]:
        """The plugins, loaded. Raises PluginError like `loaded`."""
        return loaded(self.entry_points)

    @property
    def plugins(self) -> list[Plugin]:
        return [each.plugin for each in self.load()]

    @property
    def versions(self) -> dict[str, str]:
        """Versions of third-party packages, by name."""
        return {each.package: each.version for each in self.third_party}

    @property
    def code(self) -> Mapping[str, str]:
        """Digests of the code of third-party packages, by name."""
        return _digests(self.third_party)

    @property
    def third_party(self) -> tuple[EntryPoint, ...]:
        """The plugins of other packages."""
        return tuple(each for each in self.entry_points if each.package not in ("", OURS))


def stdout_kept() -> redirect_stdout[TextIO]:
    """While plugins run: what they print goes to stderr, as stdout holds the result of the command."""
    return redirect_stdout(sys.stderr)


@cache
def _digests(entry_points: tuple[EntryPoint, ...]) -> dict[str, str]:
    modules: dict[str, set[str]] = {}
    for each in entry_points:
        modules.setdefault(each.package, set()).add(each.value.partition(":")[0])
    from trainform.io.code import digest_of_modules

    return {package: digest_of_modules(names) for package, names in modules.items()}


def normal(package: str) -> str:
    """The normalized name of a package, by which an index knows it."""
    from packaging.utils import canonicalize_name  # rarely needed

    return str(canonicalize_name(package))


def unmet(rules: PluginRules, installed: PluginSet) -> list[Diagnostic]:
    """An error for each required package that is missing or has another version, and for each plugin that cannot be
    disabled."""
    packages = {normal(each.package): each for each in installed.entry_points} if rules.required else {}
    problems = [_unmet(each, packages.get(normal(each.package))) for each in rules.required or ()]
    return [*filter(None, problems), *_not_disabled(rules, installed)]


def _unmet(wanted: RequiredPackage, found: EntryPoint | None) -> Diagnostic | None:
    from packaging.specifiers import SpecifierSet
    from packaging.version import InvalidVersion

    hint = f"install it: pip install '{wanted.package}{wanted.versions}'"
    if found is None:
        message = f"this repository requires the plugins of package {wanted.package}, which is not installed"
        return Diagnostic("TF170", "error", message, hint, place=wanted.place)
    try:
        if SpecifierSet(wanted.versions).contains(found.version, prereleases=True):
            return None
    except InvalidVersion:
        pass
    message = f"this repository requires {wanted.package} {wanted.versions}, but {found.version} is installed"
    return Diagnostic("TF171", "error", message, hint, place=wanted.place)


def _not_disabled(rules: PluginRules, installed: PluginSet) -> Iterator[Diagnostic]:
    foreign = {each.name for each in installed.entry_points if each.package != OURS}
    for each in rules.disabled:
        if is_shipped(each.plugin):
            message = f"plugin {each.plugin} is part of trainform: without it, jobs would train wrongly"
            hint = "it acts only where a job or runtime asks for it; set the severity of findings in `lints`"
            yield Diagnostic("TF172", "error", message, hint, place=each.place)
        elif each.plugin not in foreign and (near := did_you_mean(each.plugin, foreign)):
            yield Diagnostic("TF172", "error", f"there is no plugin {each.plugin}", near, place=each.place)

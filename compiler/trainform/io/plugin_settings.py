"""`plugins` in `trainform.yaml`: the packages with plugins that a repository requires, and its disabled plugins."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from trainform.diagnostics import Diagnostic, Path
from trainform.diagnostics.diagnostic import Spot
from trainform.diagnostics.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trainform.source import Document

PLUGINS, REQUIRED, DISABLED = "plugins", "required", "disabled"
_EXAMPLE = 'write plugins: {required: {acme-trainform: ">=1.2,<2"}, disabled: [acme-cost]}'
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
"""The name of a package or a plugin."""


class PluginsKey(TypedDict, total=False):
    """What `plugins` may hold."""

    required: dict[str, str]
    """The packages whose plugins are used, each with its versions as pip takes them (PEP 440). The list is complete:
    `{}` allows none. Default: those of all installed packages, in any version.
    Example: `{acme-trainform: ">=1.2,<2"}`."""
    disabled: list[str]
    """Plugins that are not used, by the names that `trainform plugins` lists. Default: none.
    Example: `[cost-center]`."""


class RequiredPackage(NamedTuple):
    """A package that must be installed, in one of the `versions` (PEP 440). `place` is its line."""

    package: str
    versions: str
    place: Spot


class DisabledPlugin(NamedTuple):
    """A plugin that is not used here. `place` is its line."""

    plugin: str
    place: Spot


class PluginRules(NamedTuple):
    """`required` lists all third-party packages whose plugins are used; None: those of every installed package are."""

    required: tuple[RequiredPackage, ...] | None = None
    disabled: tuple[DisabledPlugin, ...] = ()

    @property
    def meaning(self) -> object:
        """The rules without the lines on which they stand."""
        required = None if self.required is None else sorted((each.package, each.versions) for each in self.required)
        return required, sorted(each.plugin for each in self.disabled)


def plugin_rules(document: Document) -> PluginRules:
    """The rules in `trainform.yaml`, which has no problems."""
    tree = document.tree.get(PLUGINS, {})
    required = tree.get(REQUIRED)
    return PluginRules(
        None if required is None else tuple(_requirements(document, required)),
        tuple(
            DisabledPlugin(name, _spot(document, (PLUGINS, DISABLED, at)))
            for at, name in enumerate(tree.get(DISABLED, []))
        ),
    )


def _requirements(document: Document, required: dict[str, Any]) -> Iterator[RequiredPackage]:
    for package, versions in required.items():
        yield RequiredPackage(package, versions, _spot(document, (PLUGINS, REQUIRED, package)))


def _spot(document: Document, path: Path) -> Spot:
    at = document.key_position(path)
    return Spot(document.file, at, document.line(at.line))


def plugin_problems(document: Document) -> list[Diagnostic]:
    """What is wrong with the key `plugins`."""
    tree = document.tree[PLUGINS]
    if not isinstance(tree, dict):
        return [_problem(document, (PLUGINS,), "must be a mapping", code="TF102")]
    return [problem for key, value in tree.items() for problem in _entry(document, key, value)]


def _entry(document: Document, key: str, value: Any) -> list[Diagnostic]:
    path: Path = (PLUGINS, key)
    if key not in (REQUIRED, DISABLED):
        hint = did_you_mean(key, (REQUIRED, DISABLED)) or f"known keys: {REQUIRED}, {DISABLED}"
        return [_problem(document, path, "unknown field", hint, "TF101")]
    if key == DISABLED:
        if not isinstance(value, list):
            return [_problem(document, path, "must be a list of plugins", code="TF102")]
        return [
            _problem(document, (*path, at), "must be the name of a plugin, as `trainform plugins` lists it")
            for at, name in enumerate(value)
            if not isinstance(name, str) or not _NAME.fullmatch(name)
        ]
    if not isinstance(value, dict):
        return [_problem(document, path, "must map packages to versions", code="TF102")]
    return [problem for each in value.items() if (problem := _requirement(document, path, *each))]


def _requirement(document: Document, path: Path, package: str, versions: Any) -> Diagnostic | None:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet  # rarely needed

    if not _NAME.fullmatch(package):
        return _problem(document, (*path, package), "must be the name of a package")
    try:
        if isinstance(versions, str) and versions and SpecifierSet(versions):
            return None
    except InvalidSpecifier:
        pass
    hint = f'write {package}: ">=1.2,<2"'
    return _problem(document, (*path, package), "must be versions as pip takes them (PEP 440), in quotes", hint)


def _problem(document: Document, path: Path, message: str, hint: str = _EXAMPLE, code: str = "TF703") -> Diagnostic:
    return Diagnostic(code, "error", message, hint, path, document, document.key_position(path))

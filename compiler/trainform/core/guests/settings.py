"""Settings of plugins, in an Environment's `spec.plugins`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pydantic import ValidationError

from trainform.diagnostics import Diagnostic, Path
from trainform.diagnostics.suggest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pydantic_core import ErrorDetails

    from trainform.api.base import Model
    from trainform.core.inputs import Input
    from trainform.core.plugin import Plugin


class SettingsOfPlugins(NamedTuple):
    """The settings of each plugin that takes any, by their type, and what is wrong with them. Plugins in `unusable`
    cannot run."""

    models: Mapping[type[Model], Model]
    diagnostics: Sequence[Diagnostic] = ()
    unusable: frozenset[str] = frozenset()


NO_SETTINGS = SettingsOfPlugins({})


def read_settings(item: Input | None, plugins: Iterable[Plugin]) -> SettingsOfPlugins:
    """The settings in an Environment; without one, each plugin's defaults."""
    from trainform.api import Environment  # slow to import, and most runs have none

    model = item.model if item else None
    given = model.spec.plugins if isinstance(model, Environment) else {}
    takers = {plugin.name: plugin.settings for plugin in plugins if plugin.settings is not None}
    told = [_unused(item, name, takers) for name in given if name not in takers]
    models, unusable = {}, set()
    for name, kind in takers.items():
        try:
            models[kind] = kind.model_validate(given.get(name, {}))
        except ValidationError as error:
            told += _invalid(item, name, kind, error)
            unusable.add(name)
    return SettingsOfPlugins(models, told, frozenset(unusable))


def _unused(item: Input | None, name: str, takers: Iterable[str]) -> Diagnostic:
    assert item is not None
    path: Path = ("spec", "plugins", name)
    message = f"no plugin that is used here takes settings under the name {name!r}"
    hint = did_you_mean(name, takers) or "see `trainform plugins` for the plugins that are used"
    at = item.document.key_position(path)
    return Diagnostic("TF173", "warning", message, hint, path, item.document, at)


def _invalid(item: Input | None, name: str, kind: type[Model], error: ValidationError) -> Iterator[Diagnostic]:
    for detail in error.errors(include_url=False):
        path: Path = ("spec", "plugins", name, *detail["loc"])
        message, hint = _told(detail, kind)
        if item is None:
            message = f"plugin {name} needs settings in an Environment: {'.'.join(map(str, path))} {message}"
            yield Diagnostic("TF174", "error", message, hint, plugin=name)
        else:
            at = item.document.key_position(path)
            yield Diagnostic("TF174", "error", message, hint, path, item.document, at, plugin=name)


def _told(detail: ErrorDetails, kind: type[Model]) -> tuple[str, str]:
    """Message and hint."""
    if detail["type"] == "extra_forbidden":
        fields = [each.alias or name for name, each in kind.model_fields.items()]
        near = did_you_mean(str(detail["loc"][-1]), fields)
        return "unknown field", near or f"known fields: {', '.join(fields)}"
    if detail["type"] == "missing":
        return "is required but missing", ""
    message = detail["msg"]
    return message[:1].lower() + message[1:], ""

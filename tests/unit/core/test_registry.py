"""Which plugins are found, in which order, and what is said of one that cannot be used."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from trainform import Plugin
from trainform.core.plugin import STAGES
from trainform.core.registry import ORDER, EntryPoint, PluginError, from_entry_points
from trainform.installed import installed_plugins, load_plugins


class Toy(Plugin):
    name = "toy"


class Ant(Plugin):
    name = "ant"


class Typo(Plugin):
    name = "toy"

    def enforce_ml_polcy(self, plan: object) -> None: ...


class InheritedTypo(Typo):
    def build(self, plan: object) -> tuple[()]:
        return ()


class Misnamed(Plugin):
    name = "other"


class Nameless(Plugin):
    pass


class NoPlugin:
    name = "toy"


class NeedsArguments(Plugin):
    name = "toy"

    def __init__(self, settings: object) -> None: ...


def raises() -> Plugin:
    raise RuntimeError("no licence found")


@pytest.fixture
def found(monkeypatch):
    """Makes the registry find the given entry points, `name=attribute of this module`."""
    toys = ModuleType("toys")
    for thing in (Toy, Ant, Typo, InheritedTypo, Misnamed, Nameless, NoPlugin, NeedsArguments, raises):
        setattr(toys, thing.__name__, thing)
    monkeypatch.setitem(sys.modules, "toys", toys)

    def find(*pairs):
        return from_entry_points(
            EntryPoint(name, value, f"package-{at}", "1") for at, (name, value) in enumerate(pairs)
        )

    return find


def test_our_own_plugins_come_by_entry_point_in_the_literal_order():
    names = [plugin.name for plugin in load_plugins()]
    assert names == [name for name in ORDER if name in names]
    assert {"plain", "torch", "torchtune", "jax", "xgboost", "coscheduling", "jobset"} <= set(names)


def test_plugins_come_with_the_package_that_brought_them():
    assert {(installed.package, bool(installed.version)) for installed in installed_plugins()} == {("trainform", True)}


def test_third_party_plugins_follow_by_name(found):
    jobset = ("jobset", "trainform_plugins.jobset:JobSet")
    installed = found(("toy", "toys:Toy"), ("ant", "toys:Ant"), jobset)
    assert [each.plugin.name for each in installed] == ["jobset", "ant", "toy"]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("no_such_module:Toy", "plugin 'toy' cannot be loaded: No module named 'no_such_module'"),
        ("toys:Missing", "plugin 'toy' cannot be loaded: .*Missing"),
        ("toys:raises", "plugin 'toy' cannot be loaded: no licence found"),
        ("toys:NeedsArguments", "plugin 'toy' cannot be loaded: .*settings"),
        ("toys:NoPlugin", r"plugin 'toy' is not a subclass of trainform\.Plugin"),
        ("toys:Misnamed", "plugin 'toy' must have the class attribute name = 'toy'"),
        ("toys:Nameless", "plugin 'toy' must have the class attribute name = 'toy'"),
        ("toys:Typo", "plugin 'toy' defines 'enforce_ml_polcy', which is not an extension point"),
        ("toys:InheritedTypo", "plugin 'toy' defines 'enforce_ml_polcy', which is not an extension point"),
    ],
)
def test_a_plugin_that_cannot_be_used_is_named_with_the_reason(found, value, reason):
    with pytest.raises(PluginError, match=reason):
        found(("toy", value))


def test_a_typing_error_is_answered_with_the_extension_points(found):
    with pytest.raises(PluginError, match=", ".join(STAGES)):
        found(("toy", "toys:Typo"))


def test_two_plugins_of_one_name_are_refused(found):
    with pytest.raises(PluginError, match="'toy': package-0 and package-1; uninstall one"):
        found(("toy", "toys:Toy"), ("toy", "toys:Toy"))

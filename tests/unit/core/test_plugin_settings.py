"""Settings of plugins in an Environment: typed, and told at their line."""

from __future__ import annotations

import pickle

import pytest

from support.streams import Tree, compiled, errors, job, runtime
from trainform import Plugin
from trainform.core.plugin import PluginFailure
from trainform.installed import load_plugins
from trainform.plugin import PluginSettings


class Quota(PluginSettings):
    max_gpus: int = 8
    teams: list[str] | None = None


class Needy(PluginSettings):
    team: str


def plugin(kind, seen):
    def enforce_pod_spec(self, plan):
        seen.append(plan.settings(kind))

    return type("P", (Plugin,), {"name": "acme", "settings": kind, "enforce_pod_spec": enforce_pod_spec})()


def environment(**plugins: Tree) -> Tree:
    return {
        "apiVersion": "trainform.dev/v1alpha1",
        "kind": "Environment",
        "metadata": {"name": "prod"},
        "spec": {"plugins": plugins},
    }


def run(kind, *more):
    seen: list[PluginSettings] = []
    result = compiled(job("one"), runtime(), *more, plugins=(*load_plugins(), plugin(kind, seen)))
    return seen, result


@pytest.mark.parametrize(
    ("more", "settings"),
    [
        ([], Quota()),
        ([environment()], Quota()),
        ([environment(acme={})], Quota()),
        ([environment(acme={"maxGpus": 4, "teams": ["a"]})], Quota.model_validate({"maxGpus": 4, "teams": ["a"]})),
    ],
)
def test_a_plugin_reads_its_settings_or_their_defaults(more, settings):
    seen, result = run(Quota, *more)
    assert errors(result) == []
    assert seen == [settings]


@pytest.mark.parametrize(
    ("given", "path", "message", "hint"),
    [
        ({"maxGpu": 4}, "maxGpu", "unknown field", 'did you mean "maxGpus"?'),
        ({"max_gpus": 4}, "max_gpus", "unknown field", 'did you mean "maxGpus"?'),
        ({"maxGpus": "4"}, "maxGpus", "input should be a valid integer", ""),
        ({"zzz": 4}, "zzz", "unknown field", "known fields: maxGpus, teams"),
    ],
)
def test_a_mistake_is_an_error_at_its_line_and_the_plugin_does_not_run(given, path, message, hint):
    seen, result = run(Quota, environment(acme=given))
    told = [error for error in errors(result) if error.code == "TF174"]
    assert [(error.path, error.message, error.hint) for error in told] == [
        (("spec", "plugins", "acme", path), message, hint)
    ]
    assert told[0].position is not None
    assert (seen, result.failures, result.jobs[0].objects) == ([], [], [])


def test_a_missing_setting_is_an_error_with_and_without_an_environment():
    _, result = run(Needy, environment())
    assert ("TF174", "is required but missing") in [(error.code, error.message) for error in errors(result)]
    _, result = run(Needy)
    message = "plugin acme needs settings in an Environment: spec.plugins.acme.team is required but missing"
    assert ("TF174", message) in [(error.code, error.message) for error in errors(result)]
    assert result.jobs[0].objects == []


@pytest.mark.parametrize("name", ["acmee", "torch", "other"])
def test_settings_of_a_plugin_that_is_not_used_are_a_warning(name):
    _, result = run(Quota, environment(**{name: {"a": 1}}))
    assert errors(result) == []
    assert [(each.code, each.severity, each.path) for each in result.diagnostics if each.code == "TF173"] == [
        ("TF173", "warning", ("spec", "plugins", name))
    ]


def test_a_failure_keeps_whose_it_is_on_its_way_from_a_worker():
    failure = pickle.loads(pickle.dumps(PluginFailure("oh no", "acme", "TF903", "a hint")))
    assert (str(failure), failure.plugin, failure.code, failure.hint) == ("oh no", "acme", "TF903", "a hint")

"""What `./dev pages` writes is current, and complete: `commands.md`, `settings.md` and others."""

from __future__ import annotations

import re

import click
import pytest

from pages import PAGES, stale
from pages.commands import SHARED, commands
from pages.keys import REQUIRED, environment_keys, job_keys, settings_keys
from trainform.cli.app import COMMANDS, app
from trainform.io.settings import KEYS, parse_settings


@pytest.mark.parametrize("name", PAGES)
def test_a_page_that_comes_from_the_code_is_current(name):
    assert name not in stale(), "run ./dev pages"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_its_section_and_every_option_its_line(name):
    command = app.get_command(click.Context(app), name)
    assert command
    section = commands().partition(f"\n## trainform {name}\n")[2].partition("\n## ")[0]
    options = {max(each.opts, key=len) for each in command.params if isinstance(each, click.Option)} - set(SHARED)
    assert section
    assert options <= set(re.findall(r"^- `(?:-\w, )?(--[\w-]+)", section, re.MULTILINE))


def test_placeholders_of_the_help_are_no_html():
    prose = re.sub(r"<!--.*?-->|```.*?```|`[^`]*`", "", commands(), flags=re.DOTALL)
    assert "environments/&lt;env>/keys/" in prose
    assert "<" not in prose


def rows(text: str) -> list[tuple[str, str]]:
    """The path and the default of each key."""
    return re.findall(r"^- \*\*`(.*?)`\*\* · .*? · (.*?)<br>$", text, re.MULTILINE)


def test_every_setting_has_its_row():
    paths = [path for path, _ in rows(settings_keys())]
    assert [path for path in paths if "." not in path] == list(KEYS)
    assert {"plugins.required", "plugins.disabled", "lintsByPath[].paths", "lintsByPath[].lints"} <= set(paths)


@pytest.mark.parametrize("key", ["jobs", "runtimes", "environments", "rendered"])
def test_the_default_of_a_folder_is_the_one_that_is_used(key):
    settings, _ = parse_settings(b"")
    assert dict(rows(settings_keys()))[key] == f"default: `{getattr(settings, key)}`"


def examples() -> list[tuple[str, str]]:
    """Each key at the top of `trainform.yaml`, with its example."""
    found = re.findall(r"^- \*\*`(\w+)`\*\* .*\n.* Example: `(.*)`\.$", settings_keys(), re.MULTILINE)
    assert [key for key, _ in found] == list(KEYS)
    return found


@pytest.mark.parametrize(("key", "example"), examples())
def test_the_example_of_a_setting_is_accepted(key, example):
    assert parse_settings(f"{key}: {example}".encode())[1] == []


def test_the_example_at_the_top_of_the_settings_is_accepted():
    example = settings_keys().partition("```yaml\n")[2].partition("```")[0]
    assert parse_settings(example.encode())[1] == []


def test_the_keys_of_a_job_and_a_runtime_are_all_told():
    found = dict(rows(job_keys()))
    assert found["spec.runtimeRef"] == REQUIRED
    assert found["spec.suspend"] == "default: `false`"
    assert {
        "spec.runtimePatches[].manager",
        "spec.mlPolicy.mpi.runLauncherAsNode",
        "spec.template.spec",
    } <= found.keys()
    assert "spec.runtimePatches[].manager" not in dict(rows(environment_keys()))


def test_a_key_of_an_environment_says_whether_it_is_required():
    required = {path for path, default in rows(environment_keys()) if default == REQUIRED}
    assert {"metadata.name", "spec.prices.currency", "spec.patches[].patch"} <= required
    assert not any(re.fullmatch(r"spec\.\w+", path) for path in required)

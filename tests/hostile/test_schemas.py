"""Schemas and settings of editors, in a repository that a stranger's pull request brings."""

from __future__ import annotations

import json

import pytest

WRITES = ("schema --editor", "init . --env prod", "job new more --command true")


@pytest.mark.parametrize("path", [".trainform/schemas", ".trainform", ".vscode"])
def test_nothing_is_written_into_gits_own_folder(victim, path):
    victim.link(path, victim.root / ".git" / "hooks")
    before = {file.name: file.read_bytes() for file in (victim.root / ".git" / "hooks").iterdir()}
    for command in WRITES:
        victim.trainform(command)
        assert {file.name: file.read_bytes() for file in (victim.root / ".git" / "hooks").iterdir()} == before, command
    assert victim.trainform("schema --editor").code == 2


@pytest.mark.parametrize("text", ["", "{", '{"$ref": "file:///etc/passwd"}', "[" * 100_000])
def test_no_command_reads_a_schema(victim, text):
    commands = ("validate", "check", "diff", "render")
    before = [victim.trainform(command).output for command in commands]
    victim.write(".trainform/schemas/any.json", text)
    assert [victim.trainform(command).output for command in commands] == before


@pytest.mark.parametrize("folder", ['jo"bs', "{a,b}", "jobs/*", "ünï", "a b"])
def test_a_folder_of_any_name_leaves_the_settings_valid(victim, folder):
    victim.write("trainform.yaml", f"jobs: {json.dumps(folder)}\n")
    assert victim.trainform("schema --editor").code == 0
    chosen = json.loads((victim.root / ".vscode/settings.json").read_text())["yaml.schemas"]
    assert f"/{folder}/**/*.yaml" in chosen["./.trainform/schemas/any.json"]

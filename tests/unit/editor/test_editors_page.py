"""docs/editors.md says what the extensions and the server do."""

from __future__ import annotations

import json
import re
from pathlib import Path

from lsprotocol import types as lsp

from support.marked import RUNTIME, job, marked
from trainform.cli.commands.lsp import INSTALL
from trainform.editor.features.rendered import rendered
from trainform.editor.protocol import previews

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")
BLOCKS = [block.strip() for block in re.findall(r"(?:^ {4}.*\n)+", PAGE, re.MULTILINE)]
PLUGIN = (ROOT / "editors" / "neovim" / "trainform.lua").read_text(encoding="utf-8")
MANIFEST = json.loads((ROOT / "editors" / "vscode" / "package.json").read_text(encoding="utf-8"))


def test_the_server_is_installed_as_the_command_says():
    assert BLOCKS[0] == INSTALL


def test_the_extension_is_built_under_the_name_that_is_installed():
    archive = f"{MANIFEST['name']}-{MANIFEST['version']}.vsix"
    assert BLOCKS[1].splitlines()[-1].strip() == f"code --install-extension {archive}"
    assert archive in (ROOT / "editors" / "vscode" / "README.md").read_text(encoding="utf-8")
    titles = {each["title"] for each in MANIFEST["contributes"]["commands"]}
    assert {title for title in titles if f"*trainform: {title}*" in PAGE} == {"Open Rendered Manifests to the Side"}


def test_neovim_is_set_up_with_what_the_plugin_has():
    assert 'require("trainform").setup()' in BLOCKS[2]
    assert 'require("trainform").setup()' in PLUGIN
    assert "command" in BLOCKS[2]
    commands = re.findall(r'nvim_create_user_command\("(\w+)"', PLUGIN)
    assert {*re.findall(r"`:(\w+)", PAGE)} == {*commands}


def test_the_request_for_manifests_is_as_it_is_read_and_its_answer_as_it_is_told(tmp_path):
    asked = json.loads(BLOCKS[3])
    assert lsp.Position(**asked["position"]) == lsp.Position(8, 0)
    here = marked(tmp_path, {"runtimes/torch.yaml": RUNTIME, "jobs/llm.yaml": job(spec="suspend: true‸")})
    preview = rendered(here.snapshot, here.file, here.at)
    assert preview is not None
    told = previews.told(preview, f"{tmp_path}/")
    rows = [re.findall(r"`(\w+)`", line.split("|")[1]) for line in PAGE.splitlines() if line.startswith("| `")]
    assert {name for row in rows for name in row} == {*told}
    assert {key for origin in told["origins"] for key in origin} == {"line", "owner", "uri", "sourceLine"}
    for name in (previews.OPEN, previews.CLOSE, previews.RENDERED):
        assert f"`{name}`" in PAGE

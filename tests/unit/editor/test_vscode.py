"""The extension for VS Code asks for what the server offers, and does what its manifest says."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from trainform.cli.commands.lsp import INSTALL
from trainform.editor.protocol import previews, server, wiring

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "editors" / "vscode"
MANIFEST = json.loads((FOLDER / "package.json").read_text(encoding="utf-8"))
CODE = (FOLDER / "extension.js").read_text(encoding="utf-8")
COMMANDS = {each["command"] for each in MANIFEST["contributes"]["commands"]}
SETTINGS = MANIFEST["contributes"]["configuration"]["properties"]


def of_the_server() -> set[str]:
    own = server.TrainformServer()
    wiring.register(own)
    return {*own.protocol.fm.commands}


def test_the_commands_of_the_manifest_are_those_that_the_code_registers():
    assert {*re.findall(r'registerCommand\("([^"]+)"', CODE)} == COMMANDS


def test_it_sends_commands_that_the_server_has_and_takes_none_of_their_names():
    asked = {*re.findall(r'ask\("([^"]+)"', CODE)}
    assert asked == {previews.OPEN, previews.CLOSE}
    assert asked <= of_the_server()
    assert not COMMANDS & of_the_server()  # the client library registers those of the server by itself


def test_it_listens_to_what_the_server_tells():
    assert re.findall(r'onNotification\("([^"]+)"', CODE) == [previews.RENDERED]
    assert re.findall(r'SCHEME = "([^"]+)"', CODE) == [previews.SCHEME]


def test_each_setting_that_is_read_is_declared_and_described():
    assert {f"trainform.{name}" for name in re.findall(r'\.get\("([^"]+)"\)', CODE)} <= {*SETTINGS}
    assert all(each.get("description") or each.get("markdownDescription") for each in SETTINGS.values())
    assert INSTALL in SETTINGS["trainform.path"]["markdownDescription"]


def test_a_checkout_that_is_not_trusted_cannot_choose_the_program():
    assert "trainform.path" in MANIFEST["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"]
    assert SETTINGS["trainform.path"]["scope"] == "machine-overridable"


def test_menus_name_commands_and_the_files_of_the_package_are_there():
    menus = [each["command"] for menu in MANIFEST["contributes"]["menus"].values() for each in menu]
    assert {*menus} <= COMMANDS
    assert (FOLDER / MANIFEST["main"]).is_file()
    assert (FOLDER / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


STORY = """\
const Module = require("module");
const said = [];
const handlers = {};
class Emitter { constructor() { this.listeners = []; this.event = (each) => this.listeners.push(each); }
  fire(value) { for (const each of this.listeners) each(value); } }
const uri = (text) => ({ toString: () => text, fsPath: text.replace(/^[^:]*:/, "") });
const source = { uri: uri("file:/repo/jobs/llm.yaml") };
const shown = {};
const vscode = {
  EventEmitter: Emitter, Uri: { parse: uri }, ViewColumn: { Beside: -2 },
  TextEditorRevealType: { InCenterIfOutsideViewport: 2 },
  Position: class { constructor(line) { this.line = line; } },
  Range: class { constructor(start) { this.start = start; } },
  workspace: {
    getConfiguration: () => ({ get: (key) => `my-${key}` }),
    registerTextDocumentContentProvider: (scheme, provider) => { shown.provider = provider; },
    onDidCloseTextDocument: (each) => { handlers.close = each; },
    openTextDocument: async (at) => ({ uri: at }),
  },
  window: {
    activeTextEditor: { document: source, selection: { active: { line: 8 } } },
    visibleTextEditors: [], setStatusBarMessage: (text) => said.push(text),
    onDidChangeTextEditorSelection: (each) => { handlers.select = each; },
    showInformationMessage: (text) => said.push(text),
    showTextDocument: async (document, column) => { shown.document = document; said.push(`shown in ${column}`); },
  },
  commands: { registerCommand: (name, each) => { handlers[name] = each; } },
};
class LanguageClient {
  constructor(id, name, options) { const { cwd } = options.options;
    said.push(`starts ${options.command} ${options.args} in ${cwd === require("os").homedir() ? "~" : cwd}`); }
  code2ProtocolConverter = { asUri: String, asPosition: ({ line }) => ({ line, character: 0 }) };
  onNotification(name, each) { handlers[name] = each; }
  async start() {}
  async sendRequest(method, { command, arguments: [asked] }) {
    said.push(`${command} ${JSON.stringify(asked)}`);
    return answers.shift();
  }
}
const load = Module._load;
const stubs = { vscode, "vscode-languageclient/node": { LanguageClient } };
Module._load = (name, ...rest) => stubs[name] ?? load(name, ...rest);
const preview = "trainform-rendered:/repo/rendered/prod/ml/llm.yaml";
const told = { uri: preview, environment: "prod", environments: ["prod"], text: "a: 1", note: "",
  origins: [{ line: 3, owner: "TrainJob llm", uri: "file:/repo/jobs/llm.yaml", sourceLine: 8 }] };
const answers = [null, told];
(async () => {
  await require(process.argv[2]).activate({ subscriptions: [] });
  await handlers["trainform.openRenderedBeside"]();
  await handlers["trainform.openRenderedBeside"]();
  const text = () => shown.provider.provideTextDocumentContent(shown.document.uri);
  said.push(text());
  handlers["trainform/rendered"]({ ...told, text: "a: 2" });
  said.push(text());
  handlers["trainform/rendered"]({ uri: preview, note: "cannot be read" });
  said.push(text());
  const beside = { document: shown.document, revealRange: (range) => said.push(`scrolls to ${range.start.line}`) };
  vscode.window.visibleTextEditors.push(beside);
  handlers.select({ textEditor: vscode.window.activeTextEditor, selections: [{ active: { line: 8 } }] });
  handlers.close(shown.document);
  console.log(JSON.stringify(said));
})();
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_the_manifests_open_beside_follow_changes_scroll_and_close(tmp_path):
    (tmp_path / "story.js").write_text(STORY)
    command = ["node", str(tmp_path / "story.js"), str(FOLDER / "extension.js")]
    run = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    place = '{"uri":"file:/repo/jobs/llm.yaml","position":{"line":8,"character":0}}'
    assert json.loads(run.stdout or "[]") == [
        "starts my-path lsp in ~",
        f"trainform.openRendered {place}",
        "trainform: there is no job here.",
        f"trainform.openRendered {place}",
        "shown in -2",
        "a: 1",
        "a: 2",
        "trainform: cannot be read",
        "a: 2",
        "scrolls to 3",
        'trainform.closeRendered {"uri":"trainform-rendered:/repo/rendered/prod/ml/llm.yaml"}',
    ], run.stderr

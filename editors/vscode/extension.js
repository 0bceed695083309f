// Starts `trainform lsp`, and shows the rendered manifests of a job beside its TrainJob.
"use strict";

const { homedir } = require("os");
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

const SCHEME = "trainform-rendered";
const FILES = [
  { scheme: "file", language: "yaml" },
  { scheme: "file", pattern: "**/*.{yaml,yml}.j2" },
];

/** The open previews by URI: what the server last told of each. */
const previews = new Map();
const changed = new vscode.EventEmitter();
let client;

async function start() {
  const command = vscode.workspace.getConfiguration("trainform").get("path");
  client = new LanguageClient(
    "trainform",
    "trainform",
    // Not in the folder that is open: where a program is looked for there first, a stranger's would run.
    { command, args: ["lsp"], options: { cwd: homedir() } },
    { documentSelector: FILES }
  );
  client.onNotification("trainform/rendered", keep);
  await client.start();
}

/** Remember what the server tells of a preview. Without a text, its last one stays. */
function keep(told) {
  const uri = vscode.Uri.parse(told.uri);
  const key = uri.toString();
  previews.set(key, { ...previews.get(key), ...told });
  changed.fire(uri);
  if (told.note) vscode.window.setStatusBarMessage(`trainform: ${told.note}`, 5000);
  return uri;
}

async function ask(command, argument) {
  return client.sendRequest("workspace/executeCommand", { command, arguments: [argument] });
}

async function openRenderedBeside() {
  const editor = vscode.window.activeTextEditor;
  if (!editor || !client) return;
  const place = {
    uri: client.code2ProtocolConverter.asUri(editor.document.uri),
    position: client.code2ProtocolConverter.asPosition(editor.selection.active),
  };
  let told = await ask("trainform.openRendered", place);
  if (!told) return void vscode.window.showInformationMessage("trainform: there is no job here.");
  if (told.environments.length > 1) {
    const environment = await vscode.window.showQuickPick(told.environments, { title: "Environment" });
    if (!environment) return void ask("trainform.closeRendered", { uri: told.uri });
    if (environment !== told.environment) {
      await ask("trainform.closeRendered", { uri: told.uri });
      told = await ask("trainform.openRendered", { ...place, environment });
      if (!told) return;
    }
  }
  const document = await vscode.workspace.openTextDocument(keep(told));
  await vscode.window.showTextDocument(document, vscode.ViewColumn.Beside, true);
}

function closed(document) {
  const preview = previews.get(document.uri.toString());
  if (!preview) return;
  previews.delete(document.uri.toString());
  if (client) void ask("trainform.closeRendered", { uri: preview.uri });
}

/** Show, in the other text, the line that belongs to the one with the cursor. */
function follow({ textEditor, selections }) {
  const uri = textEditor.document.uri.toString();
  const line = selections[0].active.line;
  for (const [key, { origins }] of previews) {
    const isRendered = key === uri;
    const origin = origins.find((each) =>
      isRendered ? each.line === line : each.sourceLine === line && sameFile(each.uri, uri)
    );
    if (!origin || (isRendered && !origin.uri)) continue;
    const other = vscode.window.visibleTextEditors.find(({ document }) =>
      isRendered ? sameFile(origin.uri, document.uri.toString()) : document.uri.toString() === key
    );
    const start = new vscode.Position(isRendered ? origin.sourceLine : origin.line, 0);
    if (other && other !== textEditor)
      other.revealRange(new vscode.Range(start, start), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }
}

function sameFile(one, other) {
  return one !== undefined && vscode.Uri.parse(one).fsPath === vscode.Uri.parse(other).fsPath;
}

async function restart() {
  if (client) await client.stop();
  await start();
}

function activate(context) {
  const provider = {
    onDidChange: changed.event,
    provideTextDocumentContent: (uri) => previews.get(uri.toString())?.text ?? "",
  };
  context.subscriptions.push(
    changed,
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, provider),
    vscode.workspace.onDidCloseTextDocument(closed),
    vscode.window.onDidChangeTextEditorSelection(follow),
    vscode.commands.registerCommand("trainform.openRenderedBeside", openRenderedBeside),
    vscode.commands.registerCommand("trainform.restart", restart)
  );
  return start();
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };

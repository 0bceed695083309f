"""An editor on `trainform lsp`: what it tells besides diagnostics. Each feature by itself is in tests/unit/editor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from support.language_client import Editor, editing
from support.marked import ENVIRONMENT, QUEUES, RUNTIME, job
from trainform.cli.app import app

pytestmark = pytest.mark.asyncio

LLM = job(spec="trainer:\n  numNodes: 4\n  image: example/llm:1\n")
OWN = "environments/prod/environment.yaml"
PATCHED = (
    ENVIRONMENT + "  patches:\n  - target: {kind: JobSet, name: llm}\n    patch: {metadata: {labels: {team: blue}}}\n"
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {
        "trainform.yaml": "",
        "jobs/llm.yaml": LLM,
        "runtimes/torch.yaml": RUNTIME,
        OWN: PATCHED,
        "environments/prod/queues.yaml": QUEUES,
    }
    for file, text in files.items():
        (tmp_path / "repository" / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "repository" / file).write_text(text, encoding="utf-8")
    return tmp_path / "repository"


def place(path: Path, word: str) -> dict[str, Any]:
    """The arguments of a request about the end of the first `word` of a file."""
    before, _, _ = path.read_text(encoding="utf-8").partition(word)
    line, column = before.count("\n"), len(before) - (before.rfind("\n") + 1) + len(word)
    return {"text_document": lsp.TextDocumentIdentifier(path.as_uri()), "position": lsp.Position(line, column)}


def shown(root: Path, found: Any) -> list[str]:
    """Locations as `jobs/llm.yaml:7`, with lines that count from 1."""
    return [f"{each.uri.removeprefix(root.as_uri() + '/')}:{each.range.start.line + 1}" for each in found]


async def test_hover_tells_what_a_field_sets(root):
    async with editing(root) as editor:
        asked = lsp.HoverParams(**place(root / "jobs/llm.yaml", "numNodes"))
        found = await editor.client.text_document_hover_async(asked)
        assert found is not None
        assert "`PET_NNODES`: `4`; without it `1`" in str(found.contents)
        assert found.range == lsp.Range(lsp.Position(8, 4), lsp.Position(8, 12))


async def test_a_name_leads_to_its_object_and_back(root):
    llm, runtime = root / "jobs/llm.yaml", root / "runtimes/torch.yaml"
    async with editing(root) as editor:
        found = await editor.client.text_document_definition_async(lsp.DefinitionParams(**place(llm, "name: torch")))
        assert shown(root, found) == ["runtimes/torch.yaml:4"]
        context = lsp.ReferenceContext(include_declaration=False)
        asked = lsp.ReferenceParams(context, **place(runtime, "name: torch"))
        assert shown(root, await editor.client.text_document_references_async(asked)) == ["jobs/llm.yaml:7"]


async def test_a_shipped_runtime_is_a_file_of_the_installed_package(root):
    llm = root / "jobs/llm.yaml"
    llm.write_text(LLM.replace("{name: torch}", "{name: torch-distributed}"))
    async with editing(root) as editor:
        asked = lsp.DefinitionParams(**place(llm, "name: torch-distributed"))
        answer = await editor.client.text_document_definition_async(asked)
        [found] = answer if isinstance(answer, list) else []
        assert isinstance(found, lsp.Location)
        assert Path(found.uri.removeprefix("file://")).read_text().count("name: torch-distributed") == 1


async def test_completion_knows_the_buffer_that_does_not_parse(root):
    llm = root / "jobs/llm.yaml"
    async with editing(root) as editor:
        editor.open(llm)
        editor.type(llm, LLM.replace("numNodes: 4\n", "numNodes: 4\n    num\n"))
        asked = lsp.CompletionParams(lsp.TextDocumentIdentifier(llm.as_uri()), lsp.Position(9, 7))
        found = await editor.client.text_document_completion_async(asked)
        [item] = found if isinstance(found, list) else []
        assert item.label == "numProcPerNode"
        typed = lsp.Range(lsp.Position(9, 4), lsp.Position(9, 7))
        assert item.text_edit == lsp.TextEdit(typed, "numProcPerNode: ")


async def test_inlay_hints_tell_what_the_job_comes_to(root):
    llm = root / "jobs/llm.yaml"
    async with editing(root) as editor:
        whole = lsp.Range(lsp.Position(0, 0), lsp.Position(99, 0))
        asked = lsp.InlayHintParams(lsp.TextDocumentIdentifier(llm.as_uri()), whole)
        found = await editor.client.text_document_inlay_hint_async(asked)
        assert [each.label for each in found or ()] == ["4 pods, queue team-a", "4 nodes × 1 process"]


async def test_symbols_are_the_objects_of_a_file(root):
    async with editing(root) as editor:
        facts = lsp.TextDocumentIdentifier((root / "environments/prod/queues.yaml").as_uri())
        found = await editor.client.text_document_document_symbol_async(lsp.DocumentSymbolParams(facts))
        names = [each.name for each in found or ()]
        assert names == [
            "LocalQueue team-a",
            "ClusterQueue shared",
            "ResourceFlavor h100",
            "WorkloadPriorityClass high",
        ]


async def test_a_rename_edits_the_job_and_the_patches_that_name_it(root):
    llm = root / "jobs/llm.yaml"
    async with editing(root) as editor:
        asked = lsp.RenameParams(new_name="bert", **place(llm, "name: llm"))
        found = await editor.client.text_document_rename_async(asked)
        assert found is not None
        edits = {Path(uri).name: [each.new_text for each in edits] for uri, edits in (found.changes or {}).items()}
        assert edits == {"llm.yaml": ["bert"], "environment.yaml": ["bert"]}


async def test_a_rename_that_would_delete_a_job_is_refused_with_the_reason(root):
    llm = root / "jobs/llm.yaml"
    assert CliRunner().invoke(app, ["render", "--root", str(root)]).exit_code == 0
    async with editing(root) as editor:
        with pytest.raises(JsonRpcException, match="llm is rendered"):
            await editor.client.text_document_prepare_rename_async(lsp.PrepareRenameParams(**place(llm, "name: llm")))


async def open_rendered(editor: Editor, path: Path) -> Any:
    asked = {"uri": path.as_uri(), "position": {"line": 8, "character": 0}}
    command = lsp.ExecuteCommandParams("trainform.openRendered", [asked])
    return await editor.client.workspace_execute_command_async(command)


async def test_the_manifests_of_a_job_are_shown_with_the_line_that_set_each(root):
    llm = root / "jobs/llm.yaml"
    async with editing(root) as editor:
        preview = await open_rendered(editor, llm)
        assert preview["uri"].startswith("trainform-rendered:/")
        assert preview["uri"].endswith("/rendered/prod/ml/llm.yaml")
        lines = preview["text"].split("\n")
        [origin] = [each for each in preview["origins"] if lines[each["line"]].strip() == "parallelism: 4"]
        assert (origin["uri"], origin["sourceLine"], origin["owner"]) == (llm.as_uri(), 8, "TrainJob llm")


async def test_the_manifests_follow_each_change_until_they_are_closed(root):
    llm, told = root / "jobs/llm.yaml", list[Any]()
    async with editing(root) as editor:
        editor.client.feature("trainform/rendered")(lambda params: told.append(params))
        editor.open(llm)
        preview = await open_rendered(editor, llm)
        editor.type(llm, LLM.replace("numNodes: 4", "numNodes: 6"))
        await editor.sees(lambda: any("parallelism: 6\n" in each.text for each in told))

        told.clear()
        editor.type(llm, LLM.replace("numNodes: 4", "numNodes: {"))
        await editor.sees(lambda: bool(told))
        assert "cannot be read at the moment" in told[0].note
        assert not hasattr(told[0], "text")

        closing = lsp.ExecuteCommandParams("trainform.closeRendered", [{"uri": preview["uri"]}])
        await editor.client.workspace_execute_command_async(closing)
        told.clear()
        editor.type(llm, LLM.replace("numNodes: 4", "numNodes: none"))
        await editor.sees(lambda: "TF102" in editor.codes(llm))
        assert told == []


@pytest.mark.parametrize("asked", [None, {}, {"uri": "untitled:a"}, {"uri": 5, "position": "x"}, [1]])
async def test_a_strange_request_for_manifests_is_answered_with_nothing(root, asked):
    async with editing(root) as editor:
        command = lsp.ExecuteCommandParams("trainform.openRendered", [asked])
        assert await editor.client.workspace_execute_command_async(command) is None


async def test_places_outside_of_the_text_and_files_of_no_repository_are_no_mistakes(root, tmp_path):
    elsewhere = tmp_path / "elsewhere.yaml"
    async with editing(root) as editor:
        for path in (root / "jobs/none.yaml", elsewhere, root / "jobs/llm.yaml"):
            document = lsp.TextDocumentIdentifier(path.as_uri())
            at = lsp.Position(10_000, 10_000)
            assert await editor.client.text_document_hover_async(lsp.HoverParams(document, at)) is None
            assert not await editor.client.text_document_completion_async(lsp.CompletionParams(document, at))
            assert not await editor.client.text_document_definition_async(lsp.DefinitionParams(document, at))

"""TrainJobs and runtimes of earlier versions of the Trainer, edited in place to the current API."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from trainform.api.kinds import API_VERSION, TRAINER_KINDS
from trainform.core.jobset_view import NODE_CONTAINER
from trainform.diagnostics import Diagnostic, Path
from trainform.k8s.tree import Tree, copied, sequence, table, tables, text, value_at
from trainform.migrate.editor import CannotEdit, Editor, Entry, indented
from trainform.migrate.old import is_count
from trainform.source import load

if TYPE_CHECKING:
    from yaml.nodes import Node

    from trainform.source import Document

GROUPS = ("trainer.kubeflow.org", "kubeflow.org")
OVERRIDES = ("podTemplateOverrides", "podSpecOverrides")
"""Of v2.1, and of v2.0 and before."""

TARGETS = ("targetJobs", "targetReplicatedJobs", "targetJob")
RENAMED = {"trainingRuntimeRef": "runtimeRef", "trainerConfig": "trainer"}
CONFIGS = {"datasetConfig": "dataset", "modelConfig": "model"}
"""By the old field: the field of `spec.initializer`."""

MARKS = ("labels", "annotations")
MANAGER = "trainform.dev/migrated"

PATCHES: Path = ("spec", "runtimePatches")
TORCH: Path = ("spec", "mlPolicy", "torch")


@dataclass(slots=True)
class Modernized:
    """New texts by file, and what is told."""

    files: dict[str, str] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)


class Renewal(NamedTuple):
    """A change of an object's tree, and the same of its text."""

    tree: Callable[[Tree], None]
    text: Callable[[Editor], None]


def is_trainers(tree: Tree) -> bool:
    """Whether an object is of one of the Trainer's kinds, in any version."""
    return text(tree, "kind") in TRAINER_KINDS and text(tree, "apiVersion").rpartition("/")[0] in GROUPS


def modernize(documents: Sequence[Document]) -> Modernized:
    """The texts of the files that hold objects of an earlier version."""
    done = Modernized()
    by_file: dict[str, list[Document]] = {}
    for document in documents:
        by_file.setdefault(document.file, []).append(document)
    for file, own in by_file.items():
        new = own[0].part.source.text
        for document in sorted(own, key=lambda each: -each.part.start):
            changes = _changes(document, done.diagnostics)
            if changes:
                edited = _edited(document, changes, done.diagnostics)
                start = document.part.start
                new = new[:start] + edited + new[start + len(document.part.text) :]
        if new != own[0].part.source.text:
            done.files[file] = new
    return done


def _edited(document: Document, changes: Sequence[Renewal], told: list[Diagnostic]) -> str:
    """The document's new text: with its comments, if it can be edited; else written anew."""
    from trainform.output.emitter import emit

    wanted = copied(document.tree)
    for change in changes:
        change.tree(wanted)
    old = document.part.text
    try:
        if document.prefix or old.lstrip().startswith("{"):
            raise CannotEdit
        editor = Editor(old, document.part.root)
        for change in changes:
            change.text(editor)
        new = editor.done()
        if [each.tree for each in load(new, document.file).documents] == [wanted]:
            return new
    except (CannotEdit, IndexError):
        pass
    if document.prefix or old.lstrip().startswith("{"):
        message = "an item of a List, or JSON, is not edited in place"
        told.append(_told("TF867", "error", message, "write it as a YAML document of its own", ("kind",), document))
        return old
    message = "the object is written anew, without its comments: its layout is not one that is edited in place"
    hint = "write mappings and lists in lines of their own, not in braces, to keep comments"
    told.append(_told("TF867", "warning", message, hint, ("kind",), document))
    mark = "---\n" if old.startswith("---") else ""
    return mark + emit(wanted)


def _told(code: str, severity: Any, message: str, hint: str, path: Path, document: Document) -> Diagnostic:
    return Diagnostic(code, severity, message, hint, path, document, document.key_position(path))


def _changes(document: Document, told: list[Diagnostic]) -> list[Renewal]:
    """What differs from the current API, in a document that is edited from then on."""
    tree = document.tree
    changes = []
    if text(tree, "apiVersion") != API_VERSION:
        changes.append(_value(("apiVersion",), API_VERSION))
    if text(tree, "kind") == "TrainJob":
        return changes + _changes_of_job(document, told)
    return changes + _changes_of_runtime(document, told)


def _value(path: Path, value: Any) -> Renewal:
    def change(tree: Tree) -> None:
        value_at(tree, path[:-1], tree)[path[-1]] = value

    return Renewal(change, lambda editor: editor.replace_value(path, str(value)))


def _removal(path: Path) -> Renewal:
    return Renewal(lambda tree: value_at(tree, path[:-1]).pop(path[-1]), lambda editor: editor.remove(path))


def _renaming(field: str, name: str) -> Renewal:
    def change(tree: Tree) -> None:
        tree["spec"] = {name if key == field else key: value for key, value in tree["spec"].items()}

    return Renewal(change, lambda editor: editor.rename(("spec", field), name))


def _changes_of_job(document: Document, told: list[Diagnostic]) -> list[Renewal]:
    spec = table(document.tree, "spec")
    changes = []
    trainer = next((name for name in ("trainer", "trainerConfig") if name in spec), "trainer")
    path: Path = ("spec", trainer, "numProcPerNode")
    value = table(spec, trainer).get("numProcPerNode")
    if isinstance(value, str):
        is_number = is_count(value)
        changes.append(_value(path, int(value)) if is_number else _removal(path))
        if not is_number and value not in ("auto", "gpu"):
            message = f"{value} is no number of processes: without it there is one per GPU, else one per CPU requested"
            told.append(_told("TF853", "warning", message, "write a number", path, document))
    if "elasticPolicy" in spec:
        changes.append(_elastic(document, told, ("spec", "elasticPolicy")))
    changes += _configs(document, told)
    changes += _patches(spec)
    # Last: the others name fields as they are written.
    return changes + [_renaming(old, new) for old, new in RENAMED.items() if old in spec and new not in spec]


def _elastic(document: Document, told: list[Diagnostic], path: Path) -> Renewal:
    message = "elastic training was removed in Trainer 2.2: the number of nodes is fixed"
    hint = "write spec.trainer.numNodes in the TrainJob, and failurePolicy.maxRestarts in the runtime's JobSet"
    told.append(_told("TF852", "warning", message, hint, path, document))
    return _removal(path)


def _configs(document: Document, told: list[Diagnostic]) -> list[Renewal]:
    """`datasetConfig` and `modelConfig`, which are the initializer now."""
    spec = table(document.tree, "spec")
    old = [name for name in CONFIGS if isinstance(spec.get(name), dict)]
    if not old or "initializer" in spec:
        return []
    new: Tree = {}
    for name in old:
        config = spec[name]
        if "output" in config:
            message = "the Trainer exports no model: the training code writes it where it belongs"
            told.append(
                _told("TF866", "warning", message, "write it to a mounted volume", ("spec", name, "output"), document)
            )
        given = config["input"] if isinstance(config.get("input"), dict) else config
        new[CONFIGS[name]] = {key: value for key, value in given.items() if key != "output"}

    def change(tree: Tree) -> None:
        kept = tree["spec"]
        tree["spec"] = {
            "initializer" if key == old[0] else key: new if key == old[0] else value
            for key, value in kept.items()
            if key not in old[1:]
        }

    def edit(editor: Editor) -> None:
        editor.write_tree(("spec", old[0]), {"initializer": new})
        for name in old[1:]:
            editor.remove(("spec", name))

    return [Renewal(change, edit)]


def _patches(spec: Tree) -> list[Renewal]:
    """Overrides, and labels and annotations of the JobSet, which are patches of the runtime now."""
    overrides = next((name for name in OVERRIDES if isinstance(spec.get(name), list)), "")
    marks = {name: spec[name] for name in MARKS if isinstance(spec.get(name), dict)}
    if not overrides and not marks:
        return []
    gone = [*marks, *([overrides] if overrides else ())]
    place = gone[-1]
    first = [{"template": {"metadata": marks}}] if marks else []
    patches = [*first, *map(_patch, tables(spec, overrides))]
    entries = [{"manager": _manager(index), "trainingRuntimeSpec": each} for index, each in enumerate(patches)]

    def change(tree: Tree) -> None:
        old = tree["spec"]
        new = [*sequence(old.get("runtimePatches")), *entries]
        kept = {key: value for key, value in old.items() if key not in gone or key == place}
        tree["spec"] = {
            "runtimePatches" if key == place else key: new if key == place else value
            for key, value in kept.items()
            if key != "runtimePatches"
        }

    def edit(editor: Editor) -> None:
        if "runtimePatches" in spec:
            raise CannotEdit
        for name in gone[:-1]:
            editor.remove(("spec", name))
        lines = indented({"runtimePatches": entries[: len(first)]}, editor.entry(("spec", place)).column)
        if overrides:
            lines = _nested(editor, ("spec", overrides), lines if first else [], len(first))
        editor.write(("spec", place), lines)

    return [Renewal(change, edit)]


def _manager(index: int) -> str:
    return MANAGER if index == 0 else f"{MANAGER}-{index + 1}"


def _targets(override: Tree) -> list[str]:
    """The replicated jobs that an override is for; the trainer's, if it does not say."""
    for key in TARGETS:
        given = override.get(key)
        names = [each.get("name") if isinstance(each, dict) else each for each in sequence(given) or [given]]
        if named := [name for name in names if isinstance(name, str)]:
            return named
    return [NODE_CONTAINER]


def _pod(override: Tree) -> Tree:
    """The pod template that an override sets: its own, or in the older form only the spec's fields."""
    rest = {key: value for key, value in override.items() if key not in TARGETS}
    return rest if _is_nested(rest) else {"spec": rest}


def _is_nested(override: Tree) -> bool:
    return not {*override} - {"metadata", "spec"}


def _patch(override: Tree) -> Tree:
    jobs = [{"name": name, "template": {"spec": {"template": _pod(override)}}} for name in _targets(override)]
    return {"template": {"spec": {"replicatedJobs": jobs}}}


_LEVELS = ("trainingRuntimeSpec:", "  template:", "    spec:", "      replicatedJobs:")
"""What stands between a manager and the replicated jobs that it patches."""


def _nested(editor: Editor, path: Path, lines: list[str], index: int) -> list[str]:
    """The lines of the overrides at `path`, re-indented below runtime patches, with their comments."""
    entry = editor.entry(path)
    node: Any = entry.value
    if node.flow_style or not node.value:
        raise CannotEdit
    lead, above = " " * entry.column, entry.first + 1
    comment = editor.comments(entry.first, above)
    head, *rest = lines or [f"{lead}runtimePatches:"]
    lines = [f"{head}  {comment[0]}" if comment else head, *rest]
    for item in node.value:
        dash = item.start_mark.line
        lines += [f"{lead}{line.strip()}" for line in editor.lines[above:dash] if line.strip()]
        lines += _item(editor, item, lead, _manager(index))
        above, index = editor.last(item) + 1, index + 1
    return lines


def _item(editor: Editor, item: Node, lead: str, manager: str) -> list[str]:
    entries = editor.entries(item)
    moved = {key: each for key, each in entries.items() if key not in TARGETS}
    dropped = [each for key, each in entries.items() if key in TARGETS]
    names = _targets({key: _names(each) for key, each in entries.items() if key in TARGETS})
    comments = [text for each in dropped for text in editor.comments(each.above, editor.last(each.value) + 1)]
    lines = [f"{lead}{text}" for text in comments]
    lines += [f"{lead}- manager: {manager}", *(f"{lead}  {level}" for level in _LEVELS)]
    for name in names:
        pod = f"{lead}        "
        lines += [f"{pod}- name: {name}", f"{pod}  template:", f"{pod}    spec:", f"{pod}      template:"]
        column = len(pod) + 8
        if not _is_nested({**moved}):
            lines.append(f"{' ' * column}spec:")
            column += 2
        for each in moved.values():
            lines += editor.moved(each, column, each.above)
    return lines


def _names(entry: Entry) -> Any:
    """What a `targetJobs` holds."""
    from yaml.nodes import MappingNode, ScalarNode, SequenceNode

    def read(node: Node) -> Any:
        if isinstance(node, SequenceNode):
            return [read(each) for each in node.value]
        if isinstance(node, MappingNode):
            return {key.value: read(value) for key, value in node.value}
        return node.value if isinstance(node, ScalarNode) else None

    return read(entry.value)


def _changes_of_runtime(document: Document, told: list[Diagnostic]) -> list[Renewal]:
    torch = value_at(document.tree, TORCH)
    gone = [key for key in ("numProcPerNode", "elasticPolicy") if isinstance(torch, dict) and key in torch]
    for key in gone:
        path: Path = (*TORCH, key)
        if key == "elasticPolicy":
            _elastic(document, told, path)
        elif torch[key] not in ("auto", "gpu"):
            message = f"the number of processes is the TrainJob's: {torch[key]} is left out here"
            hint = f"write spec.trainer.numProcPerNode: {torch[key]} in the jobs of this runtime"
            told.append(_told("TF853", "warning", message, hint, path, document))
    if not gone:
        return []
    if len(gone) < len(torch):
        return [_removal((*TORCH, key)) for key in gone]

    def change(tree: Tree) -> None:
        value_at(tree, TORCH[:-1])["torch"] = {}

    return [Renewal(change, lambda editor: editor.write_tree(TORCH, {"torch": {}}))]

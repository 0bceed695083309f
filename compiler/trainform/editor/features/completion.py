"""What could be written at the cursor: keys, values, and names of what there is.

Keys and values come from the schemas of the models; names from the repository: runtimes, queues, priority classes,
companions, labels of nodes, resources, steps and their containers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

from trainform.api.runtime_rules import STEP_CONTAINERS, STEP_LABEL
from trainform.core.beside.placing import KINDS
from trainform.editor import known
from trainform.editor.fields import FieldKind, place_in
from trainform.editor.known import Names
from trainform.editor.known_labels import ANNOTATIONS, LABELS
from trainform.editor.links import ANY, chosen_kind, kind_of_root, linked_kinds, matches, thing_of
from trainform.editor.outline_node import OutlineNode
from trainform.editor.place import Cursor, cursor_at
from trainform.editor.search import environment_of

if TYPE_CHECKING:
    from trainform.diagnostics import Path, Position
    from trainform.editor.positions import Span
    from trainform.editor.snapshot import RepositorySnapshot

OfferKind = Literal["field", "value", "name"]


class Offer(NamedTuple):
    """Something to write. `insert` takes the place of what is typed so far."""

    label: str
    kind: OfferKind
    insert: str
    detail: str = ""
    text: str = ""


class Completion(NamedTuple):
    """The offers, best first, and what they replace."""

    span: Span
    offers: list[Offer]


class _At(NamedTuple):
    """Where something is typed."""

    snapshot: RepositorySnapshot
    file: str
    cursor: Cursor

    @property
    def root(self) -> OutlineNode:
        return self.cursor.root

    @property
    def path(self) -> Path:
        return self.cursor.path


def completion(snapshot: RepositorySnapshot, file: str, at: Position) -> Completion | None:
    """What could stand at a place; None where nothing could."""
    lines = snapshot.lines(file)
    cursor = cursor_at(lines.text, at) if lines else None
    if cursor is None:
        return None
    here = _At(snapshot, file, cursor)
    offers = [*(_keys(here) if cursor.role != "value" else ()), *(_values(here) if cursor.role != "key" else ())]
    typed = cursor.word.casefold()
    found = {each.label: each for each in reversed(offers) if each.label.casefold().startswith(typed)}
    return Completion(cursor.span, [*reversed(found.values())])


def _keys(here: _At) -> Iterator[Offer]:
    """The fields that the mapping lacks; the required ones first."""
    cursor = here.cursor
    present = {each.key for each in cursor.node.children if each.name != cursor.part}
    is_whole = cursor.whole is not cursor.node
    fields, path = place_in(here.file, here.root, here.path)
    for field in sorted(fields.keys(path), key=lambda field: not field.is_required):
        if field.name not in present:
            yield Offer(field.name, "field", _key(field, is_whole=is_whole), field.type, field.text)
    for name, detail in _names(here, _KEY_NAMES).items():
        if name not in present:
            yield Offer(name, "name", name if is_whole else f"{name}: ", detail)


def _key(field: FieldKind, *, is_whole: bool) -> str:
    """A key with its colon, unless that is there."""
    return field.name if is_whole else f"{field.name}:" if field.type in ("object", "array") else f"{field.name}: "


def _values(here: _At) -> Iterator[Offer]:
    fields, path = place_in(here.file, here.root, here.path)
    field = fields.at(path)
    others = here.cursor.node.parent.children if here.cursor.role == "entry" and here.cursor.node.parent else ()
    present = {each.text for each in others if each is not here.cursor.node and each.shape == "scalar"}
    for name, detail in (_linked(here) | _names(here, _VALUE_NAMES)).items():
        if name not in present:
            yield Offer(name, "name", name, detail)
    for value in field.choices if field else ():
        if value not in present:
            yield Offer(value, "value", value, "default" if field and value == field.default else "")


def _linked(here: _At) -> Names:
    """The objects that the value may name."""
    kind = kind_of_root(here.root)
    kinds = linked_kinds(kind, here.path)
    if kind == "TrainJob" and here.path[-2:] == ("runtimeRef", "name"):
        kinds = (chosen_kind(here.cursor.node.parent),)
    return known.objects(here.snapshot, kinds, here.file, thing_of(here.root).namespace or None)


Source = Callable[[_At], Names]


def _names(here: _At, table: dict[tuple[str, ...], Source]) -> Names:
    return next((source(here) for end, source in table.items() if matches(end, here.path)), {})


def _steps(here: _At) -> Names:
    return dict.fromkeys(known.steps(here.snapshot, here.root, here.file), "step")


def _containers(here: _At) -> Names:
    """The containers of the step that a patch is in."""
    path = here.path
    if "replicatedJobs" not in path:
        return {}
    step = here.root.at(*path[: path.index("replicatedJobs") + 2], "name")
    found = known.steps(here.snapshot, here.root, here.file)
    names = found.get(step.text, []) if step else [name for each in found.values() for name in each]
    return dict.fromkeys(filter(None, names), "container")


def _variables(_: _At) -> Names:
    from trainform.core.given.table import meanings
    from trainform.installed import load_plugins

    return {name: found.variable.meaning for name, found in meanings(load_plugins()).items()}


def _resources(here: _At) -> Names:
    return known.resources(here.snapshot, here.file)


def _node_labels(here: _At) -> Names:
    return dict.fromkeys(sorted(known.node_labels(here.snapshot, here.file)), "label of nodes")


def _values_of_label(here: _At) -> Names:
    return _of_label(here, str(here.path[-1]))


def _values_of_expression(here: _At) -> Names:
    key = here.root.at(*here.path[:-2], "key")
    return _of_label(here, key.text if key else "")


def _of_label(here: _At, label: str) -> Names:
    values = known.node_labels(here.snapshot, here.file).get(label, ())
    return dict.fromkeys(sorted(values), label)


def _levels(here: _At) -> Names:
    return known.levels(here.snapshot, here.file)


def _flavors(here: _At) -> Names:
    return known.objects(here.snapshot, ["ResourceFlavor"], here.file, None)


def _environment(here: _At) -> Names:
    name = environment_of(here.snapshot, here.file)
    is_one = kind_of_root(here.root) == "Environment"
    return {name: "the name of its folder"} if name and is_one else {}


def _jobs(here: _At) -> Names:
    name = environment_of(here.snapshot, here.file)
    return {job.id[2]: job.file for job in here.snapshot.index if job.id[0] == name}


def _kinds_of_objects(_: _At) -> Names:
    """What a job may render to, besides what plugins add."""
    companions = [kind for (group, kind), of in KINDS.items() if of.is_rendered and group != "trainform.dev"]
    return {"JobSet": "the job", **dict.fromkeys(companions, "beside the job")}


def _ancestors(_: _At) -> Names:
    return dict.fromkeys(STEP_CONTAINERS, "step of the training")


def _labels(_: _At) -> Names:
    return LABELS


def _annotations(_: _At) -> Names:
    return ANNOTATIONS


_VALUE_NAMES: dict[tuple[str, ...], Source] = {
    ("replicatedJobs", ANY, "name"): _steps,
    ("dependsOn", ANY, "name"): _steps,
    ("targetReplicatedJobs", ANY): _steps,
    ("containers", ANY, "name"): _containers,
    ("initContainers", ANY, "name"): _containers,
    ("env", ANY, "name"): _variables,
    ("labels", STEP_LABEL): _ancestors,
    ("nodeSelector", ANY): _values_of_label,
    ("nodeSelectorTerms", ANY, "matchExpressions", ANY, "key"): _node_labels,
    ("nodeSelectorTerms", ANY, "matchExpressions", ANY, "values", ANY): _values_of_expression,
    ("preference", "matchExpressions", ANY, "key"): _node_labels,
    ("preference", "matchExpressions", ANY, "values", ANY): _values_of_expression,
    ("topologyKey",): _node_labels,
    ("nodeLabel",): _node_labels,
    ("topology", "required"): _levels,
    ("topology", "preferred"): _levels,
    ("slice", "required"): _levels,
    ("coveredResources", ANY): _resources,
    ("target", "kind"): _kinds_of_objects,
    ("target", "name"): _jobs,
    ("metadata", "name"): _environment,
}
_KEY_NAMES: dict[tuple[str, ...], Source] = {
    ("limits",): _resources,
    ("requests",): _resources,
    ("hard",): _resources,
    ("allocatable",): _resources,
    ("prices", "resources"): _resources,
    ("prices", "flavors"): _flavors,
    ("prices", "flavors", ANY): _resources,
    ("nodeSelector",): _node_labels,
    ("nodeLabels",): _node_labels,
    ("kueue", "steps"): _steps,
    ("labels",): _labels,
    ("annotations",): _annotations,
}

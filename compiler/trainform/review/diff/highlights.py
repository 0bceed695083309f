"""What a reviewer must see of a job, whatever is folded: the values of `highlight_fields` that are new or changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from trainform.core.jobset_view import JobSetView
from trainform.k8s.tree import Tree, name_of, text, value_at
from trainform.review.diff.highlight_fields import (
    CONTAINER_FIELDS,
    OBJECT_FIELDS,
    POD_FIELDS,
    TEMPLATE_FIELDS,
    Field,
)


class Highlight(NamedTuple):
    """One value that a reviewer must see. `place` is the part of `object` (`node`, `launcher/sidecar`), `path` the
    field with names for indexes, `entry` the entry if it is a list. `before` is None if the job or the value is new,
    `after` if the value is gone. `privilege`: the job gets rights with it that training rarely needs."""

    object: str
    place: str
    path: str
    label: str
    entry: str
    why: str
    privilege: bool
    before: Any
    after: Any

    def to_json(self) -> dict[str, Any]:
        names = ("object", "path", "label", "before", "after", "privilege")
        return {name: getattr(self, name) for name in names}


class _Found(NamedTuple):
    field: Field
    object: str
    place: str
    path: str
    entry: str
    value: Any


def highlights(before: Iterable[Tree], after: Iterable[Tree], shown: Callable[[Tree], str]) -> tuple[Highlight, ...]:
    """What a reviewer must see of a job, privileges first: of a new one, which has no objects `before`, every value
    that matters; of another, what changed. `shown` gives an object's name for people."""
    old, new = _values(before, shown), _values(after, shown)
    changed = (key for key in old | new if _value(old, key) != _value(new, key))
    told = (key for key in changed if old or new[key].field.matters(new[key].value))
    found = [_highlight(new.get(key) or old[key], _value(old, key), _value(new, key)) for key in told]
    return tuple(sorted(found, key=lambda each: not each.privilege))


def _highlight(found: _Found, before: Any, after: Any) -> Highlight:
    """A privilege is one that is given now, or a restriction that is gone."""
    thing, place, path, entry = found[1:5]
    field = found.field
    rises = field.matters(after) if after is not None else not field.matters(before)
    return Highlight(thing, place, path, field.label, entry, field.why, field.privilege and rises, before, after)


def _value(values: Mapping[Any, _Found], key: Any) -> Any:
    return values[key].value if key in values else None


def _values(trees: Iterable[Tree], shown: Callable[[Tree], str]) -> dict[tuple[str, str, str], _Found]:
    """Everything that counts in some objects, by object, path and label."""
    return {
        (f"{text(tree, 'kind')}/{name_of(tree)}", each.path, each.field.label): each
        for tree in trees
        for place, path, owner, fields in _owners(tree)
        for each in _read(shown(tree), place, path, owner, fields)
    }


_Owner = tuple[str, str, Tree, tuple[Field, ...]]
"""Place, path, tree and fields of a pod spec, a container or an object."""


def _owners(tree: Tree) -> Iterator[_Owner]:
    if text(tree, "kind") != "JobSet":
        yield name_of(tree), "", tree, OBJECT_FIELDS.get(text(tree, "kind"), ())
        return
    for job in JobSetView.of(tree).jobs:
        template = f"spec.replicatedJobs[{job.name}].template.spec.template"
        path = f"{template}.spec"
        yield job.name, template, job.pod, TEMPLATE_FIELDS
        yield job.name, path, job.pod_spec, POD_FIELDS
        for kind, containers in (("initContainers", job.init_containers), ("containers", job.containers)):
            for container in containers:
                name = text(container, "name")
                place = name if name == job.name else f"{job.name}/{name}"
                yield place, f"{path}.{kind}[{name}]", container, CONTAINER_FIELDS


def _read(thing: str, place: str, path: str, owner: Tree, fields: Iterable[Field]) -> Iterator[_Found]:
    for field in fields:
        value = value_at(owner, tuple(field.path.split(".")))
        for name, entry in field.entries(value).items() if value is not None else ():
            if entry is not None and entry not in (field.default, "", [], {}):
                where = f"{path}.{field.path}".lstrip(".") + (f"[{name}]" if name else "")
                yield _Found(field, thing, place, where, name, entry)

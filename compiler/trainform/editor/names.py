"""What each file declares and what it names, with the place of each: little enough to keep for all files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainform.editor.links import LEVEL, Thing, kind_of_root, links_in, name_node, provided_by
from trainform.editor.outline import outline
from trainform.editor.outline_node import OutlineNode
from trainform.editor.positions import Span


class WrittenName(NamedTuple):
    """A name in a file, and the object that it means: one of several kinds, where the field does not say which."""

    things: tuple[Thing, ...]
    span: Span

    def means(self, thing: Thing) -> bool:
        """Whether it may mean this object."""
        return any(thing.is_meant(each) for each in self.things)


class FileNames(NamedTuple):
    """The objects that a file declares, and those that it names. `is_ascii`: each column is that of an editor."""

    declared: tuple[WrittenName, ...] = ()
    named: tuple[WrittenName, ...] = ()
    is_ascii: bool = True


def names_of(text: str) -> FileNames:
    """The names in a text, which may be half typed."""
    roots = outline(text)
    named = [WrittenName(link.things, span_of(link.node)) for root in roots for link in links_in(root)]
    return FileNames(tuple(each for root in roots for each in _declared(root)), tuple(named), text.isascii())


def span_of(node: OutlineNode) -> Span:
    """Where the value of an element stands, or its key if it has none."""
    part = node.value if node.shape == "scalar" and node.value else node.name
    return part.span


def _declared(root: OutlineNode) -> Iterator[WrittenName]:
    thing, node = provided_by(root), name_node(root)
    if thing.name and node is not None:
        yield WrittenName((thing,), span_of(node))
    kind = kind_of_root(root)
    if kind == "Environment":
        yield from _listed(root)
    elif kind.startswith("Topology"):
        yield from _levels(root)


def _listed(root: OutlineNode) -> Iterator[WrittenName]:
    """The names of objects that an Environment says are in the cluster."""
    objects = root.at("spec", "cluster", "objects")
    for each in objects.children if objects else ():
        kind, place, names = each.child("kind"), each.child("namespace"), each.child("names")
        for name in names.children if names else ():
            thing = Thing(kind.text if kind else "", place.text if place else None, name.text)
            yield WrittenName((thing,), span_of(name))


def _levels(root: OutlineNode) -> Iterator[WrittenName]:
    """The labels of nodes by which a Topology groups them."""
    levels = root.at("spec", "levels")
    for each in levels.children if levels else ():
        if (label := each.child("nodeLabel")) is not None and label.text:
            yield WrittenName((Thing(LEVEL, "", label.text),), span_of(label))

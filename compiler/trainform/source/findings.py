"""Explains the problems of a document that the builder found flawed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from trainform.diagnostics import Diagnostic, Path, Severity
from trainform.source.build import is_merge, merge_sources, read_key, read_scalar
from trainform.source.nodes import walk
from trainform.source.scalars import KNOWN_TAGS
from trainform.source.syntax import TEMPLATE_HINT

if TYPE_CHECKING:
    from trainform.source.part import Part


def findings(part: Part, root: Node) -> list[Diagnostic]:
    """Problems of a document that parses, in text order; paths count from the document's root."""
    inspector = _Inspector(part)
    for path, node in walk(root):
        inspector.look_at(path, node)
    return inspector.found


class _Inspector:
    def __init__(self, part: Part) -> None:
        self.part = part
        self.found: list[Diagnostic] = []

    def tell(self, code: str, path: Path, node: Node, message: str, hint: str) -> None:
        severity: Severity = "warning" if code in ("TF008", "TF012") else "error"
        self.found.append(Diagnostic(code, severity, message, hint, path=path, at=self.part.position_of(node)))

    def look_at(self, path: Path, node: Node) -> None:
        self._tag(path, node)
        if isinstance(node, ScalarNode):
            self._scalar(path, node)
        elif isinstance(node, MappingNode):
            self._keys(path, node)
            self._merges(path, node)

    def _tag(self, path: Path, node: Node) -> None:
        tag: Any = node.tag
        if isinstance(tag, str) and tag not in KNOWN_TAGS:
            name = tag.replace("tag:yaml.org,2002:", "!!")
            message = f"Kubernetes ignores the tag {name} and reads a plain string, list or mapping"
            hint = "remove the tag, or put it in quotes if it is part of the text"
            self.tell("TF008", path, node, message, hint)

    def _scalar(self, path: Path, node: ScalarNode) -> None:
        try:
            value = read_scalar(node)
        except ValueError:
            name = node.tag.replace("tag:yaml.org,2002:", "!!")
            self.tell("TF007", path, node, f"{node.value!r} is not a valid {name}", "remove the tag")
            return
        if isinstance(value, float) and not math.isfinite(value):
            message = f"{node.value} is not a JSON number, so Kubernetes rejects it"
            self.tell("TF007", path, node, message, f'if you mean a string, write "{node.value}"')

    def _keys(self, path: Path, node: MappingNode) -> None:
        first: dict[str, Node] = {}
        for key, _ in node.value:
            if is_merge(key):
                continue
            name = read_key(key)
            if name is None:
                self._bad_key(path, key)
            elif name in first:
                where = self.part.position_of(first[name])
                message = f'duplicate key "{name}", first defined on line {where.line}'
                again = self.part.source.is_template and where == self.part.position_of(key)
                hint = "write --- between the objects of a loop" if again else "remove one of the two"
                self.tell("TF005", (*path, name), key, message, hint)
            else:
                first[name] = key
                self._changed_key(path, key, name)

    def _bad_key(self, path: Path, key: Node) -> None:
        if isinstance(key, ScalarNode):
            message, hint = f"{key.value or 'null'} cannot be a key", f'write "{key.value}"'
        else:
            kind = "mapping" if isinstance(key, MappingNode) else "list"
            message, hint = f"a {kind} cannot be a key", "if you mean a string, put the key in quotes"
            if "{{" in self.part.source.line(self.part.position_of(key).line):
                hint = TEMPLATE_HINT
        self.tell("TF006", path, key, message, hint)

    def _changed_key(self, path: Path, key: Node, name: str) -> None:
        if name != key.value and isinstance(key, ScalarNode) and not isinstance(key.tag, str):
            message = f'the key {key.value} is read as "{name}"'
            self.tell("TF006", (*path, name), key, message, f'write "{key.value}"')

    def _merges(self, path: Path, node: MappingNode) -> None:
        explicit: list[str] = []
        for key, value in node.value:
            if not is_merge(key):
                explicit.append(read_key(key) or "")
                continue
            sources = merge_sources(value)
            if len(sources) != (len(value.value) if isinstance(value, SequenceNode) else 1):
                self.tell("TF011", path, value, "<< can only merge mappings", "use a mapping or a list of mappings")
            merged = [read_key(name) for source in sources for name, _ in source.value]
            if lost := [name for name in explicit if name in merged]:
                self._late_merge(path, key, lost[0])

    def _late_merge(self, path: Path, key: Node, name: str) -> None:
        message = f'<< comes after "{name}": trainform uses the explicit value, but kubectl uses the merged one'
        self.tell("TF012", path, key, message, "move << to the top of the mapping")

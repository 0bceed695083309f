"""One YAML or JSON value of any kind, from a text that itself stands in a document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from trainform.diagnostics import Diagnostic
from trainform.source.document import Document
from trainform.source.json_text import read_json
from trainform.source.load import Parsed, read_part
from trainform.source.part import Part
from trainform.source.text import decode, split_documents


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """The tree of a text, and its problems; None where there is no tree, which problems then explain.

    `place` knows where in the text the elements of the tree stand.
    """

    tree: Any
    place: Document
    diagnostics: list[Diagnostic]


def load_value(text: str, file: str) -> Value:
    """Reads a text that holds a single YAML document, be it a mapping, a list or a scalar.

    An empty text is null. Never raises for bad input.
    """
    source, problem = decode(text, file)
    whole = Part(source, 0, source.text)
    if problem:
        return _value(Parsed(whole, None, [problem]))
    if source.text.lstrip()[:1] in ("{", "["):
        try:
            return _value(Parsed(whole, read_json(source.text)))
        except ValueError:
            pass  # no JSON: the YAML parser says why, or reads it
    found = [read_part(Part(source, start, part)) for start, part in split_documents(source.text)]
    found = [parsed for parsed in found if parsed.tree is not None or parsed.problems]
    if len(found) > 1:
        return _value(Parsed(found[1].part, None, [_second(found[1].part)]))
    return _value(found[0] if found else Parsed(whole))


def _value(parsed: Parsed) -> Value:
    return Value(parsed.tree, Document({}, parsed.part), list(parsed.problems))


def _second(part: Part) -> Diagnostic:
    at = part.position_at(0)
    return Diagnostic("TF009", "error", "expected one document, but a second one starts here", at=at)

"""One YAML or JSON value of any kind, from a text that itself stands in a document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from yaml.error import YAMLError

from trainform.diagnostics import Diagnostic
from trainform.source.build import Builder
from trainform.source.document import Document
from trainform.source.json_text import read_json
from trainform.source.load import _bad_aliases, _syntax_error, _too_deep
from trainform.source.parser import TooDeep, compose
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
        return _nothing(whole, problem)
    if source.text.lstrip()[:1] in ("{", "["):
        try:
            return Value(read_json(source.text), Document({}, whole), [])
        except ValueError:
            pass  # no JSON: the YAML parser says why, or reads it
    values = [_load(Part(source, start, part)) for start, part in split_documents(source.text)]
    values = [value for value in values if value.tree is not None or value.diagnostics]
    if len(values) > 1:
        return _nothing(values[1].place.part, _second(values[1].place.part))
    return values[0] if values else _nothing(whole)


def _load(part: Part) -> Value:
    """The value of one document: `load` does the same for objects."""
    try:
        root = compose(part.text)
    except (YAMLError, UnicodeError) as error:
        return _nothing(part, _syntax_error(part, error))
    except TooDeep as error:
        return _nothing(part, _too_deep(part, error))
    if root is None:
        return _nothing(part)
    if "*" in part.text and (problem := _bad_aliases(part, root)):
        return _nothing(part, problem)
    builder = Builder()
    value = Value(builder.build(root), Document({}, part), [])
    if builder.flawed:
        from trainform.source.findings import findings

        value.diagnostics.extend(findings(part, root))
    return value


def _nothing(part: Part, *problems: Diagnostic) -> Value:
    return Value(None, Document({}, part), list(problems))


def _second(part: Part) -> Diagnostic:
    at = part.position_at(0)
    return Diagnostic("TF009", "error", "expected one document, but a second one starts here", at=at)

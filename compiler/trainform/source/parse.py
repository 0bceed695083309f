"""Reads a document with the parser: everything that `plain` gives up."""

from __future__ import annotations

from yaml.error import YAMLError

from trainform.diagnostics import Diagnostic
from trainform.source.build import Builder
from trainform.source.document import Parsed
from trainform.source.limits import Expansion
from trainform.source.nodes import expanded
from trainform.source.parser import LimitError, compose
from trainform.source.part import Part


def parse(part: Part, expansion: Expansion) -> Parsed:
    """`load.read_part` for any document."""
    try:
        root = compose(part.text)
        if root is not None and "*" in part.text:
            expansion.left -= expanded(root, expansion.left)
    except (YAMLError, UnicodeError) as error:
        return Parsed(part, None, [_syntax_error(part, error)])
    if root is None:
        return Parsed(part)
    builder = Builder()
    tree = builder.build(root)
    if not builder.flawed:
        return Parsed(part, tree, (), builder.ambiguous)
    from trainform.source.findings import findings

    return Parsed(part, tree, findings(part, root), builder.ambiguous)


def _syntax_error(part: Part, error: YAMLError | UnicodeError) -> Diagnostic:
    from trainform.source.syntax import complaint

    found = error if isinstance(error, LimitError) else complaint(part.text, error)
    at = part.position_at(found.index)
    return Diagnostic(found.code, "error", found.message, found.hint, place=part.source, at=at)

"""One YAML or JSON value from text inside a document."""

from __future__ import annotations

from trainform.diagnostics import Diagnostic
from trainform.source.document import Parsed
from trainform.source.json_text import read_json
from trainform.source.limits import NODES_PER_CHARACTER, Expansion
from trainform.source.load import read_part
from trainform.source.part import Part
from trainform.source.text import decode, split_documents


def load_value(text: str, file: str) -> Parsed:
    """Reads text with a single YAML document: a mapping, list or scalar; empty text is null. Bad input never raises."""
    source, problem = decode(text, file)
    whole = Part(source, 0, source.text)
    if problem:
        return Parsed(whole, None, [problem])
    if source.text.lstrip()[:1] in ("{", "["):
        try:
            return Parsed(whole, read_json(source.text))
        except ValueError:
            pass  # not JSON: the YAML parser reads it or explains why not
    expansion = Expansion(NODES_PER_CHARACTER * len(source.text))
    found = [read_part(Part(source, start, part), expansion) for start, part in split_documents(source.text)]
    found = [parsed for parsed in found if parsed.tree is not None or parsed.diagnostics]
    if len(found) > 1:
        second = found[1].part
        message, at = "expected one document, but a second one starts here", second.position_at(0)
        return Parsed(second, None, [Diagnostic("TF009", "error", message, at=at)])
    return found[0] if found else Parsed(whole)

"""Placeholders that another tool should have filled in: `${NODES}` of envsubst or Flux's postBuild."""

from __future__ import annotations

import re

from trainform.diagnostics import Diagnostic
from trainform.k8s.tree import value_at
from trainform.source.document import Document

_PLACEHOLDER = r"\$\{[A-Za-z_][A-Za-z0-9_]*(?:[:=?+-][^}]*)?\}"


def with_hint(diagnostic: Diagnostic) -> Diagnostic:
    """The error with another hint if its value is a placeholder; else as it is."""
    if diagnostic.severity != "error" or not isinstance(diagnostic.place, Document):
        return diagnostic
    value = value_at(diagnostic.place.tree, diagnostic.path)
    found = re.search(_PLACEHOLDER, value) if isinstance(value, str) else None
    if found is None:
        return diagnostic
    hint = "fill it in before (envsubst), or write a template, .yaml.j2, which gets its values from the Environment"
    return diagnostic._replace(message=f"the placeholder {found[0]} was not filled in", hint=hint)

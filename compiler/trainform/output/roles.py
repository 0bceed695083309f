"""The roles that commands need which read a live cluster, as text."""

from __future__ import annotations

from collections.abc import Sequence

from trainform.k8s.pulled.access import SUBJECT, AccessRule, role_objects
from trainform.output.emitter import emit_stream


def role_text(name: str, rules: Sequence[AccessRule]) -> str:
    """Roles and bindings, for `kubectl apply`."""
    named = f"{SUBJECT['namespace']}/{SUBJECT['name']}"
    head = f"# Change the subject, ServiceAccount {named}, to the one that you log in as.\n"
    return head + emit_stream(role_objects(name, rules))

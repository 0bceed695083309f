"""Reads a KRM function's configuration as an Environment."""

from __future__ import annotations

from typing import Any

from yaml.error import YAMLError

from trainform.api.kinds import ENVIRONMENT_VERSION, subject
from trainform.diagnostics import Diagnostic
from trainform.source import Document
from trainform.source.build import Builder
from trainform.source.limits import MAX_DEPTH, NODES_PER_CHARACTER
from trainform.source.nodes import expanded
from trainform.source.parser import compose


def environment_of(config: Document | None) -> tuple[Document | None, list[Diagnostic]]:
    """The Environment in a `functionConfig`, or the one that a ConfigMap's data describes. A key of such data is a path
    below the Environment's `spec` (`scheduling.kueue.localQueue`); its value is YAML, except that numbers with a point
    are versions."""
    if config is None or subject(config.tree)[0] == "environment":
        return config, []
    if (config.tree.get("apiVersion"), config.tree.get("kind")) != ("v1", "ConfigMap"):
        message = f"the functionConfig is a {config.tree.get('kind')}"
        hint = f"write an Environment ({ENVIRONMENT_VERSION}), or a ConfigMap (v1) with fields of its spec"
        return None, [Diagnostic("TF721", "error", message, hint, ("kind",), config)]
    data = config.tree.get("data") or {}
    if not isinstance(data, dict):
        return None, [Diagnostic("TF102", "error", "must be a mapping", path=("data",), place=config)]
    spec: dict[str, Any] = {}
    problems = [problem for key, value in data.items() for problem in _put(spec, key, value, config)]
    tree = {"apiVersion": ENVIRONMENT_VERSION, "kind": "Environment", "metadata": {"name": "default"}, "spec": spec}
    return Document(tree, config.part, (*config.prefix, "data")), problems


def _put(spec: dict[str, Any], key: str, value: object, config: Document) -> list[Diagnostic]:
    """Set the field `key` of `spec`."""
    *above, last = key.split(".")
    if len(above) > MAX_DEPTH:
        message = f"the key has more than {MAX_DEPTH} parts"
        return [Diagnostic("TF721", "error", message, "write a field of an Environment's spec", ("data",), config)]
    tree = spec
    for part in above:
        tree = tree.setdefault(part, {}) if isinstance(tree, dict) else tree
    if not isinstance(tree, dict) or last in tree:
        message = f"{key} and a key before it set one field"
        return [Diagnostic("TF721", "error", message, "remove one of them", ("data", key), config)]
    try:
        tree[last] = _value(value)
    except YAMLError:
        message = f"{value!r} is no YAML"
        return [Diagnostic("TF721", "error", message, "quote it", ("data", key), config)]
    return []


def _value(text: object) -> Any:
    root = compose(text) if isinstance(text, str) else None
    if root is None:
        return text
    expanded(root, NODES_PER_CHARACTER * len(str(text)))  # refuses too many
    value = Builder().build(root)
    return text if isinstance(value, float) else value

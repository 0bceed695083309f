"""Objects as the API server stores them, with defaults filled in and written as Go writes them.

Go drops zero values of plain fields (`value: ""`, `readOnly: false`), keeps those of pointers (`optional: false`), and
writes canonical quantities; the schemas tell them apart. Results share parts with inputs and each other: do not mutate.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from operator import is_
from typing import Any, NamedTuple

from trainform.k8s.quantity import QuantityError, canonical
from trainform.k8s.schema.definitions import Schema, reference, referenced, resolved
from trainform.k8s.tree import Tree, sequence, value_at

_JOBSET_WEBHOOK: dict[str, Tree] = {
    "JobSetSpec": {
        "successPolicy": {"operator": "All"},
        "startupPolicy": {"startupPolicyOrder": "AnyOrder"},
        "network": {},
    },
    "Network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
    "JobTemplateSpec": {"spec": {}},
    "JobSpec": {"completionMode": "Indexed", "template": {}},
    "PodTemplateSpec": {"spec": {}},
    "PodSpec": {"restartPolicy": "OnFailure"},
    "VolumeClaimPolicy": {"retentionPolicy": {}},
    "ResourceFieldSelector": {"divisor": "0"},
}
"""Defaults set by JobSet's webhook, by type; the empty mappings are structs that Go always writes."""


def admit(manifest: Tree) -> Tree:
    """One of our manifests as stored: a JobSet by `default_jobset`; others only lose empty labels and annotations."""
    return default_jobset(manifest) if manifest.get("kind") == "JobSet" else _without_empty_metadata(manifest)


def default_jobset(jobset: Tree) -> Tree:
    """A JobSet as stored, without status: CRD defaults, JobSet's webhook, Go's serialization. `jobset` must match the
    JobSet schema; unreadable quantities stay as they are."""
    return _named_rules(_apply(_plan("JobSet"), jobset))


def _without_empty_metadata(manifest: Tree) -> Tree:
    metadata = manifest.get("metadata")
    if type(metadata) is not dict:
        return manifest
    empty = [field for field in ("labels", "annotations") if metadata.get(field) == {}]
    kept = {key: value for key, value in metadata.items() if key not in empty}
    return {**manifest, "metadata": kept} if empty else manifest


def _named_rules(jobset: Tree) -> Tree:
    """Names unnamed failure policy rules by their index, as the webhook does."""
    rules = sequence(value_at(jobset, ("spec", "failurePolicy", "rules")))
    if all(type(rule) is not dict or rule.get("name") for rule in rules):  # another shape is reported elsewhere
        return jobset
    named = [_named(rule, f"failurePolicyRule{i}") for i, rule in enumerate(rules)]
    spec = jobset["spec"]
    return {**jobset, "spec": {**spec, "failurePolicy": {**spec["failurePolicy"], "rules": named}}}


def _named(rule: Any, name: str) -> Any:
    return {**rule, "name": rule.get("name") or name} if type(rule) is dict else rule


class _Plan(NamedTuple):
    """How to default a type: rules for present fields, fields dropped when empty or zero, defaults for absent ones."""

    rules: dict[str, Callable[[Any], Any]]
    empties: frozenset[str]
    defaults: tuple[tuple[str, Any], ...]


def _apply(plan: _Plan, tree: Tree) -> Tree:
    """`tree` itself if nothing changes or its type is wrong, else a changed copy."""
    if type(tree) is not dict:
        return tree
    rules, empties, defaults = plan
    result = tree
    for name, value in tree.items():
        if not value and (value is None or name in empties):
            if result is tree:
                result = tree.copy()
            del result[name]
            continue
        rule = rules.get(name)
        if rule is None:
            continue
        new = rule(value)
        if new is not value:
            if result is tree:
                result = tree.copy()
            result[name] = new
    for name, default in defaults:
        if name not in result:
            if result is tree:
                result = tree.copy()
            result[name] = default.copy() if type(default) is dict else default
    return result


def _each(plan: _Plan, items: list[Any]) -> list[Any]:
    if type(items) is not list:
        return items
    result = [_apply(plan, item) for item in items]
    return items if all(map(is_, result, items)) else result


def _quantity(value: Any) -> Any:
    try:
        new = canonical(value)
    except QuantityError:
        return value
    return value if new == value else new


def _quantities(amounts: Tree) -> Tree:
    result = {name: _quantity(value) for name, value in amounts.items()}
    return amounts if all(map(is_, result.values(), amounts.values())) else result


@cache
def _plan(kind: str) -> _Plan:
    schema = resolved(reference(kind))
    properties = schema.get("properties", {})
    required = schema.get("required", ())
    rules = {name: rule for name, field in properties.items() if (rule := _content_rule(field))}
    empties = (name for name, field in properties.items() if _is_left_out(field, name not in required))
    defaults = {name: field["default"] for name, field in properties.items() if "default" in field}
    defaults |= _JOBSET_WEBHOOK.get(kind, {})
    # A default object has defaults of its own.
    filled = ((name, rules[name]({}) if value == {} and name in rules else value) for name, value in defaults.items())
    return _Plan(rules, frozenset(empties), tuple(filled))


def _is_left_out(schema: Schema, optional: bool) -> bool:
    """Whether Go drops an empty field: lists and maps, but not a struct with fields of its own (`emptyDir: {}`)."""
    if schema.get("type") == "array":
        return optional
    return "x-go-omitempty" in schema or (optional and "additionalProperties" in schema)


def _content_rule(schema: Schema) -> Callable[[Any], Any] | None:
    if schema.get("type") == "array":
        plan = _plan_of(schema["items"])
        return partial(_each, plan) if plan else None
    if schema.get("x-go-omitempty"):
        return None
    if referenced(schema) == "Quantity":
        return _quantity
    if referenced(schema.get("additionalProperties") or {}) == "Quantity":
        return _quantities
    plan = _plan_of(schema)
    return partial(_apply, plan) if plan else None


def _plan_of(schema: Schema) -> _Plan | None:
    if not resolved(schema).get("properties"):
        return None
    plan = _plan(referenced(schema))
    # Stored objects have no nulls, so an object without rules and defaults needs no visit.
    return plan if plan.rules or plan.empties or plan.defaults else None

"""Is an object shaped as the API server wants it?

The schemas are those of the CRDs of Trainer, JobSet and the gang schedulers, pod templates included. A field
that they do not know is a problem, because the API server drops it without a word. CEL rules and webhooks are
no part of them. As the API server does, a null counts as an absent field.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from trainform.k8s.schema.keyed_lists import duplicates, keyed_lists, repeats
from trainform.k8s.schema.messages import SchemaProblem, explain
from trainform.k8s.schema.plain_fit import surely_fits
from trainform.k8s.schemas import Schema, reachable, reference, resolved

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

__all__ = ["SchemaProblem", "check", "check_each", "expect_many"]

_by_hand = iter(range(64))
"""One for each tree that is looked at by hand first. To import the validator and to make some takes as long as a
look at a hundred trees, and a look takes some ten times as long as the validator then does."""


def check(kind: str, tree: object) -> list[SchemaProblem]:
    """All problems of `tree` as a `kind`, in the schema's order; none when it is valid.

    `kind` is the API's name of any type that a TrainJob, a runtime or a JobSet is made of ("JobSetSpec",
    "EnvVar", "PodTemplateSpec"), "ConfigMap", "coscheduling PodGroup" or "volcano PodGroup"; another one is a
    KeyError. At most one problem is found per element.
    """
    if next(_by_hand, None) is not None and surely_fits(reference(kind), tree):
        return []
    if _validator(kind).is_valid(tree) and not (isinstance(tree, dict) and repeats(keyed_lists(kind), tree)):
        return []
    return _problems(kind, tree)


def check_each(kind: str, trees: list[object]) -> list[SchemaProblem]:
    """All problems of a list of objects of one kind; paths begin with the place in the list."""
    if next(_by_hand, None) is not None and surely_fits({"type": "array", "items": reference(kind)}, trees):
        return []
    if _validator(kind, many=True).is_valid(trees) and not keyed_lists(kind):
        return []
    return [
        SchemaProblem((index, *problem.path), problem.code, problem.message, problem.hint)
        for index, tree in enumerate(trees)
        for problem in check(kind, tree)
    ]


def expect_many() -> None:
    """From here on, the validator judges every tree: for a process with thousands of them, or that will fork."""
    for _ in _by_hand:
        pass


def _problems(kind: str, tree: object) -> list[SchemaProblem]:
    tree = _without_nulls(reference(kind), tree)
    found = [problem for error in _validator(kind).iter_errors(tree) for problem in explain(error)]
    found += duplicates(keyed_lists(kind), tree, ())
    # A wrong type says it all; an enum of the same element would say it twice.
    found.sort(key=lambda problem: problem.code == "TF104")
    return list({problem.path: problem for problem in reversed(found)}.values())[::-1]


@cache
def _validator(kind: str, *, many: bool = False) -> Draft202012Validator:
    from jsonschema_rs import Draft202012Validator, RegexOptions

    schema = {"items": reference(kind)} if many else reference(kind)
    schema = schema | {"$defs": reachable(kind)}
    return Draft202012Validator(schema, pattern_options=RegexOptions())


def _without_nulls(schema: Schema, tree: Any) -> Any:
    """A copy of `tree` without the nulls that the API server takes for absent fields.

    Nulls in lists and of unknown fields stay, except the `creationTimestamp: null` that kubectl prints.
    """
    schema = resolved(schema)
    if isinstance(tree, list):
        return [_without_nulls(schema.get("items", {}), item) for item in tree]
    if not isinstance(tree, dict):
        return tree
    fields = schema.get("properties", {})
    others = schema.get("additionalProperties") or None
    kept = {}
    for name, value in tree.items():
        known = fields.get(name, others)
        if value is not None or (known is None and name != "creationTimestamp"):
            kept[name] = value if known is None else _without_nulls(known, value)
    return kept

"""Labels and annotations, and what matches labels: label selectors, node affinity, tolerations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from trainform.k8s.tree import Tree, metadata_of, table, tables, text, texts

Labels = Mapping[str, str]

KAI_QUEUE_LABEL = "kai.scheduler/queue"
"""The label by which KAI finds the queue of a job, unless it is configured otherwise."""

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def labels_of(tree: Tree) -> Tree:
    """`metadata.labels` of an object or template, or empty."""
    return table(metadata_of(tree), "labels")


def annotations_of(tree: Tree) -> Tree:
    """`metadata.annotations` of an object or template, or empty."""
    return table(metadata_of(tree), "annotations")


def selector_matches(selector: Tree, labels: Labels) -> bool:
    """Whether a `labelSelector` matches: all labels and expressions must; an empty selector matches everything."""
    wanted = table(selector, "matchLabels")
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    return all(_matches(each, labels) for each in tables(selector, "matchExpressions"))


def selector_keys(selector: Tree) -> set[str]:
    """The label keys that a `labelSelector` uses."""
    expressions = tables(selector, "matchExpressions")
    return {*table(selector, "matchLabels"), *(text(each, "key") for each in expressions)}


def flavor_matches(pod_spec: Tree, labels: Labels, keys: Collection[str]) -> bool:
    """Whether `nodeSelector` and required node affinity allow nodes with these labels, judging by labels in `keys`
    only. Affinity terms are alternatives; a term without any of `keys` matches."""
    wanted = table(pod_spec, "nodeSelector")
    if any(labels.get(key) != value for key, value in wanted.items() if key in keys):
        return False
    terms = [
        [each for each in tables(term, "matchExpressions") if text(each, "key") in keys]
        for term in _affinity_terms(pod_spec)
    ]
    return not terms or any(all(_matches(each, labels) for each in term) for term in terms)


def node_matches(pod_spec: Tree, name: str, labels: Labels) -> bool:
    """Whether `nodeSelector` and required node affinity allow this node. Affinity terms are alternatives; an empty one
    matches no node."""
    wanted = table(pod_spec, "nodeSelector")
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    terms = _affinity_terms(pod_spec)
    return not terms or any(_term_matches(term, name, labels) for term in terms)


def _affinity_terms(pod_spec: Tree) -> list[Tree]:
    affinity = table(table(table(pod_spec, "affinity"), "nodeAffinity"), _REQUIRED)
    return tables(affinity, "nodeSelectorTerms")


def _term_matches(term: Tree, name: str, labels: Labels) -> bool:
    fields, expressions = tables(term, "matchFields"), tables(term, "matchExpressions")
    by_field = all(_matches(each, {"metadata.name": name}) for each in fields)
    return bool(fields or expressions) and by_field and all(_matches(each, labels) for each in expressions)


def untolerated(taints: Iterable[Tree], tolerations: Iterable[Tree]) -> Tree | None:
    """The first taint that these tolerations do not cover; `PreferNoSchedule` never counts."""
    given = list(tolerations)
    for taint in taints:
        hard = text(taint, "effect") in ("NoSchedule", "NoExecute")
        if hard and not any(_tolerates(toleration, taint) for toleration in given):
            return taint
    return None


def _tolerates(toleration: Tree, taint: Tree) -> bool:
    if text(toleration, "effect") not in ("", text(taint, "effect")):
        return False
    if text(toleration, "key") not in ("", text(taint, "key")):
        return False
    return text(toleration, "operator") == "Exists" or text(toleration, "value") == text(taint, "value")


def _matches(expression: Tree, labels: Labels) -> bool:
    return holds(text(expression, "operator"), labels.get(text(expression, "key")), texts(expression, "values"))


def holds(operator: str, value: str | None, values: list[str]) -> bool:
    """Whether a label value (None if absent) meets a requirement; an unknown operator never matches."""
    meets = _OPERATORS.get(operator)
    return meets is not None and meets(value, values)


def _compare(value: str | None, values: list[str], sign: int) -> bool:
    """Gt and Lt compare integers; anything else does not match."""
    try:
        return value is not None and (int(value) - int(values[0])) * sign > 0
    except (ValueError, IndexError):
        return False


_OPERATORS: dict[str, Callable[[str | None, list[str]], bool]] = {
    "In": lambda value, values: value in values,
    "NotIn": lambda value, values: value not in values,
    "Exists": lambda value, values: value is not None,
    "DoesNotExist": lambda value, values: value is None,
    "Gt": lambda value, values: _compare(value, values, 1),
    "Lt": lambda value, values: _compare(value, values, -1),
}
"""NotIn also matches an absent label (None)."""

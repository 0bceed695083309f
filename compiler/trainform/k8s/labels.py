"""Labels and annotations of objects, and what matches them: label selectors, node affinity, tolerations."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from trainform.k8s.tree import Tree, metadata_of, table, tables, text, texts

Labels = Mapping[str, str]

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def labels_of(tree: Tree) -> Tree:
    """`metadata.labels` of an object or of a template; empty where there are none."""
    return table(metadata_of(tree), "labels")


def annotations_of(tree: Tree) -> Tree:
    """`metadata.annotations` of an object or of a template; empty where there are none."""
    return table(metadata_of(tree), "annotations")


def selector_matches(selector: Tree, labels: Labels) -> bool:
    """A `labelSelector`: all of its labels and expressions must match; an empty one matches everything."""
    wanted = table(selector, "matchLabels")
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    return all(_matches(each, labels) for each in tables(selector, "matchExpressions"))


def selector_keys(selector: Tree) -> set[str]:
    """The keys of the labels that a `labelSelector` looks at."""
    expressions = tables(selector, "matchExpressions")
    return {*table(selector, "matchLabels"), *(text(each, "key") for each in expressions)}


def node_matches(pod_spec: Tree, labels: Labels, keys: Collection[str]) -> bool:
    """May a pod run on a node with these labels, as far as labels with these keys decide?

    Counts `nodeSelector` and the required node affinity, whose terms are alternatives. A term that says
    nothing about `keys` is met, and with it the whole affinity.
    """
    wanted = table(pod_spec, "nodeSelector")
    if any(labels.get(key) != value for key, value in wanted.items() if key in keys):
        return False
    affinity = table(table(table(pod_spec, "affinity"), "nodeAffinity"), _REQUIRED)
    terms = [
        [each for each in tables(term, "matchExpressions") if text(each, "key") in keys]
        for term in tables(affinity, "nodeSelectorTerms")
    ]
    return not terms or any(all(_matches(each, labels) for each in term) for term in terms)


def untolerated(taints: Iterable[Tree], tolerations: Iterable[Tree]) -> Tree | None:
    """The first taint that keeps a pod with these tolerations away; `PreferNoSchedule` never does."""
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
    """Whether a label with this value, None for an absent one, meets a requirement; no unknown operator does."""
    meets = _OPERATORS.get(operator)
    return meets is not None and meets(value, values)


def _compare(value: str | None, values: list[str], sign: int) -> bool:
    """Gt and Lt: both sides are integers, or nothing matches."""
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
"""An absent label (None) is in no list, and so matches NotIn."""

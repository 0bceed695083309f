"""The API server's rules for labels, annotations and label selectors."""

from __future__ import annotations

from trainform.diagnostics import Path
from trainform.k8s.names import label_value, qualified_name
from trainform.k8s.rules.parts import Found
from trainform.k8s.tree import Tree, sequence, table, tables, text

_ANNOTATION_BYTES = 256 * 1024
_WITH_VALUES = ("In", "NotIn")
_WITHOUT_VALUES = ("Exists", "DoesNotExist")


def check_metadata(metadata: Tree, path: Path, found: Found) -> None:
    """Labels and annotations of an object or template."""
    if labels := table(metadata, "labels"):
        check_labels(labels, (*path, "labels"), "TF533", found)
    if annotations := table(metadata, "annotations"):
        _check_annotations(annotations, (*path, "annotations"), found)


def check_labels(labels: Tree, path: Path, code: str, found: Found) -> None:
    """Keys and values of labels, a `nodeSelector` or `matchLabels`."""
    for key, value in labels.items():
        if reason := qualified_name(key):
            found.tell((*path, key), code, f'the key "{key}" {reason}')
        if type(value) is str and (reason := label_value(value)):
            hint = "use an annotation for free text" if code == "TF533" else ""
            found.tell((*path, key), code, f'the value "{value}" {reason}', hint)


def check_selector(selector: Tree, path: Path, code: str, found: Found) -> None:
    """A `labelSelector`."""
    check_labels(table(selector, "matchLabels"), (*path, "matchLabels"), code, found)
    for index, expression in enumerate(tables(selector, "matchExpressions")):
        check_expression(expression, (*path, "matchExpressions", index), code, found)


def check_expression(expression: Tree, path: Path, code: str, found: Found) -> None:
    """A `matchExpressions` requirement; the schemas allow `Gt` and `Lt` for nodes only."""
    operator, values = text(expression, "operator"), sequence(expression.get("values"))
    if operator in _WITH_VALUES and not values:
        found.tell((*path, "values"), code, f"operator {operator} needs at least one value")
    if operator in _WITHOUT_VALUES and values:
        message = f"must not be set with operator {operator}"
        found.tell((*path, "values"), code, message, "remove the values, or use operator In or NotIn")
    if operator in ("Gt", "Lt") and not (len(values) == 1 and _is_integer(values[0])):
        found.tell((*path, "values"), code, f"operator {operator} needs exactly one value, an integer in quotes")
    if "key" in expression and (reason := qualified_name(text(expression, "key"))):
        found.tell((*path, "key"), code, reason)


def _is_integer(value: object) -> bool:
    return type(value) is str and value.removeprefix("-").isdecimal()


def _check_annotations(annotations: Tree, path: Path, found: Found) -> None:
    for key in annotations:
        # An annotation's key may have upper-case letters before the slash; a label's may not.
        if reason := qualified_name(key) and qualified_name(key.lower()):
            found.tell((*path, key), "TF533", f'the key "{key}" {reason}')
    size = sum(len(key) + len(value) for key, value in annotations.items() if type(value) is str)
    if size > _ANNOTATION_BYTES // 4 and (size := _bytes(annotations)) > _ANNOTATION_BYTES:
        found.tell(path, "TF533", f"must have at most {_ANNOTATION_BYTES} bytes in total, not {size}")


def _bytes(annotations: Tree) -> int:
    texts = (f"{key}{value}" for key, value in annotations.items() if type(value) is str)
    return sum(len(text.encode(errors="surrogatepass")) for text in texts)

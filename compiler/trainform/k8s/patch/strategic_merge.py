"""Kubernetes' strategic merge patch over plain trees. Results share parts with both inputs: do not mutate.

Maps merge, null removes, and lists merge by entry or are replaced, as `merge_keys` says. Merged lists follow the
patch's order; a base entry precedes the first patched entry that followed it: `extra, shm` merged into `cfg, host`
gives `extra, shm, cfg, host`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from trainform.k8s.patch.merge_keys import PLAIN, POD_TEMPLATE, MergeNode
from trainform.k8s.patch.merge_order import MergeError, entry_key, entry_keys, first_places, in_patch_order
from trainform.k8s.tree import Tree, without

__all__ = ["MergeError", "merge", "replaced_sources", "without_unset"]

_PATCH = "$patch"
_RETAIN_KEYS = "$retainKeys"
_DELETE_FROM = "$deleteFromPrimitiveList"
_SET_ORDER = "$setElementOrder"


def merge(base: Mapping[str, Any], patch: Mapping[str, Any], node: MergeNode = POD_TEMPLATE) -> Tree:
    """`base` with `patch` applied; `node` describes both. Raises MergeError.

    Supports `$patch` (`replace`, `delete`), `$retainKeys`, `$setElementOrder/<list>` and
    `$deleteFromPrimitiveList/<list>`. A patch that names another source of a volume or resource claim replaces the old
    source.
    """
    if _PATCH in patch:
        return _replacement(patch)
    merged = _retained(base, patch) if _RETAIN_KEYS in patch else dict(base)
    directives = []
    for key, value in patch.items():
        if key[:1] == "$":
            directives.append(key)
        elif value is None:
            merged.pop(key, None)
        else:
            merged[key] = _merged(merged.get(key), value, node.fields.get(key, PLAIN), key)
    for directive in directives:
        if directive != _RETAIN_KEYS:
            _direct_list(merged, base, patch, directive, node)
    return merged


def replaced_sources(base: Iterable[Tree], patch: Iterable[Tree]) -> list[str]:
    """Names of pod volumes whose source `patch` replaces with another kind. Kubernetes' merge would keep both sources,
    which the API rejects."""
    held = {volume["name"]: volume.keys() for volume in base}
    changed = [volume for volume in patch if len(volume) > 1 and volume["name"] in held]
    return [volume["name"] for volume in changed if held[volume["name"]] - volume.keys()]


def without_unset(tree: Any) -> Any:
    """The tree as a typed client sends it, without nulls and empty lists, which change nothing. Shares unchanged
    parts."""
    return without(tree, lambda value: value is None or value == [])


def _merged(base: Any, patch: Any, node: MergeNode, key: str | int) -> Any:
    try:
        if isinstance(patch, dict) and isinstance(base, dict):
            return merge(base, patch, node)
        if isinstance(patch, list) and isinstance(base, list) and node.merges:
            return _merge_lists(base, patch, node)
    except MergeError as error:
        raise error.under(key) from None
    return _stated(patch, key)


def _stated(value: Any, key: str | int) -> Any:
    """The patch's value for a field absent in the base, without nulls and directives."""
    if isinstance(value, list):
        return _shared(value, [_stated(v, i) for i, v in enumerate(value) if not _is_directed(v)])
    if not isinstance(value, dict):
        return value
    try:
        # Kubernetes drops the content of `$patch: replace` in an absent field; we keep it.
        if _PATCH in value:
            return _replacement(value)
        return _shared(value, _content(value))
    except MergeError as error:
        raise error.under(key) from None


def _content(patch: Mapping[str, Any]) -> Tree:
    """What a patch says beside its directives, which have nothing to act on where it replaces or adds a part."""
    return {key: _stated(value, key) for key, value in patch.items() if value is not None and key[:1] != "$"}


def _shared(old: Any, new: Any) -> Any:
    """`old` if `new` is a copy of it with identical parts, else `new`."""
    if len(old) != len(new):
        return new
    keys = old if isinstance(old, dict) else range(len(old))
    return old if all(old[key] is new[key] for key in keys) else new


def _merge_lists(base: list[Any], patch: list[Any], node: MergeNode) -> list[Any]:
    if not node.merge_key:
        patched, held = entry_keys(patch, ""), entry_keys(base, "")
        both = list(dict.fromkeys([*held, *patched]))
        return in_patch_order(both, both, patched, held)
    base, patch = _direct_entries(base, patch, node.merge_key)
    patched, held = entry_keys(patch, node.merge_key), entry_keys(base, node.merge_key)
    merged = _merge_entries(base, held, patch, patched, node)
    if node.keeps_order:
        return merged
    return in_patch_order(merged, [entry[node.merge_key] for entry in merged], patched, held)


def _merge_entries(
    base: list[Tree], held: list[Hashable], patch: list[Tree], patched: list[Hashable], node: MergeNode
) -> list[Tree]:
    merged = list(base)
    place = first_places(held)
    for index, (key, entry) in enumerate(zip(patched, patch, strict=True)):
        at = place.setdefault(key, len(merged))
        if at == len(merged):
            merged.append(_stated(entry, index))
        else:
            old = _of_same_source(merged[at], entry, node.merge_key) if node.one_of else merged[at]
            merged[at] = _merged(old, entry, node, index)
    return merged


def _of_same_source(base: Tree, patch: Tree, merge_key: str) -> Tree:
    """The base entry, without its source if the patch sets another kind."""
    sources = [key for key, value in patch.items() if value is not None and key != merge_key]
    if not sources:
        return base
    return {key: value for key, value in base.items() if key == merge_key or key in sources}


def _is_directed(entry: Any) -> bool:
    return isinstance(entry, dict) and _PATCH in entry


def _replacement(patch: Mapping[str, Any]) -> Tree:
    if patch[_PATCH] == "delete":
        return {}
    if patch[_PATCH] == "replace":
        return _content(patch)
    raise MergeError("must be `replace` or `delete`", (_PATCH,))


def _direct_entries(base: list[Any], patch: list[Any], merge_key: str) -> tuple[list[Any], list[Any]]:
    """Both lists after `$patch` entries: `delete` removes a base entry, `replace` all of them."""
    if not any(map(_is_directed, patch)):
        return base, patch
    deleted: list[Hashable] = []
    for index, entry in enumerate(patch):
        directive = entry[_PATCH] if _is_directed(entry) else None
        if directive == "replace":
            base = []
        elif directive == "delete":
            deleted.append(entry_key(entry, index, merge_key))
        elif directive is not None:
            raise MergeError("must be `replace` or `delete`", (index, _PATCH))
    kept = [entry for entry in base if not (isinstance(entry, dict) and entry.get(merge_key) in deleted)]
    return kept, [entry for entry in patch if not _is_directed(entry)]


def _retained(base: Mapping[str, Any], patch: Mapping[str, Any]) -> Tree:
    kept = patch[_RETAIN_KEYS]
    if not isinstance(kept, list):
        raise MergeError("must be a list of the entries to keep", (_RETAIN_KEYS,))
    for key, value in patch.items():
        if value is not None and key[:1] != "$" and key not in kept:
            raise MergeError(f"must list `{key}`, which the patch sets", (_RETAIN_KEYS,))
    return {key: value for key, value in base.items() if key in kept}


def _direct_list(
    merged: Tree, base: Mapping[str, Any], patch: Mapping[str, Any], directive: str, node: MergeNode
) -> None:
    """Applies `$setElementOrder/<name>` or `$deleteFromPrimitiveList/<name>` to the merged list."""
    kind, _, name = directive.partition("/")
    listed, entries = patch[directive], merged.get(name)
    if kind not in (_SET_ORDER, _DELETE_FROM) or not isinstance(listed, list):
        raise MergeError("is not a directive of a strategic merge patch, or not a list", (directive,))
    if not isinstance(entries, list):
        return
    if kind == _DELETE_FROM:
        merged[name] = [entry for entry in entries if entry not in listed]
        return
    field = node.fields.get(name, PLAIN)
    try:
        wanted, held = entry_keys(listed, field.merge_key), entry_keys(base.get(name) or [], field.merge_key)
        _check_order([entry for entry in patch.get(name) or [] if not _is_directed(entry)], wanted, field)
    except MergeError as error:
        raise error.under(directive) from None
    merged[name] = in_patch_order(entries, entry_keys(entries, field.merge_key), wanted, held)


def _check_order(patch: list[Any], wanted: list[Hashable], field: MergeNode) -> None:
    rest = iter(wanted)
    for index, key in enumerate(entry_keys(patch, field.merge_key)):
        if key not in rest:
            raise MergeError(f"must list `{key}` in the order of the patch", (index,))

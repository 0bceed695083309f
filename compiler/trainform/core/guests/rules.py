"""Holds third-party plugins to the rules of the plugin API: what they raise, return and edit."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable
from math import isfinite
from typing import TYPE_CHECKING, Any

from trainform.core.guests.originals import first_difference, undo
from trainform.core.plugin import Plugin, PluginFailure, failed
from trainform.diagnostics import dotted
from trainform.k8s.cluster_wide import is_cluster_wide
from trainform.k8s.names import dns1123_subdomain
from trainform.k8s.tree import Tree, metadata_of, name_of, object_name, text

if TYPE_CHECKING:
    from trainform.core.plan import Plan

    Act = Callable[[Plan], Any]

EDITED, RETURNED, NAMED, COLLIDES = "TF902", "TF903", "TF904", "TF905"

_OWN = "edit plan.metadata, plan.spec, plan.pod_sets and plan.trainer instead: they are the job's own"
_SYNCED = ("pre_build_sync", "build")
"""Where plugin `jobset` may have synced the pod sets already."""
PLAIN = "use only dict, list, str, int, float, bool and None"


def guest_act(plugin: Plugin, stage: str) -> Act:
    """An extension point of a third-party plugin, which raises PluginFailure for whatever breaks the rules."""
    method: Act = getattr(plugin, stage)

    def act(plan: Plan) -> Any:
        before = pickle.dumps(plan.objects) if stage == "check" else b""
        asked = _asked(plan) if stage in _SYNCED else []
        try:
            result = method(plan)
            if stage == "build" and isinstance(result, Iterable) and not isinstance(result, dict | str | bytes):
                result = [*result]
        except (Exception, SystemExit, GeneratorExit) as error:
            raise failed(plugin.name, stage, error) from error
        if stage in _SYNCED and _asked(plan) != asked:
            for pods in plan.pod_sets:
                pods.sync()
        if plan.watched and (edits := undo(plan.watched)):
            message = f"plugin {plugin.name} edited {edits[0]} in {stage}, which would change other jobs"
            raise PluginFailure(message, plugin.name, EDITED, _OWN)
        if before and before != pickle.dumps(plan.objects):
            raise _edited_objects(plugin, pickle.loads(before), plan.objects)
        if stage == "build":
            return _objects(plugin, plan, result)
        return _answer(plugin, result) if stage == "applies" else _nothing(plugin, stage, result)

    return act


def _asked(plan: Plan) -> list[Any]:
    """What verbs of plan and pod sets asked for so far, and `PodSet.sync` writes to the pod templates."""
    return [(pods.count, {**pods.labels}, {**pods.annotations}) for pods in plan.pod_sets]


def _edited_objects(plugin: Plugin, before: list[Tree], after: list[Tree]) -> PluginFailure:
    difference = first_difference(before, after)
    if len(before) == len(after) and difference:
        where = f"{object_name(before[int(difference[0])])} at {dotted(difference[1:])}"
    else:
        where = "the list of finished objects"
    message = f"plugin {plugin.name} edited {where} in check, after they were checked"
    return PluginFailure(message, plugin.name, EDITED, "edit in an earlier extension point; check only reports")


def _nothing(plugin: Plugin, stage: str, result: Any) -> None:
    if result is not None and result not in ((), []):
        returned = type(result).__name__
        message = f"plugin {plugin.name} returned a value of type {returned} from {stage}, which returns nothing"
        raise PluginFailure(message, plugin.name, RETURNED, "return objects from build")


def _answer(plugin: Plugin, result: Any) -> bool:
    if not isinstance(result, bool):
        message = f"plugin {plugin.name} returned {result!r} from applies, not True or False"
        raise PluginFailure(message, plugin.name, RETURNED, "return True if the plugin acts for this job")
    return result


def _objects(plugin: Plugin, plan: Plan, result: Any) -> list[Tree]:
    if not isinstance(result, list):
        returned = "None" if result is None else f"a value of type {type(result).__name__}"
        message = f"plugin {plugin.name} returned {returned} from build, not a list of objects"
        raise PluginFailure(message, plugin.name, RETURNED, "return a list of objects, or [] for none")
    objects: list[Tree] = []
    for given in result:
        tree = _own_object(plugin, plan, given)
        if not _collides(plugin, plan, tree, objects):
            objects.append(tree)
    return objects


def _own_object(plugin: Plugin, plan: Plan, given: Any) -> Tree:
    """A copy of an object for this job, in its namespace if it names none. An explicit `namespace: None` says that the
    object has none; that is known of Kubernetes' own kinds."""
    try:
        tree = plain(given)
    except (TypeError, RecursionError):
        tree = None
    if not isinstance(tree, dict):
        raise _unusable(plugin, f"something that is no plain tree: {PLAIN}")
    metadata = dict(metadata_of(tree))
    missing = [key for key in ("apiVersion", "kind") if not text(tree, key)]
    if missing or not text(metadata, "name"):
        raise _unusable(plugin, f"an object without {' and '.join(missing) or 'metadata.name'}")
    if problem := dns1123_subdomain(metadata["name"].replace(":", "-")):
        raise _unusable(plugin, f"{object_name(tree)}, whose name {problem}")
    if is_cluster_wide(tree) or ("namespace" in metadata and metadata["namespace"] is None):
        metadata.pop("namespace", None)
    else:
        metadata.setdefault("namespace", plan.namespace)
    if plan.stable_name not in metadata["name"]:
        message = f"plugin {plugin.name} adds {object_name(tree)}, which is not named after the job"
        hint = f"every job would add the same object: put plan.name into its name, as in {plan.name}-{metadata['name']}"
        raise PluginFailure(message, plugin.name, NAMED, hint)
    return {**tree, "metadata": metadata}


def _unusable(plugin: Plugin, what: str) -> PluginFailure:
    return PluginFailure(f"plugin {plugin.name} returned {what}", plugin.name, RETURNED, "see plan.new_object")


def _collides(plugin: Plugin, plan: Plan, tree: Tree, own: Iterable[Tree]) -> bool:
    """Whether the job has an object of this group, kind, namespace and name already, which is reported."""
    name = name_of(tree)
    namesakes = (each for each in (*plan.objects, *own) if name_of(each) == name)
    other = next((each for each in namesakes if _identity(each) == _identity(tree)), None)
    if other is None:
        return False
    first, shown = plan.builders.get(id(other), ""), object_name(tree)
    if first:
        message = f"plugins {first} and {plugin.name} both add {shown}"
    else:
        message = f"plugin {plugin.name} adds {shown}, which the job has already"
    hint = "an engine would apply one over the other: rename one, or disable a plugin in trainform.yaml"
    plan.report(COLLIDES, message, hint=hint, path=("metadata", "name"))
    return True


def _identity(tree: Tree) -> tuple[str, ...]:
    group = text(tree, "apiVersion").rpartition("/")[0]
    return group, text(tree, "kind"), text(metadata_of(tree), "namespace"), name_of(tree)


def plain(value: Any) -> Any:
    """A copy of a tree of plain values. Raises TypeError for other values, such as dates, sets, tuples and endless
    numbers, and RecursionError for a tree that contains itself."""
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [plain(each) for each in value]
    if value is None or type(value) in _SCALARS or (type(value) is float and isfinite(value)):
        return value
    raise TypeError(type(value).__name__)


_SCALARS = (str, int, bool)

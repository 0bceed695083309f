"""Which lists merge, and by which key: `patchStrategy` and `patchMergeKey` tags of core/v1, batch/v1, meta/v1 and
JobSet v1alpha2. Untagged lists (tolerations, command, args, envFrom, policy rules) are replaced; maps always merge."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

_NOTHING: Mapping[str, MergeNode] = MappingProxyType({})


class MergeNode(NamedTuple):
    """How a field merges.

    `fields` describe the map, or each list entry. A list with `merges` merges by `merge_key`, or by the entries
    themselves if that is empty. `one_of`: entries have one field besides the merge key (a volume's source), and a patch
    replaces it (`retainKeys`). `keeps_order`: entries keep their position; new ones are appended.
    """

    fields: Mapping[str, MergeNode] = _NOTHING
    merges: bool = False
    merge_key: str = ""
    one_of: bool = False
    keeps_order: bool = False


PLAIN = MergeNode()
"""A field without known tags: maps merge, lists are replaced."""


def _by(merge_key: str, **fields: MergeNode) -> MergeNode:
    return MergeNode(fields, merges=True, merge_key=merge_key)


def _one_of(merge_key: str, **fields: MergeNode) -> MergeNode:
    return MergeNode(fields, merges=True, merge_key=merge_key, one_of=True)


def _map(**fields: MergeNode) -> MergeNode:
    return MergeNode(fields)


METADATA = _map(finalizers=MergeNode(merges=True), ownerReferences=_by("uid"))

OBJECT = _map(metadata=METADATA)
"""Any object; only its metadata is known."""

_CONTAINERS = _by(
    "name",
    env=_by("name"),
    ports=_by("containerPort"),
    volumeMounts=_by("mountPath"),
    volumeDevices=_by("devicePath"),
)

_VOLUMES = _one_of("name", ephemeral=_map(volumeClaimTemplate=OBJECT))

POD_SPEC = _map(
    containers=_CONTAINERS,
    initContainers=_CONTAINERS,
    ephemeralContainers=_CONTAINERS,
    volumes=_VOLUMES,
    resourceClaims=_one_of("name"),
    imagePullSecrets=_by("name"),
    schedulingGates=_by("name"),
    hostAliases=_by("ip"),
    topologySpreadConstraints=_by("topologyKey"),
)

POD_TEMPLATE = _map(metadata=METADATA, spec=POD_SPEC)

JOB_TEMPLATE = _map(metadata=METADATA, spec=_map(template=POD_TEMPLATE))

# JobSet starts replicated jobs in list order, and each may depend only on earlier ones.
_REPLICATED_JOBS = MergeNode(
    {"template": JOB_TEMPLATE, "dependsOn": _by("name")}, merges=True, merge_key="name", keeps_order=True
)

JOB_SET = _map(metadata=METADATA, spec=_map(replicatedJobs=_REPLICATED_JOBS))
"""A whole JobSet, or the JobSet template of a runtime."""

"""Which lists of an object merge, and by what: the `patchStrategy` and `patchMergeKey` tags of the API types.

The tags are those of core/v1, batch/v1, meta/v1 and JobSet's v1alpha2. A list without a tag is
replaced whole (tolerations, command, args, envFrom, rules of policies); a map always merges.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

_NOTHING: Mapping[str, MergeNode] = MappingProxyType({})


class MergeNode(NamedTuple):
    """How one field merges, and what is known of the fields below it.

    `fields` are those of the map, or of each entry of the list. A list with `merges` merges by the field `merge_key` of
    its entries, or if that is empty by the entries themselves. `one_of`: entries have one field besides the merge key
    (the source of a volume), and a patch with another one replaces it (`retainKeys` in the tags). `keeps_order`:
    entries stay where they are, and new ones are appended.
    """

    fields: Mapping[str, MergeNode] = _NOTHING
    merges: bool = False
    merge_key: str = ""
    one_of: bool = False
    keeps_order: bool = False


PLAIN = MergeNode()
"""A field of which nothing is known: maps merge, lists are replaced."""


def _by(merge_key: str, **fields: MergeNode) -> MergeNode:
    return MergeNode(fields, merges=True, merge_key=merge_key)


def _one_of(merge_key: str, **fields: MergeNode) -> MergeNode:
    return MergeNode(fields, merges=True, merge_key=merge_key, one_of=True)


def _map(**fields: MergeNode) -> MergeNode:
    return MergeNode(fields)


METADATA = _map(finalizers=MergeNode(merges=True), ownerReferences=_by("uid"))

OBJECT = _map(metadata=METADATA)
"""Any object of which no more than its metadata is known."""

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

# JobSet starts replicated jobs in the order of the list and lets each depend on earlier ones only.
_REPLICATED_JOBS = MergeNode(
    {"template": JOB_TEMPLATE, "dependsOn": _by("name")}, merges=True, merge_key="name", keeps_order=True
)

JOB_SET = _map(metadata=METADATA, spec=_map(replicatedJobs=_REPLICATED_JOBS))
"""A whole JobSet, or the JobSet template of a runtime."""

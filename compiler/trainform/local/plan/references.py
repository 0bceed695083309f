"""What ConfigMaps, Secrets and a pod's own fields say: the sources of variables and of files."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from trainform.k8s.labels import annotations_of, labels_of
from trainform.k8s.quantity import NANO, QuantityError, parse
from trainform.k8s.tree import Tree, name_of, table, text


class NotHere(Exception):
    """Something that a pod needs and a local run cannot provide. `code` is a diagnostic's, `hint` what to do."""

    def __init__(self, code: str, message: str, hint: str) -> None:
        super().__init__(message)
        self.code, self.hint = code, hint


Values = Mapping[str, bytes]
"""The keys of a ConfigMap or a Secret."""


@dataclass(frozen=True, slots=True)
class JobValues:
    """The ConfigMaps and Secrets of a job, by name; `sealed` are Secrets whose values are encrypted."""

    config_maps: Mapping[str, Values]
    secrets: Mapping[str, Values] = field(repr=False)
    sealed: frozenset[str] = frozenset()

    @classmethod
    def of(cls, objects: Iterable[Tree], throwaway: Mapping[str, Values]) -> JobValues:
        """Those among the rendered `objects`. `throwaway`: key Secrets made for this run, which replace others."""
        maps: dict[str, Values] = {}
        secrets: dict[str, Values] = {}
        sealed = set()
        for tree in objects:
            kind, name = text(tree, "kind"), name_of(tree)
            if kind == "ConfigMap":
                maps[name] = _values(tree, "data", "binaryData")
            elif kind == "Secret" and "sops" not in tree:
                secrets[name] = _values(tree, "stringData", "data")
            elif kind in ("Secret", "SealedSecret", "ExternalSecret"):
                sealed.add(name)
        return cls(maps, {**secrets, **throwaway}, frozenset(sealed - throwaway.keys()))

    def config_map(self, name: str, *, optional: bool = False) -> Values | None:
        """Raises NotHere for one that is not rendered and not `optional`."""
        if (found := self.config_maps.get(name)) is not None or optional:
            return found
        hint = "add it to the job's file or folder"
        raise NotHere("TF891", f'ConfigMap "{name}" is not among the rendered objects', hint)

    def secret(self, name: str, *, optional: bool = False) -> Values | None:
        """Raises NotHere for one without values here that is not `optional`."""
        if (found := self.secrets.get(name)) is not None or optional:
            return found
        why = "is encrypted" if name in self.sealed else "is not among the rendered objects"
        hint = "give its values to the run: --secret NAME=FOLDER reads a file for each key"
        raise NotHere("TF892", f'Secret "{name}" {why}, and only the cluster knows its values', hint)


def _values(tree: Tree, plain: str, encoded: str) -> dict[str, bytes]:
    found = {key: b64decode(str(value)) for key, value in table(tree, encoded).items()}
    return found | {key: str(value).encode() for key, value in table(tree, plain).items()}


def key_of(values: Values | None, owner: str, key: str, *, optional: bool) -> bytes | None:
    """One value. Raises NotHere if it is missing and not `optional`."""
    if values is not None and key in values:
        return values[key]
    if optional:
        return None
    raise NotHere("TF891", f'{owner} has no key "{key}"', f"its keys are {', '.join(sorted(values or ())) or 'none'}")


class Machine(NamedTuple):
    """What this machine has, which limits that are not set default to."""

    cpus: int
    memory: int


@dataclass(frozen=True, slots=True)
class PodFields:
    """A pod as its own containers can see it: `metadata` and `spec` are the pod's, with what controllers add."""

    metadata: Tree
    spec: Tree
    address: str
    machine: Machine

    def value(self, path: str) -> str:
        """What `fieldRef` with this path gives. Raises NotHere for another field than the kubelet allows."""
        head, _, rest = path.partition("[")
        key = rest.removesuffix("]").strip("'\"")
        marks = {"metadata.labels": labels_of, "metadata.annotations": annotations_of}
        if head in marks:
            found = marks[head]({"metadata": self.metadata})
            return str(found.get(key, "")) if rest else _listed(found)
        if path in (simple := self._simple()):
            return simple[path]
        raise NotHere("TF891", f'a pod has no field "{path}" for its containers', f"fields: {', '.join(simple)}")

    def _simple(self) -> dict[str, str]:
        return {
            "metadata.name": text(self.metadata, "name"),
            "metadata.namespace": text(self.metadata, "namespace"),
            "metadata.uid": text(self.metadata, "uid"),
            "spec.nodeName": "localhost",
            "spec.serviceAccountName": text(self.spec, "serviceAccountName") or "default",
            "status.hostIP": self.address,
            "status.hostIPs": self.address,
            "status.podIP": self.address,
            "status.podIPs": self.address,
        }

    def resource(self, container: Tree, reference: Tree) -> str:
        """What `resourceFieldRef` gives in a container: the amount by the divisor, rounded up."""
        amounts, _, resource = text(reference, "resource").partition(".")
        resources = table(container, "resources")
        asked = table(resources, amounts).get(resource, table(resources, "limits").get(resource))
        if asked is None:
            asked = {"cpu": self.machine.cpus, "memory": self.machine.memory}.get(resource, 0)
        try:
            amount, divisor = parse(asked).nano, parse(reference.get("divisor") or 0).nano or NANO
        except QuantityError as error:
            raise NotHere("TF891", f"{resource}: {error}", "write a quantity such as 500m or 4Gi") from error
        return str(-(-amount // divisor))


def _listed(marks: Tree) -> str:
    """Labels or annotations as the kubelet writes them to a file."""
    return "\n".join(f'{key}="{_escaped(str(value))}"' for key, value in sorted(marks.items()))


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")

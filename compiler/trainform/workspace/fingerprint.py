"""What a job is pinned to, and whether that is what it would be rendered from today.

A job whose own TrainJob did not change is frozen: it stays byte for byte as it is, whatever became of its
runtime, its Environment or the compiler. It is then behind.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from trainform.core.inputs import key_of
from trainform.output.emitter import emit_stream
from trainform.workspace.lockfile import Lock, Pins, RuntimePin

if TYPE_CHECKING:
    from trainform.core.catalogue import Catalogue
    from trainform.core.compile import CompiledJob
    from trainform.core.inputs import Input, Inputs
    from trainform.source import Document


class Cause(NamedTuple):
    """Why a job is behind; `what` is empty for the compiler."""

    kind: str
    what: str
    message: str


class Snapshot(NamedTuple):
    """Documents as they were, kept in `.trainform/snapshots/<digest>.yaml` while a lock names them."""

    digest: str
    trees: tuple[dict[str, Any], ...]

    @classmethod
    def of(cls, trees: Sequence[dict[str, Any]]) -> Snapshot:
        return cls(digest_of(trees), tuple(trees))

    @property
    def text(self) -> bytes:
        return emit_stream(self.trees).encode()


def digest_of(trees: Sequence[dict[str, Any]]) -> str:
    """SHA-256, in hex, of the canonical JSON of some trees."""
    return digest_of_file(_canonical(trees).encode(errors="surrogatepass"))


_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode


def digest_of_file(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


NOTHING = digest_of([])
"""The digest of no document: there is no snapshot of it."""


def digests_of_files(files: Mapping[str, bytes]) -> dict[str, str]:
    return {name: digest_of_file(data) for name, data in files.items()}


@dataclass(slots=True)
class CurrentInputs:
    """Everything that jobs of one Environment would be rendered from today."""

    compiler: str
    plugins: Mapping[str, str]
    plugin_code: Mapping[str, str]
    inputs: Inputs
    catalogue: Catalogue
    environment: Snapshot = field(init=False)
    _runtimes: dict[tuple[str, str, str], Snapshot | None] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.environment = Snapshot.of(_with_facts(self.inputs))

    def runtime(self, kind: str, namespace: str, name: str) -> Snapshot | None:
        """The runtime of that name with its companions; None when there is none any more."""
        key = (kind, namespace, name)
        if key not in self._runtimes:
            shipped = None if namespace else self.catalogue.get(name)
            found = self.inputs.runtimes.get(key) or shipped
            self._runtimes[key] = _snapshot(found) if found else None
        return self._runtimes[key]

    def snapshots(self) -> list[Snapshot]:
        """Of the Environment, and of the runtimes that were asked for so far."""
        return [self.environment, *filter(None, self._runtimes.values())]

    def pins(self, job: CompiledJob) -> Pins:
        """What a job that was just compiled is pinned to. It has a runtime, or it would not be compiled."""
        assert job.runtime is not None
        key = job.runtime.key
        runtime = self.runtime(*key) or _snapshot(job.runtime)
        needs = [need for need in job.secrets if need.id in self.inputs.keys]
        keys = {need.name: digest_of([self.inputs.keys[need.id]]) for need in needs}
        pin = RuntimePin(*key, runtime.digest)
        return Pins(self.compiler, pin, self.environment.digest, self.plugins, keys, self.plugin_code)

    def causes(self, pins: Pins, namespace: str) -> list[Cause]:
        """Why a job of `namespace` with these pins is behind; empty when it is not."""
        found: list[Cause | None] = [_runtime_cause(pins.runtime, self.runtime(*pins.runtime.key))]
        if pins.environment != self.environment.digest:
            name = self._environment_name
            found.append(Cause("environment", name, f"Environment {name} changed"))
        found += [self._key_cause(namespace, *each) for each in sorted(pins.keys.items())]
        if pins.compiler != self.compiler:
            message = f"rendered by trainform {pins.compiler}, but this is {self.compiler}"
            found.append(Cause("compiler", "", message))
        elif pins.plugins != self.plugins:
            found.append(Cause("compiler", "plugins", "third-party plugins changed"))
        elif changed := changed_code(pins, self.plugins, self.plugin_code):
            message = f"the code of {', '.join(changed)} changed without a new version"
            found.append(Cause("compiler", "plugins", message))
        return [cause for cause in found if cause]

    @property
    def _environment_name(self) -> str:
        item = self.inputs.environment
        return str(item.document.tree["metadata"]["name"]) if item else "default"

    def _key_cause(self, namespace: str, name: str, digest: str) -> Cause | None:
        tree = self.inputs.keys.get((namespace, name))
        if tree is not None and digest_of([tree]) == digest:
            return None
        return Cause("key", f"{namespace}/{name}", f"key Secret {namespace}/{name} changed")


def changed_code(pins: Pins, versions: Mapping[str, str], code: Mapping[str, str]) -> list[str]:
    """The packages with plugins of the same version, but not the same code, as a job was rendered with. A lock of an
    earlier version does not say which code that was."""
    same = (package for package, version in pins.plugins.items() if versions.get(package) == version)
    return sorted(package for package in same if pins.plugin_code.get(package, code[package]) != code[package])


def _runtime_cause(pin: RuntimePin, now: Snapshot | None) -> Cause | None:
    if now is not None and now.digest == pin.digest:
        return None
    what = f"{pin.namespace}/{pin.name}" if pin.namespace else pin.name
    return Cause("runtime", what, f"runtime {what} {'is gone' if now is None else 'changed'}")


def _snapshot(runtime: Input) -> Snapshot:
    return Snapshot.of([runtime.document.tree, *runtime.companions])


def _with_facts(inputs: Inputs) -> list[dict[str, Any]]:
    """The Environment, if there is a document of it, and its facts in an order that is not that of files."""
    own = [inputs.environment.document.tree] if inputs.environment else []
    facts = sorted(inputs.fact_documents, key=lambda document: key_of(document, inputs.namespace))
    return [*own, *(document.tree for document in facts)]


def lock_of(job: CompiledJob, current: CurrentInputs, files: Mapping[str, bytes], source_digest: str = "") -> Lock:
    """The lock of a job that was just compiled into `files`; `source_digest` as in Lock."""
    train_job = digest_of([job.document.tree])
    return Lock(train_job, job.document.file, current.pins(job), digests_of_files(files), source_digest)


def is_frozen(lock: Lock, train_job: Document) -> bool:
    return lock.train_job == digest_of([train_job.tree])

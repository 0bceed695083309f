"""A job's pins, compared with its current inputs. A job whose TrainJob is unchanged is frozen: its files stay the same,
and it is behind if its runtime, Environment or the compiler changed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from trainform.core.inputs import key_of
from trainform.k8s.fact_kinds import NEVER_RENDERED, fact_kind
from trainform.k8s.tree import name_of
from trainform.output.emitter import emit_stream
from trainform.workspace.inputs import digest_of_file
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
    """Documents that jobs were rendered from, kept in `.trainform/snapshots/<digest>.yaml` while a lock names them."""

    digest: str
    trees: tuple[dict[str, Any], ...]

    @classmethod
    def of(cls, trees: Sequence[dict[str, Any]]) -> Snapshot:
        return cls(digest_of(trees), tuple(trees))

    @property
    def text(self) -> bytes:
        return emit_stream(self.trees).encode()


def digest_of(trees: Sequence[dict[str, Any]]) -> str:
    """SHA-256 (hex) of the trees as canonical JSON."""
    return digest_of_file(_canonical(trees).encode(errors="surrogatepass"))


_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode


NOTHING = digest_of([])
"""The digest of no documents; it has no snapshot."""


def digests_of_files(files: Mapping[str, bytes]) -> dict[str, str]:
    return {name: digest_of_file(data) for name, data in files.items()}


@dataclass(slots=True)
class CurrentInputs:
    """The current inputs of one Environment's jobs."""

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
        """The runtime with its companions; None if it no longer exists."""
        key = (kind, namespace, name)
        if key not in self._runtimes:
            shipped = None if namespace else self.catalogue.get(name)
            found = self.inputs.runtimes.get(key) or shipped
            self._runtimes[key] = _snapshot(found) if found else None
        return self._runtimes[key]

    def snapshots(self) -> list[Snapshot]:
        """Snapshots of the Environment and of the runtimes looked up so far."""
        return [self.environment, *filter(None, self._runtimes.values())]

    def pins(self, job: CompiledJob) -> Pins:
        """The pins of a job that was just compiled, and therefore has a runtime."""
        assert job.runtime is not None
        key = job.runtime.key
        runtime = self.runtime(*key) or _snapshot(job.runtime)
        needs = [need for need in job.secrets if need.id in self.inputs.keys]
        keys = {need.name: digest_of([self.inputs.keys[need.id]]) for need in needs}
        pin = RuntimePin(*key, runtime.digest)
        return Pins(self.compiler, pin, self.environment.digest, self.plugins, keys, self.plugin_code)

    def causes(self, pins: Pins, namespace: str) -> list[Cause]:
        """Why a job in `namespace` with these pins is behind; empty if it is not."""
        found: list[Cause | None] = [_runtime_cause(pins.runtime, self.runtime(*pins.runtime.key))]
        if pins.environment != self.environment.digest:
            name = self._environment_name
            found.append(Cause("environment", name, f"Environment {name} changed"))
        found += [self._key_cause(namespace, *each) for each in sorted(pins.keys.items())]
        if pins.compiler != self.compiler:
            message = f"rendered by trainform {pins.compiler}, but this is {self.compiler}"
            found.append(Cause("compiler", "", message))
        else:
            changed = changed_plugins(pins, self.plugins, self.plugin_code)
            found += [Cause("compiler", "plugins", change) for change in changed]
        return [cause for cause in found if cause]

    @property
    def _environment_name(self) -> str:
        item = self.inputs.environment
        return (name_of(item.document.tree) if item else "") or "default"

    def _key_cause(self, namespace: str, name: str, digest: str) -> Cause | None:
        tree = self.inputs.keys.get((namespace, name))
        if tree is not None and digest_of([tree]) == digest:
            return None
        return Cause("key", f"{namespace}/{name}", f"key Secret {namespace}/{name} changed")


def changed_plugins(pins: Pins, versions: Mapping[str, str], code: Mapping[str, str]) -> list[str]:
    """How third-party plugin packages changed since the job was rendered. Older lockfiles record no code, which counts
    as unchanged."""
    found = []
    for package in sorted({*pins.plugins, *versions}):
        before, now = pins.plugins.get(package), versions.get(package)
        if before is None:
            found.append(f"plugin package {package} {now} was added")
        elif now is None:
            found.append(f"plugin package {package} {before} is no longer used")
        elif before != now:
            found.append(f"plugin package {package} changed from {before} to {now}")
        elif pins.plugin_code.get(package, code[package]) != code[package]:
            found.append(f"the code of {package} changed without a new version")
    return found


def _runtime_cause(pin: RuntimePin, now: Snapshot | None) -> Cause | None:
    if now is not None and now.digest == pin.digest:
        return None
    what = f"{pin.namespace}/{pin.name}" if pin.namespace else pin.name
    return Cause("runtime", what, f"runtime {what} {'is gone' if now is None else 'changed'}")


def _snapshot(runtime: Input) -> Snapshot:
    return Snapshot.of([runtime.document.tree, *runtime.companions])


def _with_facts(inputs: Inputs) -> list[dict[str, Any]]:
    """The Environment, if declared, then its facts sorted by key, independent of file order. Nothing that is rendered
    depends on nodes and prices."""
    own = [_without_prices(inputs.environment.document.tree)] if inputs.environment else []
    rendered = (document for document in inputs.fact_documents if fact_kind(document.tree) not in NEVER_RENDERED)
    facts = sorted(rendered, key=lambda document: key_of(document, inputs.namespace))
    return [*own, *(document.tree for document in facts)]


def _without_prices(environment: dict[str, Any]) -> dict[str, Any]:
    spec = environment.get("spec")
    if not isinstance(spec, dict) or "prices" not in spec:
        return environment
    return {**environment, "spec": {key: value for key, value in spec.items() if key != "prices"}}


def lock_of(job: CompiledJob, current: CurrentInputs, files: Mapping[str, bytes]) -> Lock:
    """The lock of a job just compiled into `files`. `source_digest` as in Lock."""
    return Lock(digest_of_job(job.document), job.document.file, current.pins(job), digests_of_files(files))


def is_frozen(lock: Lock, train_job: Document) -> bool:
    return lock.train_job == digest_of_job(train_job)


def digest_of_job(train_job: Document) -> str:
    """The digest of a TrainJob with its companions."""
    return digest_of([train_job.tree, *(each.tree for each in train_job.beside)])

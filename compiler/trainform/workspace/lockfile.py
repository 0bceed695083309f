"""Lockfiles: what a job was rendered from, and which files it owns. Each job has its own,
`.trainform/locks/<environment>/<namespace>/<job>.lock`, so that branches do not collide. Source digests ignore comments
and key order."""

from __future__ import annotations

import json
from collections.abc import Mapping
from json.encoder import encode_basestring
from typing import Any, NamedTuple

from trainform.output.kustomization import without_earlier_list
from trainform.output.layout import is_part

API_VERSION = "trainform.dev/v1alpha1"


class LockError(ValueError):
    """An invalid lockfile; the message says what is wrong."""


class RuntimePin(NamedTuple):
    """A runtime at render time; `namespace` is empty for a ClusterTrainingRuntime. The digest covers companions."""

    kind: str
    namespace: str
    name: str
    digest: str

    @property
    def key(self) -> tuple[str, str, str]:
        return self.kind, self.namespace, self.name


class Pins(NamedTuple):
    """What a job stays on until it is changed or upgraded: everything it was rendered with except its TrainJob.
    `compiler` is trainform's version; `plugins` are the versions and `plugin_code` the code digests of third-party
    plugin packages (older lockfiles lack the latter). `environment` is the digest of the Environment with its facts;
    `keys` are digests of the copied encrypted Secrets, by name."""

    compiler: str
    runtime: RuntimePin
    environment: str
    plugins: Mapping[str, str]
    keys: Mapping[str, str]
    plugin_code: Mapping[str, str] = {}

    @property
    def snapshots(self) -> tuple[str, str]:
        """Digests of the snapshots for these pins."""
        return self.runtime.digest, self.environment


class Lock(NamedTuple):
    """`train_job` is the digest of the TrainJob after templating, `source` its file, `files` the digests of the job's
    files by name. `source_digest` is that of the bytes of `source` if it holds only this TrainJob: same bytes mean the
    same TrainJob. Else it is empty, as in older lockfiles."""

    train_job: str
    source: str
    pins: Pins
    files: Mapping[str, str]
    source_digest: str = ""

    def of_this_layout(self) -> Lock:
        """The same without the `kustomization.yaml` that an earlier version wrote for every job."""
        files = without_earlier_list(self.files)
        return self if files is self.files else self._replace(files=files)


class LockFile(NamedTuple):
    """A parsed lockfile. While files are being replaced (`underway`), `previous` is the old lock, None if new."""

    lock: Lock
    underway: bool = False
    previous: Lock | None = None

    def settled(self, present: Mapping[str, str]) -> Lock | None:
        """The lock that matches the `present` files (digests by name): the old one, or none, if a run was stopped
        before it put the new files in place."""
        if not self.underway or present == self.lock.files:
            return self.lock
        return self.previous if present == (self.previous.files if self.previous else {}) else self.lock


def dump(file: LockFile) -> bytes:
    """The bytes of a lockfile, read back by `parse`."""
    tree: dict[str, Any] = {"apiVersion": API_VERSION, "kind": "Lock", **_tree(file.lock)}
    if file.underway:
        tree["previous"] = _tree(file.previous) if file.previous else None
    return _json(tree).encode(errors="backslashreplace") + b"\n"  # a file name may be no UTF-8


def _json(value: Any, margin: str = "\n") -> str:
    """Like `json.dumps(value, indent=2)` for strings, mappings and None, which does not use the fast encoder."""
    if isinstance(value, str):
        return encode_basestring(value)
    if not value:
        return json.dumps(value)
    inner = f"{margin}  "
    entries = ",".join([f"{inner}{encode_basestring(key)}: {_json(entry, inner)}" for key, entry in value.items()])
    return f"{{{entries}{margin}}}"


def _tree(lock: Lock) -> dict[str, Any]:
    pins = lock.pins
    runtime = {"kind": pins.runtime.kind, "namespace": pins.runtime.namespace, "name": pins.runtime.name}
    tree: dict[str, Any] = {
        "compiler": pins.compiler,
        "plugins": _sorted(pins.plugins),
        "pluginCode": _sorted(pins.plugin_code),
        "source": lock.source,
        "sourceDigest": lock.source_digest,
        "trainJob": lock.train_job,
        "runtime": {**{k: v for k, v in runtime.items() if v}, "digest": pins.runtime.digest},
        "environment": pins.environment,
        "keys": _sorted(pins.keys),
        "files": _sorted(lock.files),
    }
    return {key: value for key, value in tree.items() if value or key == "files"}


def _sorted(mapping: Mapping[str, str]) -> dict[str, str]:
    return dict(sorted(mapping.items()))


def parse(data: bytes) -> LockFile:
    """Parse a lockfile. Raises LockError for anything that `dump` would not write. Lockfiles are not trusted: no file
    name in them may lead out of the job's folder."""
    try:
        tree = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise LockError("is not JSON") from error
    if not isinstance(tree, dict) or tree.get("kind") != "Lock" or tree.get("apiVersion") != API_VERSION:
        raise LockError(f"is not a Lock of {API_VERSION}")
    if "previous" not in tree:
        return LockFile(_lock(tree))
    return LockFile(_lock(tree), True, _lock(tree["previous"]) if tree["previous"] else None)


def lock_in(data: bytes | None) -> Lock | None:
    """The lock in `data`, None if invalid or from an interrupted run; for lockfiles of other commits. Lists of earlier
    versions do not count."""
    try:
        file = parse(data) if data else None
    except LockError:
        return None
    return file.lock.of_this_layout() if file and not file.underway else None


def line_of(data: bytes, key: str) -> int:
    """The line of a lockfile, counted from 1, where `key` is; 1 if there is none."""
    lines = data.splitlines()
    return next((number for number, line in enumerate(lines, 1) if line.startswith(f'  "{key}":'.encode())), 1)


def _lock(tree: Any) -> Lock:
    if not isinstance(tree, dict):
        raise LockError("has a previous state that is not a mapping")
    files = _texts(tree, "files")
    if not all(map(is_part, files)):
        raise LockError("lists files outside of the job's folder")
    pins = Pins(
        _text(tree, "compiler"),
        _runtime(tree.get("runtime")),
        _text(tree, "environment"),
        _texts(tree, "plugins"),
        _texts(tree, "keys"),
        _texts(tree, "pluginCode"),
    )
    source_digest = _text(tree, "sourceDigest") if "sourceDigest" in tree else ""
    return Lock(_text(tree, "trainJob"), _text(tree, "source"), pins, files, source_digest)


def _runtime(tree: Any) -> RuntimePin:
    if not isinstance(tree, dict):
        raise LockError('has no "runtime"')
    namespace = _text(tree, "namespace") if "namespace" in tree else ""
    return RuntimePin(_text(tree, "kind"), namespace, _text(tree, "name"), _text(tree, "digest"))


def _text(tree: dict[str, Any], key: str) -> str:
    value = tree.get(key)
    if not isinstance(value, str) or not value:
        raise LockError(f'has no "{key}"')
    return value


def _texts(tree: dict[str, Any], key: str) -> dict[str, str]:
    value = tree.get(key, {})
    if not isinstance(value, dict) or not all(isinstance(each, str) for each in value.values()):
        raise LockError(f'has a "{key}" that is not a mapping of strings')
    return value

"""`trainform facts pull`: the facts of a live cluster, as files of its Environment."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from difflib import unified_diff
from typing import TYPE_CHECKING, NamedTuple

from trainform.api.kinds import subject
from trainform.api.selectors import matches_path
from trainform.diagnostics import Diagnostic
from trainform.diagnostics.order import counted, has_errors
from trainform.diagnostics.suggest import did_you_mean
from trainform.io.links import located
from trainform.io.paths import folder_bytes
from trainform.io.place import file_error, os_error
from trainform.io.staging import writing
from trainform.io.writer import remove, write_together
from trainform.k8s.pulled.access import plural
from trainform.k8s.tree import Tree, metadata_of, name_of, table, text
from trainform.k8s.versions import ClusterVersion, parse_version
from trainform.output.emitter import emit_stream
from trainform.workspace import InvocationError
from trainform.workspace.discovery import discover
from trainform.workspace.live.access import cluster_of, one_environment
from trainform.workspace.live.as_facts import facts_to_write
from trainform.workspace.live.fetch import LiveFacts, fetch

if TYPE_CHECKING:
    from trainform.cluster.connection import Login
    from trainform.io.staging import Staging
    from trainform.source import Document
    from trainform.workspace.discovery import Workspace
    from trainform.workspace.inputs import EnvironmentInputs

HEADER = b"# Written by `trainform facts pull`, which replaces this file: declare other facts in files of your own.\n"
"""The first line of a file that is ours."""

FOLDER = "cluster"
"""Where the files are, in the Environment's folder."""


class PullOptions(NamedTuple):
    """`without` are kinds that are not pulled. `namespaces`: only these (empty: all). `check`: write nothing."""

    login: Login
    without: Sequence[str] = ()
    namespaces: Sequence[str] = ()
    check: bool = False


@dataclass(slots=True)
class Pulled:
    """What the cluster says. `files` and `before` have paths and contents, new and old; `versions` are those that the
    Environment says otherwise: key, its value, the cluster's. With errors among `problems`, nothing was written."""

    environment: str
    context: str = ""
    server: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    before: dict[str, bytes] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    absent: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    versions: list[tuple[str, str, str]] = field(default_factory=list)
    problems: list[Diagnostic] = field(default_factory=list)
    written: bool = False

    @property
    def changes(self) -> dict[str, str]:
        """`added`, `changed` or `removed`, by path."""
        names = sorted(self.files.keys() | self.before.keys())
        return {
            name: "removed" if name not in self.files else "changed" if name in self.before else "added"
            for name in names
            if self.files.get(name) != self.before.get(name)
        }

    @property
    def has_drifted(self) -> bool:
        return bool(self.changes or self.versions)

    def difference(self) -> list[str]:
        """The lines of a unified diff from the files to the cluster."""
        found: list[str] = []
        for name in self.changes:
            old, new = (each.get(name, b"").decode(errors="replace").splitlines() for each in (self.before, self.files))
            found += unified_diff(old, new, name, f"{name} (cluster)", lineterm="")
        return found


def pull(root: str, asked: Sequence[str], options: PullOptions) -> Pulled:
    """Read the facts of one environment's cluster, and write them unless `check` is set. Raises InvocationError."""
    found, live = _asked(discover(root, asked), options)
    if options.check:
        _compare(discover(root, asked), live, found)
        return found
    with writing(root) as staging:  # only now: others need not wait for the cluster
        _compare(discover(root, asked), live, found)
        if not has_errors(found.problems):
            found.problems += _write(staging, found)
            found.written = not has_errors(found.problems)
    return found


def _asked(workspace: Workspace, options: PullOptions) -> tuple[Pulled, LiveFacts]:
    """What the cluster says."""
    environment = one_environment(workspace)
    if environment.document is None:
        raise InvocationError("facts belong to an Environment: write one, such as environments/prod/environment.yaml")
    with cluster_of(workspace.repository.root, options.login) as connection:
        live = fetch(connection.client, options.without, options.namespaces)
        found = Pulled(environment.name, connection.context, connection.server, absent=live.absent)
    if live.denied:
        rules = "".join(f"\n  - {rule}" for rule in live.denied)
        raise InvocationError(
            f"the cluster does not allow this user to read {counted(len(live.denied), 'kind')}, so nothing was "
            f"written; a role needs{rules}\n`trainform facts pull --rbac` prints roles; --without leaves out a kind"
        )
    found.notes += _check_namespaces(options.namespaces, live)
    return found, live


def _check_namespaces(asked: Sequence[str], live: LiveFacts) -> list[str]:
    """Notes about those that have nothing, where the cluster was not asked which there are. Raises InvocationError for
    those that it does not have: as empty ones, they would remove the facts of a namespace with a similar name."""
    if live.namespaces is None:
        used = {text(metadata_of(tree), "namespace") for trees in live.objects.values() for tree in trees}
        return [
            f'nothing was found in namespace "{name}"; --without Namespace leaves open whether it exists'
            for name in asked
            if name not in used
        ]
    missing = [name for name in asked if name not in live.namespaces]
    if missing:
        raise InvocationError("; ".join(_no_namespace(name, live.namespaces) for name in missing), "--namespace")
    return []


def _no_namespace(name: str, known: Collection[str]) -> str:
    hint = did_you_mean(name, known)
    return f'the cluster has no namespace "{name}"' + (f": {hint}" if hint else "")


def _compare(workspace: Workspace, live: LiveFacts, found: Pulled) -> None:
    """Fill in the files, old and new, and what is to be told. Raises InvocationError."""
    environment = one_environment(workspace)
    found.problems += workspace.problems
    root, folder = workspace.repository.root, f"{environment.folder}/{FOLDER}"
    try:
        is_link = located(root, folder) != f"{located(root, environment.folder)}/{FOLDER}"
        present = folder_bytes(root, folder)
    except OSError as error:
        found.problems.append(os_error("TF701", folder, error, "cannot be read"))
        return
    if is_link:
        raise InvocationError(f"{folder} is a link, which may lead to where an engine applies facts: remove it")
    found.before = {f"{folder}/{name}": data for name, data in present.items() if data and data.startswith(HEADER)}
    facts = facts_to_write(live, _by_hand(environment, found.before), environment.namespace, found.notes)
    found.counts = {kind: len(trees) for kind, trees in facts.items()}
    found.files = {f"{folder}/{_file(kind)}": _text(trees) for kind, trees in facts.items() if trees}
    for path in sorted(found.files.keys() - found.before.keys()):
        if path.removeprefix(f"{folder}/") in present:
            hint = "rename it: files of your own are kept, but this name is needed"
            found.problems.append(file_error("TF706", path, "is not a file that `facts pull` wrote", hint))
    found.notes += _unread(environment, found.files)
    _compare_versions(environment, live, found)


def _by_hand(environment: EnvironmentInputs, ours: Collection[str]) -> list[Document]:
    """The facts in files that are not ours."""
    others = (each for each in environment.sources.documents if each.file not in ours)
    return [each for each in others if subject(each.tree)[0] == "fact"]


def _file(kind: str) -> str:
    """`clusterqueues.yaml`; a kind that shares its name with another has its group, too."""
    group = kind.partition(".")[2]
    return f"{plural(kind)}.{group}.yaml" if group else f"{plural(kind)}.yaml"


def _text(trees: Iterable[Tree]) -> bytes:
    in_order = sorted(trees, key=lambda tree: (text(metadata_of(tree), "namespace"), name_of(tree)))
    return HEADER + emit_stream(in_order).encode()


def _unread(environment: EnvironmentInputs, files: Iterable[str]) -> list[str]:
    """A note if the Environment lists its files of facts, and these are not among them."""
    patterns = environment.environment.spec.cluster.files if environment.environment else None
    if patterns is None:
        return []
    unread = [file for file in files if not matches_path(patterns, file.removeprefix(f"{environment.folder}/"))]
    advice = f'add "{FOLDER}/*.yaml" to spec.cluster.files of the Environment'
    return [f"{counted(len(unread), 'file')} will not be read: {advice}"] if unread else []


def _compare_versions(environment: EnvironmentInputs, live: LiveFacts, found: Pulled) -> None:
    """What `spec.cluster` says of versions. Its file is the user's, so it is not edited."""
    spec = table(table(environment.document.tree, "spec"), "cluster") if environment.document else {}
    for key, version in live.versions.items():
        said = text(spec, key)
        declared = parse_version(said)
        if declared is None:
            advice = f'write {key}: "{version.major}.{version.minor}" in spec.cluster'
            found.notes.append(f"the cluster has {key} {version}: {advice}")
        elif not _agree(declared, version):
            found.versions.append((key, said, str(version)))


def _agree(declared: ClusterVersion, live: ClusterVersion) -> bool:
    same = declared[:2] == live[:2]
    return same and (declared.patch is None or live.patch is None or declared.patch == live.patch)


def _write(staging: Staging, found: Pulled) -> list[Diagnostic]:
    changed = {path: data for path, data in found.files.items() if found.before.get(path) != data}
    path = ""
    try:
        write_together(staging, changed)
        for path in sorted(found.before.keys() - found.files.keys()):
            remove(staging.root, path)
    except OSError as error:
        return [os_error("TF707", path or next(iter(changed), FOLDER), error, "cannot be written")]
    return []

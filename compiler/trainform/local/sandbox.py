"""How far pods are kept apart on this machine, and the processes that do so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from shutil import which
from typing import TYPE_CHECKING, Literal

from trainform.io.files import read_bytes, write_bytes
from trainform.local.folders import PodFolder, RunFolder
from trainform.local.inside import guard, network
from trainform.local.plan.model import LocalContainer, LocalPod, LocalRun
from trainform.local.plan.probes import PYTHON
from trainform.local.plan.references import NotHere
from trainform.local.plan.rewriting import rewriter, rewritten_container, rewritten_files

if TYPE_CHECKING:
    from collections.abc import Sequence

Level = Literal["pod", "files", "none"]
"""`pod`: each pod has a network, files and a host name of its own. `files`: files and a host name; the network is the
machine's, with a loopback address for each pod. `none`: nothing, and paths and host names are rewritten."""

LEVELS: tuple[Level, ...] = ("pod", "files", "none")

INTERPRETER = (sys.executable, "-I", "-S")
TRIAL_SECONDS = 120
"""After which a machine counts as one that refuses namespaces: one that is only busy must not run a job otherwise."""


def choose(asked: Level | None, *, every_pod_listens: bool) -> RunSandbox:
    """The least that the job needs, or what was asked for. Raises NotHere if this machine refuses that."""
    wanted: Level = asked or ("pod" if every_pod_listens else "files")
    if wanted == "none":
        return RunSandbox("none")
    namespaces = _trial()
    if namespaces is None:
        if asked is None and not every_pod_listens:
            return RunSandbox("none")
        raise NotHere("TF894", "this machine does not allow namespaces", HINT)
    if wanted == "pod" and not (which("ip") and which("nsenter")):
        raise NotHere("TF894", "networks for pods need the commands ip and nsenter", "install iproute2 and util-linux")
    return RunSandbox(wanted, new_user=namespaces == "user")


HINT = (
    "run as root on Linux, or allow unprivileged user namespaces; --sandbox none does without, if only the first pod "
    "listens on a port"
)


def _trial() -> Literal["root", "user"] | None:
    """Whose namespaces this process can make: its own, or those of a new user namespace. A container that does nothing
    is started with each."""
    if sys.platform != "linux":
        return None
    with tempfile.TemporaryDirectory(prefix="trainform-run-") as folder:
        if _starts(os.path.join(folder, "root"), new_user=False):
            return "root"
        return "user" if _starts(os.path.join(folder, "user"), new_user=True) else None


def _starts(folder: str, *, new_user: bool) -> bool:
    root, hosts, file = (os.path.join(folder, name) for name in ("root", "hosts", "specification"))
    os.makedirs(root)
    write_bytes(hosts, b"")
    specification: guard.Specification = {
        "command": ["true"],
        "variables": {**os.environ},
        "folder": "/",
        "root": root,
        "mounts": [{"path": "/etc/hosts", "source": hosts, "read_only": True}],
        "hostname": "trial",
        "join": [],
        "new_user": new_user,
        "parent": os.getpid(),
    }
    write_bytes(file, json.dumps(specification).encode(), mode=0o600, new=True)
    command = [*INTERPRETER, guard.__file__, file]
    try:
        ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=TRIAL_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return ran.returncode == 0


def loopback_addresses() -> tuple[int, int]:
    """The middle of the loopback addresses of one run, by chance, so that runs rarely meet."""
    first, second = os.urandom(2)
    return 1 + first % 250, second


@dataclass(frozen=True, slots=True)
class RunSandbox:
    """The chosen level. `new_user`: namespaces take a user namespace around them."""

    level: Level
    new_user: bool = False

    def address(self, middle: tuple[int, int], number: int) -> str:
        """The address of the n-th pod. Systems other than Linux have only one loopback address."""
        if self.level == "pod":
            return f"10.77.{number // 250}.{number % 250 + 1}"
        if sys.platform != "linux":
            return "127.0.0.1"
        return f"127.{middle[0]}.{(middle[1] + number // 250) % 256}.{number % 250 + 1}"

    def networks(self, run: LocalRun) -> Networks:
        """The networks of the pods; nothing is started unless each pod has its own."""
        if self.level != "pod":
            return Networks(None, {})
        addresses = [pod.address for pod in run.pods]
        script = [*INTERPRETER, network.__file__, str(os.getpid()), str(int(self.new_user)), *addresses]
        process = subprocess.Popen(script, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        found = [process.stdout.readline().strip() for _ in addresses]
        networks = Networks(process, dict(zip(addresses, found, strict=True)))
        if not all(found):
            networks.close()
            raise NotHere("TF894", "networks for pods cannot be made here", HINT)
        return networks


@dataclass(frozen=True, slots=True)
class Networks:
    """The process that holds the networks, and the process id of each address's namespace."""

    process: subprocess.Popen[str] | None
    holders: Mapping[str, str]

    def close(self) -> None:
        """Ends the networks."""
        if self.process is not None:
            self.process.communicate()

    def namespaces(self, address: str, *, new_user: bool) -> list[str]:
        holder = self.holders.get(address)
        kinds = ("user", "net") if new_user else ("net",)
        return [f"/proc/{holder}/ns/{kind}" for kind in kinds] if holder else []


@dataclass(frozen=True, slots=True)
class PodSandbox:
    """One started pod: the commands of its containers, as they run on this machine."""

    sandbox: RunSandbox
    networks: Networks
    pod: LocalPod
    folder: PodFolder
    hosts: Mapping[str, str]
    given: Mapping[str, str]
    """Variables that the machine adds, such as the devices of the pod."""

    @classmethod
    def make(
        cls,
        sandbox: RunSandbox,
        networks: Networks,
        run: LocalRun,
        pod: LocalPod,
        folder: RunFolder,
        given: Mapping[str, str],
    ) -> PodSandbox:
        made = folder.of_pod(pod)
        if sandbox.level == "none":  # files can refer to volumes, which exist only now
            paths = made.sources(tuple(mount for each in pod.containers for mount in each.mounts))
            pod = rewritten_files(pod, rewriter(run.hosts, paths))
            folder.fill(pod, made)
        return cls(sandbox, networks, pod, made, run.hosts, given)

    def command(self, container: LocalContainer, words: Sequence[str] = ()) -> list[str]:
        """The command line that starts a container, or other `words` where the container is."""
        sources = self.folder.sources(container.mounts)
        if self.sandbox.level == "none":
            container = rewritten_container(container, rewriter(self.hosts, sources))
            words = [rewriter(self.hosts, sources)(word) for word in words]
        return [*INTERPRETER, guard.__file__, self._specification(container, sources, [*words] or [*container.command])]

    def _specification(self, container: LocalContainer, sources: Mapping[str, str], words: list[str]) -> str:
        """The file that the guard reads."""
        if words[0] == PYTHON:
            words = [sys.executable, *words[1:]]
        has_root = self.sandbox.level != "none"
        join = self.networks.namespaces(self.pod.address, new_user=self.sandbox.new_user)
        specification: guard.Specification = {
            "command": words,
            "variables": {**os.environ, **self.given, **container.variables},
            "folder": self._working_folder(container, sources),
            "root": self._root(container) if has_root else "",
            "mounts": self._mounts(container, sources) if has_root else [],
            "hostname": self.pod.host,
            "join": join,
            "new_user": self.sandbox.new_user and not join,
            "parent": os.getpid(),
        }
        file = os.path.join(self.folder.path, f"{container.name}-{os.urandom(4).hex()}.json")
        write_bytes(file, json.dumps(specification).encode(), mode=0o600, new=True)
        return file

    def _root(self, container: LocalContainer) -> str:
        root = os.path.join(self.folder.path, "roots", container.name)
        os.makedirs(root, exist_ok=True)
        return root

    def _mounts(self, container: LocalContainer, sources: Mapping[str, str]) -> list[guard.MountedPath]:
        hosts = os.path.join(self.folder.path, "hosts")
        if not os.path.exists(hosts):
            write_bytes(hosts, self._hosts_file().encode(), mode=0o644)
        volumes = {volume.name: volume for volume in self.pod.volumes}
        found: list[guard.MountedPath] = [{"path": "/etc/hosts", "source": hosts, "read_only": False}]
        for mount in container.mounts:
            if mount.path in sources:
                read_only = mount.read_only or volumes[mount.volume].read_only
                found.append({"path": mount.path, "source": sources[mount.path], "read_only": read_only})
        return found

    def _hosts_file(self) -> str:
        """The machine's own, and a line for each pod."""
        names: dict[str, list[str]] = {}
        for host, address in self.hosts.items():
            names.setdefault(address, []).append(host)
        try:
            own = read_bytes("/etc/hosts").decode(errors="replace").rstrip("\n")
        except OSError:
            own = "127.0.0.1 localhost"
        return "\n".join([*(f"{address} {' '.join(found)}" for address, found in names.items()), own, ""])

    def _working_folder(self, container: LocalContainer, sources: Mapping[str, str]) -> str:
        """The container's, where this machine has it or a volume provides it, else the current one."""
        wanted = container.working_folder
        mounted = any(wanted == path or wanted.startswith(path + "/") for path in sources)
        return wanted if wanted and (mounted or os.path.isdir(wanted)) else os.getcwd()

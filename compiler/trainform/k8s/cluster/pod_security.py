"""The Pod Security Standards that a namespace enforces by label: baseline and restricted, in their latest version.
Source: Kubernetes' `staging/src/k8s.io/pod-security-admission/policy`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from trainform.diagnostics import Path
from trainform.k8s.admission import ClusterFacts
from trainform.k8s.labels import labels_of
from trainform.k8s.rules.parts import Found
from trainform.k8s.schema.messages import SchemaProblem
from trainform.k8s.tree import Tree, number, table, tables, text, texts

ENFORCE = "pod-security.kubernetes.io/enforce"

_CONTAINERS = ("initContainers", "containers", "ephemeralContainers")
_CAPABILITIES = frozenset((
    "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP",
    "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
))  # fmt: skip
_SYSCTLS = frozenset((
    "kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.ip_unprivileged_port_start", "net.ipv4.ping_group_range", "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_rmem", "net.ipv4.tcp_syncookies", "net.ipv4.tcp_wmem",
))  # fmt: skip
_SELINUX_TYPES = frozenset(("", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"))
_VOLUMES = frozenset((
    "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected",
    "secret", "name",
))  # fmt: skip
_PROFILES = ("RuntimeDefault", "Localhost")
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")

_Tell = Callable[[Path, str, str], None]


def level_of(namespace: str, facts: ClusterFacts) -> str:
    """`baseline`, `restricted`, or what else the label says; empty if the namespace or the label is not declared."""
    return text(labels_of(facts.get("Namespace", namespace) or {}), ENFORCE)


def check(pod_spec: Tree, namespace: str, facts: ClusterFacts) -> list[SchemaProblem]:
    """What the level of the namespace forbids. Paths count from the pod spec."""
    level, found = level_of(namespace, facts), Found()
    if level not in ("baseline", "restricted"):
        return found

    def tell(path: Path, message: str, hint: str = "") -> None:
        found.tell(path, "TF567", f"{message}: namespace {namespace} enforces Pod Security level {level}", hint)

    _baseline(pod_spec, tell)
    if level == "restricted":
        _restricted(pod_spec, tell)
    return found


def _containers(pod_spec: Tree) -> Iterator[tuple[Path, Tree]]:
    for key in _CONTAINERS:
        for index, container in enumerate(tables(pod_spec, key)):
            yield (key, index), container


def _contexts(pod_spec: Tree) -> Iterator[tuple[Path, Tree]]:
    """The security contexts of the pod and its containers."""
    yield ("securityContext",), table(pod_spec, "securityContext")
    for path, container in _containers(pod_spec):
        yield (*path, "securityContext"), table(container, "securityContext")


def _baseline(pod_spec: Tree, tell: _Tell) -> None:
    for field in ("hostNetwork", "hostPID", "hostIPC"):
        if pod_spec.get(field) is True:
            tell((field,), "must not be true", "remove it")
    for index, volume in enumerate(tables(pod_spec, "volumes")):
        if "hostPath" in volume:
            tell(("volumes", index, "hostPath"), "hostPath volumes are forbidden", "use a PersistentVolumeClaim")
    for index, sysctl in enumerate(tables(table(pod_spec, "securityContext"), "sysctls")):
        if text(sysctl, "name") not in _SYSCTLS:
            tell(("securityContext", "sysctls", index, "name"), "this sysctl is forbidden", "remove it")
    for path, context in _contexts(pod_spec):
        _baseline_context(path, context, tell)
    for path, container in _containers(pod_spec):
        _baseline_container(path, container, tell)


def _baseline_context(path: Path, context: Tree, tell: _Tell) -> None:
    """What holds for the pod's security context as for a container's."""
    selinux = table(context, "seLinuxOptions")
    if text(selinux, "type") not in _SELINUX_TYPES:
        tell((*path, "seLinuxOptions", "type"), "this SELinux type is forbidden", "remove it")
    for field in ("user", "role"):
        if text(selinux, field):
            tell((*path, "seLinuxOptions", field), f"a SELinux {field} is forbidden", "remove it")
    for field in ("seccompProfile", "appArmorProfile"):
        if text(table(context, field), "type") == "Unconfined":
            tell((*path, field, "type"), "must not be Unconfined", "write RuntimeDefault")
    if table(context, "windowsOptions").get("hostProcess") is True:
        tell((*path, "windowsOptions", "hostProcess"), "must not be true", "remove it")


def _baseline_container(path: Path, container: Tree, tell: _Tell) -> None:
    context = table(container, "securityContext")
    if context.get("privileged") is True:
        tell((*path, "securityContext", "privileged"), "must not be true", "remove it")
    if text(context, "procMount") not in ("", "Default"):
        tell((*path, "securityContext", "procMount"), "must be Default", "remove it")
    for name in texts(table(context, "capabilities"), "add"):
        if name not in _CAPABILITIES:
            tell((*path, "securityContext", "capabilities", "add"), f"capability {name} is forbidden", "remove it")
    for index, port in enumerate(tables(container, "ports")):
        if number(port, "hostPort"):
            tell((*path, "ports", index, "hostPort"), "host ports are forbidden", "remove it")
    handlers = [((*path, probe), table(container, probe)) for probe in _PROBES]
    handlers += [
        ((*path, "lifecycle", hook), table(table(container, "lifecycle"), hook)) for hook in ("postStart", "preStop")
    ]
    for where, handler in handlers:
        for kind in ("httpGet", "tcpSocket"):
            if text(table(handler, kind), "host"):
                tell((*where, kind, "host"), "a host is forbidden here", "remove it: the pod itself is asked")


def _restricted(pod_spec: Tree, tell: _Tell) -> None:
    for index, volume in enumerate(tables(pod_spec, "volumes")):
        for kind in volume.keys() - _VOLUMES - {"hostPath"}:
            tell(("volumes", index, kind), f"{kind} volumes are forbidden", "use a PersistentVolumeClaim")
    pod = table(pod_spec, "securityContext")
    for path, context in _contexts(pod_spec):
        if number(context, "runAsUser") == 0:
            tell((*path, "runAsUser"), "must not be 0, the root user", "write another user")
    windows = text(table(pod_spec, "os"), "name") == "windows"
    for path, container in _containers(pod_spec):
        context = table(container, "securityContext")
        if context.get("runAsNonRoot", pod.get("runAsNonRoot")) is not True:
            hint = "write securityContext: {runAsNonRoot: true} for the pod"
            tell((*path, "securityContext", "runAsNonRoot"), "must be true", hint)
        if not windows:
            _restricted_linux(path, context, pod, tell)


def _restricted_linux(path: Path, context: Tree, pod: Tree, tell: _Tell) -> None:
    where = (*path, "securityContext")
    if context.get("allowPrivilegeEscalation") is not False:
        hint = "write securityContext: {allowPrivilegeEscalation: false}"
        tell((*where, "allowPrivilegeEscalation"), "must be false", hint)
    capabilities = table(context, "capabilities")
    if "ALL" not in texts(capabilities, "drop"):
        hint = "write securityContext: {capabilities: {drop: [ALL]}}"
        tell((*where, "capabilities", "drop"), "must drop ALL capabilities", hint)
    for name in texts(capabilities, "add"):
        if name != "NET_BIND_SERVICE" and name in _CAPABILITIES:
            tell((*where, "capabilities", "add"), f"capability {name} is forbidden", "remove it")
    profile = table(context, "seccompProfile") or table(pod, "seccompProfile")
    if text(profile, "type") not in _PROFILES and text(profile, "type") != "Unconfined":
        hint = "write securityContext: {seccompProfile: {type: RuntimeDefault}} for the pod"
        tell((*where, "seccompProfile", "type"), "must be RuntimeDefault or Localhost", hint)

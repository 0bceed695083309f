"""The API server's rules for containers; variables, probes and resources have files of their own."""

from __future__ import annotations

from trainform.diagnostics import Path
from trainform.diagnostics.suggest import did_you_mean
from trainform.k8s.rules import env as env_rules
from trainform.k8s.rules import probe as probe_rules
from trainform.k8s.rules.parts import LARGEST_ID, Found, dns1123_label
from trainform.k8s.rules.ports import MOST_PORT, port_name
from trainform.k8s.rules.volume import relative_path
from trainform.k8s.tree import Tree, number, table, tables, text, texts

WARNINGS = frozenset({"TF524", "TF530"}) | probe_rules.WARNINGS
"""The codes of rules that valid JobSets are known to break: the JobSet is admitted, its pods are refused."""

_SIMPLE_MOUNT = {"name", "mountPath", "readOnly"}

_HostPorts = dict[tuple[int, str, str], str]
"""Which container has a port of the node, by number, protocol and address."""


def check(spec: Tree, volumes: frozenset[str], path: Path, found: Found) -> None:
    """Each container and init container of a pod spec whose pods have these volumes."""
    host_network = spec.get("hostNetwork") is True
    for key in ("containers", "initContainers"):
        taken: _HostPorts = {}
        for index, container in enumerate(tables(spec, key)):
            at = (*path, key, index)
            _check_container(container, volumes, at, found)
            if "ports" in container:
                _check_ports(container, host_network, taken, at, found)
            if key == "initContainers" and container.get("restartPolicy") != "Always":
                probe_rules.check_runs_to_end(container, at, found)


def _check_container(container: Tree, volumes: frozenset[str], path: Path, found: Found) -> None:
    name, image = container.get("name"), text(container, "image")
    if type(name) is str and (reason := dns1123_label(name)):
        quoted = f'"{name}" ' if name else ""
        found.tell((*path, "name"), "TF521", f"{quoted}{reason}")
    if not image or image != image.strip():
        _report_image(image, path, found)
    if "env" in container or "envFrom" in container:
        env_rules.check(container, path, found)
    if "volumeMounts" in container or "volumeDevices" in container:
        _check_mounts(container, volumes, path, found)
    if "securityContext" in container:
        _check_security(table(container, "securityContext"), (*path, "securityContext"), found)
    probe_rules.check(container, path, found)


def _report_image(image: str, path: Path, found: Found) -> None:
    if image:
        found.tell((*path, "image"), "TF522", f'"{image}" starts or ends with a space', "remove the spaces around it")
    else:
        found.tell((*path, "image"), "TF522", "a container needs an image", "set image to the image to run")


def _check_mounts(container: Tree, volumes: frozenset[str], path: Path, found: Found) -> None:
    for key in ("volumeMounts", "volumeDevices"):
        for index, mount in enumerate(tables(container, key)):
            name = mount.get("name")
            if type(name) is str and name not in volumes:
                _report_no_volume(name, volumes, (*path, key, index, "name"), found)
            if mount.get("mountPath") == "":
                found.tell((*path, key, index, "mountPath"), "TF526", "must not be empty")
            if not mount.keys() <= _SIMPLE_MOUNT:
                _check_mount(mount, container, (*path, key, index), found)


def _report_no_volume(name: str, volumes: frozenset[str], path: Path, found: Found) -> None:
    hint = did_you_mean(name, volumes) or f"add {name} to the volumes of the pod"
    found.tell(path, "TF530", f'the pod has no volume called "{name}"', hint)


def _check_mount(mount: Tree, container: Tree, path: Path, found: Found) -> None:
    for key in ("subPath", "subPathExpr"):
        if reason := relative_path(text(mount, key)):
            found.tell((*path, key), "TF526", reason)
    if text(mount, "subPath") and text(mount, "subPathExpr"):
        found.tell((*path, "subPathExpr"), "TF526", "must not be combined with subPath", "keep one of them")
    privileged = table(container, "securityContext").get("privileged") is True
    if mount.get("mountPropagation") == "Bidirectional" and not privileged:
        hint = "write HostToContainer, or make the container privileged"
        found.tell((*path, "mountPropagation"), "TF526", "Bidirectional requires a privileged container", hint)


def _check_ports(container: Tree, host_network: bool, taken: _HostPorts, path: Path, found: Found) -> None:
    names: list[str] = []
    for index, port in enumerate(tables(container, "ports")):
        at = (*path, "ports", index)
        if name := text(port, "name"):
            _check_port_name(name, names, (*at, "name"), found)
            names.append(name)
        if host_network or "hostPort" in port:
            _check_host_port(port, host_network, taken, text(container, "name"), at, found)


def _check_port_name(name: str, names: list[str], path: Path, found: Found) -> None:
    if reason := port_name(name):
        found.tell(path, "TF527", f'"{name}" {reason}')
    if name in names:
        found.tell(
            path, "TF527", f'"{name}" is already the name of another port of this container', "give it another name"
        )


def _check_host_port(
    port: Tree, host_network: bool, taken: _HostPorts, container: str, path: Path, found: Found
) -> None:
    """A port of the node: in range, no other container's, and with `hostNetwork` the container's own."""
    inner = number(port, "containerPort")
    outer = number(port, "hostPort") or (inner if host_network else None)
    if outer is None:
        return
    at = (*path, "hostPort" if "hostPort" in port else "containerPort")
    if not 1 <= outer <= MOST_PORT:
        found.tell(at, "TF527", f"must be between 1 and {MOST_PORT}, not {outer}")
    if host_network and outer != inner:
        found.tell(at, "TF527", f"must equal containerPort ({inner}) with hostNetwork", "remove hostPort")
    identity = (outer, text(port, "protocol") or "TCP", text(port, "hostIP"))
    if (other := taken.setdefault(identity, container)) != container:
        message = f'host port {outer} is already used by container "{other}" of the same pod'
        found.tell(at, "TF527", message, "use another port")


def _check_security(context: Tree, path: Path, found: Found) -> None:
    for key in ("runAsUser", "runAsGroup"):
        value = number(context, key)
        if value is not None and not 0 <= value <= LARGEST_ID:
            found.tell((*path, key), "TF535", f"must be between 0 and {LARGEST_ID}, not {value}")
    if context.get("allowPrivilegeEscalation") is False:
        _check_no_escalation(context, (*path, "allowPrivilegeEscalation"), found)


def _check_no_escalation(context: Tree, path: Path, found: Found) -> None:
    """Escalation cannot be ruled out for a container that has the privileges already."""
    hint = "remove one of the two"
    if context.get("privileged") is True:
        found.tell(path, "TF535", "must not be false with privileged: true", hint)
    if "CAP_SYS_ADMIN" in texts(table(context, "capabilities"), "add"):
        found.tell(path, "TF535", "must not be false with capability CAP_SYS_ADMIN", hint)

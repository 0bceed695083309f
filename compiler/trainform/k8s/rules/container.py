"""The API server's rules for containers, except variables, probes and resources."""

from __future__ import annotations

from trainform.diagnostics import Path
from trainform.diagnostics.suggest import did_you_mean
from trainform.k8s.names import dns1123_label, port_name
from trainform.k8s.rules import env as env_rules
from trainform.k8s.rules import probe as probe_rules
from trainform.k8s.rules.parts import LARGEST_ID, MOST_PORT, Found, check_between, check_name
from trainform.k8s.rules.volume import relative_path
from trainform.k8s.tree import Tree, number, table, tables, text, texts

_SIMPLE_MOUNT = {"name", "mountPath", "readOnly"}

_HostPorts = dict[tuple[int, str, str], str]
"""The container that uses each host port, by number, protocol and address."""


def check(spec: Tree, volumes: frozenset[str], path: Path, found: Found) -> None:
    """Checks each container and init container of a pod spec; `volumes` are its pods' volume names."""
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
    check_name(container, "name", dns1123_label, "TF521", path, found, may_be_empty=False)
    image = text(container, "image")
    if not image:
        found.tell((*path, "image"), "TF522", "a container needs an image", "set image to the image to run")
    elif image != image.strip():
        found.tell((*path, "image"), "TF522", f'"{image}" starts or ends with a space', "remove the spaces around it")
    if "env" in container or "envFrom" in container:
        env_rules.check(container, path, found)
    if "volumeMounts" in container or "volumeDevices" in container:
        _check_mounts(container, volumes, path, found)
    if "securityContext" in container:
        _check_security(table(container, "securityContext"), (*path, "securityContext"), found)
    probe_rules.check(container, path, found)


def _check_mounts(container: Tree, volumes: frozenset[str], path: Path, found: Found) -> None:
    for key in ("volumeMounts", "volumeDevices"):
        for index, mount in enumerate(tables(container, key)):
            name = mount.get("name")
            if type(name) is str and name not in volumes:
                hint = did_you_mean(name, volumes) or f"add {name} to the volumes of the pod"
                found.tell((*path, key, index, "name"), "TF530", f'the pod has no volume called "{name}"', hint)
            if mount.get("mountPath") == "":
                found.tell((*path, key, index, "mountPath"), "TF526", "must not be empty")
            if not mount.keys() <= _SIMPLE_MOUNT:
                _check_mount(mount, container, (*path, key, index), found)


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
        check_name(port, "name", port_name, "TF527", at, found)
        if name := text(port, "name"):
            if name in names:
                message = f'"{name}" is already the name of another port of this container'
                found.tell((*at, "name"), "TF527", message, "give it another name")
            names.append(name)
        if host_network or "hostPort" in port:
            _check_host_port(port, host_network, taken, text(container, "name"), at, found)


def _check_host_port(
    port: Tree, host_network: bool, taken: _HostPorts, container: str, path: Path, found: Found
) -> None:
    """A host port must be in range, unique in the pod, and equal to the container port with `hostNetwork`."""
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
    check_between(context, 0, LARGEST_ID, ("runAsUser", "runAsGroup"), "TF535", path, found)
    if context.get("allowPrivilegeEscalation") is not False:
        return
    # A container with these privileges cannot forbid escalation.
    at, hint = (*path, "allowPrivilegeEscalation"), "remove one of the two"
    if context.get("privileged") is True:
        found.tell(at, "TF535", "must not be false with privileged: true", hint)
    if "CAP_SYS_ADMIN" in texts(table(context, "capabilities"), "add"):
        found.tell(at, "TF535", "must not be false with capability CAP_SYS_ADMIN", hint)

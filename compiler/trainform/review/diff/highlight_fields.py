"""The fields that a reviewer must see, whatever is folded: what runs, with which privileges, volumes and secrets.

Reviews fold `rendered/`, and a TrainJob is short: most of this comes from its runtime and its Environment. A further
field is one line.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from trainform.core.schedulers import OWNERS
from trainform.k8s.tree import Tree, sequence, table, tables, text, value_at

Entries = Mapping[str, Any]
"""Values to show by the name of the list entry, which is empty if the field is shown as a whole."""


def _whole(value: Any) -> Entries:
    return {"": value}


def _host_paths(volumes: Any) -> Entries:
    return {name: text(source, "path") for name, kind, source in _sources(volumes) if kind == "hostPath"}


def _secret_volumes(volumes: Any) -> Entries:
    own = {name: text(source, "secretName") for name, kind, source in _sources(volumes) if kind == "secret"}
    projected = {name: [text(each, "name") for each in found] for name, found in _projected(volumes, "secret")}
    return own | projected


def _token_volumes(volumes: Any) -> Entries:
    tokens = _projected(volumes, "serviceAccountToken")
    return {name: [text(each, "audience") or "the API server" for each in found] for name, found in tokens}


def _projected(volumes: Any, kind: str) -> Iterator[tuple[str, list[Tree]]]:
    """The sources of one kind in each projected volume."""
    for name, source in ((name, source) for name, each, source in _sources(volumes) if each == "projected"):
        yield name, [table(each, kind) for each in tables(source, "sources") if kind in each]


_TOLD_ELSEWHERE = ("hostPath", "secret", "projected")
_HARMLESS = ("emptyDir", "configMap", "downwardAPI")
_NAMES = ("claimName", "server", "driver", "volumeID", "image", "reference")
"""Fields that name what a volume is, of the kinds that people use."""


def _other_volumes(volumes: Any) -> Entries:
    return {
        name: " ".join([kind, *filter(None, (text(source, field) for field in (*_NAMES, "path")))])
        for name, kind, source in _sources(volumes)
        if kind not in (*_TOLD_ELSEWHERE, *_HARMLESS)
    }


def _sources(volumes: Any) -> Iterator[tuple[str, str, Tree]]:
    """Name, kind and source of each volume."""
    for volume in tables({"volumes": volumes}, "volumes"):
        yield from ((text(volume, "name"), kind, table(volume, kind)) for kind in volume if kind != "name")


def _secret_variables(env: Any) -> Entries:
    found = ((text(each, "name"), value_at(each, ("valueFrom", "secretKeyRef"))) for each in tables({"": env}, ""))
    return {name: f"{text(key, 'name')}/{text(key, 'key')}" for name, key in found if isinstance(key, dict)}


def _code_variables(env: Any) -> Entries:
    found = ((text(each, "name"), each) for each in tables({"": env}, ""))
    return {name: each.get("value", table(each, "valueFrom")) for name, each in found if _loads_code(name)}


def _loads_code(name: str) -> bool:
    return name in _LOADING or name.startswith("LD_") or name.endswith(("_INDEX_URL", "_RSH_AGENT", "_LAUNCH_AGENT"))


_LOADING = frozenset((
    "BASH_ENV", "CUDA_INJECTION64_PATH", "ENV", "GCONV_PATH", "GIT_SSH_COMMAND", "HYDRA_LAUNCHER_EXEC",
    "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "NCCL_NET_PLUGIN", "NCCL_TUNER_PLUGIN", "NODE_OPTIONS", "PATH", "PERL5LIB",
    "PERL5OPT", "PIP_CONFIG_FILE", "PROMPT_COMMAND", "PYTHONBREAKPOINT", "PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP",
    "PYTHONUSERBASE", "RUBYLIB", "RUBYOPT", "UV_CONFIG_FILE", "UV_DEFAULT_INDEX", "UV_INDEX", "_JAVA_OPTIONS",
))  # fmt: skip
"""Variables by which loaders, shells, interpreters, installers and launchers find code, and run it unasked."""


def _variables_of_config_maps(sources: Any) -> Entries:
    names = (text(table(each, "configMapRef"), "name") for each in tables({"": sources}, ""))
    return {"": [*filter(None, names)]}


def _secret_environments(sources: Any) -> Entries:
    names = (text(table(each, "secretRef"), "name") for each in tables({"": sources}, ""))
    return {"": [*filter(None, names)]}


def _names(items: Any) -> Entries:
    return {"": [text(each, "name") for each in tables({"": items}, "")]}


def _host_ports(ports: Any) -> Entries:
    return {str(each.get("containerPort")): each.get("hostPort") for each in tables({"": ports}, "")}


def _everything_tolerated(tolerations: Any) -> Entries:
    """A toleration of every taint, with the effect that it is limited to."""
    found = [each for each in tables({"": tolerations}, "") if each.get("operator") == "Exists" and not each.get("key")]
    return {"": [text(each, "effect") or "every effect" for each in found]}


def _granting(annotations: Any) -> Entries:
    found = annotations.items() if isinstance(annotations, dict) else ()
    return {key: value for key, value in found if key.startswith(_GRANTING)}


_GRANTING = (
    "container.apparmor.security.beta.kubernetes.io/",
    "iam.amazonaws.com/",
    "k8s.v1.cni.cncf.io/",
    "v1.multus-cni.io/",
)
"""Prefixes of annotations by which nodes confine a pod less, give it a role of the cloud, or attach it to networks."""


def _rules(rules: Any) -> Entries:
    return {str(index): rule for index, rule in enumerate(sequence(rules))}


def _digests(data: Any) -> Entries:
    """Nobody can read an encrypted value, and nobody shall read another one."""
    found = data.items() if isinstance(data, dict) else ()
    return {name: f"sha256:{hashlib.sha256(str(value).encode()).hexdigest()[:12]}" for name, value in found}


def _never(_value: Any) -> bool:
    """For fields of which a new job shows none."""
    return False


def _is(wanted: Any) -> Callable[[Any], bool]:
    return lambda value: type(value) is type(wanted) and value == wanted


class Field(NamedTuple):
    """A field that a reviewer must see: its path below a pod spec, a container or an object, what people call it, and
    why it matters. `entries` picks what is shown. A change of it is always shown; of a new job, values that `matters`.
    `default` equals no value. A `privilege` is a right that training rarely needs."""

    path: str
    label: str
    why: str
    entries: Callable[[Any], Entries] = _whole
    matters: Callable[[Any], bool] = lambda value: True
    default: Any = None
    privilege: bool = True


def _is_strange(scheduler: Any) -> bool:
    """Whether no gang scheduler that trainform knows is called so."""
    return scheduler not in OWNERS


def _is_root_among(groups: Any) -> bool:
    return 0 in (groups if isinstance(groups, list) else [groups])


_SELINUX = "its processes run with an SELinux label of its own choice"
_UNCONFINED = "the container may make any system call"
_NOT_CONFINED = "AppArmor does not confine the container"
_ROOT = "the processes run as root"
_IN_ROOTS_GROUP = "the processes are in root's group, too"
_PROBED = "what runs again and again"

_SECURITY = (
    Field("securityContext.runAsUser", "run as user", _ROOT, matters=_is(0)),
    Field("securityContext.runAsGroup", "run as group", "the processes run in root's group", matters=_is(0)),
    Field("securityContext.runAsNonRoot", "run as non-root", "the image may run as root", matters=_is(False)),
    Field("securityContext.seccompProfile.type", "seccomp profile", _UNCONFINED, matters=_is("Unconfined")),
    Field("securityContext.appArmorProfile.type", "AppArmor profile", _NOT_CONFINED, matters=_is("Unconfined")),
    Field("securityContext.seLinuxOptions", "SELinux options", _SELINUX),
    Field(
        "securityContext.windowsOptions.hostProcess",
        "host process",
        "the container runs as a process of the Windows node",
        matters=_is(True),
        default=False,
    ),
)
"""Fields of a pod's and of a container's security context."""

POD_FIELDS = (
    Field("hostNetwork", "host network", "pods use the node's network", matters=_is(True), default=False),
    Field("hostPID", "host processes", "pods see every process of the node", matters=_is(True), default=False),
    Field("hostIPC", "host IPC", "pods share memory with the node's processes", matters=_is(True), default=False),
    *_SECURITY,
    Field("securityContext.fsGroup", "file group", _IN_ROOTS_GROUP, matters=_is_root_among),
    Field("securityContext.supplementalGroups", "more groups", _IN_ROOTS_GROUP, matters=_is_root_among),
    Field("securityContext.sysctls", "sysctls", "pods set kernel parameters"),
    Field(
        "shareProcessNamespace",
        "shared processes",
        "containers see each other's processes, files and variables",
        matters=_is(True),
        default=False,
    ),
    Field("hostUsers", "host users", "root in the container is root on the node", matters=_is(True), default=True),
    Field("volumes", "host path", "pods use a folder of the node", _host_paths),
    Field("serviceAccountName", "service account", "pods may do what the account may", default="default"),
    Field("serviceAccount", "service account", "pods may do what the account may", default="default"),
    Field("automountServiceAccountToken", "API token", "pods get the account's API token", matters=_is(True)),
    Field("volumes", "API token", "pods get the account's API token", _token_volumes),
    Field("tolerations", "tolerates every taint", "pods may run on any node", _everything_tolerated, bool),
    Field("nodeName", "node", "pods are bound to a node, past the scheduler"),
    Field("runtimeClassName", "runtime class", "decides how far containers are isolated", privilege=False),
    Field("volumes", "volume", "pods use data that outlives them", _other_volumes, privilege=False),
    Field("volumes", "secret volume", "pods read a Secret", _secret_volumes, privilege=False),
    Field("hostAliases", "host aliases", "names lead to addresses that the job chose", privilege=False),
    Field("dnsConfig", "DNS settings", "names are looked up where the job chose", privilege=False),
    Field("priorityClassName", "priority class", "pods may evict those of other jobs", privilege=False),
    Field(
        "schedulerName",
        "scheduler",
        "decides where pods run, and past which queues",
        matters=_is_strange,
        default="default-scheduler",
        privilege=False,
    ),
    Field("imagePullSecrets", "pull secret", "images are pulled with a Secret", _names, bool, privilege=False),
)
"""What counts in a pod spec."""

CONTAINER_FIELDS = (
    Field(
        "securityContext.privileged",
        "privileged",
        "the container has root's rights on the node",
        matters=_is(True),
        default=False,
    ),
    Field(
        "securityContext.allowPrivilegeEscalation",
        "privilege escalation",
        "processes may gain more rights than they start with",
        matters=_is(True),
    ),
    Field("securityContext.capabilities.add", "added capabilities", "processes get some of root's rights"),
    Field(
        "securityContext.capabilities.drop",
        "dropped capabilities",
        "without them, processes keep root's rights",
        matters=_never,
    ),
    Field(
        "securityContext.readOnlyRootFilesystem",
        "read-only files",
        "without it, processes may change programs",
        matters=_never,
    ),
    Field("securityContext.procMount", "proc mount", "/proc is not masked", matters=_is("Unmasked"), default="Default"),
    *_SECURITY,
    Field("ports", "host port", "the container takes a port of the node", _host_ports),
    Field("image", "image", "what runs", privilege=False),
    Field(
        "imagePullPolicy",
        "pull policy",
        "the node's own image runs, whatever the registry holds",
        matters=_is("Never"),
        privilege=False,
    ),
    Field("command", "command", "what runs", privilege=False),
    Field("args", "arguments", "what runs", privilege=False),
    Field("lifecycle", "lifecycle hooks", "what runs at start and stop", privilege=False),
    Field("startupProbe.exec.command", "probe", _PROBED, privilege=False),
    Field("readinessProbe.exec.command", "probe", _PROBED, privilege=False),
    Field("livenessProbe.exec.command", "probe", _PROBED, privilege=False),
    Field("volumeDevices", "block devices", "the container uses raw volumes", privilege=False),
    Field("env", "code variable", "code is loaded from where it says, unasked", _code_variables, privilege=False),
    Field(
        "envFrom",
        "variables",
        "the container takes every variable of a ConfigMap",
        _variables_of_config_maps,
        bool,
        privilege=False,
    ),
    Field("env", "secret variable", "the container reads a Secret", _secret_variables, privilege=False),
    Field("envFrom", "secret variables", "the container reads Secrets", _secret_environments, bool, privilege=False),
)
"""What counts in a container, init containers included."""

TEMPLATE_FIELDS = (
    Field("metadata.annotations", "annotation", "nodes and webhooks give the pods rights for it", _granting),
)
"""What counts in a pod template beside its spec."""

_KEY = "another key: whoever made it can log in to the job's pods"

_KEYS = (
    Field("spec.encryptedData", "key", _KEY, _digests, matters=_never, privilege=False),
    Field("data", "key", _KEY, _digests, matters=_never, privilege=False),
    Field("stringData", "key", _KEY, _digests, matters=_never, privilege=False),
)

OBJECT_FIELDS: Mapping[str, tuple[Field, ...]] = {
    "Role": (Field("rules", "rule", "what the job's account may do", _rules),),
    "ClusterRole": (Field("rules", "rule", "what the job's account may do", _rules),),
    "RoleBinding": (Field("roleRef", "role", "what the job's account may do"),),
    "ClusterRoleBinding": (Field("roleRef", "role", "what the job's account may do"),),
    "SealedSecret": _KEYS,
    "Secret": _KEYS,
}
"""What counts in objects beside the JobSet, by kind."""

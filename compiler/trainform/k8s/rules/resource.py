"""The API server's rules for resources of containers and pods."""

from __future__ import annotations

from functools import lru_cache

from trainform.diagnostics import Path
from trainform.diagnostics.suggest import did_you_mean
from trainform.k8s.names import qualified_name
from trainform.k8s.pod_requests import pod_level_supports, pod_requests
from trainform.k8s.quantity import NANO, Quantity, QuantityError, parse
from trainform.k8s.rules.parts import Found
from trainform.k8s.tree import Tree, table, tables, text

_PLAIN = frozenset({"cpu", "memory", "ephemeral-storage"})
_HUGE_PAGES = "hugepages-"


def check(spec: Tree, path: Path, found: Found) -> None:
    """`resources` of every container of a pod spec, and of the pod."""
    for key in ("containers", "initContainers"):
        for index, container in enumerate(tables(spec, key)):
            if resources := table(container, "resources"):
                _check_resources(resources, spec, (*path, key, index, "resources"), found)
    if resources := table(spec, "resources"):
        _check_pod_level(resources, spec, (*path, "resources"), found)
    if overhead := table(spec, "overhead"):
        _check_amounts(overhead, (*path, "overhead"), found)


def _check_resources(resources: Tree, spec: Tree, path: Path, found: Found) -> None:
    limits, requests = table(resources, "limits"), table(resources, "requests")
    _check_amounts(limits, (*path, "limits"), found)
    _check_amounts(requests, (*path, "requests"), found)
    for name, request in requests.items():
        limit = limits.get(name)
        if request != limit:
            _check_fit(name, request, limit, (*path, "requests", name), found)
    if not requests.keys() <= _PLAIN or not limits.keys() <= _PLAIN:
        names = limits.keys() | requests.keys()
        if names.isdisjoint(("cpu", "memory")) and any(name.startswith(_HUGE_PAGES) for name in names):
            found.tell(path, "TF531", "requests huge pages without cpu or memory", "add a request for memory")
    if "claims" in resources:
        _check_claims(resources, spec, path, found)


def _check_amounts(amounts: Tree, path: Path, found: Found) -> None:
    for name, amount in amounts.items():
        if type(amount) is str or type(amount) is int:
            for message, hint in _refusals(name, amount):
                found.tell((*path, name), "TF531", message, hint)


@lru_cache(maxsize=1024)
def _refusals(name: str, amount: str | int) -> tuple[tuple[str, str], ...]:
    """Why a container cannot ask for this amount: messages with hints."""
    refusals = [] if name in _PLAIN else _name_refusals(name)
    quantity = parsed(amount)
    if quantity and quantity.nano < 0:
        refusals.append((f"must not be negative, but is {amount}", ""))
    if quantity and quantity.nano % NANO and _is_extended(name):
        hint = "write a whole number; for a part of a GPU, use its own resource, such as nvidia.com/mig-1g.5gb"
        message = f'"{amount}" is not a whole number, and {name} cannot be split'
        refusals.append((message, hint if "gpu" in name.lower() else "write a whole number"))
    return tuple(refusals)


def _name_refusals(name: str) -> list[tuple[str, str]]:
    if "/" in name:
        reason = qualified_name(name)
        return [(f'the name "{name}" {reason}', "")] if reason else []
    if name.startswith(_HUGE_PAGES):
        return []
    hint = "write nvidia.com/gpu" if name.lower() in ("gpu", "gpus") else did_you_mean(name, _PLAIN)
    hint = hint or "write cpu, memory, ephemeral-storage or a name with a domain, such as nvidia.com/gpu"
    return [(f'containers cannot request "{name}"', hint)]


def parsed(amount: object) -> Quantity | None:
    """The amount, or None if invalid, which the schema reports."""
    if type(amount) is not str and type(amount) is not int:
        return None
    try:
        return parse(amount)
    except QuantityError:
        return None


def _is_extended(name: str) -> bool:
    """Whether the resource comes from a device plugin, not from Kubernetes."""
    return "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.")


def _check_fit(name: str, request: object, limit: object, path: Path, found: Found) -> None:
    """A request must not exceed its limit; for devices and huge pages it must equal it."""
    exact = _is_extended(name) or name.startswith(_HUGE_PAGES)
    if limit is None:
        if exact:
            hint = f"write {name}: {request} in limits as well, or only there"
            found.tell(path, "TF532", f"{name} needs a limit equal to its request", hint)
        return
    wanted, most = parsed(request), parsed(limit)
    if wanted is None or most is None or wanted == most:
        return
    if exact:
        found.tell(path, "TF532", f"must equal the limit ({limit}), not {request}", "write only the limit")
    elif most < wanted:
        message = f"must be at most the limit ({limit}), not {request}"
        found.tell(path, "TF532", message, "increase the limit or reduce the request")


def _check_claims(resources: Tree, spec: Tree, path: Path, found: Found) -> None:
    names = [text(claim, "name") for claim in tables(spec, "resourceClaims")]
    for index, claim in enumerate(tables(resources, "claims")):
        if (name := text(claim, "name")) and name not in names:
            hint = did_you_mean(name, names) or f"add {name} to the resourceClaims of the pod"
            message = f'the pod has no resource claim named "{name}"'
            found.tell((*path, "claims", index, "name"), "TF531", message, hint)


def _check_pod_level(resources: Tree, spec: Tree, path: Path, found: Found) -> None:
    requests, limits = table(resources, "requests"), table(resources, "limits")
    _check_pod_amounts(limits, (*path, "limits"), found)
    _check_pod_amounts(requests, (*path, "requests"), found)
    needed = _needed(spec)
    for name, request in requests.items():
        at = (*path, "requests", name)
        if limits.get(name) not in (None, request):
            _check_fit(name, request, limits[name], at, found)
        quantity = parsed(request)
        if quantity and name in needed and quantity < needed[name]:
            message = f"must be at least the sum of its containers ({needed[name]}), not {request}"
            found.tell(at, "TF532", message, "increase it, or reduce the containers' requests")


def _check_pod_amounts(amounts: Tree, path: Path, found: Found) -> None:
    for name, amount in amounts.items():
        if pod_level_supports(name):
            _check_amounts({name: amount}, path, found)
        else:
            hint = "set it in the resources of a container"
            found.tell((*path, name), "TF531", f"pod-level resources cannot include {name}", hint)


def _needed(spec: Tree) -> dict[str, Quantity]:
    """Total requests of the pod's containers; empty if an amount is unreadable."""
    keys = ("containers", "initContainers")
    lists = {key: [_of_container(each) for each in tables(spec, key)] for key in keys}
    try:
        return pod_requests(lists, limits_default_requests=True)
    except QuantityError:
        return {}


def _of_container(container: Tree) -> Tree:
    resources = table(container, "resources")
    amounts = {key: table(resources, key) for key in ("requests", "limits")}
    return {"resources": amounts, "restartPolicy": container.get("restartPolicy")}

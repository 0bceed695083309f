"""Lints about resources that were probably not intended."""

from __future__ import annotations

import re
from functools import lru_cache

from trainform_plugins.lints.finished import Finished

SHARED = ("cpu", "memory")
"""What pods share; for devices, the API server requires equal request and limit anyway."""

BYTES = ("ephemeral-storage", "memory")
_TINY = re.compile(r"[1-9][0-9]{0,5}|[0-9]+m")
"""Less than a megabyte: a number with a forgotten unit, or thousandths of a byte."""

GPUS = {f"{vendor}{ending}gpu": f"{vendor}.com/gpu" for vendor in ("amd", "nvidia") for ending in ("com", "")}
"""Misspelled GPU resource names, with the intended one."""


def hardly_meant(job: Finished) -> None:
    """Memory of a few bytes, and GPUs under a name that no device plugin offers.

    Why: the API server accepts both. Bites: a pod with 64 bytes of memory never starts, and one that requests
    `nvidia.com/gpus` waits forever, since extended resources may have any name.
    """
    for pods, node in job.nodes:
        resources = node.get("resources") or {}
        asked = {**(resources.get("requests") or {}), **(resources.get("limits") or {})}
        for name, amount in asked.items():
            for problem, hint in _oddities(name, str(amount)):
                job.plan.report("TF619", problem, severity="warning", hint=hint, **job.resources(pods, node, name))


@lru_cache
def _oddities(name: str, amount: str) -> tuple[tuple[str, str], ...]:
    """Problems of an amount, each with its hint. Cached: many jobs request the same."""
    found = []
    if name in BYTES and _TINY.fullmatch(amount):
        number = amount.removesuffix("m")
        unit = "thousandths of a byte" if amount.endswith("m") else "bytes"
        found.append((f"{name} is only {number} {unit}: probably a mistake", f"write {number}Mi or {number}Gi"))
    device = _meant(name)
    if device != name:
        found.append((f"no node offers {name}, so a pod that requests it never starts", f"write {device}"))
    return tuple(found)


def _meant(name: str) -> str:
    """The device plugin's resource with nearly this name; else the name itself."""
    return GPUS.get(re.sub("[^a-z]", "", name.lower()).removesuffix("s"), name)


def limit_without_its_request(job: Finished) -> None:
    """A TrainJob that raises a limit keeps the runtime's request, since both merge key by key.

    Why: placement, quota and the number of processes all use requests. Bites: anyone who writes `limits: {cpu: 16}`
    over a runtime that requests 4, and gets four processes on a node that promises four CPUs (the reading of limits in
    trainer PR 3974 and trainer 2525).
    """
    trainer = job.plan.job.spec.trainer
    wanted = trainer.resources_per_node if trainer else None
    if wanted is None or not (limits := wanted.get("limits")):
        return
    own = wanted.get("requests") or {}
    for pods, node in job.nodes:
        resources = node.get("resources") or {}
        merged, requests = resources.get("limits") or {}, resources.get("requests") or {}
        kept = [k for k in SHARED if k in limits and k not in own and k in requests]
        kept = [key for key in kept if requests[key] != merged.get(key)]
        if kept:
            told = ", ".join(f"{key} requests {requests[key]}, limit {merged.get(key)}" for key in kept)
            job.plan.report(
                "TF614",
                f"the TrainJob sets the limit, but the request still comes from the runtime: {told}",
                severity="info",
                hint="set the request too: scheduling, quota and the number of processes depend on it",
                **job.resources(pods, node, *kept),
            )
            return


def limits_only(job: Finished) -> None:
    """CPU and memory with only a limit are reserved up to that limit.

    Why: the API server makes the limit the request, so a generous limit prevents placement and fills Kueue's quota.
    Bites: anyone who means "up to 64 CPUs". For GPUs it is the usual notation; gangs count such limits as well (D18;
    trainer 2525).
    """
    for pods, node in job.nodes:
        resources = node.get("resources") or {}
        limits, requests = resources.get("limits") or (), resources.get("requests") or ()
        alone = [key for key in SHARED if key in limits and key not in requests]
        if alone:
            job.plan.report(
                "TF614",
                f"no request for {' and '.join(alone)}, so the full limit is requested",
                severity="info",
                hint="if the job needs less, set requests too",
                **job.resources(pods, node, *alone),
            )
            return

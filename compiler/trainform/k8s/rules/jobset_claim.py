"""JobSet's rules for `volumeClaimPolicies`, claims that it creates and adds to pods as volumes."""

from __future__ import annotations

from collections.abc import Iterator

from trainform.diagnostics import Path
from trainform.k8s.names import LABEL_LENGTH, dns1123_subdomain, quoted
from trainform.k8s.rules.parts import Found
from trainform.k8s.tree import Tree, name_of, table, tables

_POD = ("template", "spec", "template", "spec")


def check(jobset: Tree, jobs: list[Tree], found: Found) -> frozenset[str]:
    """Checks the claims of `jobset`; returns their names, which are volumes of the pods that mount them."""
    policies = tables(table(jobset, "spec"), "volumeClaimPolicies")
    if not policies:
        return frozenset()
    claims: dict[str, Path] = {}
    jobset_name = name_of(jobset)
    for path, name in _templates(policies):
        if name in claims:
            found.tell(path, "TF506", f'"{name}" is already the name of another claim', "give each claim its own name")
            continue
        claims[name] = path
        _check_claim_name(name, jobset_name, path, found)
        _check_mounted(name, jobs, path, found)
    return frozenset(claims)


def _templates(policies: list[Tree]) -> Iterator[tuple[Path, str]]:
    for number, policy in enumerate(policies):
        for index, template in enumerate(tables(policy, "templates")):
            path = ("spec", "volumeClaimPolicies", number, "templates", index, "metadata", "name")
            yield path, name_of(template)


def _check_claim_name(name: str, jobset_name: str, path: Path, found: Found) -> None:
    claim = f"{name}-{jobset_name}"
    if reason := dns1123_subdomain(name):
        found.tell(path, "TF506", quoted(name, reason))
    elif len(claim) > LABEL_LENGTH:
        message = f'gives the claim name "{claim}" with {len(claim)} characters, but only {LABEL_LENGTH} are allowed'
        found.tell(path, "TF506", message, "shorten the name of the claim or of the job")


def _check_mounted(name: str, jobs: list[Tree], path: Path, found: Found) -> None:
    """A container must mount the claim, and no pod may have a volume of the same name."""
    mounted = False
    for index, job in enumerate(jobs):
        pod = table(table(table(table(job, "template"), "spec"), "template"), "spec")
        mounted = mounted or _mounts(pod, name)
        for place, volume in enumerate(tables(pod, "volumes")):
            if volume.get("name") == name:
                message = f'"{name}" is also the name of a claim in volumeClaimPolicies'
                at = ("spec", "replicatedJobs", index, *_POD, "volumes", place, "name")
                found.tell(at, "TF506", message, "remove one of the two")
    if not mounted:
        message = f'no container mounts "{name}"'
        found.tell(path, "TF506", message, f"add volumeMounts with name {name} to a container, or remove the claim")


def _mounts(pod: Tree, name: str) -> bool:
    containers = tables(pod, "containers") + tables(pod, "initContainers")
    return any(mount.get("name") == name for container in containers for mount in tables(container, "volumeMounts"))

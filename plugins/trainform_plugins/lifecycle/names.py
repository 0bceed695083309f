"""References by a job's own name, if its objects carry a content hash."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainform.plugin import JobSetView, Path, Plan, ReplicatedJob, table, tables

CONFIG_MAPS = ("configMap", "configMapRef", "configMapKeyRef")
"""Pod fields that refer to a ConfigMap by its `name`."""

JOBSET_NAME = "metadata.labels['jobset.sigs.k8s.io/jobset-name']"
"""The pod field that holds the name of its JobSet."""


def names_that_do_not_follow(plan: Plan, jobset: JobSetView) -> None:
    """Text that spells a host name or object with the job's own name refers to nothing.

    Why: every name that trainform generates gets the hash; text is the user's. Bites: anyone who writes
    `--master=llm-node-0-0.llm` by hand and then switches to `naming: content-hash`.
    """
    if plan.name == plan.stable_name:
        return
    hosts = _hosts(plan, jobset)
    objects = {plan.stable(name): name for name in (tree["metadata"]["name"] for tree in plan.objects)}
    for job in jobset.jobs:
        for path, text in _strings(job.pod_spec, (*job.pod_path, "spec")):
            if plan.stable_name not in text:
                continue
            match = hosts.search(text)
            if match is not None:
                _tell(plan, jobset, path, match[0], _hint(plan, job, match[0], path))
            elif _is_reference(path) and objects.get(text, text) != text:
                _tell(plan, jobset, path, text, "each change of the job renames it: refer to an object of your own")


def _tell(plan: Plan, jobset: JobSetView, path: Path, old: str, hint: str) -> None:
    plan.report_object(
        jobset.tree,
        path,
        "TF628",
        f"{old} does not exist: with its content hash, its name is {_renamed(plan, old)}",
        severity="warning",
        hint=hint,
    )


def _hosts(plan: Plan, jobset: JobSetView) -> re.Pattern[str]:
    """The pods' host names as they would be without a hash."""
    job, names = re.escape(plan.stable_name), "|".join(re.escape(each.name) for each in jobset.jobs)
    return re.compile(rf"(?<![\w.-]){job}-(?:{names})-\d+-\d+(?:\.{job}(?![\w-]))?")


def _is_reference(path: Path) -> bool:
    """Whether a text of a pod references another object, of a rendered kind."""
    return path[-1] == "serviceAccountName" or path[-2] in CONFIG_MAPS


def _renamed(plan: Plan, name: str) -> str:
    return re.sub(rf"(?<![\w-]){re.escape(plan.stable_name)}(?![\w])", plan.name, name)


def _hint(plan: Plan, job: ReplicatedJob, name: str, path: Path) -> str:
    """The variable in the same container that holds the name, else how to create one."""
    kind, index = path[len(job.pod_path) + 1 : len(job.pod_path) + 3]
    containers = tables(job.pod_spec, str(kind)) if str(kind).lower().endswith("containers") else []
    container = containers[int(index)] if containers else {}
    for variable in tables(container, "env"):
        if str(variable.get("value", "")).startswith(_renamed(plan, name)):
            return f"write $({variable['name']}), which expands to {variable['value']}"
    return f'take the name from a variable with valueFrom: {{fieldRef: {{fieldPath: "{JOBSET_NAME}"}}}}'


def _strings(value: object, path: Path) -> Iterator[tuple[Path, str]]:
    """Every string value below `value`, with its path; keys are excluded."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, child in value.items():
            yield from _strings(child, (*path, key))
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from _strings(child, (*path, index))


def shared_subdomain(plan: Plan, jobset: JobSetView) -> None:
    """A fixed subdomain is shared by all versions of a job, and only the first version's pods can be resolved.

    Why: JobSet creates a headless service of that name for one JobSet's pods, and leaves an existing one alone. Bites:
    the new version waits for host names that do not resolve until the old one is gone. Source: kubernetes-sigs/jobset
    `pkg/controllers/jobset_controller.go`.
    """
    subdomain = table(jobset.spec, "network").get("subdomain")
    if subdomain and plan.name != plan.stable_name:
        plan.report_object(
            jobset.tree,
            ("spec", "network", "subdomain"),
            "TF629",
            f"all versions of the job share subdomain {subdomain}, but its service serves the pods of only one of them",
            severity="warning",
            hint="remove subdomain: it defaults to the JobSet's name",
        )

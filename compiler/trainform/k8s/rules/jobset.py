"""Checks whether the cluster would reject a JobSet: the webhook and CEL rule of JobSet v0.12, and the API server's
rules for its Jobs (`job_rules`) and pods (`pod_rules`)."""

from __future__ import annotations

from trainform.diagnostics import Path
from trainform.diagnostics.suggest import did_you_mean
from trainform.k8s.names import LABEL_LENGTH, dns1035_label, domain_path, label_value, quoted
from trainform.k8s.rules import job as job_rules
from trainform.k8s.rules import jobset_claim as jobset_claim_rules
from trainform.k8s.rules import jobset_policy as jobset_policy_rules
from trainform.k8s.rules.metadata import check_metadata
from trainform.k8s.rules.parts import LARGEST_ID, Found, check_name, replicas
from trainform.k8s.schema.messages import SchemaProblem
from trainform.k8s.tree import Tree, metadata_of, name_of, number, table, tables, text

__all__ = ["WARNINGS", "check"]

WARNINGS = frozenset({"TF507", "TF524", "TF529", "TF530", "TF532"})
"""Problems that do not stop admission: a cluster may have enabled the feature of TF507; the others make only pods fail.
All other codes found here are errors."""

_POD_SUFFIX = "-abcde"
"""As long as the suffix that the Job controller adds to pod names."""

_JOBS: Path = ("spec", "replicatedJobs")


def check(jobset: Tree, appended: int = 0) -> list[SchemaProblem]:
    """Problems of a rendered JobSet of any shape, its Jobs and pods, except what `schema.check` reports. Paths start at
    its root. The last `appended` characters of its name come from the compiler."""
    found = Found()
    spec = table(jobset, "spec")
    jobs = tables(spec, "replicatedJobs")
    check_metadata(metadata_of(jobset), ("metadata",), found)
    _check_names(metadata_of(jobset), jobs, appended, found)
    # The subdomain names a headless service, whose names follow the stricter rule.
    check_name(table(spec, "network"), "subdomain", dns1035_label, "TF501", ("spec", "network"), found)
    check_name(spec, "managedBy", domain_path, "TF501", ("spec",), found)
    _check_dependencies(spec, jobs, found)
    jobset_policy_rules.check(spec, jobs, found)
    if spec.get("coordinator") is not None:
        _check_coordinator(name_of(jobset), spec, jobs, found)
    claims = jobset_claim_rules.check(jobset, jobs, found)
    for index, job in enumerate(jobs):
        _check_size(job, (*_JOBS, index), found)
        job_rules.check(table(job, "template"), (*_JOBS, index, "template"), claims, found)
    return found


def _check_names(metadata: Tree, jobs: list[Tree], appended: int, found: Found) -> None:
    """The JobSet's name, and the names of its Jobs and pods at their highest index."""
    name = text(metadata, "name")
    if reason := dns1035_label(name):
        hint = "JobSet uses it as the prefix of Job and pod names; for example `my-model-v2`"
        found.tell(("metadata", "name"), "TF501", quoted(name, reason), hint)
        return
    longest, of = "", 0
    for index, job in enumerate(jobs):
        check_name(job, "groupName", dns1035_label, "TF501", (*_JOBS, index), found)
        job_name = f"{name}-{text(job, 'name')}-{replicas(job) - 1}"
        if len(job_name) <= LABEL_LENGTH and dns1035_label(job_name):
            message = f'"{text(job, "name")}" must consist of lowercase letters, digits and `-`'
            hint = "JobSet uses it in Job and pod names; for example `node`"
            found.tell((*_JOBS, index, "name"), "TF501", message, hint)
        generated = _longest_name(job_name, job)
        if len(generated) > len(longest):
            longest, of = generated, index
    if len(longest) > LABEL_LENGTH:
        _report_length(len(name), appended, longest, of, found)


def _longest_name(job_name: str, job: Tree) -> str:
    """The last pod's name in the last Job, or the Job's name if its pods have no index."""
    spec = table(table(job, "template"), "spec")
    completions = number(spec, "completions")
    if completions is None or not job_rules.is_indexed(spec):
        return job_name
    return f"{job_name}-{completions - 1}{_POD_SUFFIX}"


def _report_length(length: int, appended: int, longest: str, index: int, found: Found) -> None:
    """Reports a generated name that is too long, at the JobSet's name if shortening that can help."""
    room = LABEL_LENGTH - (len(longest) - length) - appended
    kind = "pod" if longest.endswith(_POD_SUFFIX) else "Job"
    message = f'gives the {kind} name "{longest}" with {len(longest)} characters, but only {LABEL_LENGTH} are allowed'
    if room > 0:
        found.tell(("metadata", "name"), "TF501", message, f"use a name of at most {room} characters")
    else:
        found.tell((*_JOBS, index, "name"), "TF501", message, "shorten this name")


def _check_size(job: Tree, path: Path, found: Found) -> None:
    parallelism = number(table(table(job, "template"), "spec"), "parallelism")
    pods = replicas(job) * (1 if parallelism is None else parallelism)
    if pods > LARGEST_ID:
        message = f"times parallelism gives {pods} pods, but only {LARGEST_ID} are allowed"
        found.tell((*path, "replicas"), "TF508", message)


def _check_dependencies(spec: Tree, jobs: list[Tree], found: Found) -> None:
    earlier: list[str] = []
    dependent = False
    for index, job in enumerate(jobs):
        if type(job.get("dependsOn")) is list:
            dependent = True
            _check_depends_on(job, index, earlier, found)
        earlier.append(text(job, "name"))
    if dependent and text(table(spec, "startupPolicy"), "startupPolicyOrder") == "InOrder":
        message = "InOrder cannot be combined with `dependsOn` of a replicated job"
        hint = "remove startupPolicy or every dependsOn"
        found.tell(("spec", "startupPolicy", "startupPolicyOrder"), "TF504", message, hint)


def _check_depends_on(job: Tree, index: int, earlier: list[str], found: Found) -> None:
    path = (*_JOBS, index, "dependsOn")
    if not earlier:
        hint = "move the jobs that it depends on before it, or remove dependsOn"
        found.tell(path, "TF504", "the first replicated job cannot depend on another", hint)
    for place, wanted in enumerate(tables(job, "dependsOn")):
        name = text(wanted, "name")
        if name and earlier and name not in earlier:
            message = f'depends on "{name}", but no earlier replicated job has that name'
            hint = did_you_mean(name, earlier) or f"choose one of {', '.join(earlier)}"
            found.tell((*path, place, "name"), "TF504", message, hint)


def _check_coordinator(jobset_name: str, spec: Tree, jobs: list[Tree], found: Found) -> None:
    coordinator, path = table(spec, "coordinator"), ("spec", "coordinator")
    wanted = text(coordinator, "replicatedJob")
    job = next((job for job in jobs if text(job, "name") == wanted), None)
    if job is None:
        names = [text(job, "name") for job in jobs]
        jobset_policy_rules.report_unknown_job((*path, "replicatedJob"), wanted, names, found)
        return
    job_spec = table(table(job, "template"), "spec")
    if not job_rules.is_indexed(job_spec) or number(job_spec, "completions") is None:
        message = f'"{wanted}" must have completionMode Indexed and a number of completions'
        found.tell((*path, "replicatedJob"), "TF505", message)
    _check_index(coordinator, "jobIndex", replicas(job), found)
    _check_index(coordinator, "podIndex", number(job_spec, "completions"), found)
    _check_endpoint(jobset_name, spec, found)


def _check_endpoint(jobset_name: str, spec: Tree, found: Found) -> None:
    """The coordinator's address becomes a label value, which must be shorter than an address."""
    coordinator = table(spec, "coordinator")
    job, pod = number(coordinator, "jobIndex") or 0, number(coordinator, "podIndex") or 0
    subdomain = text(table(spec, "network"), "subdomain") or jobset_name
    endpoint = f"{jobset_name}-{text(coordinator, 'replicatedJob')}-{job}-{pod}.{subdomain}"
    if reason := label_value(endpoint):
        message = f'gives the label value "{endpoint}", which {reason}'
        found.tell(("spec", "coordinator"), "TF505", message, "shorten the name of the job or the subdomain")


def _check_index(coordinator: Tree, key: str, count: int | None, found: Found) -> None:
    index = number(coordinator, key) or 0
    if count is not None and not 0 <= index < count:
        message = f"must be below the number of {'replicas' if key == 'jobIndex' else 'completions'} ({count})"
        found.tell(("spec", "coordinator", key), "TF505", f"{message}, not {index}")

"""Rules for an Environment beyond its shape, one function each. Topology rules are those of Kueue's webhook
(pkg/controller/jobframework/tas_validation.go); the others follow from how the compiler uses the field."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from trainform.api.problems import Problem
from trainform.api.rules import managers_once, patch_managers, patch_times, patched_variables, positive, repeated
from trainform.api.selectors import LONGEST_PATH, matches_path
from trainform.diagnostics import Path
from trainform.k8s import names
from trainform.k8s.images import ImageName, is_digest, is_tag
from trainform.k8s.rules.metadata import check_selector
from trainform.k8s.rules.parts import Found
from trainform.k8s.versions import parse_version

if TYPE_CHECKING:
    from trainform.api.environment import Environment
    from trainform.api.scheduling import Topology

_KUEUE: Path = ("spec", "scheduling", "kueue")
_GANG: Path = ("spec", "scheduling", "gang")
_SECRETS: Path = ("spec", "secrets")


def environment_name(environment: Environment) -> Iterator[Problem]:
    """The name is a folder in `environments/` and `rendered/`, hence an RFC 1123 label."""
    yield from _named(names.dns1123_label, environment.name, ("metadata", "name"))


def namespace(environment: Environment) -> Iterator[Problem]:
    """API server: a namespace is an RFC 1123 label."""
    yield from _named(names.dns1123_label, environment.spec.namespace, ("spec", "namespace"))


def _named(check: Callable[[str], str | None], name: str | None, path: Path) -> Iterator[Problem]:
    if name is not None and (reason := check(name)):
        yield Problem(path, "TF301", f'"{name}" {reason}', leave_out=())


def versions(environment: Environment) -> Iterator[Problem]:
    """A version needs a minor part, which the checks compare."""
    for field in ("kubernetes", "jobset", "kueue"):
        version = getattr(environment.spec.cluster, field)
        if version is not None and parse_version(version) is None:
            hint = 'write major and minor version, such as "1.36"'
            yield Problem(("spec", "cluster", field), "TF104", f'"{version}" is not a version', hint)


def paths(environment: Environment) -> Iterator[Problem]:
    """Paths are relative to the repository's root or the Environment's folder, and stay inside it."""
    spec = environment.spec
    for path, patterns in (
        (("spec", "jobs", "paths"), spec.jobs.paths),
        (("spec", "cluster", "files"), spec.cluster.files or ()),
    ):
        for index, pattern in enumerate(patterns):
            yield from _pattern((*path, index), pattern)
    if spec.secrets.certificate is not None:
        yield from inside_folder((*_SECRETS, "certificate"), spec.secrets.certificate)


def _pattern(path: Path, pattern: str) -> Iterator[Problem]:
    yield from inside_folder(path, pattern)
    if len(pattern) > LONGEST_PATH:
        return
    try:
        matches_path([pattern], "")
    except re.error as error:
        message = f'"{pattern}" is not a valid pattern: {error}'
        yield Problem(path, "TF151", message, "reverse the range")


def inside_folder(path: Path, name: str) -> Iterator[Problem]:
    """The path of a file, or a pattern, is relative to a folder and stays below it."""
    if not name:
        yield Problem(path, "TF151", "must not be empty")
    elif len(name) > LONGEST_PATH:
        yield Problem(path, "TF151", f"must have at most {LONGEST_PATH:,} characters, not {len(name):,}")
    elif not name.isprintable():
        yield Problem(path, "TF151", "must not contain control characters")
    elif "\\" in name:
        yield Problem(path, "TF151", f'"{name}" must not contain a backslash', "separate folders with /")
    elif name.startswith("/") or re.match("[A-Za-z]:", name):
        yield Problem(path, "TF151", f'"{name}" must be relative', f"write {name.lstrip('/') or '**'}")
    elif ".." in name.split("/"):
        yield Problem(path, "TF151", f'"{name}" must not lead out of its folder', "remove the ..")


MOST_FOR_A_JOB = 1_000
"""Maximum patches, path patterns and conditions of a selector: each is tried on every job. Each takes a microsecond."""


def few_for_each_job(environment: Environment) -> Iterator[Problem]:
    """What every job is held against must be few: the time of a run is the product."""
    jobs, selector = environment.spec.jobs, environment.spec.jobs.selector
    counts: dict[Path, int] = {
        ("spec", "patches"): len(environment.spec.patches),
        ("spec", "jobs", "paths"): len(jobs.paths),
        ("spec", "jobs", "selector", "matchLabels"): len(selector.match_labels),
        ("spec", "jobs", "selector", "matchExpressions"): sum(
            1 + len(each.values) for each in selector.match_expressions
        ),
    }
    for path, count in counts.items():
        if count > MOST_FOR_A_JOB:
            message = f"has {count:,} entries, and each job is held against all: {MOST_FOR_A_JOB:,} are possible"
            yield Problem(path, "TF004", message, "use a label of the jobs, or several Environments")


def some_job(environment: Environment) -> Iterator[Problem]:
    """Without a pattern there are no jobs, and pruning would delete existing ones."""
    if not environment.spec.jobs.paths:
        hint = 'write ["jobs/**"], or remove it'
        yield Problem(("spec", "jobs", "paths"), "TF104", "must contain at least one pattern", hint, lacks=True)


def job_selector(environment: Environment) -> Iterator[Problem]:
    """API server: rules for label selectors."""
    found = Found()
    tree = environment.spec.jobs.selector.model_dump(by_alias=True, exclude_defaults=True)
    check_selector(tree, ("spec", "jobs", "selector"), "TF152", found)
    yield from (Problem(*problem, leave_out=()) for problem in found)


def installed_scheduler(environment: Environment) -> Iterator[Problem]:
    """Pods with a scheduler that is not installed stay pending forever."""
    gang, installed = environment.spec.scheduling.gang, environment.spec.cluster.schedulers
    scheduler = gang and gang.scheduler
    if scheduler and scheduler != "none" and installed is not None and scheduler not in installed:
        message = f"{scheduler} is not in spec.cluster.schedulers"
        hint = f"listed there: {', '.join(installed) or 'none'}"
        yield Problem((*_GANG, "scheduler"), "TF153", message, hint, leave_out=())


def gang_settings(environment: Environment) -> Iterator[Problem]:
    """The queue becomes a label value, and `queueLabel` its key."""
    if gang := environment.spec.scheduling.gang:
        yield from _named(names.qualified_name, gang.queue_label, (*_GANG, "queueLabel"))
        yield from _named(_queue, gang.queue, (*_GANG, "queue"))
        yield from positive(gang.schedule_timeout_seconds, (*_GANG, "scheduleTimeoutSeconds"))


READ_BY: dict[str, tuple[str, ...]] = {
    "perStage": ("coscheduling", "volcano", "kai", "yunikorn"),
    "queue": ("volcano", "kai", "yunikorn"),
    "scheduleTimeoutSeconds": ("coscheduling", "yunikorn"),
    "style": ("yunikorn",),
    "queueLabel": ("kai",),
    "topology": ("kai",),
    "networkTopology": ("volcano",),
}
"""Which schedulers read a setting of the gang. A gang that the runtime chose reads none."""


def gang_settings_are_read(environment: Environment) -> Iterator[Problem]:
    """A setting that nobody reads misleads whoever wrote it, unless it says what holds anyway: `perStage: false`."""
    gang = environment.spec.scheduling.gang
    given = gang.model_dump(by_alias=True, exclude_defaults=True) if gang else {}
    for key, schedulers in READ_BY.items():
        if gang and key in given and gang.scheduler not in schedulers:
            who = f"{gang.scheduler} ignores it" if gang.scheduler else "nobody reads it without gang.scheduler"
            hint = f"remove it; it is for {', '.join(schedulers)}"
            yield Problem((*_GANG, key), "TF165", who, hint, "warning", leave_out=())


def gang_topologies(environment: Environment) -> Iterator[Problem]:
    """KAI needs the name of a Topology and a level of it; Volcano's tiers start at 0, and only `hard` has a highest."""
    gang = environment.spec.scheduling.gang
    if gang and (kai := gang.topology):
        path: Path = (*_GANG, "topology")
        yield from _named(names.dns1123_subdomain, kai.name, (*path, "name"))
        for field in ("required", "preferred"):
            yield from _level((*path, field), getattr(kai, field))
        if not (kai.required or kai.preferred):
            yield Problem(path, "TF103", "also needs required or preferred", "name a level of the Topology", lacks=True)
    if gang and (network := gang.network_topology):
        path = (*_GANG, "networkTopology", "highestTierAllowed")
        highest = network.highest_tier_allowed
        if highest is not None and highest < 0:
            yield Problem(path, "TF104", f"must be at least 0, not {highest}", leave_out=())
        elif highest is not None and network.mode == "soft":
            hint = "remove it, or write mode: hard"
            yield Problem(path, "TF165", "volcano ignores it in mode soft", hint, "warning", leave_out=())


def _queue(name: str) -> str | None:
    return names.label_value(name) if name else "must not be empty"


def kueue_names(environment: Environment) -> Iterator[Problem]:
    """Queues and priority classes are object names, and label values of at most 63 characters."""
    if kueue := environment.spec.scheduling.kueue:
        yield from _named(_labelled_object, kueue.local_queue, (*_KUEUE, "localQueue"))
        yield from _named(_labelled_object, kueue.priority_class, (*_KUEUE, "priorityClass"))
        yield from positive(kueue.max_exec_time_seconds, (*_KUEUE, "maxExecTimeSeconds"))
        for step in kueue.steps:
            yield from _named(names.dns1035_label, step, (*_KUEUE, "steps", step))


def _labelled_object(name: str) -> str | None:
    return names.dns1123_subdomain(name) or names.label_value(name)


def topologies(environment: Environment) -> Iterator[Problem]:
    """Kueue's webhook: topology requests of a pod template."""
    if kueue := environment.spec.scheduling.kueue:
        yield from _topology((*_KUEUE, "topology"), kueue.topology)
        for name, step in kueue.steps.items():
            yield from _topology((*_KUEUE, "steps", name, "topology"), step.topology)


def _topology(path: Path, topology: Topology) -> Iterator[Problem]:
    given = [field for field in ("required", "preferred", "unconstrained") if getattr(topology, field)]
    if len(given) > 1:
        message = f"must set only one of required, preferred and unconstrained, not {' and '.join(given)}"
        rest = tuple((*path, field) for field in given[1:])
        yield Problem(path, "TF154", message, "keep one of them", leave_out=rest)
    for field in ("required", "preferred"):
        yield from _level((*path, field), getattr(topology, field))
    if topology.slice:
        yield from _level((*path, "slice", "required"), topology.slice.required)
        yield from positive(topology.slice.size, (*path, "slice", "size"))
    yield from _group((*path, "group"), topology)


def _level(path: Path, level: str | None) -> Iterator[Problem]:
    if level is not None and (reason := names.qualified_name(level)):
        message = f'"{level}" is not a valid node label: it {reason}'
        yield Problem(path, "TF104", message, "for example cloud.provider.com/topology-rack", leave_out=())


def _group(path: Path, topology: Topology) -> Iterator[Problem]:
    if topology.group is None:
        return
    if topology.slice:
        yield Problem(path, "TF154", "must not be combined with slice: Kueue rejects that")
    if not (topology.required or topology.preferred):
        yield Problem(path, "TF154", "also needs required or preferred", "set the topology level of the group")
    if not topology.group or topology.group.isdecimal():
        yield Problem(path, "TF104", "must be a name, not a number", leave_out=())


def secrets(environment: Environment) -> Iterator[Problem]:
    """A mode that encrypts needs recipients or a certificate."""
    given = environment.spec.secrets
    if given.mode == "sops" and not given.recipients:
        message = "is required by mode sops: the public keys that can decrypt"
        hint = "write recipients: [age1…], as `age-keygen -y` prints it"
        yield Problem((*_SECRETS, "recipients"), "TF155", message, hint, leave_out=())
    if given.mode == "sealed-secret" and given.certificate is None:
        message = "is required by mode sealed-secret: it encrypts for the cluster"
        hint = "write certificate: keys/cert.pem, the output of `kubeseal --fetch-cert`"
        yield Problem((*_SECRETS, "certificate"), "TF155", message, hint, leave_out=())
    for index, recipient in enumerate(given.recipients):
        if not re.fullmatch("age1[0-9a-z]+", recipient):
            yield _no_recipient(recipient, (*_SECRETS, "recipients", index))


def _no_recipient(recipient: str, path: Path) -> Problem:
    if recipient.upper().startswith("AGE-SECRET-KEY-"):
        message = "is a private key, which must not be in a repository"
        return Problem(path, "TF156", message, "create a new key and write its public part: age1…")
    return Problem(path, "TF104", f'"{recipient}" is not a public age key', "such keys start with age1")


_PRICES: Path = ("spec", "prices")
_CURRENCY = re.compile("[A-Z]{3,8}")
_PRICE = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")


def prices(environment: Environment) -> Iterator[Problem]:
    """Prices of resources and flavors by their names, as exact decimals that are not negative."""
    given = environment.spec.prices
    if given is None:
        return
    if not _CURRENCY.fullmatch(given.currency):
        message = f'"{given.currency}" is not a currency: write 3 to 8 capital letters'
        yield Problem((*_PRICES, "currency"), "TF104", message, "for example USD", leave_out=())
    lists: dict[Path, dict[str, str]] = {(*_PRICES, "resources"): given.resources}
    lists |= {(*_PRICES, "flavors", flavor): each for flavor, each in given.flavors.items()}
    for flavor in given.flavors:
        yield from _named(names.dns1123_subdomain, flavor, (*_PRICES, "flavors", flavor))
    for path, by_resource in lists.items():
        for resource, price in by_resource.items():
            yield from _named(names.qualified_name, resource, (*path, resource))
            if not _PRICE.fullmatch(price):
                message = f'"{price}" is not a price: write a decimal number with at most 9 digits on each side'
                yield Problem((*path, resource), "TF104", message, 'for example "2.50"', leave_out=())


def images(environment: Environment) -> Iterator[Problem]:
    """An entry matches by name alone, and changes something; what it writes is a valid image."""
    for index, entry in enumerate(environment.spec.images):
        path: Path = ("spec", "images", index)
        yield from _image_name((*path, "name"), entry.name)
        if entry.new_name is not None:
            yield from _image_name((*path, "newName"), entry.new_name)
        if entry.new_tag is not None and not is_tag(entry.new_tag):
            hint = "a tag has up to 128 letters, digits, dots, dashes and underscores; a digest goes into digest"
            yield Problem((*path, "newTag"), "TF368", f'"{entry.new_tag}" is not a tag', hint, leave_out=())
        if entry.digest is not None and not is_digest(entry.digest):
            hint = "write sha256: and 64 hexadecimal digits"
            yield Problem((*path, "digest"), "TF368", f'"{entry.digest}" is not a digest', hint, leave_out=())
        if entry.new_name is None and entry.new_tag is None and entry.digest is None:
            message = "changes nothing: it has no newName, newTag or digest"
            yield Problem(path, "TF368", message, f"write {{name: {entry.name}, newTag: …}}", leave_out=(), lacks=True)


def _image_name(path: Path, text: str) -> Iterator[Problem]:
    image = ImageName.of(text)
    if image is None:
        yield Problem(
            path, "TF368", f'"{text}" is not the name of an image', "for example pytorch/pytorch", leave_out=()
        )
    elif image.tag or image.digest:
        message = f'"{text}" must have no tag or digest'
        yield Problem(path, "TF368", message, f"write {image.name}, and the others in newTag and digest", leave_out=())


def named_once(environment: Environment) -> Iterator[Problem]:
    """Lists that must not repeat an entry."""
    spec = environment.spec
    yield from repeated(("spec", "cluster", "schedulers"), spec.cluster.schedulers or (), "name")
    yield from repeated((*_SECRETS, "recipients"), spec.secrets.recipients, "key")
    yield from repeated(("spec", "gitops", "allow"), spec.gitops.allow, "name")
    yield from repeated(("spec", "images"), [entry.name for entry in spec.images], "name")


RULES: tuple[Callable[[Environment], Iterator[Problem]], ...] = (
    environment_name,
    few_for_each_job,
    some_job,
    paths,
    job_selector,
    namespace,
    versions,
    installed_scheduler,
    gang_settings,
    gang_settings_are_read,
    gang_topologies,
    kueue_names,
    topologies,
    secrets,
    images,
    managers_once,
    patch_managers,
    patch_times,
    patched_variables,
    prices,
    named_once,
)

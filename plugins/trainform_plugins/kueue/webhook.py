"""What Kueue's webhook refuses of a pod's topology annotations, whoever set them. Source: kubernetes-sigs/kueue
`pkg/controller/jobframework/tas_validation.go`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

from trainform.plugin import JobSetView, Plan, ReplicatedJob, Tree, qualified_name, text
from trainform_plugins.kueue.asked import (
    GROUP,
    OFFSET,
    PREFERRED,
    REQUIRED,
    SLICE,
    SLICE_SIZE,
    SLICES,
    UNCONSTRAINED,
    report,
)

ELASTIC = "kueue.x-k8s.io/elastic-job"
"""Annotation of a job whose number of pods may change while it runs."""

MOST_LAYERS = 3
_BOOLEANS = frozenset(["1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False"])
"""What Go reads as a boolean."""


class Refusal(NamedTuple):
    """What is wrong with the annotation `key`."""

    key: str
    message: str
    hint: str = ""


def annotations_are_sound(plan: Plan, jobset: JobSetView) -> None:
    """Rules for one pod template."""
    for job in jobset.jobs:
        for rule in RULES:
            for refusal in rule(job):
                report(plan, jobset, job, refusal.key, "TF359", refusal.message, hint=refusal.hint)


def is_not_elastic(plan: Plan, jobset: JobSetView) -> None:
    """Only Jobs, not JobSets, may change their number of pods."""
    annotations = jobset.tree["metadata"].get("annotations") or {}
    if text(annotations, ELASTIC) == "true":
        path = ("metadata", "annotations", ELASTIC)
        message = f"{ELASTIC} is not supported for a JobSet: Kueue rejects it"
        plan.report_object(jobset.tree, path, "TF359", message, hint="remove it")


def _levels_are_labels(job: ReplicatedJob) -> Iterator[Refusal]:
    for key in (REQUIRED, PREFERRED, SLICE):
        if key in job.annotations and (reason := qualified_name(text(job.annotations, key))):
            yield Refusal(key, f'"{job.annotations[key]}" is not a valid node label: it {reason}')


def _values_are_readable(job: ReplicatedJob) -> Iterator[Refusal]:
    unconstrained, offset = job.annotations.get(UNCONSTRAINED), job.annotations.get(OFFSET)
    if unconstrained is not None and unconstrained not in _BOOLEANS:
        yield Refusal(UNCONSTRAINED, f'must be "true" or "false", not "{unconstrained}"')
    if offset is not None and not str(offset).isdecimal():
        yield Refusal(OFFSET, f'must be a number of at least 0, not "{offset}"')


def _group_is_alone(job: ReplicatedJob) -> Iterator[Refusal]:
    """A group has a name, a level of its own, and no slices."""
    name = job.annotations.get(GROUP)
    if name is None:
        return
    if str(name).isdecimal():
        yield Refusal(GROUP, f'must be a name, not the number "{name}"')
    for key in (SLICE, SLICE_SIZE, SLICES, OFFSET):
        if key in job.annotations:
            yield Refusal(GROUP, f"must not be combined with {key}: Kueue rejects both together")
    if not job.annotations.keys() & {REQUIRED, PREFERRED}:
        yield Refusal(GROUP, f"also needs {REQUIRED} or {PREFERRED}", "set the topology level of the group")


def _layers_are_sound(job: ReplicatedJob) -> Iterator[Refusal]:
    """Slices within slices: one to three layers, each with another level, whose sizes divide the one outside."""
    if SLICES not in job.annotations:
        return
    for key in (SLICE, SLICE_SIZE):
        if key in job.annotations:
            yield Refusal(SLICES, f"must not be combined with {key}: Kueue rejects both together")
    layers = _layers(text(job.annotations, SLICES))
    if layers is None or not 1 <= len(layers) <= MOST_LAYERS:
        hint = """for example '[{"topology": "rack", "size": 8}, {"topology": "host", "size": 4}]'"""
        yield Refusal(SLICES, f"must be a JSON list of 1 to {MOST_LAYERS} layers, each with topology and size", hint)
        return
    yield from (Refusal(SLICES, message) for message in _wrong_layers(layers, job.pods))


def _layers(written: str) -> list[tuple[str, int]] | None:
    """Level and size of each layer; None if the text is no such list. What is absent is empty, as in Go."""
    try:
        layers: list[Tree] = json.loads(written)
        found = [(layer.get("topology", ""), layer.get("size", 0)) for layer in layers]
    except (ValueError, TypeError, AttributeError):
        return None
    return found if all(isinstance(level, str) and type(size) is int for level, size in found) else None


def _wrong_layers(layers: list[tuple[str, int]], pods: int) -> Iterator[str]:
    for index, (level, size) in enumerate(layers):
        if reason := qualified_name(level):
            yield f'"{level}" is not a valid node label: it {reason}'
        if size < 1:
            yield f"the size of layer {level} must be at least 1, not {size}"
        if level in [earlier for earlier, _ in layers[:index]]:
            yield f"level {level} must be in one layer only"
    for (outer, whole), (inner, part) in pairwise(layers):
        if part > 0 and whole % part:
            yield f"slices of {part} pods ({inner}) must divide those of {whole} pods ({outer})"
    if layers[0][1] > pods:
        yield f"a slice of {layers[0][1]} pods is larger than the step, which has {pods}"


RULES: tuple[Callable[[ReplicatedJob], Iterator[Refusal]], ...] = (
    _levels_are_labels,
    _values_are_readable,
    _group_is_alone,
    _layers_are_sound,
)

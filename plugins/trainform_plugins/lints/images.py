"""Lints about images that may change between two runs of the same commit."""

from __future__ import annotations

import re
from typing import NamedTuple

from trainform.plugin import ImageName, Where
from trainform_plugins.lints.finished import Finished

NOBODY = ("spec", "runtimeRef")
"""Blamed for what a plugin adds."""


class Unpinned(NamedTuple):
    """An image without a digest, and who set it."""

    image: ImageName
    where: Where


def impossible_images(job: Finished) -> None:
    """Invalid image names: blanks, capitals, an unfilled template.

    Why: the API server accepts any text, and the kubelet rejects it. Bites: all pods of the job wait with
    InvalidImageName, holding their GPUs.
    """
    told: set[str] = set()
    for pods in job.jobset.jobs:
        for container in pods.all_containers:
            image = container.get("image") or ""
            if image and image not in told and ImageName.of(image) is None:
                told.add(image)
                job.plan.warn(
                    "TF618",
                    f'"{image}" is not a valid image name: the pods would fail with InvalidImageName',
                    hint=_as_reference(image),
                    **job.trainers(pods, container, "image"),
                )


def _as_reference(image: str) -> str:
    meant = re.sub(r"^(?:https?|docker)://|\s*([:/@])\s*", r"\1", image.strip(" \n\"'“”‘’`,;"))
    name, colon, tag = meant.rpartition(":")
    better = f"{name.lower()}{colon}{tag}" if colon and "/" not in tag else meant.lower()
    return f"write {better}" if ImageName.of(better) else "write registry/path/name:tag, without spaces"


def unpinned_images(job: Finished) -> None:
    """Images that a registry may replace, reported once per job by likelihood. Excludes those of a shipped runtime or a
    plugin, which are trainform's to pin."""
    found = _unpinned(job)
    if found:
        _floating_image(job, [each for each in found if each.image.moves])
        _image_without_digest(job, [each for each in found if not each.image.moves])


def _floating_image(job: Finished, found: list[Unpinned]) -> None:
    """An image without a tag, or with `latest`, is whatever was pushed last.

    Why: a commit no longer says what runs, a restarted pod may run other code than its peers, and Kubernetes pulls on
    every start. Bites: whoever has to repeat a training run. The concern of trainer 2599: what runs must not change
    silently.
    """
    if found:
        job.plan.warn(
            "TF607",
            f"no tag, or a moving tag: {', '.join(str(each.image) for each in found)}",
            hint="use a release tag or, better, a digest (image:tag@sha256:…)",
            **found[0].where,
        )


def _image_without_digest(job: Finished, found: list[Unpinned]) -> None:
    """Tags can be pushed again; a digest cannot.

    Why: as above, to a lesser degree. One note per job that lists the images, since most people accept tags, and the
    others want to know every image (trainer 2599).
    """
    if found:
        job.plan.report(
            "TF608",
            f"no digest: {', '.join(str(each.image) for each in found)}",
            severity="info",
            hint="pin the image with image:tag@sha256:…",
            **found[0].where,
        )


def _unpinned(job: Finished) -> list[Unpinned]:
    """Each such image once, with the source of the first container that uses it."""
    runtime = job.plan.runtime_document
    shipped = job.plan.runtime_is_shipped
    found: dict[ImageName, Unpinned] = {}
    for pods in job.jobset.jobs:
        for container in pods.all_containers:
            image = ImageName.of(container.get("image") or "")
            if image is None or image.digest or image in found:
                continue
            where = job.trainers(pods, container, "image")
            if where["path"] != NOBODY and not (shipped and where.get("place") is runtime):
                found[image] = Unpinned(image, where)
    return list(found.values())

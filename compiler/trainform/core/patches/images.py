"""An Environment's `images`: other names, tags or digests for the images of all containers, as kustomize's `images`
sets them. The entries apply in their order, after the final patches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trainform.core.jobset_view import JobSetView
from trainform.k8s.images import ImageName
from trainform.k8s.tree import Tree, replaced, text

if TYPE_CHECKING:
    from trainform.api.environment import ImageChange
    from trainform.diagnostics import Path


@dataclass(slots=True)
class WithImages:
    """A JobSet with the Environment's images. `changed`: by path of a container's image, the last entry that changed
    it. `seen`: the names of all images as they were. `used`: the entries that matched one."""

    tree: Tree
    changed: dict[Path, int] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    used: set[int] = field(default_factory=set)


def with_images(jobset: Tree, entries: Sequence[ImageChange]) -> WithImages:
    """A copy of a JobSet in which each container has the image that the entries say."""
    found = WithImages(jobset)
    for job in JobSetView.of(jobset).jobs:
        for container in job.all_containers:
            before = text(container, "image")
            image = ImageName.of(before)
            if image is None:
                continue
            found.seen.add(image.name)
            for index, entry in enumerate(entries):
                if image.name == entry.name:
                    image = _changed(image, entry)
                    found.used.add(index)
                    last = index
            if str(image) != before:
                path = (*job.path_of(container), "image")
                found.tree = replaced(found.tree, path, str(image))
                found.changed[path] = last
    return found


def _changed(image: ImageName, entry: ImageChange) -> ImageName:
    """A new tag or digest replaces both old ones; without either, both stay."""
    name = entry.new_name or image.name
    if entry.new_tag is None and entry.digest is None:
        return image._replace(name=name)
    return ImageName(name, entry.new_tag or "", entry.digest or "")

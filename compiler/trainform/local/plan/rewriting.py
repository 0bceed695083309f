"""For machines without namespaces: the words of a container with folders of this machine and addresses in place of
mount paths and host names."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from trainform.local.plan.model import LocalContainer, LocalFile, LocalPod

HOST_NAME = "HOSTNAME"
"""A variable that says who the pod is, not where."""

Rewrite = Callable[[str], str]


def rewriter(hosts: Mapping[str, str], folders: Mapping[str, str]) -> Rewrite:
    """Replaces whole host names and whole leading parts of paths; the longest that fits wins."""
    names = sorted(hosts, key=len, reverse=True)
    paths = sorted(folders, key=len, reverse=True)
    host = re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, names))})(?![\w-]|\.\w)") if names else None
    path = re.compile(rf"(?<![\w./-])(?:{'|'.join(map(re.escape, paths))})(?![\w.-])") if paths else None

    def rewrite(text: str) -> str:
        if host is not None:
            text = host.sub(lambda found: hosts[found[0]], text)
        return path.sub(lambda found: folders[found[0]], text) if path is not None else text

    return rewrite


def rewritten_container(container: LocalContainer, rewrite: Rewrite) -> LocalContainer:
    probe = container.probe
    return replace(
        container,
        command=tuple(map(rewrite, container.command)),
        variables={name: value if name == HOST_NAME else rewrite(value) for name, value in container.variables.items()},
        working_folder=rewrite(container.working_folder),
        probe=probe and probe._replace(command=tuple(map(rewrite, probe.command))),
    )


def rewritten_files(pod: LocalPod, rewrite: Rewrite) -> LocalPod:
    """The pod with the same changes in the files of its volumes that are text."""
    volumes = (each._replace(files=tuple(_rewritten(file, rewrite) for file in each.files)) for each in pod.volumes)
    return replace(pod, volumes=tuple(volumes))


def _rewritten(file: LocalFile, rewrite: Rewrite) -> LocalFile:
    try:
        return file._replace(data=rewrite(file.data.decode()).encode())
    except UnicodeDecodeError:
        return file

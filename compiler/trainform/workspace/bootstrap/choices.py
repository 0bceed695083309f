"""What a team chooses for its new repository, and what is known of the checkout that it goes to."""

from __future__ import annotations

import os
import re
from typing import NamedTuple
from urllib.parse import urlsplit

from trainform.io.git import GitError, find_checkout, git


class Choices(NamedTuple):
    """`queue` is the scheduler's; `recipients` are age keys for SOPS. `install` is what CI gives to pip; empty for this
    version. `repository` is its address, empty if unknown. `prefix` leads from the top of the checkout to the new
    repository: empty, or ending with `/`."""

    engine: str = "none"
    environment: str = "prod"
    namespace: str = "ml"
    scheduler: str = "none"
    queue: str = ""
    secrets: str = "reference"
    recipients: tuple[str, ...] = ()
    samples: tuple[str, ...] = ("torch",)
    ci: str = "github"
    install: str = ""
    repository: str = ""
    prefix: str = ""


class Site(NamedTuple):
    """Where a new repository goes: `top` is the folder of the git checkout, or the new folder itself without one;
    `address` is that of the remote `origin`, empty if there is none."""

    top: str
    prefix: str = ""
    address: str = ""

    @property
    def ci(self) -> str:
        """The CI system that the address suggests."""
        host = self.address.rpartition("://")[2].partition("/")[0]
        return "gitlab" if "gitlab" in host else "github"


def place_of(folder: str) -> Site:
    """What git knows of a folder, which need not exist yet."""
    folder = os.path.realpath(folder)
    try:
        checkout = find_checkout(folder)
        known = git(checkout.top, "config", "--get", "--default=", "remote.origin.url")
    except GitError:
        return Site(folder)
    return Site(checkout.top, checkout.prefix, _without_secrets(known.decode(errors="replace").strip()))


_REMOTE = re.compile(r"[\w.@:/~%+-]+\Z", re.ASCII)


def _without_secrets(address: str) -> str:
    """The address of a remote as it may be committed: without user and password, or empty if it is none that another
    machine can use."""
    if not _REMOTE.match(address):
        return ""
    try:
        parts = urlsplit(address)
        host = parts.hostname
    except ValueError:
        return ""
    if parts.scheme in ("http", "https"):
        port = f":{parts.port}" if host and parts.port else ""
        return f"{parts.scheme}://{host}{port}{parts.path}" if host else ""
    is_ssh = parts.scheme == "ssh" or re.match(r"[\w.-]+@[\w.-]+:", address)
    return address if is_ssh and not parts.password else ""

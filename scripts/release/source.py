"""What is released: a commit, its version, and the address of the project."""

from __future__ import annotations

import io
import re
import subprocess
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

_VERSION_FILE = "compiler/trainform/__init__.py"
_REMOTE = re.compile(
    r"""(?: (?:https?|ssh|git) :// (?:[^@/]*@)? (?P<host>[^/:]+ (?: :\d+ (?=/) )?) /   # https://user:token@host/path
          | (?:[^@/:]+@)? (?P<scp>[^/:]+\.[^/:]+) : /? )                              # git@host:path
        (?P<path>.+?) (?:\.git)? /? $""",
    re.VERBOSE,
)


class Source(NamedTuple):
    """A commit of this project. Only what is committed is built, whatever else lies in the folder."""

    root: Path
    commit: str
    time: int
    """When it was committed, in seconds since 1970: the time of every file in the archives."""
    version: str
    url: str
    """Where the project lives, without a slash at its end; empty if that is not known."""

    @property
    def tag(self) -> str:
        return f"v{self.version}"


def find_source(root: Path, url: str, variables: Mapping[str, str]) -> Source:
    """The commit that is checked out in `root`."""
    commit, time = git(root, "log", "-1", "--format=%H %ct").split()
    version = re.search(r'^__version__ = "(.+)"$', git(root, "show", f"HEAD:{_VERSION_FILE}"), re.MULTILINE)
    if not version:
        raise ValueError(f'{_VERSION_FILE} has no line __version__ = "…"')
    return Source(root, commit, int(time), version[1], url.rstrip("/") or known_address(root, variables))


def known_address(root: Path, variables: Mapping[str, str]) -> str:
    """The page of git's remote `origin`, else what GitHub says where a workflow runs, else nothing."""
    remote = git(root, "config", "--default", "", "--get", "remote.origin.url").strip()
    if page := page_of(remote):
        return page
    server, name = variables.get("GITHUB_SERVER_URL", ""), variables.get("GITHUB_REPOSITORY", "")
    return f"{server}/{name}" if server and name else ""


def page_of(remote: str) -> str:
    """The page of a git remote, without the user and the token that it may hold; nothing for a folder."""
    found = _REMOTE.match(remote)
    return f"https://{found['host'] or found['scp']}/{found['path']}" if found else ""


def unready(source: Source) -> Iterator[str]:
    """What stands between this commit and a release of it, though archives can be built."""
    if not source.url:
        yield "the project's address is unknown: give --url, or add git's remote origin"
    if source.tag not in git(source.root, "tag", "--points-at", "HEAD").split():
        yield f"the commit has no tag {source.tag}"
    if git(source.root, "status", "--porcelain", "--untracked-files=no"):
        yield "changes are not committed: they are not in the archives"
    yield from changelog_problems(git(source.root, "show", "HEAD:CHANGELOG.md"), source.version)


def changelog_problems(changelog: str, version: str) -> Iterator[str]:
    """A released version has a section with a date and lines; what is unreleased is in none."""
    parts = re.split(r"^## (.+)\n", changelog, flags=re.MULTILINE)
    sections = {title.strip(): text.strip() for title, text in zip(parts[1::2], parts[2::2], strict=True)}
    title = next((each for each in sections if re.fullmatch(rf"{re.escape(version)} - \d{{4}}-\d\d-\d\d", each)), None)
    if title is None:
        yield f'CHANGELOG.md has no section "## {version} - YYYY-MM-DD"'
    elif not sections[title]:
        yield f'CHANGELOG.md says nothing under "{title}"'
    if title and sections.get("Unreleased"):
        yield 'CHANGELOG.md still has lines under "Unreleased"'


def export(source: Source, folder: Path) -> None:
    """The files of the commit, in a new folder."""
    command = ["git", "archive", "--format=tar", source.commit]
    ran = subprocess.run(command, cwd=source.root, capture_output=True, check=True)
    with tarfile.open(fileobj=io.BytesIO(ran.stdout)) as archive:
        unpack(archive, folder)


def unpack(archive: tarfile.TarFile, folder: Path) -> None:
    """Unpack an archive of our own. Until 3.11.3, Python knows no filters."""
    archive.extraction_filter = getattr(tarfile, "data_filter", None)
    archive.extractall(folder)


def git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=True).stdout

"""The only place that starts a process of git.

A checkout may hold a stranger's change, so git is told where its folder is instead of looking for one, gets no variable
of its own from the environment, reads no configuration but the repository's, and runs no program that this names: no
hook, monitor, filter, pager, transport or external diff. All commands are plumbing that only reads. Needs git 2.32 or
later: an older one runs the filters that it is told to empty.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterable, Mapping
from subprocess import PIPE

from trainform.io.git.checkout import GitError, NoRepository, find_checkout

PATIENCE = 600.0
"""Seconds until git counts as hanging, on a file system that does not answer, say. It takes one second for 100,000
jobs."""


_SETTINGS = {
    "safe.bareRepository": "explicit",
    "core.fsmonitor": "",  # "false" is the name of a program to git before 2.36
    "core.hooksPath": os.devnull,
    "core.untrackedCache": "false",
    "core.attributesFile": os.devnull,
    "core.excludesFile": os.devnull,
    "core.warnAmbiguousRefs": "true",
    "protocol.allow": "never",
}
"""Configuration that comes before the repository's own."""


_VARIABLES = {
    "LC_ALL": "C",
    "GIT_ALLOW_PROTOCOL": "none",  # a partial clone is not completed from its remote: git before 2.39.4 has only this
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}


def git(root: str, *arguments: str, given: bytes = b"") -> bytes:
    """Git's stdout in the folder `root`. Raises GitError with git's message if it fails."""
    return start(root, *arguments)(given)


def start(root: str, *arguments: str, settings: Mapping[str, str] | None = None) -> Callable[[bytes], bytes]:
    """Start git in the background, with more `settings` of its configuration. The returned function takes its stdin,
    waits, and returns what `git` does."""
    process = started(root, arguments, settings or {})

    def output(given: bytes = b"") -> bytes:
        code, out, said = finish(process, given)
        if code:
            raise GitError(_failure(said, arguments[0]))
        return out

    return output


def started(root: str, arguments: Iterable[str], settings: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
    """A process of git, for `finish`. Raises GitError if there is no repository, or git cannot be run."""
    checkout = find_checkout(root)
    places = (f"--git-dir={checkout.folder}", f"--work-tree={checkout.top}")
    fixed = (part for name, value in _SETTINGS.items() for part in ("-c", f"{name}={value}"))
    command = [_program(), "--no-pager", *places, *fixed, *arguments]
    try:
        environment = _environment(settings or {})
        return subprocess.Popen(command, stdin=PIPE, stdout=PIPE, stderr=PIPE, cwd=root, env=environment)
    except OSError as error:
        raise GitError(f"git cannot be run: {error.strerror or error}") from error


def finish(process: subprocess.Popen[bytes], given: bytes = b"") -> tuple[int, bytes, str]:
    """Exit code, stdout and stderr."""
    with process:
        try:
            out, said = process.communicate(given, timeout=PATIENCE)
        except subprocess.TimeoutExpired as error:
            process.kill()
            raise GitError(f"git gave no answer for {PATIENCE:.0f} seconds") from error
    return process.returncode, out, said.decode(errors="replace")


def _failure(said: str, command: str) -> str:
    """The line that says why git gave up, which may follow warnings."""
    lines = said.strip().splitlines() or [f"git {command} failed"]
    return next((line for line in lines if line.startswith("fatal: ")), lines[0])


def _program() -> str:
    """Git from PATH, where a folder with a relative name, as on Windows the current one, might be of the checkout."""
    name = "git.exe" if os.name == "nt" else "git"
    for folder in filter(os.path.isabs, os.get_exec_path()):
        path = os.path.join(folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise NoRepository("git cannot be run: there is none in PATH")


def _environment(settings: Mapping[str, str]) -> dict[str, str]:
    """The variables of a git process. `settings` are among them, as a name that the repository chose may hold a `=`,
    which ends the name on a command line."""
    kept = {name: value for name, value in os.environ.items() if not name.upper().startswith("GIT_")}
    given = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (name, value) in enumerate(settings.items()):
        given |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return {**kept, **_VARIABLES, **given}


def without_filters(root: str) -> dict[str, str]:
    """Settings that empty every filter of the repository's configuration, for commands that may look into a file of the
    work tree."""
    code, out, said = finish(started(root, ("config", "--name-only", "-z", "--get-regexp", r"^filter\.")))
    if code not in (0, 1):  # 1: there are none
        raise GitError(_failure(said, "config"))
    filters = {os.fsdecode(name).rpartition(".")[0] for name in out.split(b"\0") if name}
    empty = {"clean": "", "smudge": "", "process": "", "required": "false"}
    return {f"{each}.{key}": value for each in sorted(filters) for key, value in empty.items()}

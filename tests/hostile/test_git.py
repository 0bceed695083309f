"""Attacks that make git run a program while trainform, or a script for CI, works in a stranger's checkout.

In each of them a program of the attacker would write a file. The root is a folder below the checkout, one job was
edited, and the answers must be those of a checkout without the attack.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from support.ci import sh
from support.repositories import Repository, environment, job, runtime
from trainform.cli.main import run

MANIFEST = "ml/rendered/prod/ml/llm/jobset-llm.yaml"


class Target(Repository):
    """A checkout with the root in `ml/`, and the program of an attacker outside of it."""

    @property
    def project(self) -> Path:
        return self.root / "ml"

    @property
    def canary(self) -> Path:
        return self.root.parent / "canary"

    def is_hit(self) -> bool:
        return (self.root.parent / "hit").exists()

    def config(self, *settings: tuple[str, str]) -> None:
        for name, value in settings:
            self.git("config", name, value)

    def make_racy(self) -> None:
        """Git reads every file, as each may have changed after the index was written."""
        os.utime(self.root / ".git/index", (1, 1))

    def repository_in(self, folder: str) -> Path:
        """A repository with one commit, whose `core.fsmonitor` is the program."""
        made = Repository(self.root / folder)
        made.start_git()
        made.commit()
        made.git("config", "core.fsmonitor", str(self.canary))
        return made.root


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two rendered jobs, committed."""
    target = Target(tmp_path_factory.mktemp("pristine") / "checkout")
    (target.root / "trainform.yaml").unlink()
    target.start_git()
    target.write("ml/trainform.yaml", "")
    target.write("ml/environments/prod/environment.yaml", environment())
    target.write("ml/runtimes/torch.yaml", runtime("example/train:1"))
    target.write("ml/jobs/llm.yaml", job("llm"))
    target.write("ml/jobs/bert.yaml", job("bert"))
    assert run(["render", "--root", str(target.project)]) == 0
    target.commit()
    return target.root


@pytest.fixture
def target(pristine: Path, tmp_path: Path) -> Target:
    """A copy in which one job was edited."""
    shutil.copytree(pristine, tmp_path / "checkout")
    target = Target(tmp_path / "checkout")
    (target.root / "trainform.yaml").unlink()
    target.canary.write_text(f"#!/bin/sh\n: >{tmp_path}/hit\nexit 1\n")
    target.canary.chmod(0o755)
    target.write("ml/jobs/llm.yaml", job("llm", nodes=3))
    return target


# The attacks.


def the_root_poses_as_a_bare_repository(target: Target) -> None:
    made = target.repository_in("aside")
    (made / ".git/config").write_text(
        f"[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\nfsmonitor = {target.canary}\n"
    )
    for each in (made / ".git").iterdir():
        each.rename(target.project / each.name)
    shutil.rmtree(made)


def configuration_includes_a_file_of_the_checkout(target: Target) -> None:
    target.config(("include.path", "../.gitconfig"))
    program = target.canary
    target.write(
        ".gitconfig",
        f"[core]\nfsmonitor = {program}\npager = {program}\nsshCommand = {program}\neditor = {program}\n"
        f"[diff]\nexternal = {program}\n[alias]\nrev-parse = !{program}\n[pager]\nrev-list = {program}\n",
    )


def a_clean_filter(target: Target) -> None:
    target.write(".gitattributes", "* filter=x\n")
    target.config(("filter.x.clean", str(target.canary)), ("filter.x.required", "true"))
    target.make_racy()


def a_filter_process_whose_name_ends_an_option(target: Target) -> None:
    target.write(".gitattributes", "* filter=a=b\n")
    target.config(("filter.a=b.process", str(target.canary)))
    target.make_racy()


def an_external_diff(target: Target) -> None:
    target.config(("diff.external", str(target.canary)))


def a_textconv(target: Target) -> None:
    target.write(".gitattributes", "* diff=x\n")
    target.config(("diff.x.textconv", str(target.canary)), ("diff.x.command", str(target.canary)))


def hooks_in_the_checkout(target: Target) -> None:
    target.config(("core.hooksPath", "hooks"))
    for hook in ("post-index-change", "reference-transaction"):
        target.write(f"hooks/{hook}", f"#!/bin/sh\nexec {target.canary}\n")
        (target.root / "hooks" / hook).chmod(0o755)
    os.utime(target.root / "ml/jobs/bert.yaml", (1, 1))  # the index is to be written anew


def a_file_system_monitor(target: Target) -> None:
    target.config(("core.fsmonitor", str(target.canary)))


def a_signed_commit_and_a_program_that_verifies_it(target: Target) -> None:
    head = target.git("cat-file", "commit", "HEAD")
    signature = "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n"
    target.write("signed", head.replace("\n\n", signature, 1))
    commit = target.git("hash-object", "-t", "commit", "-w", "signed").strip()
    target.git("update-ref", "HEAD", commit)
    target.config(("log.showSignature", "true"), ("gpg.program", str(target.canary)))
    (target.root / "signed").unlink()


def a_partial_clone_that_fetches_with_a_program(target: Target) -> None:
    blob = target.git("rev-parse", f"HEAD:{MANIFEST}").strip()
    (target.root / ".git/objects" / blob[:2] / blob[2:]).unlink()
    target.config(
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", f"ext::{target.canary} %S x"),
        ("protocol.ext.allow", "always"),
    )


def a_submodule_with_a_file_system_monitor(target: Target) -> None:
    target.repository_in("ml/rendered/prod/ml/evil")
    target.git("add", "--all")
    target.git("commit", "--quiet", "--message", "submodule")


def an_unpacked_git_file_that_names_a_folder(target: Target) -> None:
    (target.root / ".git").rename(target.root / "ml/data")
    target.write(".git", "gitdir: ml/data\n")
    (target.root / "ml/data/config").write_text(f"[core]\nbare = false\nfsmonitor = {target.canary}\n")


class Attack(NamedTuple):
    """`armed` is a command of git that it hits. If it is `refused`, the commands that need git exit with 2."""

    arrange: Callable[[Target], None]
    armed: tuple[str, ...]
    refused: bool = False


ATTACKS = [
    Attack(the_root_poses_as_a_bare_repository, ("-C", "ml", "status")),
    Attack(configuration_includes_a_file_of_the_checkout, ("status",)),
    Attack(a_clean_filter, ("diff", "HEAD")),
    Attack(a_filter_process_whose_name_ends_an_option, ("diff", "HEAD")),
    Attack(an_external_diff, ("diff", "HEAD")),
    Attack(a_textconv, ("diff", "HEAD")),
    Attack(hooks_in_the_checkout, ("status",)),
    Attack(a_file_system_monitor, ("status",)),
    Attack(a_signed_commit_and_a_program_that_verifies_it, ("log", "-1")),
    Attack(a_partial_clone_that_fetches_with_a_program, ("cat-file", "-p", f"HEAD:{MANIFEST}")),
    Attack(a_submodule_with_a_file_system_monitor, ("status",), refused=True),
    Attack(an_unpacked_git_file_that_names_a_folder, ("status",), refused=True),
]

# Each command, its exit code, and that where it is refused.
COMMANDS = [
    (("diff",), 1, 2),
    (("diff", "--no-cache"), 1, 2),
    (("check", "--base", "HEAD"), 1, 2),
    (("report",), 0, 2),
    (("render",), 0, 0),
    (("upgrade", "--all", "--dry-run"), 0, 0),
]
SCRIPTS = [("check", 1, 2), ("render", 1, 1), ("comment", 0, 2)]

attacks = pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.arrange.__name__)


def expected(attack: Attack, code: int, refused: int) -> set[int]:
    if attack.arrange is a_partial_clone_that_fetches_with_a_program:
        return {code, 2}  # refused by those that need what is missing
    if attack.arrange in (a_clean_filter, a_filter_process_whose_name_ends_an_option):
        return {code, 2}  # check refuses rendered files that git converts
    return {refused if attack.refused else code}


@attacks
def test_the_attack_hits_git_itself(target, attack):
    attack.arrange(target)
    subprocess.run(["git", "--paginate", *attack.armed], cwd=target.root, capture_output=True, check=False, timeout=60)
    assert target.is_hit()


@attacks
@pytest.mark.parametrize(("command", "code", "refused"), COMMANDS, ids=[" ".join(each[0]) for each in COMMANDS])
def test_no_command_runs_the_program(target, capfd, attack, command, code, refused):
    attack.arrange(target)
    assert run([*command, "--root", str(target.project)]) in expected(attack, code, refused)
    assert not target.is_hit()
    assert "Traceback" not in capfd.readouterr().err


@pytest.fixture
def shell(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/trainform").write_text(f'#!/bin/sh\nexec {sys.executable} -m trainform "$@"\n')
    (tmp_path / "bin/trainform").chmod(0o755)
    python = os.pathsep.join(map(os.path.abspath, filter(None, sys.path)))
    path = f"{tmp_path}/bin{os.pathsep}{os.environ['PATH']}"
    return {"PATH": path, "HOME": str(tmp_path), "PYTHONPATH": python, "TRAINFORM_ROOT": "ml"}


@attacks
@pytest.mark.parametrize(("script", "code", "refused"), SCRIPTS)
def test_no_script_for_ci_runs_the_program(target, shell, attack, script, code, refused):
    attack.arrange(target)
    ran = sh(script, target.root, shell)
    assert ran.returncode in expected(attack, code, refused), ran.stderr
    assert not target.is_hit()
    assert "Traceback" not in ran.stderr


# The base branch, which the scripts fetch.


@pytest.fixture
def clone(target: Target, shell: dict[str, str]) -> Target:
    """A shallow clone of a branch `change`, with a job edited, for a pull request to `main`."""
    target.git("checkout", "--quiet", "-b", "change")
    target.commit()
    clone = Target(target.root.parent / "clone")
    (clone.root / "trainform.yaml").unlink()
    url = target.root.as_uri()
    clone.git("clone", "--quiet", "--depth=1", "--single-branch", "--branch=change", url, ".")
    shell["GITHUB_BASE_REF"] = "main"
    return clone


def test_the_base_branch_is_fetched(clone, shell):
    ran = sh("comment", clone.root, shell)
    assert ran.returncode == 0, ran.stderr
    assert "ml/llm" in ran.stdout


def test_a_tag_named_as_the_base_branch_is_not_the_base(clone, target, shell):
    target.git("tag", "main", "change")
    ran = sh("comment", clone.root, shell)
    assert ran.returncode == 0, ran.stderr
    assert "ml/llm" in ran.stdout


def test_a_partial_clone_gets_all_of_the_base_branch(clone, target, shell):
    target.config(("uploadpack.allowFilter", "true"))
    clone.config(("remote.origin.promisor", "true"), ("remote.origin.partialCloneFilter", "blob:none"))
    ran = sh("comment", clone.root, shell)
    assert ran.returncode == 0, ran.stderr
    assert "ml/llm" in ran.stdout


def test_a_branch_called_like_an_option_is_only_a_branch(clone, shell):
    ran = sh("check", clone.root, shell, GITHUB_BASE_REF=f"--upload-pack={clone.canary}")
    assert ran.returncode == 2
    assert not clone.is_hit()


@pytest.mark.parametrize(
    ("code", "settings"),
    [
        (2, [("include.path", "../.gitconfig")]),
        (1, [("core.fsmonitor", "{canary}")]),
        (1, [("core.hooksPath", "hooks")]),
        (1, [("remote.origin.uploadpack", "{canary}")]),
        (2, [("remote.origin.url", "ext::{canary} %S x")]),
        (2, [("remote.origin.vcs", "ext"), ("remote.origin.url", "{canary} %S x")]),
    ],
)
def test_fetching_runs_no_program(clone, shell, code, settings):
    """The job is stale (1), or the base branch cannot be fetched (2)."""
    clone.write(".gitconfig", f'[core]\nfsmonitor = {clone.canary}\n[remote "origin"]\nuploadpack = {clone.canary}\n')
    clone.write("hooks/reference-transaction", f"#!/bin/sh\nexec {clone.canary}\n")
    (clone.root / "hooks/reference-transaction").chmod(0o755)
    clone.config(*((name, value.format(canary=clone.canary)) for name, value in settings))
    ran = sh("check", clone.root, shell)
    assert ran.returncode == code, ran.stderr
    assert not clone.is_hit()


def test_configuration_that_a_change_may_edit_is_refused_for_fetching(clone, shell):
    clone.config(("include.path", "../.gitconfig"))
    clone.write(".gitconfig", "[core]\nsshCommand = anything\n")
    ran = sh("check", clone.root, shell)
    assert ran.returncode == 2
    assert ".gitconfig, which a change may edit: set TRAINFORM_BASE instead" in ran.stderr

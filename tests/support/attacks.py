"""Repositories that a stranger's pull request may bring, and a way to run every command in them."""

from __future__ import annotations

from pathlib import Path

from support.nursery import Ended, Nursery
from support.repositories import Repository, environment, job, runtime
from trainform.cli import BUG

COMMANDS = (
    "render", "check", "check --base HEAD", "ci --base HEAD", "validate", "diff", "upgrade --all", "explain ml/llm",
    "capacity", "report", "runtimes", "rerun ml/llm", "keys", "init . --env prod", "cmp generate", "cmp parameters",
    "migrate jobs", "schema --editor",
)  # fmt: skip
"""Each way in which trainform reads a repository."""

SECRET = "correct horse battery staple"


class Victim(Repository):
    """A good repository with one rendered job, committed, in a folder `repository`; beside it lies `outside`, with a
    secret in it."""

    def __init__(self, folder: Path, nursery: Nursery) -> None:
        self.nursery = nursery
        super().__init__(folder / "repository")
        self.outside = folder / "outside"
        self.outside.mkdir()
        (self.outside / "secret.yaml").write_text(f"machine: {SECRET}\npassword: {SECRET}\n")
        self.write("environments/prod/environment.yaml", environment())
        self.write("runtimes/torch.yaml", runtime())
        self.write("jobs/llm.yaml", job("llm"))
        self.start_git()
        self.trainform("render")
        self.commit()

    def trainform(self, command: str) -> Ended:
        """Run a command in a process of its own, which must end in time and without a bug."""
        ended = self.nursery.run(self.root, *command.split())
        assert ended.code >= 0, f"{command} was ended by signal {-ended.code}"
        assert ended.code != BUG, f"{command}: {ended.output}"
        return ended

    def link(self, path: str, target: str | Path) -> None:
        """Put a link at `path`, in place of what is there."""
        place = self.root / path
        if place.is_dir() and not place.is_symlink():
            place.rename(self.outside / f"was-{place.name}")
        place.unlink(missing_ok=True)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(target)

    def everything(self) -> dict[str, bytes]:
        """Every file outside of the work tree that a command must not change: of git, and outside."""
        folders = (self.root / ".git", self.outside)
        found = [path for folder in folders for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
        ours = self.root / ".git" / "trainform"
        return {str(path): path.read_bytes() for path in found if ours not in path.parents and path.name != "index"}

"""What git knows: where the checkout is, what commits hold, and what it does with files of the work tree."""

from trainform.io.git.checkout import (
    Checkout,
    GitError,
    NoCommit,
    NoRepository,
    checkout_digest,
    find_checkout,
    git_folder,
    head_files,
)
from trainform.io.git.commits import commit_of, files_at, is_unborn, last_changes
from trainform.io.git.process import git, start, without_filters
from trainform.io.git.work_tree import converted, left_out, not_added

__all__ = [
    "Checkout",
    "GitError",
    "NoCommit",
    "NoRepository",
    "checkout_digest",
    "commit_of",
    "converted",
    "files_at",
    "find_checkout",
    "git",
    "git_folder",
    "head_files",
    "is_unborn",
    "last_changes",
    "left_out",
    "not_added",
    "start",
    "without_filters",
]

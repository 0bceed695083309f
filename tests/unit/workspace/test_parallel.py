"""Worker processes of a command: what they do is split, and a worker that is killed ends the command with a reason."""

from __future__ import annotations

import ast
import os
import signal
from pathlib import Path

import pytest

import trainform.workspace
from trainform.workspace import InvocationError
from trainform.workspace.parallel import in_workers, slices


def test_items_are_divided_in_order():
    assert slices([1, 2, 3, 4, 5], 2) == [[1, 2], [3, 4], [5]]
    assert slices([], 2) == []


def test_a_killed_worker_ends_the_command_with_a_reason():
    def work(task):
        if task == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return task

    with pytest.raises(InvocationError, match=r"a worker process was killed.*--workers 1"):
        list(in_workers(work, range(4), 2))


def test_every_use_of_workers_reports_a_killed_one():
    """A process pool used directly would end in a traceback."""
    folder = Path(trainform.workspace.__path__[0])
    users = {
        file.name
        for file in folder.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.ImportFrom) and any(name.name == "in_processes" for name in node.names)
    }
    assert users == {"parallel.py"}

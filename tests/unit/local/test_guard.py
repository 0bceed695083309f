"""What watches over a container's processes."""

from __future__ import annotations

import subprocess
import sys

import pytest

ENDS_TOO_LATE = """
import os, signal, sys
from trainform.local.inside import guard

wait = os.waitpid


def and_then_a_signal(*arguments):
    found = wait(*arguments)
    os.kill(os.getpid(), signal.SIGTERM)
    return found


child = os.fork()
if not child:
    os._exit(3)
os.waitpid = and_then_a_signal
sys.exit(guard._watch(child))
"""
"""A process whose child ends; before it knows, it is told to end it."""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the whole process group is ended")
def test_a_signal_for_a_process_that_has_just_ended_changes_nothing():
    ran = subprocess.run([sys.executable, "-c", ENDS_TOO_LATE], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stderr) == (3, "")

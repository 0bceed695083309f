"""What a connection that breaks does to the command."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import signal, socket
from trainform.cluster import connection

signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # as the command line does
ours, theirs = socket.socketpair()
theirs.close()
try:
    connection._within(20, lambda: ours.send(b"GET"))
except BrokenPipeError:
    print("an error")
"""


def test_a_server_that_hangs_up_is_an_error_and_no_end_of_the_process():
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, "an error\n"), ran.stderr

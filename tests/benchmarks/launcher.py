"""Runs one process and prints what it took, as JSON: python -I -S launcher.py REQUEST.

REQUEST is JSON: `command`, `folder`, `stdin`, `stdout`, `stderr` (files) and `codes` (exit codes that are right).

The launcher is a process of its own, and small, because Linux counts what the parent had in memory when the
child started as the child's.
"""

from __future__ import annotations

import json
import os
import sys
import time


def main() -> None:
    request = json.loads(sys.argv[1])
    os.chdir(request["folder"])
    written = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    files = [
        (os.POSIX_SPAWN_OPEN, 0, request["stdin"], os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, request["stdout"], written, 0o644),
        (os.POSIX_SPAWN_OPEN, 2, request["stderr"], written, 0o644),
    ]
    command = request["command"]
    start = time.perf_counter()
    process = os.posix_spawn(command[0], command, os.environ, file_actions=files)
    _, status, used = os.wait4(process, 0)
    wall = time.perf_counter() - start
    code = os.waitstatus_to_exitcode(status)
    if code not in request["codes"]:
        sys.exit(f"exit code {code}")
    unit = 1 if sys.platform == "darwin" else 1024
    print(json.dumps({"wall": wall, "cpu": used.ru_utime + used.ru_stime, "memory": used.ru_maxrss * unit}))


if __name__ == "__main__":
    main()

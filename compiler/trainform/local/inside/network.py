"""Networks of pods: a bridge in a network namespace of its own, and a namespace with one address for each pod, until
standard input ends. Prints the process id of each pod's namespace, one to a line.

    python -I -S network.py PARENT USER-NAMESPACE ADDRESS...

Needs the command `ip`. `USER-NAMESPACE` is 1 to work without being root.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys

NEWNET, NEWUSER = 0x40000000, 0x10000000
BRIDGE = "pods"


def main(parent: int, new_user: bool, addresses: list[str]) -> int:
    library = ctypes.CDLL(None, use_errno=True)
    library.prctl(1, signal.SIGKILL, 0, 0, 0)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        return 1
    ids = {"uid_map": f"0 {os.getuid()} 1", "gid_map": f"0 {os.getgid()} 1"}
    _unshare(library, NEWNET | (NEWUSER if new_user else 0))
    if new_user:
        for file, text in {"setgroups": "deny", **ids}.items():
            with open(f"/proc/self/{file}", "w", encoding="ascii") as out:
                out.write(text)
    _ip("link", "add", BRIDGE, "type", "bridge")
    _ip("link", "set", BRIDGE, "up")
    for number, address in enumerate(addresses):
        process = _namespace(library)
        _ip("link", "add", f"pod{number}", "type", "veth", "peer", "name", "eth0", "netns", str(process))
        _ip("link", "set", f"pod{number}", "master", BRIDGE, "up")
        inside = ("nsenter", f"--net=/proc/{process}/ns/net", "ip")
        for words in (
            ("link", "set", "lo", "up"),
            ("addr", "add", f"{address}/16", "dev", "eth0"),
            ("link", "set", "eth0", "up"),
        ):
            subprocess.run([*inside, *words], check=True)
        print(process, flush=True)
    sys.stdin.read()
    return 0


def _unshare(library: ctypes.CDLL, flags: int) -> None:
    if library.unshare(flags) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), "unshare")


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


def _namespace(library: ctypes.CDLL) -> int:
    """A process that only holds a network namespace; it ends with this one."""
    ready, tell = os.pipe()
    process = os.fork()
    if process == 0:
        library.prctl(1, signal.SIGKILL, 0, 0, 0)
        _unshare(library, NEWNET)
        os.write(tell, b".")
        signal.pause()
    os.close(tell)
    told = os.read(ready, 1)
    os.close(ready)
    if not told:
        raise OSError("a network namespace cannot be made")
    return process


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2] == "1", sys.argv[3:]))

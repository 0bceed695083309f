"""Which sandbox a job gets, by what it needs and what the machine allows."""

from __future__ import annotations

import sys

import pytest

from support.local_runs import LocalRepository, container, trainer
from trainform.local import sandbox
from trainform.local.plan.references import NotHere
from trainform.local.sandbox import RunSandbox, choose

MACHINES = {"root": "root", "user": "user", "nothing": None}


@pytest.mark.parametrize(
    ("machine", "asked", "every_pod_listens", "chosen"),
    [
        ("root", None, False, RunSandbox("files")),
        ("root", "none", False, RunSandbox("none")),
        ("root", "none", True, RunSandbox("none")),
        ("user", "files", True, RunSandbox("files", new_user=True)),
        ("user", None, False, RunSandbox("files", new_user=True)),
        ("nothing", None, False, RunSandbox("none")),
    ],
)
def test_a_job_gets_the_least_that_it_needs(monkeypatch, machine, asked, every_pod_listens, chosen):
    monkeypatch.setattr(sandbox, "_trial", lambda: MACHINES[machine])
    assert choose(asked, every_pod_listens=every_pod_listens) == chosen


@pytest.mark.parametrize(("asked", "every_pod_listens"), [(None, True), ("pod", False), ("files", False)])
def test_what_the_machine_refuses_is_told(monkeypatch, asked, every_pod_listens):
    monkeypatch.setattr(sandbox, "_trial", lambda: None)
    with pytest.raises(NotHere, match="does not allow namespaces") as raised:
        choose(asked, every_pod_listens=every_pod_listens)
    assert raised.value.code == "TF894"


def test_a_network_for_each_pod_needs_two_commands(monkeypatch):
    monkeypatch.setattr(sandbox, "_trial", lambda: "root")
    monkeypatch.setattr(sandbox, "which", lambda name: None if name == "ip" else f"/bin/{name}")
    assert choose(None, every_pod_listens=False).level == "files"
    with pytest.raises(NotHere, match="ip and nsenter"):
        choose(None, every_pod_listens=True)


@pytest.mark.parametrize("level", ["files", "pod"])
@pytest.mark.parametrize("new_user", [False, True], ids=["root", "user namespace"])
def test_pods_see_their_own_names_files_and_ports(tmp_path, monkeypatch, level, new_user):
    """In a sandbox of the kind `pod`, two pods listen on one port of all addresses."""
    only = "user" if new_user else "root"
    monkeypatch.setattr(sandbox, "_trial", lambda: only)
    try:
        choose(level, every_pod_listens=False)
    except NotHere:
        pytest.skip("this machine does not allow it")
    monkeypatch.undo()
    if not sandbox._starts(str(tmp_path / "trial"), new_user=new_user):
        pytest.skip("this machine does not allow it")
    monkeypatch.setattr(sandbox, "_trial", lambda: only)
    listen = "import socket, time; s = socket.create_server(('', 23456)); print('listens', flush=True); time.sleep(1)"
    script = "hostname; touch /own/x; ls /own; getent ahostsv4 fit-node-0-1.fit"
    if level == "pod":
        script += f'; {sys.executable} -c "{listen}"'
    pod = {"volumes": [{"name": "own", "emptyDir": {}}]}
    repository = LocalRepository(tmp_path / "repository")
    repository.steps(trainer(container(script, volumeMounts=[{"name": "own", "mountPath": "/own"}]), pods=2, pod=pod))
    ran = repository.run("--sandbox", level)
    assert ran.code == 0, f"{ran.out}\n{ran.err}"
    for name in ("node-0-0", "node-0-1"):
        host, file, address, *_ = ran.lines(name)
        assert (host, file) == (f"fit-{name}", "x")
        assert address.split()[0].endswith(".2")
        assert ("listens" in ran.lines(name)) == (level == "pod")

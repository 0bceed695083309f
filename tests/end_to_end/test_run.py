"""`trainform run`: real processes, whose order, surroundings and ends are those of a cluster's pods."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.local_runs import LocalRepository, config_map, container, exits, step, trainer

AT_ONCE = {"backoffLimit": 0}
"""Fields of a JobSpec: no pod is tried again."""

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="processes are found through /proc")


@pytest.fixture
def repository(tmp_path: Path) -> LocalRepository:
    return LocalRepository(tmp_path)


def test_every_pod_runs_and_its_lines_begin_with_its_name(repository):
    repository.steps(trainer(container("echo rank $JOB_COMPLETION_INDEX of $HOSTNAME"), pods=2))
    ran = repository.run()
    assert ran.code == 0, ran.err
    assert sorted(ran.out.splitlines()) == [
        "node-0-0 | rank 0 of fit-node-0-0",
        "node-0-1 | rank 1 of fit-node-0-1",
    ]
    assert ran.err == "trainform: the job succeeded\n"


def test_the_page_shows_what_its_job_prints(repository):
    """In any order, and with addresses for names where this machine has no namespaces."""
    page = (Path(__file__).parents[2] / "docs/run.md").read_text(encoding="utf-8")
    repository.write("jobs/fit.yaml", page.partition("```yaml\n")[2].partition("```")[0])
    shown = page.partition("$ trainform run fit\n")[2].partition("```")[0]
    ran = repository.run()
    printed = re.sub(r"127[.\d]+", "fit-node-0-0.fit", ran.out + ran.err)
    assert sorted(printed.splitlines()) == sorted(shown.splitlines())


@pytest.mark.parametrize("sandbox", ["", "none"])
def test_pods_find_each_other_and_their_files(repository, sandbox):
    """With namespaces under the names and paths that are rendered; without, these are rewritten."""
    script = 'echo "$(cat /etc/settings/level) $(cat /scratch/own/x)"; echo "$(TARGET)"; getent ahostsv4 $(TARGET)'
    mounts = [{"name": "settings", "mountPath": "/etc/settings"}, {"name": "own", "mountPath": "/scratch/own"}]
    pod = {
        "initContainers": [container("echo made > /scratch/own/x", "first", volumeMounts=mounts)],
        "volumes": [{"name": "settings", "configMap": {"name": "settings"}}, {"name": "own", "emptyDir": {}}],
    }
    env = [{"name": "TARGET", "value": "fit-node-0-0.fit"}]
    repository.steps(trainer(container(script, volumeMounts=mounts, env=env), pods=2, pod=pod))
    repository.job("steps", {}, config_map("settings", {"level": "talk to fit-node-0-0.fit"}))
    ran = repository.run(*(["--sandbox", sandbox] if sandbox else []))
    assert ran.code == 0, ran.err
    for name in ("node-0-0", "node-0-1"):
        settings, target, found, *_ = ran.lines(name)
        address = found.split()[0]
        assert re.fullmatch(r"127\.\d+\.\d+\.1", address)
        assert settings in ("talk to fit-node-0-0.fit made", f"talk to {address} made")
        assert target in ("fit-node-0-0.fit", address)


def test_a_program_that_is_not_here_is_told_by_its_name(repository):
    """PATH is searched folder by folder: the error of the last one would name a file that nobody expects."""
    repository.steps(trainer({**container(""), "command": ["no-such-program", "train.py"]}, job=AT_ONCE))
    ran = repository.run()
    assert ran.code == 128
    told = "cannot start no-such-program: it is in no folder of PATH; activate the environment that has it"
    assert ran.lines("node-0-0") == [told]


@pytest.mark.parametrize(
    ("program", "code", "reason"), [("/no/such", 128, "No such file or directory"), ("/tmp", 128, "Permission denied")]
)
def test_a_program_that_is_named_by_its_path_and_cannot_start(repository, program, code, reason):
    repository.steps(trainer({**container(""), "command": [program]}, job=AT_ONCE))
    ran = repository.run()
    assert (ran.code, ran.lines("node-0-0")) == (code, [f"cannot start {program}: {reason}"])


def test_steps_wait_until_others_are_complete(repository):
    claim = {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]}
    mounts = [{"name": "data", "mountPath": "/data"}]
    repository.steps(
        step("data", container("sleep 1; echo rows > /data/rows", volumeMounts=mounts), pod=claim),
        trainer(
            container("cat /data/rows", volumeMounts=mounts),
            pod=claim,
            dependsOn=[{"name": "data", "status": "Complete"}],
        ),
    )
    ran = repository.run()
    assert (ran.code, ran.lines("node-0-0")) == (0, ["rows"]), ran.err


def test_steps_wait_until_others_are_ready(repository):
    """The server's probe fails until it has started; it never ends by itself."""
    serves = container(
        "sleep 1; touch ready; exec sleep 1000",
        readinessProbe={"exec": {"command": ["test", "-e", "ready"]}, "periodSeconds": 1},
    )
    repository.steps(
        step("server", serves),
        trainer(container("test -e ready && echo found"), dependsOn=[{"name": "server", "status": "Ready"}]),
        successPolicy={"operator": "All", "targetReplicatedJobs": ["node"]},
    )
    ran = repository.run()
    assert (ran.code, ran.lines("node-0-0")) == (0, ["found"]), ran.err


def test_init_containers_come_first_and_sidecars_run_beside(repository):
    pod = {
        "initContainers": [
            container("echo first >> order", "first"),
            container("echo beside >> order; exec sleep 1000", "beside", restartPolicy="Always",
                      startupProbe={"exec": {"command": ["grep", "beside", "order"]}, "periodSeconds": 1}),
        ]
    }  # fmt: skip
    repository.steps(trainer(container("cat order"), pod=pod))
    ran = repository.run()
    assert ran.code == 0, ran.err
    assert [line.partition("| ")[2] for line in ran.out.splitlines()] == ["first", "beside"]
    assert "node-0-0 node | first" in ran.out


@pytest.mark.parametrize("code", [1, 3, 42])
def test_the_exit_code_is_that_of_the_failed_container(repository, code):
    repository.steps(trainer(container(f"exit {code}"), job=AT_ONCE))
    ran = repository.run()
    assert ran.code == code
    assert f"container node exited with {code}" in ran.err


def test_a_killed_container_ends_with_the_signal_as_a_shell_tells_it(repository):
    repository.steps(trainer(container("kill -9 $$$$"), job=AT_ONCE))
    assert repository.run().code == 137


def test_a_failed_container_is_restarted_in_its_pod(repository):
    repository.steps(trainer(container(exits(1, 2) + "; echo done"), job={"backoffLimit": 2}))
    ran = repository.run()
    assert (ran.code, ran.lines("node-0-0")) == (0, ["done"]), ran.err


def test_with_restart_policy_never_a_new_pod_with_empty_volumes_takes_its_place(repository):
    mounts = [{"name": "own", "mountPath": "/own"}]
    script = f"ls /own | wc -l; touch /own/x; {exits(1)}"
    pod = {"restartPolicy": "Never", "volumes": [{"name": "own", "emptyDir": {}}]}
    repository.steps(trainer(container(script, volumeMounts=mounts), job={"backoffLimit": 1}, pod=pod))
    ran = repository.run()
    assert (ran.code, ran.lines("node-0-0")) == (0, ["0", "0"]), ran.err


def test_pod_failure_policy_fails_the_job_at_once(repository):
    rule = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}}
    job = {"podFailurePolicy": {"rules": [rule]}}
    repository.steps(trainer(container("echo try; exit 42"), job=job, pod={"restartPolicy": "Never"}))
    ran = repository.run()
    assert (ran.code, ran.lines("node-0-0")) == (42, ["try"])
    assert "PodFailurePolicy" in ran.err


def test_a_job_set_is_restarted_as_a_whole_with_the_number_of_the_attempt(repository):
    label = "metadata.labels['jobset.sigs.k8s.io/restart-attempt']"
    env = [{"name": "ATTEMPT", "valueFrom": {"fieldRef": {"fieldPath": label}}}]
    repository.steps(
        trainer(container("echo attempt $ATTEMPT; test $ATTEMPT = 1", env=env), job=AT_ONCE),
        step("other", container("exec sleep 1000"), job=AT_ONCE),
        failurePolicy={"maxRestarts": 1},
        successPolicy={"operator": "All", "targetReplicatedJobs": ["node"]},
    )
    ran = repository.run()
    assert (ran.code, ran.lines("node-0-0")) == (0, ["attempt 0", "attempt 1"]), ran.err
    assert "restarting all pods (attempt 2)" in ran.err


def test_a_deadline_of_the_job_ends_it_with_124(repository):
    repository.steps(trainer(container("exec sleep 1000"), job={"activeDeadlineSeconds": 1}))
    ran = repository.run()
    assert ran.code == 124
    assert "DeadlineExceeded" in ran.err


def test_a_claim_is_shared_by_the_pods_and_a_folder_of_it_can_be_mounted(repository):
    volumes = [
        {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
        {"name": "machine", "hostPath": {"path": str(repository.root)}},
    ]
    mounts = [
        {"name": "data", "mountPath": "/mine", "subPath": "parts"},
        {"name": "data", "mountPath": "/all"},
        {"name": "machine", "mountPath": "/machine"},
    ]
    script = "touch /mine/$HOSTNAME; while [ $(ls /all/parts | wc -l) -lt 2 ]; do sleep 0.1; done; ls /machine/jobs"
    repository.steps(trainer(container(script, volumeMounts=mounts), pods=2, pod={"volumes": volumes}))
    ran = repository.run()
    assert (ran.code, ran.lines("node-0-0"), ran.lines("node-0-1")) == (0, ["fit.yaml"], ["fit.yaml"]), ran.err


def test_a_config_map_cannot_be_written_to(repository):
    pod = {"volumes": [{"name": "files", "configMap": {"name": "files"}}]}
    mounts = [{"name": "files", "mountPath": "/files"}]
    repository.steps(trainer(container("echo x > /files/a || echo refused", volumeMounts=mounts), pod=pod))
    repository.job("steps", {}, config_map("files", {"a": "1"}))
    ran = repository.run("--sandbox", "files")
    if "TF894" in ran.err:
        pytest.skip("this machine does not allow namespaces")
    assert (ran.code, ran.lines("node-0-0")[-1]) == (0, "refused"), ran.err


def test_sizes_of_the_command_line_replace_those_of_the_job(repository):
    script = "echo $PET_NNODES $PET_NPROC_PER_NODE"
    command = {"numNodes": 4, "resourcesPerNode": {"limits": {"nvidia.com/gpu": 64}}, "command": ["sh", "-c", script]}
    repository.job("torch-distributed", {**command, "image": "example/train:1"})
    ran = repository.run("--nodes", "2", "--procs", "3", "--gpus", "0")
    assert (ran.code, ran.lines("node-0-0"), ran.lines("node-0-1")) == (0, ["2 3"], ["2 3"]), ran.err
    too_many = repository.run()
    assert too_many.code == 2
    assert "TF893: the pods of node ask for " in too_many.err


def test_nothing_is_started_if_the_job_has_errors(repository):
    repository.job("torch-distributed", {"command": ["touch", "started"], "numNodes": "two"})
    ran = repository.run()
    assert ran.code == 2
    assert "TF102" in ran.err
    assert not (repository.root / "started").exists()


def test_several_environments_need_a_choice(repository):
    repository.steps(trainer(container("echo in $WHERE")))
    for name in ("lab", "prod"):
        repository.write(
            f"environments/{name}/environment.yaml",
            f"apiVersion: trainform.dev/v1alpha1\nkind: Environment\nmetadata: {{name: {name}}}\nspec: {{}}\n",
        )
    ran = repository.run()
    assert ran.code == 2
    assert "ml/fit is in 2 environments: lab, prod; choose one" in ran.err
    assert repository.run("--env", "lab").code == 0


def test_a_run_writes_only_below_a_temporary_folder_and_removes_it(repository, tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("tmp")
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    pod = {"volumes": [{"name": "own", "emptyDir": {}}]}
    repository.steps(
        trainer(container("echo x > /own/x", volumeMounts=[{"name": "own", "mountPath": "/own"}]), pod=pod)
    )
    before = sorted(repository.root.rglob("*"))
    assert repository.run().code == 0
    assert (sorted(repository.root.rglob("*")), [*folder.iterdir()]) == (before, [])
    kept = repository.run("--keep")
    [run] = folder.iterdir()
    assert f"trainform: kept {run}" in kept.err
    assert [each.read_text() for each in run.glob("pods/*/volumes/own/x")] == ["x\n"]
    assert run.stat().st_mode & 0o777 == 0o700


def processes_in(folder: Path) -> list[int]:
    """The processes that work in a folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "cwd").resolve() == folder and entry.name != str(os.getpid()):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


LEAVES_MUCH = (
    "trap 'echo got TERM; exit 5' TERM INT; setsid sleep 1000 & (setsid sleep 1000 & ); echo started; "
    "while :; do sleep 0.1; done"
)


def started(repository: LocalRepository, folder: Path | None = None) -> subprocess.Popen[str]:
    """A run that has written its first line; `folder` is its folder for temporary files."""
    process = repository.start(folder)
    assert process.stdout is not None
    assert "started" in process.stdout.readline()
    return process


def wait_until_gone(folder: Path) -> None:
    for _ in range(600):
        if not processes_in(folder):
            return
        time.sleep(0.1)
    raise AssertionError([Path(f"/proc/{each}/cmdline").read_bytes() for each in processes_in(folder)])


@LINUX
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_are_passed_on_and_nothing_is_left(repository, number, code):
    repository.steps(trainer(container(LEAVES_MUCH)))
    process = started(repository)
    process.send_signal(number)
    out, _ = process.communicate(timeout=60)
    assert (process.returncode, "got TERM" in out) == (code, True)
    assert processes_in(repository.root) == []


@LINUX
def test_a_second_signal_kills(repository):
    repository.steps(
        trainer(
            container("trap '' TERM INT; echo started; while :; do sleep 0.1; done"),
            pod={"terminationGracePeriodSeconds": 1000},
        )
    )
    process = started(repository)
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    assert "stopping the pods" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert processes_in(repository.root) == []


@LINUX
def test_nothing_is_left_after_the_end_of_the_job(repository):
    repository.steps(trainer(container("setsid sleep 1000 & echo started")))
    assert repository.run().code == 0
    assert processes_in(repository.root) == []


def test_a_timeout_is_a_number(repository):
    repository.steps(trainer(container("true")))
    ran = repository.run("--timeout", "nan")
    assert (ran.code, "nan is no number of seconds" in ran.err) == (2, True)


@LINUX
def test_nothing_is_left_after_a_timeout(repository):
    repository.steps(trainer(container(LEAVES_MUCH)))
    assert repository.run("--timeout", "2").code == 124
    assert processes_in(repository.root) == []


@LINUX
def test_nothing_is_left_if_nobody_reads_the_output_any_more(repository, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tmp")
    repository.steps(trainer(container("echo started; while :; do echo more; sleep 0.1; done")))
    process = started(repository, folder=folder)
    with process:  # closes the other pipes
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(timeout=60) in (141, -signal.SIGPIPE)
    assert (processes_in(repository.root), [*folder.iterdir()]) == ([], [])


@LINUX
def test_nothing_is_left_if_trainform_is_killed(repository):
    repository.steps(trainer(container(LEAVES_MUCH), pods=2))
    process = started(repository)
    process.kill()
    process.communicate(timeout=60)
    wait_until_gone(repository.root)


@LINUX
def test_pods_have_colours_on_a_terminal(repository, monkeypatch):
    import pty

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    repository.steps(trainer(container("echo hello"), pods=2))
    ours, theirs = pty.openpty()
    command = [sys.executable, "-P", "-m", "trainform", "run", "fit"]
    process = subprocess.Popen(command, cwd=repository.root, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
    os.close(theirs)
    told = b""
    with contextlib.suppress(OSError):  # the terminal is gone with its last process
        while piece := os.read(ours, 1 << 16):
            told += piece
    os.close(ours)
    assert process.wait(timeout=60) == 0
    assert re.findall(rb"\x1b\[(\d+)mnode-0-(\d) \|\x1b\[0m hello", told.replace(b"\r", b"")) in (
        [(b"36", b"0"), (b"35", b"1")],
        [(b"35", b"1"), (b"36", b"0")],
    )

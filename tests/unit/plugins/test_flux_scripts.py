"""The scripts of a Flux job, run for real, with a stub in the place of Flux."""

from __future__ import annotations

import json
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

import trainform

STUB = r"""#!/bin/sh
# Notes how it is called, and runs what Flux would run.
printf 'flux' >>"$CALLS"
for word in "$@"; do printf ' [%s]' "$word" >>"$CALLS"; done
printf '\n' >>"$CALLS"
case $1 in
start)
    shift 2
    if [ $# -gt 0 ]; then "$@"; else exec sh -c "${FOLLOWER:-:}"; fi
    ;;
run)
    while [ "${1#--env=}" = "$1" ]; do shift; done
    shift
    "$@"
    ;;
module) [ "$2 $3" != "load $BROKEN_MODULE" ] ;;
esac
"""

SHOW_WORDS = r"""#!/bin/sh
for word in "$@"; do printf '%s\0' "$word" >>"$SEEN"; done
"""


class Pod:
    """The file system that both containers of a pod see, below a temporary folder."""

    def __init__(self, root: Path, job: dict):
        self.root = root
        self.scripts = job["objects"][0]["data"]
        assert sorted(self.scripts) == ["entrypoint.sh", "init.sh"]
        for folder in ("opt/view/bin", "opt/software/linux", "opt/app", "curve", "home"):
            (root / folder).mkdir(parents=True)
        (root / "opt/view/lib/python3.11/site-packages").mkdir(parents=True)
        (root / "opt/software/linux/flux.txt").write_text("flux")
        (root / "curve/curve.cert").write_text("key")
        self.program("opt/view/bin/flux", STUB)
        self.program("opt/app/show", SHOW_WORDS)

    def program(self, path: str, text: str) -> None:
        (self.root / path).write_text(text)
        (self.root / path).chmod(0o755)

    def init(self, shell: str = "sh"):
        return self.run("init.sh", shell)

    def install(self) -> None:
        """The init container, and the main container's other image with an empty /opt/software."""
        assert self.init().returncode == 0
        shutil.rmtree(self.root / "opt/software")
        shutil.rmtree(self.root / "opt/view")
        (self.root / "opt/software").mkdir()

    def start(self, index: int | str = 0, shell: str = "sh", **env: str):
        return self.run("entrypoint.sh", shell, JOB_COMPLETION_INDEX=str(index), **env)

    def run(self, script: str, shell: str, **env: str):
        process = self.launch(script, shell, **env)
        out, err = process.communicate(timeout=20)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def launch(self, script: str, shell: str, **env: str) -> subprocess.Popen[str]:
        text = self.scripts[script]
        for path in ("/mnt/flux", "/opt/view", "/opt/software", "/curve/"):
            text = text.replace(path, f"{self.root}{path}")
        file = self.root / script
        file.write_text(text)
        system = {
            "PATH": f"{self.root}/opt/app:/usr/bin:/bin",
            "CALLS": f"{self.root}/calls",
            "SEEN": f"{self.root}/seen",
        }
        return subprocess.Popen(
            [shell, file, "the joined command"],
            env={**system, **env},
            cwd=self.root / "home",
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @property
    def calls(self) -> list[str]:
        """What Flux was called with, paths below the temporary folder left out."""
        return (self.root / "calls").read_text().replace(str(self.root), "").splitlines()

    @property
    def seen(self) -> list[str]:
        """The words that reached the job's own program."""
        return (self.root / "seen").read_text().split("\0")[:-1]


def compiled(command, *, nodes=2, args=None, policy="fcfs"):
    container = {"name": "node", "image": "acme/solver:1"}
    pod = {"spec": {"containers": [container]}}
    template = {
        "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
        "spec": {"template": pod},
    }
    runtime = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": "flux"},
        "spec": {
            "mlPolicy": {"flux": {}},
            "template": {"spec": {"replicatedJobs": [{"name": "node", "template": template}]}},
        },
    }
    trainer = {"numNodes": nodes, "command": command, "env": [{"name": "FLUX_QUEUE_POLICY", "value": policy}]}
    job = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": "solver"},
        "spec": {"runtimeRef": {"name": "flux"}, "trainer": {**trainer, **({"args": args} if args else {})}},
    }
    (result,) = trainform.compile_stream(f"{json.dumps(runtime)}\n---\n{json.dumps(job)}\n")["jobs"]
    return result


@pytest.fixture
def pod_of(tmp_path):
    """Makes the pod of a job; `installed` is false before the init container has run."""

    def make(command=("show",), *, installed=True, **kwargs):
        pod = Pod(tmp_path, compiled(list(command), **kwargs))
        if installed:
            pod.install()
        return pod

    return make


SHELLS = ("sh", "bash")
each_shell = pytest.mark.parametrize("shell", SHELLS)


@each_shell
@pytest.mark.parametrize("policy", ["fcfs", "easy"])
@pytest.mark.parametrize("nodes", [1, 2])
@pytest.mark.parametrize("command", [[], ["show", "it's"]])
def test_every_script_is_valid_shell(tmp_path, shell, policy, nodes, command):
    for name, text in compiled(command, nodes=nodes, policy=policy)["objects"][0]["data"].items():
        (tmp_path / name).write_text(text)
        check = subprocess.run([shell, "-n", tmp_path / name], capture_output=True, text=True)
        assert (check.returncode, check.stderr) == (0, "")


class TestInit:
    @each_shell
    def test_hands_flux_on_and_configures_the_brokers(self, pod_of, shell):
        pod = pod_of(installed=False, nodes=3)
        assert pod.init(shell).returncode == 0
        shared = pod.root / "mnt/flux"
        assert (shared / "view/bin/flux").read_text() == STUB
        assert (shared / "software/linux/flux.txt").read_text() == "flux"
        config = tomllib.loads((shared / "config/broker.toml").read_text())
        assert config["bootstrap"] == {
            "curve_cert": f"{shared}/run/curve.cert",
            "default_port": 8050,
            "default_bind": "tcp://eth0:%p",
            "default_connect": "tcp://%h.solver:%p",
            "hosts": [{"host": "solver-node-0-[0-2]"}],
        }

    def test_a_second_attempt_replaces_what_the_first_one_left(self, pod_of):
        pod = pod_of(installed=False)
        assert pod.init().returncode == 0
        (pod.root / "mnt/flux/view/half").write_text("copied")
        assert pod.init().returncode == 0
        assert not (pod.root / "mnt/flux/view/half").exists()

    def test_an_image_without_flux_is_told(self, pod_of):
        pod = pod_of(installed=False)
        shutil.rmtree(pod.root / "opt/view")
        result = pod.init()
        assert result.returncode == 1
        assert "brings no Flux" in result.stderr


class TestLead:
    @each_shell
    def test_runs_the_command_on_all_nodes(self, pod_of, shell):
        pod = pod_of(["show", "me"], nodes=4)
        result = pod.start(shell=shell)
        assert (result.returncode, result.stderr) == (0, "")
        start, run, report = pod.calls
        assert start == (
            "flux [start] [-o,--config-path=/mnt/flux/config] [sh] [/mnt/flux/run/lead.sh] [-PYTHONPATH] [show] [me]"
        )
        assert run == (
            "flux [run] [-N] [4] [-n] [4] [--exclusive] [-o] [cpu-affinity=off] [-o] [gpu-affinity=off] "
            "[--env=-PYTHONPATH] [show] [me]"
        )
        assert report.startswith("flux [exec] [-r] [all] [-x] [0] ")
        assert report.endswith(" [0] [/mnt/flux/run/ended]")
        assert pod.seen == ["me"]

    @each_shell
    @pytest.mark.parametrize("code", [1, 42, 137])
    def test_ends_with_the_exit_code_of_the_command_and_tells_it_to_the_followers(self, pod_of, shell, code):
        pod = pod_of(["sh", "-c", f"exit {code}"])
        assert pod.start(shell=shell).returncode == code
        assert pod.calls[-1].endswith(f" [{code}] [/mnt/flux/run/ended]")

    def test_a_single_pod_has_no_followers_to_tell(self, pod_of):
        pod = pod_of(nodes=1)
        assert pod.start().returncode == 0
        assert [call.split()[1] for call in pod.calls] == ["[start]", "[run]"]

    def test_starts_again_in_the_same_container(self, pod_of):
        pod = pod_of()
        assert [pod.start().returncode for _ in range(2)] == [0, 0]

    def test_without_a_command_waits_for_people(self, pod_of):
        pod = pod_of([])
        assert pod.start().returncode == 0
        assert pod.calls == ["flux [start] [-o,--config-path=/mnt/flux/config,-Sbroker.rc2_none=1]"]

    def test_keeps_the_certificate_to_itself(self, pod_of):
        pod = pod_of()
        pod.start()
        certificate = pod.root / "mnt/flux/run/curve.cert"
        assert certificate.read_text() == "key"
        assert certificate.stat().st_mode & 0o077 == 0

    def test_a_missing_certificate_ends_the_pod(self, pod_of):
        pod = pod_of()
        (pod.root / "curve/curve.cert").unlink()
        result = pod.start()
        assert result.returncode != 0
        assert "curve.cert" in result.stderr

    def test_flux_finds_its_software_where_the_other_image_had_it(self, pod_of):
        pod = pod_of()
        pod.start()
        assert (pod.root / "opt/software/linux/flux.txt").read_text() == "flux"


class TestWords:
    WORDS = (
        "",
        "a b",
        "it's",
        '"quoted"',
        "$HOME",
        "`id`",
        "back\\slash",
        "two\nlines\n",
        "*",
        "END",
        "-n",
        "ü",
        "$(date +%s)",
    )

    @each_shell
    def test_reach_the_command_as_they_were_written(self, pod_of, shell):
        pod = pod_of(["show", *self.WORDS[:6]], args=list(self.WORDS[6:]))
        assert pod.start(shell=shell).returncode == 0
        assert pod.seen == list(self.WORDS)

    @pytest.mark.parametrize(
        ("word", "seen"),
        [
            ("$(HOST)", "a b"),
            ("--host=$(HOST), ok", "--host=a b, ok"),
            ("$(HOST)$(HOST)", "a ba b"),
            ("$(UNKNOWN)", "$(UNKNOWN)"),
            ("$$(HOST)", "$(HOST)"),
            ("$$$(HOST)", "$a b"),
            ("it's $$5", "it's $5"),
            ("$(HOST", "$(HOST"),
        ],
    )
    def test_variables_are_expanded_as_kubernetes_does(self, pod_of, word, seen):
        pod = pod_of(["show", word])
        assert pod.start(HOST="a b").returncode == 0
        assert pod.seen == [seen]


class TestFollower:
    @each_shell
    def test_joins_and_ends_with_the_lead(self, pod_of, shell):
        pod = pod_of()
        result = pod.start(1, shell=shell)
        assert (result.returncode, result.stderr) == (0, "")
        assert pod.calls == ["flux [start] [-o,--config-path=/mnt/flux/config]"]

    @each_shell
    def test_takes_over_the_exit_code_that_the_lead_tells(self, pod_of, shell):
        pod = pod_of()
        tell = f"echo 42 >{pod.root}/mnt/flux/run/ended"
        assert pod.start(1, shell=shell, FOLLOWER=tell).returncode == 42

    def test_forgets_the_exit_code_of_an_earlier_attempt(self, pod_of):
        pod = pod_of()
        (pod.root / "mnt/flux/run/ended").write_text("42\n")
        assert pod.start(1).returncode == 0

    def test_fails_when_its_broker_loses_the_lead(self, pod_of):
        assert pod_of().start(1, FOLLOWER="exit 3").returncode == 3

    @each_shell
    def test_lets_its_broker_leave_in_peace_when_the_pod_is_stopped(self, pod_of, shell):
        broker = "trap 'sleep 0.1; echo left; exit 0' TERM; echo joined; while :; do sleep 0.01; done"
        pod = pod_of()
        with pod.launch("entrypoint.sh", shell, JOB_COMPLETION_INDEX="1", FOLLOWER=broker) as process:
            assert process.stdout
            assert process.stdout.readline() == "joined\n"
            process.terminate()
            assert process.stdout.read() == "left\n"


class TestSurroundings:
    def test_a_python_path_of_the_container_reaches_the_job(self, pod_of):
        pod = pod_of()
        pod.start(PYTHONPATH="/app/lib")
        assert "[--env=PYTHONPATH=/app/lib]" in pod.calls[1]

    def test_flux_gets_its_own_python_packages_and_modules(self, pod_of):
        pod = pod_of(["sh", "-c", 'show "$FLUX_PYTHONPATH_PREPEND" "$FLUX_MODULE_PATH_PREPEND"'])
        pod.start()
        view = f"{pod.root}/mnt/flux/view/lib"
        assert pod.seen == [f"{view}/python3.11/site-packages", f"{view}/flux/modules"]

    def test_programs_of_the_container_come_before_those_of_flux(self, pod_of):
        pod = pod_of(["tool"])
        pod.program("mnt/flux/view/bin/tool", "#!/bin/sh\nexit 9\n")
        pod.program("opt/app/tool", "#!/bin/sh\nexit 0\n")
        assert pod.start().returncode == 0

    def test_no_init_container_is_told(self, pod_of):
        result = pod_of(installed=False).start()
        assert result.returncode == 1
        assert "left no Flux" in result.stderr

    def test_a_pod_must_know_its_index(self, pod_of):
        result = pod_of().start("")
        assert result.returncode != 0
        assert "JOB_COMPLETION_INDEX" in result.stderr


class TestQueuePolicy:
    LOADED = ("[load] [sched-fluxion-resource]", "[load] [sched-fluxion-qmanager]")

    def modules(self, pod):
        return [call.removeprefix("flux [module] ") for call in pod.calls if "[module]" in call]

    def test_fluxion_takes_over_for_another_policy(self, pod_of):
        pod = pod_of(policy="easy")
        assert pod.start(BROKEN_MODULE="none").returncode == 0
        assert self.modules(pod) == ["[remove] [sched-simple]", *self.LOADED]

    def test_the_job_runs_without_fluxion_too(self, pod_of):
        pod = pod_of(policy="easy")
        result = pod.start(BROKEN_MODULE="sched-fluxion-resource")
        assert result.returncode == 0
        assert "Fluxion does not load" in result.stderr
        assert self.modules(pod)[-1] == "[load] [sched-simple]"

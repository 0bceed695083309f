"""Pull requests that bring pins of their own: only `.trainform/` and `rendered/` change, which reviews fold."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from support.golden import ROOT as GOLDEN
from support.repositories import Repository, environment, job, runtime
from trainform.cli.main import run
from trainform.workspace.inputs import digest_of_file

RUNTIME = "runtimes/torch.yaml"
ENVIRONMENT = "environments/prod/environment.yaml"
FACT = "environments/prod/priorities.yaml"
LOCK = ".trainform/locks/prod/ml/llm.lock"
JOBSET = "rendered/prod/ml/llm/jobset-llm.yaml"
PRIVILEGED = runtime() + " " * 18 + "securityContext: {privileged: true}\n"
PRIORITY = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {{name: high}}\nvalue: {0}\n"
PATCH = (
    "  patches: [{target: {kind: JobSet}, patch: {spec: {replicatedJobs: "
    "[{name: node, template: {spec: {template: {spec: {hostNetwork: true}}}}}]}}}]\n"
)


class Ran(NamedTuple):
    code: int
    out: str
    err: str


class PullRequest(Repository):
    """A branch from `main`, which has a job, its runtime, its Environment and a fact, all rendered."""

    def __init__(self, root: Path, read: Callable[[], Any]) -> None:
        super().__init__(root)
        self.read = read
        self.start_git()
        self.write(ENVIRONMENT, environment())
        self.write(FACT, PRIORITY.format(1))
        self.write(RUNTIME, runtime())
        self.write("jobs/llm.yaml", job("llm"))
        self.write("jobs/bert.yaml", job("bert"))
        self.done("render")
        self.commit()
        self.git("checkout", "--quiet", "-b", "change")

    def trainform(self, *arguments: str) -> Ran:
        code = run([*arguments, "--root", str(self.root)])
        captured = self.read()
        return Ran(code, captured.out.decode(), captured.err.decode())

    def done(self, *arguments: str) -> None:
        ran = self.trainform(*arguments)
        assert ran.code == 0, ran

    def text(self, file: str) -> str:
        return (self.root / file).read_text()

    def lock(self, **fields: Any) -> None:
        """Edit the lockfile of `llm`, written as trainform writes it."""
        self.write(LOCK, json.dumps({**json.loads(self.text(LOCK)), **fields}, indent=2) + "\n")

    def merged(self, **files: str) -> None:
        """These files, and all that the branch holds, become `main`."""
        for file, text in files.items():
            self.write(file, text)
        self.commit()
        self.git("branch", "--force", "main")

    def found(self, *arguments: str) -> tuple[int, dict[str, str]]:
        """The exit code, and the state of each job, or file, that is not good."""
        ran = self.trainform("check", "--format", "json", *arguments)
        jobs = json.loads(ran.out)["jobs"]
        return ran.code, {
            each["name"] or each["files"][0]: each["state"] for each in jobs if each["state"] != "current"
        }

    def mispinned(self) -> dict[str, list[str]]:
        """The wrong pins of each job that `check --base main` refuses."""
        ran = self.trainform("check", "--base", "main", "--format", "json")
        jobs = [each for each in json.loads(ran.out)["jobs"] if each["state"] == "mispinned"]
        assert ran.code == (1 if jobs else 0), ran
        return {each["name"]: [pin["pin"] for pin in each["pins"]] for each in jobs}

    def touched(self) -> set[str]:
        """The top folders of what the branch changes."""
        return {path.partition("/")[0] for path in self.git("diff", "--name-only", "main").split()}


@pytest.fixture
def change(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> PullRequest:
    return PullRequest(tmp_path / "repository", capfdbinary.readouterr)


def test_a_runtime_that_no_commit_ever_showed(change):
    change.write(RUNTIME, PRIVILEGED)
    change.done("upgrade", "llm")
    change.write(RUNTIME, runtime())
    change.commit()
    assert change.touched() == {".trainform", "rendered"}
    assert "privileged: true" in change.text(JOBSET)
    assert change.found() == (0, {})  # nothing here is inconsistent by itself
    ran = change.trainform("check", "--base", "main")
    assert ran == (
        1,
        "mispinned prod/ml/llm: changed since the base, but is pinned to inputs that are neither current nor the "
        "base's: run `trainform upgrade ml/llm`, or restore its lockfile and manifests with git\n"
        f"  {LOCK}:8: runtime torch is neither the current one nor the one that the job had at the base\n"
        "1 current, 1 mispinned\n",
        "",
    )


@pytest.mark.parametrize(
    ("file", "text", "pins"),
    [
        (RUNTIME, PRIVILEGED, ["runtime"]),
        (ENVIRONMENT, environment() + PATCH, ["environment"]),
        (FACT, PRIORITY.format(2), ["environment"]),
    ],
    ids=["runtime", "Environment", "fact"],
)
@pytest.mark.parametrize("name", ["llm", "new"])
def test_an_input_that_was_restored_before_the_commit(change, file, text, pins, name):
    before = change.text(file)
    change.write(f"jobs/{name}.yaml", job(name))
    change.write(file, text)
    change.done("render")
    change.done("upgrade", name)
    change.write(file, before)
    change.commit()
    assert change.found() == (0, {})
    assert change.mispinned() == {name: pins}
    change.done("upgrade", name)
    assert change.mispinned() == {}


def test_a_runtime_that_stands_among_the_jobs(change):
    """Every job file has to be read to know what is current."""
    own, privileged = (text.replace("name: torch", "name: own", 1) for text in (runtime(), PRIVILEGED))
    change.merged(**{"jobs/own.yaml": own, "jobs/llm.yaml": job("llm").replace("torch", "own")})
    change.done("render")
    assert change.mispinned() == {}
    change.write("jobs/own.yaml", privileged)
    change.done("upgrade", "llm")
    change.write("jobs/own.yaml", own)
    assert change.mispinned() == {"llm": ["runtime"]}


@pytest.fixture
def left_behind(change: PullRequest) -> PullRequest:
    """On `main`, `bert` is still on a privileged runtime, which `llm` was upgraded from."""
    change.git("checkout", "--quiet", "main")
    change.write(RUNTIME, PRIVILEGED)
    change.done("upgrade", "--all")
    change.commit("privileged")
    change.write(RUNTIME, runtime())
    change.done("upgrade", "llm")
    change.commit("no longer privileged")
    change.git("checkout", "--quiet", "-B", "change")
    return change


def test_a_job_that_is_behind_may_stay_as_it_is(left_behind):
    assert left_behind.mispinned() == {}
    left_behind.git("mv", "jobs/bert.yaml", "jobs/moved.yaml")
    left_behind.done("render")
    assert left_behind.mispinned() == {}


@pytest.mark.parametrize("name", ["llm", "copy"])
def test_what_another_job_is_pinned_to_is_no_excuse(left_behind, name):
    """Neither a copy of a job nor its neighbour takes over the old runtime, which the change does not show."""
    left_behind.write(f"jobs/{name}.yaml", job(name))
    left_behind.write(RUNTIME, PRIVILEGED)
    left_behind.done("render")
    left_behind.done("upgrade", name)
    left_behind.write(RUNTIME, runtime())
    left_behind.commit()
    assert left_behind.mispinned() == {name: ["runtime"]}


def test_a_rollback_of_the_output_alone(left_behind):
    left_behind.git("checkout", "main~1", "--", ".trainform", "rendered")
    left_behind.commit()
    assert left_behind.found() == (0, {})
    assert left_behind.mispinned() == {"llm": ["runtime"]}


def test_a_rollback_of_the_runtime_and_its_output(left_behind):
    left_behind.git("revert", "--no-edit", "main")
    assert left_behind.mispinned() == {}


def test_a_rerun_of_a_job_that_is_behind_takes_what_is_current(left_behind):
    left_behind.done("rerun", "bert")
    left_behind.done("render")
    assert left_behind.mispinned() == {}
    assert "privileged" not in left_behind.text("rendered/prod/ml/bert/jobset-bert.yaml")


@pytest.mark.parametrize("name", ["llm2", "llm"])
def test_a_renamed_job_and_a_moved_one_have_current_pins(change, name):
    (change.root / "jobs/llm.yaml").unlink()
    change.write("jobs/renamed.yaml", job(name, nodes=3))
    change.done("render")
    assert change.mispinned() == {}


def test_a_renamed_runtime(change):
    change.git("mv", RUNTIME, "runtimes/renamed.yaml")
    change.write("runtimes/renamed.yaml", runtime().replace("name: torch", "name: own", 1))
    change.write("jobs/llm.yaml", job("llm").replace("torch", "own"))
    change.write("jobs/bert.yaml", job("bert").replace("torch", "own"))
    change.done("render")
    assert change.mispinned() == {}


def test_a_renamed_environment(change):
    change.git("mv", "environments/prod", "environments/eu")
    change.write("environments/eu/environment.yaml", environment().replace("name: prod", "name: eu"))
    change.done("render", "--allow-empty")
    assert change.mispinned() == {}


def test_an_upgrade_beside_a_runtime_that_changed_on_main(change):
    """Each pin counts by itself: the Environment is current, the runtime is the one that the job had."""
    change.write(ENVIRONMENT, environment() + "  values: {a: 1}\n")
    change.done("upgrade", "llm")
    change.commit()
    change.git("checkout", "--quiet", "main")
    change.write(RUNTIME, runtime("registry.example.com/train:2"))
    change.commit()
    change.git("checkout", "--quiet", "change")
    change.git("merge", "--quiet", "--no-edit", "main")
    assert change.mispinned() == {}


def test_a_new_job_beside_a_runtime_that_changed_on_main(change):
    """It has never run: it takes what is current, before the merge."""
    change.write("jobs/new.yaml", job("new"))
    change.done("render")
    change.commit()
    change.git("checkout", "--quiet", "main")
    change.write(RUNTIME, runtime("registry.example.com/train:2"))
    change.commit()
    change.git("checkout", "--quiet", "change")
    change.git("merge", "--quiet", "--no-edit", "main")
    assert change.mispinned() == {"new": ["runtime"]}
    assert "runtime torch is not the current one, and the job is new" in change.trainform("check", "--base", "main").out


@pytest.mark.parametrize("fields", [{"compiler": "0.0.1"}, {"plugins": {"theirs": "1.0"}}], ids=["compiler", "plugins"])
@pytest.mark.parametrize("is_new", [True, False], ids=["new", "known"])
def test_a_version_that_nobody_here_has_proves_nothing(change, fields, is_new):
    """A manifest that cannot be compiled again could hold anything."""
    if is_new:
        change.git("rm", "--quiet", "-r", ".trainform", "rendered", "jobs/bert.yaml")
        change.merged()
        change.done("render")
    change.write(JOBSET, change.text(JOBSET).replace("train:1", "evil:1"))
    files = json.loads(change.text(LOCK))["files"]
    change.lock(**fields, files={**files, "jobset-llm.yaml": digest_of_file((change.root / JOBSET).read_bytes())})
    change.commit()
    assert change.found() == (0, {"llm": "unproven"})
    assert change.mispinned()["llm"] == ["compiler"]
    assert "check with what rendered the job, or upgrade it" in change.trainform("check", "--base", "main").out


def test_a_lock_of_the_base_vouches_for_no_manifest_that_the_base_does_not_hold(change):
    """A first change edits only the lockfile of a job that nobody here can prove, a second one the manifest."""
    evil = change.text(JOBSET).replace("train:1", "evil:1")
    files = json.loads(change.text(LOCK))["files"]
    change.lock(compiler="0.0.1", files={**files, "jobset-llm.yaml": digest_of_file(evil.encode())})
    change.merged()
    change.write(JOBSET, evil)
    change.commit()
    assert change.found() == (0, {"llm": "unproven"})
    assert change.found("--base", "main") == (1, {"llm": "edited"})


@pytest.mark.parametrize(
    ("kind", "file", "text"),
    [
        ("environment", ENVIRONMENT, environment() + PATCH),
        ("runtime", RUNTIME, PRIVILEGED),
    ],
    ids=["environment", "runtime"],
)
def test_each_wrong_pin_is_told_at_its_line_of_the_lockfile(change, kind, file, text):
    before = change.text(file)
    change.write(file, text)
    change.done("upgrade", "llm")
    change.write(file, before)
    change.commit()
    ran = change.trainform("check", "--base", "main", "--format", "json")
    [pin] = next(each["pins"] for each in json.loads(ran.out)["jobs"] if each["state"] == "mispinned")
    assert (pin["pin"], pin["file"]) == (kind, LOCK)
    assert change.text(LOCK).splitlines()[pin["line"] - 1].strip().startswith(f'"{kind}"')
    assert pin["message"].endswith("is neither the current one nor the one that the job had at the base")


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({"trainJob": "0" * 64}, "stale"),
        ({"source": "jobs/bert.yaml"}, "stale"),
        ({"files": {}}, "edited"),
        ({"previous": None}, "stale"),
        ({"runtime": None}, "edited"),
        ({"environment": "0" * 64}, "missing"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else value,
)
def test_other_fields_of_a_lock_are_told_without_a_base(change, fields, state):
    change.lock(**fields)
    change.commit()
    assert change.found() == (1, {"llm": state})
    assert change.found("--base", "main") == (1, {"llm": state})


def test_a_state_of_an_interrupted_run_hides_no_manifest(change):
    """The previous state in a lock is for the next run on the same machine, not for a commit to bring."""
    change.lock(previous=json.loads(change.text(LOCK)))
    assert change.found() == (1, {"llm": "stale"})


def test_a_lock_names_the_runtime_that_its_snapshot_holds(change):
    """Otherwise everything says that the job is on a runtime that it is not on."""
    change.lock(runtime={**json.loads(change.text(LOCK))["runtime"], "name": "torch-distributed"})
    assert change.found() == (1, {"llm": "edited"})


def test_a_digest_of_the_source_vouches_for_no_other_text(change):
    """`sourceDigest` spares `render` from parsing a file; `check` reads the TrainJob all the same."""
    evil = job("llm", nodes=99)
    change.lock(sourceDigest=digest_of_file(evil.encode()))
    change.write("jobs/llm.yaml", evil)
    assert change.found() == (1, {"llm": "stale"})


@pytest.fixture
def sealed(change: PullRequest) -> PullRequest:
    """On `main`, there is a job with a key in another Environment."""
    case = GOLDEN / "secrets/sealed-secret-is-copied/input"
    name = yaml.safe_load((case / "environment.yaml").read_text())["metadata"]["name"]
    folders = {"environment": f"environments/{name}", "key": f"environments/{name}/keys"}
    change.git("rm", "--quiet", "-r", "jobs", "runtimes", "environments", ".trainform", "rendered")
    for file, folder in {**folders, "job": "jobs", "runtime": "runtimes"}.items():
        change.write(f"{folder}/{file}.yaml", (case / f"{file}.yaml").read_text())
    change.done("render")
    change.merged()
    return change


def only(change: PullRequest, pattern: str) -> str:
    (file,) = change.root.glob(pattern)
    return file.relative_to(change.root).as_posix()


def test_a_key_that_a_lock_leaves_out(sealed):
    lock = only(sealed, ".trainform/locks/**/*.lock")
    tree = json.loads(sealed.text(lock))
    del tree["keys"]
    sealed.write(lock, json.dumps(tree, indent=2) + "\n")
    assert list(sealed.found()[1].values()) == ["edited"]


def test_a_job_that_changed_keeps_its_key(sealed):
    file = only(sealed, "jobs/*")
    sealed.write(file, sealed.text(file).replace("metadata:\n", "metadata:\n  annotations: {note: changed}\n", 1))
    sealed.done("render")
    sealed.commit()
    assert ".trainform" in sealed.touched()
    assert sealed.mispinned() == {}


def test_a_key_that_no_commit_ever_showed(sealed):
    key = only(sealed, "environments/*/keys/*")
    before = sealed.text(key)
    sealed.write(key, before.replace("    metadata:\n", "    metadata:\n      labels: {theirs: x}\n"))
    sealed.done("upgrade", "--all")
    sealed.write(key, before)
    sealed.commit()
    assert sealed.touched() == {".trainform", "rendered"}
    assert list(sealed.mispinned().values()) == [["key"]]


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_a_replaced_key_is_shown_by_its_digest(sealed, form):
    """Whoever made the new key can log in to the pods of the job."""
    key = only(sealed, "environments/*/keys/*")
    sealed.write(key, sealed.text(key).replace("ssh-privatekey: AQCl", "ssh-privatekey: AQCm"))
    sealed.done("upgrade", "--all")
    sealed.commit()
    ran = sealed.trainform("diff", "--base", "main", "--format", form)
    shown = ran.out
    assert ran.code in (0, 1), ran
    assert "key ssh-privatekey" in shown.replace("</b>", "").replace("*", "")
    assert shown.count("sha256:") == 2


def snapshots(change: PullRequest) -> list[str]:
    return sorted(f".trainform/snapshots/{path.name}" for path in (change.root / ".trainform/snapshots").iterdir())


@pytest.mark.parametrize("compiler", [None, "0.0.1"], ids=["this version", "another version"])
@pytest.mark.parametrize("state", ["edited", "missing"])
def test_a_snapshot_holds_what_its_name_says(change, compiler, state):
    if compiler:
        change.lock(compiler=compiler)
        change.merged()
    for file in snapshots(change):
        if "numNodes" in change.text(file):
            change.write(file, PRIVILEGED)
            if state == "missing":
                (change.root / file).unlink()
    found = {"bert": state, "llm": state}
    assert change.found() == (1, found)
    assert change.found("--base", "main") == (1, found)


def test_a_snapshot_that_no_lock_names_vouches_for_nothing_and_may_stay(change):
    planted = f".trainform/snapshots/{'0' * 64}.yaml"
    change.write(planted, PRIVILEGED)
    change.commit()
    assert change.found("--base", "main") == (0, {})
    change.merged()
    assert change.found("--base", "main") == (0, {})
    change.done("render", "--prune-snapshots")
    assert change.changed() == [f" D {planted}"]


def test_a_base_that_was_interrupted_vouches_for_nothing(change):
    change.git("checkout", "--quiet", "main")
    change.write(RUNTIME, PRIVILEGED)
    change.done("upgrade", "llm")
    change.write(RUNTIME, runtime())
    forged = change.text(LOCK)
    change.lock(previous=None)
    change.commit()
    change.git("checkout", "--quiet", "-B", "change")
    change.write(LOCK, forged)
    assert change.mispinned() == {"llm": ["runtime"]}


def test_the_build_cache_hides_nothing(change):
    """With many files, jobs that an earlier run proved are not read again."""
    for number in range(220):
        change.write(f"jobs/job-{number}.yaml", job(f"job-{number}"))
    change.done("render")
    change.merged()
    change.write(RUNTIME, PRIVILEGED)
    change.done("upgrade", "job-7")
    change.write(RUNTIME, runtime())
    change.commit()
    for _ in range(2):
        assert change.found() == (0, {})
        assert change.mispinned() == {"job-7": ["runtime"]}

"""Jobs worked out in slices, by several processes, and in shards: the result is that of one run over all."""

from __future__ import annotations

import json
import shutil

import pytest
import yaml

from support.repositories import Repository
from trainform.workspace import parallel as slices

ENVIRONMENT = """\
apiVersion: trainform.dev/v1alpha1
kind: Environment
metadata:
  name: {name}
spec:
  gitops: {{naming: {naming}}}
  jobs: {{paths: [{paths}]}}
"""
PATCH = """\
  patches:
  - target: {{kind: JobSet, name: {target}}}
    patch: |
      - op: add
        path: /metadata/labels
        value: {{a: b}}
"""


def job(name, **spec):
    tree = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {"name": name, "namespace": "ml"},
        "spec": {"runtimeRef": {"name": "torch"}, "trainer": {"image": "registry.example.com/train:1"}, **spec},
    }
    return yaml.safe_dump(tree)


def runtime(name="torch", image="registry.example.com/train:1"):
    container = {"name": "node", "image": image}
    replicated_job = {
        "name": "node",
        "template": {
            "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
            "spec": {"template": {"spec": {"containers": [container]}}},
        },
    }
    tree = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "metadata": {"name": name},
        "spec": {"mlPolicy": {"numNodes": 1}, "template": {"spec": {"replicatedJobs": [replicated_job]}}},
    }
    return yaml.safe_dump(tree)


class Place:
    """A repository with twelve jobs, and a copy of it for each way to render."""

    def __init__(self, root, trainform, monkeypatch):
        self.root, self.trainform, self.monkeypatch = root, trainform, monkeypatch
        (root / "jobs/llm.yaml").unlink()
        self.write("runtimes/torch.yaml", runtime())
        for number in range(12):
            self.write(f"jobs/team-{number % 3}/job-{number}.yaml", job(f"job-{number}"))

    def write(self, file, text):
        path = self.root / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def run(self, *arguments, sliced):
        """Runs a command in a fresh copy; its result, and every file that is there then."""
        copy = self.root.parent / f"{self.root.name}-copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.root, copy)
        with self.monkeypatch.context() as patch:
            patch.chdir(copy)
            for name in ("SMALLEST", "LARGEST"):
                patch.setattr(slices, name, 2 if sliced else 1000)
            ran = self.trainform(*arguments)
        return ran, {path.relative_to(copy): path.read_bytes() for path in copy.rglob("*") if path.is_file()}


@pytest.fixture
def place(root, trainform, monkeypatch):
    return Place(root, trainform, monkeypatch)


def assert_same(one, other):
    """Field by field, so that a failure says what differs."""
    (ran, files), (expected, expected_files) = one, other
    assert ran == expected
    assert sorted(files) == sorted(expected_files)
    assert {path for path in files if files[path] != expected_files[path]} == set()


def nothing(place):
    """All is well."""


def warnings(place):
    for number in range(12):
        resources = {"limits": {"nvidia.com/gpu": 8}}
        trainer = {"image": "registry.example.com/train", "resourcesPerNode": resources, "numNodes": 2}
        place.write(f"jobs/team-{number % 3}/job-{number}.yaml", job(f"job-{number}", trainer=trainer))


def errors(place):
    place.write("jobs/team-1/job-1.yaml", job("job-1", trainer={"numNodes": "many"}))
    place.write("jobs/team-2/job-2.yaml", job("job-2", runtimeRef={"name": "torhc"}))
    place.write("jobs/z.yaml", "kind: [")


def a_broken_runtime(place):
    place.write("runtimes/torch.yaml", runtime().replace("numNodes: 1", "numNodes: none"))


def a_name_twice(place):
    place.write("jobs/zz.yaml", job("job-0"))


def a_runtime_among_the_jobs(place):
    place.write("jobs/a.yaml", job("aa", runtimeRef={"name": "own"}))
    place.write("jobs/z.yaml", runtime("own"))


def no_jobs(place):
    shutil.rmtree(place.root / "jobs")
    for number in range(9):
        place.write(f"jobs/{number}.yaml", "# nothing here\n")


def environments(place):
    place.write("environments/a/environment.yaml", ENVIRONMENT.format(name="a", naming="stable", paths="jobs/**"))
    place.write(
        "environments/b/environment.yaml", ENVIRONMENT.format(name="b", naming="content-hash", paths="jobs/team-1/**")
    )


def an_environment_without_jobs(place):
    environments(place)
    place.write("environments/c/environment.yaml", ENVIRONMENT.format(name="c", naming="stable", paths="jobs/none/**"))


def a_patch_that_meets(target):
    def prepare(place):
        environments(place)
        text = ENVIRONMENT.format(name="a", naming="stable", paths="jobs/**")
        patch = PATCH.format(target=target)
        place.write("environments/a/environment.yaml", text + patch)

    return prepare


def templates(place):
    place.write("jobs/t.yaml.j2", job("made") + "{% if true %}---\n" + job("more") + "{% endif %}")


SCENES = {
    "all is well": nothing,
    "warnings": warnings,
    "errors": errors,
    "a broken runtime": a_broken_runtime,
    "a name twice": a_name_twice,
    "a runtime among the jobs": a_runtime_among_the_jobs,
    "no jobs": no_jobs,
    "environments": environments,
    "an environment without jobs": an_environment_without_jobs,
    "a patch that meets one job": a_patch_that_meets("job-7"),
    "a patch that meets none": a_patch_that_meets("job-77"),
    "templates": templates,
}


WORDS = [f"{command} --format {form}" for command in ("check", "validate") for form in ("text", "json")]


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES)
@pytest.mark.parametrize("words", ["render", "render --keep-going", "upgrade --all", "validate --format sarif", *WORDS])
def test_slices_make_what_one_piece_makes(place, scene, words):
    arguments = words.split()
    scene(place)
    assert_same(place.run(*arguments, sliced=True), place.run(*arguments, sliced=False))


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES)
@pytest.mark.parametrize("words", ["render", *WORDS])
def test_slices_make_what_one_piece_makes_of_a_change(place, scene, words):
    assert place.trainform("render").code == 0
    scene(place)
    shutil.rmtree(place.root / "rendered/default/ml/job-3")
    (place.root / "jobs/team-1/job-4.yaml").unlink(missing_ok=True)
    place.write("jobs/team-2/job-5.yaml", job("job-5", trainer={"numNodes": 3}))
    place.write("jobs/team-2/job-55.yaml", job("job-55"))
    if words != "render":
        place.write("rendered/default/ml/job-6/jobset-job-6.yaml", "edited: by hand\n")
        place.write("rendered/default/ml/job-6/foreign.yaml", "a: b\n")
        place.write("rendered/default/stray.yaml", "a: b\n")
    assert_same(place.run(*words.split(), sliced=True), place.run(*words.split(), sliced=False))


@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES)
def test_slices_say_of_a_pull_request_what_one_piece_says(place, scene):
    repository = Repository(place.root)
    repository.start_git()
    assert place.trainform("render").code == 0
    repository.commit()
    scene(place)
    place.write("jobs/team-2/job-5.yaml", job("job-5", trainer={"numNodes": 3}))
    place.write("rendered/default/ml/job-6/jobset-job-6.yaml", "edited: by hand\n")
    assert place.run("ci", sliced=True)[0] == place.run("ci", sliced=False)[0]


def test_shards_together_check_what_one_run_checks(place):
    assert place.trainform("render").code == 0
    (place.root / "jobs/team-1/job-4.yaml").unlink()
    place.write("jobs/team-2/job-5.yaml", job("job-5", trainer={"numNodes": 3}))
    place.write("rendered/default/ml/job-6/jobset-job-6.yaml", "edited: by hand\n")
    place.write("rendered/default/stray.yaml", "a: b\n")

    def verdicts(*arguments, sliced=False):
        told = json.loads(place.run("check", "--format", "json", *arguments, sliced=sliced)[0].out)
        return [json.dumps(each, sort_keys=True) for each in told["jobs"]]

    shards = [each for number in (1, 2, 3) for each in verdicts("--shard", f"{number}/3", sliced=number == 2)]
    assert sorted(shards) == sorted(verdicts())


def test_an_upgrade_of_a_runtime_that_no_job_has_is_told_in_slices_too(place):
    assert place.trainform("render").code == 0
    whole = place.run("upgrade", "--runtime", "torhc", sliced=False)
    assert_same(place.run("upgrade", "--runtime", "torhc", sliced=True), whole)
    assert "TF705" in whole[0].err


def merged(place, *arguments, of=3):
    """What several shards make of the repository, each in a copy of its own, put together as a CI job would."""
    before = {path.relative_to(place.root): path.read_bytes() for path in place.root.rglob("*") if path.is_file()}
    after, told = dict(before), []
    for number in range(1, of + 1):
        ran, files = place.run(*arguments, "--shard", f"{number}/{of}", sliced=number > 1)
        told.append(ran.code)
        for path in before.keys() | files.keys():
            if files.get(path) != before.get(path):
                assert after.get(path) == before.get(path), f"{path} is written by two shards"
                if path in files:
                    after[path] = files[path]
                else:
                    del after[path]
    return told, after


@pytest.mark.parametrize("scene", ["all is well", "warnings", "environments", "templates"])
def test_shards_together_make_what_one_run_makes(place, scene):
    SCENES[scene](place)
    assert_same(merged(place, "render"), ([0, 0, 0], place.run("render", sliced=False)[1]))


@pytest.mark.parametrize("arguments", [("render",), ("upgrade", "--all")], ids=" ".join)
def test_shards_together_make_what_one_run_makes_of_a_change(place, arguments):
    environments(place)
    assert place.trainform("render").code == 0
    place.write("runtimes/torch.yaml", runtime(image="registry.example.com/train:2"))
    for number in (1, 4, 7):
        (place.root / f"jobs/team-1/job-{number}.yaml").unlink()
    for number in (2, 5, 8, 11):
        place.write(f"jobs/team-2/job-{number}.yaml", job(f"job-{number}", trainer={"numNodes": 3}))
        place.write(f"jobs/team-1/job-2{number}.yaml", job(f"job-2{number}"))
    assert_same(merged(place, *arguments), ([0, 0, 0], place.run(*arguments, sliced=False)[1]))


def test_snapshots_that_the_last_job_leaves_stay(place):
    assert place.trainform("render").code == 0
    place.write("runtimes/torch.yaml", runtime(image="registry.example.com/train:2"))
    for number in range(12):
        place.write(f"jobs/team-{number % 3}/job-{number}.yaml", job(f"job-{number}", trainer={"numNodes": 3}))
    whole = place.run("render", sliced=False)[1]
    assert_same(merged(place, "render"), ([0, 0, 0], whole))
    assert len([path for path in whole if "snapshots" in str(path)]) == 2


@pytest.mark.parametrize("arguments", [("render",), ("upgrade", "--all")], ids=" ".join)
def test_the_first_shard_writes_the_snapshots_of_the_other_shards_jobs(place, arguments):
    """Each job has a runtime of its own, which an upgrade finds changed."""
    for number in range(12):
        place.write(f"runtimes/own-{number}.yaml", runtime(f"own-{number}"))
        place.write(
            f"jobs/team-{number % 3}/job-{number}.yaml", job(f"job-{number}", runtimeRef={"name": f"own-{number}"})
        )
    if arguments != ("render",):
        assert place.trainform("render").code == 0
        for number in range(12):
            place.write(f"runtimes/own-{number}.yaml", runtime(f"own-{number}", "registry.example.com/train:2"))
    whole = place.run(*arguments, sliced=False)[1]
    assert_same(merged(place, *arguments), ([0, 0, 0], whole))


def test_a_job_stays_in_its_shard_whatever_else_is_there(place):
    def jobs():
        return {
            path.parts[-2]: number
            for number in (1, 2, 3)
            for path in place.run("render", "--shard", f"{number}/3", sliced=False)[1]
            if path.name.startswith("jobset-")
        }

    before = jobs()
    place.write("jobs/a.yaml", job("another"))
    assert {name: number for name, number in jobs().items() if name != "another"} == before
    assert set(before.values()) == {1, 2, 3}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--shard", "4/3"), '"4/3": the first number must be between 1 and the second'),
        (("--shard", "0/3"), '"0/3": the first number must be between 1 and the second'),
        (("--shard", "two"), '"two" is not a shard: write 2/4 for the second of four'),
        (("--shard", "1/2", "job-1"), "--shard cannot be combined"),
        (("--shard", "1/2", "--keep-going"), "--shard cannot be combined"),
    ],
)
def test_a_shard_that_cannot_be_is_refused(place, arguments, said):
    ran = place.trainform("render", *arguments)
    assert ran.code == 2
    assert said in ran.err

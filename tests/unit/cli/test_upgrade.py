"""`trainform upgrade`."""

from __future__ import annotations

import json

import pytest

from support.repositories import environment, job, runtime

JOBSET = "rendered/prod/ml/{0}/jobset-{0}.yaml"
NEW = "registry.example.com/train:2"


@pytest.fixture
def behind(root, trainform):
    """Three rendered jobs, whose runtime changed; one of them has a runtime of its own."""
    (root / "jobs" / "llm.yaml").unlink()
    for name in ("a", "b"):
        (root / "jobs" / f"{name}.yaml").write_text(job(name))
    (root / "jobs" / "c.yaml").write_text(job("c").replace("name: torch", "name: own"))
    (root / "runtimes").mkdir()
    (root / "environments" / "prod").mkdir(parents=True)
    (root / "environments" / "prod" / "environment.yaml").write_text(environment())
    (root / "runtimes" / "own.yaml").write_text(runtime().replace("name: torch", "name: own"))
    (root / "runtimes" / "torch.yaml").write_text(runtime())
    assert trainform("render").code == 0
    (root / "runtimes" / "torch.yaml").write_text(runtime(NEW))
    return root


def upgraded(root):
    return [name for name in "abc" if NEW in (root / JOBSET.format(name)).read_text()]


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (("a",), ["a"]),
        (("ml/b", "jobs/a.yaml"), ["a", "b"]),
        (("--all",), ["a", "b"]),
        (("--env", "prod"), ["a", "b"]),
        (("--runtime", "torch"), ["a", "b"]),
        (("--runtime", "own"), []),
        (("a", "--runtime", "torch"), ["a"]),
    ],
)
def test_what_is_asked_for_takes_what_is_current(behind, trainform, arguments, names):
    assert trainform("upgrade", *arguments).code == 0
    assert upgraded(behind) == names


@pytest.mark.parametrize("is_old", [False, True], ids=["comment", "lockfile-without-a-digest"])
def test_a_job_of_which_only_the_digest_of_its_source_is_another_is_not_upgraded(behind, trainform, is_old):
    assert trainform("upgrade", "--all").code == 0
    file, lock_file = behind / "jobs" / "a.yaml", behind / ".trainform" / "locks" / "prod" / "ml" / "a.lock"
    if is_old:
        lock_file.write_bytes(
            b"\n".join(line for line in lock_file.read_bytes().split(b"\n") if b"sourceDigest" not in line)
        )
    else:
        file.write_text(f"# a comment\n{file.read_text()}")
    before = lock_file.read_bytes()
    assert trainform("upgrade", "--all").out == "3 jobs unchanged\n"
    assert lock_file.read_bytes() == before


def test_a_preview_tells_why_and_what_and_writes_nothing(behind, trainform):
    ran = trainform("upgrade", "--all", "--dry-run")
    assert ran.code == 0
    assert "prod/ml/a: runtime torch changed\n--- a/rendered/prod/ml/a/jobset-a.yaml\n" in ran.out
    assert f"+            - image: {NEW}\n" in ran.out or f"image: {NEW}\n" in ran.out
    assert ran.out.endswith("2 jobs would change, 1 would not\n")
    assert upgraded(behind) == []


def test_a_preview_tells_jobs_that_change_alike_once(behind, trainform):
    told = trainform("upgrade", "--all", "--dry-run").out
    assert told.count("--- a/rendered/") == 1
    assert "\n  same for 1 job: ml/b\n2 jobs would change, " in told


def test_a_preview_compares_a_job_with_its_new_object(behind, trainform):
    """Under a content hash every object is called otherwise; what is the same is not printed."""
    (behind / "environments" / "prod" / "environment.yaml").write_text(environment("content-hash"))
    (behind / "runtimes" / "torch.yaml").write_text(runtime())
    assert trainform("upgrade", "--all").code == 0
    (old,) = (behind / "rendered" / "prod" / "ml" / "a").glob("jobset-a-*.yaml")
    (behind / "runtimes" / "torch.yaml").write_text(runtime(NEW))
    told = trainform("upgrade", "--all", "--dry-run").out
    changes = [line for line in told.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    assert [line.split()[-1] for line in changes] == ["registry.example.com/train:1", NEW]
    assert f"--- a/rendered/prod/ml/a/{old.name}\n+++ b/rendered/prod/ml/a/jobset-a-" in told
    assert "same for 1 job: ml/b" in told


def test_a_preview_as_json_is_a_render_result(behind, trainform):
    ran = trainform("upgrade", "a", "--dry-run", "--format", "json")
    (only,) = json.loads(ran.out)["jobs"]
    assert (only["name"], NEW in json.dumps(only["objects"])) == ("a", True)
    assert upgraded(behind) == []


def test_a_job_whose_bytes_stay_the_same_is_pinned_anew(behind, trainform):
    lock = behind / ".trainform/locks/prod/ml/c.lock"
    lock.write_text(lock.read_text().replace('"compiler": "', '"compiler": "0.0.1-'))
    assert trainform("upgrade", "c").out == "1 job re-pinned, files unchanged\n"
    assert "0.0.1-" not in lock.read_text()


def test_other_jobs_are_no_business_of_an_upgrade(behind, trainform):
    """Neither those that changed, nor those that are gone, nor those that were edited."""
    (behind / "jobs" / "b.yaml").unlink()
    (behind / "jobs" / "new.yaml").write_text(job("new", nodes="many"))
    (behind / JOBSET.format("c")).write_text("mine\n")
    assert trainform("upgrade", "--runtime", "torch").code == 0
    assert upgraded(behind) == ["a"]
    assert (behind / JOBSET.format("b")).exists()


def test_one_failing_job_stops_all_unless_told_otherwise(behind, trainform):
    (behind / JOBSET.format("b")).write_text("mine\n")
    assert trainform("upgrade", "--all").code == 2
    assert upgraded(behind) == []
    assert trainform("upgrade", "--all", "--keep-going").code == 2
    assert upgraded(behind) == ["a"]


def snapshots(root):
    return {f".trainform/snapshots/{path.name}" for path in (root / ".trainform/snapshots").iterdir()}


def test_unused_snapshots_stay_until_they_are_pruned(behind, trainform):
    """Another branch may add a job that needs one, and git would merge its removal."""
    kept = snapshots(behind)
    trainform("upgrade", "a")
    (new,) = snapshots(behind) - kept
    trainform("render", "--prune-snapshots")
    assert snapshots(behind) == {*kept, new}  # job b needs the old one
    trainform("upgrade", "b")
    assert snapshots(behind) == {*kept, new}
    assert "removed .trainform/snapshots/" in trainform("render", "--prune-snapshots").out
    assert len(kept - snapshots(behind)) == 1
    assert trainform("check").code == 0


@pytest.mark.parametrize("arguments", [["a"], ["--env", "default"], ["--shard", "1/2"]])
def test_snapshots_are_pruned_for_the_whole_repository_only(behind, trainform, arguments):
    ran = trainform("render", "--prune-snapshots", *arguments)
    assert (ran.code, "cannot be combined" in ran.err) == (2, True)


def test_a_runtime_that_nobody_uses_is_an_error_that_names_near_ones(behind, trainform):
    ran = trainform("upgrade", "--runtime", "troch")
    assert (ran.code, ran.out) == (2, "")
    assert 'error TF705: no rendered job uses runtime "troch"\n  help: did you mean "torch"?' in ran.err


def test_a_runtime_that_no_name_resembles_is_an_error_that_lists_those_in_use(behind, trainform):
    assert "help: rendered jobs use: own, torch" in trainform("upgrade", "--runtime", "zzzzzz").err


def test_a_runtime_is_an_error_where_nothing_is_rendered(root, trainform):
    assert "help: rendered jobs use: none" in trainform("upgrade", "--runtime", "torch").err


def test_it_asks_what_to_upgrade(behind, trainform):
    ran = trainform("upgrade")
    assert ran.code == 2
    assert "name jobs, --runtime, --env or --all" in ran.err


def test_validate_counts_who_is_behind(behind, trainform):
    ran = trainform("validate", "--format", "json")
    told = [each for each in json.loads(ran.out)["diagnostics"] if each["code"] == "TF715"]
    assert [(each["severity"], each["message"]) for each in told] == [
        ("info", "2 jobs are behind: runtime torch changed")
    ]
    assert "trainform upgrade --runtime torch" in told[0]["hint"]


def test_a_lock_that_cannot_be_read_is_told(behind, trainform):
    lock = behind / ".trainform" / "locks" / "prod" / "ml" / "a.lock"
    lock.write_text("<<<<<<< ours\n" + lock.read_text())
    ran = trainform("upgrade", "--all")
    assert (ran.code, upgraded(behind)) == (2, [])
    assert ".trainform/locks/prod/ml/a.lock: error TF711" in ran.err
    assert trainform("upgrade", "--all", "--keep-going").code == 2
    assert upgraded(behind) == ["b"]

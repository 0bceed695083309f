"""`trainform render`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import yaml

from support.repositories import Repository, environment
from trainform.io import writer
from unit.cli.conftest import job

JOBSET = "rendered/default/ml/llm/jobset-llm.yaml"


def test_a_render_writes_files_and_says_which(root, trainform):
    assert trainform("render") == (0, f"wrote {JOBSET}\n", "")
    assert yaml.safe_load((root / JOBSET).read_text())["metadata"]["name"] == "llm"


def test_a_second_render_changes_nothing(trainform):
    trainform("render")
    assert trainform("render").out == "1 job unchanged\n"


def test_an_error_anywhere_means_that_nothing_is_written(root, trainform):
    (root / "jobs" / "bad.yaml").write_text(job("bad", nodes="many"))
    ran = trainform("render")
    assert (ran.code, ran.out) == (2, "")
    assert "jobs/bad.yaml:10:15: error TF102 spec.trainer.numNodes: " in ran.err
    assert "nothing was written" in ran.err
    assert not (root / "rendered").exists()


def test_keep_going_writes_the_good_jobs_and_still_fails(root, trainform):
    (root / "jobs" / "bad.yaml").write_text(job("bad", nodes="many"))
    ran = trainform("render", "--keep-going")
    assert (ran.code, ran.out) == (2, f"wrote {JOBSET}\n")
    assert not (root / "rendered/default/ml/bad").exists()


def test_keep_going_leaves_the_files_of_a_failing_job_alone(root, trainform):
    trainform("render")
    before = (root / JOBSET).read_bytes()
    (root / "jobs" / "llm.yaml").write_text(job(nodes="many"))
    assert trainform("render", "--keep-going").code == 2
    assert (root / JOBSET).read_bytes() == before


@pytest.mark.parametrize("asked", ["other", "ml/other", "jobs/other.yaml", "./jobs/other.yaml"])
def test_with_a_job_nothing_else_is_touched(root, trainform, asked):
    (root / "jobs" / "other.yaml").write_text(job("other"))
    (root / "jobs" / "bad.yaml").write_text(job("bad", nodes="many"))
    (root / "jobs" / "broken.yaml").write_text(job("broken") + "a: [\n")
    assert trainform("render", asked).out == "wrote rendered/default/ml/other/jobset-other.yaml\n"


def test_a_path_is_found_from_below_the_root(root, trainform, monkeypatch):
    monkeypatch.chdir(root / "jobs")
    assert trainform("render", "llm.yaml").out == f"wrote {JOBSET}\n"


@pytest.mark.parametrize(
    ("asked", "message", "hint"),
    [
        ("lmm", 'no TrainJob is named "lmm"', 'did you mean "llm"?'),
        ("ml/lmm", 'no TrainJob is named "ml/lmm"', 'did you mean "ml/llm"?'),
        ("other/llm", 'no TrainJob is named "other/llm"', "known: ml/llm"),
        ("jobs/llm.yml", 'no TrainJob in "jobs/llm.yml"', 'did you mean "jobs/llm.yaml"?'),
        ("zzzzzz", 'no TrainJob is named "zzzzzz"', "known: llm"),
    ],
)
def test_an_unknown_job_is_an_error_that_names_near_ones(trainform, asked, message, hint):
    ran = trainform("render", asked)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"trainform: error TF705: {message}\n  help: {hint}\n\n1 error\n")


def test_the_json_holds_what_was_rendered(trainform):
    ran = trainform("render", "--format", "json")
    result = json.loads(ran.out)
    assert (ran.code, result["kind"], result["jobs"][0]["name"]) == (0, "RenderResult", "llm")


def test_a_stream_gives_manifests(trainform):
    ran = trainform("render", "-", stdin=job("from-stdin"))
    assert ran.code == 0
    documents = list(yaml.safe_load_all(ran.out))
    assert [(each["kind"], each["metadata"]["name"]) for each in documents] == [("JobSet", "from-stdin")]


def test_a_stream_writes_no_file_and_reads_none(root, trainform):
    assert trainform("render", "-", stdin=job()).code == 0
    assert not (root / "rendered").exists()


def test_a_stream_with_an_error_gives_no_manifests(trainform):
    ran = trainform("render", "-", stdin=job() + "---\n" + job("bad", nodes="many"))
    assert (ran.code, ran.out) == (2, "")
    assert "<stdin>:22:15: error TF102" in ran.err


def test_a_stream_can_keep_going(trainform):
    ran = trainform("render", "-", "--keep-going", stdin=job() + "---\n" + job("bad", nodes="many"))
    assert ran.code == 2
    assert yaml.safe_load(ran.out)["metadata"]["name"] == "llm"


def test_a_stream_as_json_tells_errors_in_the_document_too(trainform):
    ran = trainform("render", "-", "--format", "json", stdin=job(nodes="many"))
    (only,) = json.loads(ran.out)["jobs"]
    assert (ran.code, only["objects"], only["diagnostics"][0]["code"]) == (2, [], "TF102")


@pytest.mark.parametrize(
    "arguments",
    [
        ("render", "-", "llm"),
        ("render", "-", "--format", "text"),
        ("render", "--format", "yaml"),
        ("render", "--env", "prod"),
        ("--env", "prod", "render"),
        ("render", "--root", "nowhere"),
    ],
)
def test_a_command_line_that_makes_no_sense_is_refused(trainform, arguments):
    ran = trainform(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("Usage: trainform")


@pytest.mark.parametrize("arguments", [("--root", "{}", "render"), ("render", "--root", "{}")])
def test_the_root_may_be_named(root, tmp_path_factory, trainform, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    assert trainform(*(each.format(root) for each in arguments)).out == f"wrote {JOBSET}\n"


def test_faulty_settings_are_an_error(root, trainform):
    (root / "trainform.yaml").write_text("job: jobs\n")
    ran = trainform("render")
    assert ran.code == 2
    assert "trainform.yaml:1:1: error TF101 job: unknown field" in ran.err


def test_nothing_to_render_is_an_error(root, trainform):
    (root / "jobs" / "llm.yaml").unlink()
    ran = trainform("render")
    assert ran.code == 2
    assert "TF202" in ran.err
    assert trainform("render", "--allow-empty").code == 0


def test_a_file_of_somebody_else_in_the_way_stops_all(root, trainform):
    (root / "jobs" / "other.yaml").write_text(job("other"))
    (root / JOBSET).parent.mkdir(parents=True)
    (root / JOBSET).write_text("mine\n")
    ran = trainform("render")
    assert ran.code == 2
    assert f"{JOBSET}: error TF706" in ran.err
    assert not (root / "rendered/default/ml/other").exists()


OTHER = "rendered/default/ml/other/jobset-other.yaml"


@pytest.fixture
def two_jobs(root, trainform):
    """Both rendered."""
    (root / "jobs" / "other.yaml").write_text(job("other"))
    assert trainform("render").code == 0
    return root


def test_a_job_that_is_gone_is_removed(two_jobs, trainform):
    (two_jobs / "jobs" / "other.yaml").unlink()
    assert trainform("render") == (0, f"removed {OTHER}\n1 job unchanged\n", "")
    assert not (two_jobs / OTHER).parent.exists()


@pytest.mark.parametrize("shard", ["1/2", "2/2"])
def test_a_job_that_is_gone_is_no_strangers_for_any_shard(two_jobs, trainform, shard):
    (two_jobs / "jobs" / "other.yaml").unlink()
    ran = trainform("render", "--shard", shard)
    assert (ran.code, ran.err) == (0, "")


def test_a_job_whose_file_moved_is_kept_with_a_lock_that_names_its_new_file(two_jobs, trainform):
    lock = two_jobs / ".trainform/locks/default/ml/other.lock"
    before = json.loads(lock.read_text())
    (two_jobs / "jobs/other.yaml").rename(two_jobs / "jobs/moved.yaml")
    assert trainform("render").out == "1 job re-pinned, files unchanged\n1 job unchanged\n"
    assert json.loads(lock.read_text()) == {**before, "source": "jobs/moved.yaml"}


def test_with_a_job_nothing_is_removed(two_jobs, trainform):
    (two_jobs / "jobs" / "other.yaml").unlink()
    assert trainform("render", "llm").out == "1 job unchanged\n"
    assert (two_jobs / OTHER).exists()


@pytest.mark.parametrize("flags", [(), ("--keep-going",)])
def test_nothing_is_removed_while_an_error_may_hide_a_job(two_jobs, trainform, flags):
    (two_jobs / "jobs" / "other.yaml").write_text("kind: [\n")
    assert trainform("render", *flags).code == 2
    assert (two_jobs / OTHER).exists()


def test_a_job_moves_from_one_namespace_to_another(two_jobs, trainform):
    (two_jobs / "jobs" / "other.yaml").write_text(job("other").replace("namespace: ml", "namespace: nlp"))
    assert trainform("render").code == 0
    assert not (two_jobs / OTHER).exists()
    assert (two_jobs / "rendered/default/nlp/other/jobset-other.yaml").exists()


@pytest.mark.parametrize("name", ["notes.txt", "extra.yaml", ".DS_Store"])
def test_a_foreign_file_in_the_folder_of_a_job_is_an_error(two_jobs, trainform, name):
    (two_jobs / OTHER).with_name(name).write_text("mine\n")
    (two_jobs / "jobs" / "other.yaml").unlink()
    ran = trainform("render")
    assert (ran.code, ran.out) == (2, "")
    assert f"rendered/default/ml/other/{name}: error TF706" in ran.err
    assert (two_jobs / OTHER).exists()


def test_an_edited_file_is_an_error_that_names_the_ways_out(two_jobs, trainform):
    (two_jobs / OTHER).write_text("mine\n")
    ran = trainform("render")
    assert ran.code == 2
    assert f"{OTHER}: error TF710: was edited by hand" in ran.err
    assert f"`git checkout -- {OTHER}`; or delete it and run `trainform render` again" in ran.err
    (two_jobs / OTHER).unlink()
    assert trainform("render").out == f"wrote {OTHER}\n1 job unchanged\n"


def test_a_file_that_is_edited_to_what_it_would_become_is_no_error(two_jobs, trainform):
    """Two branches were merged: the output of one, the lock of the other."""
    text = (two_jobs / OTHER).read_text()
    lock = two_jobs / ".trainform/locks/default/ml/other.lock"
    before = lock.read_text()
    (two_jobs / "jobs" / "other.yaml").write_text(job("other", nodes=3))
    trainform("render")
    assert (two_jobs / OTHER).read_text() != text
    lock.write_text(before)
    assert trainform("render").code == 0


def test_a_missing_manifest_that_would_be_another_today_is_not_written(two_jobs, trainform):
    lock = two_jobs / ".trainform/locks/default/ml/other.lock"
    tree = json.loads(lock.read_text())
    lock.write_text(json.dumps({**tree, "files": dict.fromkeys(tree["files"], "0" * 64)}))
    (two_jobs / OTHER).unlink()
    ran = trainform("render")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(
        f"{OTHER}: error TF713: is missing, and trainform and its plugins, as installed, do not render it as it was\n"
        f"  help: restore it: `git checkout -- {OTHER}`; or run `trainform upgrade ml/other`\n"
    )
    assert not (two_jobs / OTHER).exists()


def test_a_lost_lock_is_written_again_where_the_files_are_right(two_jobs, trainform):
    lock = two_jobs / ".trainform/locks/default/ml/other.lock"
    before = lock.read_bytes()
    lock.unlink()
    assert trainform("render").code == 0
    assert lock.read_bytes() == before


def test_a_broken_lock_is_an_error_of_its_own(two_jobs, trainform):
    (two_jobs / ".trainform/locks/default/ml/other.lock").write_text("<<<<<<< HEAD\n")
    ran = trainform("render")
    assert ran.code == 2
    assert ".trainform/locks/default/ml/other.lock: error TF711: is not JSON" in ran.err


def test_keep_going_leaves_a_job_with_an_edited_file_alone(two_jobs, trainform):
    (two_jobs / OTHER).write_text("mine\n")
    (two_jobs / "jobs" / "llm.yaml").write_text(job(nodes=3))
    ran = trainform("render", "--keep-going")
    assert (ran.code, ran.out) == (2, f"wrote {JOBSET}\n")
    assert (two_jobs / OTHER).read_text() == "mine\n"


def test_a_frozen_job_is_not_compiled(two_jobs, trainform, monkeypatch):
    def compile_job(item, run):
        raise AssertionError(item.document.file)

    monkeypatch.setattr("trainform.core.compile.compile_job", compile_job)
    assert trainform("render").out == "2 jobs unchanged\n"


def test_an_unchanged_run_writes_nothing(two_jobs, trainform):
    before = {path: path.stat().st_mtime_ns for path in two_jobs.rglob("*")}
    assert trainform("render").code == 0
    assert {path: path.stat().st_mtime_ns for path in two_jobs.rglob("*")} == before


def test_an_error_in_the_text_of_a_frozen_job_is_still_told(two_jobs, trainform):
    (two_jobs / "jobs" / "other.yaml").write_text(job("other") + "kind: TrainJob\n")
    ran = trainform("render")
    assert ran.code == 2
    assert "error TF005" in ran.err


def test_two_jobs_of_one_name_are_not_frozen(two_jobs, trainform):
    (two_jobs / "jobs" / "again.yaml").write_text(job("other"))
    assert "TF203" in trainform("render").err


def test_the_json_holds_frozen_jobs_too(two_jobs, trainform):
    cold = json.loads(trainform("render", "--format", "json").out)["jobs"]
    assert [(each["name"], [tree["kind"] for tree in each["objects"]]) for each in cold] == [
        ("llm", ["JobSet"]),
        ("other", ["JobSet"]),
    ]


def test_a_link_out_of_the_repository_is_never_written_through(root, tmp_path_factory, trainform):
    outside = tmp_path_factory.mktemp("outside")
    (root / "rendered").symlink_to(outside)
    assert "rendered/default/ml/llm: error TF702" in trainform("render").err
    assert list(outside.iterdir()) == []


def test_a_file_in_place_of_a_folder_is_told(root, trainform):
    (root / "rendered").write_text("")
    assert "error TF707" in trainform("render").err


def test_a_full_disk_is_told_and_leaves_the_old_state(two_jobs, trainform, monkeypatch):
    def full(source, target):
        raise OSError(28, "No space left on device")

    before = (two_jobs / JOBSET).read_bytes()
    (two_jobs / "jobs" / "llm.yaml").write_text(job(nodes=3))
    with monkeypatch.context() as patched:
        patched.setattr("os.replace", full)
        ran = trainform("render")
    assert ran.code == 2
    assert "error TF707: cannot be written: No space left on device" in ran.err
    assert (two_jobs / JOBSET).read_bytes() == before
    assert trainform("render").out == f"wrote {JOBSET}\n1 job unchanged\n"


@pytest.mark.parametrize("planned", ["build.add_shared_files", "chunk.behind"])
@pytest.mark.parametrize(
    ("named", "place"), [(["rendered/default"], "rendered/default"), ([], "trainform")], ids=["named", "unnamed"]
)
def test_what_cannot_be_read_while_a_run_is_planned_is_told_and_stops_it(
    root, trainform, monkeypatch, planned, named, place
):
    def fail(*_: object) -> None:
        raise OSError(5, "Input/output error", *named)

    monkeypatch.setattr(f"trainform.workspace.{planned}", fail)
    ran = trainform("render")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"{place}: error TF701: cannot be read: Input/output error\n")
    assert not (root / "rendered").exists()


def test_git_is_told_what_is_generated(root, trainform):
    trainform("render")
    assert "rendered/** -text -merge linguist-generated=true\n" in (root / ".gitattributes").read_text()


def test_the_git_attributes_of_the_user_are_left_alone(root, trainform):
    (root / ".gitattributes").write_text("*.png binary\n")
    assert ".gitattributes: info TF716" in trainform("render").err
    assert (root / ".gitattributes").read_text() == "*.png binary\n"
    (root / ".gitattributes").write_text("rendered/** -merge linguist-generated\n")
    assert trainform("render").err == ""


def test_a_full_disk_leaves_nothing_in_the_staging_folder(two_jobs, trainform, monkeypatch):
    def full(source, target):
        raise OSError(28, "No space left on device")

    (two_jobs / "jobs" / "llm.yaml").write_text(job(nodes=3))
    monkeypatch.setattr("os.replace", full)
    assert trainform("render").code == 2
    assert not (two_jobs / ".trainform" / "staging").exists()


def test_keep_going_writes_nothing_where_the_disk_does_not_take_the_files_of_a_job(two_jobs, trainform, monkeypatch):
    def state():
        return {path: path.read_bytes() for path in two_jobs.rglob("*") if path.is_file() and "jobs" not in path.parts}

    before = state()
    (two_jobs / "jobs" / "llm.yaml").write_text(job(nodes=3))
    (two_jobs / "jobs" / "new.yaml").write_text(job("new"))
    stage = writer.stage

    def full_after_one(root, change):
        if change.folder.endswith("/new"):
            raise OSError(28, "No space left on device")
        return stage(root, change)

    monkeypatch.setattr("trainform.workspace.chunk.stage", full_after_one)
    ran = trainform("render", "--keep-going")
    assert ran.code == 2
    assert "rendered/default/ml/new: error TF707: cannot be written" in ran.err
    assert "nothing was written" in ran.err
    assert ran.out == ""
    assert state() == before


def test_the_folder_of_output_may_have_any_name(root, trainform):
    (root / "trainform.yaml").write_text("rendered: draft\n")
    assert trainform("render").out == "wrote draft/default/ml/llm/jobset-llm.yaml\n"
    assert trainform("check").code == 0


@pytest.mark.parametrize("link", [".trainform", ".trainform/locks", ".trainform/snapshots", ".trainform/locks/default"])
def test_state_is_never_written_through_a_link_out_of_the_repository(root, tmp_path_factory, trainform, link):
    outside = tmp_path_factory.mktemp("outside")
    (outside / "x~old").mkdir()
    (root / link).parent.mkdir(parents=True, exist_ok=True)
    (root / link).symlink_to(outside)
    ran = trainform("render")
    assert ran.code == 2
    assert "leads out of the repository" in ran.err
    assert [each.name for each in outside.iterdir()] == ["x~old"]
    assert not (root / "rendered").exists()


@pytest.mark.parametrize("command", ["render", "upgrade --all"])
@pytest.mark.parametrize("link", [".trainform", ".trainform/locks", ".trainform/snapshots"])
def test_a_folder_of_state_that_leads_out_of_the_repository_is_refused_first(
    root, tmp_path_factory, trainform, link, command
):
    """Before anything is planned: an upgrade, which finds no job there, would say that all is well."""
    (root / link).parent.mkdir(exist_ok=True)
    (root / link).symlink_to(tmp_path_factory.mktemp("outside"))
    said = f"Error: {link} leads out of the repository: remove the link\n"
    assert trainform(*command.split()) == (2, "", said)


def test_the_root_may_be_a_relative_path_and_a_link(root, trainform, monkeypatch):
    (root.parent / "link").symlink_to(root.name)
    monkeypatch.chdir(root.parent)
    assert trainform("render", "--root", "link").out == f"wrote {JOBSET}\n"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (
            ("--watch", "--allow-empty"),
            "--watch cannot be combined with --allow-empty: a checkout may take",
        ),
        (("--watch", "--prune-snapshots"), "--watch cannot be combined with --prune-snapshots"),
        (("--watch", "--require-added"), "--watch cannot be combined with --require-added: it is for hooks and CI"),
        (("--watch", "--shard", "1/2"), "--watch cannot be combined with --shard"),
        (("--watch", "-"), "--watch reads files: a stream from stdin has only one end"),
        (("--watch", "--format", "json"), "--watch prints text"),
        (("--prune-snapshots", "llm"), "--prune-snapshots cannot be combined with JOB, --env or --shard"),
        (("--prune-snapshots", "--shard", "1/2"), "--prune-snapshots cannot be combined with JOB, --env or --shard"),
        (("--shard", "1/2", "llm"), "--shard cannot be combined with JOB or --keep-going"),
        (("--shard", "1/2", "--keep-going"), "--shard cannot be combined with JOB or --keep-going"),
    ],
)
def test_options_that_contradict_each_other(trainform, arguments, why):
    ran = trainform("render", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert why in ran.err


def test_files_that_a_commit_would_lack_are_named(root, trainform):
    git = Repository(root)
    git.start_git()
    ran = trainform("render", "--require-added")
    assert ran.code == 1
    lines = ran.err.splitlines()
    assert "the commit would lack 7 files; add or remove:" in lines
    assert {"  jobs/llm.yaml", f"  {JOBSET}", "  trainform.yaml"} <= set(lines)
    git.commit()
    assert trainform("render", "--require-added").code == 0


def test_many_missing_files_are_counted(root, trainform):
    Repository(root).start_git()
    for number in range(30):
        (root / "jobs" / f"j{number}.yaml").write_text(job(f"j{number}"))
    lines = trainform("render", "--require-added").err.splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith("the commit would lack"))
    total = int(lines[start].split()[4])
    assert lines[start + 21 :] == [f"  and {total - 20} more"]


def test_without_git_nobody_knows_what_a_commit_would_lack(trainform):
    ran = trainform("render", "--require-added")
    assert ran.code == 2
    assert "error TF718: --require-added: this is not a git repository" in ran.err


def test_a_watch_without_its_package_says_how_to_install_it(root, trainform, monkeypatch):
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    ran = trainform("render", "--watch")
    assert ran.code == 2
    assert ran.err == 'Error: --watch needs the package watchfiles: pip install "trainform[editor]"\n'
    assert not (root / "rendered").exists()


@pytest.fixture
def thirty_jobs(root: Path) -> Path:
    (root / "jobs" / "llm.yaml").unlink()
    for number in range(30):
        (root / "jobs" / f"job-{number:02}.yaml").write_text(job(f"job-{number:02}"))
    return root


def test_of_many_files_the_first_are_named(thirty_jobs, trainform):
    lines = trainform("render").out.splitlines()
    last = "wrote rendered/default/ml/job-19/jobset-job-19.yaml"
    assert lines[19:] == [last, "wrote 10 more files; --verbose names all"]
    for number in range(21):
        (thirty_jobs / "jobs" / f"job-{number:02}.yaml").unlink()
    ran = trainform("render")
    assert ran.out.count("removed rendered/") == 20
    assert "\nremoved 1 more file; --verbose names all\n" in ran.out


def test_verbose_names_every_file(thirty_jobs, trainform):
    ran = trainform("render", "--verbose")
    assert ran.out.count("wrote rendered/") == len(ran.out.splitlines()) == 30


def test_the_first_environment_takes_the_place_of_the_one_called_default(root, trainform):
    trainform("render")
    repository = Repository(root)
    repository.write("environments/staging/environment.yaml", environment().replace("prod", "staging"))
    ran = trainform("render")
    assert (ran.code, ran.out) == (2, "")
    assert "error TF714: there is no environment 'default' any more, which has 1 job\n" in ran.err
    file = "environments/default/environment.yaml"
    assert f"to keep them, write {file} with metadata: {{name: default}}\n" in ran.err
    repository.write(file, environment().replace("prod", "default"))
    assert trainform("render").code == 0
    assert (root / JOBSET).exists()


def test_the_last_job_of_an_environment_that_stays_may_have_gone_by_mistake(root, trainform):
    trainform("render")
    Repository(root).write("environments/default/environment.yaml", environment().replace("prod", "default"))
    (root / "jobs" / "llm.yaml").unlink()
    ran = trainform("render")
    assert ran.code == 2
    assert "no TrainJob is left for environment 'default', which has 1 job" in ran.err
    assert "otherwise find out where its TrainJobs went\n" in ran.err

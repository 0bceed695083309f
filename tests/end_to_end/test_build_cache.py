"""A run that reads only what changed does what a run does that reads everything."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from end_to_end.changes import (
    ALL,
    FEW,
    a_comment,
    delete,
    edit,
    edit_an_environment,
    edit_by_hand,
    edit_the_runtime,
    every_job,
    nothing,
    write_jobs,
)
from support.repositories import Repository, environment, job, runtime
from trainform.cli.main import run
from trainform.io import cache_file
from trainform.workspace import discovery, parallel
from trainform.workspace.cache import build_cache as cache
from trainform.workspace.inputs import EnvironmentInputs

FILES = 12
"""Of jobs: eleven of one, and one of two."""

Change = Callable[[Repository], None]

TICK = 0.02
"""Seconds after which file systems stamp a file with a later time."""


@pytest.fixture(autouse=True)
def _in_small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "SMALLEST", 2)
    monkeypatch.setattr(parallel, "LARGEST", 2)


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Thirteen jobs in two environments, rendered and committed."""
    found = Repository(tmp_path_factory.mktemp("origin"))
    found.start_git()
    write_jobs(found)
    assert run(["--root", str(found.root), "render"]) == 0
    found.commit()
    return found


class Ran(NamedTuple):
    code: int
    out: str
    err: str


class Place(Repository):
    """A copy of it, with a cache that knows every job."""

    def __init__(self, root: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(root)
        self.capfd, self.monkeypatch = capfd, monkeypatch
        self.read: list[str] = []

    def trainform(self, *words: str, root: Path | None = None, meanwhile: Change = nothing) -> Ran:
        """What a command says; `read` are the files of jobs that it read. The change happens once it has read job 3."""
        self.read = []
        with self.monkeypatch.context() as patch:
            own, read, place = discovery.Workspace.read, self.read, self

            def reading(self: discovery.Workspace, files: Sequence[str] | None = None) -> list[EnvironmentInputs]:
                files_now = self.job_files if files is None else files
                read.extend(files_now)
                found = own(self, files)
                if "jobs/job-3.yaml" in files_now:
                    meanwhile(place)
                return found

            patch.setattr(discovery.Workspace, "read", reading)
            patch.setattr(os, "sched_getaffinity", lambda process: {0})
            code = run(["--root", str(root or self.root), *words])
        return Ran(code, *self.capfd.readouterr())

    @property
    def cache(self) -> Path:
        return Path(cache_file._path(str(self.root), "cache"))

    def warm_up(self) -> None:
        """Runs that leave in the cache what they found."""
        time.sleep(TICK)
        for words in ("render", "check", "diff"):
            self.trainform(words)

    def tree(self, root: Path | None = None) -> dict[str, bytes]:
        files = Repository(root or self.root).files(".", ".trainform")
        return {path: data for path, data in files.items() if not path.startswith(".git/")}

    def assert_alike(self, *commands: str) -> int:
        """Each command says and does the same with the cache and without; the most files that one read with it."""
        most = 0
        for words in commands:
            kept = self.cache.read_bytes()
            copy = self.root.parent / "copy"
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(self.root, copy, symlinks=True)
            with_cache = self.trainform(*words.split())
            most = max(most, len(set(self.read)))
            tree = self.tree()
            assert self.trainform(*words.split(), "--no-cache", root=copy) == with_cache, words
            assert self.tree(copy) == tree
            if "render" not in words:
                self.cache.write_bytes(kept)
        return most


@pytest.fixture
def place(
    origin: Repository, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Place:
    root = tmp_path / "place"
    shutil.copytree(origin.root, root, symlinks=True)
    found = Place(root, capfd, monkeypatch)
    found.warm_up()
    return found


READING = ("check --format json", "check --base HEAD", "diff --format json", "diff --env prod")


@pytest.mark.parametrize("change", FEW, ids=lambda change: change.__name__)
def test_a_change_of_a_few_jobs_is_found_without_reading_the_others(place, change):
    change(place)
    assert place.assert_alike(*READING[:2], "render") <= 4


@pytest.mark.parametrize("change", [*FEW, *ALL], ids=lambda change: change.__name__)
def test_a_difference_is_the_same_with_a_cache(place, change):
    change(place)
    place.assert_alike(*READING[2:])


@pytest.mark.parametrize("change", ALL, ids=lambda change: change.__name__)
def test_a_change_that_may_concern_any_job_is_found(place, change):
    change(place)
    place.assert_alike(*READING[:2], "render")


def test_nothing_is_read_where_nothing_changed(place):
    for words, out in (
        ("render", "26 jobs unchanged\n"),
        ("check", "26 current\n"),
        ("check --base HEAD", "26 current\n"),
    ):
        assert place.trainform(*words.split()) == (0, out, "")
        assert place.read == []


def test_a_check_needs_nothing_that_only_a_render_finds_out(place):
    place.cache.unlink()
    for read in (FILES, 0):
        assert place.trainform("check").out == "26 current\n"
        assert len(place.read) == read


def test_a_shard_counts_no_job_of_another_one(place):
    told = [place.trainform("render", "--shard", f"{number}/2").out for number in (1, 2)]
    assert all(out.endswith(" jobs unchanged\n") for out in told)
    assert sum(int(out.split()[0]) for out in told) == 26


def test_a_run_with_nothing_to_tell_does_not_even_look_at_what_jobs_share(place, monkeypatch):
    monkeypatch.delattr("trainform.workspace.build.map_chunks")
    assert place.trainform("render").out == "26 jobs unchanged\n"


def test_who_is_behind_is_told_from_the_cache(place):
    edit_the_runtime(place)
    time.sleep(TICK)
    assert "26 jobs are behind: runtime torch changed" in place.trainform("render").out
    assert "26 jobs are behind: runtime torch changed" in place.trainform("render").out
    assert place.read == []
    edit(place)
    assert "24 jobs are behind: runtime torch changed" in place.trainform("render").out
    assert place.read == ["jobs/job-3.yaml"]


def test_the_snapshot_of_the_last_job_of_a_runtime_can_be_pruned(place):
    place.write("runtimes/other.yaml", runtime().replace("name: torch\n", "name: other\n"))
    place.write("jobs/job-3.yaml", job("job-3").replace("name: torch\n", "name: other\n"))
    place.trainform("render")
    place.warm_up()
    snapshots = len(list((place.root / ".trainform/snapshots").iterdir()))
    delete(place)
    assert place.assert_alike("render --prune-snapshots") == 0
    assert len(list((place.root / ".trainform/snapshots").iterdir())) == snapshots - 1


SOLO = """\
apiVersion: trainform.dev/v1alpha1
kind: Environment
metadata: {name: solo}
spec:
  jobs: {paths: ["jobs/solo/**"]}
  patches:
  - target: {kind: JobSet, name: alone}
    patch: "metadata: {annotations: {example.com/a: b}}"
"""


def test_an_environment_all_of_whose_jobs_change_is_judged_as_a_whole(place):
    """Its patch matches no job any more."""
    place.write("environments/solo/environment.yaml", SOLO)
    place.write("jobs/solo/alone.yaml", job("alone"))
    place.trainform("render")
    place.warm_up()
    place.write("jobs/solo/alone.yaml", job("another"))
    place.assert_alike(*READING, "render")


def test_warnings_about_what_jobs_share_are_told_again(place):
    """A fact that a cluster would not take as it is."""
    place.write("environments/prod/extra.yaml", "apiVersion: example.com/v1\nkind: Other\nmetadata: {name: a}\n")
    time.sleep(TICK)
    first = place.trainform("render")
    assert place.trainform("render") == first
    place.assert_alike("render", "check")


def test_an_environment_that_lost_its_last_job_is_told_again(place):
    """Its jobs were removed with --allow-empty; a run without that option asks where they are."""
    place.write("environments/solo/environment.yaml", SOLO.partition("  patches")[0])
    place.write("jobs/solo/alone.yaml", job("alone"))
    place.trainform("render")
    place.warm_up()
    (place.root / "jobs/solo/alone.yaml").unlink()
    assert place.trainform("render", "--allow-empty").code == 0
    place.warm_up()
    place.assert_alike(*READING, "render")


def test_inputs_that_change_during_a_run_are_not_what_it_vouches_for(place):
    """A runtime is edited while a run without a cache reads jobs: nothing it found may count for either."""
    place.cache.unlink()
    assert place.trainform("check", meanwhile=edit_the_runtime).code == 0
    assert not place.cache.exists()
    assert "26 jobs are behind" in place.trainform("render").out


@pytest.mark.parametrize("change", [delete, edit], ids=lambda change: change.__name__)
def test_files_that_change_during_a_run_are_not_what_it_vouches_for(place, change):
    place.cache.unlink()
    assert place.trainform("check", meanwhile=change).code == 0
    place.assert_alike(*READING, "render")


def test_a_catalogue_of_other_runtimes_is_another_version(place, monkeypatch):
    monkeypatch.setattr(cache, "shipped_runtimes", lambda: iter([("other", "{}")]))
    assert_unknown(place)


@pytest.mark.parametrize("has_cache", [True, False], ids=["cache", "fresh-clone"])
def test_a_link_out_of_the_repository_is_told_where_no_job_changed(place, has_cache):
    for file in (place.root / "jobs").rglob("*.yaml"):
        if file.read_text().count("kind: TrainJob") > 1:
            file.unlink()
    assert place.trainform("render").code == 0
    (place.root / "jobs" / "link.yaml").symlink_to("/etc/hostname")
    if not has_cache:
        place.cache.unlink()
    for _ in range(2):
        ran = place.trainform("render")
        assert ran.code == 2
        assert "jobs/link.yaml: error TF702" in ran.err


@pytest.mark.parametrize("folder", ["jobs", "runtimes", "environments/prod"])
@pytest.mark.parametrize("command", ["render", "check"])
def test_a_link_out_of_the_repository_is_told_by_each_run(place, command, folder):
    (place.root / folder / "link.yaml").symlink_to("/etc/hostname")
    for _ in range(2):
        ran = place.trainform(command)
        assert ran.code == 2
        assert f"{folder}/link.yaml: error TF702" in ran.err


def test_one_job_of_a_file_that_is_gone_is_seen(place):
    """Its lockfile and manifests were removed by hand, and the file of both was not touched."""
    shutil.rmtree(place.root / "rendered/prod/ml/two-a")
    (place.root / ".trainform/locks/prod/ml/two-a.lock").unlink()
    place.assert_alike(*READING, "render")


def test_what_is_wrong_with_frozen_jobs_is_told_by_each_check(place):
    """Their manifests are as their lockfiles say, so that the cache could take them for good."""
    steps = "      replicatedJobs:\n"
    place.write("runtimes/torch.yaml", runtime().replace(steps, f"      ttlSecondsAfterFinished: 60\n{steps}"))
    assert place.trainform("upgrade", "--all").code == 0
    place.write("runtimes/torch.yaml", runtime())
    place.write("environments/prod/environment.yaml", environment(engine="argocd"))
    first = place.trainform("check")
    assert (first.code, first.err.count("error TF620")) == (2, 13)
    assert place.trainform("check") == first


# What deceives git does not deceive the cache: each of these makes git overlook an edit of what is rendered.


def a_submodule_that_is_ignored(place: Repository) -> None:
    place.git("rm", "-rq", "--cached", "rendered/prod")
    place.git("init", "--quiet", "rendered/prod")
    place.git("-C", "rendered/prod", "add", ".")
    place.git("-C", "rendered/prod", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "all")
    place.write(".gitmodules", '[submodule "p"]\n\tpath = rendered/prod\n\turl = ./p\n\tignore = all\n')


def a_clean_filter(place: Repository) -> None:
    original = place.root / "rendered/prod/ml/job-3/jobset-job-3.yaml"
    shutil.copy(original, place.root / ".git/original")
    place.git("config", "filter.hide.clean", "cat .git/original")
    place.write(".gitattributes", "rendered/prod/ml/job-3/jobset-job-3.yaml filter=hide\n")


def attributes_of_this_clone(place: Repository) -> None:
    a_clean_filter(place)
    (place.root / ".gitattributes").rename(place.root / ".git/info/attributes")


def times_that_git_does_not_trust(place: Repository) -> None:
    place.git("config", "core.trustctime", "false")
    place.git("config", "core.checkStat", "minimal")


def a_replaced_object(place: Repository) -> None:
    file = "rendered/prod/ml/job-3/jobset-job-3.yaml"
    old = place.git("rev-parse", f"HEAD:{file}").strip()
    edit_by_hand(place)
    new = place.git("hash-object", "-w", file).strip()
    place.git("replace", old, new)
    place.git("checkout", "--", file)


def an_index_that_assumes(place: Repository) -> None:
    place.git("update-index", "--assume-unchanged", "rendered/prod/ml/job-3/jobset-job-3.yaml")


DECEPTIONS = [a_submodule_that_is_ignored, a_clean_filter, attributes_of_this_clone, times_that_git_does_not_trust]
DECEPTIONS += [a_replaced_object, an_index_that_assumes]


def edit_and_keep_size_and_time(place: Repository) -> None:
    """The manifest says something else, in as many bytes, with the time of the old one."""
    file = place.root / "rendered/prod/ml/job-3/jobset-job-3.yaml"
    before = file.stat()
    file.write_bytes(file.read_bytes().replace(b"parallelism: 2", b"parallelism: 7"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize("deceive", DECEPTIONS, ids=lambda change: change.__name__)
def test_what_git_is_told_to_overlook_is_seen(place, deceive):
    deceive(place)
    place.warm_up()
    edit_and_keep_size_and_time(place)
    assert place.trainform("check").code == (2 if deceive is a_clean_filter else 1)
    place.assert_alike("check --format json", "render")


def test_the_repository_of_another_clone_does_not_lend_its_cache(place, tmp_path, monkeypatch):
    other = tmp_path / "other"
    shutil.copytree(place.root, other, symlinks=True)
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    edit_and_keep_size_and_time(place)
    assert place.trainform("check").code == 1


# The cache itself: whoever else wrote it, or whatever became of it, nothing is believed.


def assert_unknown(place: Place) -> None:
    """Every file is read, and an edit by hand is seen."""
    place.trainform("check")
    assert len(set(place.read)) == FILES
    edit_and_keep_size_and_time(place)
    assert place.trainform("check").code == 1


@pytest.mark.parametrize("data", [b"", b"{}", b"\xff", b'0\n{"made": {}}', b"[]", b"0" * 64 + b"\n{}"])
def test_a_damaged_cache_is_none(place, data):
    place.cache.write_bytes(data)
    assert_unknown(place)


def test_a_cache_that_was_cut_off_is_none(place):
    place.cache.write_bytes(place.cache.read_bytes()[:-10])
    assert_unknown(place)


def test_a_cache_that_somebody_edited_is_none(place):
    place.cache.write_bytes(place.cache.read_bytes().replace(b"job-3", b"job-4"))
    assert_unknown(place)


def forged(place: Place, **entries: object) -> None:
    """The cache with other entries, and a checksum that fits."""
    known = cache_file.read(str(place.root), "cache")
    assert known is not None
    cache_file.write(str(place.root), "cache", {**known, **entries})


def test_what_jobs_request_is_not_believed_without_a_cache(place):
    edit(place)
    told = place.trainform("diff", "--no-cache")
    jobs = (cache_file.read(str(place.root), "cache") or {})["jobs"]
    asks = [[{**ask, "pods": ask["pods"] + 100} for ask in each] for each in jobs["asks"]]
    assert asks
    forged(place, jobs={**jobs, "asks": asks})
    assert place.trainform("diff", "--no-cache") == told


@pytest.mark.parametrize("entry", [{"made": {"format": 99}}, {"made": None}, {"inputs": "other"}])
def test_a_cache_of_another_format_or_of_other_inputs_is_none(place, entry):
    forged(place, **entry)
    assert_unknown(place)


def test_a_cache_of_another_version_is_none(place, monkeypatch):
    monkeypatch.setattr(cache, "__version__", "0.0.9")
    assert_unknown(place)


def test_a_runtime_whose_file_has_a_name_that_is_no_text_counts_as_any_other(place):
    file = place.root / "runtimes" / os.fsdecode(b"a\xff.yaml")
    for read in (FILES, 0):
        file.write_text(runtime().replace("name: torch\n", "name: own\n"))
        assert place.trainform("check").out == "26 current\n"
        assert len(place.read) == read


def test_without_a_look_at_its_own_code_trainform_keeps_no_cache(place, monkeypatch):
    """As when it is imported from an archive: nobody would notice that it changed."""
    monkeypatch.setattr(cache, "files_of", lambda module: [f"{place.root}/none"])
    monkeypatch.setattr(cache, "_own_code", cache._own_code.__wrapped__)
    place.trainform("check")
    assert len(set(place.read)) == FILES


def test_a_cache_from_another_path_is_none(place, tmp_path):
    """As when a cache is restored into a fresh clone of the same commit."""
    other = Place(tmp_path / "elsewhere", place.capfd, place.monkeypatch)
    shutil.copytree(place.root, other.root, dirs_exist_ok=True, symlinks=True)
    place.cache.rename(other.cache)
    assert_unknown(other)


def test_a_cache_that_a_commit_brings_is_none(place):
    """Only git's own folder counts, which no commit can write to."""
    data = place.cache.read_bytes()
    place.cache.unlink()
    place.write(f".trainform/{place.cache.name}", data.decode())
    place.write(f"trainform/{place.cache.name}", data.decode())
    assert_unknown(place)


def test_what_changed_after_a_run_began_is_read_again(place, monkeypatch):
    """It may have changed once more within the same tick of the clock, as git's index has to fear, too."""
    place.cache.unlink()
    monkeypatch.setattr(cache_file, "clock", lambda root: 1)
    place.trainform("render")
    known = cache_file.read(str(place.root), "cache")
    assert known is not None
    assert known["jobs"]["rows"] == known["files"] == {}


def test_what_changed_just_when_a_run_began_is_read_again(place, monkeypatch):
    a_comment(place)
    place.cache.unlink()
    now = os.stat(place.root / "jobs/job-3.yaml").st_ctime_ns
    monkeypatch.setattr(cache_file, "clock", lambda root: now)
    for read in (FILES, 1):
        assert place.trainform("check").out == "26 current\n"
        assert len(set(place.read)) == read


def test_what_a_run_wrote_is_read_by_the_next(place):
    every_job(place)
    assert place.trainform("render").code == 0
    time.sleep(TICK)
    assert place.trainform("render").out == "26 jobs unchanged\n"
    assert place.trainform("render").out == "26 jobs unchanged\n"
    assert place.read == []


@pytest.mark.parametrize(
    "words",
    [
        "render --env prod",
        "render job-3",
        "check --env prod",
        "check --shard 1/2",
        "render --no-cache",
        "check --no-cache",
    ],
)
def test_a_run_about_a_part_or_without_a_cache_leaves_none(place, words):
    place.cache.unlink()
    assert place.trainform(*words.split()).code == 0
    assert not place.cache.exists()


def test_several_processes_see_what_one_sees(place, monkeypatch):
    from trainform.workspace.diff import overview as overview

    told = place.trainform("diff", "--format", "json")
    place.cache.unlink()
    monkeypatch.setattr(overview, "JOBS_PER_TASK", 3)
    assert run(["--root", str(place.root), "diff", "--format", "json"]) == told.code
    assert place.capfd.readouterr().out == told.out


def test_new_interpreters_render_the_same(place, monkeypatch):
    """As where forking is not safe."""
    edit_the_runtime(place)
    every_job(place)
    copy = place.root.parent / "spawned"
    shutil.copytree(place.root, copy, symlinks=True)
    rendered = place.trainform("render")
    monkeypatch.setattr("trainform.io.workers.START_METHOD", "spawn")
    assert run(["--root", str(copy), "render"]) == rendered.code == 0
    assert place.capfd.readouterr().out == rendered.out
    assert place.tree(copy) == place.tree()


def test_a_read_only_repository_is_read_whole(place, monkeypatch):
    place.cache.unlink()
    monkeypatch.setattr(cache_file, "clock", lambda root: None)
    assert place.trainform("check").code == 0
    assert not place.cache.exists()
    assert json.loads(place.trainform("check", "--format", "json").out)["kind"] == "CheckResult"


# Without a cache, as in a fresh clone: a file whose bytes are those that its job was rendered from is not parsed.


def without_source_digests(root: Path) -> None:
    """The lockfiles as earlier versions wrote them."""
    for lock in (root / ".trainform/locks").rglob("*.lock"):
        lines = lock.read_text().splitlines(keepends=True)
        lock.write_text("".join(line for line in lines if '"sourceDigest"' not in line))


@pytest.mark.parametrize("change", [*FEW, *ALL], ids=lambda change: change.__name__)
def test_a_fresh_clone_is_rendered_as_if_every_file_were_parsed(place, change, tmp_path):
    change(place)
    copy = tmp_path / "parsed"
    shutil.copytree(place.root, copy, symlinks=True)
    without_source_digests(copy)
    place.cache.unlink(missing_ok=True)
    fast, slow = place.trainform("render"), place.trainform("render", root=copy)
    assert fast == slow
    without_source_digests(place.root)
    without_source_digests(copy)
    assert place.tree() == place.tree(copy)


@pytest.mark.parametrize("change", [edit, edit_an_environment, edit_the_runtime], ids=lambda change: change.__name__)
def test_a_fresh_clone_parses_nothing_that_did_not_change(place, change):
    """What holds two documents is parsed. An Environment decides on a job if it selects other ones."""
    place.cache.unlink()
    change(place)
    assert place.trainform("render").code == 0
    assert set(place.read) == {"jobs/two.yaml", *(["jobs/job-3.yaml"] if change is edit else [])}


def test_lockfiles_without_the_digest_of_their_source_are_kept(place):
    """Nothing is written anew only to add it."""
    without_source_digests(place.root)
    before = place.tree()
    assert place.trainform("render").out == "26 jobs unchanged\n"
    assert place.tree() == before


def test_frozen_jobs_of_which_nothing_is_known_are_read_once(place):
    """They count as jobs of their environment: nothing must be read again to find some."""
    without_source_digests(place.root)
    place.cache.unlink()
    assert place.trainform("render").out == "26 jobs unchanged\n"
    assert len(place.read) == FILES


@pytest.mark.parametrize("change", [nothing, every_job], ids=["frozen", "changed"])
def test_a_check_reads_each_file_once(place, change):
    """Jobs count for their own environment, so that nothing is read again to find some."""
    shutil.rmtree(place.root / "environments/test")
    change(place)
    place.trainform("check", "--no-cache")
    assert len(place.read) == FILES


def test_check_believes_no_digest_of_a_lockfile(place):
    """A TrainJob that was changed, with a lockfile that says that it was rendered from these very bytes."""
    place.cache.unlink()
    edit(place)
    data = (place.root / "jobs/job-3.yaml").read_bytes()
    for name in ("prod", "test"):
        lock = place.root / f".trainform/locks/{name}/ml/job-3.lock"
        tree = json.loads(lock.read_text())
        lock.write_text(json.dumps({**tree, "sourceDigest": hashlib.sha256(data).hexdigest()}))
    assert place.trainform("check").code == 1

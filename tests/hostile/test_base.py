"""What a change is compared with: bombs among git's objects, a base that moves, a cache that somebody else filled."""

from __future__ import annotations

import hashlib
import shutil
import zlib

import pytest

from support.bounded import trainform
from support.repositories import job
from trainform.io.files import LIMIT
from trainform.io.git import GitError, commits, files_at, process

JOBSET = "rendered/prod/ml/llm/jobset-llm.yaml"
LOCK = ".trainform/locks/prod/ml/llm.lock"


def claim(victim, size):
    """An object that says it has so many bytes; the id of the blob."""
    blob = hashlib.sha1(b"%d" % size).hexdigest()
    folder = victim.root / ".git/objects" / blob[:2]
    folder.mkdir(exist_ok=True)
    (folder / blob[2:]).write_bytes(zlib.compress(b"blob %d\0" % size + b"x" * 1000))
    return blob


def unfold(victim, size):
    """An object of that many bytes, which takes a thousandth of them; the id of the blob."""
    (victim.outside / "zeros").write_bytes(bytes(size))
    return victim.git("hash-object", "-w", str(victim.outside / "zeros")).strip()


@pytest.mark.parametrize(("made", "size"), [(claim, 2**31), (unfold, 200 * 2**20)])
@pytest.mark.parametrize(("command", "file"), [("diff", JOBSET), ("diff", LOCK), ("check", LOCK), ("check", JOBSET)])
def test_a_file_that_unfolds_to_more_than_can_be_read_is_refused(victim, command, file, made, size):
    blob = made(victim, size)
    victim.git("update-index", "--cacheinfo", f"100644,{blob},{file}")
    victim.git("commit", "--quiet", "--message", "bomb")
    taken = trainform(command, "--base", "HEAD", folder=victim.root)
    assert taken.code == 2, taken.err
    assert f"{file} at ".encode() in taken.err
    assert f"has {size >> 20:,} MiB; a file may have {LIMIT >> 20} MiB".encode() in taken.err
    assert taken.megabytes < 150


def test_many_files_of_a_bearable_size_are_counted_together(victim, monkeypatch):
    monkeypatch.setattr(commits, "MOST_BYTES", 2 * 2**30)
    for number in range(40):
        blob = claim(victim, LIMIT - number)
        victim.git("update-index", "--add", "--cacheinfo", f"100644,{blob},rendered/{number}")
    victim.git("commit", "--quiet", "--message", "bombs")
    with pytest.raises(GitError, match="have more than 2 GiB"):
        files_at(str(victim.root), victim.git("rev-parse", "HEAD").strip(), [f"rendered/{n}" for n in range(40)])


@pytest.mark.parametrize("command", ["check --base base", "diff --base base"])
def test_a_base_that_moves_meanwhile_is_the_one_it_was(victim, monkeypatch, capfd, command):
    """Somebody else fetches or pushes: every answer of one run is about one commit."""
    from trainform.cli.main import run

    arguments = [*command.split(), "--root", str(victim.root)]
    victim.git("branch", "base")
    victim.write("jobs/llm.yaml", job("llm", 3))
    assert victim.trainform("render").code == 0
    victim.commit()
    capfd.readouterr()
    expected = run(arguments), capfd.readouterr()
    asked, started = [], process.started

    def moving(root, words, settings=None):
        process = started(root, words, settings)
        if "base^{commit}" in words:
            asked.append(words)
            process.wait()
            victim.git("branch", "--force", "base", "HEAD")
        return process

    monkeypatch.setattr(commits, "started", moving)
    assert (run(arguments), capfd.readouterr()) == expected
    assert len(asked) == 1


def test_a_cache_filled_elsewhere_vouches_for_nothing(victim, tmp_path):
    """A pull request of a fork may fill a cache of CI, and the next run restores it with all times and modes."""
    for number in range(120):
        victim.write(f"jobs/job-{number}.yaml", job(f"job-{number}"))
    assert victim.trainform("render").code == 0
    victim.commit()
    edited = (victim.root / JOBSET).read_text().replace("train:1", "evil:1")
    theirs = tmp_path / "fork"
    shutil.copytree(victim.root, theirs)
    mine = victim.root
    victim.root = theirs
    assert victim.trainform("check").code == 0  # fills their cache
    victim.root = mine
    shutil.rmtree(mine / ".git/trainform", ignore_errors=True)
    victim.write(JOBSET, edited)
    shutil.copytree(theirs / ".git/trainform", mine / ".git/trainform")
    ended = victim.trainform("check")
    assert (ended.code, JOBSET in ended.output) == (1, True)
    assert any((theirs / ".git/trainform").iterdir())

"""Locks: written, read back, and never trusted further than their own folder."""

from __future__ import annotations

import json

import pytest

from trainform.workspace.lockfile import Lock, LockError, LockFile, Pins, RuntimePin, dump, parse

PINS = Pins("0.1.0", RuntimePin("ClusterTrainingRuntime", "", "torch", "r1"), "e1", {}, {})
LOCK = Lock("j1", "jobs/llm.yaml", PINS, {"jobset-llm.yaml": "f1"})
RICH = Pins("0.1.0", RuntimePin("TrainingRuntime", "ml", "torch", "r1"), "e1", {"acme": "2.0"}, {"llm-ssh": "k1"})
OLD = LOCK._replace(train_job="j0", files={"jobset-llm.yaml": "f0"})


@pytest.mark.parametrize(
    "file",
    [
        LockFile(LOCK),
        LockFile(LOCK._replace(pins=RICH)),
        LockFile(LOCK._replace(files={})),
        LockFile(LOCK._replace(source="jobs/\udcff.yaml")),
        LockFile(LOCK, underway=True),
        LockFile(LOCK, underway=True, previous=LOCK._replace(train_job="j0")),
    ],
)
def test_a_lock_is_read_back_as_it_was_written(file):
    assert parse(dump(file)) == file


def test_the_bytes_do_not_depend_on_the_order_of_files():
    one, other = (LOCK._replace(files=dict(files)) for files in ([("a", "1"), ("b", "2")], [("b", "2"), ("a", "1")]))
    assert dump(LockFile(one)) == dump(LockFile(other))


def changed(**values):
    return json.dumps({**json.loads(dump(LockFile(LOCK))), **values}).encode()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"<<<<<<< HEAD\n{}", "is not JSON"),
        (b"\xff", "is not JSON"),
        (b"[]", "is not a Lock"),
        (changed(kind="Look"), "is not a Lock"),
        (changed(apiVersion="trainform.dev/v9"), "is not a Lock"),
        (changed(trainJob=None), 'has no "trainJob"'),
        (changed(environment=""), 'has no "environment"'),
        (changed(runtime="torch"), 'has no "runtime"'),
        (changed(runtime={"kind": "X", "name": "y"}), 'has no "digest"'),
        (changed(files=["a"]), "not a mapping of strings"),
        (changed(files={"a": 1}), "not a mapping of strings"),
        (changed(files={"../../etc/passwd": "f"}), "outside of the job's folder"),
        (changed(files={"..": "f"}), "outside of the job's folder"),
        (changed(previous=1), "not a mapping"),
    ],
)
def test_what_is_no_lock_is_refused(data, message):
    with pytest.raises(LockError, match=message):
        parse(data)


@pytest.mark.parametrize(
    ("file", "present", "lock"),
    [
        (LockFile(LOCK), {"jobset-llm.yaml": "edited"}, LOCK),
        (LockFile(LOCK, True, OLD), LOCK.files, LOCK),
        (LockFile(LOCK, True, OLD), OLD.files, OLD),
        (LockFile(LOCK, True, OLD), {"jobset-llm.yaml": "edited"}, LOCK),
        (LockFile(LOCK, True), {}, None),
        (LockFile(LOCK, True), LOCK.files, LOCK),
    ],
    ids=["finished", "put-in-place", "not-yet", "edited-since", "new-and-not-yet", "new-and-put-in-place"],
)
def test_after_a_run_that_was_stopped_the_files_say_which_lock_holds(file, present, lock):
    assert file.settled(present) == lock

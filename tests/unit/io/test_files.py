from __future__ import annotations

import os

import pytest

from trainform.io.files import NotPlainFile, read_bytes, read_plain, write_bytes


@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 200_000])
def test_files_of_any_size(tmp_path, size):
    data = bytes(range(256)) * (size // 256 + 1)
    (tmp_path / "file").write_bytes(data[:size])
    assert read_bytes(str(tmp_path / "file")) == data[:size]


def make_link(path):
    path.symlink_to("/etc/hostname")


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, make_link], ids=["pipe", "folder", "link"])
def test_only_a_regular_file_is_read_and_nothing_waits(tmp_path, make):
    make(tmp_path / "a.yaml")
    with pytest.raises(NotPlainFile, match="not a regular file"):
        read_plain(str(tmp_path / "a.yaml"))


def test_a_file_that_is_too_large_is_not_read(tmp_path):
    (tmp_path / "a.yaml").write_bytes(b"12345")
    assert read_plain(str(tmp_path / "a.yaml"), limit=5) == b"12345"
    with pytest.raises(OSError, match="File too large"):
        read_plain(str(tmp_path / "a.yaml"), limit=4)


def test_a_file_whose_size_is_not_known_is_read_to_its_end_or_to_the_limit():
    """As of many files in /proc."""
    assert read_plain("/proc/self/status").startswith(b"Name:")
    with pytest.raises(OSError, match="File too large"):
        read_plain("/proc/self/status", limit=10)


def test_a_folder_is_an_error(tmp_path):
    with pytest.raises(OSError, match="not a regular file"):
        read_bytes(str(tmp_path))


@pytest.mark.parametrize("size", [0, 1, 200_000])
def test_a_file_is_written_whole_over_an_older_one(tmp_path, size):
    (tmp_path / "file").write_bytes(b"old" * 100)
    write_bytes(str(tmp_path / "file"), b"x" * size)
    assert (tmp_path / "file").read_bytes() == b"x" * size


def test_a_disk_that_takes_a_part_at_a_time_gets_the_rest(tmp_path, monkeypatch):
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:7]))
    write_bytes(str(tmp_path / "file"), b"0123456789" * 5)
    assert (tmp_path / "file").read_bytes() == b"0123456789" * 5


def test_a_file_that_cannot_be_written_is_an_error(tmp_path):
    with pytest.raises(OSError, match="No such file"):
        write_bytes(str(tmp_path / "missing" / "file"), b"x")

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from trainform.io.files import read_bytes, write_bytes


@pytest.mark.parametrize("size", [0, 1, 65_535, 65_536, 200_000])
def test_files_of_any_size(tmp_path, size):
    data = bytes(range(256)) * (size // 256 + 1)
    (tmp_path / "file").write_bytes(data[:size])
    assert read_bytes(str(tmp_path / "file")) == data[:size]


def test_a_pipe_is_read_to_its_end():
    reading, writing = os.pipe()

    def write() -> None:
        with open(writing, "wb", buffering=0) as pipe:
            for _ in range(3):
                pipe.write(b"x" * 40_000)

    with ThreadPoolExecutor() as pool:
        pool.submit(write)
        assert read_bytes(f"/dev/fd/{reading}") == b"x" * 120_000
    os.close(reading)


def test_a_folder_is_an_error(tmp_path):
    with pytest.raises(OSError, match="Is a directory"):
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

"""Bytes for the targets: by coverage where atheris is installed, else by chance."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from fuzz.process import CPU_LIMIT, Machine
from fuzz.values import SNIPPETS

MAX_INPUT = 1 << 16

Target = Callable[[bytes], None]


class Finding(NamedTuple):
    """An input that broke a target's promise. `fault` tells one from another; `told` is for people."""

    target: str
    fault: str
    data: bytes
    told: str


def guided_by_coverage() -> bool:
    return find_spec("atheris") is not None


def inputs(corpus: Sequence[bytes], chance: random.Random) -> Iterable[bytes]:
    """The corpus, then mutations of it without end."""
    yield from corpus
    words = [*(snippet.encode(errors="surrogateescape") for snippet in SNIPPETS), *corpus] or [b""]
    while True:
        data = bytearray(chance.choice(corpus) if corpus else b"")
        for _ in range(chance.choice((1, 1, 2, 3, 8))):
            _mutate(data, words, chance)
        yield bytes(data[:MAX_INPUT])


def _mutate(data: bytearray, words: Sequence[bytes], chance: random.Random) -> None:
    at = chance.randint(0, len(data))
    end = min(len(data), at + chance.choice((1, 2, 8, 64)))
    match chance.randrange(5):
        case 0 if at < len(data):
            data[at] ^= 1 << chance.randrange(8)
        case 1:
            del data[at:end]
        case 2:
            data[at:at] = data[at:end] * chance.choice((1, 2, 50))
        case 3:
            word = chance.choice(words)
            start = chance.randint(0, len(word))
            data[at:at] = word[start : start + chance.choice((4, 40, 400))]
        case _:
            data[at:end] = chance.choice(words)[:200]


def fault_of(name: str, target: Target, data: bytes, machine: Machine) -> Finding | None:
    """What one input breaks."""
    import traceback

    start = time.process_time()
    try:
        target(data)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        last = next((frame for frame in reversed(frames) if "trainform" in frame.filename), frames[-1])
        where = f"{type(error).__name__} in {Path(last.filename).name}:{last.name}"
        return Finding(name, where, data, "".join(traceback.format_exception(error)))
    seconds = (time.process_time() - start) / machine.slowness
    return Finding(name, "slow", data, f"{seconds:.1f} s of CPU time") if seconds > CPU_LIMIT else None


def run_by_chance(
    name: str, target: Target, corpus: Sequence[bytes], seed: int, goes_on: Callable[[int], bool]
) -> tuple[int, list[Finding]]:
    """How many inputs were tried, and the first of each fault; `goes_on` is asked before each."""
    machine, found = Machine(), dict[str, Finding]()
    number = 0
    for number, data in enumerate(inputs(corpus, random.Random(f"{name}/{seed}"))):
        if not goes_on(number):
            break
        machine.measure()
        finding = fault_of(name, target, data, machine)
        if finding:
            found.setdefault(finding.fault, finding)
    return number, list(found.values())


def run_guided(name: str, folder: Path, corpus: Sequence[bytes], seed: int, seconds: int) -> None:
    """Run one target with atheris, in a process of its own: it instruments what is imported from now on, and ends the
    process. Findings are written to `folder`, as atheris would end at the first."""
    atheris: Any = import_module("atheris")
    with atheris.instrument_imports(include=["trainform"]):
        target: Target = import_module("fuzz.targets").TARGETS[name]
    kept = folder / "corpus"
    kept.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(corpus):
        (kept / f"seed-{number}").write_bytes(data)
    machine, faults = Machine(), set[str]()

    def test(data: bytes) -> None:
        finding = fault_of(name, target, data, machine)
        if finding and finding.fault not in faults:
            faults.add(finding.fault)
            (folder / f"finding-{len(faults)}").write_bytes(data)

    limits = [
        f"-max_total_time={seconds}",
        f"-seed={seed}",
        f"-max_len={MAX_INPUT}",
        "-timeout=60",
        "-rss_limit_mb=2048",
    ]
    atheris.Setup(["fuzz", *limits, "-print_final_stats=1", f"-artifact_prefix={folder}/finding-", str(kept)], test)
    atheris.Fuzz()

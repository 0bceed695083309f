"""The sample environments at the repository's root are those of their golden cases."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SAMPLES = sorted(folder.name for folder in (ROOT / "environments").iterdir() if folder.is_dir())


def files(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.yaml"))}


JOBS = {path.name: path.read_text(encoding="utf-8") for path in sorted((ROOT / "jobs").rglob("*.yaml"))}


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("suffix", ["", "-every-job"])
def test_the_sample_is_what_its_cases_render_for(name, suffix):
    case = ROOT / "golden" / "environments" / f"{name}{suffix}" / "input"
    assert files(case / "environment") == files(ROOT / "environments" / name)
    jobs = files(case / "jobs")
    assert jobs == {job: JOBS[job] for job in jobs}
    assert "llama-sft.yaml" in jobs

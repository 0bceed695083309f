"""Marks, tables and pictures of a run."""

from __future__ import annotations

import itertools
import json
import xml.etree.ElementTree as ET

import pytest

from benchmarks import engines, fleet, peers, pictures, profile, report, starts
from benchmarks.marks import MARKS, judge_all
from benchmarks.measure import REFERENCE, Taken

COMMANDS = [
    fleet.COLD, fleet.NO_CHANGE_UNPROVEN, fleet.NO_CHANGE, fleet.VALIDATE, fleet.CHECK,
    fleet.ONE_JOB_RENDER, fleet.ONE_JOB_DIFF, fleet.ONE_JOB_CHECK,
    fleet.CI_VALIDATE, fleet.CI_CHECK, fleet.CI_DIFF, fleet.CI,
]  # fmt: skip


def mixed(jobs: int) -> dict[str, Taken]:
    return {name: Taken(jobs / 1_000, jobs / 1_000, 80_000_000) for name in (REFERENCE, *COMMANDS)}


FIGURES = {
    "processes": {
        starts.PYTHON: Taken(0.01, 0.01, 10_000_000),
        starts.VERSION: Taken(0.02, 0.02, 10_000_000),
        starts.HELP: Taken(0.09, 0.05, 10_000_000),
    },
    "in process": {starts.COMPILE: Taken(0.0003, 0.0003)},
    profile.START: {"click": Taken(0.01, 0.01), "PyYAML": Taken(0.0125, 0.0125)},
    profile.JOB: {"serialize manifests": Taken(4e-5, 4e-5), "compute digests and lockfile": Taken(3e-5, 3e-5)},
    "torch-1000": {
        REFERENCE: Taken(0.1, 0.1, 10_000_000),
        peers.RENDER: Taken(0.5, 0.5, 70_000_000),
        peers.KUSTOMIZE: Taken(6.0, 7.0, 100_000_000),
        peers.HELM: Taken(0.3, 0.3, 100_000_000),
    },
    "engines-10000": {
        engines.PLAIN: Taken(10, 10),
        engines.FLUX: Taken(35, 40),
        engines.START: Taken(5, 5),
    },
    **{f"mixed-{jobs}": mixed(jobs) for jobs in (100, 1_000, 10_000)},
}


@pytest.fixture
def result():
    missing = {"jsonnet": "the package gojsonnet cannot be had here"}
    machine = {"cores": "2", "python": "3.11", "memory": "24 GiB", "git": "2.39"}
    return report.Result(FIGURES, judge_all(FIGURES), missing, machine, {1_000: 5}, "memory")


def verdict(what):
    return next(each for each in judge_all(FIGURES) if what in each.mark.what)


@pytest.mark.parametrize(
    ("what", "measured", "met"),
    [
        ("over kustomize", 12, True),
        ("over helm", 0.6, False),
        ("Argo CD's read", 1, True),
        ("Flux's builds", 3, False),
        ("--version", 10, True),
        ("--help", 80, False),
        ("compile one torch job", 0.3, False),
        ("10,000 jobs, nothing changed", 1, False),
    ],
)
def test_a_mark_is_met_or_not(what, measured, met):
    assert verdict(what).measured == pytest.approx(measured)
    assert verdict(what).met is met


def test_a_mark_without_figures_is_not_measured():
    assert verdict("100,000 jobs, one changed: diff").met is None
    assert all(each.met is None for each in judge_all({}))


def test_the_text_tells_all(result):
    text = report.as_text(result)
    assert all(mark.what in text for mark in MARKS)
    assert "not measured: jsonnet: the package gojsonnet cannot be had here" in text
    assert "files in memory" in text
    assert [line.split()[-2:] for line in text.splitlines() if line.strip().startswith("total ")] == [
        ["22.5", "ms"],
        ["70.0", "µs"],
    ]


def test_the_document_is_json_and_names_what_is_missing(result):
    document = json.loads(json.dumps(report.as_document(result)))
    assert document["missing"] == result.missing
    assert document["figures"]["mixed-1000"]["check"] == {"wall": 1.0, "cpu": 1.0, "memory": 80_000_000, "loops": 0}


def test_docs_change_only_between_their_marks(result, tmp_path, monkeypatch):
    page = tmp_path / "performance.md"
    page.write_text(f"# Ours\n\n{report.BEGIN}before\n{report.END}\n## Ours too\n")
    monkeypatch.setattr(report, "DOCS", tmp_path)
    monkeypatch.setattr(report, "PAGE", page)
    report.write_docs(result)
    text = page.read_text()
    assert text.startswith(f"# Ours\n\n{report.BEGIN}")
    assert text.endswith(f"{report.END}\n## Ours too\n")
    assert "before" not in text
    assert "| kubectl kustomize, one kustomization | 6,000 ms |" in text
    assert "| PyYAML | 12.5 ms |" in text
    assert (tmp_path / "pictures" / "peers.svg").exists()
    assert (tmp_path / "performance.json").exists()


def test_docs_without_marks_are_left_alone():
    with pytest.raises(ValueError, match="lost the marks"):
        report.between_marks("# Ours\n", "new")


def test_pictures_are_xml_and_name_everything(result):
    lines = pictures.lines(report.time_per_job(result), "jobs", "ms per job")
    bars = pictures.bars({"trainform <1>": 12.0, "peer": 40.0}, "ms")
    for picture, names in ((lines, [*report.time_per_job(result), "10,000"]), (bars, ["trainform <1>", "40 ms"])):
        texts = [element.text for element in ET.fromstring(picture).iter("{http://www.w3.org/2000/svg}text")]
        assert set(names) <= set(texts)
        assert "prefers-color-scheme:dark" in picture


def test_labels_do_not_overlap():
    lines = pictures.lines({name: [(1, 1), (10, 1)] for name in "abc"}, "x", "y")
    texts = list(ET.fromstring(lines).iter("{http://www.w3.org/2000/svg}text"))
    places = sorted(float(element.attrib["y"]) for element in texts if element.text in {"a", "b", "c"})
    assert [after - before for before, after in itertools.pairwise(places)] == [17, 17]

"""How a team says which findings it wants to hear of: settings, comments and the baseline."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from trainform.io.settings import parse_settings
from unit.cli.conftest import job

PAGES = Path(__file__).parents[3] / "docs" / "codes"
TAG = "    image: example/img\n"
"""The line of a job that has a finding: TF607."""


def with_image(name: str = "llm", line: str = TAG) -> str:
    return job(name) + line


@pytest.fixture(autouse=True)
def a_finding(root):
    (root / "jobs" / "llm.yaml").write_text(with_image())


def codes(ran) -> list[tuple[str, str]]:
    return [(each["code"], each["severity"]) for each in json.loads(ran.out)["diagnostics"]]


def told(trainform) -> list[tuple[str, str]]:
    return codes(trainform("validate", "--format", "json"))


def test_without_settings_a_finding_has_its_own_severity(trainform):
    assert told(trainform) == [("TF607", "warning")]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("lints: {TF607: off}", []),
        ('lints: {TF607: "off"}', []),
        ("lints: {TF607: info}", [("TF607", "info")]),
        ("lints: {TF607: error}", [("TF607", "error")]),
        ("lintsByPath: [{paths: [jobs/**], lints: {TF607: off}}]", []),
        ("lintsByPath: [{paths: [jobs/legacy/**], lints: {TF607: off}}]", [("TF607", "warning")]),
        (
            "lints: {TF607: error}\nlintsByPath:\n- {paths: [jobs/**], lints: {TF607: off}}\n"
            "- {paths: [jobs/llm.yaml], lints: {TF607: info}}",
            [("TF607", "info")],
        ),
    ],
)
def test_settings_decide_by_code_and_path_and_the_last_that_fits_wins(root, trainform, settings, expected):
    (root / "trainform.yaml").write_text(settings)
    assert told(trainform) == expected


def test_a_finding_raised_to_an_error_stops_its_job_in_every_command(root, trainform):
    (root / "trainform.yaml").write_text("lints: {TF607: error}")
    (root / "jobs" / "good.yaml").write_text(job("good"))
    assert trainform("render").code == 2
    assert not (root / "rendered").exists()
    assert trainform("render", "--keep-going").code == 2
    assert [path.name for path in (root / "rendered/default/ml").glob("[!.]*")] == ["good"]
    checked = trainform("check")
    assert checked.code == 2
    assert "error TF607" in checked.err


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("lints: {TF608: loud}", "must be error, warning, info or off"),
        ("lints: {TF6O8: off}", "there is no code TF6O8"),
        ("lints: {TF102: off}", "TF102 cannot be set: it reports errors, not advice"),
        ("lints: {TFD02: info}", "TFD02 cannot be set: it reports errors, not advice"),
        ("lints: {TF706: off}", "TF706 cannot be set: it reports errors, not advice"),
        ("lints: [TF608]", "must map codes to severities"),
        ("lintsByPath: {}", "must be a list"),
        ("lintsByPath: [{lints: {TF608: off}}]", "must have paths and lints, and nothing else"),
        ("lintsByPath: [{paths: jobs, lints: {TF608: off}}]", "must be a list of 1 to 50 file patterns"),
        ("lintsByPath: [" + "{}," * 51 + "]", "has 51 rules, but at most 50 are allowed"),
    ],
)
def test_a_mistake_in_the_settings_is_an_error(settings, message):
    _, problems = parse_settings(settings.encode())
    assert [(each.severity, each.message) for each in problems] == [("error", message)]


def test_a_pattern_that_cannot_be_read_is_an_error(root, trainform):
    (root / "trainform.yaml").write_text("lintsByPath: [{paths: ['[z-a]'], lints: {TF607: off}}]")
    assert "lintsByPath has an invalid pattern" in trainform("validate").out


def test_an_error_stays_an_error(root, trainform):
    (root / "jobs" / "llm.yaml").write_text(job(nodes="many  # trainform: ignore TF102 -- no"))
    assert told(trainform) == [("TF102", "error"), ("TF640", "info")]


@pytest.mark.parametrize(
    "line",
    [
        "    image: example/img  # trainform: ignore TF607 -- built each night\n",
        "    # trainform: ignore TF607 -- built each night\n    image: example/img\n",
        "    # trainform: ignore TF601, TF607 -- built each night\n\n    # of the team\n    image: example/img\n",
    ],
)
def test_a_comment_silences_its_line_or_the_next(root, trainform, line):
    (root / "jobs" / "llm.yaml").write_text(with_image(line=line))
    assert told(trainform) == []


@pytest.mark.parametrize(
    ("line", "remark"),
    [
        ("    image: example/img  # trainform: ignore TF607\n", ("TF639", "gives no reason")),
        ("    image: example/img:1  # trainform: ignore TF607 -- why\n", ("TF640", "this line has no TF607")),
        ("    image: example/img:1  # trainform: ignore TF699 -- why\n", ("TF640", "there is no code TF699")),
        ("    image: example/img:1  # trainform: ignore -- why\n", ("TF640", "it names no code")),
        ("    image: example/img:1  # trainform: ignore TF102 -- why\n", ("TF640", "TF102 is an error")),
    ],
)
def test_a_comment_without_a_reason_or_an_effect_is_told(root, trainform, line, remark):
    (root / "jobs" / "llm.yaml").write_text(with_image(line=line))
    found = json.loads(trainform("validate", "--format", "json").out)["diagnostics"]
    (one,) = [each for each in found if each["code"] in ("TF639", "TF640")]
    assert (one["code"], one["severity"], one["line"]) == (remark[0], "info", 12)
    assert remark[1] in one["message"]


def test_text_of_a_script_is_no_comment(root, trainform):
    script = "    args:\n    - |\n      # trainform: ignore TF607 -- no comment\n    - '# trainform: ignore TF607'\n"
    (root / "jobs" / "llm.yaml").write_text(with_image(line=script + TAG))
    assert told(trainform) == [("TF607", "warning")]


def test_a_part_of_a_repository_does_not_say_what_silences_nothing(root, trainform):
    (root / "jobs" / "llm.yaml").write_text(job() + "  # trainform: ignore TF607 -- why\n")
    assert "TF640" in trainform("validate").out
    assert "TF640" not in trainform("validate", "jobs").out
    assert "TF640" not in trainform("validate", "--shard", "1/2").out


def test_a_stream_has_comments_too(trainform):
    line = "    image: example/img  # trainform: ignore TF607 -- why\n"
    assert codes(trainform("validate", "-", "--format", "json", stdin=with_image(line=line))) == []


def test_a_baseline_hides_what_is_known_and_shows_what_is_new(root, trainform):
    assert trainform("validate", "--write-baseline") == (0, "wrote .trainform/baseline.json: 1 known finding\n", "")
    ran = trainform("validate", "--fail-on", "warning")
    assert (ran.code, ran.out) == (
        0,
        "no problems in 1 document\n1 known finding not shown: see .trainform/baseline.json\n",
    )
    (root / "jobs" / "new.yaml").write_text(with_image("new"))
    assert "jobs/new.yaml:12:12: warning TF607" in trainform("validate").out
    assert "TF607" in trainform("render").err


def test_a_baseline_has_no_line_numbers(root, trainform):
    trainform("validate", "--write-baseline")
    assert json.loads((root / ".trainform/baseline.json").read_text())["known"] == [
        {"code": "TF607", "file": "jobs/llm.yaml", "object": "TrainJob/llm", "count": 1}
    ]
    (root / "jobs" / "llm.yaml").write_text("# moved\n\n" + with_image())
    assert told(trainform) == []


def test_rewriting_a_baseline_forgets_what_was_fixed(root, trainform):
    trainform("validate", "--write-baseline")
    (root / "jobs" / "llm.yaml").write_text(job())
    trainform("validate", "--write-baseline")
    assert json.loads((root / ".trainform/baseline.json").read_text())["known"] == []


def test_a_baseline_lets_a_stricter_setting_start(root, trainform):
    (root / "trainform.yaml").write_text("lints: {TF607: error}")
    assert trainform("validate", "--write-baseline").code == 0
    assert trainform("validate").code == 0


def test_errors_are_no_baseline(root, trainform):
    (root / "jobs" / "llm.yaml").write_text(job(nodes="many"))
    assert trainform("validate", "--write-baseline").code == 2
    assert not (root / ".trainform").exists()


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"known": [{}]}', '{"known": [{"code": 1}]}', "[" * 9999])
def test_a_broken_baseline_is_an_error_that_can_be_written_anew(root, trainform, text):
    (root / ".trainform").mkdir()
    (root / ".trainform/baseline.json").write_text(text)
    ran = trainform("validate")
    assert ran.code == 2
    assert ".trainform/baseline.json: error TF733" in ran.out
    assert trainform("validate", "--write-baseline").code == 0
    assert trainform("validate").code == 0


def test_sarif_has_what_was_suppressed_and_why(root, trainform):
    (root / "jobs" / "new.yaml").write_text(with_image("new"))
    trainform("validate", "--write-baseline")
    (root / "jobs" / "llm.yaml").write_text(with_image(line=TAG[:-1] + "  # trainform: ignore TF607 -- nightly\n"))
    (run,) = json.loads(trainform("validate", "--format", "sarif").out)["runs"]
    found = {each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]: each for each in run["results"]}
    assert found["jobs/llm.yaml"]["suppressions"] == [{"kind": "inSource", "justification": "nightly"}]
    assert [each["kind"] for each in found["jobs/new.yaml"]["suppressions"]] == ["external"]


def test_a_sarif_rule_has_its_whole_page_because_a_viewer_has_no_other_source(trainform):
    (run,) = json.loads(trainform("validate", "--format", "sarif").out)["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert rules
    for rule in rules:
        assert rule["help"]["markdown"] == rule["help"]["text"]
        assert rule["help"]["text"] == (PAGES / f"{rule['id']}.md").read_text(encoding="utf-8")


def test_a_terminal_shows_one_of_a_kind_and_a_pipe_all(root, trainform, monkeypatch):
    (root / "jobs" / "new.yaml").write_text(with_image("new"))
    assert trainform("validate").out.count("warning TF607") == 2
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda self: True)
    short = trainform("validate").out
    assert short.count("warning TF607") == 1
    assert "1 more TF607: --all shows them" in short
    assert "cause and cure: trainform explain TF607\n" in short
    assert short.endswith("2 warnings in 2 files\n")
    assert trainform("validate", "--all").out.count("warning TF607") == 2


def test_diff_says_that_settings_and_baseline_change(root, trainform, tmp_path_factory):
    base = tmp_path_factory.mktemp("base")
    for name in ("trainform.yaml", "jobs/llm.yaml"):
        (base / name).parent.mkdir(exist_ok=True)
        (base / name).write_bytes((root / name).read_bytes())
    assert "lint" not in trainform("diff", "--base", str(base)).out
    (root / "trainform.yaml").write_text("lints: {TF607: off}")
    trainform("validate", "--write-baseline")
    ran = trainform("diff", "--base", str(base)).out
    assert "the lint settings in trainform.yaml change" in ran
    assert ".trainform/baseline.json changes" in ran

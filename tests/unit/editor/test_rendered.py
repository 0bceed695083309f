"""The manifests of the job at the cursor."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from support.marked import ENVIRONMENT, QUEUES, RUNTIME, job, marked
from trainform.cli.app import app
from trainform.editor.features.rendered import Origin, RenderedPreview, rendered

FILES = {
    "jobs/llm.yaml": job(spec="trainer:\n  numNodes: 2‸\n  image: example/llm:1\n"),
    "runtimes/torch.yaml": RUNTIME,
}
PROD = {"environments/prod/environment.yaml": ENVIRONMENT, "environments/prod/queues.yaml": QUEUES}


def shown(root: Path, files: dict[str, str], environment: str = "") -> RenderedPreview:
    here = marked(root, files)
    found = rendered(here.snapshot, here.file, here.at, environment)
    assert found is not None
    return found


def render(root: Path, *arguments: str) -> None:
    result = CliRunner().invoke(app, ["render", "--root", str(root), *arguments])
    assert result.exit_code == 0, result.output


def by_file(text: str) -> dict[str, str]:
    parts = [part.partition("\n") for part in text.split("--- # ")[1:]]
    return {name: body for name, _, body in parts}


def test_it_is_what_render_writes(tmp_path):
    found = shown(tmp_path, {**FILES, **PROD})
    render(tmp_path)
    written = {path.relative_to(tmp_path).as_posix(): path.read_text() for path in tmp_path.glob("rendered/**/*.yaml")}
    assert by_file(found.text) == written
    assert found.folder == "rendered/prod/ml/llm"


def test_each_line_knows_who_set_it(tmp_path):
    found = shown(tmp_path, {**FILES, **PROD})
    told = dict(zip(map(str.strip, found.text.splitlines()), found.origins, strict=True))
    assert told["image: example/llm:1"] == Origin("TrainJob llm", "jobs/llm.yaml", 10)
    assert told["- name: node"] == Origin("runtime torch", "runtimes/torch.yaml", 20)
    assert told["kueue.x-k8s.io/queue-name: team-a"] == Origin(
        "Environment prod", "environments/prod/environment.yaml", 6
    )
    assert told["parallelism: 2"] == Origin("TrainJob llm", "jobs/llm.yaml", 9)
    assert told["kind: JobSet"] == Origin("plugin jobset (build)")


def test_a_line_of_the_source_leads_to_the_lines_that_it_sets(tmp_path):
    found = shown(tmp_path, FILES)
    lines = found.text.splitlines()
    assert [lines[number - 1].strip() for number in found.lines_from("jobs/llm.yaml", 10)] == ["image: example/llm:1"]


def test_a_job_with_an_error_says_why_it_is_not_rendered(tmp_path):
    found = shown(tmp_path, {**FILES, "jobs/llm.yaml": job(spec="trainer:\n  numNodes: -1‸\n")})
    assert found.text == "# This job is not rendered:\n#   jobs/llm.yaml:9: must be at least 1, not -1\n"


def test_a_job_stays_as_it_was_rendered_when_only_its_runtime_changes(tmp_path):
    marked(tmp_path, FILES)
    render(tmp_path)
    newer = RUNTIME.replace("mlPolicy:", "template_:", 0).replace(
        "torch: {}", "torch: {}\n  podGroupPolicy: {coscheduling: {}}"
    )
    found = shown(tmp_path, {**FILES, "runtimes/torch.yaml": newer})
    assert "PodGroup" not in found.text
    assert (
        found.note == "ml/llm stays as it was rendered; `trainform upgrade ml/llm` would render it from today's inputs"
    )
    changed = {**FILES, "jobs/llm.yaml": FILES["jobs/llm.yaml"].replace("numNodes: 2", "numNodes: 3")}
    found = shown(tmp_path, {**changed, "runtimes/torch.yaml": newer})
    assert "kind: PodGroup" in found.text
    assert found.note == ""


def test_an_environment_can_be_chosen(tmp_path):
    dev = "apiVersion: trainform.dev/v1alpha1\nkind: Environment\nmetadata: {name: dev}\n"
    files = {**FILES, **PROD, "environments/dev/environment.yaml": dev}
    assert shown(tmp_path, files).environments == ("dev", "prod")
    assert shown(tmp_path, files, "prod").id == ("prod", "ml", "llm")
    assert shown(tmp_path, files, "none").id == ("dev", "ml", "llm")


def test_the_second_job_of_a_file_is_shown_where_the_cursor_is_in_it(tmp_path):
    files = {**FILES, "jobs/llm.yaml": f"{job('a')}---\n{job('b', spec='suspend: true‸')}"}
    assert shown(tmp_path, files).id == ("default", "ml", "b")


def test_a_file_without_jobs_shows_nothing(tmp_path):
    here = marked(tmp_path, {"runtimes/torch.yaml": RUNTIME.replace("torch: {}", "torch: {}‸")})
    assert rendered(here.snapshot, here.file, here.at) is None

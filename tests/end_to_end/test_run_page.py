"""docs/run.md shows what happens: its job is run, and prints what the page says."""

from __future__ import annotations

import re
from pathlib import Path

from support.local_runs import LocalRepository
from trainform.cli.commands.run import run

PAGE = (Path(__file__).parents[2] / "docs" / "run.md").read_text(encoding="utf-8")


def test_the_example_prints_what_the_page_says(tmp_path: Path):
    [job] = re.findall(r"^```yaml\n# jobs/fit.yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    [told] = re.findall(r"^```console\n\$ trainform run fit\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    repository = LocalRepository(tmp_path)
    repository.write("jobs/fit.yaml", job)
    ran = repository.run()
    assert ran.code == 0, ran.err
    assert sorted((ran.out + ran.err).splitlines()) == sorted(told.splitlines())


def test_every_option_is_on_the_page():
    shared = {"--root", "--quiet", "--verbose"}
    options = {option for each in run.params for option in each.opts if option.startswith("--")} - shared
    assert [option for option in options if option not in PAGE] == []

"""The report as a real browser shows it. Skipped, and told so, where there is no Chromium."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.chromium import CHROMIUM, Browser
from trainform.core.cluster.facts import NO_FACTS
from trainform.review.diff.model import Diff, JobDiff, Reason
from trainform.review.diff.totals import Ask
from trainform.review.live.model import STATES, LiveJob, LiveStatus
from trainform.review.report.model import Known, Report, fleet, with_live
from unit.review.cluster import step
from unit.review.test_cost import pricing
from unit.review.test_report import DECLARED, EVIL, known, page

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium: apt-get install chromium")

JOBS = 250


@pytest.fixture(scope="module")
def browser(tmp_path_factory) -> Iterator[Browser]:
    browser = Browser(tmp_path_factory.mktemp("profile"))
    try:
        browser.start()
        yield browser
    finally:
        browser.close()


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> Path:
    launcher = step("launcher")
    launcher["dependsOn"] = [{"name": "node", "status": "Ready"}]
    jobs = [known(f"job-{index:03}", step("node", 40, gpu=8), launcher) for index in range(JOBS)]
    jobs += [known("evil", step(gpu=1), framework=EVIL, queue=EVIL, state="behind", notes=(EVIL,))]
    other = fleet("staging", [known("small", step(gpu=1), environment="staging", framework="jax")], NO_FACTS)
    found: Path = tmp_path_factory.mktemp("report") / "fleet.html"
    found.write_text(
        page(Report((fleet("prod", jobs, DECLARED, pricing(DECLARED, gpu="1234.5")), other))), encoding="utf-8"
    )
    return found


@pytest.fixture(scope="module")
def changed(tmp_path_factory) -> Path:
    """One job that changes: a long field, and totals."""
    image = "spec.replicatedJobs[node].template.spec.template.spec.containers[node].image"
    reason = Reason("JobSet/llm", image, image, "registry.example.com/llm:1", "registry.example.com/llm:2", True)
    diff = Diff([JobDiff(("prod", "ml", "llm"), "restart", (reason,))])
    diff.totals.add("prod", Ask("team", 1, {"nvidia.com/gpu": 8}), Ask("team", 2, {"nvidia.com/gpu": 16}))
    found: Path = tmp_path_factory.mktemp("report") / "changed.html"
    report = Report((fleet("prod", [known("llm", step("node", 2, gpu=8))], NO_FACTS),), diff=diff, base="main")
    found.write_text(page(report), encoding="utf-8")
    return found


@pytest.fixture(scope="module")
def every_state(tmp_path_factory) -> Path:
    """A job for each state in git and each state in the cluster; those that could not be compiled have no pods."""
    jobs = [
        known("broken", state="error", notes=("jobs/broken.yaml:1:1 TF101 there is no runtime",)),
        known("missing", step("node", 2, gpu=8), state="missing", notes=("its manifests are not there",)),
        *(known(each.replace(" ", "-"), step("node", 2, gpu=8), state=each) for each in ("behind", "to render")),
        *(known(each.replace(" ", "-"), step("node", 2, gpu=8)) for each in STATES),
    ]
    names = {state: state.replace(" ", "-") for state in STATES}
    live = [LiveJob("ml", name, name, state, f"because it is {state}") for state, name in names.items()]
    fleets = with_live([fleet("prod", jobs, NO_FACTS)], [LiveStatus("prod", tuple(live))])
    found: Path = tmp_path_factory.mktemp("report") / "states.html"
    found.write_text(page(Report(fleets, errors=("jobs/broken.yaml:1:1 TF101",), is_live=True)), encoding="utf-8")
    return found


SWEEP = "jobs/sweep.yaml.j2"


@pytest.fixture(scope="module")
def swept(tmp_path_factory) -> Path:
    """A sweep of twelve jobs between two others, one of which is new; and the same sweep in another environment."""
    names = [f"lr-{lr}-seed-{seed}" for lr in ("1e-4", "3e-4", "1e-3") for seed in range(4)]

    def made(environment: str) -> list[Known]:
        states = ["behind" if name.endswith("3") else "up to date" for name in names]
        every = zip(names, states, strict=True)
        return [
            known(name, step("node", 2, gpu=4), state=state, template=SWEEP, environment=environment)
            for name, state in every
        ]

    jobs = [known("a", step("node", 16, gpu=8)), *made("prod"), known("z", step(gpu=1))]
    fleets = fleet("prod", jobs, DECLARED, pricing(DECLARED, gpu="1.25")), fleet("staging", made("staging"), NO_FACTS)
    found: Path = tmp_path_factory.mktemp("report") / "swept.html"
    found.write_text(page(Report(fleets, diff=Diff([JobDiff(("prod", "ml", "z"), "new")]), base="main")))
    return found


def cells(browser: Browser, row: int) -> list[str]:
    return list(browser.ask(f"[...document.querySelectorAll('#table tbody tr')[{row}].cells].map(e => e.textContent)"))


def type_in(browser: Browser, field: str, value: str) -> None:
    browser.ask(f"{field}.value = '{value}'; {field}.dispatchEvent(new Event('input', {{bubbles: true}}))")


def sort_by(browser: Browser, column: str) -> None:
    browser.ask(f"[...document.querySelectorAll('#table thead button')].find(e => e.textContent == '{column}').click()")


def press(browser: Browser, row: int) -> None:
    browser.ask(f"document.querySelectorAll('#table tbody tr')[{row}].querySelector('button').click()")


def test_a_sweep_is_one_row_with_sums(browser, swept):
    browser.open(swept)
    assert shown(browser) == ["ml/a", f"{SWEEP} · 12 jobs", f"{SWEEP} · 12 jobs", "ml/z"]
    title, told = f"{SWEEP} · 12 jobs", cells(browser, 1)
    assert told[:7] == [title, "prod", "team", "torch", "24", "96", "120.00 USD"]
    assert told[7:] == ["fits, waits", "up to date, behind", ""]
    assert browser.ask("document.getElementById('count').textContent") == "26 jobs"
    assert browser.complaints() == []


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_a_sweep_opens_to_its_jobs_and_they_to_theirs(browser, swept, width):
    browser.open(swept, width)
    press(browser, 1)
    assert shown(browser)[1:4] == [f"{SWEEP} · 12 jobs", "ml/lr-1e-3-seed-0", "ml/lr-1e-3-seed-1"]
    assert len(shown(browser)) == 4 + 12
    heights = browser.ask("[...document.querySelectorAll('#table tbody tr.inside')].map(e => e.offsetHeight)")
    assert len(heights) == 12
    assert min(heights) > 20
    press(browser, 2)
    assert browser.ask("document.querySelector('.detail').offsetHeight") > 150
    assert SWEEP in browser.ask("document.querySelector('.detail').innerText")
    assert browser.ask("document.documentElement.scrollWidth") <= width
    press(browser, 1)
    assert shown(browser) == ["ml/a", f"{SWEEP} · 12 jobs", f"{SWEEP} · 12 jobs", "ml/z"]
    assert browser.ask("document.querySelector('.detail')") is None
    assert browser.complaints() == []


def test_search_and_filters_look_at_the_jobs_of_a_sweep(browser, swept):
    browser.open(swept)
    type_in(browser, "env", "prod")
    type_in(browser, "q", "seed-3")
    assert shown(browser) == [f"{SWEEP} · 3 of 12 jobs"]
    assert cells(browser, 0)[5] == "24"
    assert cells(browser, 0)[8] == "behind"
    type_in(browser, "q", "1e-4-seed-3")
    assert shown(browser) == ["ml/lr-1e-4-seed-3"]
    type_in(browser, "q", "sweep.yaml")
    assert shown(browser) == [f"{SWEEP} · 12 jobs"]


def test_a_sweep_is_sorted_by_its_sums(browser, swept):
    browser.open(swept)
    type_in(browser, "env", "prod")
    sort_by(browser, "GPUs")
    assert shown(browser) == ["ml/a", f"{SWEEP} · 12 jobs", "ml/z"]
    sort_by(browser, "Pods")
    assert shown(browser) == [f"{SWEEP} · 12 jobs", "ml/a", "ml/z"]
    sort_by(browser, "Cost per hour")
    assert shown(browser) == ["ml/a", f"{SWEEP} · 12 jobs", "ml/z"]


def shown(browser: Browser) -> list[str]:
    names = "[...document.querySelectorAll('#table tbody tr:not(.detail) th')].map(e => e.textContent)"
    return list(browser.ask(names))


def test_it_opens_without_a_complaint_and_shows_the_first_jobs(browser, file):
    browser.open(file)
    assert len(shown(browser)) == 100
    browser.ask("document.getElementById('more').click()")
    assert len(shown(browser)) == 200
    assert browser.complaints() == []


def test_search_and_filter(browser, file):
    browser.open(file)
    browser.ask("q.value = 'job-01'; q.dispatchEvent(new Event('input', {bubbles: true}))")
    assert shown(browser) == [f"ml/job-01{index}" for index in range(10)]
    browser.ask("q.value = ''; env.value = 'staging'; env.dispatchEvent(new Event('input', {bubbles: true}))")
    assert shown(browser) == ["ml/small"]
    assert browser.ask("location.hash") == "#env=staging"
    assert browser.ask("document.getElementById('count').textContent") == "1 job (of 252)"


def test_a_link_filters(browser, file):
    browser.open(file, fragment="#framework=jax")
    assert shown(browser) == ["ml/small"]


def test_values_do_not_run(browser, file):
    browser.open(file, fragment="#state=behind")
    assert shown(browser) == ["ml/evil"]
    browser.ask("document.querySelector('#table tbody button').click()")
    assert EVIL in browser.ask("document.querySelector('.detail').textContent")
    assert browser.ask("document.title") == "Training fleet: 252 jobs"
    assert browser.complaints() == []


def test_a_job_opens_by_keyboard_and_shows_its_pods(browser, file):
    browser.open(file, fragment="#q=job-000")
    browser.ask("document.querySelector('#table tbody button').focus()")
    browser.key("Enter", 13, "\r")
    browser.ask("new Promise(done => setTimeout(done, 100))")
    assert browser.ask("[...document.querySelectorAll('.step h4')].map(e => e.textContent)") == ["node", "launcher"]
    assert browser.ask("document.querySelectorAll('.pods rect').length") == 24 + 1
    assert browser.ask("document.querySelectorAll('.pods circle').length") == 24 * 8
    assert "and 16 more pods" in browser.ask("document.querySelector('.step').textContent")
    assert browser.ask("document.querySelectorAll('.edges .head').length") == 1
    assert browser.ask("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    browser.key("Enter", 13, "\r")
    assert browser.ask("document.querySelector('.detail')") is None
    assert browser.complaints() == []


@pytest.mark.parametrize("width", [390, 1280, 1920])
@pytest.mark.parametrize("page", ["file", "changed"])
def test_an_opened_job_is_visible(browser, request, page, width):
    """With and without a column of changes: the cell spans what is shown, and is high enough to read."""
    browser.open(request.getfixturevalue(page), width)
    browser.ask("document.querySelector('#table tbody button').click()")
    cell = "document.querySelector('.detail > td')"
    assert browser.ask(f"{cell}.offsetHeight") > 150
    assert browser.ask(f"{cell}.offsetWidth >= {cell}.closest('table').offsetWidth - 2")
    assert browser.ask(f"[...{cell}.querySelectorAll('dd, .step')].every(e => e.offsetHeight > 10)")


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_a_job_opens_whatever_its_state(browser, every_state, width):
    """One after the other: of each, the row below it is as wide as the table and every line of it can be read."""
    browser.open(every_state, width)
    opened = browser.ask("""[...document.querySelectorAll('#table tbody tr')].map(row => {
      row.querySelector('button').click()
      const cell = document.querySelector('.detail > td')
      const lines = [...cell.querySelectorAll('dt, dd, li, p, .step')]
      const found = [row.cells[0].textContent, cell.offsetHeight > 60,
        cell.offsetWidth >= cell.closest('table').offsetWidth - 2, lines.length > 0,
        lines.every(e => e.offsetHeight > 10)]
      row.querySelector('button').click()
      return found
    })""")
    assert len(opened) == 4 + len(STATES)
    assert [row for row in opened if row[1:] != [True] * 4] == []
    assert browser.complaints() == []


@pytest.mark.parametrize("width", [390, 1280, 1920])
def test_columns_do_not_break_words(browser, file, width):
    """A word on two lines has two boxes. What is longer than ten characters, such as a digest, may be."""
    browser.open(file, width)
    broken = browser.ask("""[...document.querySelectorAll('main td, thead th')].filter(e => {
      if (!e.checkVisibility() || e.querySelector('td')) return false
      const texts = document.createTreeWalker(e, NodeFilter.SHOW_TEXT)
      while (texts.nextNode()) {
        for (const word of texts.currentNode.data.matchAll(/\\S+/g)) {
          const range = document.createRange()
          range.setStart(texts.currentNode, word.index)
          range.setEnd(texts.currentNode, word.index + word[0].length)
          if (word[0].length <= 10 && new Set([...range.getClientRects()].map(box => box.top)).size > 1) return true
        }
      }
      return false
    }).map(e => e.outerHTML.slice(0, 80))""")
    assert broken == []


@pytest.mark.parametrize("width", [360, 768, 1200])
def test_nothing_sticks_out(browser, file, width):
    browser.open(file, width)
    browser.ask("document.querySelectorAll('#table tbody button')[1].click()")
    wide = f"[...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > {width}"
    told = browser.ask(f"{wide} && !e.closest('.scroll')).map(e => e.outerHTML.slice(0, 80))")
    assert told == []
    assert browser.ask("document.documentElement.scrollWidth") <= width


def test_a_filter_with_nothing_to_choose_is_not_shown(browser, changed):
    browser.open(changed)
    found = browser.ask(
        "[...document.querySelectorAll('#filter label')].filter(e => e.checkVisibility()).map(e => e.innerText)"
    )
    assert [each.split()[0] for each in found] == ["Search", "Change"]


def test_a_change_is_readable_on_a_phone(browser, changed):
    browser.open(changed, 360)
    browser.ask("document.querySelector('details').open = true")
    places = "[...document.querySelectorAll('.fields td')].map(e => e.getBoundingClientRect())"
    field, before, after, _ = browser.ask(f"{places}.map(place => [place.right, place.top])")
    assert max(field[0], before[0], after[0]) <= 360
    assert field[1] < before[1] < after[1]
    assert browser.ask("Math.max(...[...document.querySelectorAll('.totals td')].map(e => e.offsetHeight))") < 40


def test_sorting(browser, file):
    browser.open(file)
    browser.ask("[...document.querySelectorAll('#table thead button')].find(e => e.textContent == 'GPUs').click()")
    assert shown(browser)[0] == "ml/job-000"
    browser.ask("[...document.querySelectorAll('#table thead button')].find(e => e.textContent == 'GPUs').click()")
    assert set(shown(browser)[:2]) == {"ml/evil", "ml/small"}


def test_costs_are_sorted_by_amount(browser, file):
    browser.open(file)
    by_cost = (
        "[...document.querySelectorAll('#table thead button')].find(e => e.textContent == 'Cost per hour').click()"
    )
    browser.ask(by_cost)
    assert shown(browser)[0] == "ml/job-000"
    browser.ask(by_cost)
    assert shown(browser)[:2] == ["ml/small", "ml/evil"]  # without prices, and 1,234.50 USD
    browser.ask("document.querySelectorAll('#table tbody button')[1].click()")
    assert "1,234.50 USD per hour" in browser.ask("document.querySelector('.detail').innerText")


def test_dark_and_light(browser, file):
    browser.open(file)
    colour = "getComputedStyle(document.body).backgroundColor"
    seen = []
    for theme in ("dark", "light"):
        browser.ask(f"theme.value = '{theme}'; theme.dispatchEvent(new Event('input'))")
        seen.append(browser.ask(colour))
    assert seen == ["rgb(22, 24, 27)", "rgb(251, 251, 250)"]
    picture = base64.b64decode(browser.call("Page.captureScreenshot")["data"])
    assert picture.startswith(b"\x89PNG")

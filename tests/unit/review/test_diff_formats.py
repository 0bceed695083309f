"""The three formats for people."""

from __future__ import annotations

import re
import time
from html.parser import HTMLParser

import pytest

from trainform.review.diff.highlights import Highlight
from trainform.review.diff.html import render_html
from trainform.review.diff.markdown import LIMIT, render_markdown
from trainform.review.diff.model import BehindCount, Diff, JobDiff, Reason
from trainform.review.diff.text import render_news, render_text
from trainform.review.diff.totals import Ask
from trainform.review.diff.wording import stories

JOB = ("prod", "ml", "llm")
IMAGE = "spec.replicatedJobs[node].template.spec.template.spec.containers[node].image"


def reason(before="i:1", after="i:2", named=IMAGE, immutable=True, inherited=False, thing="JobSet/llm"):
    return Reason(thing, named, named, before, after, immutable, inherited)


def restart(*reasons, name="llm", **fields):
    return JobDiff(("prod", "ml", name), "restart", reasons or (reason(),), **fields)


def behind(name, told="runtime torch changed"):
    return JobDiff(("prod", "ml", name), "behind", (Reason("ClusterTrainingRuntime/torch", "", told, "a", "b"),))


def fallen_behind(*jobs):
    """A diff of jobs that this change puts behind."""
    found = Diff([*jobs])
    for job in jobs:
        count = found.behind.setdefault(job.reasons[0].named, BehindCount())
        count.jobs, count.new = count.jobs + 1, count.new + 1
    return found


def text(*jobs, colour=False, **fields):
    return render_text(Diff(list(jobs), **fields), colour=colour)


def test_nothing():
    assert text() == "no job changes\n"
    assert render_markdown(Diff()) == "### trainform: no job changes\n"
    assert "<h1>no job changes</h1>" in render_html(Diff())


@pytest.mark.parametrize(
    ("jobs", "told"),
    [
        ([JobDiff(JOB, "new")], "1 new job"),
        ([restart(), JobDiff(JOB, "new")], "1 job restarts, 1 new"),
        ([JobDiff(JOB, "delete")] * 2 + [restart()] * 2 + [behind("a")] * 3, "2 jobs deleted, 2 restart, 3 behind"),
        ([JobDiff(JOB, "needs-suspend")] * 2, "2 jobs need suspending"),
    ],
)
def test_the_count_of_it_all(jobs, told):
    assert text(*jobs).splitlines()[-1] == told


def test_a_restart_says_what_to_do():
    assert text(restart()).splitlines() == [
        "restart        ml/llm: Kubernetes refuses this update: delete JobSet llm first, then it starts anew",
        f"  {IMAGE}  i:1 → i:2  (immutable)",
        "",
        "1 job restarts",
    ]


@pytest.mark.parametrize(
    ("job", "told"),
    [
        (restart(), "then it starts anew"),
        (restart(reason(), reason(inherited=True)), "then it starts anew"),
        (restart(reason(inherited=True)), "starts anew; only what is inherited forces this"),
        (restart(new_name="llm-x"), "new object llm-x; the old one is pruned"),
        (
            restart(reason(named="data.hostfile", immutable=False, thing="ConfigMap/llm")),
            "running pods have read what this changes",
        ),
        (
            restart(reason("1", "2", "metadata.annotations.trainform.dev/rerun", immutable=False)),
            "is to run again: delete the finished JobSet llm",
        ),
        (JobDiff(JOB, "needs-suspend"), "only while JobSet llm is suspended"),
        (JobDiff(JOB, "delete", before=Ask("team", 1, {})), "it asked for 1 pod, queue team"),
        (JobDiff(JOB, "delete"), "stopped and removed"),
        (JobDiff(JOB, "new", after=Ask("", 2, {"cpu": 500, "g/gpu": 8})), "asks for 2 pods, g/gpu 8, cpu 0.5"),
    ],
)
def test_consequences(job, told):
    assert told in text(job)
    assert told in render_markdown(Diff([job]))
    assert told in render_html(Diff([job]))


def test_marks_and_objects_where_there_are_several():
    lines = text(restart(reason(), reason(1, 2, "spec.minMember", False, True, "PodGroup/llm"))).splitlines()
    assert lines[1] == f"  JobSet/llm {IMAGE}  i:1 → i:2  (immutable)"
    assert lines[2] == f"  PodGroup/llm spec.minMember{' ' * (len(IMAGE) - 16)}  1 → 2  (inherited)"


def test_what_is_immutable_comes_first():
    lines = text(restart(reason(named="a", immutable=False), reason(named="b"))).splitlines()
    assert [line[2] for line in lines[1:3]] == ["b", "a"]


def test_objects_that_come_and_go_are_told_without_their_contents():
    job = restart(Reason("PodGroup/llm", "", "", None, {"spec": 1}), Reason("ConfigMap/llm", "", "", {"data": 1}, None))
    assert text(job).splitlines()[1:3] == ["  PodGroup/llm (new object)", "  ConfigMap/llm (removed)"]


def test_many_reasons_are_cut_with_a_count():
    told = text(restart(*(reason(named=f"field{index}") for index in range(30))))
    assert "  and 10 more\n" in told


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        (None, "a", "(none) → a"),
        ("", "a", '"" → a'),
        (["a"], {"b": 1}, '["a"] → {"b": 1}'),
        ("one\ntwo", "three", "one↵two → three"),
        (True, False, "true → false"),
        (None, "(none)", '(none) → "(none)"'),
        (" ", " a", '" " → " a"'),
        ("\x1b[31mred\r", "\u202e\x07", "\\x1b[31mred\\r → \\u202e\\x07"),
        (["\u2028"], None, '["\\u2028"] → (none)'),
    ],
)
def test_values(before, after, shown):
    assert shown in text(restart(reason(before, after)))


def test_long_texts_show_where_they_differ():
    told = text(restart(reason("x" * 500 + "1", "x" * 500 + "2")))
    assert "…xxxxxxxxxxxx1 → …xxxxxxxxxxxx2" in told


def test_long_lists_show_where_they_differ():
    shared = [f"--option-{index}" for index in range(20)]
    told = text(restart(reason([*shared, "--epochs=1"], [*shared, "--epochs=2"])))
    assert '…, "--epochs=1"] → …, "--epochs=2"]' in told.replace("…-option-19", "…")


def evil(name="\x1b[31m\r<b>`|"):
    """A job, an object, a field and a value as no API would take them, in files that somebody edited."""
    return JobDiff((name, name, name), "restart", (reason(name, [name], name, True, True, f"JobSet/{name}"),))


def test_names_of_edited_files_command_no_terminal_and_end_no_line():
    diff = Diff([evil(), behind("a", "runtime \x1b\r gone")], behind={"\r\x1b": BehindCount(1, 0)})
    diff.totals.add("\x1b", None, Ask("\r", 1, {"\x1b": 1}))
    told = [render_text(diff, colour=False), render_markdown(diff), render_html(diff)]
    assert [set(each) & {"\x1b", "\r"} for each in told] == [set(), set(), set()]


def upgraded(name, *reasons, **fields):
    return JobDiff(
        ("prod", "ml", name), "restart", reasons or (reason(inherited=True, thing=f"JobSet/{name}"),), **fields
    )


def test_jobs_that_change_alike_are_told_together():
    fleet = [upgraded(f"job-{index}") for index in range(500)]
    told = text(*fleet, upgraded("other", reason("i:0", thing="JobSet/other")))
    assert told.startswith(
        "restart        500 jobs: Kubernetes refuses this update: delete their JobSets first, then they start anew; "
        "only what is inherited forces this\n  ml/job-0, ml/job-1, "
    )
    assert told.count(IMAGE) == 2
    assert all(f"ml/job-{index}" in told for index in range(500))
    assert told.endswith("501 jobs restart\n")
    markdown = render_markdown(Diff(fleet))
    assert len(markdown) < 3_000
    assert "ml/job-99 and 400 more\n\n| `JobSet/…` | before | after | |\n" in markdown
    assert render_html(Diff(fleet)).count("<details>") == 1


def test_few_jobs_that_change_alike_are_named_in_the_title():
    assert text(upgraded("a"), upgraded("b")).startswith("restart        ml/a, ml/b: Kubernetes")


def test_what_differs_only_in_the_job_s_own_name_is_alike():
    hashed = [
        upgraded(name, reason(name, f"{name}-x", "metadata.name", thing=f"JobSet/{name}-x"), new_name=f"{name}-x")
        for name in ("a", "b")
    ]
    groups = [upgraded(name, Reason(f"PodGroup/{name}", "", "", None, {"name": name})) for name in ("c", "d")]
    told = text(*hashed, *groups)
    assert "restart        ml/a, ml/b: new objects; the old ones are pruned, and training starts anew\n\n" in told
    assert "restart        ml/c, ml/d: " in told


@pytest.mark.parametrize(
    "other",
    [
        JobDiff(("eu", "ml", "b"), "restart", upgraded("b").reasons),
        JobDiff(("prod", "ml", "b"), "in-place", upgraded("b").reasons),
        upgraded("b", reason("i:0", inherited=True, thing="JobSet/b")),
        upgraded("b", reason(thing="JobSet/b")),
        upgraded("b", reason(inherited=True, thing="PodGroup/b")),
        JobDiff(("prod", "ml", "b"), "delete"),
    ],
    ids=["environment", "change", "value", "mark", "object", "no reason"],
)
def test_jobs_that_change_otherwise_are_told_apart(other):
    assert "ml/a, ml/b" not in text(upgraded("a"), other)


@pytest.mark.parametrize(
    ("after", "ask", "told"),
    [
        (True, Ask("", 1, {}), ": pods stop, and start anew when it is resumed"),
        (None, Ask("", 1, {}), ": pods start"),
        (True, Ask("team", 1, {}), ""),
    ],
)
def test_suspending_stops_pods_unless_a_queue_decides(after, ask, told):
    job = JobDiff(JOB, "in-place", (reason(None, after, "spec.suspend", immutable=False),), after=ask)
    assert text(job).splitlines()[0] == f"in-place       ml/llm{told}"


def test_words_are_explained_where_they_occur():
    assert "<sub>**immutable**: the API never changes this field" in render_markdown(Diff([restart()]))
    assert "**inherited**" not in render_markdown(Diff([restart()]))
    assert "<dt>behind</dt>" in render_html(fallen_behind(behind("a")))
    assert "<sub>" not in render_markdown(many(2, "delete"))


def test_five_hundred_jobs_behind_are_one_line():
    told = render_text(fallen_behind(*(behind(f"job-{index}") for index in range(500))), colour=False)
    assert told == "500 jobs are behind: runtime torch changed (by this change; nothing restarts)\n\n500 jobs behind\n"


def test_jobs_that_were_behind_before_are_a_line_and_no_change():
    told = text(behind={"runtime torch changed": BehindCount(2, 0)})
    assert told == "2 jobs are behind: runtime torch changed (before this change)\n\nno job changes\n"


def test_colour_only_where_it_is_asked_for():
    assert "\x1b" not in text(restart())
    assert text(restart(), colour=True).startswith("\x1b[31mrestart\x1b[0m        ml/llm")


def test_environments_are_named_where_there_are_any():
    diff = Diff([restart()])
    diff.totals.add("prod", Ask("team", 1, {"cpu": 1000}), Ask("team", 2, {"cpu": 2000}))
    lines = render_text(diff, colour=False).splitlines()
    assert lines[0].startswith("restart        ml/llm in prod: ")
    assert lines[3:5] == ["ENVIRONMENT  QUEUE  JOBS  PODS   CPU", "prod         team   1     1 → 2  1 → 2"]


def test_queues_of_which_nothing_changes_are_left_out():
    diff = Diff()
    diff.totals.add("prod", Ask("team", 1, {}), Ask("team", 1, {}))
    assert render_text(diff, colour=False) == "no job changes\n"


def many(count, change="restart", **fields):
    jobs = [JobDiff(("prod", "ml", f"job-{index:05d}"), change, **fields) for index in range(count)]
    return Diff(jobs)


FIELDS = tuple(reason("ü" * 80, "`|" * 40, f"field{index}") for index in range(40))
"""More than is shown of one job."""


@pytest.mark.parametrize(
    "diff",
    [
        many(10_000, reasons=FIELDS),
        Diff([restart(reason(index, "ü"), *FIELDS, name=f"job-{index}") for index in range(1_000)]),
        many(10_000, "delete"),
        fallen_behind(*(behind(f"job-{index}", f"runtime {index} changed") for index in range(5_000))),
    ],
    ids=["restarts alike", "restarts", "deletions", "reasons to be behind"],
)
def test_markdown_fits_a_comment_whatever_the_size(diff):
    told = render_markdown(diff)
    assert len(told) <= len(told.encode()) <= LIMIT
    assert "… and " in told


def test_markdown_with_many_queues_fits_a_comment():
    diff = many(10_000)
    for index in range(5_000):
        diff.totals.add("prod", None, Ask(f"queue-{index}", 1, {}))
    diff.totals.add("prod", None, Ask("a" * 60_000, 1, {}))
    told = render_markdown(diff)
    assert len(told.encode()) <= LIMIT
    assert "… and 4962 more queues" in told


def test_a_cut_says_how_many_jobs_are_left_out():
    told = render_markdown(many(10_000, "delete"))
    shown = told.count("- <b>ml/job-")
    assert f"… and {10_000 - shown} more jobs: the comment is full" in told
    assert shown > 100


def test_a_change_that_is_cut_does_not_hide_the_next():
    diff = many(10_000)
    diff.jobs.append(JobDiff(JOB, "new"))
    assert "**🟢 New** (1)" in render_markdown(diff)


@pytest.mark.parametrize("given", ["a|b", "a`b", "``", "<script>", "@team", "#1", "[a](b)", "\\|"])
def test_markdown_keeps_values_in_their_cell(given):
    row = next(line for line in render_markdown(Diff([restart(reason("i:1", given))])).splitlines() if IMAGE in line)
    cells = re.split(r"(?<!\\)\|", row)
    assert len(cells) == 6
    fence = re.match(r" (`+)", cells[3])
    assert fence is not None
    assert cells[3].strip().removeprefix(fence[1]).removesuffix(fence[1]).strip().replace("\\|", "|") == given


class Page(HTMLParser):
    """The text of a page, and whether each tag is closed in its order."""

    def __init__(self):
        super().__init__()
        self.open, self.text, self.links = [], "", []

    def handle_starttag(self, tag, attrs):
        self.links += [value for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_html_is_whole_alone_and_escaped():
    diff = Diff([restart(reason("<script>alert(1)</script>", "&")), JobDiff(JOB, "delete")])
    diff.totals.add("prod", None, Ask("team", 1, {}))
    page = Page()
    page.feed(render_html(diff))
    assert page.open == []
    assert page.links == []
    assert "<script>alert(1)</script>" in page.text
    assert "<script" not in render_html(diff)


LONG = [" ".join(f"--flag-{number}={value}" for number in range(90)) for value in ("old", "new")]


def test_a_long_value_is_shown_where_it_changed():
    told = text(restart(reason(*LONG)))
    assert "…--flag-0=old" in told or "--flag-0=old" in told
    assert "--flag-89" not in told


def test_a_long_value_is_shown_whole_on_request():
    told = render_text(Diff([restart(reason(*LONG))]), colour=False, full=True)
    assert f"{LONG[0]} → {LONG[1]}" in told


SWEEP = "jobs/sweep.yaml.j2"
ASK = Ask("team", 2, {"nvidia.com/gpu": 16, "cpu": 8_000})


def command(*words, before=None, privilege=False, place="node"):
    label = "privileged" if privilege else "command"
    after = True if privilege else [*words]
    return Highlight("JobSet/a", place, f"{place}.{label}", label, "", "", privilege, before, after)


def made(seed, change="new", source=SWEEP, told=None, **fields):
    """A job of a sweep."""
    told = (command("train.py", f"--seed={seed}"),) if told is None else told
    fields = {"after": ASK, "highlights": told, "source": source, "templated": source.endswith(".j2")} | fields
    return JobDiff(("prod", "ml", f"seed-{seed}"), change, **fields)


def test_new_jobs_of_one_template_are_one_entry_with_every_value():
    jobs = [made(seed) for seed in range(5)]
    assert text(*jobs).splitlines() == [
        "new            5 jobs of jobs/sweep.yaml.j2 (ml/seed-0 … ml/seed-4): "
        "together they ask for 10 pods, nvidia.com/gpu 80, cpu 40, queue team",
        "  ml/seed-0, ml/seed-1, ml/seed-2, ml/seed-3, ml/seed-4",
        '  command (node)  ["train.py", "--seed=0 | --seed=1 | --seed=2 | --seed=3 | --seed=4"]',
        "",
        "5 new jobs",
    ]
    title = "- <b>5 jobs of jobs/sweep.yaml.j2 (ml/seed-0 … ml/seed-4)</b> in prod: together they ask for 10 pods"
    assert title in render_markdown(Diff(jobs))
    page = render_html(Diff(jobs))
    assert "<code>5 jobs of jobs/sweep.yaml.j2 (ml/seed-0 … ml/seed-4)</code> in prod: together" in page


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([10, 2, 1], "ml/seed-1, ml/seed-2, ml/seed-10"),
        (["1-b", "10-a", "2-c"], "ml/seed-1-b, ml/seed-2-c, ml/seed-10-a"),
        (["b", "a"], "ml/seed-a, ml/seed-b"),
        (["01", "1", "a"], "ml/seed-01, ml/seed-1, ml/seed-a"),
    ],
)
def test_numbers_in_names_are_in_their_own_order(values, shown):
    diff = Diff([made(value) for value in values])
    assert shown in text(*diff.jobs)
    diff.sort()
    assert ", ".join("/".join(job.id[1:]) for job in diff.jobs) == shown


@pytest.mark.parametrize(
    ("jobs", "titles"),
    [
        ([made(0), made(1)], ["2 jobs of jobs/sweep.yaml.j2 (ml/seed-0, ml/seed-1)"]),
        ([made(0)], ["ml/seed-0"]),
        ([made(0, source="jobs/a.yaml"), made(1, source="jobs/a.yaml")], ["ml/seed-0", "ml/seed-1"]),
        ([made(0), made(1, source="jobs/other.yaml.j2")], ["ml/seed-0", "ml/seed-1"]),
        ([made(0), made(1, told=(command("x", place="other"),))], ["ml/seed-0", "ml/seed-1"]),
        ([made(0), made(1, told=(command("--seed=1"), command(privilege=True)))], ["ml/seed-0", "ml/seed-1"]),
        ([made(0), made(1, after=None)], ["ml/seed-0", "ml/seed-1"]),
    ],
    ids=["few", "one", "no template", "two templates", "other places", "a privilege", "one that is not known"],
)
def test_what_is_one_entry(jobs, titles):
    assert [story.title for story in stories(Diff(jobs))] == titles


def test_privileges_of_a_sweep_are_compared_by_value():
    def mounts(seed, path):
        return made(seed, told=(command(privilege=True)._replace(after=path),))

    told = stories(Diff([mounts(0, "/data"), mounts(1, "/data"), mounts(2, "/")]))
    assert [(story.title, story.highlights[0].after) for story in told] == [
        ("2 jobs of jobs/sweep.yaml.j2 (ml/seed-0, ml/seed-1)", "/data"),
        ("ml/seed-2", "/"),
    ]


def test_many_values_do_not_hide_one_of_another_kind():
    jobs = [made(seed) for seed in range(1_000)]
    jobs[700] = made(700, told=(command("train.py", "--upload=http://example"),))
    (story,) = stories(Diff(jobs))
    assert '"--seed=0 | --upload=http://example | --seed=1 | ' in story.highlights[0].after


def test_values_that_switch_something_are_no_values_of_a_sweep():
    def suspended(seed, after):
        return made(seed, "in-place", told=(), reasons=(reason(not after, after, "spec.suspend", immutable=False),))

    told = stories(Diff([suspended(0, True), suspended(1, False), suspended(2, True)]))
    assert [story.jobs for story in told] == [["ml/seed-0", "ml/seed-2"], ["ml/seed-1"]]


def test_a_changed_sweep_shows_the_values_before_and_after():
    def changed(seed):
        return made(
            seed, "restart", told=(), reasons=(reason(["--lr=1", f"--seed={seed}"], ["--lr=2", f"--seed={seed}"]),)
        )

    (story,) = stories(Diff([changed(seed) for seed in (0, 1)]))
    (told,) = story.reasons
    assert told.object == "JobSet/llm"
    assert (told.before, told.after) == (
        '["--lr=1", "--seed=0 | --seed=1"]',
        '["--lr=2", "--seed=0 | --seed=1"]',
    )


def test_equal_changes_of_a_fleet_are_not_split_by_template():
    fleet = [
        made(seed, "restart", told=(), source=f"jobs/{seed % 5}.yaml.j2", reasons=(reason(),)) for seed in range(10)
    ]
    assert [story.title for story in stories(Diff(fleet))] == ["10 jobs"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("delete", "stopped and removed; together they asked for 4 pods, nvidia.com/gpu 32, cpu 16, queue team"),
        (
            "orphan",
            "keep running until you delete their JobSets, as nothing prunes them; "
            "together they ask for 4 pods, nvidia.com/gpu 32, cpu 16, queue team",
        ),
    ],
)
def test_a_removed_sweep(change, told):
    (story,) = stories(Diff([made(seed, change, told=(), before=ASK, after=None) for seed in (0, 1)]))
    assert story.consequence == told


def test_a_sweep_of_ten_thousand_jobs_takes_no_longer_for_each():
    jobs = [made(seed) for seed in range(10_000)]
    started = time.process_time()
    (story,) = stories(Diff(jobs))
    assert time.process_time() - started < 5
    assert len(story.jobs) == 10_000
    assert "more characters" in story.highlights[0].after


def news(now: Diff, earlier: Diff | None) -> str:
    return render_news(now, earlier, "HEAD", colour=False, brief=True)


def test_news_are_the_jobs_that_change_otherwise_than_before():
    now, earlier = Diff([restart(reason(), name="a"), restart(reason(), name="b")]), Diff([restart(reason(), name="a")])
    told = news(now, earlier)
    assert "ml/b" in told
    assert "ml/a" not in told
    assert told.endswith("\n\n2 jobs restart\n")


def test_news_of_the_same_diff_are_none():
    assert news(Diff([restart(reason())]), Diff([restart(reason())])) == ""


@pytest.mark.parametrize("jobs", [[], [restart(reason())]])
def test_without_an_earlier_diff_everything_is_news(jobs):
    assert news(Diff(jobs), None) == render_text(Diff(jobs), colour=False)


def test_a_job_that_changes_no_more_is_news_under_its_printable_name():
    told = news(Diff(), Diff([restart(reason(), name="a\x1b[31m\n")]))
    assert told == "ml/a\\x1b[31m↵ is as in HEAD\n\nno job changes\n"


def test_a_cause_of_jobs_being_behind_is_news_once():
    one = Diff([behind("a")], behind={"runtime torch changed": BehindCount(1, 1)})
    assert "runtime torch changed" in news(one, Diff())
    more = Diff([behind("a"), restart(reason())], behind=one.behind)
    assert "runtime torch changed" not in news(more, one)


def two_thousand(*, alike: bool = True) -> Diff:
    reasons = [reason(named="spec.field" if alike else f"spec.field{number}") for number in range(2000)]
    return Diff([restart(each, name=f"job-{number:04}") for number, each in enumerate(reasons)])


def test_news_of_many_jobs_that_change_no_more_fit_on_a_screen():
    """As after a commit, or in another branch."""
    told = news(Diff(), two_thousand()).splitlines()
    assert told[0] == "ml/job-0000 is as in HEAD"
    assert told[19:] == ["ml/job-0019 is as in HEAD", "and 1980 more jobs", "", "no job changes"]


def test_news_of_many_jobs_that_change_alike_name_the_first():
    told = news(two_thousand(), Diff())
    assert "ml/job-0019 and 1980 more\n" in told
    assert len(told.splitlines()) < 15
    assert told.endswith("\n\n2000 jobs restart\n")


def test_news_of_many_jobs_that_each_change_in_their_own_way_fit_on_a_screen():
    told = news(two_thousand(alike=False), Diff())
    assert 20 < len(told.splitlines()) < 40
    shown = told.count("restart        ml/job-")
    assert f"\n\nand {2000 - shown} more jobs: `trainform diff` shows all\n\n2000 jobs restart\n" in told


@pytest.mark.parametrize("now", [Diff(), two_thousand(), two_thousand(alike=False)], ids=["none", "alike", "each"])
def test_news_can_be_told_in_full(now):
    earlier = Diff() if now.jobs else two_thousand()
    told = render_news(now, earlier, "HEAD", colour=False, brief=False)
    assert all(f"ml/job-{number:04}" in told for number in range(2000))
    assert " more" not in told

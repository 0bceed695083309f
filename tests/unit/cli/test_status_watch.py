"""`trainform status --watch`: what changes, as the cluster tells it, whatever happens to the connection."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from support.api_server import ApiServer, Fault
from support.repositories import Repository, job
from trainform.cluster import OutOfTime, client, watch
from trainform.cluster.deadline import Deadline
from unit.cli.test_status import NO_QUOTA, live, pod, rendered_in_queue, workload

JOBSETS = "/apis/jobset.x-k8s.io/v1alpha2/jobsets"
RUNNING = "JOB     STATE    REASON\nml/llm  running  Jobs: 1 ready, 1 active\n\n1 job in prod: 1 running\n"
FINISHED = "ml/llm: running → finished\n1 job in prod: 1 finished\n"


@pytest.fixture
def repository(root: Path, trainform) -> Repository:
    return rendered_in_queue(root, trainform)


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "FIRST_PAUSE", 0.001)


@pytest.fixture
def running(server: ApiServer, repository: Repository) -> ApiServer:
    server.put(live(repository))
    return server


def finish(server: ApiServer, repository: Repository, *, name: str = "llm") -> Callable[[], None]:
    return lambda: server.change(live(repository, "Completed", name=name))


def test_changes_of_a_state_are_told_until_all_jobs_ended(running, repository, trainform):
    running.when_watched("jobsets", finish(running, repository))
    assert trainform("status", "--watch") == (0, RUNNING + FINISHED, "")


def test_nothing_is_watched_where_all_jobs_ended(server, repository, trainform):
    server.put(live(repository, "Completed"))
    ran = trainform("status", "--watch")
    assert (ran.code, ran.out.splitlines()[-1]) == (0, "1 job in prod: 1 finished")
    assert not [seen for seen in server.seen if seen.query.get("watch")]


def test_the_life_of_a_job_in_a_queue(server, repository, trainform):
    def play() -> None:
        server.change(live(repository, suspend=True))
        server.change({**live(repository, suspend=True), "status": {}})  # no other state: no line
        server.change(live(repository))
        server.change(live(repository, "Failed"))

    server.put(pod("llm-a", 1, "2026-01-01T00:00:01Z"))
    server.logs["ml/llm-a"] = "out of luck\n"
    server.when_watched("jobsets", play)
    ran = trainform("status", "--watch")
    assert ran.code == 1
    table, changes = ran.out.split("\n1 job in prod: 1 not created\n")
    assert "ml/llm  not created" in table
    assert changes == (
        "ml/llm: not created → queued (Kueue has not seen it yet)\n"
        "ml/llm: queued → running (Jobs: 1 ready, 1 active)\n"
        "ml/llm: running → failed (because of Failed)\n"
        "  container node of pod llm-a ended with exit code 1 (Error)\n"
        "  | out of luck\n"
        "1 job in prod: 1 failed\n"
    )


def test_why_a_job_is_queued_comes_from_its_workload(running, repository, trainform):
    running.put(workload(conditions=[NO_QUOTA]))

    def play() -> None:
        running.change(live(repository, suspend=True))
        finish(running, repository)()

    running.when_watched("jobsets", play)
    ran = trainform("status", "--watch")
    assert "ml/llm: running → queued (insufficient unused quota for nvidia.com/gpu)\n" in ran.out


def test_a_workload_that_changes_its_job_is_a_change_of_the_job(running, repository, trainform):
    """A JobSet without a queue label is queued as long as Kueue has a Workload for it."""
    suspended = live(repository, suspend=True)
    del suspended["metadata"]["labels"]["kueue.x-k8s.io/queue-name"]
    running.change(suspended)
    running.change(workload(conditions=[NO_QUOTA]))
    deleted = json.dumps({"type": "DELETED", "object": workload()})
    running.fail("/apis/kueue.x-k8s.io/v1beta2/workloads?watch", Fault(kind="odd", message=deleted))
    running.when_watched("workloads", finish(running, repository))
    ran = trainform("status", "--watch")
    assert "ml/llm: queued, drifted → suspended, drifted\n" in ran.out
    assert "ml/llm: suspended, drifted → finished\n" in ran.out


def test_drift_and_its_end_are_changes_too(running, repository, trainform):
    drifted = live(repository)
    drifted["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = "other"

    def play() -> None:
        running.change(drifted)
        running.change(live(repository))
        running.change(live(repository, "Completed"))

    running.when_watched("jobsets", play)
    ran = trainform("status", "--watch")
    assert ran.code == 0
    assert "ml/llm: running → running, drifted" in ran.out
    assert "ml/llm: running, drifted → running" in ran.out


def test_a_job_that_is_deleted_is_not_created_and_waited_for(running, repository, trainform):
    def play() -> None:
        running.remove(live(repository))
        running.change(live(repository, "Completed"))

    running.when_watched("jobsets", play)
    ran = trainform("status", "--watch")
    assert ran.out.endswith(
        "ml/llm: running → not created\nml/llm: not created → finished\n1 job in prod: 1 finished\n"
    )


def test_orphans_come_and_go_and_are_not_waited_for(running, repository, trainform):
    old = {**live(repository), "metadata": {"name": "old", "namespace": "ml"}}

    def play() -> None:
        running.change(old)
        running.remove(old)
        running.change({**old, "metadata": {"name": "older", "namespace": "ml"}})
        finish(running, repository)()

    running.when_watched("jobsets", play)
    ran = trainform("status", "--watch")
    assert ran.code == 1
    assert "ml/old: orphaned (its marks" in ran.out
    assert "ml/old: orphaned → gone\n" in ran.out
    assert ran.out.endswith("2 jobs in prod: 1 finished, 1 orphaned\n")


def test_only_the_jobs_that_are_named_are_followed(running, repository, trainform):
    repository.write("jobs/more.yaml", job("more"))
    trainform("render")

    def play() -> None:
        running.change(live(repository, name="more"))
        finish(running, repository)()

    running.when_watched("jobsets", play)
    assert trainform("status", "--watch", "llm") == (0, RUNNING + FINISHED, "")


def test_a_watch_begins_where_the_list_ended_and_goes_on_where_a_stream_ended(running, repository, trainform):
    running.fail(f"{JOBSETS}?watch", Fault(kind="end"))
    running.when_watched("jobsets", finish(running, repository))
    assert trainform("status", "--watch").out == RUNNING + FINISHED
    asked = [seen.query for seen in running.seen if seen.path == JOBSETS]
    assert [query.get("resourceVersion") for query in asked] == [None, "1000", "1000"]
    assert {key: asked[1][key] for key in ("watch", "allowWatchBookmarks")} == {
        "watch": "true",
        "allowWatchBookmarks": "true",
    }


def test_a_bookmark_moves_on_where_the_next_stream_begins(running, repository, trainform):
    bookmark = '{"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "4711"}}}'
    running.fail(f"{JOBSETS}?watch", Fault(kind="odd", message=bookmark))
    running.revision = 4711
    running.when_watched("jobsets", finish(running, repository))
    assert trainform("status", "--watch").out == RUNNING + FINISHED
    assert [seen.query["resourceVersion"] for seen in running.seen if seen.query.get("watch")][-1] == "4711"


@pytest.mark.parametrize(
    "fault", [Fault(410, "too old", "error"), Fault(410, "too old")], ids=["within a stream", "as an answer"]
)
def test_what_is_too_old_is_listed_again(running, repository, trainform, fault):
    def restart() -> None:
        finish(running, repository)()
        running.forget()

    running.fail(f"{JOBSETS}?watch", fault)
    running.when_watched("jobsets", restart)
    ran = trainform("status", "--watch")
    assert ran == (0, RUNNING + FINISHED, "")
    lists = [seen for seen in running.seen if seen.path == JOBSETS and not seen.query.get("watch")]
    assert len(lists) > 1


def test_what_went_while_nobody_watched_is_noticed_with_the_next_list(running, repository, trainform):
    old = {**live(repository), "metadata": {"name": "old", "namespace": "ml"}}
    running.put(old)

    def restart() -> None:
        running.remove(old)
        finish(running, repository)()
        running.forget()

    running.when_watched("jobsets", restart)
    ran = trainform("status", "--watch")
    assert ran.code == 0
    assert "ml/old: orphaned → gone\n" in ran.out


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (Fault(kind="close"), "the connection was closed before the answer was complete"),
        (Fault(kind="line"), "the connection was closed before the answer was complete"),
        (Fault(500, "etcd is away"), "500 etcd is away"),
        (Fault(429, "slowly"), "429 slowly"),
        (Fault(504, "etcd is away", "error"), "etcd is away"),
        (Fault(kind="odd", message="<html>"), "an event is not JSON"),
        (Fault(kind="odd", message="[1]"), "an event is no object"),
        (Fault(kind="odd", message='{"type": "ERROR"}'), "the server ended the watch"),
    ],
    ids=["no answer", "half a line", "500", "429", "error event", "a page", "no object", "error without words"],
)
def test_a_connection_that_is_lost_is_told_and_tried_again(running, repository, trainform, fault, told):
    running.fail(f"{JOBSETS}?watch", fault)
    running.when_watched("jobsets", finish(running, repository))
    ran = trainform("status", "--watch")
    note = f"note: the connection was lost, and is tried again: {told}\n"
    assert ran == (0, RUNNING + note + FINISHED, "")


LOGIN = Fault(302, kind="page", headers=(("Location", "https://login.example/?state=s3cret"),))
"""Of a proxy."""

LEADS_ELSEWHERE = (
    f"the server answered 302 to GET {JOBSETS}, which leads to https://login.example/: a proxy may want you to log in"
)
GONE = Fault(404, "the server could not find the requested resource")
PAGE = Fault(404, kind="page")
"""Of a gateway that is being restarted."""


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (LOGIN, LEADS_ELSEWHERE),
        (PAGE, f"the server answered 404 to GET {JOBSETS}: <html>sign in</html>"),
        (GONE, GONE.message),
        (Fault(418, kind="page"), f"the server answered 418 to GET {JOBSETS}: <html>sign in</html>"),
    ],
    ids=["redirect", "404 of a gateway", "404", "418"],
)
def test_a_refusal_may_pass_too(running, repository, trainform, fault, told):
    running.fail(f"{JOBSETS}?watch", *[fault] * 3)
    running.when_watched("jobsets", finish(running, repository))
    note = f"note: the connection was lost, and is tried again: {told}\n"
    assert trainform("status", "--watch") == (0, RUNNING + note + FINISHED, "")


def test_a_refusal_may_pass_while_everything_is_listed_again(running, repository, trainform):
    running.fail(f"{JOBSETS}?watch", Fault(410, "too old"))
    running.when_watched("workloads", lambda: running.fail(JOBSETS, PAGE, LOGIN))
    running.when_watched("jobsets", finish(running, repository))
    assert trainform("status", "--watch").code == 0


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (LOGIN, LEADS_ELSEWHERE),
        (GONE, f"{GONE.message}; see whether JobSet is still installed in this cluster, as jobset.x-k8s.io/v1alpha2"),
    ],
    ids=["redirect", "404"],
)
def test_a_refusal_that_stays_ends_the_watch(running, repository, trainform, monkeypatch, fault, told):
    monkeypatch.setattr(watch, "LONGEST_REFUSAL", 0.05)
    running.fail(f"{JOBSETS}?watch", *[fault] * 1000)
    ran = trainform("status", "--watch")
    assert ran.code == 2
    assert ran.out.startswith(f"{RUNNING}note: the connection was lost, and is tried again: ")
    assert ran.err == f"Error: {told}\n"


def test_without_kueue_jobs_are_followed_all_the_same(running, repository, trainform, monkeypatch):
    """Somebody removes it while jobs run."""
    monkeypatch.setattr(watch, "LONGEST_REFUSAL", 0.0)
    running.put(workload())
    running.fail("/apis/kueue.x-k8s.io/v1beta2/workloads?watch", GONE)

    def play() -> None:
        time.sleep(0.3)  # so that the other watch ends first
        finish(running, repository)()

    running.when_watched("jobsets", play)
    ran = trainform("status", "--watch")
    note = "why jobs are queued is not followed: see whether Workload is still installed in this cluster"
    assert f"note: {note}, as kueue.x-k8s.io/v1beta2\n" in ran.out
    assert (ran.code, ran.out.endswith("1 job in prod: 1 finished\n")) == (0, True)


@pytest.mark.parametrize("fault", [LOGIN, PAGE], ids=["redirect", "404 of a gateway"])
def test_a_refusal_of_what_a_change_makes_it_ask_ends_nothing(running, repository, trainform, fault):
    """Here, which pod failed."""
    repository.write("jobs/more.yaml", job("more"))
    trainform("render")
    running.fail("/api/v1/namespaces/ml/pods", fault)

    def play() -> None:
        running.change(live(repository, "Failed"))
        running.change(live(repository, "Completed", name="more"))

    running.when_watched("jobsets", play)
    ran = trainform("status", "--watch")
    assert ran.code == 1
    assert "note: not everything is known: " in ran.out
    assert "ml/more: not created → finished\n" in ran.out


@pytest.mark.parametrize("event", ['{"type": "SYNC"}', '{"type": "ADDED"}', '{"type": "ADDED", "object": 3}', "{}"])
def test_events_of_any_other_shape_change_nothing(running, repository, trainform, event):
    running.fail(f"{JOBSETS}?watch", Fault(kind="odd", message=event))
    running.when_watched("jobsets", finish(running, repository))
    assert trainform("status", "--watch") == (0, RUNNING + FINISHED, "")


def test_an_event_without_end_is_not_kept(running, repository, trainform, monkeypatch):
    monkeypatch.setattr(watch, "LONGEST_LINE", 1 << 10)
    running.fail(f"{JOBSETS}?watch", Fault(kind="odd", message="x" * (1 << 17)))
    running.when_watched("jobsets", finish(running, repository))
    assert "tried again: an event has more than 0 MiB" in trainform("status", "--watch").out


def test_credentials_that_end_end_the_watch(running, repository, trainform):
    running.fail(f"{JOBSETS}?watch", Fault(401, "token has expired"))
    ran = trainform("status", "--watch")
    assert ran.code == 2
    assert ran.out == RUNNING
    assert "token has expired" in ran.err


def test_who_may_not_watch_jobsets_is_told_the_rule(running, repository, trainform):
    running.deny("jobsets?watch")
    ran = trainform("status", "--watch")
    assert ran.code == 2
    assert 'a role needs {apiGroups: ["jobset.x-k8s.io"], resources: [jobsets], verbs: [watch]}' in ran.err


def test_who_may_not_watch_workloads_follows_jobs_without(running, repository, trainform):
    running.put(workload())
    running.deny("workloads?watch")
    running.when_watched("jobsets", finish(running, repository))
    ran = trainform("status", "--watch")
    assert ran.code == 0
    assert ran.out.endswith("1 job in prod: 1 finished\n")


def test_who_may_list_only_some_namespaces_watches_these(running, repository, trainform):
    message = 'jobsets is forbidden: User "ci" cannot list resource "jobsets" in API group "x" at the cluster scope'
    running.fail(JOBSETS, Fault(403, message))
    running.when_watched("jobsets", finish(running, repository))
    assert trainform("status", "--watch").code == 0
    watched = [seen.path for seen in running.seen if seen.query.get("watch") and seen.path.endswith("jobsets")]
    assert watched == ["/apis/jobset.x-k8s.io/v1alpha2/namespaces/ml/jobsets"]


def test_the_time_may_be_over_before_all_jobs_ended(running, repository, trainform, monkeypatch):
    over: list[bool] = []

    def left(deadline: Deadline) -> float:
        if over:
            raise OutOfTime("")
        return 60

    def play() -> None:
        over.append(True)
        running.change(live(repository))

    monkeypatch.setattr(Deadline, "left", left)
    running.when_watched("jobsets", play)
    assert trainform("status", "--watch", "--timeout", "20") == (1, RUNNING, "not all jobs ended within 20 s\n")


def test_roles_for_a_watch_are_printed(repository, trainform):
    rules = next(yaml.safe_load_all(trainform("status", "--watch", "--rbac").out))["rules"]
    assert {"apiGroups": ["jobset.x-k8s.io"], "resources": ["jobsets"], "verbs": ["watch"]} in rules
    assert {"apiGroups": ["kueue.x-k8s.io"], "resources": ["workloads"], "verbs": ["watch"]} in rules


@pytest.mark.parametrize("form", ["json", "markdown"])
def test_a_watch_prints_text(repository, trainform, form):
    ran = trainform("status", "--watch", "--format", form)
    assert ran.code == 2
    assert "--watch prints text" in ran.err


@pytest.mark.parametrize("command", [["status"], ["facts", "pull"], ["diff", "--live"]], ids=" ".join)
def test_one_deadline_bounds_all_that_a_command_asks(running, repository, trainform, monkeypatch, command):
    """Each page in time, and the whole never."""
    monkeypatch.setattr(client, "ATTEMPTS", 1000)
    for path in ("/apis/jobset.x-k8s.io/v1alpha2", "/api/v1"):
        running.fail(path, *[Fault(429, "slowly", headers=(("Retry-After", "1"),))] * 1000)
    ran = trainform(*command, "--timeout", "1.5")
    assert ran.code == 2
    assert "the cluster did not answer everything within 1.5 s (--timeout)" in ran.err
    assert len(running.seen) < 10


def test_the_deadline_holds_within_an_answer(running, repository, trainform):
    running.fail(JOBSETS, Fault(kind="slow", seconds=20))
    ran = trainform("status", "--timeout", "0.5")
    assert ran.code == 2
    assert "within 0.5 s (--timeout)" in ran.err


def test_a_deadline_is_for_clusters(repository, trainform):
    ran = trainform("diff", "--timeout", "3")
    assert ran.code == 2
    assert "--timeout and --field-manager need --live" in ran.err

"""The table of what is known of jobs: it gives back what was added, whatever jobs share, and survives JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from trainform.review.diff.totals import Ask
from trainform.workspace.cache.index import JobFacts, JobTable, Proof, Table
from trainform.workspace.fingerprint import Cause
from trainform.workspace.lockfile import Pins, RuntimePin

RUNTIME = RuntimePin("ClusterTrainingRuntime", "", "torch", "r1")
PINS = Pins("0.1.0", RUNTIME, "e1", {"a": "1"}, {"ml.x": "k1"}, {"a": "c1"})
BEHIND = (Cause("runtime", "torch", "runtime torch changed"), Cause("compiler", "", "trainform changed"))
ASKS = (Ask("team-a", 2, {"cpu": 10**9}), Ask("team-a", 1, {}))
LLM, VIT, BERT = ("prod", "ml", "llm"), ("prod", "ml", "vit"), ("test", "nlp", "bert")


def facts(name: str, pins: Pins = PINS, proof: Proof = Proof.CURRENT, **found: Any) -> JobFacts:
    return JobFacts(f"jobs/{name}.yaml", (f"jobset-{name}.yaml", "extra.yaml"), pins, proof, **found)


FACTS = {
    LLM: facts("llm", causes=(), asks=ASKS),
    VIT: facts("vit", PINS._replace(environment="e2"), Proof.UNPROVEN, causes=BEHIND, asks=ASKS[:1]),
    BERT: facts("bert", proof=Proof.READ),
}


def table(**changed: JobFacts) -> JobTable:
    found = JobTable()
    for job, known in FACTS.items():
        found.add(job, changed.get(job[2], known))
    return found


def known(of: JobTable) -> dict[tuple[str, str, str], JobFacts]:
    return {job: of[job] for job in of}


def test_a_table_gives_back_what_was_added():
    assert known(table()) == FACTS


def test_a_table_survives_json():
    assert known(JobTable.of_json(json.loads(json.dumps(table().to_json())))) == FACTS


@pytest.mark.parametrize(
    "other",
    [
        PINS._replace(compiler="0.2.0"),
        PINS._replace(runtime=RUNTIME._replace(digest="r2")),
        PINS._replace(environment="e2"),
        PINS._replace(plugins={"a": "2"}),
        PINS._replace(keys={}),
        PINS._replace(plugin_code={"a": "c2"}),
    ],
    ids=Pins._fields,
)
def test_pins_that_differ_in_one_field_are_kept_apart(other):
    found = table(vit=facts("vit", other))
    assert (found.pins(LLM), found.pins(VIT)) == (PINS, other)


def test_equal_pins_are_one_object():
    found = table(vit=facts("vit", Pins(**PINS._asdict())))
    assert found.pins(LLM) is found.pins(VIT)


@pytest.mark.parametrize("other", [(), ASKS[1:], (Ask("team-b", 2, ASKS[0].resources),), (Ask("team-a", 2, {}),)])
def test_requests_that_differ_are_kept_apart(other):
    found = table(llm=facts("llm", asks=ASKS[:1]), vit=facts("vit", asks=other))
    assert (found[LLM].asks, found[VIT].asks) == (ASKS[:1], other)


def test_a_value_is_stored_once_and_none_never():
    found = Table(lambda entry: entry)
    assert [found.place(each) for each in ("a", "b", "a", None)] == [0, 1, 0, -1]
    assert [found.at(place) for place in (0, 1, -1)] == ["a", "b", None]
    assert found.entries == ["a", "b"]


def test_another_table_is_added_with_its_own_places():
    found, other = JobTable(), JobTable()
    found.add(VIT, FACTS[VIT])
    for job in (LLM, BERT):
        other.add(job, FACTS[job])
    found.update(other)
    found.update(JobTable())
    assert known(found) == FACTS


def test_some_jobs_can_be_kept_or_dropped():
    found = table()
    assert known(found.only([VIT])) == {VIT: FACTS[VIT]}
    found.drop(VIT)
    assert VIT not in found
    assert len(found) == 2


def test_what_was_determined_is_told_from_what_was_not():
    found = table()
    assert [found.has_causes(job) for job in (LLM, VIT, BERT)] == [True, True, False]
    assert [found.has_asks(job) for job in (LLM, VIT, BERT)] == [True, True, False]


def test_without_proofs_only_what_the_jobs_own_files_say_is_left():
    found = table()
    found.forget_proofs()
    assert known(found) == {job: each._replace(proof=Proof.READ, causes=None) for job, each in FACTS.items()}


def test_later_facts_of_the_same_state_keep_what_only_the_earlier_ones_know():
    earlier, later = facts("llm", proof=Proof.UNPROVEN, causes=BEHIND, asks=ASKS), facts("llm", proof=Proof.READ)
    assert later.joined(earlier) == earlier.joined(later) == earlier
    assert facts("llm", causes=(), asks=()).joined(earlier) == facts("llm", causes=(), asks=())


def test_each_snapshot_is_counted_with_its_jobs():
    assert table().pinned() == {"r1": 3, "e1": 2, "e2": 1}


def test_jobs_are_behind_by_cause_in_a_fixed_order():
    found = table(llm=facts("llm", causes=BEHIND[:1]))
    assert list(found.behind().items()) == [(BEHIND[1], [VIT]), (BEHIND[0], [LLM, VIT])]


def test_equal_requests_are_counted_by_environment_and_namespace():
    found = table(llm=facts("llm", asks=ASKS[:1]), bert=facts("bert", asks=ASKS))
    assert list(found.asked(FACTS)) == [("prod", "ml", ASKS[0], 2), *(("test", "nlp", ask, 1) for ask in ASKS)]
    assert list(table().asked([BERT])) == []


def test_the_more_thorough_a_check_the_greater_its_proof():
    assert [*Proof] == sorted(Proof) == [Proof.READ, Proof.UNCHANGED, Proof.UNPROVEN, Proof.CURRENT]

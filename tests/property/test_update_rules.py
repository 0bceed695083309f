"""Classes of changes are those of JobSet's webhook and CRD, for any edit of a JobSet."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from trainform.k8s.defaults import admit
from trainform.k8s.schema.validate import check
from trainform.review.diff.compare import compare
from trainform.review.diff.update_rules import class_of, rule

TRUTH = Path(__file__).parents[1] / "conformance" / "truth" / "jobset-updates.json.gz"
BASE = json.loads(gzip.decompress(TRUTH.read_bytes()))["base"]
POLICIES = ("network", "successPolicy", "failurePolicy", "startupPolicy", "volumeClaimPolicies")
FREE = (
    ("metadata", "labels"),
    ("metadata", "annotations"),
    ("spec", "nodeSelector"),
    ("spec", "tolerations"),
    ("spec", "schedulingGates"),
)
STRUCTS = ("metadata", "resources", "status")
NEW = [
    ("metadata", {"labels": {"new": "1"}}),
    ("metadata", {}),
    ("labels", {"new": "1"}),
    ("annotations", {"new": "1"}),
    ("nodeSelector", {"new": "1"}),
    ("tolerations", [{"operator": "Exists"}]),
    ("schedulingGates", [{"name": "new/gate"}]),
    ("resources", {}),
    ("resources", {"limits": {"cpu": "1"}}),
    ("args", ["new"]),
    ("args", []),
    ("hostNetwork", False),
    ("hostNetwork", True),
    ("securityContext", {"runAsNonRoot": True}),
    ("priorityClassName", "new"),
    ("replicas", 2),
    ("suspend", True),
    ("ttlSecondsAfterFinished", 7),
    ("coordinator", {"replicatedJob": "node"}),
    ("startupPolicy", {"startupPolicyOrder": "InOrder"}),
    ("failurePolicy", {"maxRestarts": 9}),
    ("activeDeadlineSeconds", 9),
    ("value", "new"),
    ("image", "new"),
    ("name", "new"),
]


def places(value: Any) -> Iterator[Any]:
    """Every mapping and list below `value`."""
    if isinstance(value, dict | list):
        yield value
        for child in value.values() if isinstance(value, dict) else value:
            yield from places(child)


@st.composite
def edited(draw: st.DrawFn) -> dict[str, Any]:
    """The base after one to three edits: a field or an entry goes, a field is set, a list is reversed."""
    tree: dict[str, Any] = copy.deepcopy(BASE)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.sampled_from(list(places(tree["spec"]))))
        if isinstance(place, list):
            if draw(st.booleans()):
                place.reverse()
            elif place:
                del place[draw(st.integers(0, len(place) - 1))]
        elif place and draw(st.booleans()):
            del place[draw(st.sampled_from(sorted(place)))]
        else:
            field, value = draw(st.sampled_from(NEW))
            place[field] = copy.deepcopy(value)
    return tree


def in_go(value: Any) -> Any:
    """A stored object as Go compares it: a struct that is held by value is there, even if it is empty. A pod's own
    resources are a pointer."""
    if isinstance(value, list):
        return list(map(in_go, value))
    if not isinstance(value, dict):
        return value
    by_value = [each for each in STRUCTS if each != "resources" or "containers" not in value]
    fields = {key: in_go(child) for key, child in value.items()}
    return {key: child for key, child in fields.items() if child != {} or key not in by_value}


def takes(old: dict[str, Any], new: dict[str, Any], *, suspended: bool) -> bool:
    """The webhook's `ValidateUpdate`, and the CRD's rules `self == oldSelf`."""
    before, after = in_go(admit(old))["spec"], in_go(admit(new))["spec"]
    jobs, others = before["replicatedJobs"], copy.deepcopy(after.get("replicatedJobs", []))
    if len(jobs) != len(others):
        return False
    for job, other in zip(jobs, others, strict=True) if suspended else ():
        for part, field in FREE:
            mine, theirs = (each["template"]["spec"]["template"] for each in (job, other))
            theirs.setdefault(part, {}).pop(field, None)
            if field in mine.get(part, {}):
                theirs[part][field] = mine[part][field]
    same = in_go(others) == jobs and before.get("managedBy") == after.get("managedBy")
    return same and all(before[each] == after[each] for each in POLICIES if each in before and each in after)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(new=edited(), suspended=st.booleans())
def test_every_edit_is_classed_as_the_webhook_decides(new: dict[str, Any], suspended: bool) -> None:
    assume(not check("JobSet", new))
    rules = [rule(BASE, change) for change in compare(BASE, new)]
    assert (class_of(rules, suspended=suspended) == "in-place") is takes(BASE, new, suspended=suspended)

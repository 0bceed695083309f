"""Versions of what runs in a cluster."""

import pytest

from trainform.k8s.cluster.releases import of_jobset
from trainform.k8s.versions import Versions, has_change, parse_version


@pytest.mark.parametrize(
    ("text", "shown"),
    [("1.36", "1.36"), ("v1.36.2", "1.36.2"), ("1.33.1-gke.100", "1.33.1"), ("0.19", "0.19"), ("1", "None")],
)
def test_reading_a_version(text, shown):
    assert str(parse_version(text)) == shown


CHANGE = ((0, 17, 6), (0, 18, 2), (0, 19, 0))


@pytest.mark.parametrize(
    ("version", "has"),
    [
        ("0.16.9", False),
        ("0.17.5", False),
        ("0.17.6", True),
        ("0.18", None),
        ("0.18.10", True),
        ("0.19", True),
        ("0.20", True),
        ("1.0", True),
        ("", None),
    ],
)
def test_a_change_that_came_with_several_releases(version, has):
    assert has_change(parse_version(version), *CHANGE) is has


@pytest.mark.parametrize(
    ("spec", "jobset", "path"),
    [
        ({"replicatedJobs": [{"dependsOn": [{"name": "a"}]}]}, "0.7", ("replicatedJobs", 0, "dependsOn")),
        ({"replicatedJobs": [{"dependsOn": [{"name": "a"}]}]}, "0.8", None),
        ({"replicatedJobs": [{"dependsOn": [{}, {}]}]}, "0.8", ("replicatedJobs", 0, "dependsOn")),
        ({"replicatedJobs": [{"groupName": "default"}]}, "0.7", None),
        ({"replicatedJobs": [{"groupName": "workers"}]}, "0.8", ("replicatedJobs", 0, "groupName")),
        ({"volumeClaimPolicies": [{}]}, "0.10", ("volumeClaimPolicies",)),
        ({"volumeClaimPolicies": [{}]}, "0.11", None),
    ],
)
def test_what_a_jobset_needs(spec, jobset, path):
    found = [each.path for each in of_jobset(spec, Versions(jobset=parse_version(jobset)))]
    assert found == ([] if path is None else [path])

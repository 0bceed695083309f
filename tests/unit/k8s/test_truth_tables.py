"""Quantities and pod requests against tables that Kubernetes' own code filled in."""

import gzip
import json
from pathlib import Path

from trainform.k8s.pod_requests import format_requests, pod_requests
from trainform.k8s.quantity import QuantityError, canonical

TRUTH = Path(__file__).parents[2] / "conformance" / "truth"


def table(name):
    return json.loads(gzip.decompress((TRUTH / f"{name}.json.gz").read_bytes()))


def canonical_or_none(text):
    try:
        return canonical(text)
    except QuantityError:
        return None


def test_every_quantity_is_read_and_written_as_kubernetes_does():
    answers = {text: answer["canonical"] for text, answer in table("quantities").items()}
    assert len(answers) == 845
    assert {text: canonical_or_none(text) for text in answers} == answers


def test_every_pod_requests_what_kubernetes_counts():
    pods = table("pod-requests")
    assert len(pods) == 250
    for pod in pods:
        assert format_requests(pod_requests(pod["podSpec"])) == pod["requests"], pod["podSpec"]

"""Every deliberate deviation from the controller."""

from __future__ import annotations

from typing import NamedTuple

from trainform.diagnostics.diagnostic import Severity


class Deviation(NamedTuple):
    """The severity and short title of a deviation."""

    severity: Severity
    title: str


DEVIATIONS: dict[str, Deviation] = {
    "D01": Deviation("info", "declared ports are kept"),
    "D02": Deviation("error", "a job needs at least one node"),
    "D03": Deviation("info", "processes are counted from the final resources"),
    "D04": Deviation("error", "a patch cannot add jobs or containers"),
    "D05": Deviation("info", "a patched volume has one source"),
    "D06": Deviation("error", "one gang scheduler at a time"),
    "D07": Deviation("info", "an MPI job has one launcher"),
    "D08": Deviation("info", "framework variables are set without spec.trainer"),
    "D09": Deviation("warning", "the choice between several GPU resources is fixed"),
    "D12": Deviation("info", "queue labels move from the TrainJob to the JobSet"),
    "D13": Deviation("info", "activeDeadlineSeconds is set on the trainer's Job"),
    "D14": Deviation("info", "MultiKueue dispatches the JobSet"),
    "D15": Deviation("info", "cluster facts come from the repository"),
    "D17": Deviation("info", "host names use the real replicated job and subdomain"),
    "D18": Deviation("info", "limits without requests count for the gang"),
    "D19": Deviation("info", "replicas count for the gang"),
    "D20": Deviation("info", "TorchTune rules use the effective node count"),
    "D21": Deviation("info", "resource claims are merged"),
}
"""Reported deviations. D10 (keys by reference), D11 (no literal `suspend: false`) and D16 (no owner references) apply
to nearly every job and are never reported."""

"""Where trainform differs from the controller on purpose: the only places where it may."""

from __future__ import annotations

from typing import NamedTuple

from trainform.diagnostics.diagnostic import Severity


class Deviation(NamedTuple):
    """How loudly a deviation is told, and what it is about in a few words."""

    severity: Severity
    title: str


DEVIATIONS: dict[str, Deviation] = {
    "D01": Deviation("info", "declared ports are kept"),
    "D02": Deviation("error", "a job needs at least one node"),
    "D03": Deviation("info", "processes are counted from the merged resources"),
    "D04": Deviation("error", "a patch must name what the runtime has"),
    "D05": Deviation("info", "a patched volume has one source"),
    "D06": Deviation("error", "one gang scheduler at a time"),
    "D07": Deviation("info", "an MPI job has one launcher"),
    "D08": Deviation("info", "a job without spec.trainer is set up like any other"),
    "D09": Deviation("warning", "which of several GPU resources counts is fixed"),
    "D12": Deviation("info", "queue labels of the TrainJob move to the JobSet"),
    "D13": Deviation("info", "activeDeadlineSeconds is kept by the trainer's Job"),
    "D14": Deviation("info", "MultiKueue dispatches the JobSet"),
    "D15": Deviation("info", "cluster facts come from the repository"),
    "D17": Deviation("info", "host names follow the real replicated job and subdomain"),
    "D18": Deviation("info", "limits without requests count for the gang"),
    "D19": Deviation("info", "replicas count for the gang"),
    "D20": Deviation("info", "TorchTune's rules read the effective node count"),
    "D21": Deviation("info", "resource claims are merged"),
}
"""Deviations that are reported. D10 (keys by reference), D11 (no literal `suspend: false`) and
D16 (no owner references) hold for nearly every job and are never reported."""

"""Which resources are devices: GPUs, which the controller counts, and other accelerators, which it does not.

A name says it: device plugins of one vendor offer devices (`nvidia.com/gpu`) and, for sharing, parts of one device
(`nvidia.com/gpumem`). Memory, cores and percentages are never devices.
"""

from __future__ import annotations

import re
from functools import lru_cache

_SHARE = re.compile(r"mem|core|percent|ratio|util|flops")
"""In what follows the domain: the sharing plugins of HAMi, Volcano, Alibaba, Tencent, Koordinator and Cambricon."""

_PERCENTAGES = frozenset(["koordinator.sh/gpu"])
"""Shares whose name does not say so: Koordinator writes half of a GPU as 50."""

ACCELERATORS = (
    "nvidia.com/mig-",  # slices, by the device plugin's `mixed` strategy
    "aws.amazon.com/neuron",  # AWS Neuron: `neuron` and `neurondevice` are chips, `neuroncore` is a core by itself
    "google.com/tpu",  # GKE
    "habana.ai/",  # Intel Gaudi
    "huawei.com/ascend",
    "huawei.com/npu",
    "npu.intel.com/",
    "cambricon.com/",
    "enflame.com/",
    "furiosa.ai/",
    "graphcore.ai/",
    "hygon.com/dcu",
    "iluvatar.ai/",
    "kunlunxin.com/",
    "qualcomm.com/qaic",
    "rebellions.ai/",
    "tenstorrent.com/",
)
"""How the names of other accelerators begin, in lower case, as their device plugins register them."""

_WHOLE_CORES = "aws.amazon.com/neuroncore"


def counts_as_gpu(name: str) -> bool:
    """Whether the controller counts a resource as a GPU. Source: kubeflow/trainer `pkg/runtime/runtime.go`."""
    return "gpu" in name.lower()


@lru_cache
def is_gpu(name: str) -> bool:
    """Whether a resource is a whole GPU (D09)."""
    return counts_as_gpu(name) and not _is_part(name)


def is_gpu_share(name: str) -> bool:
    """Whether a resource is a part of one GPU: some of its memory, or of its cores (D09)."""
    return counts_as_gpu(name) and _is_part(name)


@lru_cache
def is_uncounted(name: str) -> bool:
    """Whether a resource is a device that the controller does not count."""
    lower = name.lower()
    return lower.startswith(ACCELERATORS) and not counts_as_gpu(name) and not _is_part(name)


def _is_part(name: str) -> bool:
    lower = name.lower()
    if lower == _WHOLE_CORES:
        return False
    return lower in _PERCENTAGES or _SHARE.search(lower.partition("/")[2] or lower) is not None

"""Advice for a ConfigMapGenerator: what kustomize's has, and ours has not."""

from __future__ import annotations

from trainform.api.advice import Advice, spread

GENERATOR = spread(
    {
        "{literals,env,envs,data,binaryData}": Advice("write a ConfigMap", "data: {KEY: value}"),
        "{name,namespace}": Advice("write metadata.<field>"),
        "options{,.disableNameSuffixHash,.labels,.annotations,.immutable}": Advice(
            "remove it: the name always has a hash; labels and annotations go into metadata"
        ),
        "spec{,.files}": Advice("write files beside metadata", "files: [train.py]"),
    }
)

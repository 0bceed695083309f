"""The lint about access tokens written out in a manifest."""

from __future__ import annotations

import re

from trainform_plugins.lints.finished import Finished

KINDS = {
    "Hugging Face token": r"hf_[A-Za-z0-9]{30,}",
    "AWS access key": r"(?:AKIA|ASIA)[A-Z0-9]{16}",
    "GitHub token": r"gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{40,}",
    "GitLab token": r"glpat-[\w-]{20,}",
    "Google API key": r"AIza[\w-]{35}",
    "OpenAI key": r"sk-(?:proj-)?[A-Za-z0-9_-]{40,}",
    "Slack token": r"xox[abprs]-[A-Za-z0-9-]{20,}",
}
"""How the tokens of a service look."""

TOKEN = re.compile(rf"(?<![A-Za-z0-9_-])(?:{'|'.join(f'({look})' for look in KINDS.values())})(?![A-Za-z0-9_])")
"""Any of them; the number of the group is that of its kind."""


def tokens_in_the_clear(job: Finished) -> None:
    """A token in a variable or a command line is for everybody who may read the repository, the job or its pods.

    Why: git keeps it for ever. Bites: anyone who moves a command line from a notebook to a TrainJob. The message never
    quotes the value.
    """
    for pods, container, at, text in job.texts:
        if token := TOKEN.search(text):
            kind = list(KINDS)[(token.lastindex or 1) - 1]
            job.plan.warn(
                "TF638",
                f"holds what looks like a {kind}, for everybody who may read the repository or the job",
                hint="revoke it, put a new one into a Secret, and read that with valueFrom: {secretKeyRef: …}",
                **job.text(pods, container, at),
            )

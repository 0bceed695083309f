"""Prints the digest of every golden file, for a run under another hash seed."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.golden import compiled, golden_cases
from trainform.testing import files_of

for case in golden_cases():
    for name, text in sorted(files_of(compiled(case)).items()):
        print(f"{case}/{name} {hashlib.sha256(text.encode()).hexdigest()}")

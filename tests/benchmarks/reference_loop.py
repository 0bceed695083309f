"""A fixed piece of work in plain Python: what a machine and an interpreter can do, whatever trainform does.

Its time is the unit of the limits in limits.json: to change it is to measure all of them anew.
"""

from __future__ import annotations

import hashlib
import json


def main() -> None:
    digest = hashlib.sha256()
    for number in range(6_000):
        tree = {f"key-{index}": [number, str(index), {"name": f"n{number}-{index}"}] for index in range(12)}
        text = json.dumps(tree, sort_keys=True)
        lines = [line.strip().upper() for line in text.replace(",", ",\n").splitlines()]
        digest.update("".join(sorted(lines)).encode())
    print(digest.hexdigest())


if __name__ == "__main__":
    main()

"""Renews `digests.json` and prints what changed; the message of the commit says why.

PYTHONPATH=tests .venv/bin/python -m signature.renew
"""

import json
from collections.abc import Iterable
from pathlib import Path

from signature.workload import DIGESTS, WORKLOAD, Work


def renew(file: Path, workload: Iterable[Work]) -> list[str]:
    """Writes the digests of the workload to the file. Returns what is new, changed or gone."""
    old: dict[str, str] = json.loads(file.read_text(encoding="utf-8"))
    new = {work.name: work.run().digest for work in workload}
    file.write_text(json.dumps(new, indent=2) + "\n", encoding="utf-8")
    told = [
        f"{name}: {old[name]} -> {digest}" if name in old else f"{name}: new, {digest}"
        for name, digest in new.items()
        if old.get(name) != digest
    ]
    return told + [f"{name}: gone" for name in old if name not in new]


if __name__ == "__main__":
    for line in renew(DIGESTS, WORKLOAD) or ["no digest has changed"]:
        print(line)

"""One program makes or checks a release, in an environment where only it is installed.

    python benchmarks/peers/driver.py PEER TABLE.csv OUT.csv QUASI,IDENTIFIERS SENSITIVE K HIERARCHIES

Calls ``work`` of the module PEER.py beside this file twice, writes what it released, and prints CPU seconds
of the first call (cold, with all that is loaded and compiled for it) and of the second (warm), and what it
found. Needs pandas and the peer, and nothing of sfumato.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))


def main(peer: str, table: str, out: str, names: str, sensitive: str, k: str, hierarchies: str) -> None:
    work = importlib.import_module(peer).work
    seconds, found = [], None
    for _ in range(2):
        began = time.process_time()
        found = work(table, out, names.split(","), sensitive, int(k), Path(hierarchies))
        seconds.append(time.process_time() - began)
    print(json.dumps({"cold": seconds[0], "warm": seconds[1], "found": found}))


if __name__ == "__main__":
    main(*sys.argv[1:])

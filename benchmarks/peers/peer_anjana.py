"""anjana: a greedy walk through the full-domain recodings, at most 5% of the records suppressed."""

from pathlib import Path

import pandas as pd
from anjana.anonymity import k_anonymity


def work(table: str, out: str, names: list[str], sensitive: str, k: int, hierarchies: Path) -> None:
    frame = pd.read_csv(table, dtype=str)[[*names, sensitive]]
    levels = {}
    for name in names:
        read = pd.read_csv(hierarchies / f"{name}.csv", header=None, dtype=str)
        levels[name] = {level: read[level].to_numpy() for level in read.columns}
    k_anonymity(frame, [], names, k, 5, levels)[[*names, sensitive]].to_csv(out, index=False)

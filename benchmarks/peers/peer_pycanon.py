"""pyCANON: k, l and t of a table."""

from pathlib import Path

import pandas as pd
from pycanon import anonymity


def work(
    table: str, out: str, names: list[str], sensitive: str, k: int, hierarchies: Path
) -> dict[str, float]:
    frame = pd.read_csv(table)
    return {
        "k": int(anonymity.k_anonymity(frame, names)),
        "l": int(anonymity.l_diversity(frame, names, [sensitive])),
        "t": float(anonymity.t_closeness(frame, names, [sensitive])),
    }

"""anonypy: Mondrian. Its rows are lists of values, each with a count for every sensitive value."""

from pathlib import Path

import anonypy
import pandas as pd


def work(table: str, out: str, names: list[str], sensitive: str, k: int, hierarchies: Path) -> None:
    frame = pd.read_csv(table)
    for name in frame.columns:
        if frame[name].dtype.kind not in "if":
            frame[name] = frame[name].astype("category")
    rows = anonypy.Preserver(frame, names, sensitive).anonymize_k_anonymity(k=k)
    released = pd.DataFrame(rows)
    for name in names:
        released[name] = [cell[0] if isinstance(cell, list) else cell for cell in released[name]]
    released.loc[released.index.repeat(released["count"]), [*names, sensitive]].to_csv(out, index=False)

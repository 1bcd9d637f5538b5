"""anonypyx: Mondrian."""

from pathlib import Path

import anonypyx
import pandas as pd


def work(table: str, out: str, names: list[str], sensitive: str, k: int, hierarchies: Path) -> None:
    frame = pd.read_csv(table)
    for name in frame.columns:
        if frame[name].dtype.kind not in "if":
            frame[name] = frame[name].astype("category")
    made = anonypyx.Anonymiser(
        frame, k=k, algorithm="Mondrian", feature_columns=names, sensitive_column=sensitive
    ).anonymise()
    released = pd.DataFrame(made)
    shown = [*names, sensitive]
    for name in shown:
        released[name] = released[name].map(str)
    released.loc[released.index.repeat(released["count"]), shown].to_csv(out, index=False)

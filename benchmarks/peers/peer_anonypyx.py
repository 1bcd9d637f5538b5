"""anonypyx: Mondrian. It tells numbers by two columns, and categories by one for each of their values."""

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
    shown = {
        name: made[[each for each in made.columns if each.startswith(f"{name}_")]]
        .astype(str)
        .agg("".join, axis=1)
        for name in names
    }
    released = pd.DataFrame({**shown, sensitive: made[sensitive]})
    released.loc[released.index.repeat(made["count"])].to_csv(out, index=False)

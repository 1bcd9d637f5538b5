"""sfumato: k, l and t of a table, read as a release."""

from pathlib import Path

import sfumato as sf


def work(
    table: str, out: str, names: list[str], sensitive: str, k: int, hierarchies: Path
) -> dict[str, float]:
    roles = {**dict.fromkeys(names, "quasi-identifying"), sensitive: "sensitive"}
    release = sf.sanitize(sf.read(table), sf.Schema.of(roles), sf.sanitizers.AsIs(), seed=1)
    asked = ["k-anonymity", "distinct-diversity", "t-closeness"]
    found = sf.measure(release, asked)
    return dict(zip("klt", (each.value for each in found), strict=True))

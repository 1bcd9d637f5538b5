"""sfumato: Mondrian."""

from pathlib import Path

import sfumato as sf
from sfumato.workflow.publish.data_files import write_release

NUMBERS = ("age", "day", "income")


def work(table: str, out: str, names: list[str], sensitive: str, k: int, hierarchies: Path) -> None:
    records = sf.read(table)
    attributes = [
        sf.Attribute(name, "quasi-identifying", "numeric" if name in NUMBERS else "categorical")
        for name in names
    ]
    schema = sf.Schema((*attributes, sf.Attribute(sensitive, "sensitive")))
    write_release(sf.sanitize(records, schema, sf.sanitizers.Mondrian(sf.models.KAnonymity(k)), seed=1), out)

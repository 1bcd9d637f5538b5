"""sfumato: the optimal full-domain recoding, at most 5% of the records suppressed."""

from pathlib import Path

import sfumato as sf
from sfumato.searches.lattice.optimum import optimal_node
from sfumato.workflow.publish.data_files import write_release


def work(table: str, out: str, names: list[str], sensitive: str, k: int, hierarchies: Path) -> None:
    records, model = sf.read(table), sf.models.KAnonymity(k)
    attributes = [
        sf.Attribute(
            name, "quasi-identifying", hierarchy=sf.Hierarchy.read(hierarchies / f"{name}.csv", separator=",")
        )
        for name in names
    ]
    schema = sf.Schema((*attributes, sf.Attribute(sensitive, "sensitive")))
    best = optimal_node(records, schema, model, suppression=0.05)
    write_release(
        sf.sanitize(records, schema, sf.sanitizers.FullDomain(best.levels, model, suppression=0.05), seed=1),
        out,
    )

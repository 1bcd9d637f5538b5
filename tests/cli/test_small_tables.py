"""`explore` and `frontier` say first that a table is too small for its quasi-identifiers."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from tests.cli.conftest import Run


def project_of(n_records: int, folder: Path) -> Path:
    rng = random.Random(1)
    rows = [
        f"{rng.choice('fm')},{rng.randrange(20, 80)},{rng.choice('abcd')},{rng.choice('xyz')}"
        for _ in range(n_records)
    ]
    (folder / "people.csv").write_text("\n".join(["sex,age,town,ill", *rows]), "utf-8")
    project = folder / "people.toml"
    project.write_text(
        """
policy.recipient = "public"
[data]
path = "people.csv"
[attributes]
sex = { role = "quasi-identifying" }
age = { role = "quasi-identifying", kind = "numeric" }
town = { role = "quasi-identifying" }
ill = { role = "sensitive" }
[[candidates]]
sanitizer = "suppress-quasi-identifiers"
[[candidates]]
sanitizer = "mondrian"
model = { k-anonymity = { k = [2, 3] } }
[measure]
privacy = ["k-anonymity"]
utility = ["general-loss"]
""",
        "utf-8",
    )
    return project


@pytest.mark.parametrize(("n_records", "is_small"), [(40, True), (400, False)])
def test_the_first_line_says_that_a_table_is_small_and_what_would_help(
    n_records: int, is_small: bool, tmp_path: Path, sfumato: Run
) -> None:
    project = project_of(n_records, tmp_path)
    for command in ("explore", "frontier"):
        code, out, _ = sfumato(command, project)
        assert code == 0
        said = out.strip().splitlines()[0].startswith("40 records are few for 3 quasi-identifiers")
        assert said == is_small
        _, out, _ = sfumato(command, project, "--json")
        assert bool(json.loads(out)["too-small"]) == is_small

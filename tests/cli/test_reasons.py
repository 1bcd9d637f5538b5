"""What does not apply is said where somebody looks, and an empty frontier is no success."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

Run = Callable[..., tuple[int, str, str]]

PROJECT = """
policy.recipient = "none"
[data]
path = "people.csv"
[attributes.age]
role = "quasi-identifying"
kind = "numeric"
[attributes.illness]
role = "sensitive"
[[candidates]]
sanitizer = "as-is"
[[candidates]]
sanitizer = "suppress-quasi-identifiers"
[measure]
privacy = ["privacy-loss", "k-anonymity"]
utility = ["{first}", "general-loss"]
"""


def project_with(first: str, folder: Path) -> Path:
    """Write a project about 40 people of 40 ages: no age is that of a large population."""
    rows = [f"{20 + number},{'flu' if number % 3 else 'gout'}" for number in range(40)]
    (folder / "people.csv").write_text("\n".join(["age,illness", *rows]) + "\n", encoding="utf-8")
    written = folder / "people.toml"
    written.write_text(PROJECT.replace("{first}", first), encoding="utf-8")
    return written


REASON = "no population holds 0.05 of the records; lower minimum-support"


def test_an_empty_frontier_is_an_exit_code_with_reason_and_remedy(tmp_path: Path, sfumato: Run) -> None:
    project = project_with("utility-loss", tmp_path)
    remedy = "`sfumato frontier people.toml --axis 'privacy-loss' --axis 'general-loss'`"
    for arguments in (("explore", project, "--workers", 1), ("frontier", project)):
        code, out, errors = sfumato(*arguments)
        assert code == 3
        assert f"utility-loss: not applicable: {REASON}" in out
        said = errors.splitlines()[-1]
        assert said.startswith(
            "sfumato: the frontier is empty: no candidate has a figure on privacy-loss and"
        )
        assert f"; utility-loss: {REASON}; " in said
        assert said.endswith(remedy)
    code, out, errors = sfumato("frontier", project, "--axis", "privacy-loss", "--axis", "general-loss")
    assert code == 0, errors
    assert "2 efficient of 2 candidates" in out


def test_pipelines_get_the_facts_and_the_exit_code_of_an_empty_frontier(tmp_path: Path, sfumato: Run) -> None:
    project = project_with("utility-loss", tmp_path)
    code, out, _ = sfumato("explore", project, "--workers", 1, "--json")
    assert (code, json.loads(out)["efficient"]) == (3, [])
    code, out, _ = sfumato("frontier", project, "--json")
    assert (code, len(json.loads(out)["candidates"])) == (3, 2)


def test_a_measure_that_applies_to_some_candidates_is_said_with_their_number(
    tmp_path: Path, sfumato: Run
) -> None:
    project = project_with("discernibility", tmp_path)
    with project.open("a", encoding="utf-8") as more:
        more.write('[[candidates]]\nsanitizer = "suppress-sensitive"\n')
    assert sfumato("explore", project, "--workers", 1)[0] == 0
    code, out, _ = sfumato("frontier", project)
    assert code == 0
    (line,) = [line for line in out.splitlines() if "not applicable" in line]
    assert (
        "discernibility and general-loss: not applicable to 1 of 3 candidates: 'illness' is withheld" in line
    )


def test_nothing_is_said_where_every_measure_applies(tmp_path: Path, sfumato: Run) -> None:
    project = project_with("total-loss", tmp_path)
    code, out, _ = sfumato("explore", project, "--workers", 1)
    assert code == 0
    assert "not applicable" not in out


def test_a_question_about_what_nobody_may_learn_needs_a_sensitive_attribute(
    tmp_path: Path, sfumato: Run
) -> None:
    project = project_with("total-loss", tmp_path)
    nobody = project.read_text("utf-8").replace('"sensitive"', '"insensitive"')
    project.write_text(nobody.replace('"privacy-loss", ', ""), encoding="utf-8")
    assert sfumato("explore", project, "--workers", 1)[0] == 0
    for more in ((), ("--measure",)):
        code, _, errors = sfumato("ask", "min loss where l >= 3", "-P", project, *more)
        assert code == 3
        assert errors.splitlines()[-1] == (
            "sfumato: probabilistic-diversity speaks of a sensitive attribute, and people.toml has none; "
            'give one role = "sensitive" and explore again'
        )
    assert sfumato("ask", "max k where loss <= 100%", "-P", project)[0] == 0

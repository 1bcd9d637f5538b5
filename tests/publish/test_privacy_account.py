"""What the releases of a project spend together: entered, added up, limited, and never lost."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner

from sfumato import sanitize
from sfumato.interfaces.cli import cli
from sfumato.registry.recipe import Recipe
from sfumato.results.candidate import Candidate
from sfumato.results.frontier import Frontier
from sfumato.runtime.errors import PolicyNotMet, UserError
from sfumato.sanitizers import MST, AsIs
from sfumato.sanitizers.synthesize.noisy_counts import epsilon_of, rho_of
from sfumato.workflow.project.project_file import Project
from sfumato.workflow.publish.privacy_account import (
    Entry,
    Spending,
    account_lines,
    account_path,
    entered,
    entries_of,
)
from sfumato.workflow.publish.publication_request import Evidence, PublicationRequest
from sfumato.workflow.publish.publish import publish_candidate
from sfumato.workflow.store.provenance import source_of
from sfumato.workflow.store.store import Store

TOML = """
[data]
path = "people.csv"
[dp]
people-at-most = 1000
{limit}
[attributes.age]
role = "quasi-identifying"
kind = "numeric"
hierarchy = {{ intervals = [10, 20] }}
public = {{ whole = true, bounds = [0, 100] }}
[attributes.ill]
role = "sensitive"
kind = "categorical"
[measure]
privacy = ["epsilon"]
utility = ["utility-loss"]
[policy]
recipient = "none"
[[candidates]]
sanitizer = "mst"
"""


def project(folder: Path, limit: str = "") -> Project:
    rows = [f"{20 + row % 60},{'flu' if row % 3 else 'cold'}" for row in range(600)]
    (folder / "people.csv").write_text("\n".join(["age,ill", *rows, ""]), encoding="utf-8")
    (folder / "people.toml").write_text(TOML.format(limit=limit), encoding="utf-8")
    return Project.load(folder / "people.toml")


def published(described: Project, name: str, how: object) -> None:
    table, schema = described.read()
    recipe = Recipe.of(how, seed=1)
    candidate = Candidate("c0ffee00", recipe)
    evidence = Evidence(Frontier((candidate,), described.axes))
    request = PublicationRequest(described.path.parent / name, evidence=evidence)
    publish_candidate(described, table, schema, candidate, request)


def entry(identity: str, epsilon: float = 1.0, delta: float = 1e-6) -> Entry:
    return Entry(
        id=identity,
        when="",
        folder="out",
        candidate="c",
        epsilon=epsilon,
        delta=delta,
        rho=rho_of(epsilon, delta / 2),
        unit="record",
    )


def test_many_releases_spend_less_than_the_plain_sum_and_never_more() -> None:
    one, many = Spending.of([entry("a")]), Spending.of([entry(str(n)) for n in range(16)])
    assert (one.epsilon, one.delta) == (1.0, 1e-6)
    assert many.rho == pytest.approx(16 * rho_of(1.0, 0.5e-6))
    assert many.epsilon == pytest.approx(epsilon_of(16 * rho_of(1.0, 0.5e-6), 8e-6))
    assert 1.0 < many.epsilon < 16.0
    assert many.delta == pytest.approx(16e-6)


def test_what_was_published_is_entered_and_outlives_the_store(tmp_path: Path) -> None:
    described = project(tmp_path)
    for number in range(2):
        published(described, f"out-{number}", MST(1.0))
    published(described, "plain", AsIs())
    described.store_path.unlink(missing_ok=True)
    assert [each.folder for each in entries_of(described)] == ["out-0", "out-1"]
    before, this, total = account_lines(described)
    assert before.startswith("before: epsilon 1, delta 1e-06, rho 0.0")
    assert this.startswith("this release: epsilon 1, ")
    assert total.startswith("in total: epsilon 1.4")
    assert total.endswith("(per record)")


def test_a_release_beyond_the_limit_is_refused_and_nothing_is_entered(tmp_path: Path) -> None:
    described = project(tmp_path, "limit = { epsilon = 1.6, delta = 1e-5 }")
    for number in range(2):
        published(described, f"out-{number}", MST(1.0))
    with pytest.raises(
        PolicyNotMet, match=r"would spend epsilon 1\.[78].* together, and \[dp\] limit allows epsilon"
    ):
        published(described, "out-2", MST(1.0))
    assert not (tmp_path / "out-2").exists()
    assert len(entries_of(described)) == 2
    with pytest.raises(PolicyNotMet, match="allows delta = 1e-05"):
        published(described, "out-3", MST(0.01, delta=1e-5))


def test_a_publication_that_fails_is_withdrawn(tmp_path: Path) -> None:
    described = project(tmp_path)
    (tmp_path / "out").mkdir()
    with pytest.raises(UserError, match="exists already"):
        published(described, "out", MST(1.0))
    table, schema = described.read()
    release = sanitize(table, schema, MST(1.0))
    with suppress(KeyboardInterrupt), entered(described, release, "c", tmp_path / "later"):
        assert len(entries_of(described)) == 1
        raise KeyboardInterrupt
    assert entries_of(described) == ()


def test_two_publishers_at_once_cannot_pass_the_limit_together(tmp_path: Path) -> None:
    described = project(tmp_path, "limit = { epsilon = 3.1 }")
    table, schema = described.read()
    release = sanitize(table, schema, MST(1.0))
    refused = []

    def publisher(number: int) -> None:
        try:
            with entered(described, release, str(number), tmp_path / str(number)):
                pass
        except PolicyNotMet:
            refused.append(number)

    threads = [threading.Thread(target=publisher, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    kept = entries_of(described)
    assert len(kept) + len(refused) == 16
    assert Spending.of(kept).epsilon <= 3.1 < Spending.of([*kept, kept[0]]).epsilon


def test_a_damaged_account_stops_a_publication(tmp_path: Path) -> None:
    described = project(tmp_path)
    account_path(described).write_text('{"epsilon": 1}\n', encoding="utf-8")
    with pytest.raises(UserError, match=r"people\.privacy\.jsonl: line 1 is damaged"):
        published(described, "out", MST(1.0))


def test_the_command_shows_what_was_spent_and_ends_with_2_beyond_the_limit(tmp_path: Path) -> None:
    described = project(tmp_path, "limit = { epsilon = 1.2 }")
    place = str(described.path)
    run = CliRunner()
    assert run.invoke(cli, ["explore", place, "--workers", "1"]).exit_code == 0
    with Store(described.store_path) as store:
        (identity,) = [each.id for each in store.candidates(source_of(*described.read()))]
    done = run.invoke(cli, ["publish", identity, str(tmp_path / "one"), "-P", place])
    assert done.exit_code == 0, done.output
    assert "Spent of privacy, by people.privacy.jsonl:" in done.output
    assert "in total: epsilon 1, delta" in done.output
    again = run.invoke(cli, ["publish", identity, str(tmp_path / "two"), "-P", place])
    assert isinstance(again.exception, PolicyNotMet) or again.exit_code == 2
    assert not (tmp_path / "two").exists()

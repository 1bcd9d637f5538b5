"""The report by reviewers' templates: the same figures, marked gaps, and nothing of the original."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.report.marks_reader import without_marks

import sfumato as sf
from sfumato.data.schema import Role
from sfumato.interfaces.cli import run
from sfumato.runtime.errors import UserError
from sfumato.sanitizers.base import Sanitizer
from sfumato.verification.documents import numeral, read_manifest
from sfumato.verification.folder import PROFILES
from sfumato.workflow.project.project_file import Publication
from sfumato.workflow.report.bands import band_words

SAID = Publication(
    title="People & others",
    purpose="Research on <b>income</b>",
    recipients="The public",
    safeguards="Terms of use",
    steward="A. Keeper",
)
MAKERS: dict[str, Sanitizer] = {
    "as it is": sf.sanitizers.AsIs(),
    "mondrian": sf.sanitizers.Mondrian(sf.models.KAnonymity(3) & sf.models.DistinctDiversity(2)),
    "with records left out": sf.sanitizers.FullDomain(
        {"zip": 2, "age": 1, "sex": 0}, sf.models.KAnonymity(2), suppression=0.9
    ),
    "all withheld": sf.sanitizers.SuppressQuasiIdentifiers(),
    "nothing sensitive": sf.sanitizers.SuppressSensitive(),
    "two tables": sf.sanitizers.Anatomy(2),
}


def pages_of(folder: Path) -> dict[str, str]:
    return {name: without_marks((folder / f"report-{name}.html").read_text("utf-8")) for name in PROFILES}


def same_class(n_records: int, role: Role = "sensitive") -> sf.Release:
    """Return a release of one class of so many records."""
    table = sf.Table.from_arrow(
        {"age": [1] * n_records, "ill": ["a", "b"] * (n_records // 2) + ["c"] * (n_records % 2)}
    )
    return sf.sanitize(table, sf.Schema.of(age="quasi-identifying", ill=role), sf.sanitizers.AsIs())


def plain(page: str) -> str:
    """Return the text of a page on one line."""
    body = page[page.index("<body") :]
    return " ".join(re.sub(r"<[^>]+>", " ", body).split())


@pytest.mark.parametrize("how", MAKERS)
def test_every_profile_of_every_type_of_release_is_written_and_verified(how: str, tmp_path: Path) -> None:
    release = sf.sanitize(*sf.datasets.hospital(), MAKERS[how])
    sf.publish(release, tmp_path / "out", profiles=PROFILES, policy="none", allow_singling_out=True)
    assert sf.verify(tmp_path / "out").holds
    for page in pages_of(tmp_path / "out").values():
        assert "<script" not in page
        gaps = page.count('<span class="gap">')
        assert gaps > 5
        assert f"<strong>{gaps} places are left for a person to fill.</strong>" in page


def test_a_table_without_quasi_identifiers_or_sensitive_attributes_has_its_profiles(tmp_path: Path) -> None:
    table = sf.Table.from_arrow({"a": ["x", "y"], "b": ["1", "2"]})
    for number, schema in enumerate(
        [sf.Schema.of(a="insensitive", b="insensitive"), sf.Schema.of(a="sensitive", b="quasi-identifying")]
    ):
        folder = tmp_path / str(number)
        sf.publish(
            sf.sanitize(table, schema, sf.sanitizers.AsIs()),
            folder,
            profiles=PROFILES,
            policy="none",
            allow_singling_out=True,
        )
        assert sf.verify(folder).holds


class TestGaps:
    def test_what_is_stated_leaves_none(self, tmp_path: Path) -> None:
        release = same_class(12)
        sf.publish(release, tmp_path / "bare", profiles=PROFILES, policy="none", allow_singling_out=True)
        sf.publish(
            release,
            tmp_path / "said",
            why="because",
            publication=SAID,
            profiles=PROFILES,
            policy="none",
            allow_singling_out=True,
        )
        for name, page in pages_of(tmp_path / "said").items():
            bare = without_marks((tmp_path / "bare" / f"report-{name}.html").read_text("utf-8"))
            assert page.count('class="gap"') <= bare.count('class="gap"') - 3
            assert "Research on &lt;b&gt;income&lt;/b&gt;" in page

    def test_say_who_fills_them(self, tmp_path: Path) -> None:
        sf.publish(
            same_class(12),
            tmp_path / "out",
            profiles=["hipaa", "ema"],
            policy="none",
            allow_singling_out=True,
        )
        page = without_marks((tmp_path / "out" / "report-hipaa.html").read_text("utf-8"))
        assert "To be filled in by the expert:</strong> who makes the determination" in page
        page = without_marks((tmp_path / "out" / "report-ema.html").read_text("utf-8"))
        assert "To be filled in by the data controller:</strong>" in page

    def test_no_page_says_that_a_template_is_satisfied(self, tmp_path: Path) -> None:
        sf.publish(
            same_class(12),
            tmp_path / "out",
            publication=SAID,
            profiles=PROFILES,
            policy="none",
            allow_singling_out=True,
        )
        for page in pages_of(tmp_path / "out").values():
            assert "It does not say that the template's requirements are met" in plain(page)
            assert not re.search("complian|conform|certified|is anonymous", plain(page))


class TestFigures:
    @pytest.mark.parametrize(
        ("n_records", "verdict", "words"),
        [
            (12, "met", "at most 0.09"),
            (11, "met", "one in eleven, 0.0909, which 0.09 stands for; a little above 0.09 by its digits"),
            (10, "broken", "more than 0.09"),
        ],
    )
    def test_nine_percent_is_one_in_eleven(
        self, tmp_path: Path, n_records: int, verdict: str, words: str
    ) -> None:
        sf.publish(
            same_class(n_records), tmp_path / "out", profiles=["ema"], policy="none", allow_singling_out=True
        )
        page = without_marks((tmp_path / "out" / "report-ema.html").read_text("utf-8"))
        assert f'<span class="verdict {verdict}">{words}</span>' in page

    def test_each_variable_has_its_technique(self, tmp_path: Path) -> None:
        table, schema = sf.datasets.hospital()
        release = sf.sanitize(
            table, schema, sf.sanitizers.FullDomain({"zip": 2, "age": 1, "sex": 1}, sf.models.KAnonymity(1))
        )
        sf.publish(release, tmp_path / "out", profiles=["ema"], policy="none", allow_singling_out=True)
        page = without_marks((tmp_path / "out" / "report-ema.html").read_text("utf-8"))
        rows = re.findall(r'<th scope="row"><code>([a-z]+)</code></th><td>([^<]+)</td><td[^>]*>([^<]+)', page)
        assert {name: technique for name, _, technique in rows} == {
            "name": "removed",
            "zip": "generalised",
            "age": "generalised",
            "sex": "withheld",
            "diagnosis": "retained",
        }

    def test_values_that_are_exchanged_within_groups_are_not_called_retained(self, tmp_path: Path) -> None:
        sf.publish(
            sf.sanitize(*sf.datasets.hospital(), sf.sanitizers.Anatomy(2)),
            tmp_path / "out",
            profiles=["ema"],
            policy="none",
            allow_singling_out=True,
        )
        page = without_marks((tmp_path / "out" / "report-ema.html").read_text("utf-8"))
        assert "exchanged within groups of records" in page

    def test_the_threshold_of_the_policy_stands_beside_the_risk(self, tmp_path: Path) -> None:
        policy = {"reidentification-risk": sf.Limit(at_most=0.2)}
        sf.publish(same_class(12), tmp_path / "out", policy=policy, profiles=["ema"])
        said = plain(without_marks((tmp_path / "out" / "report-ema.html").read_text("utf-8")))
        assert "Threshold of the publisher's policy at most 20%" in said
        assert "Residual , in the published table 8.33% 8.33%" in said
        assert "The threshold of the policy is met" in said

    def test_wp216_counts_who_is_singled_out(self, tmp_path: Path) -> None:
        table = sf.Table.from_arrow({"age": [1, 1, 1, 2, 3], "visit": list("vwxyy"), "ill": list("abaab")})
        schema = sf.Schema.of(age="quasi-identifying", visit="insensitive", ill="sensitive")
        sf.publish(
            sf.sanitize(table, schema, sf.sanitizers.AsIs()),
            tmp_path / "out",
            profiles=["wp216"],
            policy="none",
            allow_singling_out=True,
        )
        said = plain(without_marks((tmp_path / "out" / "report-wp216.html").read_text("utf-8")))
        assert "2 records are alone with their values of age : they can be singled out" in said
        assert "visit 3 of 5 records (60%)" in said
        assert "visit with ill 5 of 5 records (100%)" in said

    def test_nist_names_the_unit_and_claims_no_differential_privacy(self, tmp_path: Path) -> None:
        sf.publish(
            same_class(12), tmp_path / "out", profiles=["nist"], policy="none", allow_singling_out=True
        )
        said = plain(without_marks((tmp_path / "out" / "report-nist.html").read_text("utf-8")))
        assert "Unit of privacy One record of the table: every model and figure" in said
        assert "whether a person can have several records" in said
        assert "Differential privacy Not claimed. There is no epsilon and no delta" in said

    def test_nist_counts_people_where_some_have_several_records(self, tmp_path: Path) -> None:
        table = sf.Table.from_arrow({"who": list("aabbcc"), "age": [1] * 6, "ill": list("xyxyxy")})
        schema = sf.Schema.of(who="identifying", age="quasi-identifying", ill="sensitive")
        release = sf.sanitize(table, replace(schema, person="who"), sf.sanitizers.AsIs())
        sf.publish(release, tmp_path / "out", profiles=["nist"], policy="none", allow_singling_out=True)
        said = plain(without_marks((tmp_path / "out" / "report-nist.html").read_text("utf-8")))
        assert "Unit of privacy One person: models count people unverified claim by the publisher" in said
        assert "One person, one record? Some people have several records." in said

    @pytest.mark.parametrize("pseudonym", [False, True])
    def test_wp216_tells_of_pseudonyms_that_link_the_records_of_one_person(
        self, tmp_path: Path, pseudonym: bool
    ) -> None:
        table = sf.Table.from_arrow({"who": list("aabbcc"), "age": [1] * 6, "ill": list("xyxyxy")})
        schema = sf.Schema.of(who="identifying", age="quasi-identifying", ill="sensitive")
        people = replace(schema, person="who", pseudonym=pseudonym)
        sf.publish(
            sf.sanitize(table, people, sf.sanitizers.AsIs()),
            tmp_path / "out",
            profiles=["wp216"],
            policy="none",
            allow_singling_out=True,
        )
        said = plain(without_marks((tmp_path / "out" / "report-wp216.html").read_text("utf-8")))
        assert ("records of one person carry the same pseudonym" in said) == pseudonym
        assert ("no number is added to a record" in said) != pseudonym

    def test_iso_lists_only_attacks_that_were_tried(self, tmp_path: Path) -> None:
        sf.publish(
            same_class(12),
            tmp_path / "out",
            [{"journalist-risk": {"population-size": 1200}}],
            profiles=["iso-27559"],
            policy="none",
            allow_singling_out=True,
        )
        said = plain(without_marks((tmp_path / "out" / "report-iso-27559.html").read_text("utf-8")))
        assert "The journalist" in said
        assert "No attack was simulated" in said


class TestTheRiskOfTheOriginal:
    def test_is_told_as_a_band_that_holds_it(self, tmp_path: Path) -> None:
        table = sf.Table.from_arrow({"age": [1, 1, 1, 2, 2, 2, 2], "ill": list("abababa")})
        schema = sf.Schema.of(age="quasi-identifying", ill="sensitive")
        release = sf.sanitize(table, schema, sf.sanitizers.SuppressQuasiIdentifiers())
        sf.publish(release, tmp_path / "out", profiles=["ema"], policy="none", allow_singling_out=True)
        told = read_manifest(tmp_path / "out").unverified.initial
        assert told is not None
        for band, risk in ((told.worst, 1 / 3), (told.average, 2 / 7)):
            low, high = numeral(band.low), numeral(band.high)
            assert low <= risk <= high
            assert high / low > 1.5
        assert band_words("reidentification-risk", told.worst) in without_marks(
            (tmp_path / "out" / "report-ema.html").read_text("utf-8")
        )

    def test_is_not_told_where_no_profile_asks(self, tmp_path: Path) -> None:
        sf.publish(same_class(12), tmp_path / "out", policy="none", allow_singling_out=True)
        assert read_manifest(tmp_path / "out").unverified.initial is None


class TestAsking:
    def test_for_one_that_does_not_exist_is_one_line(self, tmp_path: Path) -> None:
        with pytest.raises(UserError, match=r"^profiles: cannot be 'hippa'; did you mean 'hipaa'\?$"):
            sf.publish(
                same_class(12), tmp_path / "out", profiles=["hippa"], policy="none", allow_singling_out=True
            )
        assert not (tmp_path / "out").exists()

    def test_twice_and_in_any_order_is_once_in_the_usual_order(self, tmp_path: Path) -> None:
        said = Publication(profiles=["wp216", "ema"])
        sf.publish(
            same_class(12),
            tmp_path / "out",
            publication=said,
            profiles=["nist", "ema"],
            policy="none",
            allow_singling_out=True,
        )
        assert read_manifest(tmp_path / "out").profiles == ["ema", "nist", "wp216"]

    def test_by_the_project_file_and_by_the_command(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (tmp_path / "p.csv").write_text("age,ill\n" + "1,a\n2,b\n" * 6, "utf-8")
        (tmp_path / "p.toml").write_text(
            'policy.recipient = "none"\n[data]\npath = "p.csv"\n[publication]\nprofiles = ["wp216"]\n'
            '[attributes.age]\nrole = "quasi-identifying"\n[attributes.ill]\nrole = "sensitive"\n'
            '[[candidates]]\nsanitizer = "as-is"\n',
            "utf-8",
        )
        assert run(["explore", str(tmp_path / "p.toml")]) == 0
        capsys.readouterr()
        assert run(["frontier", str(tmp_path / "p.toml"), "--json"]) == 0
        identity = re.findall(r'"id": "([0-9a-f]+)"', capsys.readouterr().out)[0]
        folder = tmp_path / "out"
        asked = ["publish", identity, str(folder), "-P", str(tmp_path / "p.toml"), "--profile", "ema"]
        assert run(asked) == 0
        assert {path.name for path in folder.glob("report-*")} == {"report-ema.html", "report-wp216.html"}
        assert '<a href="report-ema.html">' in (folder / "report.html").read_text("utf-8")
        assert run(["verify", str(folder)]) == 0

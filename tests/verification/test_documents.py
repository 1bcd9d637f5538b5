"""Documents are read strictly: what nobody reads could say anything."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.runtime.errors import CannotTell, VerificationFailed
from sfumato.verification import documents
from sfumato.verification.documents import (
    FORMAT,
    READERS,
    Claimed,
    LimitFacts,
    canonical,
    json_text,
    numeral,
    read_json,
    read_manifest,
)


def read(folder: Path, text: str | bytes) -> Any:
    (folder / "some.json").write_bytes(text.encode() if isinstance(text, str) else text)
    return read_json(folder, "some.json")


def test_what_is_written_reads_back(tmp_path: Path) -> None:
    document = {"b": 1.5, "a": ["ü", None, True], "empty": {}}
    assert read(tmp_path, json_text(document)) == document
    assert json_text(document).endswith("}\n")
    assert '"ü"' in json_text(document)
    assert json_text({"a": 1}) == '{\n  "a": 1\n}\n'
    with pytest.raises(ValueError, match="JSON compliant"):
        json_text({"a": math.nan})


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 1}',
        '[{"a": {"b": 1, "b": 2}}]',
        '{"a": NaN}',
        '{"a": Infinity}',
        '{"a": -Infinity}',
        '{"a": 1e999}',
        '{"a": -1e999}',
        '{"a": 1} 2',
        "{'a': 1}",
        "",
        b'{"a": "\xff"}',
        '{"a": 1' + "0" * 309 + "}",
        '{"a": -1' + "0" * 309 + "}",
        '{"a": ["x", "\\ud800"]}',
        '{"\\udc00": 1}',
        "[" * 100_000,
    ],
)
def test_what_publish_does_not_write_is_damaged(tmp_path: Path, text: str | bytes) -> None:
    with pytest.raises(VerificationFailed, match=r"^some\.json is damaged"):
        read(tmp_path, text)


def test_numbers_are_read_as_they_are(tmp_path: Path) -> None:
    assert read(tmp_path, '{"a": 1e300, "b": -0.25, "c": 7}') == {"a": 1e300, "b": -0.25, "c": 7}
    assert read(tmp_path, "[-12345678901234567890]") == [-12345678901234567890]


def test_a_character_may_be_written_as_its_two_halves(tmp_path: Path) -> None:
    assert read(tmp_path, '["\\ud83d\\ude00"]') == ["\U0001f600"]


def test_a_document_has_a_largest_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "_LARGEST_FILE", 8)
    assert read(tmp_path, '{"a": 1}') == {"a": 1}
    with pytest.raises(VerificationFailed, match="larger than any"):
        read(tmp_path, '{"a": 12}')


def test_a_manifest_of_a_million_claims_would_be_read() -> None:
    """And none that would fill the memory."""
    assert 60 * 10**6 <= documents._LARGEST_FILE <= 10**8


def test_what_is_signed_depends_on_neither_blanks_nor_order() -> None:
    assert canonical({"b": [1, 2], "a": "ü"}) == canonical({"a": "ü", "b": [1, 2]})
    assert canonical({"b": [1, 2], "a": "ü"}) == '{"a":"ü","b":[1,2]}'.encode()
    with pytest.raises(ValueError, match="JSON compliant"):
        canonical({"a": math.inf})


def test_infinity_is_written_as_text() -> None:
    assert (numeral("Infinity"), numeral("-Infinity"), numeral(3)) == (math.inf, -math.inf, 3.0)
    for text in ("3", "inf", "NaN", ""):
        with pytest.raises(VerificationFailed, match="written as a text"):
            numeral(text)


def claimed(measure: str, parameters: dict[str, Any], attribute: str | None = None) -> Claimed:
    return Claimed(
        measure=measure,
        parameters=parameters,
        attribute=attribute,
        value=0.1,
        axis="privacy",
        better="lower",
        applicable=True,
        interval=None,
        baseline=None,
        detail={},
    )


def test_a_limit_without_parameters_applies_to_all() -> None:
    every = LimitFacts(measure="privacy-loss", parameters=None, at_least=None, at_most=0.1)
    assert every.applies_to(claimed("privacy-loss", {"threshold": 0.2}))
    assert not every.applies_to(claimed("general-loss", {"threshold": 0.2}))
    one = LimitFacts(measure="privacy-loss", parameters={"threshold": 0.2}, at_least=None, at_most=0.1)
    assert one.applies_to(claimed("privacy-loss", {"threshold": 0.2}))
    assert not one.applies_to(claimed("privacy-loss", {"threshold": 0.3}))
    assert not one.applies_to(claimed("general-loss", {"threshold": 0.2}))


def test_a_limit_on_one_attribute_applies_to_it_and_to_the_worst_of_all() -> None:
    one = LimitFacts(measure="t-closeness", parameters=None, at_least=None, at_most=0.1, attribute="work")
    assert one.applies_to(claimed("t-closeness", {}, "work"))
    assert one.applies_to(claimed("t-closeness", {}))
    assert not one.applies_to(claimed("t-closeness", {}, "ill"))


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("manifest") / "out"
    table = sf.Table.from_arrow({"age": [1, 1, 2, 2], "ill": ["x", "y", "x", "y"]})
    schema = sf.Schema.of(age="quasi-identifying", ill="sensitive")
    sf.publish(
        sf.sanitize(table, schema, sf.sanitizers.AsIs()), folder, policy="none", allow_singling_out=True
    )
    return json.loads((folder / "manifest.json").read_text("utf-8"))


class TestManifest:
    def problem(self, folder: Path, facts: Any) -> str:
        (folder / "manifest.json").write_text(json.dumps(facts), "utf-8")
        with pytest.raises(VerificationFailed) as caught:
            read_manifest(folder)
        return str(caught.value)

    def test_a_format_from_before_the_first_release_is_refused_by_name(
        self, published: Any, tmp_path: Path
    ) -> None:
        for other in (1, 2):
            said = self.problem(tmp_path, {**published, "format": other})
            assert said.startswith(f"manifest.json has format {other}, from before sfumato 0.2.0; publish")

    def test_what_names_no_format_is_damaged(self, published: Any, tmp_path: Path) -> None:
        for other in (0, -3, "3", None, True, 3.0):
            said = self.problem(tmp_path, {**published, "format": other})
            assert said == "manifest.json is damaged: it names no format"
        assert "names no format" in self.problem(tmp_path, [published])

    def test_of_a_later_format_the_version_is_named_that_reads_it(
        self, published: Any, tmp_path: Path
    ) -> None:
        later = {**published, "format": max(READERS) + 1}
        for version, named in (("9.1.2", "sfumato 9.1.2 or a later version"), ("\x1b[2J", "a later version")):
            (tmp_path / "manifest.json").write_text(json.dumps({**later, "sfumato": version}), "utf-8")
            with pytest.raises(CannotTell) as caught:
                read_manifest(tmp_path)
            assert str(caught.value) == (
                f"manifest.json has format {max(READERS) + 1}, and this version of sfumato reads "
                f"formats up to {max(READERS)}; verify it with {named}"
            )
            assert caught.value.exit_code == 4
            assert "\n" not in str(caught.value)

    def test_today_s_format_has_a_reader(self) -> None:
        assert FORMAT in READERS

    def test_a_wrong_type_is_one_line(self, published: Any, tmp_path: Path) -> None:
        for name in published.keys() - {"format"}:
            said = self.problem(tmp_path, {**published, name: 1.5})
            assert said.startswith("manifest.json is damaged: ")
            assert "\n" not in said

    def test_no_number_is_taken_from_a_text(self, published: Any, tmp_path: Path) -> None:
        layout = {**published["layout"], "n_original": "4"}
        said = self.problem(tmp_path, {**published, "layout": layout})
        assert said == "manifest.json is damaged: Expected `int`, got `str` - at `$.layout.n_original`"

    def test_a_folder_that_is_none_is_told(self, tmp_path: Path) -> None:
        with pytest.raises(VerificationFailed, match=r"^no folder nowhere;"):
            read_manifest(tmp_path / "nowhere")
        with pytest.raises(VerificationFailed, match=r" has no manifest\.json;"):
            read_manifest(tmp_path)

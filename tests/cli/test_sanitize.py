"""`sanitize` writes a release with its manifest; `measure` notices where they do not belong together."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from sfumato.runtime import files

Run = Callable[..., tuple[int, str, str]]

PROJECT = """
policy.recipient = "none"
[data]
path = "people.csv"
[attributes.age]
role = "quasi-identifying"
kind = "numeric"
[attributes.town]
role = "quasi-identifying"
[attributes.illness]
role = "sensitive"
"""
ONE = ["mondrian", "model.k-anonymity.k=4"]
TWO = ["bucketize", "form=two-tables", "model.probabilistic-diversity.l=2"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rows = [f"{20 + n % 40},{'UKB'[n % 3]},{'abcd'[n % 4]}" for n in range(100)]
    (tmp_path / "people.csv").write_text("\n".join(["age,town,illness", *rows]) + "\n")
    (tmp_path / "people.toml").write_text(PROJECT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {place.name: place.read_bytes() for place in folder.iterdir() if place.is_file()}


class TestTogetherOrNotAtAll:
    @pytest.mark.parametrize("is_there_before", [False, True])
    @pytest.mark.parametrize(("how", "number"), [(ONE, 0), (ONE, 1), (TWO, 0), (TWO, 1), (TWO, 2)])
    def test_where_the_disk_is_full(
        self,
        folder: Path,
        sfumato: Run,
        monkeypatch: pytest.MonkeyPatch,
        how: list[str],
        is_there_before: bool,
        number: int,
    ) -> None:
        if is_there_before:
            assert sfumato("sanitize", "out.csv", *how, "-P", "people.toml")[0] == 0
        before = contents(folder)
        synced: list[Path] = []

        def full(place: Path) -> None:
            synced.append(place)
            if len(synced) > number:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(files, "_onto_disk", full)
        code, _, err = sfumato("sanitize", "out.csv", *how, "-P", "people.toml")
        assert code == 1
        assert "No space left on device; nothing was left behind" in err
        assert contents(folder) == before

    def test_where_a_folder_has_the_name_of_the_manifest(self, folder: Path, sfumato: Run) -> None:
        (folder / "out.csv.manifest.json").mkdir()
        before = contents(folder)
        code, _, err = sfumato("sanitize", "out.csv", *ONE, "-P", "people.toml")
        assert code == 1
        assert err == "sfumato: cannot write out.csv.manifest.json: Is a directory; nothing was left behind\n"
        assert contents(folder) == before


class TestManifestOfOtherData:
    @pytest.mark.parametrize(
        ("how", "measured"),
        [
            (ONE, ["people.csv", "out.csv"]),
            (TWO, ["people.csv", "out-quasi-identifiers.csv", "out-sensitive.csv"]),
        ],
    )
    def test_is_noticed(self, folder: Path, sfumato: Run, how: list[str], measured: list[str]) -> None:
        assert sfumato("sanitize", "out.csv", *how, "-P", "people.toml")[0] == 0
        asked = ["measure", *measured, "-P", "people.toml", "--measure", "general-loss"]
        code, _, err = sfumato(*asked)
        assert (code, err) == (0, "")
        changed = folder / measured[-1]
        first, *rows = changed.read_text().splitlines()
        changed.write_text("\n".join([first, *reversed(rows)]) + "\n")
        code, _, err = sfumato(*asked)
        assert code == 0
        assert err == (
            f"warning: {changed.name} is not the file that its manifest describes; "
            "`sfumato sanitize` writes both again\n"
        )

    def test_that_cannot_be_read_is_noticed(self, folder: Path, sfumato: Run) -> None:
        assert sfumato("sanitize", "out.csv", *ONE, "-P", "people.toml")[0] == 0
        for content in ("", "[]", '{"files": 5}', '{"files": {"../x": 5}}', '{"files": {"gone.csv": {}}}'):
            (folder / "out.csv.manifest.json").write_text(content)
            code, _, err = sfumato("measure", "out.csv", "-P", "people.toml", "--measure", "general-loss")
            assert code == 0
            assert err.startswith("warning: out.csv is not the file that its manifest describes")

    def test_of_a_published_folder_is_refused(self, folder: Path, sfumato: Run) -> None:
        with (folder / "people.toml").open("a") as project:
            project.write('[[candidates]]\nsanitizer = "mondrian"\nmodel = { k-anonymity = { k = 4 } }\n')
        assert sfumato("explore", "people.toml", "--workers", "1")[0] == 0
        code, out, _ = sfumato("frontier", "people.toml", "--json")
        identity = json.loads(out)["candidates"][0]["id"]
        assert sfumato("publish", identity, "published", "-P", "people.toml")[0] == 0
        asked = ["measure", "published", "-P", "people.toml", "--measure", "general-loss"]
        assert sfumato(*asked)[0] == 0
        data = folder / "published" / "data.csv"
        first, *rows = data.read_text().splitlines()
        data.write_text("\n".join([first, *reversed(rows)]) + "\n")
        code, _, err = sfumato(*asked)
        assert code == 1
        assert "belongs to another data.csv; see what else with `sfumato verify`" in err

"""Arguments, names and folders that are no text, are gone, or are very long: one line names the remedy."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.interfaces.cli import run
from sfumato.results.decision import Decision
from sfumato.runtime.errors import MOST_OF_GIVEN, DataError, ParameterError, StoreError
from sfumato.workflow.store.store import Store

Run = Callable[..., tuple[int, str, str]]

# as Python gives the bytes K\xf6ln of an old disk
LATIN = "K\udcf6ln"
PROJECT = """
[data]
path = "people.csv"
[attributes.age]
role = "quasi-identifying"
kind = "numeric"
[attributes.town]
role = "quasi-identifying"
[attributes.illness]
role = "sensitive"
[[candidates]]
sanitizer = "as-is"
"""

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names themselves")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rows = [f"{20 + n % 40},{'UKB'[n % 3]},{'abcd'[n % 4]}" for n in range(100)]
    (tmp_path / "people.csv").write_text("\n".join(["age,town,illness", *rows]) + "\n")
    (tmp_path / "people.toml").write_text(PROJECT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def one_line(err: str) -> str:
    assert err.startswith("sfumato: ")
    assert err.count("\n") == 1
    return err.removeprefix("sfumato: ").rstrip("\n")


class TestNotUtf8:
    @pytest.mark.parametrize(
        "arguments",
        [
            ["new", f"{LATIN}.csv"],
            ["new", "people.csv", "-o", f"{LATIN}.toml"],
            ["explore", f"{LATIN}/people.toml"],
            ["publish", "ab", "published", "--why", LATIN],
            ["publish", "ab", "published", "--by", LATIN],
            ["publish", "ab", LATIN],
            ["verify", LATIN],
            ["verify", "published", "--by", LATIN],
            ["sanitize", f"{LATIN}.csv", "as-is"],
            ["measure", f"{LATIN}.csv"],
            ["ask", f"max {LATIN}"],
            ["frontier", "--axis", LATIN, "--axis", "k"],
            ["challenge", "ab", LATIN],
        ],
    )
    def test_arguments_are_refused(self, folder: Path, sfumato: Run, arguments: list[str]) -> None:
        (folder / f"{LATIN}.csv").write_text("age\n1\n")
        before = sorted(os.listdir(folder))
        code, out, err = sfumato(*arguments)
        assert (code, out) == (1, "")
        assert "is not valid UTF-8; rename the file or folder, or write the text in UTF-8" in one_line(err)
        assert "K\\udcf6ln" in err
        assert sorted(os.listdir(folder)) == before

    def test_a_file_among_others_is_named(self, folder: Path, sfumato: Run) -> None:
        (folder / "parts").mkdir()
        (folder / "parts" / f"{LATIN}.csv").write_bytes((folder / "people.csv").read_bytes())
        (folder / "parts.toml").write_text(PROJECT.replace("people.csv", "parts/*.csv"))
        for arguments in ("inspect parts.toml", "explore parts.toml", "new parts -o new.toml"):
            code, _, err = sfumato(*arguments.split())
            assert (code, one_line(err)) == (1, "K\\udcf6ln.csv is not named in UTF-8; rename it")

    @pytest.mark.parametrize("arguments", [["explore", "people.toml"], ["new", "people.csv"], ["inspect"]])
    def test_the_current_folder_is_named(
        self, folder: Path, sfumato: Run, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
    ) -> None:
        (folder / LATIN).mkdir()
        for name in ("people.csv", "people.toml"):
            (folder / LATIN / name).write_bytes((folder / name).read_bytes())
        monkeypatch.chdir(folder / LATIN)
        code, _, err = sfumato(*arguments)
        assert code == 1
        assert re.fullmatch(
            r"the current folder '.*K\\udcf6ln' is not named in UTF-8; rename it", one_line(err)
        )
        assert sorted(os.listdir()) == ["people.csv", "people.toml"]

    def test_the_library_refuses_them_as_well(self, folder: Path) -> None:
        (folder / f"{LATIN}.csv").write_text("age\n1\n")
        with pytest.raises(DataError, match="is not named in UTF-8; rename it"):
            sf.read(folder / f"{LATIN}.csv")
        for why, by in ((LATIN, ""), ("", LATIN)):
            with pytest.raises(ParameterError, match="is not valid UTF-8; write it in UTF-8"):
                Decision("ab", why, by)
        with Store(folder / "people.sqlite") as store:
            with pytest.raises(StoreError, match="not valid UTF-8; rename"):
                store.record(Decision("ab"), LATIN)
            with pytest.raises(StoreError, match="not valid UTF-8; rename"):
                store.find(LATIN, "source")


class TestAFolderThatIsGone:
    GONE = "the current folder was removed, or cannot be read; change to another one"

    @pytest.mark.parametrize("arguments", [["explore", "PROJECT"], ["new", "people.csv"], ["frontier"]])
    def test_is_told(self, folder: Path, sfumato: Run, tmp_path: Path, arguments: list[str]) -> None:
        gone = tmp_path / "gone"
        gone.mkdir()
        os.chdir(gone)
        gone.rmdir()
        given = [str(folder / "people.toml") if each == "PROJECT" else each for each in arguments]
        code, _, err = sfumato(*given)
        assert (code, one_line(err)) == (1, self.GONE)

    def test_is_told_where_it_goes_while_a_command_runs(
        self, folder: Path, sfumato: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        gone = tmp_path / "gone"
        gone.mkdir()
        monkeypatch.chdir(gone)

        def remove(_: Path) -> None:
            gone.rmdir()
            os.getcwd()

        monkeypatch.setattr("sfumato.interfaces.cli.explore.found_project", remove)
        code, _, err = sfumato("explore", str(folder / "people.toml"))
        assert (code, one_line(err)) == (1, self.GONE)

    def test_a_file_that_is_missing_for_another_reason_is_a_fault_of_ours(
        self, sfumato: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def missing(_: Path) -> None:
            raise FileNotFoundError

        monkeypatch.setattr("sfumato.interfaces.cli.explore.found_project", missing)
        with pytest.raises(FileNotFoundError):
            run(["explore", "people.toml"])


LONG = {"word": "x7y" * 3_000, "sentence": "x7 y8 " * 1_500, "quotes": "x'7\" " * 1_800}
"""Things that somebody may give: many more characters than a message may show."""
COMMANDS = {
    "command": ["GIVEN"],
    "data": ["new", "GIVEN"],
    "target": ["new", "people.csv", "-o", "GIVEN.toml"],
    "project": ["explore", "GIVEN.toml"],
    "id": ["show", "GIVEN", "-P", "people.toml"],
    "question": ["ask", "GIVEN", "-P", "people.toml"],
    "measure-in-question": ["ask", "max GIVEN where k > 3", "-P", "people.toml"],
    "measure": ["measure", "people.csv", "-P", "people.toml", "--measure", "GIVEN"],
    "parameter": ["measure", "people.csv", "-P", "people.toml", "--measure", "t-closeness.distance=GIVEN"],
    "axis": ["frontier", "people.toml", "--axis", "GIVEN", "--axis", "k"],
    "sanitizer": ["sanitize", "out.csv", "GIVEN", "-P", "people.toml"],
    "sanitizer-parameter": ["sanitize", "out.csv", "mondrian", "GIVEN=3", "-P", "people.toml"],
    "value": ["sanitize", "out.csv", "mondrian", "model.k-anonymity.k=GIVEN", "-P", "people.toml"],
    "output": ["sanitize", "GIVEN.csv", "as-is", "-P", "people.toml"],
    "workers": ["explore", "people.toml", "--workers", "GIVEN"],
    "seed": ["explore", "people.toml", "--seed", "GIVEN"],
    "budget": ["explore", "people.toml", "--budget", "GIVEN"],
    "memory": ["explore", "people.toml", "--memory", "GIVEN"],
    "without": ["explore", "people.toml", "--without", "GIVEN"],
    "option": ["explore", "people.toml", "--GIVEN"],
    "folder": ["verify", "GIVEN"],
    "key": ["verify", ".", "--key", "GIVEN"],
    "by": ["measure", "people.csv", "-P", "people.toml", "--by", "GIVEN"],
    "separator": ["new", "people.csv", "--separator", "GIVEN"],
    "query": ["query", "GIVEN", "GIVEN"],
}
PLACES = {
    "path": '[data]\npath = "GIVEN"\n',
    "section": '[data]\npath = "people.csv"\n["GIVEN"]\n',
    "key": '[data]\npath = "people.csv"\n"GIVEN" = 1\n',
    "attribute": '[data]\npath = "people.csv"\n[attributes."GIVEN"]\nrole = "sensitive"\n',
    "role": '[data]\npath = "people.csv"\n[attributes.age]\nrole = "GIVEN"\n',
    "kind": '[data]\npath = "people.csv"\n[attributes.age]\nrole = "sensitive"\nkind = "GIVEN"\n',
    "hierarchy": '[data]\npath = "people.csv"\n[attributes.age]\nrole = "quasi-identifying"\n'
    'hierarchy = { csv = "GIVEN" }\n',
    "dates": '[data]\npath = "people.csv"\n[attributes.age]\nrole = "quasi-identifying"\n'
    'hierarchy = { format = "GIVEN" }\n',
    "sanitizer": PROJECT.replace("as-is", "GIVEN"),
    "sanitizer-parameter": PROJECT + '"GIVEN" = 3\n',
    "search": PROJECT + '[[candidates]]\nsearch = "GIVEN"\n',
    "model": PROJECT + '[[candidates]]\nsanitizer = "mondrian"\nmodel = { "GIVEN" = { k = 3 } }\n',
    "model-value": PROJECT
    + '[[candidates]]\nsanitizer = "mondrian"\nmodel = { k-anonymity = { k = "GIVEN" } }\n',
    "measure": PROJECT + '[measure]\nprivacy = ["GIVEN"]\n',
    "policy": PROJECT + '[policy]\nrecipient = "none"\n"GIVEN" = { at-most = 1 }\n',
    "limit": PROJECT + '[policy]\nrecipient = "none"\nprivacy-loss = { at-most = "GIVEN" }\n',
    "separator": PROJECT.replace("[data]", '[data]\nseparator = "GIVEN"'),
    "encoding": PROJECT.replace("[data]", '[data]\nencoding = "GIVEN"'),
    "population": PROJECT + '[measure]\nprivacy = [{ journalist-risk = { population = "GIVEN" } }]\n',
    "many-attributes": '[data]\npath = "people.csv"\n'
    + "".join(f'[attributes."GIV{n}EN"]\nrole = "sensitive"\n' for n in range(300)),
}


def shown(given: str, message: str) -> int:
    """Return how many characters of what was given a message shows: all pieces that are no accident."""
    pieces = re.findall(r"(?:x7y|x7 y8 |x'7\" |x\\'7\" |x'7\\\" )+", message)
    return sum(map(len, pieces))


@pytest.mark.parametrize("given", LONG)
class TestLong:
    @pytest.mark.parametrize("command", COMMANDS)
    def test_arguments_are_shown_in_part(self, sfumato: Run, command: str, given: str) -> None:
        code, _, err = sfumato(*(each.replace("GIVEN", LONG[given]) for each in COMMANDS[command]))
        assert code in (1, 2)
        message = one_line(err)
        assert shown(LONG[given], message) <= MOST_OF_GIVEN, message
        assert len(message) < 1_300

    @pytest.mark.parametrize("place", PLACES)
    def test_texts_of_a_project_file_are_shown_in_part(
        self, folder: Path, sfumato: Run, place: str, given: str
    ) -> None:
        escaped = LONG[given].replace('"', '\\"')
        (folder / "long.toml").write_text(PLACES[place].replace("GIVEN", escaped))
        code, _, err = sfumato("explore", "long.toml", "--workers", "1")
        assert code in (1, 2, 3)
        message = one_line(err.splitlines(keepends=True)[-1])
        assert shown(LONG[given], message) <= MOST_OF_GIVEN, message
        assert len(message) < 1_300

    def test_columns_of_a_file_are_shown_in_part(self, folder: Path, sfumato: Run, given: str) -> None:
        name = LONG[given].replace('"', "")
        (folder / "long.csv").write_text(f"{name},{name},b\n1,2,3\n")
        code, _, err = sfumato("new", "long.csv")
        assert code == 1
        assert shown(LONG[given], one_line(err)) <= MOST_OF_GIVEN


def test_a_list_of_many_columns_is_shown_in_part(folder: Path, sfumato: Run) -> None:
    names = [f"column{number}" for number in range(3_000)]
    rows = "\n".join(",".join(str((number + row) % 7) for number in range(3_000)) for row in range(3))
    (folder / "wide.csv").write_text(f"{','.join(names)}\n{rows}\n")
    text = PROJECT.replace("people.csv", "wide.csv")
    (folder / "wide.toml").write_text(text)
    code, _, err = sfumato("explore", "wide.toml")
    assert code == 1
    assert len(one_line(err)) < 600

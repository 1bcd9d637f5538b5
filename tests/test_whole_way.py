"""The benchmark of the whole way, small: where its folders go, and what it says where they cannot be made."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

spec = importlib.util.spec_from_file_location(
    "whole_way", Path(__file__).parents[1] / "benchmarks" / "whole_way.py"
)
assert spec is not None
assert spec.loader is not None
whole_way = importlib.util.module_from_spec(spec)
spec.loader.exec_module(whole_way)


def test_it_makes_the_folders_that_are_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder, figures = tmp_path / "not" / "there", tmp_path / "nor" / "here" / "figures.json"
    small = ["--records", "2000", "--distinct", "500", "--k", "10", "--engine", "memory"]
    whole_way.main([*small, "--folder", str(folder), "--json", str(figures)])
    assert [row["command"] for row in json.loads(figures.read_text("utf-8"))] == [
        "explore",
        "publish",
        "verify",
    ]
    assert not folder.exists()


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    for option, place in (("--folder", tmp_path / "file"), ("--json", tmp_path / "file" / "figures.json")):
        with pytest.raises(SystemExit) as ended:
            whole_way.main(["--records", "20", option, str(place)])
        assert ended.value.code == 2
        said = capsys.readouterr().err
        assert "file cannot be made" in said.splitlines()[-1]
        assert "name another folder" in said.splitlines()[-1]

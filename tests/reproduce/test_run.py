import json
from dataclasses import replace
from pathlib import Path

import pytest
import tomlkit

from sfumato.cli import run as command_line
from sfumato.datasets import adult_records
from sfumato.errors import ParameterError, UserError
from sfumato.exploring.run import Progress
from sfumato.project.file import Project
from sfumato.reproduce import experiments, run, together
from sfumato.reproduce.exhibits import Cell, Exhibit
from sfumato.reproduce.experiments import Experiment, Found
from sfumato.reproduce.paper import Paper


@pytest.fixture
def tiny(monkeypatch, tmp_path) -> Path:
    """A paper with one experiment, on the few records of one race."""
    import pyarrow.compute as pc

    whole = adult_records
    monkeypatch.setattr(
        experiments,
        "adult_records",
        lambda subset, columns: whole(subset, columns).filter(
            pc.equal(whole(subset, ("race",))["race"], "Other")
        ),
    )

    def exhibits(found: Found) -> tuple[Exhibit, ...]:
        as_is = found["together"].find("as-is")
        assert as_is is not None
        return (
            Exhibit("t", "Risk", "page 1", (Cell("as is", "risk", as_is.value("knowledge-gain"), "1.0"),)),
        )

    experiment = Experiment("together", "complete", smallest)
    paper = Paper("together", "Together", "cited", (experiment,), exhibits)
    monkeypatch.setattr(together, "PAPER", paper)
    return tmp_path


def smallest(document: object) -> None:
    document["try"] = [{"sanitizer": "as-is"}, {"sanitizer": "mondrian"}]  # type: ignore[index]
    document["measure"] = {"privacy": ["knowledge-gain"], "utility": ["total-loss"]}  # type: ignore[index]


def test_a_run_leaves_a_page_results_and_project_files_that_can_be_used_on_their_own(tiny):
    done = run.reproduce(["together"], tiny, quick=True, workers=2)
    assert "Risk" in done.page.read_text()
    written = json.loads(done.results.read_text())
    assert written["papers"]["together"]["exhibits"][0]["cells"][0]["published"] == "1.0"
    assert written["quick"]
    project = Project.load(tiny / "together-quick.toml")
    assert project.read()[0].n_records == done_records(tiny)


def done_records(folder: Path) -> int:
    return len((folder / "together.csv").read_text().splitlines()) - 1


def test_a_second_run_computes_nothing_again(tiny):
    run.reproduce(["together"], tiny, quick=True, workers=1)
    seen: list[Progress] = []
    run.reproduce(["together"], tiny, quick=True, workers=1, progress=seen.append)
    assert [(state.done, state.total, state.known) for state in seen] == [(0, 0, 2)]


def test_changed_data_or_another_grid_change_the_figures(tiny):
    first = run.reproduce(["together"], tiny, quick=True, workers=1)
    data = tiny / "together.csv"
    data.write_text("\n".join(data.read_text().splitlines()[:30]) + "\n")
    second = run.reproduce(["together"], tiny, quick=True, workers=1)
    project = tiny / "together-quick.toml"
    document = tomlkit.parse(project.read_text())
    del document["attributes"]["age"]
    document["attributes"]["age"] = {"role": "insensitive"}
    project.write_text(tomlkit.dumps(document))
    third = run.reproduce(["together"], tiny, quick=True, workers=1)
    figures = {each.papers["together"][0].cells[0].ours for each in (first, second, third)}
    assert len(figures) == 3


def test_a_project_that_lacks_what_the_tables_show_is_named(tiny, monkeypatch):
    nothing: dict[str, str] = {}

    def unreadable(found: Found) -> tuple[Exhibit, ...]:
        return (Exhibit("t", str(nothing[found["together"].candidates[0].id]), "page 1"),)

    monkeypatch.setattr(together, "PAPER", replace(together.PAPER, exhibits=unreadable))
    with pytest.raises(KeyError):
        run.reproduce(["together"], tiny, quick=True, workers=1)
    project = tiny / "together-quick.toml"
    project.write_text(project.read_text() + "\n")
    with pytest.raises(UserError, match=r"in .* together-quick\.toml was changed"):
        run.reproduce(["together"], tiny, quick=True, workers=1)
    assert not (tiny / "index.html").exists()


def test_quick_and_full_runs_lie_side_by_side(tiny):
    run.reproduce(["together"], tiny, quick=True, workers=1)
    written = experiments.Experiment("together", "complete", smallest).written(tiny, quick=False)
    assert written.name == "together.toml"
    assert (tiny / "together-quick.toml").exists()


def test_an_unknown_paper_is_named_with_a_near_miss(tmp_path):
    with pytest.raises(ParameterError, match="no paper 'bricell'; did you mean 'brickell'"):
        run.reproduce(["bricell"], tmp_path)


def test_a_file_in_the_place_of_the_pictures_is_said_in_one_line(tiny, monkeypatch):
    monkeypatch.setattr(run, "_pictures", lambda _: [("one", "<svg/>")])
    (tiny / "pictures").write_text("")
    with pytest.raises(UserError, match=r"cannot create the folder .*pictures"):
        run.reproduce(["together"], tiny, quick=True, workers=1)


def test_a_folder_that_cannot_be_made_is_said_in_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Exception, match="cannot create the folder"):
        Experiment("together", "complete").written(tmp_path / "file", quick=True)


def test_a_wrong_name_beside_all_is_not_passed_over(tmp_path, capsys):
    assert command_line(["reproduce", "all", "bricell", "--folder", str(tmp_path / "here")]) == 1
    assert "did you mean 'brickell'" in capsys.readouterr().err
    assert not (tmp_path / "here").exists()

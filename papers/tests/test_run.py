import json
from dataclasses import replace
from pathlib import Path

import pyarrow.csv
import pytest
import tomlkit

from sfumato import Project, datasets
from sfumato.interfaces.cli import run as command_line
from sfumato.registry import methods
from sfumato.runtime.errors import ParameterError, UserError
from sfumato.workflow.explore.explore_project import Progress
from sfumato_papers import all_papers, experiments, run
from sfumato_papers.exhibits import Cell, Claim, Exhibit
from sfumato_papers.experiments import Experiment, Explorations
from sfumato_papers.interpretations import Ambiguity, Interpretation
from sfumato_papers.paper import Paper
from sfumato_papers.settings import Setting


@pytest.fixture
def tiny(monkeypatch, tmp_path) -> Path:
    """A paper with one experiment, on the few records of one race."""
    import pyarrow.compute as pc

    whole = datasets.adult_records
    monkeypatch.setattr(
        datasets,
        "adult_records",
        lambda subset, columns: whole(subset, columns).filter(
            pc.equal(whole(subset, ("race",))["race"], "Other")
        ),
    )

    def exhibits(found: Explorations) -> tuple[Exhibit, ...]:
        as_is = found["all-papers"].find("as-is")
        assert as_is is not None
        return (
            Exhibit("t", "Risk", "page 1", (Cell("as is", "risk", as_is.value("knowledge-gain"), "1.0"),)),
        )

    experiment = Experiment("all-papers", "complete", smallest)
    paper = Paper("all-papers", "All papers", "cited", (experiment,), exhibits)
    monkeypatch.setattr(all_papers, "PAPER", paper)
    return tmp_path


def smallest(document: object) -> None:
    document["candidates"] = [{"sanitizer": "as-is"}, {"sanitizer": "mondrian"}]  # type: ignore[index]
    document["measure"] = {"privacy": ["knowledge-gain"], "utility": ["total-loss"]}  # type: ignore[index]


def test_a_run_leaves_a_page_results_and_project_files_that_can_be_used_on_their_own(tiny):
    done = run.reproduce(["all-papers"], tiny, quick=True, workers=2)
    assert "Risk" in done.page.read_text()
    written = json.loads(done.results.read_text())
    assert written["papers"]["all-papers"]["exhibits"][0]["cells"][0]["published"] == "1.0"
    assert written["quick"]
    project = Project.load(tiny / "all-papers-quick.toml")
    assert project.read()[0].n_records == done_records(tiny)


def done_records(folder: Path) -> int:
    return len((folder / "all-papers.csv").read_text().splitlines()) - 1


def test_a_second_run_computes_nothing_again(tiny):
    run.reproduce(["all-papers"], tiny, quick=True, workers=1)
    seen: list[Progress] = []
    run.reproduce(["all-papers"], tiny, quick=True, workers=1, progress=seen.append)
    assert [(state.done, state.total, state.known) for state in seen] == [(0, 0, 2)] * run.QUICKLY.seeds


def test_changed_data_or_another_grid_change_the_figures(tiny):
    first = run.reproduce(["all-papers"], tiny, quick=True, workers=1)
    data = tiny / "all-papers.csv"
    data.write_text("\n".join(data.read_text().splitlines()[:30]) + "\n")
    second = run.reproduce(["all-papers"], tiny, quick=True, workers=1)
    project = tiny / "all-papers-quick.toml"
    document = tomlkit.parse(project.read_text())
    del document["attributes"]["age"]
    document["attributes"]["age"] = {"role": "insensitive"}
    project.write_text(tomlkit.dumps(document))
    third = run.reproduce(["all-papers"], tiny, quick=True, workers=1)
    figures = {each.papers["all-papers"][0].cells[0].ours for each in (first, second, third)}
    assert len(figures) == 3


def test_a_project_that_lacks_what_the_tables_show_is_named(tiny, monkeypatch):
    nothing: dict[str, str] = {}

    def unreadable(found: Explorations) -> tuple[Exhibit, ...]:
        return (Exhibit("t", str(nothing[found["all-papers"].candidates[0].id]), "page 1"),)

    monkeypatch.setattr(all_papers, "PAPER", replace(all_papers.PAPER, exhibits=unreadable))
    with pytest.raises(KeyError):
        run.reproduce(["all-papers"], tiny, quick=True, workers=1)
    project = tiny / "all-papers-quick.toml"
    project.write_text(project.read_text() + "\n")
    with pytest.raises(UserError, match=r"in .* all-papers-quick\.toml was changed"):
        run.reproduce(["all-papers"], tiny, quick=True, workers=1)
    assert not (tiny / "index.html").exists()


def test_quick_and_full_runs_lie_side_by_side(tiny):
    run.reproduce(["all-papers"], tiny, quick=True, workers=1)
    written = experiments.Experiment("all-papers", "complete", smallest).under(quick=False).written(tiny)
    assert written.name == "all-papers.toml"
    assert (tiny / "all-papers-quick.toml").exists()


def test_seeds_interpretations_and_the_control_are_projects_of_their_own_and_shared_where_nothing_changes(
    tiny,
):
    def deeper(document: object) -> None:
        document["candidates"].append({"sanitizer": "mondrian", "model": {"k-anonymity": {"k": 9}}})  # type: ignore[index]

    first = all_papers.PAPER
    passage = Ambiguity(
        "k",
        "Which?",
        "some k",
        "page 1",
        (Interpretation("two", "k = 2"), Interpretation("nine", "k = 9")),
        "",
    )
    experiment = replace(
        first.experiments[0], dealt=("occupation",), switches={"k=nine": deeper}, by_chance=True
    )
    quiet = replace(experiment, by_chance=False, dealt=(), switches={})
    paper = replace(first, experiments=(experiment,), ambiguities=(passage,))
    extent = run.Extent(seeds=2, every_interpretation=True, control=True)
    every = extent.settings(paper).every
    names = [each.under(setting, quick=True).name for setting in every for each in (experiment, quiet)]
    assert names[::2] == [
        "all-papers-quick",
        "all-papers-quick-control",
        "all-papers-quick-k-nine",
        "all-papers-quick-seed-2010",
    ]
    assert set(names[1::2]) == {"all-papers-quick"}
    taken = run.Extent(interpretations=("k=nine",)).settings(paper).every
    assert [each.interpretations for each in taken] == [("k=nine",)]


def test_a_run_under_every_setting_says_what_came_out(tiny, monkeypatch):
    def exhibits(found: Explorations) -> tuple[Exhibit, ...]:
        as_is = found["all-papers"].find("as-is")
        assert as_is is not None
        gain = as_is.value("knowledge-gain") or 0.0
        return (
            Exhibit(
                "t",
                "Gain",
                "page 1",
                (Cell("as is", "gain", gain),),
                (Claim("Much.", gain > 0.3, f"{gain}"),),
            ),
        )

    experiment = replace(all_papers.PAPER.experiments[0], dealt=("occupation",))
    monkeypatch.setattr(
        all_papers, "PAPER", replace(all_papers.PAPER, experiments=(experiment,), exhibits=exhibits)
    )
    done = run.reproduce(["all-papers"], tiny, quick=True, workers=1)
    (found,) = done.papers["all-papers"]
    assert len(found.cells[0].spread) == run.QUICKLY.seeds
    assert found.cells[0].control != found.cells[0].ours
    assert found.claims[0].control is not None
    written = json.loads(done.results.read_text())
    assert written["seeds"] == [2009, 2010]
    assert set(written["provenance"]["data"]) == {"all-papers.csv", "all-papers-dealt-occupation.csv"}
    assert written["provenance"]["dependencies"]["numpy"]


def test_the_control_keeps_every_column_and_loses_what_relates_them(tiny):
    experiment = Experiment("all-papers", "complete", smallest, dealt=("occupation",))
    experiment.under(Setting(is_control=True), quick=True).written(tiny)
    whole, dealt = (
        pyarrow.csv.read_csv(tiny / name) for name in ("all-papers.csv", "all-papers-dealt-occupation.csv")
    )
    assert whole.drop("occupation") == dealt.drop("occupation")
    assert whole["occupation"] != dealt["occupation"]
    assert sorted(whole["occupation"].to_pylist()) == sorted(dealt["occupation"].to_pylist())


def test_another_seed_reaches_folds_queries_and_scenarios(tmp_path):
    for name in ("brickell-occupation", "li-queries", "sramka-anonymity"):
        document = Experiment(name, "complete").under(Setting(seed=2012), quick=False).document()
        measures = [each for side in document["measure"].values() for each in side]
        assert "2012" in tomlkit.dumps(document)
        for each in measures:
            measure, parameters = methods.name_and_parameters(each)
            takes = "seed" in methods.parameters_of(methods.look_up("measure", measure))
            assert ("seed" in parameters) == takes
        assert all(each["seed"] == 2012 for each in document.get("scenarios", {}).values())


def test_an_unknown_interpretation_is_refused_before_anything_is_done(tmp_path):
    with pytest.raises(ParameterError, match="no interpretation 'k=nine'"):
        run.reproduce(["all-papers"], tmp_path / "here", extent=run.Extent(interpretations=("k=nine",)))
    with pytest.raises(ParameterError, match="seeds must be at least 1"):
        run.Extent(seeds=0)
    assert not (tmp_path / "here").exists()


def test_another_run_is_compared_through_the_command_line(tiny, capsys):
    options = ["--quick", "--seeds", "1", "--no-control", "--workers", "1"]
    assert command_line(["reproduce", "all-papers", *options, "--folder", str(tiny)]) == 0
    earlier = tiny / "earlier.json"
    earlier.write_bytes((tiny / "results.json").read_bytes())
    again = ["reproduce", "all-papers", *options, "--folder", str(tiny), "--against", str(earlier)]
    assert command_line(again) == 0
    assert "Every figure and conclusion is that of the other run." in capsys.readouterr().out
    changed = json.loads(earlier.read_text())
    changed["papers"]["all-papers"]["exhibits"][0]["cells"][0]["ours"] = 17.0
    earlier.write_text(json.dumps(changed))
    assert command_line(again) == 2
    output = capsys.readouterr()
    assert "17" in output.out
    assert len(output.err.strip().splitlines()[-1:]) == 1


def test_an_unknown_paper_is_named_with_a_near_miss(tmp_path):
    with pytest.raises(ParameterError, match="no paper 'bricell'; did you mean 'brickell'"):
        run.reproduce(["bricell"], tmp_path)


def test_a_file_in_the_place_of_the_pictures_is_said_in_one_line(tiny, monkeypatch):
    monkeypatch.setattr(run, "_pictures", lambda _: [("one", "<svg/>")])
    (tiny / "pictures").write_text("")
    with pytest.raises(UserError, match=r"cannot create the folder .*pictures"):
        run.reproduce(["all-papers"], tiny, quick=True, workers=1)


def test_a_folder_that_cannot_be_made_is_said_in_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Exception, match="cannot create the folder"):
        Experiment("all-papers", "complete").under(quick=True).written(tmp_path / "file")


def test_a_wrong_name_beside_all_is_not_passed_over(tmp_path, capsys):
    assert command_line(["reproduce", "all", "bricell", "--folder", str(tmp_path / "here")]) == 1
    assert "did you mean 'brickell'" in capsys.readouterr().err
    assert not (tmp_path / "here").exists()


@pytest.mark.parametrize("key", run.PAPERS)
def test_every_setting_of_a_paper_is_a_project_that_can_be_explored(key, tmp_path):
    paper = run.paper(key)
    extent = replace(run.FULLY, seeds=2)
    variants = {
        each.under(setting, quick=False)
        for setting in extent.settings(paper).every
        for each in paper.experiments
    }
    (tmp_path / "hierarchies").symlink_to(datasets.FOLDER / "hierarchies" / "adult")
    for variant in variants:
        place = tmp_path / variant.file_name
        place.write_text(tomlkit.dumps(variant.document()))
        assert Project.load(place).measures

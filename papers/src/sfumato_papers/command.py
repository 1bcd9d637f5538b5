"""The command `sfumato reproduce`, which sfumato finds by an entry point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sfumato import errors
from sfumato.interfaces.cli.base import json_option, workers_option
from sfumato.interfaces.cli.log import say
from sfumato.interfaces.cli.terminal import echo, print_json, print_table, progress_shown

if TYPE_CHECKING:
    from sfumato_papers.archive import Deviation
    from sfumato_papers.exhibits import Conclusion
    from sfumato_papers.run import Reproduction


class RunsDiffer(errors.SfumatoError):
    """A rerun differs from the one that it was compared with."""

    exit_code = 2


@click.command()
@click.argument("papers", nargs=-1, required=True, metavar="brickell|li|dewri|sramka|together|all...")
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    default=Path("sfumato-reproduction"),
    show_default=True,
    help="Where project files, stores and results lie; what was computed there is not computed again.",
)
@click.option("--quick", is_flag=True, help="Reduced grids, for a first look in a few minutes.")
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    metavar="N",
    help="How often all that happens by chance is repeated: 10 times by default, twice with --quick.",
)
@click.option(
    "--readings/--no-readings",
    default=None,
    help="Read the papers also in every other way that their text allows. By default unless --quick.",
)
@click.option(
    "--control/--no-control",
    default=None,
    help="Also deal out what is to be learned at random: what holds then, too, says nothing. By default.",
)
@click.option(
    "--reading",
    "taken",
    multiple=True,
    metavar="PASSAGE=READING",
    help="Take this reading of a passage in the place of ours; the page names them. May be repeated.",
)
@click.option(
    "--against",
    type=click.Path(path_type=Path),
    metavar="RESULTS",
    help="Compare with the results.json of another run; what differs is told, and the exit code is then 2.",
)
@workers_option
@json_option
def reproduce(
    papers: tuple[str, ...],
    folder: Path,
    quick: bool,
    seeds: int | None,
    readings: bool | None,
    control: bool | None,
    taken: tuple[str, ...],
    against: Path | None,
    workers: int | None,
    as_json: bool,
) -> None:
    """Rerun the experiments of PAPERS on the census table Adult: each published figure beside ours.

    Writes one page, index.html, and results.json into the folder: they show the PAPERS of the last run. It
    can be stopped and goes on where it was. Changing a project file or data in the folder changes the
    figures.

    \b
    Example: sfumato reproduce li --quick
             sfumato reproduce all
             sfumato reproduce dewri --seeds 1 --no-readings --against earlier/results.json
    """
    import msgspec

    from sfumato_papers.archive import deviations, read_results
    from sfumato_papers.json_schema import ReproduceShape
    from sfumato_papers.run import FULLY, PAPERS, QUICKLY, Extent, reproduce

    other = None if against is None else read_results(against)
    usual = QUICKLY if quick else FULLY
    extent = Extent(
        usual.seeds if seeds is None else seeds,
        usual.readings if readings is None else readings,
        usual.control if control is None else control,
        taken,
    )
    chosen = [paper for given in papers for paper in (PAPERS if given == "all" else (given,))]
    with progress_shown() as show:
        done = reproduce(
            chosen, folder, quick=quick, extent=extent, workers=workers, progress=show, begun=say
        )
    results = done.to_dict()
    differing = [] if other is None else deviations(results, other)
    if as_json:
        told = {"deviations": [asdict(each) for each in differing]} if other is not None else {}
        document = {"page": str(done.page), **results, **told}
        print_json("reproduce", msgspec.convert(document, ReproduceShape))
    else:
        _show(done)
        if other is not None:
            _show_deviations(differing)
    if differing:
        raise RunsDiffer(f"{len(differing)} figures and conclusions differ from those of {against}")


def _show(done: Reproduction) -> None:
    from sfumato_papers.exhibits import VERDICTS, concluded, counted

    rows = []
    for key, exhibits in done.papers.items():
        for exhibit in exhibits:
            counts = counted([exhibit], by_any_reading=True)
            rows.append(
                [
                    key,
                    exhibit.title,
                    *(str(counts[verdict] or "") for verdict in VERDICTS[:-1]),
                    *(_holding(concluded([exhibit], ours=ours)) for ours in (False, True)),
                ]
            )
    print_table(
        "published figures beside ours",
        ["paper", "exhibit", *VERDICTS[:-1], "conclusions that hold", "tests of ours"],
        rows,
    )
    echo(f"\nThe page lies in {done.page}, every figure in {done.results}")


def _holding(said: Mapping[Conclusion, int]) -> str:
    """Return how many hold of those that were put to the test."""
    n_said = sum(n for conclusion, n in said.items() if conclusion != "open")
    return f"{said['holds']} of {n_said}" if n_said else ""


def _show_deviations(found: Sequence[Deviation]) -> None:
    if not found:
        echo("Every figure and conclusion is that of the other run.")
        return
    print_table(
        f"{len(found)} figures and conclusions that differ from the other run",
        ["paper", "exhibit", "what", "here", "there"],
        [[each.paper, each.exhibit, each.what, each.here, each.there] for each in found],
    )

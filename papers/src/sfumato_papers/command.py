"""Define the command `sfumato reproduce`, which sfumato finds by an entry point."""

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
@click.argument("papers", nargs=-1, required=True, metavar="brickell|li|dewri|sramka|all-papers|all...")
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    default=Path("sfumato-reproduction"),
    show_default=True,
    help="The folder of project files, stores and results; nothing in it is computed twice.",
)
@click.option("--quick", is_flag=True, help="Reduced grids, for a first look in a few minutes.")
@click.option(
    "--seeds",
    type=click.IntRange(min=1),
    metavar="N",
    help="How often everything random is repeated: 10 times by default, twice with --quick.",
)
@click.option(
    "--interpretations/--no-interpretations",
    default=None,
    help="Also rerun the papers under every other interpretation of their text. By default unless --quick.",
)
@click.option(
    "--control/--no-control",
    default=None,
    help="Also deal out what is to be learned at random: what still holds then says nothing. By default.",
)
@click.option(
    "--interpretation",
    multiple=True,
    metavar="PASSAGE=INTERPRETATION",
    help="Use this interpretation of a passage instead of ours; the page names them. May be repeated.",
)
@click.option(
    "--against",
    type=click.Path(path_type=Path),
    metavar="RESULTS",
    help="Compare with the results.json of another run; if any figure differs, the exit code is 2.",
)
@workers_option
@json_option
def reproduce(
    papers: tuple[str, ...],
    folder: Path,
    quick: bool,
    seeds: int | None,
    interpretations: bool | None,
    control: bool | None,
    interpretation: tuple[str, ...],
    against: Path | None,
    workers: int | None,
    as_json: bool,
) -> None:
    """Rerun the experiments of PAPERS on the census table Adult: each published figure next to ours.

    Writes one page, index.html, and results.json into the folder: they show the PAPERS of the last run. You
    can stop it; it continues where it was. Changing a project file or data in the folder changes the
    figures.

    \b
    Example: sfumato reproduce li --quick
             sfumato reproduce all
             sfumato reproduce dewri --seeds 1 --no-interpretations --against earlier/results.json
    """
    import msgspec

    from sfumato_papers.archive import deviations, read_results
    from sfumato_papers.json_schema import ReproduceShape
    from sfumato_papers.run import FULLY, PAPERS, QUICKLY, Extent, reproduce

    other = None if against is None else read_results(against)
    usual = QUICKLY if quick else FULLY
    extent = Extent(
        usual.seeds if seeds is None else seeds,
        usual.every_interpretation if interpretations is None else interpretations,
        usual.control if control is None else control,
        interpretation,
    )
    chosen = [paper for given in papers for paper in (PAPERS if given == "all" else (given,))]
    with progress_shown() as show:
        done = reproduce(
            chosen, folder, quick=quick, extent=extent, workers=workers, progress=show, begun=say
        )
    results = done.to_dict()
    differing = [] if other is None else deviations(results, other)
    if as_json:
        compared = {"deviations": [asdict(deviation) for deviation in differing]} if other is not None else {}
        document = {"page": str(done.page), **results, **compared}
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
            counts = counted([exhibit], by_any_interpretation=True)
            rows.append(
                [
                    key,
                    exhibit.title,
                    *(str(counts[verdict] or "") for verdict in VERDICTS[:-1]),
                    *(_holding(concluded([exhibit], ours=ours)) for ours in (False, True)),
                ]
            )
    print_table(
        "published figures next to ours",
        ["paper", "exhibit", *VERDICTS[:-1], "conclusions that hold", "tests of ours"],
        rows,
    )
    echo(f"\nThe page is {done.page}; every figure is in {done.results}")


def _holding(counts: Mapping[Conclusion, int]) -> str:
    """Return how many of the tested conclusions hold."""
    n_tested = sum(n for conclusion, n in counts.items() if conclusion != "open")
    return f"{counts['holds']} of {n_tested}" if n_tested else ""


def _show_deviations(deviations: Sequence[Deviation]) -> None:
    if not deviations:
        echo("Every figure and conclusion is that of the other run.")
        return
    print_table(
        f"{len(deviations)} figures and conclusions that differ from the other run",
        ["paper", "exhibit", "what", "here", "there"],
        [
            [deviation.paper, deviation.exhibit, deviation.what, deviation.here, deviation.there]
            for deviation in deviations
        ],
    )

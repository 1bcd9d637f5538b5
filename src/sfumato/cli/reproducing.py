"""The command that reruns the papers: reproduce."""

from __future__ import annotations

from pathlib import Path

import click

from sfumato.cli.base import cli, json_option, workers_option
from sfumato.cli.log import say
from sfumato.cli.terminal import echo, print_json, print_table, progress_shown


@cli.command()
@click.argument("papers", nargs=-1, required=True, metavar="brickell|li|dewri|sramka|together|all...")
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    default=Path("sfumato-reproduction"),
    show_default=True,
    help="Where project files, stores and results lie; what was computed there is not computed again.",
)
@click.option("--quick", is_flag=True, help="Reduced grids, for a first look in a few minutes.")
@workers_option
@json_option
def reproduce(papers: tuple[str, ...], folder: Path, quick: bool, workers: int | None, as_json: bool) -> None:
    """Rerun the experiments of PAPERS on the census table Adult: each published figure beside ours.

    Writes one page, index.html, and results.json into the folder: they show the PAPERS of the last run. It
    can be stopped and goes on where it was. A project file or data in the folder that you change gives
    other figures.

    \b
    Example: sfumato reproduce li --quick
             sfumato reproduce all
    """
    from sfumato.reproduce.exhibits import VERDICTS, counted
    from sfumato.reproduce.run import PAPERS, reproduce

    chosen = [paper for given in papers for paper in (PAPERS if given == "all" else (given,))]
    with progress_shown() as show:
        done = reproduce(chosen, folder, quick=quick, workers=workers, progress=show, begun=say)
    if as_json:
        print_json("reproduce", {"page": str(done.page), **done.to_dict()})
        return
    rows = []
    for key, exhibits in done.papers.items():
        for exhibit in exhibits:
            counts = counted([exhibit])
            held = [claim.holds for claim in exhibit.claims if claim.holds is not None]
            rows.append(
                [
                    key,
                    exhibit.title,
                    *(str(counts[verdict] or "") for verdict in VERDICTS[:-1]),
                    f"{sum(held)} of {len(held)}" if held else "",
                ]
            )
    print_table(
        "published figures beside ours",
        ["paper", "exhibit", *VERDICTS[:-1], "conclusions that hold"],
        rows,
    )
    echo(f"\nThe page lies in {done.page}, every figure in {done.results}")

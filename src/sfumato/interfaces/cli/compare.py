"""`sfumato compare`: show two candidates side by side."""

from __future__ import annotations

from pathlib import Path

import click

from sfumato.interfaces.cli.base import cli, json_option, project_option
from sfumato.interfaces.cli.command_context import found_project, opened
from sfumato.interfaces.cli.completers import candidates
from sfumato.interfaces.cli.terminal import echo, name_of, print_comparison, print_json
from sfumato.runtime.errors import UserError
from sfumato.workflow.explore.stored_results import remade, stored_frontier
from sfumato.workflow.store.provenance import source_of


@cli.command()
@click.argument("first", metavar="ID", shell_complete=candidates)
@click.argument("second", metavar="ID", shell_complete=candidates)
@click.option(
    "--picture",
    type=click.Path(path_type=Path),
    help="Draw for both how many records look alike with how many others (.svg or .png).",
)
@project_option
@json_option
def compare(first: str, second: str, picture: Path | None, project_file: Path | None, as_json: bool) -> None:
    """Set two candidates side by side: every measure, how many records look alike, and who is worse off.

    Both releases are made once more, to count the records that are worse off in one than in the other.

    \b
    Example: sfumato compare 3f9a 81c2 --picture classes.svg
    """
    from sfumato.results.json_schemas import CompareShape, PolicyShape
    from sfumato.workflow.choose.comparison import compare as side_by_side

    project, store = opened(found_project(project_file), create=False)
    with store:
        table, schema = project.read()
        source = source_of(table, schema)
        pair = [store.find(identity, source) for identity in (first, second)]
        against = stored_frontier(project, store, source).broken
    if pair[0].id == pair[1].id:
        raise UserError(f"both ids name the candidate {pair[0].id}; give two different ones")
    releases = [remade(candidate, table, schema) for candidate in pair]
    names = pair[0].id, pair[1].id
    comparison = side_by_side(releases[0], releases[1], project.measures, names=names)
    if picture is not None:
        from sfumato.registry.display import Picture
        from sfumato.workflow.report.charts.class_size_curves import class_size_curves

        labels = [f"{candidate.id} {candidate.recipe}" for candidate in pair]
        sizes = [release.classes.sizes for release in releases]
        Picture(class_size_curves(dict(zip(labels, sizes, strict=True)))).save(picture)
    if as_json:
        recipes = [str(candidate.recipe) for candidate in pair]
        policies = [PolicyShape(broken=[*against.get(candidate.id, ())]) for candidate in pair]
        print_json("compare", CompareShape.of(comparison.to_shape(), recipes=recipes, policies=policies))
    else:
        for candidate in pair:
            if candidate.id in against:
                echo(f"{candidate.id} is against the policy: {'; '.join(against[candidate.id])}")
        print_comparison(comparison, [name_of(candidate.recipe) for candidate in pair])

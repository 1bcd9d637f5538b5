"""`sfumato sanitize`: make one release by one recipe and write it to a file."""

from __future__ import annotations

from pathlib import Path

import click

from sfumato.interfaces.cli.base import cli, json_option, project_option, seed_option
from sfumato.interfaces.cli.command_context import loaded, parsed
from sfumato.interfaces.cli.completers import sanitizers
from sfumato.interfaces.cli.terminal import (
    echo,
    print_json,
    print_measurements,
    warn_of_formulas,
    words_shown,
)


@cli.command()
@click.argument("output", type=click.Path(path_type=Path))
@click.argument("sanitizer", shell_complete=sanitizers)
@click.argument("parameters", nargs=-1)
@project_option
@seed_option
@json_option
def sanitize(
    output: Path,
    sanitizer: str,
    parameters: tuple[str, ...],
    project_file: Path | None,
    seed: int | None,
    as_json: bool,
) -> None:
    """Make one release by one recipe and write it to OUTPUT (.csv, .parquet or .feather).

    What it is, which models it keeps and its checksum are written beside it, to OUTPUT.manifest.json.
    PARAMETERS are written as in a project file, with dots for what is nested.

    \b
    Example: sfumato sanitize release.csv mondrian model.k-anonymity.k=10
    """

    from sfumato.registry import methods
    from sfumato.registry.recipe import Recipe
    from sfumato.results.json_schemas import MeasuredShape, SanitizeShape
    from sfumato.workflow.explore.candidate_workers import made_and_measured
    from sfumato.workflow.publish.data_files import formula_columns
    from sfumato.workflow.publish.loose_manifest import write_with_manifest

    texts = methods.text_parameters(methods.look_up("sanitizer", sanitizer))
    recipe = Recipe(sanitizer, parsed(parameters, texts), seed)
    methods.build("sanitizer", recipe.sanitizer, recipe.parameters)
    project = loaded(project_file)
    table, schema = project.read()
    with words_shown():
        release, measurements = made_and_measured(table, schema, recipe, project.measures)
    written, manifest = write_with_manifest(release, output)
    if as_json:
        document = SanitizeShape(
            output=[str(place) for place in written],
            manifest=str(manifest),
            recipe=str(release.recipe),
            measurements=[MeasuredShape.of(m) for m in measurements],
        )
        print_json("sanitize", document)
        return
    places = " and ".join(str(place) for place in written)
    echo(
        f"{release.recipe}: {release.n_records:,} records written to {places}, "
        f"{release.n_suppressed:,} suppressed"
    )
    print_measurements(measurements)
    warn_of_formulas(formula_columns(release))

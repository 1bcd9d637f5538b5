"""`sfumato measure`: judge a release that any program made."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sfumato.interfaces.cli.base import cli, dialect_options, json_option, project_option
from sfumato.interfaces.cli.command_context import broken_in, loaded, parsed
from sfumato.interfaces.cli.completers import measures
from sfumato.interfaces.cli.log import warn
from sfumato.interfaces.cli.terminal import (
    print_groups,
    print_json,
    print_judgement,
    words_shown,
)
from sfumato.runtime.errors import UserError

if TYPE_CHECKING:
    from sfumato.registry.declarations import ReleaseType
    from sfumato.workflow.external.external_release import Suppressed


@cli.command("measure")
@click.argument(
    "files",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path),
    metavar="[ORIGINAL] RELEASE [SENSITIVE]",
)
@project_option
@click.option(
    "--measure",
    "names",
    multiple=True,
    shell_complete=measures,
    metavar="NAME",
    help="A measure or a model, with a parameter as in t-closeness.distance=js; repeat it for more. By "
    "default those of the project.",
)
@click.option("--group", metavar="COLUMN", help="The column that says which group a record belongs to.")
@click.option("--match", metavar="COLUMN", help="A column of both files that says which record is which.")
@click.option(
    "--suppressed",
    type=click.Choice(["judge", "count"]),
    default="judge",
    show_default=True,
    help="What to do with records that are * in every quasi-identifier: judge what is published of them, or "
    "count them as suppressed, as ARX does.",
)
@click.option(
    "--type",
    "release_type",
    type=click.Choice(["people", "perturbed", "synthetic"]),
    help="What a row is: the record of a person, one with changed values, or made up. By default values "
    "are taken as changed where a number does not occur in the original.",
)
@click.option(
    "--by",
    metavar="ATTRIBUTE",
    help="Measure for the people of each value of this attribute, too, side by side.",
)
@click.option(
    "--smallest",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="With --by: how many original records a group must have.",
)
@click.option(
    "--picture",
    type=click.Path(path_type=Path),
    help="With --by: write the groups as a picture (.svg or .png).",
)
@dialect_options
@json_option
def measure_release(
    files: tuple[Path, ...],
    project_file: Path | None,
    names: tuple[str, ...],
    group: str | None,
    match: str | None,
    suppressed: Suppressed,
    release_type: ReleaseType | None,
    by: str | None,
    smallest: int,
    picture: Path | None,
    as_json: bool,
    **dialect: str | None,
) -> None:
    """Judge a RELEASE that any program made of the project's data, or of ORIGINAL.

    RELEASE is a CSV, Parquet or Feather file, or a folder that `sfumato publish` wrote. If it was made by
    Anatomy, RELEASE is the table with the quasi-identifiers, and SENSITIVE the one with the sensitive values
    of each group and their counts; ORIGINAL must be given then. The exit code is 2 if the project's policy is
    not met.

    \b
    Example: sfumato measure anonymized.csv --project admissions.toml
             sfumato measure admissions.csv qit.csv st.csv --measure privacy-loss
             sfumato measure anonymized.csv --by race --picture groups.svg
    """
    from sfumato.measures import measure
    from sfumato.measures.grouped import measure_by
    from sfumato.reading.base import read_arrow
    from sfumato.results.json_schemas import MeasuredShape, MeasureShape, PolicyShape
    from sfumato.results.policy import evidence_of_type, not_yet_among, policy_not_met
    from sfumato.workflow.external import read_release, untrue_cells
    from sfumato.workflow.publish.loose_manifest import of_other_data

    if len(files) > 3:
        raise UserError(f"{len(files)} files were given; give [ORIGINAL] RELEASE [SENSITIVE]")
    original, release = (None, files[0]) if len(files) == 1 else files[:2]
    project = loaded(project_file)
    for name in of_other_data(files):
        warn(f"{name} is not the file that its manifest describes; `sfumato sanitize` writes both again")
    judged = read_release(
        release if os.path.isdir(release) else read_arrow(release, **dialect),
        project.table(original),
        project.schema,
        sensitive=read_arrow(files[2], **dialect) if len(files) == 3 else None,
        group=group,
        match=match,
        suppressed=suppressed,
        missing_values=project.data.missing_values,
        release_type=release_type,
    )
    asked: list[Any] = [parsed((name,)) if "=" in name else name for name in names]
    if not asked:
        needed = project.policy.measures(evidence_of_type(judged.type))
        asked = [*project.measures, *not_yet_among(project.measures, needed)]
    with words_shown():
        measurements = measure(judged, asked)
        grouped = None if by is None else measure_by(judged, asked, by, smallest=smallest)
    if picture is not None and grouped is None:
        raise UserError("--picture draws groups; say which with --by ATTRIBUTE")
    if picture is not None and grouped is not None:
        grouped.plot().save(picture)
    untrue = untrue_cells(judged) if match is not None else None
    broken = [] if names else broken_in(project, judged, measurements)
    if as_json:
        document = MeasureShape.of(
            judged,
            release=str(release),
            original_records=judged.n_original,
            untrue_cells=untrue,
            measurements=[MeasuredShape.of(m) for m in measurements],
            by=None if grouped is None else grouped.to_shape(),
            policy=PolicyShape(broken=[*broken]),
        )
        print_json("measure", document)
    else:
        print_judgement(release, judged, untrue, measurements)
        if grouped is not None:
            print_groups(grouped)
    if broken:
        raise policy_not_met(release.name, broken)

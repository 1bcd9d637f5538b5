"""Define the options that `sfumato publish` and `sfumato apply` share, and build the request from them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from sfumato.interfaces.cli.log import warn
from sfumato.verification.folder import FORMATS, PROFILES

_OF_THE_DECISION = (
    click.option("--why", default="", help="The reason for the choice; it goes into the report."),
    click.option("--by", default="", help="Who decided; it goes into the report."),
    click.option(
        "--sign",
        "key",
        metavar="KEY",
        type=click.Path(path_type=Path),
        help="An Ed25519 private key (PEM or OpenSSH) to sign the manifest with.",
    ),
)
# Each of these adds to a key of the section [publication]: it has the name of a field of `Publication`.
_OF_THE_FOLDER = (
    click.option(
        "--profile",
        "profiles",
        multiple=True,
        type=click.Choice(PROFILES),
        help="Add a page with the same facts in the order of a reviewer's template; repeat it for more.",
    ),
    click.option(
        "--format",
        "formats",
        multiple=True,
        type=click.Choice(FORMATS),
        help="Write the data for Stata (dta) or SPSS (sav), too; may be given several times. Needs "
        "sfumato[statistics].",
    ),
    click.option(
        "--partition-by",
        metavar="ATTRIBUTE",
        help="Lay the Parquet files into folders by the released values of an attribute: sex=Female and so "
        "on.",
    ),
)


def publication_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the shared options to a command with an argument FOLDER, and hand it all of them as one request."""

    @wraps(command)
    def with_request(folder: Path, why: str, by: str, key: Path | None, **given: Any) -> None:
        from sfumato.workflow.project.project_file import Publication
        from sfumato.workflow.publish.publication_request import PublicationRequest, require_new

        require_new(folder)
        of_the_folder = {name: given.pop(name) for name in Publication.__struct_fields__ if name in given}
        request = PublicationRequest(
            folder,
            why,
            by,
            publication=Publication(**of_the_folder),
            key=key,
            passphrase=_passphrase_of(key),
        )
        command(request=request, **given)

    decorated: Callable[..., None] = with_request
    for option in reversed((*_OF_THE_DECISION, *_OF_THE_FOLDER)):
        decorated = option(decorated)
    return decorated


def _passphrase_of(key: Path | None) -> bytes | None:
    from sfumato.verification.signature import is_locked

    if key is None:
        return None
    return click.prompt(f"Passphrase of {key.name}", hide_input=True).encode() if is_locked(key) else None


def warn_of_renamings(folder: Path) -> None:
    """Warn of columns that have another name in the file of a statistics program."""
    from sfumato.verification.documents import read_manifest
    from sfumato.workflow.publish.statistics_output import renamings

    for line in renamings(read_manifest(folder)):
        warn(line)

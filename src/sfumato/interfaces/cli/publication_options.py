"""Define the options that `sfumato publish` and `sfumato apply` share, and read the key's passphrase."""

from __future__ import annotations

from pathlib import Path

import click

from sfumato.interfaces.cli.log import warn
from sfumato.verification.folder import FORMATS, PROFILES

by_option = click.option("--by", default="", help="Who decided; it goes into the report.")

sign_option = click.option(
    "--sign",
    "key",
    metavar="KEY",
    type=click.Path(path_type=Path),
    help="An Ed25519 private key (PEM or OpenSSH) to sign the manifest with.",
)

profile_option = click.option(
    "--profile",
    "profiles",
    multiple=True,
    type=click.Choice(PROFILES),
    help="Add a page with the same facts in the order of a reviewer's template; repeat it for more.",
)

format_option = click.option(
    "--format",
    "formats",
    multiple=True,
    type=click.Choice(FORMATS),
    help="Write the data for Stata (dta) or SPSS (sav), too; may be given several times. Needs "
    "sfumato[statistics].",
)

partition_option = click.option(
    "--partition-by",
    metavar="ATTRIBUTE",
    help="Lay the Parquet files into folders by the released values of an attribute: sex=Female and so on.",
)


def passphrase_of(key: Path | None) -> bytes | None:
    """Ask for the passphrase of a key, if there is one and it is locked."""
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

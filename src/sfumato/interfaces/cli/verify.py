"""`sfumato verify`: check a published folder from its files alcheck."""

from __future__ import annotations

from pathlib import Path

import click

from sfumato.interfaces.cli.base import cli, json_option
from sfumato.interfaces.cli.terminal import echo, print_json

_MARKS = {"checked": "ok", "fails": "FAIL", "unverified": "unverified", "undecided": "cannot tell"}


@cli.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--key",
    type=click.Path(path_type=Path),
    help="The publisher's public key (PEM or OpenSSH): the manifest must be signed by it.",
)
@click.option(
    "--certificate",
    type=click.Path(path_type=Path),
    help="Write what was checked, and what was not, to this new file.",
)
@click.option("--by", default="a reader", help="Who checks; it goes into the certificate.", show_default=True)
@json_option
def verify(folder: Path, key: Path | None, certificate: Path | None, by: str, as_json: bool) -> None:
    """Check a published FOLDER from its files alone: that nothing was changed and every figure is right.

    What no reader can check is marked as an unverified claim by the publisher. Exit codes: 0 verified, 2
    something is wrong, 4 cannot tell, because a later version of sfumato wrote the folder.

    \b
    Example: sfumato verify published --key publisher.pem
    """
    from sfumato.results.json_schemas import CheckedShape, VerifyShape
    from sfumato.runtime.errors import CannotTell, VerificationFailed
    from sfumato.workflow.publish.verify import verify as check_folder
    from sfumato.workflow.publish.verify import write_certificate

    verification = check_folder(folder, key=key)
    if certificate is not None:
        write_certificate(verification, folder, certificate, by=by)
    if as_json:
        outcome = {0: "verified", 2: "wrong", 4: "cannot tell"}[verification.exit_code]
        document = VerifyShape(
            verified=verification.holds,
            outcome=outcome,
            checks=[CheckedShape.of(check) for check in verification],
        )
        print_json("verify", document)
    else:
        for check in verification:
            mark = f"{_MARKS[check.outcome]:<10}"
            echo(f"{mark}  {check.what}{': ' * bool(check.problem)}{check.problem}")
    if verification.failed:
        raise VerificationFailed(
            f"{len(verification.failed)} of {len(verification)} checks of {folder.name} fail"
        )
    if verification.undecided:
        raise CannotTell(verification.outcome)
    if not as_json:
        echo(verification.outcome)

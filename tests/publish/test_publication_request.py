"""A request for a publication: what it adds to a project's settings, and which names it refuses."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from sfumato import Limit, Publication
from sfumato.interfaces.cli.publish import _OF_THE_FOLDER
from sfumato.results.policy import Policy
from sfumato.results.recipients import NOBODY
from sfumato.runtime.errors import UserError
from sfumato.verification.folder import FORMATS
from sfumato.workflow.project.project_file import Project
from sfumato.workflow.publish.publication_request import (
    PublicationRequest,
    allowed_names,
    extended,
    require_new,
)

PROJECT = """
[data]
path = "people.csv"
[attributes]
age = { role = "quasi-identifying" }
[publication]
title = "People"
profiles = ["ema"]
partition-by = "age"
[policy]
recipient = "none"
k-anonymity = { at-least = 3 }
"""


def test_more_statements_are_appended_to_lists_and_replace_anything_else() -> None:
    own = Publication(title="People", profiles=["ema"], partition_by="age")
    more = Publication(purpose="research", profiles=["nist"], formats=["dta"], partition_by="sex")
    assert extended(own, more) == Publication(
        title="People", purpose="research", profiles=["ema", "nist"], formats=["dta"], partition_by="sex"
    )
    assert extended(own, Publication()) == own


def test_the_settings_of_a_project_come_first_and_those_of_the_request_are_added(tmp_path: Path) -> None:
    project = Project.parse(PROJECT, tmp_path / "people.toml")
    asked = PublicationRequest(tmp_path / "out", "because", publication=Publication(profiles=["wp216"]))
    request = asked.with_settings_of(project)
    assert (request.folder, request.why) == (tmp_path / "out", "because")
    assert request.measures == project.measures
    assert request.policy == Policy(NOBODY, {"k-anonymity": Limit(at_least=3)})
    assert request.publication.profiles == ["ema", "wp216"]
    assert request.publication.partition_by == "age"


def test_names_are_in_the_usual_order_and_others_are_refused() -> None:
    assert allowed_names("formats", ["sav", "dta", "sav"], FORMATS) == ("dta", "sav")
    with pytest.raises(UserError, match="formats: cannot be 'xls'"):
        allowed_names("formats", ["sav", "xls"], FORMATS)


def test_a_passphrase_is_not_shown() -> None:
    assert "secret" not in repr(PublicationRequest(Path("out"), key=Path("key.pem"), passphrase=b"secret"))


def test_a_folder_that_exists_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="exists already"):
        require_new(tmp_path)


def test_every_option_of_the_folder_is_a_key_of_the_section_publication() -> None:
    def command() -> None: ...

    for option in _OF_THE_FOLDER:
        option(command)
    names = {parameter.name for parameter in command.__click_params__}  # type: ignore[attr-defined]
    assert names <= {field.name for field in msgspec.structs.fields(Publication)}

"""The way from the page that the browser is given to the workbench."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sfumato.interfaces.workbench.token_redirect import write_redirect_page


def test_the_page_that_is_opened_leads_into_the_workbench(page: Any, serve: Any, tmp_path: Path) -> None:
    folder = tmp_path / "my people"
    folder.mkdir()
    page.goto(write_redirect_page(folder, serve(folder)).as_uri())
    page.wait_for_url("http://127.0.0.1:*/")
    page.get_by_role("heading", level=1).first.wait_for()
    assert "It works once" not in page.content()
    assert page.reload().status == 200

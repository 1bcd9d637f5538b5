"""A page that waits for what is being read, and people who do not wait for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .waiting import until

PROJECT = """
policy.recipient = "none"
[data]
path = "people.csv"
[attributes]
age = { role = "quasi-identifying" }
illness = { role = "sensitive" }
"""
A_MOMENT = 300


def test_who_has_left_the_loading_page_is_not_called_back(page: Any, serve: Any, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age,illness\n" + "31,flu\n42,cold\n" * 20, encoding="utf-8")
    project = tmp_path / "people.toml"
    project.write_text(PROJECT, encoding="utf-8")
    asked: dict[str, Any] = {}

    def data(route: Any) -> None:
        """Answer with a loading page that asks at once; its question waits."""
        if "sfumato-fragment" in route.request.headers:
            asked["ready?"] = route
            return
        whole = route.fetch()
        asking = '<main data-poll="1" data-until-ready '
        route.fulfill(response=whole, status=202, body=whole.text().replace("<main ", asking))

    # where the door leads to is not routed, and is ready or not as the machine is fast
    page.goto(serve(project))
    page.locator("main:not([data-until-ready])").wait_for()
    page.route("**/data", data)
    page.route("**/explore", lambda route: asked.setdefault("explore", route))
    page.goto(page.url)
    until(page, lambda: "ready?" in asked)
    page.get_by_role("navigation").get_by_role("link", name="Explore", exact=True).click(no_wait_after=True)
    until(page, lambda: "explore" in asked)
    with page.expect_response("**/data"):
        asked["ready?"].continue_()
    page.wait_for_timeout(A_MOMENT)  # a page that called back would do it now
    asked["explore"].continue_()
    page.wait_for_url("**/explore")
    page.get_by_role("heading", level=1).first.wait_for()

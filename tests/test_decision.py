"""The decision: plain data, and a time that everybody reads alike."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

from sfumato.results.decision import Decision, now


def test_survives_json() -> None:
    decision = Decision(
        "3f9a", why="the knee", by="A. Steward", when=now(), policy=("k-anonymity at least 11",)
    )
    facts = json.loads(json.dumps(decision.to_dict()))
    assert Decision(**{**facts, "policy": tuple(facts["policy"])}) == decision


def test_names_every_field_in_its_plain_data() -> None:
    assert Decision("3f9a").to_dict() == {"candidate": "3f9a", "why": "", "by": "", "when": "", "policy": []}


def test_now_is_the_present_second_in_utc() -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    moment = datetime.fromisoformat(now())
    assert moment.utcoffset() == timedelta(0)
    assert moment.microsecond == 0
    assert before <= moment <= datetime.now(UTC)

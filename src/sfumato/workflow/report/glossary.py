"""Explain the words of the report to a first-time reader."""

from __future__ import annotations

TERMS = {
    "record": "One row of the table: what it says of one person.",
    "quasi-identifier": "An attribute that others may know of a person, such as age or place. One alone "
    "names nobody; several together may single a person out.",
    "sensitive attribute": "What nobody should learn of a person from the release.",
    "to generalise": "To release a coarser value instead of the exact one: “40 to 49” instead of “43”. The "
    "hierarchy of an attribute says which coarser values there are.",
    "to withhold, to suppress": "Not to release a cell, or to leave a whole record out.",
    "class": "The records whose released quasi-identifiers are equal. Who knows only these cannot tell them "
    "apart; the size of the smallest class is the k of k-anonymity.",
    "group": "The records that share one published distribution of the sensitive attribute. Where values are "
    "generalised, groups and classes are the same.",
    "privacy loss, utility loss": "How much an adversary learns from the release, and how much an honest "
    "researcher loses by it. Less of one usually means more of the other.",
    "candidate": "A release that was made and measured, but not published.",
    "recipe": "The method with its settings: the same recipe, table and secret seed give the same release.",
    "model": "What a recipe asks of every class or group, for example at least 11 records.",
    "efficient": "Not beaten: no other candidate is at least as good on every axis and better on one.",
    "frontier": "All efficient candidates together. Statistical offices call the picture a risk-utility map.",
    "knee": "The efficient candidate that lies furthest from the straight line between both ends of the "
    "frontier: beyond it a little more of one side costs much of the other.",
    "trivial releases": "The two ends to compare with: the table as it is, and the table without its "
    "quasi-identifiers. Both need no method.",
    "baseline": "What the same measure gives without the release, or without the step that is judged.",
    "interval": "Where a measure works on a sample of questions, folds or records: the range that holds the "
    "value with 95% confidence. A value without an interval is exact: it is computed from all records.",
    "policy": "Limits that the publisher set beforehand. What breaks one of them is not published.",
    "checksum": "A fingerprint of a file (SHA-256). If one byte of the file changes, it changes too.",
}

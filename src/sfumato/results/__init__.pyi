# Written by tools/public_names.py from the table in __init__.py; do not edit.

from sfumato.reading.base import Codebook
from sfumato.registry.display import Picture
from sfumato.results.candidate import Candidate
from sfumato.results.decision import Decision
from sfumato.results.frontier import Frontier
from sfumato.results.linked_release import LinkedRelease, origin_of
from sfumato.results.measurement import Measurement
from sfumato.results.origin import Earlier, Origin
from sfumato.results.pareto import Limit
from sfumato.results.recoding import Recoding
from sfumato.results.release import Release
from sfumato.results.verification_outcome import Verification
from sfumato.verification.check import Check
from sfumato.workflow.choose.comparison import Comparison
from sfumato.workflow.choose.question_answer import Answer
from sfumato.workflow.inspect.inspected_columns import Inspection
from sfumato.workflow.project.project_file import Publication
from sfumato.workflow.publish.publication_request import Evidence
from sfumato.workflow.query.challenge import Challenge
from sfumato.workflow.query.query_answer import QueryAnswer
from sfumato.workflow.query.query_language import Query

_HOMES: dict[str, str]
__all__ = [
    "Answer",
    "Candidate",
    "Challenge",
    "Check",
    "Codebook",
    "Comparison",
    "Decision",
    "Earlier",
    "Evidence",
    "Frontier",
    "Inspection",
    "Limit",
    "LinkedRelease",
    "Measurement",
    "Origin",
    "Picture",
    "Publication",
    "Query",
    "QueryAnswer",
    "Recoding",
    "Release",
    "Verification",
    "origin_of",
]

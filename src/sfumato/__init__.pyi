# Written by tools/public_names.py from the table in __init__.py; do not edit.

from sfumato import measures, miners, models, results, sanitizers, searches
from sfumato.data.hierarchy import Dates, Hierarchy, Intervals, Prefixes
from sfumato.data.public_values import PublicValues
from sfumato.data.schema import Attribute, Schema
from sfumato.data.table import Table
from sfumato.measures.grouped import measure_by
from sfumato.reading import datasets
from sfumato.reading.codebook import read_codebook
from sfumato.reading.read_table import read
from sfumato.registry.methods import register
from sfumato.registry.recipe import Recipe
from sfumato.results.candidate import Candidate
from sfumato.results.decision import Decision
from sfumato.results.frontier import Frontier
from sfumato.results.measurement import measure
from sfumato.results.pareto import Limit
from sfumato.results.recoding import Recoding, freeze
from sfumato.results.release import Release
from sfumato.runtime import errors
from sfumato.sanitizers.base import sanitize
from sfumato.workflow.apply.apply import apply
from sfumato.workflow.choose.comparison import compare
from sfumato.workflow.choose.question_answer import ask
from sfumato.workflow.explore.library import explore
from sfumato.workflow.external import read_release
from sfumato.workflow.inspect.inspected_columns import inspect
from sfumato.workflow.project.project_file import Project, Publication
from sfumato.workflow.publish.publish import publish
from sfumato.workflow.publish.verify import verify
from sfumato.workflow.query.challenge import challenge
from sfumato.workflow.query.query_answer import query
from sfumato.workflow.store.store import Store

__version__: str
_HOMES: dict[str, str]
__all__ = [
    "Attribute",
    "Candidate",
    "Dates",
    "Decision",
    "Frontier",
    "Hierarchy",
    "Intervals",
    "Limit",
    "Prefixes",
    "Project",
    "PublicValues",
    "Publication",
    "Recipe",
    "Recoding",
    "Release",
    "Schema",
    "Store",
    "Table",
    "__version__",
    "apply",
    "ask",
    "challenge",
    "compare",
    "datasets",
    "errors",
    "explore",
    "freeze",
    "inspect",
    "measure",
    "measure_by",
    "measures",
    "miners",
    "models",
    "publish",
    "query",
    "read",
    "read_codebook",
    "read_release",
    "register",
    "results",
    "sanitize",
    "sanitizers",
    "searches",
    "verify",
]

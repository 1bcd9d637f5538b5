"""Declare the JSON that commands print with ``--json`` and that `to_dict` returns, each document as a shape.

Each shape has a version number. A new key leaves the number as it is; removing a key or changing its meaning
raises it. The JSON Schemas are derived from the shapes, and commands and nouns build them: a key is declared
once, here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, get_args

import msgspec
from msgspec import UNSET, Meta, UnsetType

from sfumato.results.measurement import json_value
from sfumato.runtime.errors import ParameterError, suggestion

if TYPE_CHECKING:
    from sfumato.results.frontier import Frontier

Figure = float | Literal["Infinity", "-Infinity", "NaN"] | None
"""A number; what JSON has no number for is a word, and what does not apply is nothing."""

_ELSEWHERE = "sfumato.shapes"
"""The entry points by which other packages declare what their commands print."""

Exit = Annotated[int, Meta(ge=1)]


class Shape(msgspec.Struct, rename="kebab", forbid_unknown_fields=True, kw_only=True):
    """A part of what is printed; `number` counts what changed so that a reader must notice."""

    number: ClassVar[int] = 1

    @classmethod
    def of(cls, noun: Any, **more: Any) -> Self:
        """Build the shape from an object whose attributes have the names of the keys.

        A count may have the prefix ``n_``: the key ``people`` is then `n_people`. Objects inside of it become
        the shapes that are declared for them. A key that may be left out is, where there is nothing to state.

        Parameters
        ----------
        noun
            The object.
        **more
            The keys that it has no attribute for.
        """
        keys = dict(more)
        for field, inner in _fields(cls):
            if field.name not in keys:
                own = field.name if hasattr(noun, field.name) else f"n_{field.name}"
                value = getattr(noun, own)
                if field.default is not UNSET or value not in (None, (), [], {}):
                    keys[field.name] = _shaped(value, inner)
        return cls(**keys)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON; infinity is the text ``Infinity``."""
        pairs = [(field.encode_name, getattr(self, field.name)) for field, _ in _fields(type(self))]
        return {key: _plain(value) for key, value in pairs if value is not UNSET}


@cache
def _fields(shape: type[Shape]) -> list[tuple[msgspec.structs.FieldInfo, type[Shape] | None]]:
    """Return the fields of a shape, each with the shape of what it holds, if it holds some."""
    return [(field, _shape_within(field.type)) for field in msgspec.structs.fields(shape)]


def _shape_within(annotation: Any) -> type[Shape] | None:
    """Return the shape that an annotation holds, such as that of ``list[WayShape] | None``."""
    if isinstance(annotation, type) and issubclass(annotation, Shape):
        return annotation
    return next((kind for part in get_args(annotation) if (kind := _shape_within(part))), None)


def _shaped(value: Any, shape: type[Shape] | None) -> Any:
    if shape is None or value is None or isinstance(value, Shape):
        return value
    return [_shaped(item, shape) for item in value] if isinstance(value, (list, tuple)) else shape.of(value)


def _plain(value: Any) -> Any:
    if isinstance(value, Shape):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return json_value(value)


class MeasuredShape(Shape):
    """What a measure says of a release.

    Parameters
    ----------
    measure, parameters, attribute
        The measure, what it was given, and the sensitive attribute that it speaks of, if it speaks of one.
    value, interval, baseline
        The figure, the interval that it was estimated within, and what it would be without the release.
    axis, better
        Whether it is of privacy or of utility, and which direction is better.
    applicable
        Whether it can be said of this release at all; the reason stands in the detail.
    detail
        More figures, by name.
    """

    measure: str
    attribute: str | None
    value: Figure
    axis: Literal["privacy", "utility"]
    better: Literal["lower", "higher"]
    applicable: bool
    interval: tuple[Figure, Figure] | None
    baseline: Figure
    detail: dict[str, Any]
    parameters: dict[str, Any] | UnsetType = UNSET


class WayShape(Shape):
    """A recipe that made a release.

    Parameters
    ----------
    id
        The candidate.
    sanitizer, parameters
        The method and what it was given.
    """

    id: str
    parameters: dict[str, Any]
    sanitizer: str

    @classmethod
    def of(cls, noun: Any, **more: Any) -> Self:
        """Build the shape from something with a recipe, which is shown without its seed."""
        return super().of(noun, **json.loads(noun.recipe.public_json()), **more)


class MadeShape(WayShape):
    """A candidate and what was measured of it.

    Parameters
    ----------
    efficient, knee
        Whether no other one beats it on both axes, and whether the frontier bends there.
    infeasible
        Why it could not be made, if it could not.
    also
        Other recipes that make the same release.
    measurements
        What was measured.
    policy
        How it stands to the policy.
    """

    efficient: bool
    knee: bool
    infeasible: str | None
    also: list[WayShape]
    measurements: list[MeasuredShape]
    policy: PolicyShape


class PolicyShape(Shape):
    """How a release stands to the policy of the project.

    Parameters
    ----------
    broken
        The limits that it does not keep.
    """

    broken: list[str]


class UnmadeShape(Shape):
    """A candidate that could not be made.

    Parameters
    ----------
    id, recipe, reason
        Which, and why.
    """

    id: str
    recipe: str
    reason: str | None


class FrontierShape(Shape):
    """`sfumato frontier`: every candidate that was made.

    Parameters
    ----------
    notes
        What to know first: who is assumed to get the release, and whether any candidate keeps the policy.
    recipient
        Who gets the release.
    axes
        The measure of privacy and that of utility.
    candidates
        All that were made and can be compared, efficient or not.
    not_comparable
        Those to which one of the axes does not apply.
    infeasible
        Those that could not be made.
    too_small
        What would help, where the table has too few records for its quasi-identifiers; else empty.
    """

    notes: list[str]
    recipient: str
    axes: list[str]
    candidates: list[MadeShape]
    not_comparable: list[str]
    infeasible: list[UnmadeShape]
    too_small: str

    @classmethod
    def of(cls, noun: Frontier, **more: Any) -> Self:
        """Build the shape from a frontier."""
        efficient, knee = noun.efficient(), noun.knee()
        return cls(
            notes=[*noun.policy_notes()],
            recipient=noun.policy.recipient,
            axes=list(noun.axes),
            candidates=[
                MadeShape.of(
                    c,
                    efficient=c in efficient,
                    knee=c == knee,
                    policy=PolicyShape(broken=[*noun.broken.get(c.id, ())]),
                )
                for c in noun.candidates
            ],
            not_comparable=[c.id for c in noun.apart],
            infeasible=[
                UnmadeShape(id=c.id, recipe=str(c.recipe), reason=c.infeasible) for c in noun.infeasible
            ],
            **{"too_small": "", **more},
        )


class DemoShape(FrontierShape):
    """`sfumato demo`: the frontier of the embedded example.

    Parameters
    ----------
    report
        The page that was written.
    """

    report: str


class ShowShape(MadeShape):
    """`sfumato show`: one candidate.

    Parameters
    ----------
    dominated_by
        The candidates that beat it on both axes.
    """

    dominated_by: list[str]


class GrownShape(Shape):
    """How much the frontier covered at some moment.

    Parameters
    ----------
    seconds, value
        After how many seconds, and its hypervolume.
    """

    seconds: float
    value: float


class ExploreShape(Shape):
    """`sfumato explore`: how an exploration went.

    Parameters
    ----------
    made, known, infeasible, failed
        The candidates that were made now, those that were there before, those that could not be made, and of
        these the ones that a method at fault or a limit left unmade.
    equal, refined, left
        Those that make the same release as another, those that were tried in gaps of the frontier, and those
        that are still to be made.
    budget_spent, seconds
        Whether the budget ended it, and how long it took.
    hypervolume
        How the frontier grew.
    notes
        What to know first: who is assumed to get the release, and whether any candidate keeps the policy.
    store, efficient
        Where everything is kept, and the candidates that are efficient.
    too_small
        What would help, where the table has too few records for its quasi-identifiers; else empty.
    """

    made: int
    known: int
    infeasible: int
    failed: int
    equal: int
    refined: int
    left: int
    budget_spent: bool
    seconds: float
    hypervolume: list[GrownShape]
    notes: list[str]
    store: str
    efficient: list[str]
    too_small: str


class DryRunShape(Shape):
    """`sfumato explore --dry-run`: what an exploration would do.

    Parameters
    ----------
    candidates, known, searches
        The candidates to make, those that are there, and the searches whose candidates nobody can count yet.
    memory, budget
        Bytes of memory, and the seconds after which it would stop.
    """

    candidates: int
    known: int
    searches: int
    memory: int
    budget: float | None


class ChosenShape(WayShape):
    """A candidate in an answer.

    Parameters
    ----------
    in_words
        How it was made.
    also
        Other recipes that make the same release, in words.
    figures
        What was asked for, by measure.
    """

    in_words: str
    also: list[str] | UnsetType = UNSET
    figures: dict[str, Figure] | UnsetType = UNSET


class StepShape(Shape):
    """What another limit would give.

    Parameters
    ----------
    at, candidate, figures
        The limit, the candidate that would be best then, and its figures.
    """

    at: Figure
    candidate: str
    figures: dict[str, Figure]


class WorthShape(Shape):
    """What a limit costs.

    Parameters
    ----------
    limit, value
        The limit, and what the answer has there.
    looser, best_buy, tighter
        What the next looser one, the one that gains most for what it gives up, and the next tighter one give.
    """

    limit: str
    value: Figure
    looser: StepShape | None
    best_buy: StepShape | None
    tighter: StepShape | None


class AnswerShape(Shape):
    """The answer to a question.

    Parameters
    ----------
    question, answered
        What was understood, and whether a candidate keeps all limits; if not, the exit code is 3.
    candidate, figures, ties
        The answer, its figures, and others that are as good.
    trade_offs, runner_up, nearest
        With several goals the candidates between them; the next best; the nearest where none keeps the
        limits.
    limits
        What each limit costs.
    compared, keeping
        How many candidates were compared, and how many of them keep the limits.
    not_applicable, not_measured
        How many candidates a measure does not apply to, or was not taken of, by measure.
    """

    question: str
    answered: bool
    candidate: ChosenShape | None
    figures: dict[str, Figure]
    ties: list[str]
    trade_offs: list[ChosenShape]
    runner_up: ChosenShape | None
    limits: list[WorthShape]
    nearest: ChosenShape | None
    compared: int
    keeping: int
    not_applicable: dict[str, int]
    not_measured: dict[str, int]


class AskShape(AnswerShape):
    """`sfumato ask`: the answer to a question.

    Parameters
    ----------
    policy
        How the answer stands to the policy.
    """

    policy: PolicyShape


class PairShape(Shape):
    """What a measure says of two releases.

    Parameters
    ----------
    measure, attribute, better
        The measure, the sensitive attribute, and which direction is better.
    values, verdict
        Both figures, and which release is better by it.
    """

    measure: str
    attribute: str | None
    better: Literal["lower", "higher"]
    values: tuple[Figure, Figure]
    verdict: str


class SizesShape(Shape):
    """How large the classes of a release are.

    Parameters
    ----------
    classes, smallest, largest, weighted_k
        Their number, the smallest, the largest, and the size that a record finds itself in on average.
    percentiles
        Of 100 records so many are in a class of at most this size.
    """

    classes: int
    smallest: int
    percentiles: dict[str, int]
    largest: int
    weighted_k: float


class WorseOffShape(Shape):
    """How many records one release protects worse than the other.

    Parameters
    ----------
    by, attribute
        By what, and of which sensitive attribute.
    first, second, alike
        The records that are worse off in the first, in the second, and in neither.
    """

    by: str
    attribute: str | None
    first: int
    second: int
    alike: int


class ComparisonShape(Shape):
    """Two releases side by side.

    Parameters
    ----------
    releases
        What the two are called.
    measures, class_sizes, losses
        Both figures of each measure, the sizes of both's classes, and the loss of each attribute in both.
    worse_off, expected
        Whom which of them protects worse, and whether that is an expectation, as records are not told apart.
    released
        The records that are in both, in one, and in neither.
    notes
        What a reader should know.
    """

    releases: list[str]
    measures: list[PairShape]
    class_sizes: list[SizesShape]
    losses: dict[str, list[Figure]]
    worse_off: list[WorseOffShape]
    released: dict[str, int] | None
    expected: bool
    notes: list[str]


class CompareShape(ComparisonShape):
    """`sfumato compare`: two candidates side by side.

    Parameters
    ----------
    recipes
        How the two were made.
    policies
        How each of them stands to the policy.
    """

    recipes: list[str]
    policies: list[PolicyShape]


class GuessedShape(Shape):
    """What a column is taken for.

    Parameters
    ----------
    name, role, kind
        The column, its role, and whether it has numbers or categories.
    distinct, missing
        How many different values it has, and how many records have none.
    reason
        Why.
    """

    name: str
    role: str
    kind: str
    distinct: int
    missing: int
    reason: str


class NewShape(Shape):
    """`sfumato new`: the project that was written.

    Parameters
    ----------
    project, attributes
        The file, and the guesses in it.
    """

    project: str
    attributes: list[GuessedShape]


class AttributeShape(Shape):
    """An attribute as the project describes it.

    Parameters
    ----------
    name, role, kind
        The column, its role, and whether it has numbers or categories, or is dropped.
    distinct, missing, levels
        How many different values it has, how many records have none, and the levels of its hierarchy.
    """

    name: str
    role: str
    kind: str
    distinct: int
    missing: int
    levels: int


class RiskShape(Shape, kw_only=True):
    """What would be found if the table were published as it is.

    Parameters
    ----------
    sentences
        In words.
    unique_records, smallest_class, average_risk, share_at_risk
        Those whom nobody looks like, the smallest class, the mean chance to be found, and the share of those
        with a chance above one in five; not there where nothing is quasi-identifying.
    """

    unique_records: int | UnsetType = UNSET
    smallest_class: int | UnsetType = UNSET
    average_risk: float | UnsetType = UNSET
    share_at_risk: float | UnsetType = UNSET
    sentences: list[str]


class InsensitiveShape(Shape):
    """Attributes that are released as they are and point at records nevertheless.

    Parameters
    ----------
    attributes, sensitive
        The attributes, and the sensitive one that they were looked at with, if any.
    alone, share
        How many records, and which share, have a combination of their own.
    """

    attributes: list[str]
    sensitive: str | None
    alone: int
    share: float


class TellingShape(Shape):
    """How far a column tells people apart.

    Parameters
    ----------
    name, role
        The column.
    distinction, separation
        Different values for each record, and the share of all pairs of records that it tells apart.
    unique
        The share that would be unique without it where it is quasi-identifying, and with it where it is not.
    part
        Its part in the smallest sets that single people out.
    """

    name: str
    role: str
    distinction: float
    separation: float
    unique: float
    part: float | None


class SinglingSetShape(Shape):
    """Columns that single people out together, where no fewer of them do.

    Parameters
    ----------
    columns, people
        The columns, and how many they single out.
    """

    columns: list[str]
    people: int


class SinglingOutShape(Shape):
    """What tells people apart.

    Parameters
    ----------
    unique, counted
        The share that is unique in the quasi-identifiers, and of what: people or records.
    columns, sets, most_together
        Each column; the smallest sets; and how many columns were looked at together at most.
    """

    unique: float
    counted: Literal["people", "records"]
    columns: list[TellingShape]
    sets: list[SinglingSetShape]
    most_together: int


class InspectShape(Shape):
    """`sfumato inspect`: the table before anything is made.

    Parameters
    ----------
    records, people, distinct_rows
        How many there are.
    attributes, risk
        Each attribute, and what would be found if everything were published.
    insensitive, warnings
        What points at people although it is called insensitive, and what a person should look at.
    singling_out
        What each column adds.
    """

    records: int
    people: int
    distinct_rows: int
    attributes: list[AttributeShape]
    risk: RiskShape
    insensitive: list[InsensitiveShape]
    warnings: list[str]
    singling_out: SinglingOutShape | UnsetType = UNSET


class ParameterShape(Shape):
    """A parameter of a method.

    Parameters
    ----------
    name, type, default
        Its name, its type, and what it is where nothing is said.
    bounds
        What its numbers may be, in words; empty if no bound is declared.
    """

    name: str
    type: str
    default: str
    bounds: str


class MethodShape(Shape):
    """`sfumato methods NAME`: one method.

    Parameters
    ----------
    name, kind
        Its name, and whether it is a sanitizer, a model, a measure, a search or a miner.
    summary, documentation
        What it does, in a sentence and in full.
    parameters, facts
        What it can be given, and what is declared of it.
    reference, paper
        Where it comes from, in full and in short.
    """

    name: str
    kind: str
    summary: str
    parameters: list[ParameterShape]
    facts: dict[str, str | bool]
    reference: str
    paper: str
    documentation: str


class MethodsShape(Shape):
    """`sfumato methods`: everything registered.

    Parameters
    ----------
    methods
        Each method.
    """

    methods: list[MethodShape]


class SanitizeShape(Shape):
    """`sfumato sanitize`: one release in a file.

    Parameters
    ----------
    output, manifest, recipe, measurements
        The files, what says beside them what they are, how it was made, and what was measured.
    """

    output: list[str]
    manifest: str
    recipe: str
    measurements: list[MeasuredShape]


class GroupShape(Shape):
    """What measures say of one group of people.

    Parameters
    ----------
    group, records
        The value of the attribute, and how many original records have it.
    values
        The figures by measure, the worst over the sensitive attributes; null where one does not apply.
    """

    group: str
    records: int
    values: dict[str, Figure]


class ByGroupShape(Shape):
    """What measures say of each group of people.

    Parameters
    ----------
    attribute, groups
        The attribute whose values make the groups, and the groups.
    left_out
        How many records are in groups that are too small.
    worst
        By measure, the group that does worst.
    """

    attribute: str
    left_out: int
    groups: list[GroupShape]
    worst: dict[str, str | None]


class MeasureShape(Shape):
    """`sfumato measure`: a release that any program made.

    Parameters
    ----------
    release, records, original_records, suppressed
        The file, its records, those of the original, and those that are suppressed.
    type
        What the rows stand for, as was said or assumed.
    notes
        What was assumed.
    untrue_cells
        How many cells do not contain the original's value, where records correspond.
    measurements, policy
        What was measured, and how it stands to the policy.
    by
        The same for each group of people, where --by asks for it.
    """

    release: str
    records: int
    original_records: int
    suppressed: int
    type: Literal["people", "perturbed", "synthetic"]
    notes: list[str]
    untrue_cells: dict[str, int] | None
    measurements: list[MeasuredShape]
    by: ByGroupShape | None
    policy: PolicyShape


class DecidedShape(Shape):
    """Who chose what, when and why.

    Parameters
    ----------
    candidate, why, by, when, policy
        The choice, the reason, who decided, when, and the limits that it keeps.
    """

    candidate: str
    why: str
    by: str
    when: str
    policy: list[str]


class ApplyShape(Shape):
    """`sfumato apply`: new records with the recoding of an earlier release.

    Parameters
    ----------
    folder, new_records, records
        Where, how many new records there were, and how many of them were released.
    withheld, suppressed
        How many no released value stands for, by attribute, or `no class` where only all values together have
        none; and how many are suppressed so that the models hold.
    earlier_releases, unrecognized
        With how many earlier releases together the models were checked, and in how many of these it is not
        known who is who: if in any, that check is an estimate.
    """

    folder: str
    records: int
    new_records: int
    withheld: dict[str, int]
    suppressed: int
    earlier_releases: int
    unrecognized: int


class PublishShape(Shape):
    """`sfumato publish`: what was written.

    Parameters
    ----------
    folder, decision, records
        Where, the decision, and how many records were released.
    """

    folder: str
    decision: DecidedShape
    records: int


class AnsweredShape(Shape):
    """One figure of the answer to a query.

    Parameters
    ----------
    by
        The value of each attribute that the answer is told apart by.
    value, deviation
        What is estimated, and its standard deviation under the reading.
    least, most
        What is certain.
    """

    by: dict[str, str | None]
    value: Figure
    deviation: Figure
    least: Figure
    most: Figure


class QueryShape(Shape):
    """`sfumato query`: what a release answers.

    Parameters
    ----------
    query, reading
        The query as it was understood, and how the release was interpreted.
    records, suppressed
        How many records are released, and how many of the original are suppressed.
    rows
        The figures.
    notes
        What a reader should know.
    """

    query: str
    reading: Literal["maximum-entropy", "uniform"]
    records: int
    suppressed: int
    rows: list[AnsweredShape]
    notes: list[str]


class ChallengeShape(Shape):
    """`sfumato challenge`: what was written.

    Parameters
    ----------
    folder, answers
        What outsiders get, and what stays with the owner.
    records
        How many records the release has.
    targets, control
        How many people are asked about, and how many of them were not in the data.
    known, questions
        What is told of them, and what is asked.
    """

    folder: str
    answers: str
    records: int
    targets: int
    control: int
    known: list[str]
    questions: list[str]


class ScoredShape(Shape):
    """How well one question of a challenge was guessed.

    Parameters
    ----------
    question
        The question.
    guesses, rate
        How many guesses were about people in the data, and how many of them were right.
    control_guesses, control_rate
        The same of people who were not in it.
    risk, interval
        (r - c) / (1 - c) of the two rates, with 95% confidence; null where that is undefined.
    undefined
        Why there is no risk: a side without guesses, or a control group whose rate is 100%.
    """

    question: str
    guesses: int
    control_guesses: int
    rate: float | None
    control_rate: float | None
    risk: float | None
    interval: tuple[float, float] | None
    undefined: str | None


class ScoreShape(Shape):
    """`sfumato score`: how well guesses about the people of a challenge did.

    Parameters
    ----------
    scores
        One for each question.
    """

    scores: list[ScoredShape]


class CheckedShape(Shape):
    """One check of a published folder.

    Parameters
    ----------
    what, holds, problem
        What was checked, whether it holds, and what is wrong.
    unverified
        Whether it is an unverified claim by the publisher: nobody can check it from the files.
    undecided
        Whether only a later version of sfumato can check it.
    """

    what: str
    holds: bool
    unverified: bool
    undecided: bool
    problem: str


class VerifyShape(Shape):
    """`sfumato verify`: what was checked of a published folder, and what nobody can check.

    Parameters
    ----------
    verified, outcome, checks
        Whether all holds; ``verified``, ``wrong`` (exit code 2) or ``cannot tell`` (exit code 4, because a
        later version of sfumato wrote the folder); and each check.
    """

    verified: bool
    outcome: str
    checks: list[CheckedShape]


class WorkbenchShape(Shape):
    """`sfumato workbench`: where it listens.

    Parameters
    ----------
    address
        What to open; whoever knows it is let in.
    """

    address: str


class CompletionShape(Shape):
    """`sfumato completion`: what makes a shell complete what is typed.

    Parameters
    ----------
    shell, script
        The shell, and the lines that it should read.
    """

    shell: str
    script: str


class PackageShape(Shape):
    """A package that sfumato uses.

    Parameters
    ----------
    name, version
        The package, and its version if it is installed.
    extra
        The extra that it belongs to; nothing if sfumato always needs it.
    install
        The command that installs it.
    """

    name: str
    version: str | None
    extra: str | None
    install: str


class KernelsShape(Shape):
    """The compiled kernels.

    Parameters
    ----------
    total, compiled
        All kernels, and those of which compiled code for this machine is kept.
    folder
        The folder in which this user keeps new compiled code, if one is writable.
    """

    total: int
    compiled: int
    folder: str | None


class DoctorShape(Shape):
    """`sfumato doctor`: what is installed, and where caches and stores are.

    Parameters
    ----------
    version, python
        The versions of sfumato and of Python.
    folder
        The folder of the package.
    packages
        What sfumato uses.
    kernels
        The compiled kernels.
    stores
        The stores of the project files in the current folder.
    """

    version: str
    python: str
    folder: str
    packages: list[PackageShape]
    kernels: KernelsShape
    stores: list[str]


class NamedShape(Shape):
    """Something that is printed.

    Parameters
    ----------
    name, is_
        Its name, and what stands as its format.
    """

    name: str
    is_: str = msgspec.field(name="is")


class ShapesShape(Shape):
    """`sfumato shape`: everything that is printed.

    Parameters
    ----------
    shapes
        Each of them.
    """

    shapes: list[NamedShape]


class ErrorShape(Shape):
    """Any command with ``--json`` that fails, as one line on standard error.

    Parameters
    ----------
    kind, message, exit_code
        What went wrong, in a word and in a sentence, and the code that the command ends with.
    """

    kind: str
    message: str
    exit_code: Exit


class LogShape(Shape):
    """Every line on standard error with ``--log-format json``.

    Parameters
    ----------
    time, level, message
        When (UTC), how grave, and what.
    done, total, elapsed
        Of progress: how many are done, of how many, and the seconds since the start.
    """

    time: str
    level: Literal["info", "warning", "error"]
    message: str
    done: int | UnsetType = UNSET
    total: int | UnsetType = UNSET
    elapsed: float | UnsetType = UNSET


SHAPES: dict[str, type[Shape]] = {
    "apply": ApplyShape,
    "ask": AskShape,
    "challenge": ChallengeShape,
    "score": ScoreShape,
    "compare": CompareShape,
    "completion": CompletionShape,
    "demo": DemoShape,
    "doctor": DoctorShape,
    "dry-run": DryRunShape,
    "error": ErrorShape,
    "explore": ExploreShape,
    "frontier": FrontierShape,
    "inspect": InspectShape,
    "log": LogShape,
    "measure": MeasureShape,
    "method": MethodShape,
    "methods": MethodsShape,
    "new": NewShape,
    "publish": PublishShape,
    "query": QueryShape,
    "sanitize": SanitizeShape,
    "shapes": ShapesShape,
    "show": ShowShape,
    "verify": VerifyShape,
    "workbench": WorkbenchShape,
}
"""What sfumato's own commands print, by name."""


def shape_of(name: str) -> type[Shape] | None:
    """Return the shape of this name: ours, or one that another package declares for its command."""
    if name in SHAPES:
        return SHAPES[name]
    found = next(iter(metadata.entry_points(group=_ELSEWHERE, name=name)), None)
    return None if found is None else found.load()


def names_of_shapes() -> list[str]:
    """Return the names of all shapes, those of other packages last."""
    return [*SHAPES, *sorted({each.name for each in metadata.entry_points(group=_ELSEWHERE)} - {*SHAPES})]


def form(name: str) -> str:
    """Return what stands as ``format`` in what is printed.

    Examples
    --------
    >>> form("frontier")
    'sfumato/frontier/1'
    """
    return f"sfumato/{name}/{_known(name).number}"


def _known(name: str) -> type[Shape]:
    found = shape_of(name)
    if found is None:
        hint = suggestion(name, names_of_shapes())
        raise ParameterError(f"nothing of the name {name!r} is printed{hint}")
    return found


def schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of what is printed; keys that it does not name may be added later.

    Examples
    --------
    >>> schema("workbench")["properties"]
    {'format': {'const': 'sfumato/workbench/1'}, 'address': {'type': 'string'}}
    """
    (described,), parts = msgspec.json.schema_components([_known(name)], ref_template="#/$defs/{name}")
    for part in parts.values():
        del part["additionalProperties"]
        part["description"] = part["description"].partition("\n")[0]
    whole = parts.pop(described["$ref"].rpartition("/")[2])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **whole,
        "properties": {"format": {"const": form(name)}, **whole["properties"]},
        "required": ["format", *whole["required"]],
        **({"$defs": parts} if parts else {}),
    }

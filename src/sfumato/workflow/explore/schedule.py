"""Order candidates so that a rough frontier appears early and every method gets about the same time."""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median

from sfumato.registry import methods
from sfumato.registry.declarations import own
from sfumato.workflow.explore.candidate_workers import Task, has_parameters


@dataclass(frozen=True)
class MethodCosts:
    """How many seconds candidates took, by method: to compare methods with each other, not to predict.

    Parameters
    ----------
    seconds
        The seconds of each candidate of a method, sorted; `add` adds one.

    Examples
    --------
    >>> costs = MethodCosts({"mondrian": [1.0, 2.0, 9.0]})
    >>> costs.of("mondrian"), costs.of("local-recoding")
    (2.0, 40.0)
    """

    seconds: dict[str, list[float]] = field(default_factory=dict)

    def add(self, sanitizer: str, seconds: float) -> None:
        """Add the seconds of one candidate."""
        insort(self.seconds.setdefault(sanitizer, []), seconds)

    def of(self, sanitizer: str) -> float:
        """Return the median seconds; of an untimed method, those of others scaled by `times_mondrian`."""
        timed = self.seconds.get(sanitizer)
        if timed:
            # of two the smaller one: the first may include loading code that all others share
            return timed[(len(timed) - 1) // 2]
        # a method without parameters is made in no time, so its seconds say nothing about the others
        others = [name for name in self.seconds if has_parameters(name)] or list(self.seconds)
        unit = median(self.of(name) / _weight(name) for name in others) if others else 1.0
        return unit * _weight(sanitizer)


def _weight(sanitizer: str) -> float:
    return own(methods.find("sanitizer", sanitizer), "times_mondrian") or 1.0


def in_order(entries: Sequence[Sequence[Task]], costs: MethodCosts) -> Iterator[Task]:
    """Yield the tasks of all entries; the next one is chosen when the caller asks for it.

    Methods without parameters, the ends of every frontier, come first. Then comes the middle candidate of
    every method and of every family of every entry, cheap ones first. Then the families take turns, each in
    the order of `spread`, so that all get about the same time.

    Parameters
    ----------
    entries
        The tasks of each ``[[candidates]]``, in the order of its parameters.
    costs
        What methods have cost so far; the caller may add to them between two tasks.
    """
    yield from (task for tasks in entries for task in tasks if not has_parameters(task.recipe.sanitizer))
    families = [family for tasks in entries for family in _families(tasks)]
    lines = [deque(family[place] for place in spread(len(family))) for family in families]
    begun: set[str] = set()
    heads = list(lines)
    while heads:
        line = min(heads, key=lambda line: (_method(line) in begun, costs.of(_method(line))))
        heads.remove(line)
        begun.add(_method(line))
        yield line.popleft()
    turns = [1] * len(lines)
    while any(lines):
        waiting = [place for place, line in enumerate(lines) if line]
        place = min(waiting, key=lambda i: ((turns[i] + 1) * costs.of(_method(lines[i])), turns[i]))
        turns[place] += 1
        yield lines[place].popleft()


def _families(tasks: Iterable[Task]) -> list[list[Task]]:
    """Group tasks with parameters by method, models and words: members differ only in numbers or lists."""
    families: dict[tuple[object, ...], list[Task]] = {}
    for task in tasks:
        if has_parameters(task.recipe.sanitizer):
            parameters = task.recipe.parameters
            words = (value for value in parameters.values() if isinstance(value, str))
            key = (task.recipe.sanitizer, *parameters.get("model", ()), *words)
            families.setdefault(key, []).append(task)
    return list(families.values())


def _method(line: Sequence[Task]) -> str:
    return line[0].recipe.sanitizer


def spread(n: int) -> list[int]:
    """Return the numbers below n: the middle, both ends, then repeatedly the middles between them.

    Examples
    --------
    >>> spread(9)
    [4, 0, 8, 2, 6, 1, 3, 5, 7]
    """
    order = list(dict.fromkeys([n // 2, 0, n - 1])) if n else []
    between = deque([(0, n // 2), (n // 2, n - 1)]) if n else deque()
    while between:
        low, high = between.popleft()
        middle = (low + high) // 2
        if low < middle:
            order.append(middle)
            between += [(low, middle), (middle, high)]
    return order

"""Order candidates so that a rough frontier appears early and is refined evenly."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence

from sfumato.workflow.explore.candidate_workers import Task, has_parameters
from sfumato.workflow.explore.time_estimate import Costs


def in_order(entries: Sequence[Sequence[Task]], costs: Costs) -> Iterator[Task]:
    """Yield the tasks of all entries, the next one chosen when it is asked for.

    First those whose method leaves nothing to choose, the ends of every frontier; then the middle one of
    every method and of every family of every try, those that cost little first; then each family in the
    order of `spread`, so that every one gets about the same time.

    Parameters
    ----------
    entries
        The tasks of each ``[[candidates]]``, in the order of its parameters.
    costs
        What methods cost, as far as is known when the next is asked for.
    """
    every = [task for tasks in entries for task in tasks]
    yield from filter(_is_an_end, every)
    inner = [[task for task in tasks if not _is_an_end(task)] for tasks in entries]
    families = [family for tasks in inner for family in _families(tasks)]
    lines = [deque(family[place] for place in spread(len(family))) for family in families]
    begun: set[str] = set()
    heads = list(lines)
    while heads:
        line = min(heads, key=lambda line: (line[0].recipe.sanitizer in begun, _cost(line[0], costs)))
        heads.remove(line)
        begun.add(line[0].recipe.sanitizer)
        yield line.popleft()
    turns = [1] * len(lines)
    while any(lines):
        waiting = [place for place, line in enumerate(lines) if line]
        place = min(waiting, key=lambda i: ((turns[i] + 1) * _cost(lines[i][0], costs), turns[i]))
        turns[place] += 1
        yield lines[place].popleft()


def _families(tasks: Iterable[Task]) -> list[list[Task]]:
    """Group tasks by method, models and words, so that members differ only in numbers or lists."""
    found: dict[tuple[object, ...], list[Task]] = {}
    for task in tasks:
        given = task.recipe.parameters
        words = (value for value in given.values() if isinstance(value, str))
        found.setdefault((task.recipe.sanitizer, *given.get("model", ()), *words), []).append(task)
    return list(found.values())


def _is_an_end(task: Task) -> bool:
    return not has_parameters(task.recipe.sanitizer)


def _cost(task: Task, costs: Costs) -> float:
    return costs.of(task.recipe.sanitizer, (key for key, _ in task.asked)) or 0.0


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

# Readers: generators over samples, one after another or in batches.
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from .._core import ProgramError
from ..errors import shown, whole

Item = TypeVar("Item")


def batch(samples: Iterable[Item], batch_size: int, drop_last: bool = False) -> Iterator[list[Item]]:
    """Lists of batch_size samples. The last one may be shorter; drop_last: it is left out then.
    Raises ProgramError when batch_size is less than 1.

    Example:
        >>> list(pm.data.batch(range(5), 2))
        [[0, 1], [2, 3], [4]]
    """
    require_positive("batch", "batch_size", batch_size)
    return _batches(samples, batch_size, drop_last)


def _batches(samples: Iterable[Item], size: int, drop_last: bool) -> Iterator[list[Item]]:
    rows: list[Item] = []
    for sample in samples:
        rows.append(sample)
        if len(rows) == size:
            yield rows
            rows = []
    if rows and not drop_last:
        yield rows


def shuffle(samples: Iterable[Item], buffer_size: int, seed: int | Sequence[int]) -> Iterator[Item]:
    """The samples in another order: each buffer_size of them are read, and given in an order by chance.
    With a buffer as large as the data every order is as likely. The same seed gives the same order.
    Raises ProgramError when buffer_size is less than 1.

    Example:
        >>> sorted(pm.data.shuffle(range(5), buffer_size=5, seed=0))
        [0, 1, 2, 3, 4]
    """
    require_positive("shuffle", "buffer_size", buffer_size)
    try:
        random = np.random.default_rng(seed)
    except (TypeError, ValueError) as error:
        raise ProgramError(f"shuffle: seed is {shown(seed)}, it must be an integer, at least 0, or a list of them") from error
    return _shuffled(samples, buffer_size, random)


def _shuffled(samples: Iterable[Item], size: int, random: np.random.Generator) -> Iterator[Item]:
    for rows in _batches(samples, size, drop_last=False):
        for i in random.permutation(len(rows)):
            yield rows[i]


def opened(what: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """The iterable that a function of data returns; ProgramError for anything else."""
    made = function(*arguments)
    if not hasattr(made, "__iter__") and not hasattr(made, "__getitem__"):
        raise ProgramError(f"{what}: the function returned {shown(made)}, it must return an iterable: a list or a generator")
    return made


def require_positive(function: str, argument: str, value: int) -> None:
    """ProgramError unless the value is an integer, at least 1."""
    whole(f"{function}: {argument}", value)

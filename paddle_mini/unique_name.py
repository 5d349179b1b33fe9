# Names for what a program makes by itself: fc_0, fc_0.w_0, fc_0.tmp_1, learning_rate_0.
#
# Names count up within a program and its startup program, so the same code gives the same names
# whenever it runs, and a saved parameter finds its variable again. Two models with one startup
# program never share a name.
"""The same code gives the same names whenever it runs, so that a saved parameter finds its variable again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice

from ._core import ProgramError
from .errors import shown
from .renamed import show_public
from .thread_state import setting, state
from .transaction import before_setting

__all__ = ["generate", "guard"]

Counters = dict[str, int]

_NUMBER = re.compile(r"_(\d+)(?=\.|_|@|$)")
_MOST_NUMBERS = 16  # in one name: a file may contain names that consist of numbers


def generate(key: str, *others: Counters) -> str:
    """The next name for `key`: fc_0, fc_1, … `others` are counters that must agree too.

    Example:
        >>> pm.unique_name.generate("fc"), pm.unique_name.generate("fc")
        ('fc_0', 'fc_1')
    """
    now = state()
    counters = (now.guard_names,) if now.guard_names is not None else now.names + others
    number = max(counter.get(key, 0) for counter in counters)
    for counter in counters:
        before_setting(counter, key)
        counter[key] = number + 1
    return f"{key}_{number}"


@contextmanager
def guard(counters: Counters | None = None) -> Iterator[Counters]:
    """Restarts the numbering of names inside, for all programs: to build a network again over
    the parameters of the first. counters: continues these, as the guard gives them; None: new ones.

    Example:
        >>> x = pm.layers.data("x", [-1, 8])
        >>> for network in range(2):
        ...     with pm.unique_name.guard():
        ...         y = pm.layers.fc(x, 4)
        >>> [parameter.name for parameter in pm.default_main_program().all_parameters()]
        ['fc_0.w_0', 'fc_0.b_0']
    """
    inside = {} if counters is None else counters
    if not isinstance(inside, dict):
        raise ProgramError(f"unique_name.guard: counters is {shown(counters)}, it must be what such a guard gave, or None")
    with setting(guard_names=inside):
        yield inside


def counters_after(names: Iterable[str]) -> Counters:
    """Counters that never make one of these names, or a part of one, again."""
    counters: Counters = {}
    for name in names:
        # fc_0.w_1_moment1_0 uses up fc_0, fc_0.w_1 and itself.
        for match in islice(_NUMBER.finditer(name), _MOST_NUMBERS):
            key, number = name[: match.start()], int(match.group(1))
            if key:
                counters[key] = max(counters.get(key, 0), number + 1)
    return counters


show_public(globals())

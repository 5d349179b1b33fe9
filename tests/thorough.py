# Tests that PM_THOROUGH=1 adds, as .ci/run does, so that the others take a few minutes.
from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TypeVar

import pytest

IS_THOROUGH = os.environ.get("PM_THOROUGH") == "1"
thorough = pytest.mark.skipif(not IS_THOROUGH, reason="runs with PM_THOROUGH=1, as in .ci/run")

Item = TypeVar("Item")


def some(items: Iterable[Item], every: int) -> Sequence[Item]:
    """All items with PM_THOROUGH=1, else one of `every`."""
    return list(islice(items, 0, None, 1 if IS_THOROUGH else every))

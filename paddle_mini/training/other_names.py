# Names of arguments in other libraries, answered with the right one.
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ..renamed import takes_other_names

F = TypeVar("F", bound=Callable[..., Any])

ADVICE: Mapping[str, Mapping[str, str]] = {
    "fit": {
        "validation_data": "it is validation",
        "validation_split": "it is validation, rows that you leave out of the data: validation=(x[800:], y[800:])",
        "verbose": "it is progress, True or False",
    },
    "EarlyStopping": {"restore_best_weights": "it is restore_best"},
    "BestCheckpoint": {"save_best_only": "BestCheckpoint saves the best epoch only"},
}


def hints(called: str) -> Callable[[F], F]:
    """Keywords that the function does not have are a TypeError with the right name. called: its name in ADVICE."""
    return lambda function: takes_other_names(function, ADVICE.get(called))

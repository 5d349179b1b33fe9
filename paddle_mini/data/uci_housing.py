# UCI housing: what a house costs, from 13 facts about where it stands (book chapter 1).
"""Samples: (x float32 [13], price float32 [1] in thousands of dollars).

Harrison and Rubinfeld, "Hedonic prices and the demand for clean air", 1978.
"""

from __future__ import annotations

import numpy as np

from .._core import ProgramError
from .archive import Path, lines, named_members
from .dataset import DataSet, Sample

FEATURES = 13


def load(path: Path) -> DataSet:
    """From housing.data: 506 lines of 14 numbers, or a folder that holds it. The first four fifths are to
    train; every feature is shifted by their mean and divided by their range.
    ProgramError when it cannot be read or is something else."""
    (text,) = named_members(path, ".data")
    try:
        rows = np.array([[float(word) for word in line.split()] for line in lines(text) if line.strip()])
    except ValueError as error:
        raise ProgramError(f"'{path}' holds no table of numbers: {error}") from None
    if rows.ndim != 2 or rows.shape[1] != FEATURES + 1 or len(rows) < 5:
        raise ProgramError(f"'{path}' holds a table of {list(rows.shape)} numbers, it must be [506, {FEATURES + 1}]")
    return _split(rows)


def synthetic(seed: int = 0, count: int = 506) -> DataSet:
    """Stands for the housing data: 13 features of different ranges that depend on each other, and a price that
    is linear in them up to noise with a standard deviation of 2."""
    random = np.random.default_rng(seed)
    hidden = random.normal(size=(count, 4))
    features = hidden @ random.normal(size=(4, FEATURES)) + random.normal(size=(count, FEATURES))
    price = 22 + features @ random.normal(size=FEATURES) + random.normal(scale=2.0, size=count)
    return _split(np.column_stack([features * 10.0 ** random.integers(-1, 3, FEATURES), price]))


def _split(rows: np.ndarray) -> DataSet:
    count = len(rows) * 4 // 5
    known = rows[:count, :-1]
    spread = np.ptp(known, axis=0)
    rows[:, :-1] = (rows[:, :-1] - known.mean(0)) / np.where(spread > 0, spread, 1)
    samples: list[Sample] = [(row[:-1], row[-1:]) for row in rows.astype("float32")]
    return DataSet(samples[:count], samples[count:])

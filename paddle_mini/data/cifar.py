# CIFAR-10: small photographs of ten kinds of things (book chapter 3).
"""Samples: (image float32 [3, 32, 32] in [0, 1], kind).

Krizhevsky, "Learning Multiple Layers of Features from Tiny Images", 2009.
"""

from __future__ import annotations

import numpy as np

from .. import _core
from .._core import ProgramError, printable
from .archive import Path, members
from .dataset import DataSet
from .images import Images

SIDE = 32


def load(path: Path) -> DataSet:
    """From cifar-10-python.tar.gz or a folder with data_batch_1 .. data_batch_5 and test_batch. The files are
    pickled; they are read as data, and nothing in them is run. ProgramError when one is missing or damaged."""
    parts: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {"data": [], "test": []}
    for name, content in sorted(members(path, r"(^|/)(data_batch_[1-5]|test_batch)$")):
        parts["test" if name.endswith("test_batch") else "data"].append(_batch(name, content))
    for part, batches in parts.items():
        if not batches:
            raise ProgramError(f"'{path}' has no file {part}_batch{'_1' if part == 'data' else ''}")
    train, test = (_images(*(np.concatenate(arrays) for arrays in zip(*batches))) for batches in parts.values())
    return DataSet(train, test)


def synthetic(seed: int = 0, train: int = 1600, test: int = 200) -> DataSet:
    """Stands for CIFAR-10: stripes at one of five angles over one of two colours, ten kinds altogether, with
    phase, width, brightness and noise by chance."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 10, train + test)
    angle, phase, wide, bright = (
        (value[:, None, None])
        for value in (
            labels % 5 * np.pi / 5,
            random.uniform(0, 2 * np.pi, labels.size),
            random.uniform(0.5, 0.9, labels.size),
            random.uniform(0.6, 1.0, labels.size),
        )
    )
    y, x = np.mgrid[:SIDE, :SIDE]
    stripes = 0.5 + 0.5 * np.sin((x * np.cos(angle) + y * np.sin(angle)) * wide + phase)
    colour = np.array([[0.9, 0.5, 0.2], [0.2, 0.5, 0.9]])[labels // 5][:, :, None, None]
    pixels = (0.35 * colour + 0.45 * stripes[:, None]) * bright[:, None]
    noisy = np.clip(pixels + random.normal(0, 0.08, pixels.shape), 0, 1)
    images = (noisy * 255).astype(np.uint8)
    return DataSet(_images(images[:train], labels[:train]), _images(images[train:], labels[train:]))


def _images(pixels: np.ndarray, labels: np.ndarray) -> Images:
    return Images(pixels.reshape(-1, 3, SIDE, SIDE), labels, 0.0, 1.0)


def _batch(name: str, content: bytes) -> tuple[np.ndarray, np.ndarray]:
    try:
        state = _core.read_pickle(content)
    except ProgramError as error:
        raise ProgramError(f"'{printable(name)}': {error}") from None
    pixels, labels = state.get("data"), np.asarray(state.get("labels", ()))
    if not isinstance(pixels, np.ndarray) or pixels.dtype != np.uint8 or pixels.shape != (len(labels), 3 * SIDE**2):
        raise ProgramError(
            f"'{printable(name)}' holds no images of CIFAR-10: data must be uint8 [count, {3 * SIDE**2}], with as many labels"
        )
    if labels.dtype.kind != "i" or not ((labels >= 0) & (labels < 10)).all():
        raise ProgramError(f"'{printable(name)}' has labels that are not 0 .. 9")
    return pixels, labels

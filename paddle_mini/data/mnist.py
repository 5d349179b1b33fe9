# MNIST: handwritten digits (book chapter 2).
"""Samples: (image float32 [1, 28, 28] in [-1, 1], digit).

LeCun et al., "Gradient-based learning applied to document recognition", 1998.
"""

from __future__ import annotations

import struct

import numpy as np

from .._core import ProgramError, printable
from .archive import Path, named_members
from .dataset import DataSet
from .images import Images

SIDE = 28
_FILES = [f"{part}-{kind}-ubyte" for part in ("train", "t10k") for kind in ("images-idx3", "labels-idx1")]
# Seven rows of five dots for each digit.
_GLYPHS = """
01110 00100 01110 11111 00010 11111 00110 11111 01110 01110
10001 01100 10001 00010 00110 10000 01000 00001 10001 10001
10011 00100 00001 00100 01010 11110 10000 00010 10001 10001
10101 00100 00010 00010 10010 00001 11110 00100 01110 01111
11001 00100 00100 00001 11111 00001 10001 01000 10001 00001
10001 00100 01000 10001 00010 10001 10001 01000 10001 00010
01110 01110 11111 01110 00010 01110 01110 01000 01110 01100
"""


def load(path: Path) -> DataSet:
    """From a folder with train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and
    t10k-labels-idx1-ubyte, each plain or .gz. ProgramError when one is missing or damaged."""
    arrays = [_array(name, content) for name, content in zip(_FILES, named_members(path, *_FILES))]
    return DataSet(_images(*arrays[:2]), _images(*arrays[2:]))


def synthetic(seed: int = 0, train: int = 4000, test: int = 500) -> DataSet:
    """Stands for MNIST: printed digits at places, of brightness and width by chance, with noise over them."""
    random = np.random.default_rng(seed)
    dots = [
        [np.array([list(map(int, cell)) for cell in digit], np.float32)]
        for digit in zip(*(row.split() for row in _GLYPHS.split("\n")[1:-1]))
    ]
    for widths in dots:
        wide = np.kron(widths[0], np.ones((3, 3), np.float32))
        widths[:] = [wide, np.maximum(wide, np.roll(wide, 1, axis=1))]
    labels = random.integers(0, 10, train + test)
    pixels = random.uniform(0, 60, (len(labels), 1, SIDE, SIDE))
    for image, label in zip(pixels, labels):
        glyph = dots[label][random.integers(2)]
        top, left = (random.integers(0, SIDE - size + 1) for size in glyph.shape)
        image[0, top : top + glyph.shape[0], left : left + glyph.shape[1]] += glyph * random.uniform(90, 190)
    images = pixels.astype(np.uint8)
    return DataSet(_images(images[:train], labels[:train]), _images(images[train:], labels[train:]))


def _images(pixels: np.ndarray, labels: np.ndarray) -> Images:
    if pixels.ndim < 3 or labels.ndim != 1 or len(pixels) != len(labels) or labels.max(initial=0) > 9:
        raise ProgramError(
            f"images {list(pixels.shape)} and labels {list(labels.shape)} up to {labels.max(initial=0)} don't belong together"
        )
    return Images(pixels.reshape(len(pixels), 1, *pixels.shape[-2:]), labels, -1.0, 1.0)


def _array(name: str, content: bytes) -> np.ndarray:
    """An idx file of bytes: 0, 0, 8, the number of dimensions, each of them in 4 bytes, the elements."""
    axes = content[3] if len(content) > 3 else 0
    if content[:3] != b"\0\0\x08" or not 1 <= axes <= 3 or len(content) < 4 + 4 * axes:
        raise ProgramError(f"'{printable(name)}' is not an idx file of bytes")
    dims: list[int] = list(struct.unpack(f">{axes}I", content[4 : 4 + 4 * axes]))
    elements = np.frombuffer(content, np.uint8, offset=4 + 4 * axes)
    if elements.size != np.prod(dims, dtype=object):
        raise ProgramError(f"'{printable(name)}' declares {dims} bytes, it holds {elements.size}")
    return elements.reshape(dims)

# Images: bytes of pixels with labels, made floats when one is asked for.
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


class Images(Sequence[Any]):
    """A sequence of (image, label): image float32 [channels, height, width] with 0 .. 255 as low .. high, label
    an int. The pixels stay bytes, a quarter of the memory."""

    def __init__(self, pixels: np.ndarray, labels: np.ndarray, low: float, high: float):
        self.pixels = pixels  # [count, channels, height, width] uint8
        self.labels = labels  # [count]
        self.low, self.high = np.float32(low), np.float32(high)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return Images(self.pixels[i], self.labels[i], self.low, self.high)
        image: tuple[np.ndarray, int] = self.low + self.pixels[i] * ((self.high - self.low) / 255), int(self.labels[i])
        return image

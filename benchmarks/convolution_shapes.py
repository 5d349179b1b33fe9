# The convolutions of well-known networks for images: their shapes, and how often a run computes each.
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple


class Shape(NamedTuple):
    """A convolution of square images with square windows; the padding is half of the window."""

    channels: int
    filters: int
    window: int
    stride: int
    groups: int
    size: int  # height and width of the image

    @property
    def out_size(self) -> int:
        return (self.size + 2 * (self.window // 2) - self.window) // self.stride + 1

    @property
    def flops(self) -> int:
        """Floating-point operations for one image."""
        return 2 * self.filters * self.out_size**2 * self.channels // self.groups * self.window**2

    def workload(self, images: int) -> str:
        """One word that names the shape to a worker."""
        return ",".join(map(str, (images, *self)))

    def __str__(self) -> str:
        kind = "depthwise" if self.groups == self.channels > 1 else f"{self.channels}→{self.filters}"
        if kind == "depthwise":
            kind = f"{self.channels} depthwise"
        return f"{self.window}x{self.window} {kind} of {self.size}" + (f", stride {self.stride}" if self.stride > 1 else "")


def parsed(workload: str) -> tuple[int, Shape]:
    """The number of images and the shape that a word names."""
    images, *shape = map(int, workload.split(","))
    return images, Shape(*shape)


def plain(channels: int, filters: int, window: int, size: int, stride: int = 1) -> Shape:
    return Shape(channels, filters, window, stride, 1, size)


def resnet18() -> Iterator[Shape]:
    """He et al. 2015."""
    yield plain(3, 64, 7, 224, 2)
    channels, size = 64, 56
    for filters in (64, 128, 256, 512):
        for block in range(2):
            stride = 2 if block == 0 and filters > 64 else 1
            if stride == 2:
                yield plain(channels, filters, 1, size, 2)
            yield plain(channels, filters, 3, size, stride)
            size //= stride
            yield plain(filters, filters, 3, size)
            channels = filters


def resnet50() -> Iterator[Shape]:
    """He et al. 2015, with the stride in the 3x3 convolution, as PyTorch and PaddlePaddle have it."""
    yield plain(3, 64, 7, 224, 2)
    channels, size = 64, 56
    for width, blocks in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for block in range(blocks):
            stride = 2 if block == 0 and width > 64 else 1
            if block == 0:
                yield plain(channels, 4 * width, 1, size, stride)
            yield plain(channels, width, 1, size)
            yield plain(width, width, 3, size, stride)
            size //= stride
            yield plain(width, 4 * width, 1, size)
            channels = 4 * width


def mobilenet_v2() -> Iterator[Shape]:
    """Sandler et al. 2018."""
    yield plain(3, 32, 3, 224, 2)
    channels, size = 32, 112
    settings = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
    for expansion, filters, blocks, first_stride in settings:
        for block in range(blocks):
            stride = first_stride if block == 0 else 1
            inner = channels * expansion
            if expansion > 1:
                yield plain(channels, inner, 1, size)
            yield Shape(inner, inner, 3, stride, inner, size)
            size //= stride
            yield plain(inner, filters, 1, size)
            channels = filters
    yield plain(channels, 1280, 1, size)


def vgg11() -> Iterator[Shape]:
    """Simonyan and Zisserman 2014."""
    channels, size = 3, 224
    for filters, count in ((64, 1), (128, 1), (256, 2), (512, 2), (512, 2)):
        for _ in range(count):
            yield plain(channels, filters, 3, size)
            channels = filters
        size //= 2


def unet() -> Iterator[Shape]:
    """Ronneberger et al. 2015, with padding, for images of 256; without its transposed convolutions."""
    channels, size = 3, 256
    for filters in (64, 128, 256, 512, 1024):
        yield plain(channels, filters, 3, size)
        yield plain(filters, filters, 3, size)
        channels, size = filters, size // 2
    size = 32
    for filters in (512, 256, 128, 64):
        yield plain(2 * filters, filters, 3, size)
        yield plain(filters, filters, 3, size)
        size *= 2
    yield plain(64, 2, 1, 256)


NETWORKS = {
    "ResNet-18": Counter(resnet18()),
    "ResNet-50": Counter(resnet50()),
    "MobileNetV2": Counter(mobilenet_v2()),
    "VGG11": Counter(vgg11()),
    "U-Net": Counter(unet()),
}

# Converters of Fourier transforms: ONNX has complex numbers as pairs along a last axis.
from __future__ import annotations

from ..variable import Variable
from .node import Node, converter
from .tensors import Unsupported


@converter("DFT")
def dft(n: Node) -> Variable:
    x, rank = n.x(), len(n.x().shape)
    axis = n.attr("axis") if n.version < 20 else n.known_ints(2)[0] if n.has(2) else -2
    axis = n.axis(axis, rank)
    count = n.known_ints(1)[0] if n.has(1) else None
    inverse, onesided = bool(n.attr("inverse")), bool(n.attr("onesided"))
    attrs = {"axes": [axis], "normalization": "backward", "forward": not inverse}
    if inverse and onesided:
        given = {"X": n.emit("as_complex", {"X": x})}
        made = n.emit("fft_c2r", given, {**attrs, "last_dim_size": count or 0})
        return n.emit("unsqueeze2", {"X": made}, {"axes": [rank - 1]})
    x = x if count is None else _of_length(n, x, axis, count)
    if x.shape[-1] == 1 and not inverse:
        real = n.emit("squeeze2", {"X": x}, {"axes": [rank - 1]})
        return n.emit("as_real", {"X": n.emit("fft_r2c", {"X": real}, {**attrs, "onesided": onesided})})
    if x.shape[-1] == 1:
        x = n.op("pad", x, paddings=[0] * (2 * rank - 1) + [1], pad_value=0.0)
    if onesided:
        raise Unsupported("onesided of complex numbers")
    return n.emit("as_real", {"X": n.emit("fft_c2c", {"X": n.emit("as_complex", {"X": x})}, attrs)})


def _of_length(n: Node, x: Variable, axis: int, count: int) -> Variable:
    """x cut at `count` elements along an axis, or filled up with zeros."""
    (size,) = n.require_static(x, axis, axis + 1)
    x = n.emit("slice", {"Input": x}, {"axes": [axis], "starts": [0], "ends": [count]}) if count < size else x
    pads = [0] * (2 * len(x.shape))
    pads[2 * axis + 1] = max(count - size, 0)
    return n.op("pad", x, paddings=pads, pad_value=0.0) if any(pads) else x


@converter("STFT")
def stft(n: Node) -> Variable:
    x, step = n.x(), n.known_ints(1)[0]
    if len(x.shape) == 3 and x.shape[2] != 1:
        raise Unsupported("complex signals")
    x = n.reshape(x, [0, -1]) if len(x.shape) == 3 else x
    window = n.x(2) if n.has(2) else None
    count = n.known_ints(3)[0] if n.has(3) else n.require_static(n.x(2))[0]
    frames = n.transpose(n.emit("frame", {"X": x}, {"frame_length": count, "hop_length": step, "axis": -1}), [0, 2, 1])
    frames = frames if window is None else n.mul(frames, window)
    attrs = {"axes": [2], "normalization": "backward", "forward": True, "onesided": bool(n.attr("onesided"))}
    return n.emit("as_real", {"X": n.emit("fft_r2c", {"X": frames}, attrs)})

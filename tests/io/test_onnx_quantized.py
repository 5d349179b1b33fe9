"""pm.onnx.load: quantized models."""

import numpy as np
import pytest
from onnx import TensorProto, helper

from onnx_graphs import info, node, ours, results, saved


def quantized(rng, *shape, dtype="int8"):
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max + 1, shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16"])
def test_a_convolution_between_quantize_and_dequantize(tmp_path, dtype):
    """As quantizers write it: weights with a scale for each channel, biases of int32."""
    rng = np.random.default_rng(1)
    weights = {
        "w": quantized(rng, 4, 3, 3, 3),
        "ws": rng.uniform(0.001, 0.01, 4).astype("float32"),
        "wz": np.zeros(4, "int8"),
        "b": rng.integers(-3000, 3000, 4).astype("int32"),
        "bs": np.full(4, 1e-4, "float32"),
        "bz": np.zeros(4, "int32"),
        "xs": np.float32(6 / 2 ** np.iinfo(dtype).bits),
        "xz": np.array(3, dtype),
        "ys": np.float32(20 / 2 ** np.iinfo(dtype).bits),
        "yz": np.array(5, dtype),
    }
    nodes = [
        node("QuantizeLinear", ["x", "xs", "xz"], ["xq"]),
        node("DequantizeLinear", ["xq", "xs", "xz"], ["xd"]),
        node("DequantizeLinear", ["w", "ws", "wz"], ["wd"], axis=0),
        node("DequantizeLinear", ["b", "bs", "bz"], ["bd"], axis=0),
        node("Conv", ["xd", "wd", "bd"], ["c"], pads=[1, 1, 1, 1]),
        node("QuantizeLinear", ["c", "ys", "yz"], ["q"]),
        node("DequantizeLinear", ["q", "ys", "yz"], ["y"]),
    ]
    path = saved(tmp_path, nodes, [info("x", "N", 3, 6, 5)], [info("y", "N", 4, 6, 5)], weights)
    (found,), (must,) = results(path, {"x": rng.normal(size=(2, 3, 6, 5)).astype("float32")})
    # A sum in another order may be rounded to the neighbour.
    step = weights["ys"]
    assert np.abs(found - must).max() < 1.5 * step and (np.abs(found - must) > step / 2).mean() < 0.01


def test_halves_are_rounded_to_even_and_what_is_too_large_is_cut(tmp_path):
    x = np.array([-3e38, -1e7, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 300, 4e6, 1e9, np.inf], "float32")
    nodes = [node("QuantizeLinear", ["x", "s", "z"], ["y"])]
    weights = {"s": np.float32(1), "z": np.int8(1)}
    outputs = [info("y", len(x), dtype=TensorProto.INT8)]
    (found,) = ours(saved(tmp_path, nodes, [info("x", len(x))], outputs, weights), {"x": x})
    assert found.dtype == np.int8 and found.tolist() == [-128, -128, -1, -1, 1, 1, 3, 3, 127, 127, 127, 127]


@pytest.mark.parametrize("bits", ["INT4", "UINT4"])
def test_weights_of_four_bits_in_blocks(tmp_path, bits):
    rng = np.random.default_rng(2)
    low = -8 if bits == "INT4" else 0
    numbers = rng.integers(low, low + 16, (10, 6))
    zeros = rng.integers(low, low + 16, (3, 6))
    kind = getattr(TensorProto, bits)
    weights = {
        "w": helper.make_tensor("w", kind, numbers.shape, numbers.ravel().tolist()),
        "z": helper.make_tensor("z", kind, zeros.shape, zeros.ravel().tolist()),
        "s": rng.uniform(0.01, 0.1, zeros.shape).astype("float32"),
    }
    nodes = [node("DequantizeLinear", ["w", "s", "z"], ["d"], axis=0, block_size=4), node("MatMul", ["x", "d"], ["y"])]
    path = saved(tmp_path, nodes, [info("x", "N", 10)], [info("y", "N", 6)], weights)
    x = rng.normal(size=(3, 10)).astype("float32")
    (found,) = ours(path, {"x": x})
    rows = np.arange(10) // 4
    np.testing.assert_allclose(found, x @ ((numbers - zeros[rows]) * weights["s"][rows]), rtol=1e-5, atol=1e-5)


def test_operators_on_integers(tmp_path):
    """QLinearConv and QLinearMatMul, and what quantizers make of a model whose inputs they have not seen."""
    rng = np.random.default_rng(3)
    weights = {
        "s": np.float32(0.02),
        "z": np.uint8(120),
        "w": quantized(rng, 4, 3, 3, 3),
        "ws": rng.uniform(0.01, 0.02, 4).astype("float32"),
        "wz": np.zeros(4, "int8"),
        "b": rng.integers(-500, 500, 4).astype("int32"),
        "cs": np.float32(0.2),
        "m": quantized(rng, 5, 7),
        "ms": np.float32(0.03),
        "mz": np.int8(2),
        "os": np.float32(1.5),
    }
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        node("QLinearConv", ["q", "s", "z", "w", "ws", "wz", "cs", "z", "b"], ["c"], pads=[1, 1, 1, 1], strides=[2, 1]),
        node("QLinearMatMul", ["c", "cs", "z", "m", "ms", "mz", "os", "z"], ["p"]),
        node("DequantizeLinear", ["p", "os", "z"], ["d"]),
        node("DynamicQuantizeLinear", ["d"], ["dq", "ds", "dz"]),
        node("MatMulInteger", ["dq", "k", "dz", "kz"], ["i"]),
        node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
        node("Mul", ["f", "ds"], ["y"]),
        node("ConvInteger", ["q", "w", "z"], ["j"]),
    ]
    weights |= {"k": quantized(rng, 7, 2), "kz": np.int8(-3)}
    outputs = [
        info("y", "N", 4, 3, 2),
        info("j", "N", 4, 4, 3, dtype=TensorProto.INT32),
        info("c", "N", 4, 3, 5, dtype=TensorProto.UINT8),
    ]
    path = saved(tmp_path, nodes, [info("x", "N", 3, 6, 5)], outputs, weights)
    found, must = results(path, {"x": rng.normal(size=(2, 3, 6, 5)).astype("float32")})
    assert [value.dtype for value in found] == ["float32", "int32", "uint8"] and (found[1] == must[1]).all()
    assert np.abs(found[2].astype(int) - must[2]).max() <= 1 and 0 < must[2].mean() < 255
    np.testing.assert_allclose(found[0], must[0], rtol=0, atol=0.02 * np.abs(must[0]).max())

"""pm.onnx.load: quantized models."""

import numpy as np
import pytest
from onnx import TensorProto, helper

import paddle_mini as pm
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


def test_scales_must_be_as_many_as_blocks(tmp_path):
    nodes = [node("DequantizeLinear", ["x", "s"], ["y"], axis=0, block_size=4)]
    weights = {"s": np.ones((2, 3), "float32")}
    path = saved(tmp_path, nodes, [info("x", 10, 3, dtype=TensorProto.INT8)], [info("y", 10, 3)], weights)
    with pytest.raises(pm.ProgramError, match="blocks of 4 elements: 10 need 3 scales, not 2"):
        pm.onnx.load(path)


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


def real(numbers, scale, zero):
    return ((numbers.astype("int32") - zero) * scale).astype("float32")


def rounded(numbers, scale, zero):
    return np.clip(np.rint(numbers / scale) + zero, 0, 255).astype("uint8")


def test_operators_that_onnx_runtime_adds(tmp_path):
    """Its quantizers write them beside those of ONNX."""
    rng = np.random.default_rng(4)
    x = quantized(rng, 2, 3, 4, 5, dtype="uint8")
    xs, ys, zs, z = np.float32(0.02), np.float32(0.03), np.float32(0.05), np.uint8(128)
    w, ws, c = quantized(rng, 5, 6), rng.uniform(0.01, 0.02, 6).astype("float32"), rng.integers(-900, 900, 6).astype("int32")
    own = {"domain": "com.microsoft"}
    nodes = [
        node("QLinearSigmoid", ["x", "xs", "z", "ys", "z"], ["a"], **own),
        node("QLinearLeakyRelu", ["x", "xs", "z", "ys", "z"], ["b"], alpha=0.3, **own),
        node("QLinearAdd", ["a", "ys", "z", "b", "ys", "z", "zs", "z"], ["c"], **own),
        node("QLinearMul", ["a", "ys", "z", "b", "ys", "z", "zs", "z"], ["d"], **own),
        node("QLinearConcat", ["zs", "z", "c", "zs", "z", "d", "zs", "z", "x", "xs", "z"], ["e"], axis=1, **own),
        node("QLinearGlobalAveragePool", ["e", "zs", "z", "ys", "z"], ["f"], channels_last=0, **own),
        node("QLinearSoftmax", ["x", "xs", "z", "ys", "z"], ["g"], axis=-1, opset=17, **own),
        node("Reshape", ["x", "rows"], ["flat"]),
        node("QGemm", ["flat", "xs", "z", "w", "ws", "wz", "bias", "zs", "z"], ["h"], alpha=0.5, **own),
        node("QGemm", ["flat", "xs", "z", "w", "ws", "wz", "bias"], ["i"], **own),
        node("QuantizeLinear", ["i", "zs", "z"], ["j"], **own),
        node("DequantizeLinear", ["j", "zs", "z"], ["k"], **own),
    ]
    weights = {
        "xs": xs,
        "ys": ys,
        "zs": zs,
        "z": z,
        "w": w,
        "ws": ws,
        "wz": np.zeros(6, "int8"),
        "bias": c,
        "rows": np.array([-1, 5]),
    }
    types = dict.fromkeys("cefgh", TensorProto.UINT8) | {"d": TensorProto.UINT8, "i": TensorProto.FLOAT, "k": TensorProto.FLOAT}
    axes = dict.fromkeys("hik", 2)
    outputs = [info(name, *"ABCD"[: axes.get(name, 4)], dtype=kind) for name, kind in types.items()]
    path = saved(tmp_path, nodes, [info("x", "N", 3, 4, 5, dtype=TensorProto.UINT8)], outputs, weights, domains=["com.microsoft"])
    found = dict(zip(types, ours(path, {"x": x})))

    r = real(x, xs, 128)
    a, b = (real(rounded(part, ys, 128), ys, 128) for part in (1 / (1 + np.exp(-r)), np.where(r > 0, r, 0.3 * r)))
    must = {"c": rounded(a + b, zs, 128), "d": rounded(a * b, zs, 128)}
    parts = [real(must["c"], zs, 128), real(must["d"], zs, 128), r]
    must["e"] = rounded(np.concatenate(parts, 1), zs, 128)
    must["f"] = rounded(real(must["e"], zs, 128).mean((2, 3), keepdims=True), ys, 128)
    powers = np.exp(r - r.max(-1, keepdims=True))
    must["g"] = rounded(powers / powers.sum(-1, keepdims=True), ys, 128)
    products = r.reshape(-1, 5) @ (w * ws) + c * xs * ws
    must["h"] = rounded(0.5 * products, zs, 128)
    for name, value in must.items():
        assert found[name].dtype == np.uint8 and np.abs(found[name].astype(int) - value).max() <= 1, name
        assert (found[name] != value).sum() <= max(1, 0.05 * value.size), name
    np.testing.assert_allclose(found["i"], products, rtol=0, atol=1e-4)
    assert np.abs(found["k"] - np.clip(products, -128 * zs, 127 * zs)).max() < 0.51 * zs


def test_an_operator_of_onnx_runtime_with_another_layout_is_refused(tmp_path):
    nodes = [node("QLinearGlobalAveragePool", ["x", "s", "z", "s", "z"], ["y"], channels_last=1, domain="com.microsoft")]
    weights = {"s": np.float32(1), "z": np.uint8(0)}
    facts = [info(name, "N", 3, 4, 5, dtype=TensorProto.UINT8) for name in "xy"]
    with pytest.raises(pm.ProgramError, match="domain 'com.microsoft'"):
        pm.onnx.load(saved(tmp_path, nodes, facts[:1], facts[1:], weights, domains=["com.microsoft"]))

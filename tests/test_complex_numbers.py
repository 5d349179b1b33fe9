"""Operators of real numbers that have kernels for complex ones: their values and their gradients, which are conjugates."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import complex_array, op_tests, run_op

PAIRS = {
    "matrices": ({"X": complex_array(3, 4), "Y": complex_array(3, 4, seed=1)}, {}),
    "a row": ({"X": complex_array(3, 4), "Y": complex_array(4, seed=1)}, {}),
    "a column": ({"X": complex_array(3, 4), "Y": complex_array(3, 1, seed=1)}, {}),
    "a number": ({"X": complex_array(3, 4), "Y": complex_array(seed=1)}, {}),
}
TOLERANCE = {"float32": 2e-5, "float64": 1e-11}  # quotients by numbers near 0


def binary(op_type, function):
    return op_tests(
        op_type, lambda inputs, attrs: {"Out": function(inputs["X"], inputs["Y"])}, PAIRS, ["X", "Y"], tolerance=TOLERANCE
    )


test_add = binary("elementwise_add", np.add)
test_sub = binary("elementwise_sub", np.subtract)
test_mul = binary("elementwise_mul", np.multiply)
test_div = binary("elementwise_div", np.divide)


def unary(op_type, function, cases, x="X"):
    return op_tests(op_type, lambda inputs, attrs: {"Out": function(inputs[x], attrs)}, cases, [x])


X = complex_array(3, 4)
test_scale = unary("scale", lambda x, a: a["scale"] * x + a["bias"], {"matrix": ({"X": X}, {"scale": 2.0, "bias": 0.5})})
test_mean = unary("mean", lambda x, a: np.asarray(x.mean()), {"matrix": ({"X": X}, {})})
test_reduce_sum = unary("reduce_sum", lambda x, a: x.sum(a["dim"][0]), {f"axis {i}": ({"X": X}, {"dim": [i]}) for i in (0, 1)})
test_reduce_mean = unary("reduce_mean", lambda x, a: x.mean(a["dim"][0]), {"rows": ({"X": X}, {"dim": [1]})})
test_abs = unary("abs", lambda x, a: np.abs(x), {"matrix": ({"X": X}, {}), "no rows": ({"X": complex_array(0, 2)}, {})})
test_angle = unary("angle", lambda x, a: np.angle(x), {"matrix": ({"X": X}, {})})
test_transpose2 = unary("transpose2", lambda x, a: x.T.copy(), {"matrix": ({"X": X}, {"axis": [1, 0]})})
test_slice = unary(
    "slice", lambda x, a: x[:, 1:3], {"columns": ({"Input": X}, {"axes": [1], "starts": [1], "ends": [3]})}, "Input"
)
test_pad = unary("pad", lambda x, a: np.pad(x, [(0, 0), (1, 2)]), {"columns": ({"X": X}, {"paddings": [0, 0, 1, 2]})})
test_tile = unary("tile", lambda x, a: np.tile(x, (2, 1)), {"twice": ({"X": X}, {"repeat_times": [2, 1]})})
test_gather = op_tests(
    "gather",
    lambda inputs, attrs: {"Out": inputs["X"][inputs["Index"]]},
    {"rows": ({"X": X, "Index": np.array([2, 0, 2])}, {})},
    ["X"],
)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_casts(dtype):
    x = np.array([1.5 + 2j, -0.5j, 0], dtype)
    numbers = {"float32": 5, "float64": 6, "int64": 3, "bool": 0, "complex64": 23, "complex128": 24}
    expected = {"float32": x.real, "float64": x.real, "int64": [1, 0, 0], "bool": [True, True, False]}
    for other, number in numbers.items():
        found = run_op("cast", {"X": x}, {"out_dtype": number})["Out"]
        assert found.dtype == other
        np.testing.assert_array_equal(found, np.asarray(expected.get(other, x), other), other)
    back = run_op("cast", {"X": np.array([2.0, -1.0])}, {"out_dtype": numbers[dtype]})["Out"]
    np.testing.assert_array_equal(back, np.array([2, -1], dtype))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_quotients_do_not_overflow(dtype):
    large = np.finfo(dtype).max / 4
    x = np.array([large * (1 + 1j), 1 + 1j], dtype)
    np.testing.assert_array_equal(run_op("elementwise_div", {"X": x, "Y": x})["Out"], np.ones(2, dtype))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_fills(dtype):
    number = pm.dtypes.NUMBERS[dtype]
    out = run_op("fill_constant", {}, {"shape": [2], "dtype": number, "value": 1.5})["Out"]
    assert out.dtype == dtype and (out == 1.5).all()
    out = run_op("fill_any_like", {"X": np.ones(2, dtype)}, {"value": 2.0})["Out"]
    assert out.dtype == dtype and (out == 2).all()


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_files(tmp_path, dtype):
    main, startup = pm.Program(), pm.Program()
    with pm.program_guard(main, startup):
        value = main.global_block().create_var("waves", shape=[2, 3], dtype=dtype, persistable=True)
        doubled = pm.layers.elementwise_add(value, value)
    scope, wave = pm.Scope(), complex_array(2, 3).astype(dtype)
    scope.set("waves", wave)
    (out,) = pm.Executor().run(main, fetch_list=[doubled], scope=scope)
    np.testing.assert_array_equal(out, wave + wave)
    pm.io.save_parameters(tmp_path / "all", main, scope)
    again = pm.Scope()
    pm.io.load_parameters(tmp_path / "all", main, again)
    np.testing.assert_array_equal(again.get("waves"), wave)
    pm.io.save_state(tmp_path / "model.pdparams", {"waves": wave})
    loaded = pm.io.load_state(tmp_path / "model.pdparams")["waves"]
    assert loaded.dtype == dtype
    np.testing.assert_array_equal(loaded, wave)

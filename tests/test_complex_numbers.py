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

# Values away from the branch cuts, where the small steps of numeric gradients would cross them.
Z = complex_array(3, 4) + (0.3 + 0.3j) * np.sign(complex_array(3, 4).real)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


ANALYTIC = {
    "exp": np.exp,
    "expm1": np.expm1,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "sigmoid": sigmoid,
    "silu": lambda x: x * sigmoid(x),
    "logsigmoid": lambda x: np.log(sigmoid(x)),
    "softplus": lambda x: np.log1p(np.exp(x)),
}


def analytic(op_type):
    return op_tests(
        op_type,
        lambda inputs, attrs: {"Out": ANALYTIC[op_type](inputs["X"])},
        {"matrix": ({"X": Z}, {}), "one element": ({"X": Z[0, 0].reshape(())}, {}), "no rows": ({"X": Z[:0]}, {})},
        ["X"],
        tolerance=TOLERANCE,
    )


for name in ANALYTIC:
    globals()[f"test_{name}"] = analytic(name)


def test_expm1_of_small_numbers():
    x = np.array([1e-12 + 1e-13j])
    np.testing.assert_allclose(run_op("expm1", {"X": x})["Out"], x, rtol=1e-11)


def product(x, y, transpose_x=False, transpose_y=False):
    swap = lambda a, wanted: a.swapaxes(-1, -2) if wanted and a.ndim > 1 else a
    return np.asarray(np.matmul(swap(x, transpose_x), swap(y, transpose_y)))


def pair(x, y, transposed=""):
    return {"X": complex_array(*x), "Y": complex_array(*y, seed=1)}, {f"trans_{one}": True for one in transposed}


test_matmul = op_tests(
    "matmul_v2",
    lambda inputs, attrs: {"Out": product(inputs["X"], inputs["Y"], attrs["trans_x"], attrs["trans_y"])},
    {
        "matrices": pair((3, 4), (4, 5)),
        "transposed": pair((4, 3), (5, 4), "xy"),
        "batches": pair((2, 3, 4), (2, 5, 4), "y"),
        "one matrix for all": pair((2, 3, 4), (4, 2)),
        "broadcast": pair((2, 1, 4, 3), (3, 4, 2), "x"),
        "vectors": pair((4,), (4,)),
        "no rows": pair((0, 4), (4, 2)),
    },
    ["X", "Y"],
    tolerance=TOLERANCE,
)
test_dot = op_tests(
    "dot",
    lambda inputs, attrs: {"Out": (inputs["X"] * inputs["Y"]).sum(-1)},
    {"rows": ({"X": X, "Y": complex_array(3, 4, seed=1)}, {}), "no rows": ({"X": X[:0], "Y": X[:0]}, {})},
    ["X", "Y"],
)
test_cumprod = unary("cumprod", lambda x, a: np.cumprod(x, a["dim"]), {f"axis {i}": ({"X": X}, {"dim": i}) for i in (0, 1)})
test_cumprod_of_zeros = op_tests(
    "cumprod",
    lambda inputs, attrs: {"Out": np.cumprod(inputs["X"], 0)},
    {"zeros": ({"X": np.where(np.arange(5) % 3 == 1, 0, complex_array(5))}, {"dim": 0})},
    ["X"],
)
test_tril = unary("tril_triu", lambda x, a: np.tril(x), {"lower": ({"X": X}, {"lower": True})})
test_index_sample = op_tests(
    "index_sample",
    lambda inputs, attrs: {"Out": np.take_along_axis(inputs["X"], inputs["Index"], 1)},
    {"rows": ({"X": X, "Index": np.array([[2, 0], [1, 1], [3, 2]])}, {})},
    ["X"],
)


def with_column(inputs, attrs):
    out = inputs["Input"].copy()
    out[:, 1:2] = inputs.get("ValueTensor", 2 - 1j)
    return {"Out": out}


COLUMN = {"axes": [1], "starts": [1], "ends": [2]}
test_set_value = op_tests(
    "set_value",
    with_column,
    {
        "a tensor": ({"Input": X, "ValueTensor": complex_array(3, 1, seed=2)}, COLUMN),
        "a number": ({"Input": X}, {**COLUMN, "values": [2 - 1j], "shape": [1]}),
    },
    ["Input", "ValueTensor"],
)
HERMITIAN = complex_array(2, 3, 3) @ complex_array(2, 3, 3).conj().swapaxes(1, 2)


@pytest.mark.parametrize("UPLO", ["L", "U"])
@pytest.mark.parametrize("dtype, tolerance", [("complex64", 1e-4), ("complex128", 1e-11)])
def test_hermitian_matrices(UPLO, dtype, tolerance):
    kept = np.tril if UPLO == "L" else np.triu
    x = kept(HERMITIAN).astype(dtype)  # the other triangle is not read
    found = run_op("eigh", {"X": x}, {"UPLO": UPLO}, ["Eigenvalues", "Eigenvectors"])
    w, v = found["Eigenvalues"], found["Eigenvectors"]
    assert w.dtype == x.real.dtype and v.dtype == dtype
    np.testing.assert_allclose(HERMITIAN @ v, v * w[:, None, :], atol=tolerance)
    np.testing.assert_allclose(v.conj().swapaxes(1, 2) @ v, np.broadcast_to(np.eye(3), v.shape), atol=tolerance)
    only = run_op("eigvalsh", {"X": x}, {"UPLO": UPLO}, ["Eigenvalues"])["Eigenvalues"]
    np.testing.assert_allclose(only, w, atol=tolerance)


def test_gradients_of_hermitian_matrices():
    """The loss is of values and of the sizes of vectors, which do not depend on their factors."""
    x, to_w, to_v = HERMITIAN[0], np.array([0.3, -1, 2]), complex_array(3, 3, seed=4).real

    def loss(matrix):
        w, v = np.linalg.eigh(matrix)
        return (to_w * w).sum() + (to_v * np.abs(v) ** 2).sum()

    made = run_op("eigh", {"X": x}, {}, ["Eigenvalues", "Eigenvectors"])
    given = {"Eigenvalues@GRAD": to_w, "Eigenvectors@GRAD": 2 * to_v * made["Eigenvectors"]}
    gradient = run_op("eigh_grad", {**made, **given}, {}, ["X@GRAD"])["X@GRAD"]
    np.testing.assert_allclose(gradient, gradient.conj().T, atol=1e-12)
    for at in np.ndindex(3, 3):
        change = np.zeros((3, 3), complex)
        change[at] += 1e-6 * (1 if at[0] <= at[1] else 1j)
        change = (change + change.conj().T) / 2
        expected = (loss(x + change) - loss(x - change)) / 2e-6
        np.testing.assert_allclose((gradient.conj() * change * 1e6).sum().real, expected, rtol=1e-5, atol=1e-6)
    only = run_op("eigvalsh_grad", {"Eigenvectors": made["Eigenvectors"], "Eigenvalues@GRAD": to_w}, {}, ["X@GRAD"])["X@GRAD"]
    v = made["Eigenvectors"]
    np.testing.assert_allclose(only, v @ np.diag(to_w) @ v.conj().T, atol=1e-12)


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


BESIDE = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}


@pytest.mark.parametrize("real_first", [True, False], ids=["real, complex", "complex, real"])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", BESIDE)
def test_real_numbers_beside_complex_ones(name, dtype, real_first):
    """They count as complex numbers; the gradient of a real variable is real."""
    waves = complex_array(4, seed=1)
    inputs = {"X": complex_array(3, 4).real, "Y": waves} if real_first else {"X": complex_array(3, 4), "Y": waves.real}
    parts = {"complex64": "float32", "complex128": "float64"}[dtype]
    inputs = {port: value.astype(dtype if np.iscomplexobj(value) else parts) for port, value in inputs.items()}
    op_type, expected = f"elementwise_{name}", BESIDE[name](inputs["X"], inputs["Y"])
    out = run_op(op_type, inputs)["Out"]
    assert out.dtype == dtype
    np.testing.assert_allclose(out, expected, rtol=1e-5)
    ports = ["X@GRAD", "Y@GRAD"]
    found = run_op(f"{op_type}_grad", {**inputs, "Out@GRAD": expected}, {}, ports)
    both = {port: value.astype(dtype) for port, value in inputs.items()}
    of_complex = run_op(f"{op_type}_grad", {**both, "Out@GRAD": expected}, {}, ports)
    for port, gradient in found.items():
        given = inputs[port[0]]
        assert gradient.dtype == given.dtype and gradient.shape == given.shape
        np.testing.assert_allclose(gradient, of_complex[port] if np.iscomplexobj(given) else of_complex[port].real, rtol=1e-5)


def test_a_product_of_a_real_and_a_complex_matrix():
    x, y = complex_array(2, 3, 4).real, complex_array(4, 5, seed=1)
    np.testing.assert_allclose(run_op("matmul_v2", {"X": x, "Y": y})["Out"], x @ y, rtol=1e-12)
    slope = complex_array(2, 3, 5, seed=2)
    found = run_op("matmul_v2_grad", {"X": x, "Y": y, "Out@GRAD": slope}, {}, ["X@GRAD", "Y@GRAD"])
    np.testing.assert_allclose(found["X@GRAD"], (slope @ y.conj().T).real, rtol=1e-12)
    np.testing.assert_allclose(found["Y@GRAD"], np.einsum("bij,bik->jk", x, slope), rtol=1e-12)


def test_other_types_are_not_mixed():
    with pytest.raises(pm.ShapeError, match="X is float64, Y is complex64"):
        run_op("elementwise_add", {"X": np.ones(2), "Y": np.ones(2, "complex64")})
    with pytest.raises(pm.ShapeError, match="X is complex64, Y is int64"):
        run_op("elementwise_mul", {"X": np.ones(2, "complex64"), "Y": np.ones(2, "int64")})

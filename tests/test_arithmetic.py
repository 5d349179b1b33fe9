# Python's operators and x[...] on variables against NumPy's.
import numpy as np
import pytest

import paddle_mini as pm
from programs import op_types, run

X = np.array([[-1.5, 2.0, 7.25], [4.0, 0.5, 3.0]], "float32")
I = np.array([[-7, 2, 9], [4, 5, 3]])
A = np.arange(2 * 3 * 4 * 5, dtype="float32").reshape(2, 3, 4, 5)


@pytest.mark.parametrize(
    "expression",
    [
        lambda x: x < 2.0,
        lambda x: x <= 2.0,
        lambda x: x > 2.0,
        lambda x: x >= 2.0,
        lambda x: x > 2.0,
        lambda x: x <= 2.0,
        lambda x: x < x * x,
        lambda x: x % 2.0,
        lambda x: 5.0 % x,
        lambda x: x // 2.0,
        lambda x: 5.0 // x,
        lambda x: x // x,
        lambda x: x**2,
        lambda x: 2.0**x,
        lambda x: abs_of(x) ** 0.5,
        lambda x: abs_of(x) ** x,
        lambda x: -x,
        lambda x: 3.0 / x,
        lambda x: 1 - x % -2,
    ],
)
def test_operators_on_floats(expression):
    for value in (X, X.astype("float64"), X.reshape(-1)[0]):
        value = np.asarray(value)
        with pm.program_guard(pm.Program(), pm.Program()):
            (found,) = run(expression(pm.layers.data("x", value.shape, value.dtype)), x=value)
        expected = np.asarray(expression(value))
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        np.testing.assert_allclose(found, expected, rtol=1e-6 if value.dtype == np.float32 else 1e-14)


def abs_of(x):
    return pm.layers.abs(x) if isinstance(x, pm.Variable) else np.abs(x)


@pytest.mark.parametrize(
    "expression",
    [
        lambda x: x % 3,
        lambda x: 7 % x,
        lambda x: x // 2,
        lambda x: 100 // x,
        lambda x: x**3,
        lambda x: x <= 4,
        lambda x: x + 2**53 > 2**53 + 3,
        lambda x: x + 16777217,
        lambda x: x - (2**60 + 1),
        lambda x: 2**60 + 1 - x,
        lambda x: x * 16777217,
        lambda x: x * 3 - 7,
    ],
)
def test_operators_on_whole_numbers(expression):
    (found,) = run(expression(pm.layers.data("x", [-1, 3], "int64")), x=I)
    np.testing.assert_array_equal(found, expression(I))
    assert found.dtype == expression(I).dtype


@pytest.mark.parametrize(
    "expression",
    [
        lambda x: x + 0.1,
        lambda x: x - 1e-50,
        lambda x: 0.1 - x,
        lambda x: x * 0.1,
        lambda x: x * 1e300,
        lambda x: x / 3.0,
        lambda x: x / 1e-320,
        lambda x: x * np.inf,
    ],
)
def test_numbers_beside_float64_are_not_rounded_to_float32(expression):
    value = np.array([1.5, -0.75, 4.0])
    (found,) = run(expression(pm.layers.data("x", [3], "float64")), x=value)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(found, expression(value))


def test_numbers_that_no_element_has():
    n = pm.layers.data("n", [1], "int64")
    with pytest.raises(pm.ProgramError, match="'n' is int64, a quotient may be a fraction: use //, or cast it"):
        n / 2
    with pytest.raises(pm.ProgramError, match="an integer beyond every float"):
        n + 10**400
    for call in (lambda: n / n, lambda: 7 / n):
        with pytest.raises(pm.ProgramError, match="a quotient may be a fraction"):
            call()
    truth = pm.layers.data("truth", [1], "bool")
    for call in (lambda: truth + 1, lambda: 1.0 - truth, lambda: truth * 2.5, lambda: -truth, lambda: truth / 2):
        with pytest.raises(pm.ProgramError, match="'truth' is bool, whose elements are not numbers: cast it"):
            call()
    with pytest.raises(TypeError, match="'n' is a Variable, for which .* here: layers.where"):
        n[0] = 1
    assert op_types() == []


def test_matrix_product():
    (found,) = run(pm.layers.data("x", [2, 3]) @ pm.layers.data("y", [3, 2]), x=X, y=X.T.copy())
    np.testing.assert_allclose(found, X @ X.T, rtol=1e-6)


KEYS = [
    np.s_[0],
    np.s_[-1],
    np.s_[1, -3],
    np.s_[1, 2, 3, 4],
    np.s_[:],
    np.s_[...],
    np.s_[1:],
    np.s_[:-1],
    np.s_[:, 1:3],
    np.s_[..., 0],
    np.s_[..., -1:],
    np.s_[0, ..., 1:3],
    np.s_[:, None],
    np.s_[None, 1, ..., None],
    np.s_[..., ::2],
    np.s_[:, ::-1],
    np.s_[1, 2::-1, ::-2],
    np.s_[:, -2:],
    np.s_[:, 5:9],
    np.s_[:, 2:1],
    np.s_[:, -9:9],
    np.s_[1:, 0, None, :, 4],
    np.s_[np.int64(1)],
    np.s_[:, :, 3:0:-1],
    np.s_[:, 9:0:-2],
    np.s_[:, :, 3:-1:-1],
    np.s_[:, :-1:-2],
    np.s_[: 2**63 - 1],
    np.s_[-(2**40) :, :: 2**40],
    np.s_[:, :: -(2**40)],
]


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("shape", [[2, 3, 4, 5], [-1, 3, -1, 5]], ids=["known", "unknown"])
def test_indexing_is_numpys(key, shape):
    out = pm.layers.data("x", shape)[key]
    (found,) = run(out, x=A)
    expected = A[key]
    np.testing.assert_array_equal(found, expected)
    assert found.shape == expected.shape
    assert len(out.shape) == len(expected.shape) and all(a in (-1, b) for a, b in zip(out.shape, expected.shape))


def test_indexing_has_gradients():
    w = pm.layers.create_parameter([3, 4], name="w")
    pairs = pm.append_backward(pm.layers.reduce_sum(w[1:, None, ::2] * 3.0) + pm.layers.reduce_sum(w[0]))
    (found,) = run(pairs[0][1])
    np.testing.assert_array_equal(found, [[1, 1, 1, 1], [3, 0, 3, 0], [3, 0, 3, 0]])


@pytest.mark.parametrize(
    "key, words",
    [
        ((0, 3), r"'x' \[-1, 3\] has no position 3 along axis 1"),
        ((0, 0, 0), "indexed with 3 positions, it has 2 axes"),
        ((..., ...), "more than one"),
        (1.5, "indexed with a float"),
        ([0, 1], "indexed with a list"),
        (True, "indexed with a bool"),
        (slice(0, 2, 0), "step is 0"),
        ("a", "with a str"),
        (slice(None, 1.5), "with a float"),
    ],
)
def test_keys_that_are_refused(key, words):
    with pytest.raises(pm.Error, match=words):
        pm.layers.data("x", [-1, 3])[key]
    assert op_types() == []


def test_a_variable_is_no_truth_no_list_and_no_position():
    x = pm.layers.data("x", [-1, 3])
    with pytest.raises(pm.ProgramError, match="'x' has no value while the program is built"):
        bool(x)
    with pytest.raises(pm.ProgramError, match="has no value"):
        _ = 0 < x < 3
    with pytest.raises(TypeError, match="not iterable"):
        list(x)
    with pytest.raises(pm.ProgramError, match="layers.gather takes positions from a variable"):
        x[pm.layers.data("i", [1], "int64")]
    with pytest.raises(pm.ProgramError, match="not whole: cast it to float32 first"):
        _ = pm.layers.data("n", [1], "int64") < 1.5


@pytest.mark.parametrize(
    "call",
    [
        lambda x, ids: x * (ids == 0),
        lambda x, ids: (ids != 0) * x,
        lambda x, ids: x + True,
        lambda x, ids: x - False,
        lambda x, ids: 1.0 * x / (ids == x),
        lambda x, ids: np.False_ * x,
        lambda x, ids: x**np.True_,
        lambda x, ids: x < (ids == 0),
        lambda x, ids: pm.layers.equal(x, ids == 0),
        lambda x, ids: pm.layers.where(ids == 0, x, x),
        lambda x, ids: pm.layers.elementwise_mul(x, ids == 0),
        lambda x, ids: pm.layers.cast(ids == 0, "float32"),
        lambda x, ids: pm.layers.put_along_axis(x, ids, ids == 0, axis=1),
        lambda x, ids: pm.layers.sequence_pad(x, ids == 0),
    ],
)
def test_the_result_of_comparing_identities_is_no_operand(call):
    x, ids = pm.layers.data("x", [-1, 3]), pm.layers.data("ids", [-1, 3], "int64")
    with pytest.raises(pm.ProgramError, match="`==` compares variables by identity; layers.equal"):
        call(x, ids)
    assert x in [ids, x] and {x: 1}[x] == 1 and [ids, x].index(x) == 1


def test_a_position_that_is_missing_at_a_run():
    with pytest.raises(pm.Error):
        run(pm.layers.data("x", [-1, 3])[2], x=X)

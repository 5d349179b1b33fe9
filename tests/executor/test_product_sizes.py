"""Products around the sizes at which their loops change, with a right operand that is kept packed and with one that is packed by
the product, beside NumPy in float64."""

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini import _core
from paddle_mini.testing.one_op import run_op
from split_loops import MANY, threads, with_each
from thorough import some

# Blocks have up to 9 rows; up to 28, or 280, rows are multiplied with a panel before the next one. A segment of k has at most
# 512 elements. Panels have 8 to 48 columns.
ROWS = (1, 2, 3, 4, 9, 10, 28, 29, 127, 280, 281)
SIZES = ((40, 33), (130, 1024), (1500, 40), (33, 1500), (260, 2048), (129, 3072), (2, 33), (10, 512), (16, 1024), (97, 1024))


@pytest.fixture(scope="module", params=("float32", "float64"))
def dtype(request):
    return request.param


def product(m, n, k, dtype, written):
    """The product of random matrices by a program, and their product in float64."""
    program, exe, scope = pm.Program(), pm.Executor(), pm.Scope()
    block, draw = program.global_block(), np.random.default_rng(m + n + k)
    x, y = (draw.standard_normal(shape).astype(dtype) for shape in ((m, k), (k, n)))
    for name, value in (("x", x), ("y", y), ("out", np.zeros((m, n), dtype))):
        block.create_var(name, dtype=dtype, shape=list(value.shape), persistable=True)
        scope.set(name, value)
    if written:
        block.append_op("assign", {"X": "y"}, {"Out": "y"})
    block.append_op("mul", {"X": "x", "Y": "y"}, {"Out": "out"})
    for _ in range(2):  # the second run finds the copy
        exe.run(program, fetch_list=[], scope=scope)
    return scope.get("out"), x.astype("float64") @ y.astype("float64")


@pytest.mark.parametrize("m", some(ROWS, 2))
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_every_row_and_column_is_right(m, sizes, dtype):
    n, k = sizes
    found, expected = product(m, n, k, dtype, written=False)
    np.testing.assert_allclose(found, expected, rtol=0, atol=40 * np.finfo(dtype).eps * np.sqrt(k))


@pytest.mark.parametrize("m", some(ROWS, 2))
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_a_kept_copy_gives_the_same_bits(m, sizes, dtype):
    kept, _ = product(m, *sizes, dtype, written=False)
    packed, _ = product(m, *sizes, dtype, written=True)
    assert kept.tobytes() == packed.tobytes()


@pytest.mark.parametrize("m", (28, 29, 128, 280, 281))
@pytest.mark.parametrize("n", (33, 512, 700, 1030), ids="n={}".format)
@pytest.mark.parametrize("k", (40, 97))
def test_gradients(m, n, k, dtype):
    """Products of 29 to 280 rows pack one panel of a transposed operand after the other; n is the depth of the first one."""
    program, exe, scope = pm.Program(), pm.Executor(), pm.Scope()
    block, draw = program.global_block(), np.random.default_rng(m + n + k)
    names = {"x": (m, k), "y": (k, n), "out_gradient": (m, n), "x_gradient": (m, k), "y_gradient": (k, n)}
    for name, shape in names.items():
        block.create_var(name, dtype=dtype, shape=list(shape), persistable=True)
        scope.set(name, draw.standard_normal(shape).astype(dtype))
    inputs = {"X": "x", "Y": "y", "Out@GRAD": "out_gradient"}
    block.append_op("mul_grad", inputs, {"X@GRAD": "x_gradient", "Y@GRAD": "y_gradient"})
    exe.run(program, fetch_list=[], scope=scope)
    x, y, gradient = (scope.get(name).astype("float64") for name in ("x", "y", "out_gradient"))
    for name, expected, depth in (("x_gradient", gradient @ y.T, n), ("y_gradient", x.T @ gradient, m)):
        np.testing.assert_allclose(scope.get(name), expected, rtol=0, atol=40 * np.finfo(dtype).eps * np.sqrt(depth))


@pytest.mark.parametrize("texts", (1, 2, 3, 8, 9))
@pytest.mark.parametrize("mode", ("LSTM", "GRU"))
def test_recurrent_layers_of_few_texts_give_each_text_its_own_result(texts, mode):
    """72 elements of state: panels of the weights alone and in groups, and a part of one."""
    main, startup, scope = pm.Program(), pm.Program(), pm.Scope()
    startup.random_seed = 1
    with pm.program_guard(main, startup), pm.unique_name.guard():
        x = pm.layers.data("x", [3, -1, 24])
        out = pm.layers.stacked_rnn(x, 72, 1, mode, is_test=True)[0]
    exe = pm.Executor()
    exe.run(startup, scope=scope)
    values = np.random.default_rng(1).standard_normal((3, 9, 24)).astype("float32")
    (all_texts,) = exe.run(main, {"x": values}, [out], scope)
    (few,) = exe.run(main, {"x": values[:, :texts]}, [out], scope)
    np.testing.assert_allclose(few, all_texts[:, :texts], rtol=0, atol=1e-6)


@pytest.mark.parametrize("sizes", ((1, 257, 1000), (1, 1025, 5), (1, 512, 784), (1100, 1, 300), (700, 300, 7)), ids=str)
def test_one_row_or_column_or_a_short_sum_has_the_same_bits_for_any_threads(sizes, dtype):
    one, *others = with_each(MANY, lambda: product(*sizes, dtype, written=True)[0].tobytes())
    assert others == [one] * len(others)


@pytest.mark.parametrize("n", (40, 130, 1500))
@pytest.mark.parametrize("k", (0, 1, 7, 600))
def test_one_row_has_the_bits_that_it_has_among_others(n, k, dtype):
    one, _ = product(1, n, k, dtype, written=True)
    program, exe, scope = pm.Program(), pm.Executor(), pm.Scope()
    block, draw = program.global_block(), np.random.default_rng(1 + n + k)
    x, y = (draw.standard_normal(shape).astype(dtype) for shape in ((1, k), (k, n)))
    for name, value in (("x", np.repeat(x, 5, axis=0)), ("y", y), ("out", np.zeros((5, n), dtype))):
        block.create_var(name, dtype=dtype, shape=list(value.shape), persistable=True)
        scope.set(name, value)
    block.append_op("mul", {"X": "x", "Y": "y"}, {"Out": "out"})
    exe.run(program, fetch_list=[], scope=scope)
    assert all(row.tobytes() == one[0].tobytes() for row in scope.get("out"))


@pytest.mark.parametrize("transposed", (False, True))
@pytest.mark.parametrize(
    "sizes", ((1, 300, 2500), (300, 1, 2500), (1, 1, 5000), (1, 3, 0), (3, 1, 0), (4, 5, 0), (0, 1, 3), (1, 0, 3))
)
def test_a_matrix_and_a_vector(sizes, transposed, dtype):
    """By matmul, with a factor, and both operands as they are and transposed."""
    m, n, k = sizes
    draw = np.random.default_rng(m + n + k)
    x, y = draw.standard_normal((m, k)).astype(dtype), draw.standard_normal((k, n)).astype(dtype)
    inputs = {"X": x.T.copy(), "Y": y.T.copy()} if transposed else {"X": x, "Y": y}
    attrs = {"transpose_X": transposed, "transpose_Y": transposed, "alpha": 0.5}
    found = run_op("matmul", inputs, attrs)["Out"]
    expected = 0.5 * (x.astype("float64") @ y.astype("float64"))
    np.testing.assert_allclose(found, expected, rtol=0, atol=40 * np.finfo(dtype).eps * np.sqrt(max(k, 1)))


def test_a_row_is_split_by_the_bytes_that_it_reads(dtype):
    """1.6 MB take longer to arrive than a loop that is split takes, although there are two operations for each element."""
    with threads(2, shortest=None):
        _core.take_longest_split_loop()
        product(1, 512, 784, dtype, written=False)
        assert _core.take_longest_split_loop() > 0

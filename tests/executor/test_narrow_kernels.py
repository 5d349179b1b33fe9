"""16-bit floats in kernels that convert in registers: products of bfloat16 by the CPU's instructions, and elementwise operators.

Products are of the rounded factors, added in float32 and rounded once. Where the CPU lacks the instructions, casts surround a
float32 product, whose sums have another order.
"""

import os
import subprocess
import sys

import numpy as np
import pytest

import paddle_mini as pm
from bfloat16 import bits_of, numbers_of
from paddle_mini import _core
from paddle_mini.testing.one_op import array, run_op

NATIVE = _core.kernel_library()["level"] in ("v4-bf16", "v4-amx")
SIZES = [
    (1, 1, 1),
    (13, 15, 2),
    (14, 16, 3),
    (15, 17, 31),
    (29, 31, 33),
    (2, 33, 1023),
    (127, 65, 64),
    (3, 300, 2051),
    (600, 40, 1025),
]


def product(x, y, op_type="matmul_v2", **attrs):
    return numbers_of(run_op(op_type, {"X": bits_of(x), "Y": bits_of(y)}, attrs)["Out"])


def gradients(x, y, given, op_type="matmul_v2", **attrs):
    inputs = {"X": bits_of(x), "Y": bits_of(y), "Out@GRAD": bits_of(given)}
    found = run_op(f"{op_type}_grad", inputs, attrs, ["X@GRAD", "Y@GRAD"])
    return [numbers_of(found[port]) for port in ("X@GRAD", "Y@GRAD")]


def check(found, x, y):
    """The bound of one rounding to 8 bits, and of float32 sums of rounded factors; x and y are matrices or stacks of them."""
    x, y = (numbers_of(bits_of(one)).astype("float64") for one in (x, y))
    exact, size = x @ y, np.abs(x) @ np.abs(y)
    assert found.shape == exact.shape
    bound = 2.0**-8 * np.abs(exact) + (x.shape[-1] + 1) * 2.0**-23 * size + 2.0**-126
    assert (np.abs(found - exact) <= bound).all()


def swapped(x, swap):
    return np.ascontiguousarray(np.swapaxes(x, -1, -2)) if swap else x


@pytest.mark.parametrize("m, n, k", SIZES)
@pytest.mark.parametrize("transpose_x", [False, True])
@pytest.mark.parametrize("transpose_y", [False, True])
def test_products_are_within_the_bound(m, n, k, transpose_x, transpose_y):
    x, y = array(m, k, seed=1), array(k, n, seed=2)
    flags = {"trans_x": transpose_x, "trans_y": transpose_y}
    check(product(swapped(x, transpose_x), swapped(y, transpose_y), **flags), x, y)


@pytest.mark.parametrize("transpose_x", [False, True])
@pytest.mark.parametrize("transpose_y", [False, True])
def test_gradients_are_within_the_bound(transpose_x, transpose_y):
    x, y, given = array(45, 33), array(33, 70), array(45, 70, seed=3)
    flags = {"trans_x": transpose_x, "trans_y": transpose_y}
    to_x, to_y = gradients(swapped(x, transpose_x), swapped(y, transpose_y), given, **flags)
    check(swapped(to_x, transpose_x), given, y.T)
    check(swapped(to_y, transpose_y), x.T, given)


def test_batches_and_broadcast_operands():
    x, y = array(5, 3, 17, 20), array(3, 20, 9)
    check(product(x, y), x, np.broadcast_to(y, (5, 3, 20, 9)))
    check(product(array(4, 17, 20), array(4, 20, 35), "bmm"), array(4, 17, 20), array(4, 20, 35))
    check(product(x, array(20, 35)), x, array(20, 35))
    check(product(array(2, 3, 4), array(12, 5), "mul"), array(2, 3, 4).reshape(2, 12), array(12, 5))
    np.testing.assert_array_equal(
        product(np.full((2, 3), 3.0), np.full((3, 4), 0.5), "matmul", alpha=-2.0), np.full((2, 4), -9.0)
    )


def test_sums_are_of_float32():
    """In 8 bits a sum of ones would end at 256."""
    np.testing.assert_array_equal(product(np.ones((2, 3000)), np.ones((3000, 3))), np.full((2, 3), 3008.0))  # 3000, rounded
    ones = np.ones((2000, 1, 2))
    _, to_y = gradients(ones, np.ones((2, 3)), np.ones((2000, 1, 3)))
    np.testing.assert_array_equal(to_y, np.full((2, 3), 2000.0))
    _, to_y = gradients(np.ones((2000, 2, 1)), np.ones((2, 3)), np.ones((2000, 1, 3)), trans_x=True)
    np.testing.assert_array_equal(to_y, np.full((2, 3), 2000.0))
    inputs = {"X": bits_of(np.ones((1000, 40))), "Y": bits_of(np.ones(40)), "Out@GRAD": bits_of(np.ones((1000, 40)))}
    found = run_op("elementwise_add_grad", inputs, {}, ["X@GRAD", "Y@GRAD"])
    np.testing.assert_array_equal(numbers_of(found["Y@GRAD"]), np.full(40, 1000.0))
    inputs = {"X": bits_of(np.ones((40, 1000))), "Y": bits_of(np.ones((40, 1))), "Out@GRAD": bits_of(np.ones((40, 1000)))}
    found = run_op("elementwise_add_grad", inputs, {}, ["X@GRAD", "Y@GRAD"])
    np.testing.assert_array_equal(numbers_of(found["Y@GRAD"]), np.full((40, 1), 1000.0))


def test_nan_and_infinity_stay_in_their_rows():
    x, y = np.ones((40, 50), "float32"), np.ones((50, 35), "float32")
    x[3, 7], x[20, 0], x[21, 1] = np.nan, np.inf, -np.inf
    y[0, 33] = 0.0
    x_bits = bits_of(np.nan_to_num(x, posinf=0, neginf=0))
    x_bits[3, 7], x_bits[20, 0], x_bits[21, 1] = 0x7FC0, 0x7F80, 0xFF80
    found = numbers_of(run_op("matmul_v2", {"X": x_bits, "Y": bits_of(y)}, {})["Out"])
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(found, x @ y)


@pytest.mark.parametrize("m, n, k", [(0, 3, 4), (3, 0, 4), (3, 4, 0)])
def test_empty_products(m, n, k):
    np.testing.assert_array_equal(product(np.ones((m, k)), np.ones((k, n))), np.zeros((m, n)))
    to_x, to_y = gradients(np.ones((m, k)), np.ones((k, n)), np.ones((m, n)))
    np.testing.assert_array_equal(to_x, np.full((m, k), n))
    np.testing.assert_array_equal(to_y, np.full((k, n), m))


def trained(threads):
    """The bits of values after steps whose products, rows of softmax and sums are split among threads."""
    main, startup, scope = pm.Program(), pm.Program(), pm.Scope()
    with pm.program_guard(main, startup):
        x, label = pm.layers.data("x", [300, 257]), pm.layers.data("label", [300, 1], "int64")
        logits = pm.layers.fc(pm.layers.fc(x, 515, act="gelu"), 1300)
        loss = pm.layers.mean(pm.layers.softmax_with_cross_entropy(logits, label))
        lists = pm.amp.AutoMixedPrecisionLists({"softmax_with_cross_entropy"})
        optimizer = pm.amp.decorate(pm.optimizer.SGD(0.1), lists, level="O2")
        optimizer.minimize(loss)
    exe = pm.Executor(threads=threads)
    pm.seed(3)
    exe.run(startup, scope=scope)
    for _ in range(2):
        exe.run(main, {"x": array(300, 257).astype("float32"), "label": np.arange(300)[:, None]}, [loss], scope)
    return [scope.get(parameter.name).tobytes() for parameter in main.all_parameters()]


def test_any_number_of_threads_gives_the_same_bits():
    assert trained(1) == trained(2) == trained(3)


def test_weights_that_are_never_written_are_packed_once_and_follow_changes():
    main, scope = pm.Program(), pm.Scope()
    with pm.program_guard(main):
        x = pm.layers.data("x", [40, 33], dtype="bfloat16")
        weight = pm.layers.create_parameter([33, 1100], "bfloat16", name="weight")
        out = pm.layers.mul(x, weight)
    exe, feed = pm.Executor(), bits_of(array(40, 33))
    for seed in (1, 1, 2):
        scope.set("weight", array(33, 1100, seed=seed).astype("float32"))
        pm.amp.cast_parameters(main, scope)
        (found,) = exe.run(main, {"x": feed}, [out], scope)
        check(numbers_of(found), array(40, 33), array(33, 1100, seed=seed))


def loss_in_float32(x, label, softmax, wide):
    """With float32_loss the loss is not rounded, nor the gradient that it is given."""
    attrs, ports = {"float32_loss": True}, {"Softmax": 1, "Loss": 1}
    found = run_op("softmax_with_cross_entropy", {"Logits": x, "Label": label}, attrs, ports)
    np.testing.assert_array_equal(found["Softmax"], softmax)
    np.testing.assert_array_equal(found["Loss"], wide)
    inputs = {"Label": label, "Softmax": softmax, "Loss@GRAD": np.full((700, 1), 1 / 700, "float32")}
    back = run_op("softmax_with_cross_entropy_grad", inputs, attrs, ["Logits@GRAD"])["Logits@GRAD"]
    inputs["Softmax"] = numbers_of(softmax)
    of_float32 = run_op("softmax_with_cross_entropy_grad", inputs, {}, ["Logits@GRAD"])["Logits@GRAD"]
    np.testing.assert_array_equal(back, bits_of(of_float32))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax_of_many_rows_is_that_of_float32_rounded_once(axis):
    """More rows than are computed at once; the labels are checked before the first of them is written."""
    x, given = bits_of(array(700, 301, low=-5, high=5)), bits_of(array(700, 301, seed=1))
    wide = run_op("softmax", {"X": numbers_of(x)}, {"axis": axis})["Out"]
    out = run_op("softmax", {"X": x}, {"axis": axis})["Out"]
    np.testing.assert_array_equal(out, bits_of(wide))
    back = {"Out": numbers_of(out), "Out@GRAD": numbers_of(given)}
    wide = run_op("softmax_grad", back, {"axis": axis})["X@GRAD"]
    found = run_op("softmax_grad", {"Out": out, "Out@GRAD": given}, {"axis": axis})["X@GRAD"]
    np.testing.assert_array_equal(found, bits_of(wide))
    if axis == 0:
        return
    label = np.arange(700)[:, None] % 301
    ports = {"Softmax": 1, "Loss": 1}
    wide = run_op("softmax_with_cross_entropy", {"Logits": numbers_of(x), "Label": label}, {}, ports)
    found = run_op("softmax_with_cross_entropy", {"Logits": x, "Label": label}, {}, ports)
    for port in ports:
        np.testing.assert_array_equal(found[port], bits_of(wide[port]))
    loss_in_float32(x, label, found["Softmax"], wide["Loss"])
    label[699] = 301
    with pytest.raises(pm.OpError, match="label 301 in row 699 is out of range"):
        run_op("softmax_with_cross_entropy", {"Logits": x, "Label": label}, {}, ports)


def plan():
    main = pm.Program()
    with pm.program_guard(main):
        x = pm.layers.data("x", [4, 4], dtype="bfloat16")
        out = pm.layers.elementwise_add(pm.layers.matmul(x, x), x)
    return pm.Executor().plan_text(main, {"x": np.zeros((4, 4), "uint16")}, [out])


@pytest.mark.skipif(not NATIVE, reason="the CPU has no products of bfloat16")
def test_the_plan_has_no_casts():
    assert "cast" not in plan()


@pytest.mark.skipif(not NATIVE, reason="the CPU has no products of bfloat16")
def test_without_the_instructions_products_are_cast():
    """PM_CPU=v4 is the same library without them: plans are those of other CPUs."""
    program = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "from executor.test_narrow_kernels import *\n"
        "from paddle_mini import _core\n"
        "assert not NATIVE and _core.kernel_library()['level'] == 'v4'\n"
        "assert plan().count('cast') == 2, plan()\n"
        "check(product(array(45, 300), array(300, 70)), array(45, 300), array(300, 70))\n"
        "test_gradients_are_within_the_bound(True, False)\n"
        "test_sums_are_of_float32()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *sys.path],
        env={**os.environ, "PM_CPU": "v4"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr

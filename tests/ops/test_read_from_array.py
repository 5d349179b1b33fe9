"""read_from_array: Out = X[I]; gradients of loops over arrays are in tests/layers/test_control_flow.py."""

import numpy as np
import pytest

import paddle_mini as pm
from families.programs import one, run

L = pm.layers


def test_an_element_is_read():
    def build(x, i):
        array = L.array_write(x, i)
        return L.array_read(array, i)

    np.testing.assert_array_equal(run(build, x=np.arange(3.0, dtype="float32"), i=one(4)), [0, 1, 2])


@pytest.mark.parametrize("index", [-1, 0, 2, 2**40])
def test_an_element_without_value_is_refused(index):
    with pytest.raises(pm.OpError, match=rf"element {index} of X"):
        run(
            lambda x, i: L.array_read(L.array_write(x, L.fill_constant([1], "int64", 1)), i),
            x=np.ones(2, "float32"),
            i=one(index),
        )


def test_what_was_written_and_never_read_has_a_gradient_of_zeros():
    main = pm.Program()
    with pm.program_guard(main, pm.Program()):
        x, i = L.data("x", shape=[2]), L.fill_constant([1], "int64", 0)
        x.stop_gradient = False
        array = L.array_write(x, i)
        L.array_write(x * 2.0, i + 1, array)
        (gradient,) = pm.backward.gradients([L.reduce_sum(L.array_read(array, i))], [x])
    (value,) = pm.Executor(pm.CPUPlace()).run(main, feed={"x": np.ones(2, "float32")}, fetch_list=[gradient], scope=pm.Scope())
    np.testing.assert_array_equal(value, [1, 1])

"""write_to_array: Out[I] = X; gradients of loops over arrays are in tests/layers/test_control_flow.py."""

import numpy as np
import pytest

import paddle_mini as pm
from families.programs import one, run

L = pm.layers


def test_elements_are_written_where_the_index_says():
    def build(x, i):
        array = L.array_write(x, i)
        L.array_write(x * 2.0, i + 1, array)
        return L.array_write(x * 3.0, i, array)

    result = run(build, x=np.ones(2, "float32"), i=one(1))
    assert result[0] is None  # never written
    np.testing.assert_array_equal(result[1], [3, 3])
    np.testing.assert_array_equal(result[2], [2, 2])


@pytest.mark.parametrize("index", [-1, 2**40])
def test_an_index_that_is_none_is_refused(index):
    with pytest.raises(pm.OpError, match="I is"):
        run(lambda x, i: L.array_write(x, i), x=np.ones(2, "float32"), i=one(index))


def test_what_is_written_is_a_copy_of_that_moment():
    main, startup, scope = pm.Program(), pm.Program(), pm.Scope()
    with pm.program_guard(main, startup):
        total = L.create_global_var([1], 1.0, name="total")
        array = L.array_write(total, L.fill_constant([1], "int64", 0))
        L.assign(total + 1.0, total)
    executor = pm.Executor(pm.CPUPlace())
    executor.run(startup, scope=scope)
    np.testing.assert_array_equal(executor.run(main, fetch_list=[array], scope=scope)[0][0], [1])

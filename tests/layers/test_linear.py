# fc and matmul.
import numpy as np
import pytest

import paddle_mini as pm
from programs import op_types, run

VALUES = np.arange(24, dtype="float32").reshape(2, 3, 4) / 10


def parameters():
    return [pm.global_scope().get(p.name) for p in pm.default_main_program().all_parameters()]


@pytest.mark.parametrize("axes, shape", [(1, (-1, 5)), (2, (-1, 3, 5)), (-1, (-1, 3, 5))])
def test_fc_flattens_from_num_flatten_dims(axes, shape):
    out = pm.layers.fc(pm.layers.data("x", [-1, 3, 4]), 5, num_flatten_dims=axes, act="relu", bias_attr=pm.initializer.Uniform())
    assert out.shape == shape
    (value,) = run(out, x=VALUES)
    weight, bias = parameters()
    rows = VALUES.reshape(-1, weight.shape[0])
    np.testing.assert_allclose(value, np.maximum(rows @ weight + bias, 0).reshape(value.shape), rtol=1e-5, atol=1e-6)
    assert op_types() == ["mul", "elementwise_add", "relu"]


def test_fc_sums_the_products_of_several_inputs():
    x, y = pm.layers.data("x", [-1, 3]), pm.layers.data("y", [-1, 2])
    a, b = np.ones((2, 3), "float32"), np.full((2, 2), 2, "float32")
    (value,) = run(pm.layers.fc([x, y], 4, bias_attr=False), x=a, y=b)
    for_x, for_y = parameters()
    np.testing.assert_allclose(value, a @ for_x + b @ for_y, rtol=1e-5)


def test_fc_refuses():
    with pytest.raises(pm.ShapeError, match="'n' is int64, it must be float"):
        pm.layers.fc(pm.layers.data("n", [-1, 3], dtype="int64"), 2)
    with pytest.raises(pm.ShapeError, match="dimension 1 of 'm'"):
        pm.layers.fc(pm.layers.data("m", [-1, -1]), 2)
    x = pm.layers.data("x", [-1, 3])
    for size in (0, -1, 2.0, "2", True):
        with pytest.raises(pm.ProgramError, match="fc: size is .*, it must be an integer, at least 1"):
            pm.layers.fc(x, size)
    with pytest.raises(pm.ProgramError, match="fc: num_flatten_dims is 1.5"):
        pm.layers.fc(x, 2, num_flatten_dims=1.5)
    assert pm.default_main_program().all_parameters() == []
    assert pm.layers.fc(x, np.int64(2)).shape == (-1, 2)


def test_matmul_transposes_and_broadcasts():
    x, y = pm.layers.data("x", [2, 4, 3]), pm.layers.data("y", [5, 4])
    out = pm.layers.matmul(x, y, transpose_x=True, transpose_y=True)
    assert out.shape == (2, 3, 5)
    a, b = np.arange(24, dtype="float32").reshape(2, 4, 3), np.arange(20, dtype="float32").reshape(5, 4)
    np.testing.assert_allclose(run(out, x=a, y=b)[0], a.transpose(0, 2, 1) @ b.T)


def test_bilinear_tensor_product():
    a, b = np.arange(6, dtype="float32").reshape(2, 3) / 5, np.arange(4, dtype="float32").reshape(2, 2)
    out = pm.layers.bilinear_tensor_product(
        pm.layers.data("x", [-1, 3]), pm.layers.data("y", [-1, 2]), 4, act="tanh", bias_attr=pm.initializer.Uniform()
    )
    (value,) = run(out, x=a, y=b)
    weight, bias = parameters()
    assert weight.shape == (4, 3, 2) and bias.shape == (1, 4) and out.shape == (-1, 4)
    np.testing.assert_allclose(value, np.tanh(np.einsum("bm,smn,bn->bs", a, weight, b) + bias), rtol=1e-5, atol=1e-6)
    with pytest.raises(pm.ProgramError, match="bilinear_tensor_product: size is 0"):
        pm.layers.bilinear_tensor_product(pm.layers.data("x", [-1, 3]), pm.layers.data("y", [-1, 2]), 0)

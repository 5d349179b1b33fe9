"""ftrl: follow the regularized leader."""

import numpy as np

import paddle_mini as pm
from families.updates import other_shape, steps
from harness import Rows, array, op_tests, run_op


def reference(inputs, attrs):
    p, s, l, grad = (inputs[port] for port in ("Param", "SquaredAccumulator", "LinearAccumulator", "Grad"))
    rate, k = inputs["LearningRate"].reshape(()), -np.float64(np.float32(attrs["lr_power"]))
    l1, l2 = attrs["l1"] + 1e-10, attrs["l2"] + 1e-10
    g = grad.dense() if isinstance(grad, Rows) else grad
    n = s + g * g
    linear = l + g - (n**k - s**k) / rate * p
    new = np.where(np.abs(linear) > l1, (np.sign(linear) * l1 - linear) / (n**k / rate + 2 * l2), 0)
    if isinstance(grad, Rows):  # Trap: a row that is not named keeps its parameters, a dense gradient 0 does not
        named = np.isin(np.arange(len(p)), grad.rows).reshape(-1, *[1] * (p.ndim - 1))
        new = np.where(named, new, p)
    return {"ParamOut": new, "SquaredAccumOut": n, "LinearAccumOut": linear}


step = steps(0.25, SquaredAccumulator=dict(low=0.25, seed=2), LinearAccumulator=dict(seed=3))

ROWS = Rows([4, 0, 4], array(3, 20), 6)

test_ftrl = op_tests(
    "ftrl",
    reference,
    cases={
        "plain": (step(5, 7), {}),
        "regularized": (step(40), {"l1": 0.5, "l2": 0.25}),
        "other power": (step(40), {"l1": 0.5, "l2": 0.25, "lr_power": -0.75}),
        "positive power": (step(9), {"l2": 0.25, "lr_power": 0.5}),
        "one element": (step(), {"l1": 0.125}),
        "no rows": (step(0, 4), {}),
        "selected rows": (step(6, 20, grad=ROWS), {"l1": 0.5, "l2": 0.25}),
        "selected rows, other power": (step(6, 20, grad=ROWS), {"lr_power": -0.75}),
        "no selected rows": (step(6, 3, grad=Rows([], array(0, 3), 6)), {}),
    },
    refusals={
        **other_shape(step),
        "other table": (step(6, 3, grad=Rows([2], array(1, 3), 7)), {}, pm.ShapeError, "Param Grad [7, 3]"),
        "other accumulator": (step(3) | {"LinearAccumulator": array(4)}, {}, pm.ShapeError, "LinearAccumulator [4]"),
    },
    # In float32: differences of roots, divided by the rate.
    tolerance={"float32": 1e-5},
)


def test_small_sums_give_exactly_zero():
    zeros = dict.fromkeys(("SquaredAccumulator", "LinearAccumulator"), np.zeros(3))
    inputs = step(3, grad=np.array([0.25, -0.25, 0.75])) | zeros | {"Param": np.zeros(3)}
    out = run_op("ftrl", inputs, {"l1": 0.5})
    np.testing.assert_allclose(out["ParamOut"], [0, 0, -0.25 / (0.75 / 0.25)], rtol=1e-6)
    # No state and no gradient: 0, not 0 / 0.
    assert (run_op("ftrl", inputs | {"Grad": np.zeros(3)})["ParamOut"] == 0).all()

"""adam: moments of the gradient with bias correction; Param - LearningRate * m / (sqrt(v) + epsilon)."""

import numpy as np

import paddle_mini as pm
from families.updates import other_shape, steps
from harness import Rows, array, op_tests, run_op


def reference(inputs, attrs):
    scalar = lambda port, attr=None: inputs[port].reshape(()) if port in inputs else np.float64(np.float32(attrs[attr]))
    beta1, beta2 = scalar("Beta1Tensor", "beta1"), scalar("Beta2Tensor", "beta2")
    epsilon = scalar("EpsilonTensor", "epsilon")
    p, g, m, v = (inputs[port] for port in ("Param", "Grad", "Moment1", "Moment2"))
    power1, power2 = scalar("Beta1Pow"), scalar("Beta2Pow")
    sparse = isinstance(g, Rows)
    if ("SkipUpdate" in inputs and inputs["SkipUpdate"].all()) or (sparse and len(g.rows) == 0):
        return dict(ParamOut=p, Moment1Out=m, Moment2Out=v, Beta1PowOut=inputs["Beta1Pow"], Beta2PowOut=inputs["Beta2Pow"])
    still = attrs["use_global_beta_pow"]
    next1, next2 = (power1, power2) if still else (power1 * beta1, power2 * beta2)
    touched = np.ones(len(p) if p.ndim else 1, bool)
    if sparse and attrs["lazy_mode"]:
        # Trap: PaddlePaddle's sparse kernel advances the powers first, and lazy mode moves these rows only.
        touched = np.isin(np.arange(len(p)), g.rows)
        power1, power2 = next1, next2
    g = g.dense() if sparse else g
    m_new = beta1 * m + (1 - beta1) * g
    v_new = beta2 * v + (1 - beta2) * g * g
    p_new = p - scalar("LearningRate") * (m_new / (1 - power1)) / (np.sqrt(v_new / (1 - power2)) + epsilon)
    pick = lambda new, old: np.where(touched.reshape(-1, *[1] * (p.ndim - 1)), new, old) if p.ndim else new
    shape = inputs["Beta1Pow"].shape
    return {
        "ParamOut": pick(p_new, p),
        "Moment1Out": pick(m_new, m),
        "Moment2Out": pick(v_new, v),
        "Beta1PowOut": np.full(shape, next1),
        "Beta2PowOut": np.full(shape, next2),
    }


step = steps(0.125, Moment1=dict(seed=2), Moment2=dict(low=0, seed=3), scalars={"Beta1Pow": 0.729, "Beta2Pow": 0.99})

ROWS = Rows([4, 0, 4], array(3, 20), 6)
GIVEN = dict(Beta1Tensor=np.full(1, 0.75), Beta2Tensor=np.full(1, 0.5), EpsilonTensor=np.full(1, 0.25))

test_adam = op_tests(
    "adam",
    reference,
    cases={
        "matrix": (step(5, 7), {}),
        "large epsilon": (step(40), {"epsilon": 0.5, "beta1": 0.75, "beta2": 0.5}),
        "one element": (step(), {}),
        "no rows": (step(0, 4), {}),
        "numbers as tensors": (step(9, **GIVEN), {}),
        "powers advanced elsewhere": (step(9), {"use_global_beta_pow": True}),
        "skipped": (step(9, SkipUpdate=np.array([True])), {}),
        "not skipped": (step(9, SkipUpdate=np.array([False])), {}),
        # Rows of zeros, unlike PaddlePaddle, which does not correct epsilon in the rows that are not named.
        "selected rows": (step(6, 20, grad=ROWS), {"epsilon": 0.5}),
        "lazy": (step(6, 20, grad=ROWS), {"lazy_mode": True}),
        "lazy powers advanced elsewhere": (step(6, 20, grad=ROWS), {"lazy_mode": True, "use_global_beta_pow": True}),
        "lazy dense": (step(6, 3), {"lazy_mode": True}),
        # Trap: without any row even the powers stay.
        "no selected rows": (step(6, 3, grad=Rows([], array(0, 3), 6)), {}),
        "lazy, no selected rows": (step(6, 3, grad=Rows([], array(0, 3), 6)), {"lazy_mode": True}),
    },
    refusals={
        **other_shape(step),
        "two powers": (step(3) | {"Beta1Pow": np.full(2, 0.9)}, {}, pm.ShapeError, "Beta1Pow [2] one element"),
        "beta over 1": (step(3), {"beta1": 1.5}, pm.ProgramError, "beta1 1.5"),
        "int skip": (step(3, SkipUpdate=np.array([1])), {}, pm.ShapeError, "SkipUpdate int64 bool"),
    },
)


def test_powers_are_used_as_they_were_read():
    # First step: the powers hold beta, not 1, and each parameter moves by the rate.
    inputs = {
        key: value.astype("float32") for key, value in step(50, Beta1Pow=np.full(1, 0.9), Beta2Pow=np.full(1, 0.999)).items()
    }
    inputs["Moment1"][:] = inputs["Moment2"][:] = 0
    out = run_op("adam", inputs)
    moved = inputs["Param"] - out["ParamOut"]
    np.testing.assert_allclose(np.abs(moved), 0.125, rtol=1e-4)
    np.testing.assert_allclose(out["Beta1PowOut"], 0.81, rtol=1e-6)


def test_rows_that_are_not_named_have_gradient_zero():
    rows = Rows([3, 1, 3], array(3, 5), 7)
    sparse, dense = (run_op("adam", step(7, 5, grad=grad)) for grad in (rows, rows.dense()))
    for port in sparse:
        np.testing.assert_array_equal(sparse[port], dense[port], port)

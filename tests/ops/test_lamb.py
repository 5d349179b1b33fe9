"""lamb: adam's direction with weight decay, in steps proportional to the parameter's norm."""

import numpy as np

import paddle_mini as pm
from families.updates import other_shape, steps
from harness import Rows, array, op_tests, run_op


def reference(inputs, attrs):
    p, grad, m, v = (inputs[port] for port in ("Param", "Grad", "Moment1", "Moment2"))
    beta1, beta2, epsilon, decay = (np.float64(np.float32(attrs[name])) for name in ("beta1", "beta2", "epsilon", "weight_decay"))
    rate, b1, b2 = (inputs[port].reshape(()) for port in ("LearningRate", "Beta1Pow", "Beta2Pow"))
    power1, power2 = inputs["Beta1Pow"], inputs["Beta2Pow"]
    sparse = isinstance(grad, Rows)
    if ("SkipUpdate" in inputs and inputs["SkipUpdate"].all()) or (sparse and len(grad.rows) == 0):
        return dict(ParamOut=p, Moment1Out=m, Moment2Out=v, Beta1PowOut=power1, Beta2PowOut=power2)
    g = grad.dense() if sparse else grad
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    t = m / (1 - b1) / (np.sqrt(v / (1 - b2)) + epsilon) + decay * p
    norms = np.sqrt(np.sum(p * p)), np.sqrt(np.sum(t * t))
    adapts = (decay > 0 or attrs["always_adapt"]) and min(norms) > 0
    p = p - rate * (norms[0] / norms[1] if adapts else 1) * t
    return {"ParamOut": p, "Moment1Out": m, "Moment2Out": v, "Beta1PowOut": power1 * beta1, "Beta2PowOut": power2 * beta2}


step = steps(0.125, Moment1=dict(seed=2), Moment2=dict(low=0.25, seed=3), scalars={"Beta1Pow": 0.729, "Beta2Pow": 0.5})

ROWS = Rows([4, 0, 4], array(3, 20), 6)
DECAY = {"weight_decay": 0.25}

test_lamb = op_tests(
    "lamb",
    reference,
    cases={
        "decay": (step(5, 7), DECAY),
        "several blocks": (step(5, 1000), DECAY),
        "several blocks, no decay": (step(5, 1000), {"weight_decay": 0.0}),
        "no decay": (step(5, 7), {"weight_decay": 0.0, "epsilon": 0.25}),
        "no decay, adapts": (step(5, 7), {"weight_decay": 0.0, "always_adapt": True}),
        "norm 0": (step(5, 7) | {"Param": np.zeros((5, 7))}, DECAY),
        "one element": (step(), DECAY),
        "no rows": (step(0, 4), DECAY),
        "skipped": (step(9, SkipUpdate=np.array([True])), DECAY),
        "not skipped": (step(9, SkipUpdate=np.array([False])), DECAY),
        "selected rows": (step(6, 20, grad=ROWS), DECAY),
        "selected rows, no decay": (step(6, 20, grad=ROWS), {"weight_decay": 0.0}),
        "no selected rows": (step(6, 3, grad=Rows([], array(0, 3), 6)), DECAY),
    },
    refusals={
        **other_shape(step, DECAY),
        "no decay given": (step(3), {}, pm.ProgramError, "weight_decay missing"),
        "int skip": (step(3, SkipUpdate=np.array([1])), DECAY, pm.ShapeError, "SkipUpdate int64 bool"),
    },
)


def test_a_step_is_as_long_as_the_rate_times_the_norm():
    inputs = step(50)
    out = run_op("lamb", inputs, DECAY)
    moved = np.linalg.norm(inputs["Param"] - out["ParamOut"])
    np.testing.assert_allclose(moved, 0.125 * np.linalg.norm(inputs["Param"]), rtol=1e-12)
    np.testing.assert_allclose(out["Beta1PowOut"], 0.6561, rtol=1e-6)

"""adamw: Param shrinks by 1 - LearningRate * lr_ratio * coeff, then adam's step."""

import numpy as np

import paddle_mini as pm
from families.updates import other_shape, steps
from harness import Rows, array, op_tests, run_op


def reference(inputs, attrs):
    scalar = lambda port, attr=None: inputs[port].reshape(()) if port in inputs else np.float64(np.float32(attrs[attr]))
    beta1, beta2 = scalar("Beta1Tensor", "beta1"), scalar("Beta2Tensor", "beta2")
    epsilon, rate = scalar("EpsilonTensor", "epsilon"), scalar("LearningRate")
    p, g, m, v = (inputs[port] for port in ("Param", "Grad", "Moment1", "Moment2"))
    power1, power2 = inputs["Beta1Pow"], inputs["Beta2Pow"]
    if "SkipUpdate" in inputs and inputs["SkipUpdate"].all():
        return dict(ParamOut=p, Moment1Out=m, Moment2Out=v, Beta1PowOut=power1, Beta2PowOut=power2)
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    # Trap: on a CPU lr_ratio touches only the decay.
    decay = rate * attrs["lr_ratio"] * np.float64(np.float32(attrs["coeff"])) if attrs["with_decay"] else 0
    b1, b2 = power1.reshape(()), power2.reshape(())
    p = p * (1 - decay) - rate * (m / (1 - b1)) / (np.sqrt(v / (1 - b2)) + epsilon)
    still = attrs["use_global_beta_pow"]
    return {
        "ParamOut": p,
        "Moment1Out": m,
        "Moment2Out": v,
        "Beta1PowOut": power1 if still else power1 * beta1,
        "Beta2PowOut": power2 if still else power2 * beta2,
    }


step = steps(0.125, Moment1=dict(seed=2), Moment2=dict(low=0, seed=3), scalars={"Beta1Pow": 0.729, "Beta2Pow": 0.99})

GIVEN = dict(Beta1Tensor=np.full(1, 0.75), Beta2Tensor=np.full(1, 0.5), EpsilonTensor=np.full(1, 0.25))

test_adamw = op_tests(
    "adamw",
    reference,
    cases={
        "decay": (step(5, 7), {"with_decay": True, "coeff": 0.25}),
        "ratio": (step(40), {"with_decay": True, "coeff": 0.25, "lr_ratio": 0.5}),
        "no decay": (step(5, 7), {"coeff": 0.25, "lr_ratio": 0.5}),
        "one element": (step(), {"with_decay": True}),
        "no rows": (step(0, 4), {"with_decay": True}),
        "numbers as tensors": (step(9, **GIVEN), {"with_decay": True}),
        "powers advanced elsewhere": (step(9), {"use_global_beta_pow": True}),
        "skipped": (step(9, SkipUpdate=np.array([True])), {"with_decay": True}),
        "not skipped": (step(9, SkipUpdate=np.array([False])), {"with_decay": True}),
    },
    refusals={
        **other_shape(step),
        # Trap: PaddlePaddle reads rows as a tensor here.
        "selected rows": (step(6, 3, grad=Rows([2], array(1, 3), 6)), {}, pm.ShapeError, "Grad selected rows tensor"),
        "int skip": (step(3, SkipUpdate=np.array([1])), {}, pm.ShapeError, "SkipUpdate int64 bool"),
        "beta over 1": (step(3), {"beta1": 1.5}, pm.ProgramError, "beta1 1.5"),
    },
)


def test_without_decay_it_is_adam():
    ours, adam = (run_op(name, step(5, 7)) for name in ("adamw", "adam"))
    for port in adam:
        np.testing.assert_array_equal(ours[port], adam[port], port)
    np.testing.assert_allclose(ours["Beta1PowOut"], 0.6561, rtol=1e-6)

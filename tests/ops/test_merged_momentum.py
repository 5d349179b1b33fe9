"""merged_momentum: the step of momentum for several parameters at once."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, op_tests


def reference(inputs, attrs):
    count, methods = len(inputs["Param"]), attrs["regularization_method"]
    # Trap: on a CPU PaddlePaddle rescales only if no other option is set.
    plain = len(inputs["LearningRate"]) == 1 and not attrs["use_nesterov"] and not methods
    decays = [c if m == "l2_decay" else 0 for m, c in zip(methods, attrs["regularization_coeff"])] or [0] * count
    rates = inputs["LearningRate"] * (count if len(inputs["LearningRate"]) == 1 else 1)
    out = {"ParamOut": [], "VelocityOut": []}
    for p, g, v, rate, decay in zip(inputs["Param"], inputs["Grad"], inputs["Velocity"], rates, decays):
        g = (attrs["rescale_grad"] if plain else 1) * g + decay * p
        v = attrs["mu"] * v + g
        out["ParamOut"].append(p - rate.reshape(()) * (g + attrs["mu"] * v if attrs["use_nesterov"] else v))
        out["VelocityOut"].append(v)
    return out


def step(*shapes, rates=1, **more):
    arrays = lambda seed: [array(*shape, seed=seed) for shape in shapes]
    return {
        "Param": arrays(0),
        "Grad": arrays(1),
        "Velocity": arrays(2),
        "LearningRate": [np.full(1, 0.25 / 2**i) for i in range(rates)],
        **more,
    }


SEVERAL = [(5, 7), (40,), ()]
DECAYS = {"regularization_method": ["l2_decay", "", "l2_decay"], "regularization_coeff": [0.5, 0.25, 0.125]}

test_merged_momentum = op_tests(
    "merged_momentum",
    reference,
    cases={
        "one parameter": (step((5, 7)), {"mu": 0.5}),
        "several": (step(*SEVERAL), {"mu": 0.5}),
        "rescaled": (step(*SEVERAL), {"mu": 0.5, "rescale_grad": 0.25}),
        "nesterov is not rescaled": (step(*SEVERAL), {"mu": 0.5, "rescale_grad": 0.25, "use_nesterov": True}),
        "decays": (step(*SEVERAL), {"mu": 0.5, "rescale_grad": 0.25, **DECAYS}),
        "several rates": (step(*SEVERAL, rates=3), {"mu": 0.5, "rescale_grad": 0.25}),
        "one element": (step(()), {"mu": 0.5}),
        "no rows": (step((0, 4), (3,)), {"mu": 0.5}),
    },
    refusals={
        "other shape": (step((3,), Grad=[array(4)]), {"mu": 0.5}, pm.ShapeError, "Param [3] Grad [4]"),
        "fewer velocities": (step((3,), (3,), Velocity=[array(3)]), {"mu": 0.5}, pm.ProgramError, "Velocity 1 Param 2"),
        "two methods": (step((3,)), {"mu": 0.5, "regularization_method": ["", ""]}, pm.ProgramError, "method 2 1"),
        "no coefficient": (step((3,)), {"mu": 0.5, "regularization_method": ["l2_decay"]}, pm.ProgramError, "coeff 0 1"),
        "unknown method": (
            step((3,)),
            {"mu": 0.5, "regularization_method": ["l1"], "regularization_coeff": [0.5]},
            pm.ProgramError,
            "l1 l2_decay",
        ),
        "selected rows": (step((6, 3), Grad=[Rows([2], array(1, 3), 6)]), {"mu": 0.5}, pm.ShapeError, "selected rows"),
        "no mu": (step((3,)), {}, pm.ProgramError, "mu missing"),
    },
)

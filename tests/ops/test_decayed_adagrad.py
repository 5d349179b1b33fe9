"""decayed_adagrad: MomentOut = decay Moment + (1 - decay) Grad^2; steps of Grad / (sqrt(MomentOut) + epsilon)."""

import numpy as np

from families.updates import dense_only, steps
from harness import op_tests


def reference(inputs, attrs):
    decay, epsilon = (np.float64(np.float32(attrs[name])) for name in ("decay", "epsilon"))
    g = inputs["Grad"]
    moment = decay * inputs["Moment"] + (1 - decay) * g * g
    move = inputs["LearningRate"].reshape(()) * g / (np.sqrt(moment) + epsilon)
    return {"ParamOut": inputs["Param"] - move, "MomentOut": moment}


step = steps(0.25, Moment=dict(low=0.25, seed=2))

test_decayed_adagrad = op_tests(
    "decayed_adagrad",
    reference,
    cases={
        "matrix": (step(5, 7), {}),
        "numbers": (step(40), {"decay": 0.25, "epsilon": 0.5}),
        "one element": (step(), {}),
        "no rows": (step(0, 4), {}),
    },
    refusals={**dense_only(step)},
)

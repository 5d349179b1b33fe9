"""momentum: VelocityOut = mu Velocity + Grad; ParamOut = Param - LearningRate * VelocityOut."""

import paddle_mini as pm
from families.updates import other_shape, steps
from harness import Rows, array, op_tests


def reference(inputs, attrs):
    param, grad, rate = inputs["Param"], inputs["Grad"], inputs["LearningRate"].reshape(())
    # Trap: on a CPU only a sparse gradient is rescaled.
    g = attrs["rescale_grad"] * grad.dense() if isinstance(grad, Rows) else grad
    if attrs["regularization_method"] == "l2_decay":
        g = g + attrs["regularization_coeff"] * param
    velocity = attrs["mu"] * inputs["Velocity"] + g
    move = g + attrs["mu"] * velocity if attrs["use_nesterov"] else velocity
    return {"ParamOut": param - rate * move, "VelocityOut": velocity}


step = steps(0.25, Velocity=dict(seed=2))

ROWS = Rows([4, 0, 4], array(3, 20), 6)

test_momentum = op_tests(
    "momentum",
    reference,
    cases={
        "plain": (step(5, 7), {"mu": 0.5}),
        "nesterov": (step(5, 7), {"mu": 0.5, "use_nesterov": True}),
        "decay": (step(40), {"mu": 0.5, "regularization_method": "l2_decay", "regularization_coeff": 0.125}),
        "coefficient without method": (step(9), {"mu": 0.5, "regularization_coeff": 0.125}),
        "dense is not rescaled": (step(9), {"mu": 0.5, "rescale_grad": 0.5}),
        "one element": (step(), {"mu": 0.5}),
        "no rows": (step(0, 4), {"mu": 0.5}),
        # Rows that the gradient does not name: the velocity decays and the parameter moves.
        "selected rows": (step(6, 20, grad=ROWS), {"mu": 0.5}),
        "selected rows rescaled": (step(6, 20, grad=ROWS), {"mu": 0.5, "rescale_grad": 0.25, "use_nesterov": True}),
        "selected rows with decay": (
            step(6, 20, grad=ROWS),
            {"mu": 0.5, "regularization_method": "l2_decay", "regularization_coeff": 0.5},
        ),
        "no selected rows": (step(6, 3, grad=Rows([], array(0, 3), 6)), {"mu": 0.5}),
    },
    refusals={
        **other_shape(step, {"mu": 0.5}),
        "no mu": (step(3), {}, pm.ProgramError, "mu missing"),
        "unknown method": (step(3), {"mu": 0.5, "regularization_method": "l1"}, pm.ProgramError, "l1 l2_decay"),
    },
)

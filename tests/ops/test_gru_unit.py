"""gru_unit: one step of GRU."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests

ACTIVATIONS = [lambda x: x, lambda x: 1 / (1 + np.exp(-x)), np.tanh, lambda x: np.maximum(x, 0)]


def reference(inputs, attrs):
    x, last, weight = inputs["Input"] + inputs.get("Bias", 0), inputs["HiddenPrev"], inputs["Weight"].ravel()
    gate, activation = ACTIVATIONS[attrs["gate_activation"]], ACTIVATIONS[attrs["activation"]]
    d = last.shape[1]
    # The weight is two matrices one after the other, not columns of one.
    gates = gate(x[:, : 2 * d] + last @ weight[: 2 * d * d].reshape(d, 2 * d))
    u, r = gates[:, :d], gates[:, d:]
    c = activation(x[:, 2 * d :] + (r * last) @ weight[2 * d * d :].reshape(d, d))
    hidden = u * last + (1 - u) * c if attrs["origin_mode"] else (1 - u) * last + u * c
    return {"Gate": np.concatenate([u, r, c], 1), "ResetHiddenPrev": r * last, "Hidden": hidden}


def case(batch, size, bias=True, **attrs):
    inputs = {"Input": array(batch, 3 * size), "HiddenPrev": array(batch, size), "Weight": array(size, 3 * size, seed=1)}
    return ({**inputs, "Bias": array(1, 3 * size)} if bias else inputs), attrs


test_gru_unit = op_tests(
    "gru_unit",
    reference,
    cases={
        "plain": case(3, 4),
        "no bias": case(3, 4, False),
        "origin mode": case(2, 3, origin_mode=True),
        "other activations": case(2, 3, activation=3, gate_activation=0),
        "identity and tanh": case(2, 3, activation=0, gate_activation=2),
        "wider than registers": case(9, 37),
        "one element": case(1, 1),
        "no batch": case(0, 3),
        "no elements": case(2, 0),
    },
    gradients=["Input", "HiddenPrev", "Weight", "Bias"],
    gradient_of=["Hidden"],
    refusals={
        "input of another width": ({**case(3, 4)[0], "Input": array(3, 4)}, {}, pm.ShapeError, "Input 12"),
        "weight of another shape": ({**case(3, 4)[0], "Weight": array(12, 4)}, {}, pm.ShapeError, "Weight"),
        "bias of another shape": ({**case(3, 4)[0], "Bias": array(12)}, {}, pm.ShapeError, "Bias"),
        "a vector": ({**case(3, 4)[0], "HiddenPrev": array(4)}, {}, pm.ShapeError, "HiddenPrev"),
        "an activation that is none": (case(3, 4)[0], {"activation": 4}, pm.ProgramError, "activation"),
    },
    tolerance={"float32": 1e-5},  # sums of products in another order
)

"""update_loss_scaling: the scale of the loss falls after infinite gradients and grows after finite ones."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests, run_op

ATTRS = {"incr_every_n_steps": 3, "decr_every_n_nan_or_inf": 2, "incr_ratio": 2.0, "decr_ratio": 0.5}


def reference(inputs, attrs):
    found = inputs["FoundInfinite"].item()
    scale, good, bad = (inputs[port] for port in ("PrevLossScaling", "InGoodSteps", "InBadSteps"))
    stop = inputs["StopUpdate"].item() if "StopUpdate" in inputs else attrs["stop_update"]
    if not stop and found:
        good, bad = good * 0, bad + 1
        if bad == attrs["decr_every_n_nan_or_inf"]:
            scale, bad = np.maximum(scale * attrs["decr_ratio"], 1), bad * 0  # Trap: never below 1
    elif not stop:
        good, bad = good + 1, bad * 0
        if good == attrs["incr_every_n_steps"]:
            scale, good = scale * attrs["incr_ratio"], good * 0
    return {"Out": [x * 0 if found else x for x in inputs["X"]], "LossScaling": scale, "OutGoodSteps": good, "OutBadSteps": bad}


def step(found=False, scale=64.0, good=0, bad=0, xs=None, **more):
    return {
        "X": [array(5, 7), array(40)] if xs is None else xs,
        "FoundInfinite": np.array([found]),
        "PrevLossScaling": np.full(1, scale),
        "InGoodSteps": np.full(1, good, "int32"),
        "InBadSteps": np.full(1, bad, "int32"),
        **more,
    }


test_update_loss_scaling = op_tests(
    "update_loss_scaling",
    reference,
    cases={
        "good": (step(bad=1), ATTRS),
        "grows": (step(good=2), ATTRS),
        "bad": (step(found=True, good=2), ATTRS),
        "falls": (step(found=True, bad=1), ATTRS),
        "not below 1": (step(found=True, bad=1, scale=1.5), ATTRS),
        "bad with stop": (step(found=True, bad=1), ATTRS | {"stop_update": True}),
        "stop by a tensor": (step(good=2, StopUpdate=np.array([True])), ATTRS),
        "the tensor decides": (step(good=2, StopUpdate=np.array([False])), ATTRS | {"stop_update": True}),
        "one element": (step(found=True, xs=[array()]), ATTRS),
        "no rows": (step(found=True, xs=[array(0, 4)]), ATTRS),
    },
    refusals={
        "no ratio": (step(), {**ATTRS, "incr_ratio": None}, pm.ProgramError, "incr_ratio missing"),
        "float found": (step(FoundInfinite=np.ones(1)), ATTRS, pm.ShapeError, "FoundInfinite bool"),
        "int64 steps": (step(InGoodSteps=np.ones(1, "int64")), ATTRS, pm.ShapeError, "InGoodSteps int64 int32"),
        "two scales": (step(PrevLossScaling=np.ones(2)), ATTRS, pm.ShapeError, "PrevLossScaling [2] one element"),
    },
)


def test_infinite_gradients_become_zero():
    out = run_op("update_loss_scaling", step(found=True, xs=[np.array([np.nan, np.inf, 1])]), ATTRS)
    np.testing.assert_array_equal(out["Out"][0], np.zeros(3))
    # A scale that would become infinite stays unchanged.
    out = run_op("update_loss_scaling", step(good=2, scale=1e308), ATTRS)
    assert (out["LossScaling"], out["OutGoodSteps"]) == (1e308, 0)

"""pow2_decay_with_linear_warmup: a learning rate that rises linearly, then falls quadratically."""

import numpy as np

import paddle_mini as pm
from harness import op_tests


def reference(inputs, attrs):
    now = inputs["Step"] + 1
    base, end = (np.float64(np.float32(attrs[name])) for name in ("base_lr", "end_lr"))
    warmup, total = attrs["warmup_steps"], attrs["total_steps"]
    if now <= warmup and warmup:
        rate = now / warmup * base
    elif now < total and warmup < total:
        rate = (base - end) * (1 - (now - warmup) / (total - warmup)) ** 2 + end
    else:
        rate = np.array([end])
    return {"LearningRateOut": rate.astype("float64").reshape(1), "StepOut": now}


def at(step):
    return {"LearningRate": np.full(1, 0.75), "Step": np.full(1, step, "int64")}


ATTRS = {"warmup_steps": 4, "total_steps": 12, "base_lr": 0.5, "end_lr": 0.125}

test_pow2_decay_with_linear_warmup = op_tests(
    "pow2_decay_with_linear_warmup",
    reference,
    cases={
        **{f"step {i}": (at(i), ATTRS) for i in (0, 2, 3, 4, 8, 10, 11, 12, 1000)},
        "no warmup": (at(0), {**ATTRS, "warmup_steps": 0}),
        "warmup only": (at(11), {**ATTRS, "warmup_steps": 12}),
        "no steps": (at(0), {**ATTRS, "warmup_steps": 0, "total_steps": 0}),
        "before the first step": (at(-1), {**ATTRS, "warmup_steps": 0, "total_steps": 0}),
        "huge": (at(2**62), {**ATTRS, "total_steps": 2**63 - 1}),
    },
    refusals={
        "warmup over total": (at(0), {**ATTRS, "warmup_steps": 13}, pm.ProgramError, "warmup_steps 13 total_steps 12"),
        "float step": (at(0) | {"Step": np.ones(1)}, ATTRS, pm.ShapeError, "Step int64"),
        # Every input has exactly one element, so a case without elements cannot exist.
        "no elements": (at(0) | {"Step": np.ones(0, "int64")}, ATTRS, pm.ShapeError, "Step [0] one element"),
        "two rates": (at(0) | {"LearningRate": np.ones(2)}, ATTRS, pm.ShapeError, "LearningRate [2] one element"),
    },
)

"""instance_norm_double_grad: the gradient of instance_norm_grad, as PaddlePaddle's programs write it."""

import numpy as np

import paddle_mini as pm
from families.normalizations import first_gradients, second_gradients
from harness import array, op_tests

EPSILON = 1e-5


def given(*shape, scale=True, second=("x", "scale", "bias")):
    x, g = array(*shape), array(*shape, seed=1)
    axes = tuple(range(2, len(shape)))
    saved = {"saved_mean": x.mean(axes).reshape(-1), "saved_variance": 1 / np.sqrt(x.var(axes) + EPSILON).reshape(-1)}
    seconds = {"x": array(*shape, seed=3), "scale": array(shape[1], seed=4), "bias": array(shape[1], seed=5)}
    return {
        "x": x,
        **({"fwd_scale": 1 + array(shape[1], seed=2)} if scale else {}),
        **saved,
        "grad_y": g,
        **{f"grad_{name}@GRAD": seconds[name] for name in second},
    }


def reference(inputs, attrs):
    x, g, channels = inputs["x"], inputs["grad_y"], inputs["x"].shape[1]
    scale = inputs.get("fwd_scale", np.ones(channels))
    weights = [
        inputs.get(f"grad_{name}@GRAD", np.zeros(shape))
        for name, shape in (("x", x.shape), ("scale", channels), ("bias", channels))
    ]
    first = lambda x, scale, g: first_gradients(x, scale, g, tuple(range(2, x.ndim)), 1, EPSILON)
    to_x, to_scale, to_g = second_gradients(first, [x, scale, g], weights)
    return {"x@GRAD": to_x, "fwd_scale@GRAD": to_scale, "grad_y@GRAD": to_g}


test_instance_norm_double_grad = op_tests(
    "instance_norm_double_grad",
    reference,
    cases={
        "images": (given(2, 3, 2, 2), {"epsilon": EPSILON}),
        "lines": (given(2, 2, 4), {"epsilon": EPSILON}),
        "no scale": (given(2, 2, 3, scale=False, second=["x"]), {}),
        "only x": (given(2, 2, 3, second=["x"]), {}),
        "only scale and bias": (given(2, 2, 3, second=["scale", "bias"]), {}),
        "no images": (given(0, 2, 3), {}),
    },
    tolerance={"float32": 3e-4, "float64": 1e-7},
    refusals={
        "a vector": ({**given(2, 2, 3), "x": array(3)}, {}, pm.ShapeError, "x [3] 2 to 5"),
        "scale": ({**given(2, 2, 3), "fwd_scale": array(3)}, {}, pm.ShapeError, "fwd_scale [3] [2]"),
        "statistics": ({**given(2, 2, 3), "saved_mean": array(2)}, {}, pm.ShapeError, "saved_mean [2] [4]"),
        "gradient": ({**given(2, 2, 3), "grad_y": array(2, 3)}, {}, pm.ShapeError, "grad_y [2, 3] [2, 2, 3]"),
    },
)

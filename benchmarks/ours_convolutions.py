# One convolution of paddle_mini with constant filters, or its gradients that the arguments name (`image`, `filter`), as a
# runtime of benchmarks/convolutions.py.
from __future__ import annotations

import sys

import numpy as np

import paddle_mini as pm
from convolution_shapes import parsed
from worker import Run, serve

GRADIENTS = sys.argv[1:]
PORTS = {"image": "Input@GRAD", "filter": "Filter@GRAD"}


def convolution(workload: str) -> Run:
    images, shape = parsed(workload)
    main, scope, exe = pm.Program(), pm.Scope(), pm.Executor(pm.CPUPlace())
    shapes = {"x": [images, shape.channels, shape.size, shape.size]}
    filters = [shape.filters, shape.channels // shape.groups, shape.window, shape.window]
    with pm.program_guard(main, pm.Program()):
        x = pm.layers.data("x", shapes["x"])
        out = pm.layers.conv2d(
            x,
            shape.filters,
            shape.window,
            shape.stride,
            shape.window // 2,
            groups=shape.groups,
            bias_attr=False,
            param_attr=pm.ParamAttr(name="filter"),
        )
        if GRADIENTS:
            shapes["of_out"] = list(out.shape)
            block, forward = main.global_block(), main.global_block().ops[0]
            inputs = {"Input": x, "Filter": "filter", "Output@GRAD": pm.layers.data("of_out", shapes["of_out"])}
            outputs = {PORTS[name]: f"of_{name}" for name in GRADIENTS}
            block.append_op("conv2d_grad", inputs, outputs, forward.attrs)
            block.remove_op(0)
    random = np.random.default_rng(0)
    scope.set("filter", random.normal(size=filters).astype("float32"))
    feed = {name: random.normal(size=dims).astype("float32") for name, dims in shapes.items()}

    def run(steps: int) -> float:
        for _ in range(steps):
            exe.run(main, feed=feed, scope=scope)
        return 0.0

    return run


class Convolutions(dict):
    """Makes the workload that a word names."""

    def __missing__(self, workload: str):
        return lambda: convolution(workload)


if __name__ == "__main__":
    serve(Convolutions())

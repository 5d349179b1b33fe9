# One convolution of paddle_mini with constant filters, as a runtime of benchmarks/convolutions.py.
from __future__ import annotations

import numpy as np

import paddle_mini as pm
from convolution_shapes import parsed
from worker import Run, serve


def convolution(workload: str) -> Run:
    images, shape = parsed(workload)
    random = np.random.default_rng(0)
    main, scope, exe = pm.Program(), pm.Scope(), pm.Executor(pm.CPUPlace())
    with pm.program_guard(main, pm.Program()):
        x = pm.layers.data("x", [images, shape.channels, shape.size, shape.size])
        pm.layers.conv2d(
            x,
            shape.filters,
            shape.window,
            shape.stride,
            shape.window // 2,
            groups=shape.groups,
            bias_attr=False,
            param_attr=pm.ParamAttr(name="filter"),
        )
    filters = (shape.filters, shape.channels // shape.groups, shape.window, shape.window)
    scope.set("filter", random.normal(size=filters).astype("float32"))
    feed = {"x": random.normal(size=(images, shape.channels, shape.size, shape.size)).astype("float32")}

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

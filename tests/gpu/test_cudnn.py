"""Convolutions by cuDNN: the calls that a stand-in checks, gradients, recordings, and failing calls."""

import pytest

RUN = """
from paddle_mini.testing.one_op import OneOp, array
gpu, gradients = pm.CUDAPlace(0), {"Input@GRAD": 1, "Filter@GRAD": 1}
def compare(op, image, filter, attrs, dtype="float64"):
    inputs = {"Input": array(*image).astype(dtype), "Filter": array(*filter, seed=1).astype(dtype)}
    out = OneOp(op, inputs, attrs, {"Output": 1}).run()["Output"]
    inputs_back = {**inputs, "Output@GRAD": array(*out.shape, seed=2).astype(dtype)}
    there = OneOp(op, inputs, attrs, {"Output": 1}, place=gpu).run()
    there.update(OneOp(op + "_grad", inputs_back, attrs, gradients, place=gpu).run())
    for port, value in {"Output": out, **OneOp(op + "_grad", inputs_back, attrs, gradients).run()}.items():
        rounding = 1e-11 if dtype == "float64" else 1e-4
        np.testing.assert_allclose(there[port], value, rounding, rounding, err_msg=f"{op} {attrs} {port}")
"""
FUNCTIONS = ["cudnnConvolutionForward", "cudnnConvolutionBackwardFilter", "cudnnConvolutionBackwardData"]


def runs(calls):
    return [calls.count(name) for name in FUNCTIONS]


def test_convolutions_and_gradients(stand_in, in_child):
    _, calls = in_child(
        RUN
        + """
for dtype in ("float32", "float64"):
    compare("conv2d", (2, 4, 9, 8), (6, 4, 3, 2), {}, dtype)
    compare("conv3d", (2, 4, 5, 6, 7), (2, 4, 2, 3, 2), {"paddings": [1, 0, 2], "strides": [1, 2, 3]}, dtype)
compare("conv2d", (2, 4, 9, 8), (6, 2, 3, 2), {"groups": 2, "strides": [2, 1], "paddings": [1, 2], "dilations": [2, 3]})
compare("conv2d", (2, 9, 8, 4), (6, 4, 3, 3), {"data_format": "NHWC", "paddings": [1, 1]})
compare("conv3d", (2, 5, 6, 7, 4), (6, 2, 2, 3, 2), {"data_format": "NDHWC", "groups": 2})
compare("depthwise_conv2d", (2, 4, 9, 8), (8, 1, 3, 2), {"groups": 4})
compare("conv2d_transpose", (2, 4, 5, 6), (4, 3, 3, 2), {"strides": [2, 3], "paddings": [1, 0]})
compare("conv2d_transpose", (2, 4, 5, 6), (4, 3, 3, 3), {"strides": [2, 2], "output_padding": [1, 1]})
compare("depthwise_conv2d_transpose", (2, 4, 5, 6), (4, 1, 3, 3), {"groups": 4})
""",
        PM_CUDNN=stand_in("cudnn"),
    )
    assert not [line for line in calls if line.startswith("refused")]
    assert runs(calls) == [11, 11, 11]


def test_what_it_can_not_do(stand_in, in_child):
    """Effective padding at one end only, empty inputs, and configurations that the library does not support."""
    _, calls = in_child(
        RUN
        + """
compare("conv2d", (2, 4, 9, 8), (6, 4, 3, 2), {"paddings": [0, 3, 0, 1]})
compare("conv2d", (0, 4, 9, 8), (6, 4, 3, 2), {})
""",
        PM_CUDNN=stand_in("cudnn"),
    )
    assert calls == []
    one = RUN + 'compare("conv2d", (2, 4, 9, 8), (6, 4, 3, 2), {})'
    for function, left in ((FUNCTIONS[0], [1, 1, 1]), ("cudnnGetConvolutionBackwardDataAlgorithm_v7", [1, 1, 0])):
        _, calls = in_child(one, PM_CUDNN=stand_in("cudnn"), STAND_IN_FAILS=f"{function} 1 3000")
        assert runs(calls) == left


@pytest.mark.parametrize(
    "function, doing",
    [
        ("cudnnCreate", "starting"),
        ("cudnnConvolutionForward", "convolving"),
        ("cudnnGetConvolutionForwardAlgorithm_v7", "choosing an algorithm"),
    ],
)
def test_a_call_that_fails(stand_in, in_child, function, doing):
    out, _ = in_child(
        RUN
        + """
try:
    compare("conv2d", (2, 4, 9, 8), (6, 4, 3, 2), {})
except pm.DeviceError as error:
    print(error)
compare("conv2d", (2, 4, 9, 8), (6, 4, 3, 2), {})
""",
        PM_CUDNN=stand_in("cudnn"),
        STAND_IN_FAILS=f"{function} 1 4000",
    )
    assert out.startswith(f"conv2d: cuDNN failed ({doing}): CUDNN_STATUS_INTERNAL_ERROR")


@pytest.mark.parametrize("graphs", [1, 0])
def test_training(stand_in, in_child, graphs):
    """An algorithm is chosen once for each direction; recorded launches are replayed."""
    _, calls = in_child(
        """
def train(place):
    main, startup, scope, exe = pm.Program(), pm.Program(), pm.Scope(), pm.Executor(place)
    with pm.program_guard(main, startup):
        x = pm.layers.data("x", [-1, 2, 7, 7], "float64")
        h = pm.layers.conv2d(x, 3, 3, padding=1, act="tanh")
        loss = pm.layers.mean(pm.layers.square(pm.layers.conv2d(h, 2, 3, stride=2)))
        pm.optimizer.Momentum(0.1, 0.9).minimize(loss)
    pm.seed(3)
    exe.run(startup, scope=scope)
    random = np.random.RandomState(0)
    return [float(exe.run(main, {"x": random.randn(3, 2, 7, 7)}, [loss], scope)[0]) for _ in range(8)]
np.testing.assert_allclose(train(pm.CUDAPlace(0)), train(pm.CPUPlace()), 1e-10)
""",
        PM_CUDNN=stand_in("cudnn"),
        PM_GRAPHS=graphs,
    )
    assert [
        sum(name.replace("Convolution", "GetConvolution") + "Algorithm_v7" == line for line in calls) for name in FUNCTIONS
    ] == [2, 2, 1]
    assert runs(calls) == ([6, 6, 3] if graphs else [16, 16, 8])

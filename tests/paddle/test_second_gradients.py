"""Gradients of gradients: programs written here give PaddlePaddle's numbers there, and programs written there run here."""

import numpy as np
import pytest

import paddle_mini as pm
from second_gradient_programs import critic, meta_step


@pytest.mark.parametrize("layer", ["fc", "conv"])
def test_gradient_penalty(train_in_both, layer):
    loss, pairs, feeds = critic(layer, "float32")
    pm.optimizer.SGD(0.002).apply_gradients(pairs)
    losses = train_in_both(pm.default_main_program(), pm.default_startup_program(), feeds, [loss])
    assert losses[-1] != losses[0]


def test_meta_learning_step(train_in_both):
    loss, weight, gradient, feeds = meta_step("float32")
    pm.optimizer.SGD(0.05).apply_gradients([(weight, gradient)])
    losses = train_in_both(pm.default_main_program(), pm.default_startup_program(), feeds, [loss])
    assert losses[-1] < losses[0]


FUNCTIONS = {
    "relu": "F.relu(x)",
    "leaky_relu": "F.leaky_relu(x, 0.1)",
    "tanh": "paddle.tanh(x)",
    "sigmoid": "F.sigmoid(x)",
    "elu": "F.elu(x, 0.7)",
    "celu": "F.celu(x, 1.3)",
    "softplus": "F.softplus(x, 2.0)",
    "square": "paddle.square(x)",
    "sqrt": "paddle.sqrt(x * x + 0.5)",
    "rsqrt": "paddle.rsqrt(x * x + 0.5)",
    "log": "paddle.log(x * x + 0.5)",
    "abs": "paddle.abs(x) * x",
    "pow": "paddle.pow(x * x + 0.5, 1.5)",
    "sin": "paddle.sin(x)",
    "cos": "paddle.cos(x)",
    "clip": "paddle.clip(x, -0.4, 0.4) * x",
    "reshape": "paddle.square(paddle.reshape(x, [3, 2]))",
    "transpose": "paddle.square(paddle.transpose(x, [1, 0]))",
    "concat and split": "paddle.concat(paddle.split(paddle.square(x), 3, axis=1), axis=0)",
    "unsqueeze": "paddle.square(paddle.unsqueeze(x, [0]))",
    "expand": "paddle.square(paddle.expand(x, [4, 2, 3]))",
    "tile": "paddle.square(paddle.tile(x, [2, 2]))",
    "slice": "paddle.square(x[0:1])",
    "pad": "paddle.square(F.pad(x, [1, 1, 0, 1]))",
    "mean": "paddle.square(paddle.mean(x, axis=1))",
    "matmul": "paddle.matmul(x, x, transpose_y=True)",
    "add": "paddle.square(x + x[0])",
    "sub": "paddle.square(x - x[0])",
    "mul": "x * x[0]",
    "div": "x / (paddle.square(x[0]) + 0.5)",
    "conv2d": "F.conv2d(paddle.reshape(x, [1, 1, 2, 3]), paddle.reshape(x, [1, 1, 2, 3])[:, :, :, 0:2])",
    "pool2d": "paddle.square(F.avg_pool2d(paddle.reshape(x, [1, 1, 2, 3]), 2, stride=1))",
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_programs_of_paddlepaddle(paddle, tmp_path, name):
    x = np.random.default_rng(2).uniform(-1, 1, (2, 3)).astype("float32")
    np.savez(tmp_path / "feeds.npz", x=x)
    paddle.ask("second_gradients", tmp_path, function=FUNCTIONS[name])
    with np.load(tmp_path / "results.npz") as results:
        theirs = {key: results[key] for key in results.files}
    program = pm.Program.from_bytes((tmp_path / "main.pb").read_bytes())
    assert any("_grad_grad" in op.type or "_double_grad" in op.type for op in program.global_block().ops)
    found = pm.Executor().run(program, feed={"x": x}, fetch_list=list(theirs))
    for (key, expected), value in zip(theirs.items(), found):
        np.testing.assert_allclose(value, expected, rtol=2e-5, atol=2e-6, err_msg=key)

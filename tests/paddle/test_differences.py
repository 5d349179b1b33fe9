"""Differences in docs/paddlepaddle.md that only some arguments show, beside calls that agree; tests/ops checks numbers."""

import pytest

import census


def gru(direction, state, lengths):
    return f'GRU(3, 4, direction="{direction}")(x(2, 5, 3), {state}, v({lengths}, "int64"))'


def batch_norm(arguments):
    return f"batch_norm(x(4, 3, 5), v([0.1, 0.2, 0.3]), v([1.0, 2.0, 3.0]), x(3), x(3), {arguments})"


def table(sparse, adam):
    rows = f'F.embedding(n(9, 4, 3), paddle.create_parameter([9, 5], "float32"), sparse={sparse})'
    return f"[(loss := paddle.mean({rows} ** 2)), {adam}.minimize(loss), loss][-1]"


def yolo(count):
    boxes = f"c(boxes({2 * count}).reshape([2, {count}, 4]))"
    return f'yolo_loss(x(2, 14, 4, 4), {boxes}, n(2, 2, {count}, dtype="int32"), [10, 13, 16, 30, 33, 23], [1, 2], 2, 0.7, 16)'


def branches(least):
    """The loss reads one of the outputs; PaddlePaddle names the gradients of both."""
    return f"cond(paddle.mean(x(3)) > {least}, lambda: (x(3) * 2, x(2) * 2), lambda: (x(3) - 1, x(2) * 3))[:1]"


def largest(least):
    """One output of each branch has no gradient."""
    return f"cond(paddle.mean(x(3)) > {least}, lambda: (x(3) * 2, paddle.argmax(x(3))), lambda: (x(3) - 1, paddle.argmin(x(3))))"


AGREE = [
    ("paddle.static.nn", branches(-9.0)),
    ("paddle.static.nn", branches(9.0)),
    ("paddle.static.nn", largest(-9.0)),
    ("paddle.static.nn", largest(9.0)),
    ("paddle.nn.functional", "affine_grid(x(2, 2, 3), paddle.shape(x(2, 3, 4, 5)))"),
    ("paddle.nn.functional", "pad(x(2, 3, 6, 6, 6), [-1, 1, 0, -2, 2, 0], 'reflect', data_format='NCDHW')"),
    ("paddle.nn", gru("bidirect", "None", [4, 3])),
    ("paddle.nn", gru("bidirect", "x(2, 2, 4)", [5, 5])),
    ("paddle.nn", gru("forward", "x(1, 2, 4)", [4, 3])),
    ("paddle.nn.functional", batch_norm("training=True")),
    ("paddle.nn.functional", batch_norm("use_global_stats=True")),
    ("paddle.vision.ops", yolo(1)),
    ("paddle.optimizer", table(False, "Adam(0.1)")),
    ("paddle.optimizer", table(True, "Adam(0.1, lazy_mode=True)")),
]
DIFFER = [
    ("paddle.nn", gru("bidirect", "x(2, 2, 4)", [4, 3]), "gradient"),
    ("paddle.nn.functional", batch_norm("use_global_stats=False"), "gradient in0@GRAD"),
    ("paddle.vision.ops", yolo(3), "gradient in0@GRAD"),
    ("paddle.optimizer", table(True, "Adam(0.1)"), "differs by"),
]


@pytest.mark.parametrize("module, call", AGREE)
def test_calls_that_agree(paddle, tmp_path, module, call):
    assert census.ask(paddle, tmp_path, module, call) is None


@pytest.mark.parametrize("module, call, words", DIFFER)
def test_calls_that_differ(paddle, tmp_path, module, call, words):
    difference = census.ask(paddle, tmp_path, module, call)
    assert isinstance(difference, census.Difference) and words in str(difference)

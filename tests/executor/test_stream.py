"""stream: operators that run on the parts of a convolution's or a product's output give the same bits as one after another,
with any number of threads, and move only if no other operator prevents it."""

import numpy as np
import pytest

import paddle_mini as pm
from split_loops import MANY, threads, with_each

RANDOM = np.random.RandomState(0)
L = pm.layers


class Program:
    """A program whose layers `build` adds to x, of this shape."""

    def __init__(self, build, shape):
        self.x = RANDOM.randn(*shape).astype("float32")
        self.main, self.startup, self.scope = pm.Program(), pm.Program(), pm.Scope()
        with pm.program_guard(self.main, self.startup), pm.unique_name.guard():
            found = build(L.data("x", list(shape)))
        self.outs = list(found) if isinstance(found, tuple) else [found]
        pm.seed(1)
        pm.Executor().run(self.startup, scope=self.scope)
        for name in self.scope.names():  # statistics and factors that are not 0 and 1
            value = self.scope.get(name)
            if value.ndim == 1:
                self.scope.set(name, (0.5 + RANDOM.rand(*value.shape)).astype(value.dtype))

    def run(self, x=None):
        return pm.Executor().run(self.main, {"x": self.x if x is None else x}, self.outs, self.scope)

    def plan(self):
        return pm.Executor().plan_text(self.main, {"x": self.x}, self.outs, self.scope)


def count(program):
    return program.plan().count("on its parts: ")


def norm(x, act=None, **given):
    return L.batch_norm(x, act=act, is_test=True, **given)


def convolution(**given):
    return lambda x: norm(L.conv2d(x, 20, given.pop("filter_size", 3), **given), "relu")


def residual(x):
    y = norm(L.conv2d(x, 4, 3, padding=1), "relu")
    return L.relu(L.elementwise_add(x, norm(L.conv2d(y, 4, 3, padding=1, bias_attr=False))))


def branches(x):
    y = L.conv2d(x, 8, 1)
    return L.elementwise_mul(L.sigmoid(y), L.relu(y)), L.elementwise_mul(y, y), y


def of_both_orders(x):
    y = L.conv2d(x, 4, 3, padding=1, bias_attr=False)
    return L.elementwise_sub(x, y), L.elementwise_sub(y, x)


def channels_last(x):
    return norm(L.conv2d(x, 4, 3, data_format="NHWC"), "relu", data_layout="NHWC")


def gelu_layer(x):
    return L.gelu(L.fc(x, 70, num_flatten_dims=len(x.shape) - 1))


def scores(x):
    return L.scale(L.matmul(x, x, transpose_y=True), scale=0.3, bias=0.1)


def attention(x):
    mask = x[:, :1, :1]
    return L.matmul(L.softmax(L.elementwise_add(scores(x), mask)), x)


def residual_norm(x):
    y = L.layer_norm(L.elementwise_add(x, L.fc(x, x.shape[-1], num_flatten_dims=2)), begin_norm_axis=2)
    return y, L.relu(y)


PROGRAMS = {
    "direct convolution": (convolution(padding=1), (3, 5, 13, 17), 3),
    "large images": (convolution(padding=1), (1, 3, 90, 120), 3),
    "parts of whole images": (convolution(padding=1), (5, 3, 24, 24), 3),
    "parts of groups": (convolution(padding=1, groups=2), (3, 4, 29, 31), 3),
    "patches": (convolution(filter_size=5, bias_attr=False), (5, 6, 7, 7), 2),
    "strided": (convolution(stride=2, groups=2), (3, 4, 15, 15), 3),
    "one by one": (convolution(filter_size=1), (2, 40, 7, 7), 3),
    "residual": (residual, (2, 4, 9, 9), 6),
    "branches": (branches, (2, 3, 6, 6), 5),
    "both operands": (of_both_orders, (2, 4, 6, 6), 2),
    "channels last": (channels_last, (2, 6, 6, 3), 0),
    "wide product": (gelu_layer, (33, 40), 2),
    "product of few rows": (gelu_layer, (3, 40), 2),
    "product of three axes": (gelu_layer, (4, 11, 24), 2),
    "batches of products": (scores, (3, 40, 24), 1),
    "attention": (attention, (3, 40, 24), 3),
    "attention of few": (attention, (3, 5, 24), 3),
    "wide attention": (attention, (1, 600, 24), 3),
    "norm of rows": (residual_norm, (3, 20, 40), 4),
    "norm of wide rows": (residual_norm, (2, 20, 700), 4),
    "narrow product": (lambda x: L.relu(L.fc(x, 3)), (600, 8), 2),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_bits_as_one_after_another(monkeypatch, name):
    build, shape, streamed = PROGRAMS[name]
    program = Program(build, shape)
    assert count(program) == streamed
    found = with_each(MANY, program.run)
    monkeypatch.setenv("PM_PASSES", "none")
    assert count(program) == 0
    expected = program.run()
    for outputs in found:
        for one, other in zip(outputs, expected):
            assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_nan_and_infinities_pass_as_one_after_another(monkeypatch, value):
    program = Program(residual, (2, 4, 9, 9))
    program.x[1, 2, 3, 4] = value
    (found,) = program.run()
    monkeypatch.setenv("PM_PASSES", "none")
    assert np.isnan(found).any() and found.tobytes() == program.run()[0].tobytes()


def test_inner_variables_keep_their_values(monkeypatch):
    inner = []

    def build(x):
        inner.append(L.conv2d(x, 4, 3, bias_attr=False))
        inner.append(norm(inner[0]))
        return (L.relu(inner[1]), *inner)

    program = Program(build, (2, 3, 8, 8))
    assert count(program) == 2
    last, convolved, normed = program.run()
    assert (convolved != normed).all() and (np.maximum(normed, 0) == last).all()
    monkeypatch.setenv("PM_PASSES", "none")
    for one, other in zip((last, convolved, normed), program.run()):
        assert one.tobytes() == other.tobytes()


def test_the_next_run_sees_new_parameters():
    program = Program(lambda x: norm(L.conv2d(x, 4, 3, bias_attr=False)), (2, 3, 8, 8))
    (before,) = program.run()
    scale = next(name for name in program.scope.names() if name.startswith("batch_norm") and name.endswith("w_0"))
    program.scope.set(scale, 0 * program.scope.get(scale))
    (after,) = program.run()
    assert (before != before[:, :, :1, :1]).any() and (after == after[:, :, :1, :1]).all()


def reads_the_sum(x):
    y = L.conv2d(x, 4, 3, bias_attr=False)
    return L.elementwise_add(y, L.reduce_mean(y, dim=[0], keep_dim=True))


def broadcasts_it(x):
    y = L.conv2d(x, 4, [6, 6], bias_attr=False)  # one pixel an image
    return L.elementwise_add(x, y)


def training_norm(x):
    return L.batch_norm(L.conv2d(x, 4, 3, bias_attr=False))


@pytest.mark.parametrize("build", [reads_the_sum, broadcasts_it, training_norm])
def test_an_operator_that_needs_more_than_a_part_stays(build):
    program = Program(build, (2, 4, 6, 6))
    assert count(program) == 0
    assert np.isfinite(program.run()[0]).all()


def test_a_later_operand_is_waited_for():
    def build(x):
        y, z = L.conv2d(x, 4, 3, bias_attr=False), L.conv2d(x, 4, 3, bias_attr=False)
        return L.elementwise_sub(y, z)  # follows the second

    program = Program(build, (2, 3, 6, 6))
    lines = program.plan().splitlines()
    at = next(i for i, line in enumerate(lines) if "on its parts: elementwise_sub" in line)
    assert "conv2d_1.tmp_0" in lines[at - 1]


def test_training_has_the_same_bits(monkeypatch):
    def build(x):
        loss = L.mean(L.fc(L.relu(L.conv2d(x, 6, 3)), 5, act="gelu"))
        pm.optimizer.SGD(0.1).minimize(loss)
        return loss

    def trained():
        program = Program(build, (4, 3, 10, 10))
        losses = [program.run()[0] for _ in range(3)]
        return [*losses, *(program.scope.get(name) for name in sorted(program.scope.names()))], count(program)

    global RANDOM
    RANDOM = np.random.RandomState(3)
    found, streamed = trained()
    assert streamed >= 4
    monkeypatch.setenv("PM_PASSES", "none")
    RANDOM = np.random.RandomState(3)
    expected, _ = trained()
    assert [value.tobytes() for value in found] == [value.tobytes() for value in expected]


def test_the_check_for_nan_names_the_operator_that_made_it():
    program = Program(lambda x: L.log(L.relu(L.conv2d(x, 4, 3))), (2, 3, 6, 6))
    assert count(program) == 3
    with pm.check_finite(), pytest.raises(pm.OpError, match="in op #3 log"):
        program.run()


def test_an_error_names_the_operator_of_the_program():
    program = Program(residual, (2, 4, 9, 9))
    with pytest.raises(pm.ShapeError, match="feed 'x' has shape"):
        program.run(np.zeros((2, 5, 9, 9), "float32"))


def test_a_name_that_is_no_pass_is_refused(monkeypatch):
    program = Program(residual, (2, 4, 9, 9))
    monkeypatch.setenv("PM_PASSES", "fuse,steam")
    with pytest.raises(pm.ProgramError, match="PM_PASSES: 'steam' is not a pass .* fuse, stream, and none"):
        program.run()


@pytest.mark.parametrize("wanted, streamed", [("stream", 6), ("fuse", 0), ("fuse,stream", 6), ("none", 0)])
def test_named_passes_run(monkeypatch, wanted, streamed):
    program = Program(residual, (2, 4, 9, 9))
    monkeypatch.setenv("PM_PASSES", wanted)
    with threads(1):
        assert count(program) == streamed

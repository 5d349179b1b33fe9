# Clipping and regularization: operators as PaddlePaddle appends them, and values.
import re

import numpy as np
import pytest

import paddle_mini as pm
from programs import op_types, start

A, B = np.array([3.0, -4.0], "float32"), np.array([[12.0]], "float32")


def step(clip=None, regularization=None, **attr):
    """One step of SGD with rate 1 on loss = Σ ½a² + Σ ½b²; returns the amounts subtracted from a, b."""
    parameters = [
        pm.layers.create_parameter(
            value.shape, attr=pm.ParamAttr(name, pm.initializer.NumpyArrayInitializer(value), **(attr if name == "b" else {}))
        )
        for name, value in [("a", A), ("b", B)]
    ]
    halves = [pm.layers.reduce_sum(pm.layers.square(p)) * 0.5 for p in parameters]
    pm.optimizer.SGD(1.0, grad_clip=clip, regularization=regularization).minimize(halves[0] + halves[1])
    start().run()
    return A - pm.global_scope().get("a"), B - pm.global_scope().get("b")


def check(found, a, b):
    np.testing.assert_allclose(found[0], a, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found[1], b, rtol=1e-5, atol=1e-6)


def test_by_value():
    check(step(pm.clip.GradientClipByValue(3.5)), [3.0, -3.5], [[3.5]])


def test_by_norm():
    check(step(pm.clip.GradientClipByNorm(10.0)), A, B * 10 / 12)
    sgd = pm.default_main_program().global_block().ops[-2]
    clipped = sgd.input("Grad")[0]
    clip = next(op for op in sgd.block.ops if op.output_names == [clipped])
    assert (clip.type, clip.attr("op_role"), clip.attr("op_role_var")) == ("clip_by_norm", 2, ["a", clipped])


def test_by_global_norm():
    check(step(pm.clip.GradientClipByGlobalNorm(6.5)), A / 2, B / 2)  # √(9 + 16 + 144) = 13
    types = op_types()
    assert types[types.index("squared_l2_norm") :] == [
        "squared_l2_norm",
        "squared_l2_norm",
        "sum",
        "sqrt",
        "fill_constant",
        "elementwise_max",
        "elementwise_div",
        "elementwise_mul",
        "elementwise_mul",
        "sgd",
        "sgd",
    ]
    scaled = pm.default_main_program().global_block().ops[-4]
    assert scaled.input("X") == scaled.output("Out") == ["a@GRAD"]


def test_the_norm_before_clipping_is_fetched():
    clip = pm.clip.GradientClipByGlobalNorm(6.5)
    with pytest.raises(pm.ProgramError, match="norm is there after minimize"):
        clip.norm  # noqa: B018
    step(clip)
    pm.global_scope().set("a", A), pm.global_scope().set("b", B)
    assert pm.Executor().run(fetch_list=[clip.norm, "a@GRAD"])[0].tolist() == [13.0]
    first = clip.norm
    with pm.program_guard(pm.Program(), pm.Program()):
        x = pm.layers.data("x", [-1, 2])
        pm.optimizer.SGD(1.0, grad_clip=clip).minimize(pm.layers.mean(pm.layers.fc(x, 1)))
        assert clip.norm.block.program is not first.block.program


def test_a_minimize_that_fails_makes_no_norm():
    class Broken(pm.optimizer.SGD):
        def append_optimize_op(self, block, parameter, gradient):
            raise pm.ProgramError("broken")

    clip = pm.clip.GradientClipByGlobalNorm(1.0)
    w = pm.layers.create_parameter([2])
    with pytest.raises(pm.ProgramError, match="broken"):
        Broken(0.1, grad_clip=clip).minimize(pm.layers.mean(w))
    with pytest.raises(pm.ProgramError, match="norm is there after minimize"):
        clip.norm  # noqa: B018


def test_small_gradients_pass_the_global_norm():
    check(step(pm.clip.GradientClipByGlobalNorm(13.5)), A, B)


def test_need_clip_false_passes():
    check(step(pm.clip.GradientClipByGlobalNorm(2.5), need_clip=False), A / 2, B)


@pytest.mark.parametrize(
    "clip, factor",
    [(pm.clip.GradientClipByNorm(1.0), 1 / np.sqrt(18.0)), (pm.clip.GradientClipByGlobalNorm(1.0), 1 / np.sqrt(18.0))],
)
def test_rows_of_a_sparse_gradient_are_added_up_before_the_norm(clip, factor):
    ids = pm.layers.data("ids", [-1], dtype="int64")
    out = pm.layers.embedding(ids, [5, 2], is_sparse=True, param_attr="table")
    pm.optimizer.SGD(1.0, grad_clip=clip).minimize(pm.layers.reduce_sum(out))
    exe = start()
    before = pm.global_scope().get("table")
    exe.run(feed={"ids": np.array([3, 3, 3])})  # one row of (3, 3): norm √18, not √6
    np.testing.assert_allclose(
        before - pm.global_scope().get("table"), np.outer([0, 0, 0, 1, 0], [3, 3]) * factor, rtol=1e-5, atol=1e-6
    )


def test_l2_and_l1():
    check(step(regularization=pm.regularizer.L2Decay(0.1)), A * 1.1, B * 1.1)
    assert [op.type for op in pm.default_main_program().global_block().ops if op.attr("op_role") == 2] == [
        "scale",
        "sum",
        "scale",
        "sum",
        "sgd",
        "sgd",
    ]


def test_the_parameters_own_regularizer_wins():
    check(step(regularization=0.1, regularizer=pm.regularizer.L1Decay(0.5)), A * 1.1, B + 0.5)


def test_clipping_comes_before_regularization():
    check(step(pm.clip.GradientClipByGlobalNorm(6.5), pm.regularizer.L2Decay(0.1)), A * 0.6, B * 0.6)


def test_a_regularized_sparse_gradient_becomes_dense():
    ids = pm.layers.data("ids", [-1], dtype="int64")
    out = pm.layers.embedding(ids, [5, 2], is_sparse=True, param_attr="table")
    ops, _ = pm.optimizer.SGD(1.0, regularization=pm.regularizer.L2Decay(0.5)).minimize(pm.layers.reduce_sum(out))
    assert ops[0].input("Grad") == ["table@GRAD@NEWGRAD@"]
    exe = start()
    before = pm.global_scope().get("table")
    exe.run(feed={"ids": np.array([3, 1])})
    expected = before * 0.5 - np.array([0, 1, 0, 1, 0], "float32")[:, None]
    np.testing.assert_allclose(pm.global_scope().get("table"), expected, rtol=1e-5, atol=1e-6)


def test_refusals():
    with pytest.raises(pm.ProgramError, match="clip_norm is 0, it must be above 0"):
        pm.clip.GradientClipByNorm(0)
    with pytest.raises(pm.ProgramError, match="min 2.0 is above max 1.0"):
        pm.clip.GradientClipByValue(1.0, min=2.0)
    out = pm.layers.embedding(pm.layers.data("ids", [-1], dtype="int64"), [5, 2], is_sparse=True, param_attr="table")
    with pytest.raises(pm.ProgramError, match="sparse gradient of 'table'"):
        pm.optimizer.SGD(1.0, grad_clip=pm.clip.GradientClipByValue(1.0)).minimize(pm.layers.reduce_sum(out))


@pytest.mark.parametrize("limit", [float("inf"), float("nan"), 1e39, None, "1", True])
def test_limits_are_finite_numbers(limit):
    """With an infinite limit the factor of the global norm would be ∞ / ∞."""
    for clip in (pm.clip.GradientClipByGlobalNorm, pm.clip.GradientClipByNorm, pm.clip.GradientClipByValue):
        with pytest.raises(
            pm.ProgramError, match=f"{clip.__name__}: (clip_norm|max) is {re.escape(repr(limit))}, it must be a finite float32"
        ):
            clip(limit)
    if limit is not None:
        with pytest.raises(pm.ProgramError, match="GradientClipByValue: min is .*, it must be a finite float32"):
            pm.clip.GradientClipByValue(1.0, min=limit)


@pytest.mark.parametrize("coeff", [float("nan"), float("inf"), None, "0.1", True])
@pytest.mark.parametrize("decay", [pm.regularizer.L1Decay, pm.regularizer.L2Decay])
def test_coefficients_are_finite_numbers(decay, coeff):
    with pytest.raises(pm.ProgramError, match=f"{decay.__name__}: coeff is {coeff!r}, it must be a finite number"):
        decay(coeff)


@pytest.mark.parametrize("regularizer", ["l2", pm.regularizer.L2Decay, [1e-4]])
def test_what_is_no_regularizer_is_refused_where_it_is_given(regularizer):
    for make, what in (
        (lambda: pm.optimizer.Adam(regularization=regularizer), "Adam: regularization"),
        (lambda: pm.ParamAttr(regularizer=regularizer), "ParamAttr: regularizer"),
    ):
        with pytest.raises(pm.ProgramError, match=f"{what} is .*, it must be a Regularizer, such as regularizer.L2Decay"):
            make()
    with pytest.raises(pm.ProgramError, match="ParamAttr: learning_rate is nan, it must be a finite number"):
        pm.ParamAttr(learning_rate=float("nan"))


@pytest.mark.parametrize("wrap", [lambda o: pm.optimizer.GradientMerge(o, 2), lambda o: pm.optimizer.LossScaling(o, 1e30)])
def test_the_norm_is_fetched_where_not_every_run_takes_a_step(wrap):
    """It is 0 in the other runs, and that of the gradients that the optimizer sees."""
    clip = pm.clip.GradientClipByGlobalNorm(1.0)
    w = pm.layers.create_parameter([2], attr=pm.ParamAttr("w", pm.initializer.Constant(0.0)))
    x = pm.layers.data("x", [2])
    wrapper = wrap(pm.optimizer.SGD(0.5, grad_clip=clip))
    wrapper.minimize(pm.layers.reduce_sum(w * x))
    exe, big = start(), isinstance(wrapper, pm.optimizer.LossScaling)
    found = [
        exe.run(feed={"x": np.float32(x)}, fetch_list=[clip.norm, wrapper.updated]) for x in ([1e30 if big else 6, 0], [0, 8])
    ]
    assert [updated.tolist() for _, updated in found] == [[False], [True]]
    assert [float(norm[0]) for norm, _ in found] == pytest.approx([0, 8 if big else 5])

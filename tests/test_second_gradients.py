# Gradients of gradients: closed forms, a gradient penalty, a step of meta-learning, and what has no second derivative.
# tests/paddle/test_second_gradients.py compares the same programs with PaddlePaddle; the harness asks each operator.
import numpy as np
import pytest

import paddle_mini as pm
from programs import op_types, run, start
from second_gradient_programs import critic, meta_step

RANDOM = np.random.default_rng(5)


def constant(name, shape, value):
    initializer = pm.initializer.NumpyArrayInitializer(np.asarray(value, "float64"))
    return pm.layers.create_parameter(shape, dtype="float64", attr=pm.ParamAttr(name, initializer))


def test_types_ports_and_names_are_paddlepaddles():
    x = pm.layers.data("x", [2, 3])
    (slope,) = pm.gradients(pm.layers.tanh(x), x)
    pm.gradients(pm.layers.reduce_sum(slope * slope), x)
    op = next(op for op in pm.default_main_program().global_block().ops if op.type == "tanh_grad_grad")
    assert op.inputs == {"Out": ["tanh_0.tmp_0"], "grad_out": ["tanh_0.tmp_0@GRAD"], "grad_x@GRAD": ["x@GRAD@GRAD"]}
    assert op.outputs == {"Out@GRAD": ["grad/tanh_0.tmp_0@GRAD"]}
    assert op_types()[-1] == "tanh_grad"


def test_hessian_of_a_quadratic_form_is_its_matrix():
    matrix = RANDOM.normal(size=(4, 4))
    x, v = constant("x", [4, 1], RANDOM.normal(size=(4, 1))), constant("v", [4, 1], RANDOM.normal(size=(4, 1)))
    form = pm.layers.matmul(x, pm.layers.matmul(constant("a", [4, 4], matrix), x), transpose_x=True)
    (slope,) = pm.gradients(form, x)
    (product,) = pm.gradients(slope, x, v)
    start()
    (found,) = run(product)
    np.testing.assert_allclose(found, (matrix + matrix.T) @ pm.global_scope().get("v"), rtol=1e-12)


def test_hessian_vector_product_of_cross_entropy():
    """The Hessian of -log softmax(x)[label] is diag(p) - p p'."""
    logits, vector = RANDOM.normal(size=(3, 5)), RANDOM.normal(size=(3, 5))
    x, v = constant("x", [3, 5], logits), constant("v", [3, 5], vector)
    label = pm.layers.data("label", [3, 1], dtype="int64")
    loss = pm.layers.softmax_with_cross_entropy(x, label)
    (slope,) = pm.gradients(loss, x)
    (product,) = pm.gradients(slope, x, v)
    start()
    (found,) = run(product, label=np.array([[0], [4], [2]]))
    p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    np.testing.assert_allclose(found, p * vector - p * (p * vector).sum(1, keepdims=True), rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("layer", ["fc", "conv"])
def test_gradient_penalty(layer):
    """The gradients of a Wasserstein loss with a penalty (Gulrajani et al., Improved Training of Wasserstein GANs, 2017),
    against central differences."""
    penalty, pairs, feeds = critic(layer, "float64")
    exe, scope = start(), pm.global_scope()
    found = exe.run(feed=feeds, fetch_list=[gradient for _, gradient in pairs])
    assert len(pairs) >= 3
    for (var, _), gradient in zip(pairs, found):
        value = scope.get(var.name)
        for place in list(np.ndindex(value.shape))[::7]:
            sums = []
            for step in (1e-6, -1e-6):
                moved = value.copy()
                moved[place] += step
                scope.set(var.name, moved)
                sums.append(exe.run(feed=feeds, fetch_list=[penalty])[0].sum())
            scope.set(var.name, value)
            np.testing.assert_allclose(gradient[place], (sums[0] - sums[1]) / 2e-6, rtol=2e-5, atol=1e-7, err_msg=var.name)


def test_meta_learning_step():
    """The gradient through an inner step of gradient descent (Finn et al., Model-Agnostic Meta-Learning, 2017)."""
    _, weight, gradient, feeds = meta_step("float64")
    start()
    (found,) = run(gradient, **feeds)
    w, x, y, x2, y2 = pm.global_scope().get(weight.name), feeds["x"], feeds["y"], feeds["x2"], feeds["y2"]
    hessian = 2 * x.T @ x / len(x)
    adapted = w - 0.125 * (hessian @ w - 2 * x.T @ y / len(x))
    outer = 2 * x2.T @ (x2 @ adapted - y2) / len(x2)
    np.testing.assert_allclose(found, (np.eye(len(w)) - 0.125 * hessian) @ outer, rtol=1e-10)


def test_every_thread_count_gives_the_same_bits():
    penalty, pairs, feeds = critic("conv", "float32")
    results = []
    for threads in (1, 2, 5):
        with pm.scope_guard(pm.Scope()):
            exe = pm.Executor(threads=threads)
            exe.run(pm.default_startup_program())
            results.append(exe.run(feed=feeds, fetch_list=[penalty, *(gradient for _, gradient in pairs)]))
    for other in results[1:]:
        for one, two in zip(results[0], other):
            np.testing.assert_array_equal(one, two)


def test_an_operator_without_second_derivative_is_named():
    x = pm.layers.data("x", [2, 4, 6, 6])
    x.stop_gradient = False
    (slope,) = pm.gradients(pm.layers.pool2d(x, 2, "max", 2), x)
    before = pm.default_main_program().to_bytes()
    with pytest.raises(pm.ProgramError, match="pool2d_grad is not known: pooling_type is max") as caught:
        pm.gradients(pm.layers.reduce_sum(slope * x), x)
    assert "test_second_gradients.py" in str(caught.value) and len(str(caught.value).splitlines()) <= 12
    assert len(before) < len(pm.default_main_program().to_bytes())  # the product remains, its gradient is taken back
    assert not any(op.type == "pool2d_double_grad" for op in pm.default_main_program().global_block().ops)


def test_a_third_derivative_of_a_formula():
    x = constant("x", [3], [0.3, -0.2, 0.9])
    y = x * x * x * x
    for _ in range(2):
        (y,) = pm.gradients(y, x)
    start()
    (second,) = run(y)
    np.testing.assert_allclose(second, 12 * pm.global_scope().get("x") ** 2, rtol=1e-12)


@pytest.mark.parametrize("copied", [pm.Program.clone, lambda program: pm.Program.from_bytes(program.to_bytes())])
def test_gradients_go_on_in_a_copy(copied):
    x = pm.layers.data("x", [3], "float64")
    (first,) = pm.gradients(x * x * x * x, x)
    (second,) = pm.gradients(first, x)
    copy = copied(pm.default_main_program())
    with pm.program_guard(copy, pm.Program()):
        (again,) = pm.gradients(pm.layers.reduce_sum(copy.global_block().var(first.name) * 5.0), "x")
        value = np.array([0.3, -0.2, 0.9])
        found = run(first, second, again, x=value)
    np.testing.assert_allclose(found, [4 * value**3, 12 * value**2, 60 * value**2], rtol=1e-12)


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_running_statistics_have_no_second_gradient_as_they_have_no_first(layout):
    """One that went through the first gradient alone would be a part of the derivative."""
    x = pm.layers.data("x", [3, 2, 2], "float64")
    names = {"moving_mean_name": "mean", "moving_variance_name": "variance"}
    out = pm.layers.reduce_sum(pm.layers.square(pm.layers.batch_norm(x, data_layout=layout, use_global_stats=True, **names)))
    first = pm.gradients(out, [x, "batch_norm_0.w_0", "mean", "variance"])
    assert first[2:] == [None, None]
    sums = [pm.layers.reduce_sum(one * one) for one in first[:2]]
    to_x, *to_statistics = pm.gradients(sums, [x, "mean", "variance"])
    assert to_statistics == [None, None]
    start()
    value, power = RANDOM.normal(size=(3, 2, 2)), 1 / (1 + np.float32(1e-5).astype(float))  # out = power * sum of squares
    to_scale = 2 * power * (value**2).sum(axis=(0, 2) if layout == "NCHW" else (0, 1))
    expected = 8 * power**2 * value + 8 * power * value * (to_scale[:, None] if layout == "NCHW" else to_scale)
    np.testing.assert_allclose(run(to_x, x=value)[0], expected, rtol=1e-12)

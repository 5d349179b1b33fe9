# Losses against their formulas.
import numpy as np
import pytest

import paddle_mini as pm
from programs import op_types, run

LOGITS = np.random.default_rng(0).normal(size=(4, 3)).astype("float32")
LABEL = np.array([[0], [2], [1], [2]])
PROBABILITY = np.exp(LOGITS) / np.exp(LOGITS).sum(1, keepdims=True)
LOSS = -np.log(np.take_along_axis(PROBABILITY, LABEL, 1))


def feeds():
    return pm.layers.data("x", [-1, 3]), pm.layers.data("label", [-1, 1], dtype="int64")


def test_softmax_with_cross_entropy():
    x, label = feeds()
    loss, softmax = pm.layers.softmax_with_cross_entropy(x, label, return_softmax=True)
    values = run(loss, softmax, x=LOGITS, label=LABEL)
    np.testing.assert_allclose(values[0], LOSS, rtol=1e-5)
    np.testing.assert_allclose(values[1], PROBABILITY, rtol=1e-5)


def test_softmax_with_cross_entropy_of_soft_labels():
    x, target = pm.layers.data("x", [-1, 3]), pm.layers.data("target", [-1, 3])
    (value,) = run(pm.layers.softmax_with_cross_entropy(x, target, soft_label=True), x=LOGITS, target=PROBABILITY)
    np.testing.assert_allclose(value, -(PROBABILITY * np.log(PROBABILITY)).sum(1, keepdims=True), rtol=1e-5)


def test_cross_entropy_takes_probabilities():
    x, label = feeds()
    loss = pm.layers.cross_entropy(pm.layers.softmax(x), label)
    assert op_types() == ["softmax", "cross_entropy2"]
    np.testing.assert_allclose(run(loss, x=LOGITS, label=LABEL)[0], LOSS, rtol=1e-5)


def test_ignored_rows_cost_nothing():
    x, label = feeds()
    losses = [
        pm.layers.softmax_with_cross_entropy(x, label, ignore_index=2),
        pm.layers.cross_entropy(pm.layers.softmax(x), label, ignore_index=2),
    ]
    for value in run(*losses, x=LOGITS, label=LABEL):
        np.testing.assert_allclose(value, np.where(LABEL == 2, 0, LOSS), rtol=1e-5)


def test_a_label_that_is_no_class():
    x, label = feeds()
    with pytest.raises(pm.OpError, match="test_loss.py:"):
        run(pm.layers.softmax_with_cross_entropy(x, label), x=LOGITS, label=LABEL + 1)


def test_square_error_cost():
    x, y = pm.layers.data("x", [-1, 3]), pm.layers.data("y", [-1, 3])
    (value,) = run(pm.layers.square_error_cost(x, y), x=LOGITS, y=PROBABILITY)
    np.testing.assert_allclose(value, (LOGITS - PROBABILITY) ** 2, rtol=1e-5)


def test_cross_entropy_of_soft_labels():
    x, target = pm.layers.data("x", [-1, 3]), pm.layers.data("target", [-1, 3])
    (value,) = run(pm.layers.cross_entropy(x, target, soft_label=True), x=PROBABILITY, target=PROBABILITY[::-1].copy())
    np.testing.assert_allclose(value, -(PROBABILITY[::-1] * np.log(PROBABILITY)).sum(1, keepdims=True), rtol=1e-5)


HARD = np.array([[1, 0, 1], [0, 0, 1], [1, 1, 0], [0, 1, 0]], "float32")
RESIDUAL = np.abs(HARD - LOGITS)


@pytest.mark.parametrize(
    "layer, x, expected",
    [
        (
            lambda x, y: pm.layers.huber_loss(x, y, 0.5),
            LOGITS,
            np.where(RESIDUAL <= 0.5, RESIDUAL**2 / 2, 0.5 * (RESIDUAL - 0.25)),
        ),
        (
            lambda x, y: pm.layers.log_loss(x, y),
            PROBABILITY,
            -HARD * np.log(PROBABILITY + 1e-4) - (1 - HARD) * np.log(1 - PROBABILITY + 1e-4),
        ),
        (lambda x, y: pm.layers.bce_loss(x, y), PROBABILITY, -np.log(np.where(HARD > 0, PROBABILITY, 1 - PROBABILITY))),
        (
            lambda x, y: pm.layers.sigmoid_cross_entropy_with_logits(x, y),
            LOGITS,
            np.log1p(np.exp(np.where(HARD > 0, -LOGITS, LOGITS))),
        ),
        (lambda x, y: pm.layers.kldiv_loss(x, y, reduction="sum"), np.log(PROBABILITY), (HARD * (0 - np.log(PROBABILITY))).sum()),
        (lambda x, y: pm.layers.label_smooth(y, epsilon=0.3), LOGITS, 0.7 * HARD + 0.1),
        (lambda x, y: pm.layers.label_smooth(y, x[:1]), LOGITS, 0.9 * HARD + 0.1 * LOGITS[:1]),
        (lambda x, y: pm.layers.hinge_loss(x[:, :1], y[:, :1]), LOGITS, np.maximum(1 - LOGITS[:, :1] * (2 * HARD[:, :1] - 1), 0)),
        (
            lambda x, y: pm.layers.rank_loss(y[:, :1], x[:, :1], x[:, 1:2]),
            LOGITS,
            np.log1p(np.exp(LOGITS[:, :1] - LOGITS[:, 1:2])) - HARD[:, :1] * (LOGITS[:, :1] - LOGITS[:, 1:2]),
        ),
    ],
    ids=["huber", "log", "bce", "sigmoid", "kldiv", "smooth", "prior", "hinge", "rank"],
)
def test_losses_of_numbers(layer, x, expected):
    (value,) = run(layer(pm.layers.data("x", [-1, 3]), pm.layers.data("y", [-1, 3])), x=x.astype("float32"), y=HARD)
    np.testing.assert_allclose(value, expected, rtol=1e-4, atol=1e-6)


def test_nll_loss():
    x, label = pm.layers.data("x", [-1, 3]), pm.layers.data("label", [-1], dtype="int64")
    weight = np.array([1.0, 2.0, 0.5], "float32")
    outs = [
        pm.layers.nll_loss(x, label),
        pm.layers.nll_loss(x, label, pm.layers.assign(weight), reduction="sum"),
        pm.layers.nll_loss(x, label, ignore_index=2, reduction="none"),
    ]
    values = run(*outs, x=np.log(PROBABILITY), label=LABEL[:, 0])
    np.testing.assert_allclose(values[0], LOSS.mean(), rtol=1e-5)
    np.testing.assert_allclose(values[1], (LOSS * weight[LABEL]).sum(), rtol=1e-5)
    np.testing.assert_allclose(values[2], np.where(LABEL == 2, 0, LOSS)[:, 0], rtol=1e-5)


def test_bpr_loss_and_losses_of_clicks():
    x, label = feeds()
    score, soft = pm.layers.data("score", [-1, 1]), pm.layers.data("soft", [-1, 1])
    outs = [
        pm.layers.bpr_loss(x, label),
        pm.layers.teacher_student_sigmoid_loss(score, soft),
        pm.layers.continuous_value_model(x, pm.layers.slice(x, [1], [0], [2]), use_cvm=False),
    ]
    clicks = np.array([[-2], [-1], [0.25], [1.5]], "float32")
    values = run(*outs, x=LOGITS, label=LABEL, score=LOGITS[:, :1], soft=clicks)
    apart = np.log1p(np.exp(LOGITS - np.take_along_axis(LOGITS, LABEL, 1)))
    np.testing.assert_allclose(values[0], (apart.sum(1, keepdims=True) - np.log(2)) / 2, rtol=1e-5)
    z = LOGITS[:, 0]
    s = np.log1p(np.exp(z))
    expected = [s[0], s[1] - z[1], 2 * s[2] - 0.25 * z[2], 2 * s[3] - 1.5 * z[3]]
    np.testing.assert_allclose(values[1][:, 0], expected, rtol=1e-5)
    np.testing.assert_array_equal(values[2], LOGITS[:, 2:])


def test_hsigmoid_is_minus_log_of_a_probability():
    x, _ = feeds()
    classes = np.arange(5)[:, None]
    loss = pm.layers.hsigmoid(x, pm.layers.data("class", [-1, 1], "int64"), 5, bias_attr=pm.initializer.Uniform())
    (value,) = run(loss, x=LOGITS[:1].repeat(5, 0), **{"class": classes})
    assert [p.shape for p in pm.default_main_program().all_parameters()] == [(4, 3), (4, 1)]
    # Leaves at a smaller depth add log 2 for each place of the path that they do not use.
    assert np.exp(-value).ravel() @ [2 ** (3 - depth) for depth in (2, 2, 2, 3, 3)] == pytest.approx(1, rel=1e-5)


def test_hsigmoid_with_paths_of_its_own():
    x, label = feeds()
    table, code = np.array([[0, 1], [0, -1], [0, 1], [0, -1]]), np.array([[0, 1], [1, 0], [0, 0], [1, 0]])
    path = {f"path_{what}": pm.layers.data(what, [-1, 2], "int64") for what in ("table", "code")}
    loss = pm.layers.hsigmoid(x, label, 2, bias_attr=False, is_custom=True, **path)
    (value,) = run(loss, x=LOGITS, label=LABEL, table=table, code=code)
    z = LOGITS @ pm.global_scope().get("hsigmoid_0.w_0").T
    s = np.log1p(np.exp(z))
    expected = [s[0].sum() - z[0, 1], s[1, 0] - z[1, 0] + np.log(2), s[2].sum(), s[3, 0] - z[3, 0] + np.log(2)]
    np.testing.assert_allclose(value[:, 0], expected, rtol=1e-5)
    with pytest.raises(pm.ProgramError, match="path_table and path_code go with is_custom"):
        pm.layers.hsigmoid(x, label, 2, is_custom=True)
    with pytest.raises(pm.ProgramError, match="num_classes is 1"):
        pm.layers.hsigmoid(x, label, 1)


@pytest.mark.parametrize("shape", [[-1], [-1, 3]])
def test_a_square_error_of_broadcast_values_warns(shape):
    prediction, label = pm.layers.data("prediction", [-1, 1]), pm.layers.data("label", shape)
    with pytest.warns(UserWarning, match=r"input \[-1, 1\] and label .* are broadcast to .*: declare the label with the shape"):
        pm.layers.square_error_cost(prediction, label)


@pytest.mark.parametrize("shape", [[-1, 3], [3], [1], []])
def test_a_square_error_in_the_shape_of_the_input_does_not_warn(shape, recwarn):
    pm.layers.square_error_cost(pm.layers.data("x", [-1, 3]), pm.layers.data("label", shape))
    assert not recwarn.list

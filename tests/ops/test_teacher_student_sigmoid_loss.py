"""teacher_student_sigmoid_loss: the sigmoid losses of a click and of a score that one label encodes."""

import numpy as np

import paddle_mini as pm
from harness import array, op_tests, run_op


def reference(inputs, attrs):
    x, label = inputs["X"], inputs["Label"]
    loss = np.log1p(np.exp(-abs(x))) + np.maximum(x, 0)
    clicked = loss - x
    return {
        "Y": np.select(
            [label < -1, label < 0, label < 1], [loss, clicked, loss + loss - x * label], clicked + loss - x * (label - 1)
        )
    }


def pair(*shape):
    return {"X": array(*shape, low=-4, high=4), "Label": array(*shape, low=-2, high=2, seed=1)}


test_teacher_student_sigmoid_loss = op_tests(
    "teacher_student_sigmoid_loss",
    reference,
    cases={
        "column": (pair(40, 1), {}),
        "at the borders": ({"X": array(5, 1), "Label": np.array([[-2.0], [-1], [0], [1], [1.5]])}, {}),
        "one element": (pair(1, 1), {}),
        "no rows": (pair(0, 1), {}),
    },
    gradients=["X"],
    refusals={"another shape": ({"X": array(3, 1), "Label": array(4, 1)}, {}, pm.ShapeError, "X [3, 1] Label [4, 1]")},
)


def test_there_is_no_gradient_beyond_the_bounds():
    inputs = {"X": np.array([[2.0], [-3.0], [1.0], [15.0]]), "Label": np.zeros((4, 1)), "Y@GRAD": np.ones((4, 1))}
    bounds = {"soft_max_up_bound": 2.0, "soft_max_lower_bound": -3.0}
    found = run_op("teacher_student_sigmoid_loss_grad", inputs, bounds)
    np.testing.assert_allclose(found["X@GRAD"], [[0], [0], [2 / (1 + np.exp(-1))], [0]])


def test_large_inputs_have_finite_losses():
    inputs = {"X": np.array([[1e4], [-1e4]], "float32"), "Label": np.array([[0.5], [0.5]], "float32")}
    np.testing.assert_allclose(run_op("teacher_student_sigmoid_loss", inputs)["Y"], [[1.5e4], [5e3]])

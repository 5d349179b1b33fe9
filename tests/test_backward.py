# append_backward: the operators and names it appends, and gradients against numeric ones.
import numpy as np
import pytest

import paddle_mini as pm
from programs import op_types, run, start

X = np.array([[0.5, -1.0], [2.0, 0.25]])


def ops():
    return pm.default_main_program().global_block().ops


def backward_ops():
    return [op for op in ops() if op.attr("op_role") & 1]


def parameter(name, shape=(2,), value=None, **attr):
    start_value = np.linspace(0.5, 1.5, int(np.prod(shape))).reshape(shape) if value is None else value
    attr = pm.ParamAttr(name, pm.initializer.NumpyArrayInitializer(start_value), **attr)
    return pm.layers.create_parameter(shape, dtype="float64", attr=attr)


def check_numerically(loss, pairs, **feed):
    """Every gradient against central differences of the sum of the loss."""
    exe, scope = start(), pm.global_scope()
    gradients = exe.run(feed=feed, fetch_list=[gradient for _, gradient in pairs])
    for (var, _), gradient in zip(pairs, gradients):
        value = scope.get(var.name)
        numeric = np.zeros_like(value)
        for place in np.ndindex(value.shape):
            sums = []
            for step in (1e-6, -1e-6):
                moved = value.copy()
                moved[place] += step
                scope.set(var.name, moved)
                sums.append(exe.run(feed=feed, fetch_list=[loss])[0].sum())
            scope.set(var.name, value)
            numeric[place] = (sums[0] - sums[1]) / 2e-6
        np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-8, err_msg=var.name)


def test_operators_roles_and_names_are_paddlepaddles():
    x, y = pm.layers.data("x", [-1, 5]), pm.layers.data("y", [-1, 2])
    loss = pm.layers.mean(pm.layers.square_error_cost(pm.layers.fc(pm.layers.fc(x, 7, act="tanh"), 2), y))
    pairs = pm.append_backward(loss)
    assert [(p.name, g.name) for p, g in pairs] == [
        (name, name + "@GRAD") for name in ["fc_0.w_0", "fc_0.b_0", "fc_1.w_0", "fc_1.b_0"]
    ]
    assert [op.type for op in backward_ops()] == [
        "fill_constant",
        "mean_grad",
        "square_grad",
        "elementwise_sub_grad",
        "elementwise_add_grad",
        "mul_grad",
        "tanh_grad",
        "elementwise_add_grad",
        "mul_grad",
    ]
    seed, last = backward_ops()[0], backward_ops()[-1]
    assert (seed.attr("op_role"), seed.attr("shape"), seed.output_names) == (257, [], ["mean_0.tmp_0@GRAD"])
    assert ops()[-len(backward_ops()) - 1].attr("op_role") == 256
    assert (last.attr("op_role_var"), last.output_names) == (["fc_0.w_0", "fc_0.w_0@GRAD"], ["fc_0.w_0@GRAD"])
    assert pm.default_main_program().global_block().var("fc_0.tmp_1@GRAD").shape == (-1, 7)


def test_a_variable_used_more_than_once():
    w = parameter("w")
    square = w * w  # both ports of one operator
    total = pm.layers.reduce_sum(square + w)
    pairs = pm.append_backward(total)
    sum_op = next(op for op in backward_ops() if op.type == "sum")
    assert sum_op.input("X") == [f"w@GRAD@RENAME@block0@{i}" for i in range(3)]
    assert sum_op.output("Out") == ["w@GRAD"] and sum_op.attr("op_role_var") == ["w", "w@GRAD"]
    check_numerically(total, pairs)


def test_the_sum_stands_before_its_first_reader():
    w = parameter("w")
    h = pm.layers.tanh(w)
    loss = pm.layers.mean(pm.layers.square(h) + pm.layers.exp(h))
    pairs = pm.append_backward(loss)
    types = [op.type for op in backward_ops()]
    assert types.index("sum") == types.index("tanh_grad") - 1
    check_numerically(loss, pairs)


def test_branches_meet_and_a_loss_of_several_elements():
    x = pm.layers.data("x", [-1, 2], dtype="float64")
    w, v = parameter("w", (2, 2)), parameter("v", (2,))
    h = pm.layers.matmul(x, w) + v
    out = pm.layers.concat([pm.layers.sigmoid(h), h * pm.layers.tanh(h)], axis=1)
    pairs = pm.append_backward(out)  # its gradient starts with ones
    check_numerically(out, pairs, x=X)


def test_stop_gradient_cuts_what_is_before():
    w, v = parameter("w"), parameter("v")
    h = pm.layers.square(w)
    h.stop_gradient = True
    pairs = pm.append_backward(pm.layers.reduce_sum(h * v))
    assert [p.name for p, _ in pairs] == ["v"]
    assert not pm.default_main_program().global_block().has_var("w@GRAD")
    assert "square_grad" not in op_types()


def test_no_grad_set_and_parameters_that_are_not_trainable():
    w, v, u = parameter("w"), parameter("v"), parameter("u", trainable=False)
    assert [p.name for p, _ in pm.append_backward(pm.layers.mean(w * v * u), no_grad_set={"v"})] == ["w"]
    assert not pm.default_main_program().global_block().has_var("v@GRAD")
    assert not pm.default_main_program().global_block().has_var("u@GRAD")


def test_parameter_list_only_chooses_what_is_returned():
    w, v = parameter("w"), parameter("v")
    pairs = pm.append_backward(pm.layers.mean(w * v), parameter_list=[v])
    assert [p.name for p, _ in pairs] == ["v"]
    assert pm.default_main_program().global_block().has_var("w@GRAD")


def test_nothing_to_train():
    loss = pm.layers.mean(pm.layers.square(pm.layers.data("x", [2])))
    assert pm.append_backward(loss) == []
    assert [op.type for op in backward_ops()] == ["fill_constant"]


def test_an_unused_output_has_a_zero_gradient():
    x = parameter("x", (2, 3), value=np.array([[3.0, 1, 2], [4, 6, 5]]))
    values, _ = pm.layers.topk(x, 2)
    loss = pm.layers.reduce_sum(pm.layers.square(values))
    check_numerically(loss, pm.append_backward(loss))


def test_an_operator_without_gradient():
    w = parameter("w")
    out = pm.default_main_program().global_block().create_var("out")
    w.block.append_op(
        "sgd", {"Param": w, "Grad": w, "LearningRate": parameter("r", (1,), trainable=False)}, {"ParamOut": out}, {}
    )
    with pytest.raises(pm.ProgramError, match="has no gradient: ") as caught:
        pm.append_backward(pm.layers.mean(out))
    assert "sgd" in str(caught.value) and "test_backward.py:" in str(caught.value)


def test_an_optimizers_step_is_where_a_second_loss_begins():
    w = parameter("w")
    pm.optimizer.SGD(0.1).minimize(pm.layers.mean(pm.layers.square(w)))
    pairs = pm.append_backward(pm.layers.mean(pm.layers.exp(w)))
    assert pairs[0][1].name == "grad/w@GRAD"
    first, second, value = start().run(fetch_list=["w@GRAD", pairs[0][1], "w"])
    np.testing.assert_allclose(second, np.exp(value) / 2)
    np.testing.assert_allclose(first, (value + 0.1 * first), rtol=1e-12)


def test_gradient_operators_keep_device_and_line():
    w = parameter("w")
    with pm.device_guard("cpu"):
        h = pm.layers.tanh(w)
    pm.append_backward(pm.layers.mean(h))
    gradient = next(op for op in ops() if op.type == "tanh_grad")
    assert gradient.attr("op_device") == "cpu"
    assert gradient.callstack[1] == "    h = pm.layers.tanh(w)"


def test_gradients_with_respect_to_anything():
    x = pm.layers.data("x", [-1, 2], dtype="float64")
    unused = pm.layers.data("unused", [2], dtype="float64")
    h = pm.layers.square(x)
    y = pm.layers.exp(h)
    for_x, for_h, for_nothing = pm.gradients([y, h], [x, h, unused])
    assert for_nothing is None
    values = run(for_x, for_h, x=X)
    np.testing.assert_allclose(values[1], np.exp(X * X) + 1)
    np.testing.assert_allclose(values[0], 2 * X * (np.exp(X * X) + 1))


def test_gradients_from_given_ones():
    x, seed = pm.layers.data("x", [2, 2], dtype="float64"), pm.layers.data("seed", [2, 2], dtype="float64")
    (gradient,) = pm.gradients(pm.layers.square(x), x, target_gradients=seed)
    (value,) = run(gradient, x=X, seed=X + 3)
    np.testing.assert_allclose(value, 2 * X * (X + 3))


def test_what_is_no_float_has_no_gradient():
    with pytest.raises(pm.ShapeError, match="'n' is int64; only floats and complex numbers have gradients"):
        pm.append_backward(pm.layers.data("n", [2], dtype="int64"))


def test_arguments_that_are_refused():
    w, count = parameter("w"), len(ops())
    loss = pm.layers.mean(w)
    for name in ("W", "mean_0.tmp_0"):
        with pytest.raises(pm.ProgramError, match=f"parameter_list: '{name}' is not a parameter of the program; it has w"):
            pm.append_backward(loss, parameter_list=[name])
    with pytest.raises(pm.ProgramError, match="not of 3.0"):
        pm.append_backward(3.0)
    assert len(ops()) == count + 1


def test_names_in_place_of_inputs():
    w = parameter("w")
    loss = pm.layers.mean(pm.layers.square(w))
    (gradient,) = pm.gradients([loss], ["w"])
    assert gradient.name == "w@GRAD"
    before = pm.default_main_program().to_bytes()
    for inputs, message in ((["W"], "'W'"), ([3], "inputs has 3, it must hold variables or their names")):
        with pytest.raises(pm.ProgramError, match=message):
            pm.gradients([loss], inputs)
    assert pm.default_main_program().to_bytes() == before


@pytest.mark.parametrize("groups", [[{"params": ["w"], "lr": 0.1}], [3]])
def test_a_parameter_list_of_something_else_is_refused(groups):
    loss = pm.layers.mean(parameter("w"))
    before = pm.default_main_program().to_bytes()
    hint = "; another rate .* ParamAttr\\(learning_rate=factor\\)" if groups != [3] else ""
    with pytest.raises(pm.ProgramError, match=f"parameter_list has .*, it must hold variables or their names{hint}$"):
        pm.optimizer.SGD(0.1, parameter_list=groups).minimize(loss)
    assert pm.default_main_program().to_bytes() == before


@pytest.mark.parametrize(
    "call, words",
    [
        (lambda x, y: pm.gradients([], x), "targets is empty"),
        (lambda x, y: pm.gradients([y, "x"], x), "not of 'x'"),
        (lambda x, y: pm.gradients([y, pm.Program().global_block().create_var("z", shape=[1])], x), "several programs"),
        (lambda x, y: pm.gradients(y, x, [np.ones(2, "float32")]), "target_gradients has array.*layers.assign"),
        (lambda x, y: pm.gradients(x * 2.0, x, pm.layers.ones([1])), r"target_gradients has .*\[1\]', the gradient of .*\[2\]'"),
        (lambda x, y: pm.gradients(y, x, pm.layers.ones([], "float64")), "must have its shape and element type"),
        (lambda x, y: pm.gradients(y, x, no_grad_set=["X"]), "no_grad_set: the program has no variable 'X'"),
        (lambda x, y: pm.append_backward(y, no_grad_set=3), "no_grad_set is 3, it must hold variables"),
        (lambda x, y: pm.default_main_program().prune(3, y), "prune: feeds is 3, it must hold variables"),
    ],
)
def test_what_gradients_cannot_mean_is_refused(call, words):
    x = pm.layers.data("x", [2])
    with pytest.raises(pm.Error, match=words):
        call(x, pm.layers.reduce_sum(x))


def test_one_variable_stands_for_a_list_of_one():
    x = pm.layers.data("x", [2], "float64")
    y = pm.layers.reduce_sum(x * x)
    assert pm.gradients(y, x, no_grad_set=pm.layers.data("unused", [2]))[0].shape == (2,)
    for feed, fetch in ((x, y), ("x", y.name)):
        pruned = pm.default_main_program().prune(feed, fetch)
        assert start().run(pruned, feed={"x": np.ones(2)}, fetch_list=fetch)[0] == 2


def test_the_gradient_of_a_step_to_another_variable():
    x = pm.layers.data("x", [1], "float64")
    y = pm.layers.increment(x, 3.0, in_place=False)
    (gradient,) = pm.gradients(y * y, x)
    assert run(gradient, x=np.array([2.0])) == [[10.0]]


def test_outputs_that_saved_models_leave_out_are_added():
    x = pm.layers.data("x", [2, 3])
    hidden = pm.layers.flatten(pm.layers.unsqueeze(pm.layers.transpose(x, [1, 0]) * 2.0, [2]), 0)
    out = pm.layers.reshape(pm.layers.dropout(hidden, 0.5, is_test=True), [2, 3])
    for op in ops():
        for port in ("XShape", "Mask"):
            op._outputs.pop(port, None)
    program = pm.Program.from_bytes(pm.default_main_program().to_bytes())
    with pm.program_guard(program):
        (gradient,) = pm.gradients(program.global_block().var(out.name), "x")
    (found,) = start().run(program, feed={"x": np.ones((2, 3), "float32")}, fetch_list=[gradient])
    np.testing.assert_array_equal(found, np.ones((2, 3)))  # 2, halved in a test

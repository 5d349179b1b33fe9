# Programs: names, bytes, clones for testing, guards, text, and errors that end with the user's line.
import numpy as np
import pytest

import paddle_mini as pm
from programs import op_types, run, start


def network():
    x = pm.layers.data("x", shape=[-1, 4])
    label = pm.layers.data("label", shape=[-1, 1], dtype="int64")
    hidden = pm.layers.dropout(pm.layers.fc(x, 8, act="relu"), 0.5)
    logits = pm.layers.fc(hidden, 3)
    loss = pm.layers.mean(pm.layers.softmax_with_cross_entropy(logits, label))
    return x, logits, loss


def trained_network():
    x, logits, loss = network()
    pm.optimizer.Adam(0.1).minimize(loss)
    return x, logits, loss


def names(program):
    return sorted(var.name for var in program.list_vars())


def test_names_are_paddlepaddles():
    _, logits, loss = trained_network()
    main = pm.default_main_program()
    assert [p.name for p in main.all_parameters()] == ["fc_0.w_0", "fc_0.b_0", "fc_1.w_0", "fc_1.b_0"]
    assert (logits.name, loss.name) == ("fc_1.tmp_1", "mean_0.tmp_0")
    for name in ["fc_0.w_0@GRAD", "fc_0.w_0_moment1_0", "fc_0.w_0_beta1_pow_acc_0", "learning_rate_0"]:
        assert name in main.global_block().vars


def test_same_code_gives_same_names():
    trained_network()
    first = names(pm.default_main_program())
    with pm.program_guard(pm.Program(), pm.Program()):
        trained_network()
        assert names(pm.default_main_program()) == first


def test_programs_with_one_startup_share_no_name_unless_the_guard_says_so():
    startup, programs = pm.Program(), [pm.Program(), pm.Program(), pm.Program()]
    for program in programs[:2]:
        with pm.program_guard(program, startup):
            pm.layers.fc(pm.layers.data("x", [-1, 4]), 2)
    with pm.unique_name.guard(), pm.program_guard(programs[2], startup):
        pm.layers.fc(pm.layers.data("x", [-1, 4]), 2)
    first, second, third = ([p.name for p in program.all_parameters()] for program in programs)
    assert (first, second, third) == (["fc_0.w_0", "fc_0.b_0"], ["fc_1.w_0", "fc_1.b_0"], first)
    assert len(startup.global_block().ops) == 4  # shared parameters are initialized once


def test_new_names_are_those_that_the_program_does_not_have():
    x, other = pm.layers.data("tmp_0", [2]), pm.layers.data("relu_0.tmp_0", [2])
    outs = [x + 1.0, pm.layers.relu(other)]
    values = run(x, other, *outs, **{"tmp_0": np.ones(2, "float32"), "relu_0.tmp_0": -np.ones(2, "float32")})
    assert [value[0] for value in values] == [1, -1, 2, 0]


def test_networks_in_one_program_share_parameters_and_no_other_names():
    feeds, outs = {name: np.full((1, 2), i, "float32") for i, name in enumerate(["a", "b"])}, []
    for name in feeds:
        with pm.unique_name.guard():
            hidden = pm.layers.fc(pm.layers.data(name, [1, 2]), 1, param_attr=pm.initializer.Constant(3.0))
            outs.append(hidden * 0.5)
    assert [value.item() for value in run(*outs, **feeds)] == [0, 3]
    assert [p.name for p in pm.default_main_program().all_parameters()] == ["fc_0.w_0", "fc_0.b_0"]
    with pytest.raises(pm.ProgramError, match="counters is 'A'"), pm.unique_name.guard("A"):
        pass


def test_bytes_round_trip_and_go_on():
    trained_network()
    main = pm.default_main_program()
    again = pm.Program.from_bytes(main.to_bytes())
    assert again.to_bytes() == main.to_bytes()
    assert str(again) == str(main)
    assert [(p.name, p.trainable) for p in again.all_parameters()] == [(p.name, True) for p in main.all_parameters()]
    with pm.program_guard(again):
        out = pm.layers.fc(again.global_block().var("fc_1.tmp_1"), 2)
    assert out.name == "fc_2.tmp_1"  # names from before are not reused


def test_bytes_that_are_no_program():
    with pytest.raises(pm.ProgramError):
        pm.Program.from_bytes(b"\x0a\xff")


def test_what_the_format_does_not_know_of_survives():
    # Field 1000 of ProgramDesc, a varint.
    unknown = bytes([0xC0, 0x3E, 0x07])
    data = pm.Program().to_bytes() + unknown
    assert unknown in pm.Program.from_bytes(data).to_bytes()


def test_clone_for_test_leaves_training_out():
    _, logits, _ = trained_network()
    main = pm.default_main_program()
    test = main.clone(for_test=True)
    assert op_types(test) == [
        "mul",
        "elementwise_add",
        "relu",
        "dropout",
        "mul",
        "elementwise_add",
        "softmax_with_cross_entropy",
        "mean",
    ]
    dropout = test.global_block().ops[3]
    assert dropout.attr("is_test") is True
    assert main.global_block().ops[3].attr("is_test") is False
    assert not [name for name in names(test) if "@GRAD" in name or "moment" in name]
    exe = start()
    feed = {"x": np.ones((2, 4), "float32"), "label": np.zeros((2, 1), "int64")}
    before = pm.global_scope().get("fc_0.w_0")
    first, second = (exe.run(test, feed=feed, fetch_list=[logits])[0] for _ in range(2))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(pm.global_scope().get("fc_0.w_0"), before)


def test_two_halves_of_a_program_are_all_of_it():
    x = pm.layers.data("x", shape=[-1, 4])
    hidden = pm.layers.fc(x, 3, act="relu")
    merged = pm.optimizer.GradientMerge(pm.optimizer.Adam(0.1, grad_clip=pm.clip.GradientClipByGlobalNorm(1.0)), 2)
    merged.minimize(pm.layers.mean(hidden))
    main, of_training = pm.default_main_program(), 2 | 16  # the roles of optimizers and their schedules
    rest, training = main.without(of_training), main.only(of_training)
    assert op_types(rest) and op_types(training)
    assert sorted(op_types(rest) + op_types(training)) == sorted(op_types(main))
    assert "adam" in [op.type for block in training.blocks for op in block.ops]
    assert {*names(rest), *names(training)} == {*names(main)} and hidden.name not in names(training)


def test_prune_keeps_what_the_fetches_need():
    x, logits, loss = trained_network()
    pruned = pm.default_main_program().prune([x], [logits])
    assert op_types(pruned) == ["mul", "elementwise_add", "relu", "dropout", "mul", "elementwise_add"]
    assert "label" not in names(pruned)
    with pytest.raises(pm.ProgramError, match="'label', which is neither fed nor computed"):
        pm.default_main_program().prune([x], [loss])
    with pytest.raises(pm.ProgramError, match="did you mean 'fc_1.tmp_1'"):
        pm.default_main_program().prune([x], ["fc_1.tmp_9"])


def test_prune_takes_the_value_at_the_end():
    x = pm.layers.data("x", [2])
    total = x + 1.0
    pm.layers.assign(total * 2.0, total)  # total is written twice
    pruned = pm.default_main_program().prune([x], [total])
    (value,) = start().run(pruned, feed={"x": np.zeros(2, "float32")}, fetch_list=[total])
    np.testing.assert_array_equal(value, [2, 2])


def test_a_change_is_run():
    x = pm.layers.data("x", [2])
    y = pm.layers.scale(x, scale=2.0)
    main, feed = pm.default_main_program(), {"x": np.ones(2, "float32")}
    assert run(y, **feed)[0][0] == 2
    main.global_block().ops[0].set_attr("scale", 3.0)
    assert run(y, **feed)[0][0] == 3
    main.global_block().append_op("assign", {"X": x}, {"Out": y})
    assert run(y, **feed)[0][0] == 1
    main.global_block().remove_op(1)
    assert run(y, **feed)[0][0] == 3


def test_text_has_one_line_an_operator():
    x = pm.layers.data("x", [-1, 4])
    pm.layers.fc(x, 2, act="tanh", bias_attr=False)
    lines = str(pm.default_main_program()).splitlines()
    assert lines[:2] == ["param fc_0.w_0 float32[4, 2]", "data  x float32[-1, 4]"]
    place = lines[2].split("  # ")[1]
    assert lines[2].startswith("fc_0.tmp_0 float32[-1, 2] = mul(X=x, Y=fc_0.w_0)  # ")
    assert place.partition(":")[0].endswith("test_program.py")
    assert lines[3:] == [f"fc_0.tmp_1 float32[-1, 2] = tanh(X=fc_0.tmp_0)  # {place}"]


def test_callstack_is_the_users_line():
    y = pm.layers.relu(pm.layers.data("x", [2]))
    place, code = y.block.ops[0].attr("op_callstack")
    assert place.startswith('  File "') and place.endswith(", in test_callstack_is_the_users_line")
    assert code == '    y = pm.layers.relu(pm.layers.data("x", [2]))'


@pytest.mark.parametrize(
    "mistake, error, words",
    [
        (lambda x: pm.layers.elementwise_add(x, pm.layers.data("y", [3])), pm.ShapeError, "elementwise_add:"),
        (lambda x: pm.layers.scale(x, scale="two"), pm.ProgramError, "attribute 'scale' is 'two', it must be a number"),
        (lambda x: pm.layers.relu(3.0), pm.ProgramError, "relu: X is 3.0, it must be a Variable"),
        (lambda x: pm.layers.fc(x, 3, act="rleu"), pm.ProgramError, "did you mean 'relu'"),
        (lambda x: pm.layers.fc(pm.layers.data("n", [-1, -1]), 3), pm.ShapeError, "dimension 1 of 'n' [-1, -1] must be known"),
        (lambda x: x.block.append_op("relu", {"X": "z"}, {"Out": "y"}), pm.ProgramError, "no variable 'z'"),
    ],
)
def test_errors_end_at_the_users_line(mistake, error, words):
    x = pm.layers.data("x", [-1, 4])
    with pytest.raises(error) as caught:
        mistake(x)
    last = str(caught.value).splitlines()[-1]
    assert words in str(caught.value)
    assert last.startswith("  added at ") and "test_program.py:" in last and last.count("(lambda x: ") == 1


def test_persistables_keep_their_shape():
    weight = pm.layers.create_parameter([2, 3])
    with pytest.raises(pm.ShapeError, match="but 'create_parameter_0.w_0' is"):
        weight.block.append_op("fill_constant", {}, {"Out": weight}, {"shape": [2, 2]})


def test_guards_set_device_and_role():
    x = pm.layers.data("x", [2])
    with pm.device_guard("cpu"), pm.op_role_guard(2, [x]):
        pm.layers.relu(x)
    pm.layers.relu(x)
    inside, outside = pm.default_main_program().global_block().ops
    assert (inside.attr("op_device"), inside.attr("op_role"), inside.attr("op_role_var")) == ("cpu", 2, ["x"])
    assert (outside.attr("op_device"), outside.attr("op_role"), outside.attr("op_role_var")) == (None, 0, None)
    with pytest.raises(pm.ProgramError, match="'cpu', 'gpu', 'gpu:N' or 'emulated:N'"), pm.device_guard("tpu"):
        pass


def test_guards_come_back_after_an_error():
    before = pm.default_main_program()
    with pytest.raises(ZeroDivisionError), pm.program_guard(pm.Program()), pm.device_guard("cpu"):
        raise ZeroDivisionError
    assert pm.default_main_program() is before
    assert pm.layers.relu(pm.layers.data("x", [2])).block.ops[0].attr("op_device") is None


def test_random_seed_repeats_but_not_within_a_program():
    def weights(random_seed):
        with pm.program_guard(pm.Program(), pm.Program()), pm.scope_guard(pm.Scope()) as scope:
            pm.default_startup_program().random_seed = random_seed
            x = pm.layers.data("x", [-1, 4])
            pm.layers.fc([x, x], 4)
            start()
            return scope.get("fc_0.w_0"), scope.get("fc_0.w_1")

    (first, second), again, other = weights(7), weights(7), weights(8)
    np.testing.assert_array_equal((first, second), again)
    assert (first != second).all() and (first != other[0]).all()


@pytest.mark.parametrize(
    "compute, expected",
    [
        (lambda x: x + x, [2, -4]),
        (lambda x: x + 1, [2, -1]),
        (lambda x: 1 + x, [2, -1]),
        (lambda x: x - x * 2, [-1, 2]),
        (lambda x: 1 - x, [0, 3]),
        (lambda x: -x, [-1, 2]),
        (lambda x: x / 4, [0.25, -0.5]),
        (lambda x: 2 / x, [2, -1]),
        (lambda x: x * x, [1, 4]),
        (lambda x: x / x, [1, 1]),
        (lambda x: x @ x, 5),
    ],
)
def test_arithmetic_of_variables(compute, expected):
    (value,) = run(compute(pm.layers.data("x", [2])), x=np.array([1, -2], "float32"))
    np.testing.assert_array_equal(value, np.asarray(expected, "float32"))


def test_arithmetic_refuses_to_cut_fractions_off():
    with pytest.raises(pm.ProgramError, match="cast it to float32"):
        pm.layers.data("n", [2], dtype="int64") * 0.5

"""pm.summary: shapes, counts, bytes and totals of programs that are built, trained, and loaded."""

import re

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini import _core
from small_model import SmallModel

L = pm.layers


def images():
    image = L.data("image", shape=[-1, 3, 12, 12])
    hidden = L.conv2d(image, 16, 3, act="relu")
    return L.fc(hidden, 10)


def test_rows_are_layers():
    images()
    summary = pm.summary(batch=2)
    conv, fc = summary.rows
    assert (conv.layer, conv.operators) == ("conv2d_0", ("conv2d", "elementwise_add", "relu"))
    assert re.fullmatch(r".*test_summary\.py:\d+", conv.line)
    assert conv.output_shape == (2, 16, 10, 10) and fc.output_shape == (2, 10)
    assert conv.parameters == 16 * 3 * 3 * 3 + 16 and conv.parameter_bytes == 4 * conv.parameters
    # 2 * outputs * the filter, then a bias and a maximum for each output
    assert conv.flops == 2 * (2 * 16 * 10 * 10) * (3 * 3 * 3) + 2 * (2 * 16 * 10 * 10)
    assert conv.activation_bytes == 3 * 4 * (2 * 16 * 10 * 10)
    assert fc.parameters == 1600 * 10 + 10 and fc.flops == 2 * 2 * 1600 * 10 + 2 * 10
    assert summary.flops == conv.flops + fc.flops and summary.trainable == conv.parameters + fc.parameters
    assert [row.operators for row in pm.summary(by="operator").rows][-2:] == [("mul",), ("elementwise_add",)]


def test_layers_of_one_line_are_rows_of_their_own():
    h = L.data("x", shape=[-1, 8])
    for _ in range(3):
        h = L.fc(h, 8)
    rows = pm.summary().rows
    assert [row.layer for row in rows] == ["fc_0", "fc_1", "fc_2"] and len({row.line for row in rows}) == 1


def test_a_shared_parameter_is_counted_once():
    x = L.data("x", shape=[-1, 8])
    for _ in range(2):
        L.fc(x, 8, param_attr=pm.ParamAttr(name="shared"), bias_attr=False)
    assert [row.parameters for row in pm.summary().rows] == [64, 0]


def test_shapes_follow_the_batch_through_a_reshape():
    x = L.data("x", shape=[-1, 6, 4])
    L.relu(L.reshape(x, [-1, 4]))
    assert pm.summary(batch=5).rows[-1].output_shape == (30, 4)


def test_totals_of_a_training_program():
    model = SmallModel(
        lambda loss: pm.optimizer.ParameterAverage(pm.optimizer.Momentum(0.1, 0.9), pm.averaging.Exponential(0.9)).minimize(loss)
    )
    summary = pm.summary(model.main, batch=8)
    elements = 6 * 5 + 5 + 5 * 3 + 3
    assert (summary.trainable, summary.frozen) == (elements, 0)
    velocity = 4 * elements
    assert summary.optimizer_bytes == velocity
    state = [name for name in model.scope.names() if "average" in name]
    of_parameters = sum(model.scope.get(name).nbytes for name in state if "_counters_" not in name and "_state_" not in name)
    assert sum(row.average_bytes for row in summary.rows) == of_parameters >= velocity
    assert summary.average_bytes == sum(model.scope.get(name).nbytes for name in state) > of_parameters
    # The gradient for x is not computed: one product in the first layer, two in the second.
    products = 2 * 8 * 6 * 5 + 2 * (2 * 8 * 5 * 3)
    assert products <= summary.backward_flops < products + 10 * 8 * 5
    assert summary.optimizer_flops >= 4 * elements
    assert all("momentum" not in row.operators for row in summary.rows)


def test_frozen_parameters_are_counted_apart():
    x = L.data("x", shape=[-1, 4])
    L.fc(x, 3, param_attr=pm.ParamAttr(trainable=False), bias_attr=False)
    summary = pm.summary()
    assert (summary.trainable, summary.frozen) == (0, 12)


def test_a_loaded_program_has_the_same_table(tmp_path):
    model = SmallModel()
    pm.io.save_program(tmp_path / "model", model.main, model.scope)
    loaded = pm.io.read_program(tmp_path / "model")
    assert pm.summary(loaded, 4).rows == pm.summary(model.main, 4).rows


def test_an_unknown_cost_is_a_dash():
    x = L.data("x", shape=[-1, 4])
    L.linear_chain_crf(x, L.data("label", shape=[-1, 1], dtype="int64"))
    summary = pm.summary()
    assert summary.rows[0].flops is None and summary.unknown_costs == 1, summary.rows
    assert summary._cells()[0][8] == "-" and "1 operators without a known cost" in str(summary)


def test_without_a_line_the_name_scope_is_shown():
    x = L.data("x", shape=[-1, 4])
    attrs = {"op_callstack": [], "op_namescope": "/encoder/block_0/"}
    pm.default_main_program().global_block().append_op("relu", {"X": x}, {"Out": "y"}, attrs)
    assert pm.summary().rows[0].line == "encoder/block_0"


def test_operators_of_another_build_and_without_attributes():
    x = L.data("x", shape=[-1, 1, 8, 8])
    L.relu(L.pool2d(x, 2))
    description = pm.default_main_program().describe()
    pool, relu = description["blocks"][0]["ops"]
    pool["attrs"] = [("ksize", 2, "two")]  # STRING
    relu["type"] = "later_relu"
    loaded = pm.Program.from_bytes(_core.encode_program(description))
    summary = pm.summary(loaded)
    assert [row.flops for row in summary.rows] == [None, None] and summary.unknown_costs == 2
    assert "later_relu" in loaded.to_dot()


def test_a_loop_has_rows_and_bytes_of_unknown_shapes_are_a_dash():
    x = L.data("x", shape=[-1, 4])
    i, n = L.fill_constant([1], "int64", 0), L.fill_constant([1], "int64", 3)
    L.while_loop(lambda i, h: i < n, lambda i, h: [i + 1, L.relu(h)], [i, x])
    types = [op for row in pm.summary(batch=2).rows for op in row.operators]
    assert "while" in types and "relu" in types
    # The number of rows depends on data.
    pm.default_main_program().global_block().append_op("where_index", {"Condition": x > 0}, {"Out": "where"})
    row = next(row for row in pm.summary().rows if "where_index" in row.operators)
    assert row.activation_bytes is None and "?" in str(pm.summary())


def test_the_plan_is_that_of_a_run():
    model = SmallModel()
    line = pm.summary(model.main, 8, plan=True).plan
    x, label = np.zeros((8, 6), "float32"), np.zeros((8, 1), "int64")
    assert line == model.exe.plan_text(model.main, {"x": x, "label": label}, [], model.scope).splitlines()[0]


def test_the_plan_of_16_bits_and_of_sizes_that_are_not_known():
    pm.layers.fc(pm.layers.data("x", [-1, 4], "bfloat16"), 3)
    assert pm.summary(plan=True).plan.startswith("1 steps")
    pm.layers.relu(pm.layers.data("open", [-1, -1]))
    with pytest.raises(pm.ProgramError, match=r"'open' is \[1, -1\], its size is not known"):
        pm.summary(plan=True)


def test_text_and_html_have_the_same_cells():
    images()
    summary = pm.summary()
    text, html = str(summary), summary._repr_html_()
    for word in ("conv2d_0", "16x10x10", "16,010", "parameters: 16,458 trainable"):
        assert word in text and word in html
    assert pm.default_main_program()._repr_html_() == html and html.count("<tr>") == 3
    assert repr(summary) == text


def test_html_is_escaped():
    L.fc(L.data("x", shape=[-1, 2]), 2, name="a<b>")
    assert "<b>" not in pm.default_main_program()._repr_html_()


@pytest.mark.parametrize("arguments", [{"batch": 0}, {"batch": True}, {"batch": "8"}, {"by": "line"}])
def test_wrong_arguments_are_refused(arguments):
    with pytest.raises(pm.ProgramError, match=next(iter(arguments))):
        pm.summary(**arguments)


def test_the_import_of_the_package_does_not_import_it(tmp_path):
    import subprocess
    import sys

    code = "import sys, paddle_mini; print([name for name in sys.modules if '.inspection' in name or '.loggers' in name])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_what_is_no_program_is_refused():
    with pytest.raises(pm.ProgramError, match="program is 'x', it must be a Program"):
        pm.summary("x")

"""Operators that are removed from the blocks of loops and branches when a program is pruned for a model."""

import numpy as np
import pytest

import paddle_mini as pm

L = pm.layers


def test_operators_in_blocks_of_which_nothing_is_read_are_left_out(tmp_path):
    """Removed as by PaddlePaddle's normalize_program: one after the other, including an `if` with its blocks."""
    x = L.data("x", [2])

    def step(y):
        unread = L.tanh(L.exp(y))
        L.cond(L.reduce_sum(unread) > 0.0, lambda: L.sin(unread), lambda: L.cos(y))
        return [y * 2.0]

    (out,) = L.while_loop(lambda y: L.reduce_sum(y) < 10.0, step, [x])
    pm.io.save_inference_model(tmp_path / "m", [x], [out])
    model, _, _ = pm.io.load_inference_model(tmp_path / "m")
    types = [[op.type for op in block.ops] for block in model.blocks]
    assert len(types) == 2 and not {"exp", "tanh", "conditional_block", "sin", "cos"} & set(types[1])
    assert {var.name for var in model.blocks[1].vars.values()} == {
        name for op in model.blocks[1].ops for name in op.input_names + op.output_names
    } & set(model.blocks[1].vars)
    (found,) = pm.Executor(pm.CPUPlace()).run(model, {"x": np.float32([1, 2])}, [out.name])
    np.testing.assert_array_equal(found, [4, 8])


def test_what_a_later_step_of_a_loop_or_another_run_reads_is_kept():
    x = L.data("x", [1])
    kept = L.create_global_var([1], 0.0, "float32", persistable=True, name="kept")
    seen = L.fill_constant([1], "float32", 0.0)

    def step(y):
        before = L.scale(seen, scale=1.0)
        L.assign(L.exp(y), output=seen)  # read by the next step
        L.assign(L.sin(y), output=kept)
        return [y + 1.0 + 0.0 * before]

    (out,) = L.while_loop(lambda y: y < 3.0, step, [x])
    pruned = pm.default_main_program().prune([x], [out])
    assert {"exp", "sin"} <= {op.type for op in pruned.blocks[1].ops}


def nested(kind, body, x):
    """The variables `body(x)` of a block inside the block of a loop or branch."""
    if kind == "while":
        return L.while_loop(lambda y: L.reduce_sum(y) < 10.0, lambda y: [body(y)], [x])[0]
    return L.cond(L.reduce_sum(x) < 10.0, lambda: nested("while", body, x), lambda: x)


@pytest.mark.parametrize("kind", ["while", "branch"])
def test_what_only_removed_operators_read_is_left_out(tmp_path, kind):
    """A parameter, and a variable with the operator that computes it."""
    x = L.data("x", [2])
    computed = L.exp(x)

    def body(y):
        L.tanh(L.fc(y, 2, bias_attr=False) + computed)
        return y * 2.0

    out = nested(kind, body, L.reshape(x, [1, 2]))
    executor = pm.Executor(pm.CPUPlace())
    executor.run(pm.default_startup_program())
    pm.io.save_inference_model(tmp_path / "m", [x], [out])
    model, _, _ = pm.io.load_inference_model(tmp_path / "m")
    assert model.all_parameters() == [] and "exp" not in {op.type for op in model.global_block().ops}
    assert computed.name not in model.global_block().vars
    (found,) = executor.run(model, {"x": np.float32([1, 2])}, [out.name])
    np.testing.assert_array_equal(found, [[4, 8]])

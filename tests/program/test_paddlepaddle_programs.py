# The same network appends the same operators here as in PaddlePaddle 2.6.2: types, ports, names of variables, roles.
from pathlib import Path

import numpy as np
import pytest

import paddle_mini as pm

CASES = Path(__file__).resolve().parents[1] / "golden" / "cases"


def regression(out, **adam):
    loss = pm.layers.mean(pm.layers.square_error_cost(out, pm.layers.data("y", [-1, out.shape[-1]])))
    pm.optimizer.Adam(0.05, epsilon=0.01, **adam).minimize(loss)


def clip_by_global_norm():
    hidden = pm.layers.fc(pm.layers.data("x", [-1, 5]), 7, act="tanh")
    regression(pm.layers.fc(hidden, 2), grad_clip=pm.clip.GradientClipByGlobalNorm(0.25))


def sparse_adam_lazy():
    ids = pm.layers.data("ids", [-1, 3], dtype="int64")
    rows = pm.layers.embedding(ids, [9, 4], is_sparse=True)
    regression(pm.layers.fc(pm.layers.reduce_sum(rows, dim=1, name="sum_0"), 1), lazy_mode=True)


def rows(program, temporaries_of_clipping):
    """(type, inputs, outputs, role, the variables it serves) of each operator."""

    def names(ports):
        return {
            port: [name for name in args if not name.startswith(temporaries_of_clipping)] for port, args in ports.items() if args
        }

    return [
        (
            op.type.replace("reduce_mean", "mean"),  # paddle.mean emits reduce_mean over all axes
            names(op.inputs),
            names(op.outputs),
            op.attr("op_role"),
            op.attr("op_role_var") or [],
        )
        for op in program.global_block().ops
    ]


@pytest.mark.parametrize("build", [clip_by_global_norm, sparse_adam_lazy])
def test_the_operators_are_paddlepaddles(build):
    build()
    theirs = pm.Program.from_bytes((CASES / build.__name__ / "main.pb").read_bytes())
    differing = ("add_n", "sum_0.tmp_0", "elementwise_", "fill_constant") if "clip" in build.__name__ else ()
    assert rows(pm.default_main_program(), differing) == rows(theirs, differing)


@pytest.mark.parametrize("name", ["m_lod_sentiment_conv", "m_lstm_lm"])
def test_the_forward_pass_of_their_program_has_gradients(name):
    """It declares MaxIndex and Reserve with other element types or ranks than they have."""
    theirs = pm.Program.from_bytes((CASES / name / "main.pb").read_bytes())
    trained = [op.attr("op_role_var")[0] for op in theirs.global_block().ops if op.type in ("sgd", "adam", "momentum")]
    test = theirs.clone(for_test=True)
    (loss,) = [op.output_names[0] for op in theirs.global_block().ops if op.attr("op_role") == 256][-1:]
    with pm.program_guard(test, pm.Program()):
        found = pm.gradients(test.global_block().var(loss), trained)
    assert trained and all(gradient is not None for gradient in found)


def test_gradients_follow_the_ranks_that_values_have():
    """PaddlePaddle declares the determinants of several matrices with the shape of the matrices; layers then declare the same."""
    x = pm.layers.data("x", [2, 3, 3])
    x.stop_gradient = False
    made = pm.default_main_program().global_block().create_var("made", dtype="float32", shape=[2])
    made.block.append_op("determinant", {"Input": x}, {"Out": made})
    made.set_info({**made.info(), "shape": [2, 3, 3]})
    theirs = pm.Program.from_bytes(pm.default_main_program().to_bytes())
    block = theirs.global_block()
    with pm.program_guard(theirs, pm.Program()):
        loss = pm.layers.reduce_sum(block.var("made") * block.var("made"))
        (gradient,) = pm.gradients(loss, block.var("x"))
    x = np.random.RandomState(0).uniform(-1, 1, (2, 3, 3))
    (found,) = pm.Executor().run(theirs, {"x": x.astype("float32")}, [gradient], pm.Scope())
    squared = np.linalg.det(x)[:, None, None] ** 2
    np.testing.assert_allclose(found, 2 * squared * np.linalg.inv(x).transpose(0, 2, 1), rtol=1e-4)

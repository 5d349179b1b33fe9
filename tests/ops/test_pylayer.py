"""pylayer, pylayer_grad: a block with a gradient block of its own, as PaddlePaddle's static_pylayer writes it."""

import numpy as np
import pytest

import paddle_mini as pm
from descriptions import BLOCK, block, op, program_bytes, var
from paddle_mini import _core

BLOCKS = 10
X = np.array([1.0, -2, 3], "float32")
NAMES = ["x", "x@GRAD", "y", "y@GRAD", "out", "out@GRAD"]


def program(gradient_ops, gradient_block=2, blocks=(1, 2)):
    """out = x y; the gradient block decides what its gradient is."""
    vars = [*(var(name, [3], need_check_feed="@" not in name) for name in NAMES), var("scopes", kind=11)]
    ops = [
        op("pylayer", {"Input": ["x", "y"]}, {"Out": ["out"], "Scope": ["scopes"]}, ("blocks", BLOCKS, list(blocks))),
        op("fill_any_like", {"X": ["out"]}, {"Out": ["out@GRAD"]}, ("value", 1, 1.0)),
        op(
            "pylayer_grad",
            {"Input": ["x", "y"], "Out@GRAD": ["out@GRAD"], "Scope": ["scopes"]},
            {"Input@GRAD": ["x@GRAD", "y@GRAD"]},
            ("backward_block", BLOCK, gradient_block),
        ),
    ]
    forward = [op("elementwise_mul", {"X": ["x"], "Y": ["y"]}, {"Out": ["product"]})]
    forward.append(op("assign", {"X": ["product"]}, {"Out": ["out"]}))
    inner = [var("product", [3])], [var("x@GRAD", [3]), var("y@GRAD", [3])]
    gradient = {**block(inner[1], gradient_ops, 2, 0), "forward_block_idx": 1}
    return pm.Program.from_bytes(program_bytes(block(vars, ops), block(inner[0], forward, 1, 0), gradient))


def scaled(name, factor):
    return op("scale", {"X": ["out@GRAD"]}, {"Out": [f"{name}@GRAD"]}, ("scale", 1, factor))


def run(main):
    return pm.Executor().run(main, {"x": X, "y": X + 1}, ["out", "x@GRAD", "y@GRAD"])


def test_the_gradient_is_that_of_the_block():
    out, to_x, to_y = run(program([scaled("x", 3.0), scaled("y", -1.0)]))
    np.testing.assert_array_equal(out, X * (X + 1))
    np.testing.assert_array_equal(to_x, np.full(3, 3, "float32"))
    np.testing.assert_array_equal(to_y, np.full(3, -1, "float32"))


def test_values_of_the_block_are_there_for_its_gradient():
    reads = op("elementwise_mul", {"X": ["out@GRAD"], "Y": ["product"]}, {"Out": ["x@GRAD"]})
    np.testing.assert_array_equal(run(program([reads]))[1], X * (X + 1))


def test_an_input_without_a_gradient_has_zeros():
    np.testing.assert_array_equal(run(program([scaled("x", 3.0)]))[2], np.zeros(3, "float32"))


def test_without_its_gradient_operator_the_gradient_block_is_not_read():
    """PaddlePaddle's static_pylayer writes the block before the program has gradients."""
    vars = [var(name, [3], need_check_feed=True) for name in ("x", "y", "out")] + [var("scopes", kind=11)]
    ops = [op("pylayer", {"Input": ["x", "y"]}, {"Out": ["out"], "Scope": ["scopes"]}, ("blocks", BLOCKS, [1, 2]))]
    forward = [op("elementwise_mul", {"X": ["x"], "Y": ["y"]}, {"Out": ["out"]})]
    gradient = {**block([var("x@GRAD", [3])], [scaled("x", 3.0)], 2, 0), "forward_block_idx": 1}
    main = pm.Program.from_bytes(program_bytes(block(vars, ops), block([], forward, 1, 0), gradient))
    (out,) = pm.Executor().run(main, {"x": X, "y": X + 1}, ["out"])
    np.testing.assert_array_equal(out, X * (X + 1))


def test_no_other_operator_may_have_the_block():
    with pytest.raises(pm.ProgramError, match="block 1, which another operator has"):
        _core.Program(program([scaled("x", 3.0)], gradient_block=1).to_bytes())

"""verify: invalid programs from bytes are rejected before anything runs."""

import numpy as np
import pytest

import paddle_mini as pm
from descriptions import BLOCK, FLOAT, INT, STRING, block, op, program_bytes, var
from paddle_mini import _core

X, Y = var("x", [-1, 4], need_check_feed=True), var("y", [-1, 4])
RELU = op("relu", {"X": ["x"]}, {"Out": ["y"]})

REFUSED = {
    "no blocks": ([], "empty"),
    "block index": ([block([X, Y], [RELU], idx=3)], "block 0 has index 3"),
    "root with a parent": ([block([X, Y], [RELU], parent=5)], "parent 5"),
    "parent after child": ([block([X, Y], [RELU]), block([], [], idx=1, parent=2), block([], [], idx=2, parent=0)], "parent 2"),
    "parent is itself": ([block([X, Y], [RELU]), block([], [], idx=1, parent=1)], "parent 1"),
    "nesting": ([block([], [], idx=i, parent=i - 1) for i in range(80)], "nested deeper"),
    "unknown operator": ([block([X, Y], [op("reluu", {"X": ["x"]}, {"Out": ["y"]})])], "did you mean 'relu'"),
    "empty type": ([block([X, Y], [op("", {}, {})])], "not known"),
    "long type": ([block([X, Y], [op("a" * 100000, {}, {})])], "not known"),
    "undeclared input": ([block([Y], [RELU])], "'x', which the program does not declare"),
    "undeclared output": ([block([X], [RELU])], "'y', which the program does not declare"),
    "missing input": ([block([X, Y], [op("relu", {}, {"Out": ["y"]})])], "input X is missing"),
    "missing output": ([block([X, Y], [op("relu", {"X": ["x"]}, {})])], "output Out is missing"),
    "empty port": ([block([X, Y], [op("relu", {"X": []}, {"Out": ["y"]})])], "input X is missing"),
    "unknown port": ([block([X, Y], [op("relu", {"X": ["x"], "Z": ["x"]}, {"Out": ["y"]})])], "no input 'Z'"),
    "two variables in one port": ([block([X, Y], [op("relu", {"X": ["x", "x"]}, {"Out": ["y"]})])], "takes one variable"),
    "declared twice": ([block([X, X, Y], [RELU])], "declared twice"),
    "element type": ([block([var("x", [2], dtype=127), Y], [])], "data_type is missing"),
    "negative dimension": ([block([var("x", [-5, 3], need_check_feed=True)], [])], "-5"),
    "product overflows": ([block([var("x", [2**32, 2**32])], [])], "too many elements"),
    "bytes overflow": ([block([var("x", [2**62, 4])], [])], "too many elements"),
    "rank": ([block([var("x", [1] * 12)], [])], "at most 9 dimensions"),
    "lod level": ([block([var("x", [2], lod_level=-1)], [])], "lod_level"),
    "control character": ([block([var("x\n\x1b[31m", [2])], [])], "control character"),
    "long name": ([block([var("x" * 5000, [2])], [])], "5000 bytes"),
    "attribute type": ([block([X, Y], [op("scale", {"X": ["x"]}, {"Out": ["y"]}, ("scale", STRING, "2"))])], "STRING"),
    "attribute range": (
        [block([X, Y], [op("mul", {"X": ["x"], "Y": ["x"]}, {"Out": ["y"]}, ("x_num_col_dims", INT, 0))])],
        "at least 1",
    ),
    "not a number": (
        [block([X, Y], [op("dropout", {"X": ["x"]}, {"Out": ["y"], "Mask": ["y"]}, ("dropout_prob", FLOAT, float("nan")))])],
        "nan",
    ),
    "required attribute": ([block([X, Y], [op("cast", {"X": ["x"]}, {"Out": ["y"]})])], "is missing"),
    "sub-block not there": ([block([X, Y], [op("relu", {"X": ["x"]}, {"Out": ["y"]}, ("sub_block", BLOCK, 9))])], "block 9"),
    "sub-block is its own": ([block([X, Y], [op("relu", {"X": ["x"]}, {"Out": ["y"]}, ("sub_block", BLOCK, 0))])], "block 0"),
}


@pytest.mark.parametrize("blocks, words", REFUSED.values(), ids=REFUSED)
def test_refuses(blocks, words):
    with pytest.raises(pm.ProgramError) as error:
        _core.Program(program_bytes(*blocks))
    message = str(error.value)
    assert words in message
    assert len(message.splitlines()) <= 12 and len(message) < 2000
    assert "\x1b" not in message


def test_names_operator_and_line():
    bad = op(
        "relu",
        {"X": ["x"]},
        {"Out": ["nowhere"]},
        ("op_callstack", 5, ['  File "train.py", line 7, in <module>', "    y = pm.layers.relu(x)"]),
    )
    with pytest.raises(pm.ProgramError) as error:
        _core.Program(program_bytes(block([X, Y], [RELU, bad])))
    assert str(error.value).splitlines()[1:] == [
        "  in op #1 relu -> 'nowhere', block 0",
        "  added at train.py:7: y = pm.layers.relu(x)",
    ]


def test_accepts_attributes_it_does_not_know_and_numbers_of_a_wider_type():
    ops = [op("scale", {"X": ["x"]}, {"Out": ["y"]}, ("use_mkldnn", 6, True), ("scale", INT, 2))]
    handle = _core.Program(program_bytes(block([X, Y], ops)))
    (value,) = _core.Executor("cpu").run(_core.Signature(handle, ("x",), ("y",)), _core.Scope(), (np.ones((2, 4), "float32"),))
    assert (value == 2).all()


@pytest.mark.parametrize(
    "hole",
    [
        op("cast", {"X": ["@EMPTY@"]}, {"Out": ["y"]}, ("in_dtype", INT, 5), ("out_dtype", INT, 5)),
        op("relu", {"X": ["x"]}, {"Out": ["@EMPTY@"]}),
        op("sum", {"X": ["x", "@EMPTY@"]}, {"Out": ["y"]}),
    ],
    ids=["input", "output", "list"],
)
def test_a_hole_is_an_absent_variable(hole):
    with pytest.raises(pm.ProgramError, match="is missing|has a hole"):
        _core.Program(program_bytes(block([X, Y], [hole])))


def test_selected_rows_only_where_the_schema_accepts_them():
    vars = [var("w", [5, 2], kind=8, persistable=True), var("y", [5, 2])]
    scope = _core.Scope()
    scope.set_rows("w", [4], np.ones((1, 2), "float32"), 5)
    handle = _core.Program(program_bytes(block(vars, [op("softmax", {"X": ["w"]}, {"Out": ["y"]})])))
    with pytest.raises(pm.ShapeError, match="X is selected rows, it must be a tensor"):
        _core.Executor("cpu").run(_core.Signature(handle, (), ("y",)), scope, ())

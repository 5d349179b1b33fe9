"""Bytes that are not a program, and programs that are too large for their content: rejected, and in time."""

import time

import numpy as np
import pytest

import paddle_mini as pm
from descriptions import FLOAT, STRING, block, op, program_bytes, var
from paddle_mini import _core

X, Y, Z = var("x", [-1, 4], need_check_feed=True), var("y", [-1, 4]), var("z", [-1, 4])
RELU = op("relu", {"X": ["x"]}, {"Out": ["y"]})
ONES = np.ones((2, 4), "float32")


def refusal(data):
    with pytest.raises(pm.ProgramError) as error:
        _core.Program(data)
    message = str(error.value)
    assert len(message.splitlines()) <= 12 and len(message) < 2000
    return message


def test_every_cut_is_refused():
    data = program_bytes(block([X, Y], [RELU]))
    for length in range(len(data)):
        refusal(data[:length])
    _core.Program(data)


NO_PROGRAM = {"empty": b"", "random": np.random.RandomState(0).bytes(2048), "64 MB": b"\xff" * (64 << 20)}


@pytest.mark.parametrize("data", NO_PROGRAM.values(), ids=NO_PROGRAM)
def test_bytes_that_are_no_program(data):
    assert "not a ProgramDesc" in refusal(data)


ODD = {
    "a port twice": ({**RELU, "inputs": [("X", ["x"]), ("X", ["x"])]}, "input 'X' occurs twice"),
    "an attribute twice": ({**RELU, "attrs": [("scale", FLOAT, 1.0), ("scale", FLOAT, 2.0)]}, "attribute 'scale' occurs twice"),
    "a NUL byte": ({**RELU, "type": "re\0lu\x1b[31m"}, "'re?lu?[31m'"),
    "a type of 10 MB": ({**RELU, "type": "a" * 10_000_000}, "is not known"),
    "a million variables": ({**RELU, "inputs": [("X", ["x"] * 1_000_000)]}, "input X takes one variable, not 1000000"),
    "a call stack of 10 MB": (
        {**RELU, "outputs": [("Out", ["no"])], "attrs": [("op_callstack", 5, ['  File "a.py", line 7, in f', "y" * 10_000_000])]},
        "'no', which the program does not declare",
    ),
}


@pytest.mark.parametrize("odd, words", ODD.values(), ids=ODD)
def test_operators_that_are_odd(odd, words):
    message = refusal(program_bytes(block([X, Y], [odd])))
    assert words in message and "\x1b" not in message


RUNS = {
    "a device that is not there": (
        [{**RELU, "attrs": [("op_device", STRING, "gpu:999")]}],
        ("y",),
        pm.DeviceError,
        "device 'gpu:999' is not available",
    ),
    "a device that is none": (
        [{**RELU, "attrs": [("op_device", STRING, "../../x")]}],
        ("y",),
        pm.DeviceError,
        "'../../x' is not a device",
    ),
    "an order that can't be": (
        [op("relu", {"X": ["z"]}, {"Out": ["y"]}), op("relu", {"X": ["x"]}, {"Out": ["z"]})],
        ("y",),
        pm.OpError,
        "'z' has no value: no operator before this one makes it",
    ),
    "a circle": (
        [op("relu", {"X": ["y"]}, {"Out": ["z"]}), op("relu", {"X": ["z"]}, {"Out": ["y"]})],
        ("y",),
        pm.OpError,
        "'y' has no value",
    ),
    "a fetch of nothing": ([RELU], ("z",), pm.OpError, "fetch 'z' has no value"),
}


@pytest.mark.parametrize("ops, fetches, kind, words", RUNS.values(), ids=RUNS)
def test_refused_when_it_runs(ops, fetches, kind, words):
    handle, scope = _core.Program(program_bytes(block([X, Y, Z], ops))), _core.Scope()
    with pytest.raises(kind) as error:
        _core.Executor("cpu").run(_core.Signature(handle, ("x",), fetches), scope, (ONES,))
    assert words in str(error.value) and len(str(error.value).splitlines()) <= 12
    assert scope.names() == []


def test_an_input_that_is_read_later_is_not_overwritten():
    """relu may write over its input; here that input is read again, and is a parameter besides."""
    vars = [var("p", [2, 4], persistable=True), Y, Z]
    ops = [
        op("scale", {"X": ["p"]}, {"Out": ["y"]}, ("scale", FLOAT, -1.0)),
        op("relu", {"X": ["y"]}, {"Out": ["z"]}),
        op("elementwise_add", {"X": ["y"], "Y": ["z"]}, {"Out": ["z"]}),
    ]
    scope = _core.Scope()
    scope.set("p", ONES)
    (value,) = _core.Executor("cpu").run(_core.Signature(_core.Program(program_bytes(block(vars, ops))), (), ("z",)), scope, ())
    assert (value == -1).all() and (scope.get("p") == 1).all()


def test_many_operators_load_in_time():
    count = 50_000
    data = program_bytes(block([X, Y], [RELU] * count))
    start = time.process_time()
    _core.Program(data)
    assert time.process_time() - start < 60e-6 * count  # some 2 us per operator: quadratic time must not occur

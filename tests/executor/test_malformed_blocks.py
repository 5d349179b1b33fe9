"""Invalid control flow: each case is rejected by name, in at most twelve lines, and the scope stays as it was."""

import signal

import numpy as np
import pytest

import paddle_mini as pm
from block_programs import (
    ARRAY,
    INT64,
    STRINGS,
    VARS,
    branch,
    constant,
    inner,
    loop,
    loop_gradient,
    looping,
    one_step,
    plain,
    read,
    recurring,
    scale,
    scopes_of_another_block,
    step_gradients,
    steps,
    write,
)
from descriptions import INT, block, op, program_bytes, var
from paddle_mini import _core

X = np.ones((2, 4), "float32")
P, Q = np.ones(1, "float32"), np.zeros(100000, "float32")

CHANGE = op("increment", {"X": ["p"]}, {"Out": ["p"]})
REPLACE = op("select_input", {"X": ["q", "q"], "Mask": ["i"]}, {"Out": ["p"]})

REFUSED = {
    "an array where a tensor is needed": (
        plain(write(), op("relu", {"X": ["a"]}, {"Out": ["y"]})),
        "relu: X is tensor array, it must be a tensor",
    ),
    "scopes where a tensor is needed": (
        plain(constant("c", 0, 0), loop(), op("relu", {"X": ["s"]}, {"Out": ["y"]})),
        "X is step scopes",
    ),
    "scopes become a tensor": (
        plain(constant("c", 0, 0), loop(scopes="y")),
        "'y' would be step scopes, the program declares tensor",
    ),
    "scopes become persistable": (plain(constant("c", 0, 0), loop(scopes="p")), "'p' would be step scopes"),
    "an array becomes persistable": (plain(write(array="p")), "'p' is persistable, it can't become tensor array"),
    "a tensor where a rank table is needed": (
        plain(op("max_sequence_len", {"RankTable": ["x"]}, {"Out": ["y"]})),
        "RankTable is tensor",
    ),
    "a rank table of no sequences": (plain(op("lod_rank_table", {"X": ["x"]}, {"Out": ["r"]})), "X has no sequences"),
    "an index below 0": (plain(constant("i", -1, INT64), write()), "write_to_array: I is -1"),
    "a huge index": (plain(constant("i", 2**40, INT64), write()), f"write_to_array: I is {2**40}"),
    "an element that is not there": (
        plain(write(), constant("i", 2**40, INT64), read()),
        f"element {2**40} of X 'a' has no value; it has 1 elements",
    ),
    "an index far beyond the end": (plain(constant("i", 2**24, INT64), write()), "Out has 0 elements"),
    "a tensor where an array is needed": (plain(read("x")), "X 'x' is tensor, expected a tensor array"),
    "the length of a tensor": (plain(op("lod_array_length", {"X": ["x"]}, {"Out": ["i"]})), "expected a tensor array"),
    "gradients of fewer steps": (step_gradients(shape=(1, 4)), "outputs@GRAD 'z' is tensor [1, 4] float32, expected"),
    "a gradient without steps": (step_gradients(shape=()), "outputs@GRAD 'z' is tensor [] float32, expected"),
    "an array of gradients": (step_gradients("a"), "outputs@GRAD 'a' is tensor array"),
    "scopes for gradients": (step_gradients("s"), "outputs@GRAD 's' is step scopes"),
    "steps that give arrays": (
        recurring(steps(outputs=["b"]), write(array="b"), vars=[var("b", kind=ARRAY)]),
        "step 0 gives tensor array, expected a tensor",
    ),
    "an index that is not an integer": (
        plain(op("write_to_array", {"X": ["x"], "I": ["x"]}, {"Out": ["a"]})),
        "I is [2, 4] float32",
    ),
    "a condition of another type": (plain(loop(condition="x")), "Condition is [2, 4] float32, one bool is needed"),
    "a condition without value": (plain(loop(condition="d")), "Condition 'd' has no value"),
    "a branch's condition of another type": (plain(branch(condition="i")), "Cond is [1] int64, one bool is needed"),
    "no block": (plain(op("while", {"Condition": ["c"]}, {"Out": ["y"]})), "attribute 'sub_block' is missing"),
    "a number for a block": (
        plain(op("while", {"Condition": ["c"]}, {"Out": ["y"]}, ("sub_block", INT, 1))),
        "is INT, expected BLOCK",
    ),
    "its own block": (plain(loop(inside=0)), "'sub_block' points to block 0"),
    "a block that is not there": (plain(loop(inside=9)), "'sub_block' points to block 9"),
    "a block of two operators": (plain(loop(), branch()), "block 1, which another operator has"),
    "a block with another parent": (
        [*plain(loop(inside=2)), inner(idx=2, parent=1)],
        "whose parent is block 1, expected block 0",
    ),
    "an undeclared name inside": (plain(branch(), body=[scale("x", "nowhere")]), "output Out names the variable 'nowhere'"),
    "an unknown operator inside": (plain(branch(), body=[op("scal", {"X": ["x"]}, {"Out": ["y"]})]), "did you mean 'scale'"),
    "read before it is written inside": (plain(branch(), body=[scale("z", "y"), scale("x", "z")]), "'z' has no value"),
    "a parameter that grows": (
        looping(op("concat", {"X": ["p", "p"]}, {"Out": ["p"]})),
        "'p' would be [2] float32, but it is [1] float32",
    ),
    "a parameter replaced, then a failure": (
        looping(CHANGE, REPLACE),
        "increment: X has shape [100000], it must have one element",
    ),
    "a parameter changed, then a failure": (
        looping(CHANGE, op("select_input", {"X": ["x", "x"], "Mask": ["i"]}, {"Out": ["y"]})),
        "Mask is 2",
    ),
    "gradients without names": (one_step(loop(), loop_gradient(names=())), "Out@GRAD has 1 variables, original_output_grad 0"),
    "more names than gradients": (
        one_step(loop(), loop_gradient(names=("y@GRAD", "b"))),
        "Out@GRAD has 1 variables, original_output_grad 2",
    ),
    "more gradients than inputs": (one_step(loop(), loop_gradient(wanted=("x@GRAD", "z"))), "X@GRAD has 2 variables, X 1"),
    "scopes as a gradient": (one_step(loop(), loop_gradient(out_grads=("s",))), "scale: X is step scopes"),
    "scopes of another block": (scopes_of_another_block(), "the step scopes are of another block"),
    "scopes replaced while they run": (
        one_step(loop(), loop_gradient(), gradient=[branch(3)], more=[inner(idx=3, parent=2)]),
        "the step scopes 's' are an input of this operator, and named in a block inside it",
    ),
    "states without names": (
        recurring(steps(initial=["z"], before=["h"])),
        "initial_states has 1 variables, ex_states 1, states 0",
    ),
    "a state that no step gives": (
        recurring(steps(initial=["z"], before=["h"], after=["k"])),
        "the block computes no value for 'k'",
    ),
    "an output that no step gives": (recurring(steps(outputs=["z"])), "the block computes no value for 'z'"),
    "steps of nothing": (recurring(steps(inputs=[])), "input inputs is missing"),
    "steps of an array": (recurring(steps(inputs=["a"])), "inputs 'a' has no dimension for steps"),
}


def run(blocks, scope, fetches=()):
    return _core.Executor("cpu", 0).run(_core.Signature(_core.Program(program_bytes(*blocks)), ("x",), fetches), scope, (X,))


@pytest.mark.parametrize("blocks, words", REFUSED.values(), ids=REFUSED)
def test_refuses(blocks, words):
    scope = _core.Scope()
    scope.set("p", P)
    scope.set("q", Q)
    with pytest.raises(pm.Error) as error:
        run(blocks, scope, ("y",))
    assert words in str(error.value)
    assert "in op #" in str(error.value) and len(str(error.value).splitlines()) <= 12
    assert scope.names() == ["p", "q"]
    assert scope.get("p").tobytes() == P.tobytes() and scope.get("q").tobytes() == Q.tobytes()


def test_the_same_programs_are_right_without_the_mistake():
    for blocks, fetch in [
        (one_step(loop(), loop_gradient()), "x@GRAD"),
        (recurring(steps()), "y"),
        (plain(write(), read()), "y"),
    ]:
        (value,) = run(blocks, _core.Scope(), (fetch,))
        assert value.shape == (2, 4)


def test_blocks_in_blocks_are_told_in_twelve_lines():
    call = ("op_callstack", STRINGS, ['  File "train.py", line 7, in <module>', "    cond(x)"])
    nested = [block(VARS, [constant("c", 1, 0), {**branch(), "attrs": [*branch()["attrs"], call]}])]
    for i in range(1, 40):
        nested.append(inner({**branch(i + 1), "attrs": [*branch(i + 1)["attrs"], call]}, idx=i, parent=i - 1))
    nested.append(inner(op("concat", {"X": ["x", "c"]}, {"Out": ["y"]}, call), idx=40, parent=39))
    with pytest.raises(pm.ShapeError) as error:
        run(nested, _core.Scope())
    lines = str(error.value).splitlines()
    assert len(lines) <= 12 and "in op #0 concat -> 'y', block 40" in lines[2] and "train.py:7" in lines[3]


@pytest.mark.parametrize("kind", [8, 9, 11, 12, 13, 17])
def test_only_tensors_are_fed(kind):
    handle = _core.Program(program_bytes(block([var("x", [-1, 4], kind=kind)], [])))
    with pytest.raises(pm.ShapeError, match="feed 'x' is tensor, the program declares"):
        _core.Executor("cpu", 0).run(_core.Signature(handle, ("x",), ()), _core.Scope(), (X,))


@pytest.mark.parametrize("name, kind", [("s", "step scopes"), ("r", "rank table")])
def test_what_is_no_value_is_not_fetched(name, kind):
    """It is detected before the run has changed anything."""
    scope = _core.Scope()
    scope.set("p", P)
    with pytest.raises(pm.OpError, match=f"{kind} can't be fetched"):
        run(plain(CHANGE, constant("c", 0, 0), loop()), scope, (name,))
    assert scope.get("p").tobytes() == P.tobytes()


def test_a_loop_without_operators_can_be_stopped():
    class Stop(Exception):
        pass

    def stop(signum, frame):
        raise Stop

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(Stop):
            run(plain(loop()), _core.Scope())
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

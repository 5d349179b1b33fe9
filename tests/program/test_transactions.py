"""A layer, a loop or a branch that fails while a program is built leaves no trace."""

import inspect
import random

import numpy as np
import pytest

import paddle_mini as pm
from no_trace import FailAfter, Fault, fails_after_each_operator, leaves_no_trace, programs
from paddle_mini.transaction import transaction

L = pm.layers


# Layer functions


def pool():
    """Variables and other values of many kinds, valid for some parameters and invalid for others."""
    L.data("matrix", [-1, 6])
    L.data("square", [6, 6])
    L.data("vector", [6])
    L.data("images", [-1, 3, 8, 8])
    L.data("volume", [-1, 2, 4, 4, 4])
    L.data("steps", [5, 4, 6])
    L.data("ids", [-1, 1], dtype="int64")
    L.data("indices", [4], dtype="int32")
    L.data("truth", [1], dtype="bool")
    L.data("words", [-1, 1], dtype="int64", lod_level=1)
    L.data("sequences", [-1, 6], lod_level=1)
    L.data("doubles", [-1, 6], dtype="float64")
    L.data("waves", [6, 6], dtype="complex64")
    variables = list(pm.default_main_program().global_block().vars.values())
    others = [
        None,
        0,
        1,
        2,
        3,
        -1,
        0.5,
        6,
        True,
        "relu",
        "rleu",
        "sum",
        [1, 2],
        [0],
        [0, 1],
        [-1, 6],
        [6, 6],
        "float32",
        "int64",
        "",
        1e30,
        -7,
        "NCHW",
        pm.ParamAttr(name="shared"),
        (3, 3),
        lambda *args: args[0] if args else None,
    ]
    return variables, others


def arguments_of(function, rng, variables, others):
    """Random arguments, mostly of the kind that the signature names."""
    given = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD) or (
            parameter.default is not parameter.empty and rng.random() < 0.7
        ):
            continue
        wants_variable = "Variable" in str(parameter.annotation)
        one = rng.choice(variables if (rng.random() < 0.9) == wants_variable else others)
        given[parameter.name] = [one] * rng.choice([1, 2]) if "List" in str(parameter.annotation) or rng.random() < 0.1 else one
    return given


FUNCTIONS = sorted(name for name in L.__all__ if inspect.isfunction(getattr(L, name)))


def test_no_layer_function_leaves_a_trace_of_arguments_that_it_refuses(monkeypatch):
    variables, others = pool()
    before, reached = programs(), set()
    for number, name in enumerate(FUNCTIONS):
        function, rng = getattr(L, name), random.Random(number)
        for _ in range(60):
            given = arguments_of(function, rng, variables, others)
            with monkeypatch.context() as patch:
                counter = FailAfter(patch)
                try:
                    with transaction():
                        function(**given)
                        raise Fault("it was right")
                except Exception:
                    if counter.seen:
                        reached.add(name)
            assert programs() == before, (name, given)
    # The others need arguments that random choice does not find: beam search, arrays, recurrences.
    assert len(reached) > 0.7 * len(FUNCTIONS), sorted(set(FUNCTIONS) - reached)


@pytest.mark.parametrize(
    "call",
    [
        lambda x, image: L.fc(x, 3, act="rleu"),
        lambda x, image: L.fc(x, 3, act="concat"),
        lambda x, image: L.fc(x, 3, act=max),
        lambda x, image: L.fc([x, 3], 3),
        lambda x, image: L.fc(x, 3, param_attr=[1, 2]),
        lambda x, image: L.fc(x, 3, bias_attr=pm.ParamAttr(initializer=pm.initializer.NumpyArrayInitializer(np.zeros(7)))),
        lambda x, image: L.conv2d(x, 3, 3),
        lambda x, image: L.conv2d(image, 3, 9),
        lambda x, image: L.conv2d(image, 3, 3, act="rleu"),
        lambda x, image: L.batch_norm(image, act="rleu"),
        lambda x, image: L.embedding(x, [7, 3]),
        lambda x, image: pm.nets.simple_img_conv_pool(image, 3, 3, 99, 1),
        lambda x, image: pm.nets.glu(x, dim=7),
        lambda x, image: x[0, None, 9],
        lambda x, image: L.multi_head_attention(x, x, x, 8, 3),
        lambda x, image: L.accuracy(x, x),
    ],
)
@pytest.mark.parametrize("inside", [False, True])
def test_a_layer_that_fails_halfway(call, inside):
    """In the global block, and in the block of a loop, which continues after the error is caught."""
    x, image = L.data("x", [-1, 6]), L.data("image", [-1, 3, 8, 8])
    if not inside:
        assert isinstance(leaves_no_trace(lambda: call(x, image)), pm.Error)
        return
    i, n = L.fill_constant([1], "int64", 0), L.fill_constant([1], "int64", 3)
    go_on = L.less_than(i, n)
    with L.While(go_on).block():
        L.increment(i)
        assert isinstance(leaves_no_trace(lambda: call(x, image)), pm.Error)
        L.assign(L.less_than(i, n), output=go_on)
    assert [op.type for op in pm.default_main_program().blocks[1].ops] == ["increment", "less_than", "assign"]
    assert pm.Executor().run(fetch_list=[i])[0] == 3


# Blocks


def test_a_loop_whose_body_fails_is_gone(monkeypatch):
    x = L.fill_constant([1], "int64", 0)
    go_on = L.less_than(x, L.fill_constant([1], "int64", 3))

    def fails_inside():
        with L.While(go_on).block():
            L.increment(x)
            L.fc(L.cast(x, "float32"), 3, act="rleu")

    def never_writes_its_condition():
        with L.While(go_on).block():
            L.increment(x)

    def interrupted():
        with L.ConditionalBlock(go_on).block():
            L.cast(x, "float32")
            raise KeyboardInterrupt

    def different():
        L.cond(go_on, lambda: L.ones([1]), lambda: [L.ones([1])])

    def nested():
        L.while_loop(lambda i: L.less_than(i, x), lambda i: [L.cond(go_on, lambda: i + 1, lambda: L.cast(i, "int32"))], [x])

    for call in (fails_inside, never_writes_its_condition, different, nested):
        leaves_no_trace(call, pm.Error)
    leaves_no_trace(interrupted, KeyboardInterrupt)
    fails_after_each_operator(
        monkeypatch,
        lambda: L.while_loop(
            lambda i: L.less_than(i, x), lambda i: L.switch_case(L.cast(i, "int32"), [lambda: i + 1, lambda: i + 2]), [x]
        ),
    )


def test_a_recurrence_that_fails_can_be_begun_again(monkeypatch):
    words, state = L.data("words", [5, 4, 6]), L.data("state", [4, 3])
    rnn = L.StaticRNN()

    def step(act="tanh", twice=False):
        with rnn.step():
            word, before = rnn.step_input(words), rnn.memory(init=state)
            if twice:
                with pytest.raises(pm.ProgramError):
                    rnn.step_input(words)
            hidden = L.fc([word, before], 3, act=act)
            rnn.update_memory(before, hidden)
            rnn.output(hidden)

    leaves_no_trace(lambda: step("thna"), pm.ProgramError)
    fails_after_each_operator(monkeypatch, step)
    step(twice=True)
    assert rnn().shape == (5, 4, 3)
    assert pm.default_main_program().current_block().idx == 0


def test_a_cell_that_fails_makes_its_parameters_at_the_next_call(monkeypatch):
    x, state = L.data("x", [-1, 6]), L.data("state", [-1, 3])
    cell = L.GRUCell(3)
    fails_after_each_operator(monkeypatch, lambda: cell(x, state))
    cell(x, state)
    assert len(pm.default_main_program().all_parameters()) == 4


def test_an_error_behind_a_transaction_takes_nothing_back():
    x = L.data("x", [-1, 6])
    with pytest.raises(Fault):
        L.fc(x, 3)
        raise Fault
    assert len(pm.default_main_program().global_block().ops) == 2

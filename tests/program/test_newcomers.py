"""Common mistakes of new users, each of which gets an error with advice, and documents whose code runs."""

import inspect
import re
import warnings

import numpy as np
import pytest

import paddle_mini as pm
from programs import run, start

L = pm.layers


class Tensor:
    """An array of another library."""

    def __init__(self, array, error=None):
        self.array, self.error = array, error

    def __array__(self, dtype=None, copy=None):
        if self.error:
            raise self.error
        return self.array if dtype is None else self.array.astype(dtype)


def message(call, kind=pm.Error):
    with pytest.raises(kind) as raised:
        call()
    text = str(raised.value)
    assert len(text.splitlines()) <= 12 and len(text) < 4000 and all(c.isprintable() or c == "\n" for c in text)
    return text


# Runs


def test_one_fetch_stands_for_a_list_of_one():
    x = L.data("x", [2])
    y, exe, feed = L.scale(x, scale=2.0), pm.Executor(), {"x": np.ones(2, "float32")}
    for fetch in (y, y.name, [y], (y,), [y.name]):
        for _ in range(2):  # planned, and from the cache
            found = exe.run(feed=feed, fetch_list=fetch)
            assert isinstance(found, list) and found[0].tolist() == [2, 2]
    assert exe.plan_text(feed=feed, fetch_list=y) == exe.plan_text(feed=feed, fetch_list=[y])
    for nothing in (None, [], ()):
        assert exe.run(feed=feed, fetch_list=nothing) == []
    for wrong in ({y.name}, 3, np.array(["a"]), {"y": y}):
        assert "fetch_list is of type" in message(lambda: exe.run(feed=feed, fetch_list=wrong), pm.ProgramError)


def test_arrays_of_other_libraries_are_not_narrowed():
    x = L.data("x", [2])
    y = L.scale(x)
    for value in (np.full(2, 1e300), Tensor(np.full(2, 1e300)), Tensor(np.ones(2, "int64"))):
        assert "the program wants float32" in message(lambda: run(y, x=value), pm.ShapeError)
    assert "beyond float32" in message(lambda: run(y, x=[1e300, 1.0]), pm.ShapeError)
    assert "masked" in message(lambda: run(y, x=np.ma.masked_array(np.ones(2, "float32"), [True, False])), pm.ShapeError)
    assert "no host memory" in message(lambda: run(y, x=Tensor(None, TypeError("no host memory\x1b[31m"))), pm.ShapeError)
    assert run(y, x=Tensor(np.ones(2, "float32")))[0].tolist() == run(y, x=[1, 1.0])[0].tolist() == [1, 1]


def test_sequences_of_different_lengths_are_fed_with_offsets():
    words = L.data("words", [-1], "int64", lod_level=1)
    error = message(lambda: run(L.cast(words, "float32"), words=[[1, 2], [3]]), pm.ShapeError)
    assert error.endswith("; pad sequences of different lengths, or feed a LoDTensor")
    error = message(lambda: run(L.cast(words, "float32"), words=pm.LoDTensor(np.arange(3), [[2, 1]])), pm.ShapeError)
    assert "level 0 of lod must rise from 0 to 3, as offsets do, it is [2, 1]" in error


def test_an_array_is_shown_in_one_line():
    loss = L.mean(L.data("x", [-1, 1]))
    error = message(lambda: pm.fit(loss, np.zeros((9, 1)), np.zeros((9, 1))), pm.ProgramError)
    assert "optimizer is array([[0.], [0.], " in error


def test_numpy_makes_no_array_of_a_variable():
    x = L.data("x", [2])
    for call in (np.asarray, np.array, np.mean, np.stack):
        assert "'x' has no value while the program is built" in message(
            lambda: call([x] if call is np.stack else x), pm.ProgramError
        )
    assert "no value while" in message(lambda: run(L.scale(x), x=x), pm.ProgramError)


def test_a_scope_takes_what_numpy_makes_an_array_of():
    scope = pm.Scope()
    scope.set("w", np.zeros((2, 2), "float32"))
    for value, dtype in (
        (Tensor(np.ones(3)), "float64"),
        ([1, 2], "float64"),
        (np.float32(1), "float32"),
        (2, "float32"),
        ((1, 2.5), "float32"),
        (np.ones((2, 3)).T, "float64"),
        (np.zeros((0, 3), "int8"), "int8"),
    ):
        scope.set("w", value)
        assert scope.get("w").dtype == dtype and np.array_equal(scope.get("w"), np.asarray(value))
    scope.set("n", [1, 2])
    assert scope.get("n").dtype == np.asarray([1, 2]).dtype  # NumPy's, because the variable had no value
    before = scope.get("w")
    for wrong in (
        None,
        np.ma.masked_array([1.0], [True]),
        object(),
        [[1], [2, 3]],
        "text",
        {},
        Tensor(None, RuntimeError("on a device")),
    ):
        assert "'w' " in message(lambda: scope.set("w", wrong), pm.ShapeError)
        message(lambda: scope.set_rows("w", [0], wrong, 3), pm.ShapeError)
    for rows, values, height in (
        ([], np.zeros((0, 2)), -1),
        ("rows", [[1.0]], 3),
        ([0.5], [[1.0]], 3),
        (None, [[1.0]], 3),
        ([3], [[1.0]], 3),
    ):
        message(lambda: scope.set_rows("w", rows, values, height))
    assert np.array_equal(scope.get("w"), before)
    scope.set_rows("w", [0, 2], [[1], [2]], 3)
    assert scope.get_rows("w")[2] == 3


def test_state_and_program_the_other_way_round():
    program = pm.default_main_program()
    assert "program is of type dict" in message(lambda: pm.io.set_state({}, program), pm.ProgramError)
    assert "state is of type list" in message(lambda: pm.io.set_state(program, []), pm.ProgramError)


# Layers


@pytest.mark.parametrize(
    "logits",
    [
        lambda x: L.fc(x, 3),
        lambda x: L.fc([x, x], 3),
        lambda x: L.fc(x, 3, bias_attr=False),
        lambda x: L.reshape(L.fc(x, 3), [-1, 3]),
        lambda x: L.matmul(x, L.create_parameter([6, 3], "float32")),
    ],
)
def test_cross_entropy_of_logits_warns(logits):
    x, label = L.data("x", [-1, 6]), L.data("label", [-1, 1], dtype="int64")
    with pytest.warns(UserWarning, match="softmax_with_cross_entropy(.|\n)*test_newcomers.py") as met:
        L.cross_entropy(logits(x), label)
    assert len(met) == 1 and met[0].filename == __file__


@pytest.mark.parametrize(
    "probabilities",
    [
        lambda x: L.fc(x, 3, act="softmax"),
        lambda x: L.softmax(L.fc(x, 3)),
        lambda x: L.sigmoid(L.fc(x, 3)),
        lambda x: x,
        lambda x: L.reshape(L.softmax(L.fc(x, 3)), [-1, 3]),
        lambda x: L.fc(x, 3, act="softmax") * 0.5 + L.fc(x, 3, act="softmax") * 0.5,
        lambda x: L.matmul(L.softmax(x), L.softmax(L.create_parameter([6, 3], "float32"))),
        lambda x: L.exp(L.log_softmax(L.fc(x, 3))),
        lambda x: L.clip(L.fc(x, 3), min=0.1, max=0.9),
        lambda x: L.softmax(L.fc(x, 3)) + L.create_parameter([3], "float32"),
    ],
)
def test_cross_entropy_of_probabilities_does_not(probabilities):
    x, label = L.data("x", [-1, 6]), L.data("label", [-1, 1], dtype="int64")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        L.cross_entropy(probabilities(x), label)


def test_docstrings_name_parameters():
    """In a layer made from a schema, no word of the docstring is a port that the caller knows under another name."""
    for name in L.__all__:
        function = getattr(L, name)
        if not getattr(function, "__doc__", None) or "Element types: " not in function.__doc__:
            continue
        parameters = list(inspect.signature(function).parameters)
        ports = [port["name"] for port in pm._core.op_schema(function.__qualname__)["inputs"]]
        for port in ports:
            if port not in parameters:
                assert not re.search(rf"(?<![\w']){port}(?![\w'])", function.__doc__.split("Returns:")[0]), (name, port)


def test_what_leaves_the_label_out_is_said_where_it_is_missing():
    x, label = L.data("x", [-1, 2]), L.data("label", [-1, 1], dtype="int64")
    out = L.fc(x, 3)
    L.softmax_with_cross_entropy(out, label)
    exe, program = start(), pm.default_main_program().clone(for_test=True)
    feed = {"x": np.zeros([1, 2], "float32")}
    with pytest.raises(pm.OpError, match=r"feed 'label' is missing: data \[-1, 1\] int64; Program.prune"):
        exe.run(program, feed, [out])
    assert exe.run(program.prune([x], [out]), feed, [out])[0].shape == (1, 3)


# Foreign names in messages

KNOWN = "\u202e\u009b" + "n" * 1000  # a name that a program may have, and no message prints unescaped
NASTY = ["x\x1b[31m\n  added at fake.py:1", "n" * 10**6, "\x00\x07\r", "\x9b é"]


@pytest.mark.parametrize("name", NASTY)
def test_names_in_messages_are_printable_and_bounded(name):
    main, block = pm.default_main_program(), pm.default_main_program().global_block()
    refused = len(name) > 1024 or min(name) < " "
    if refused:
        with pytest.raises(pm.ProgramError, match="variable name "):
            block.create_var(name, shape=[2])
        assert not block.vars
    x = block.create_var(KNOWN, shape=[-1, 2], dtype="float32", need_check_feed=True)
    exe = start()
    integers = block.create_var(KNOWN + "i", shape=[2], dtype="int64", need_check_feed=True)
    calls = [
        lambda: exe.run(feed={"y": 1}),
        lambda: exe.run(feed={name + "z": 1}),
        lambda: exe.run(feed={x: 1}),
        lambda: exe.run(fetch_list=name + "z"),
        lambda: exe.run(feed={KNOWN: "text"}),
        lambda: exe.run(feed={KNOWN: np.zeros(2)}),
        lambda: exe.run(feed={KNOWN: [[1], [2, 3]]}),
        lambda: block.var(name + "z"),
        lambda: block.create_var(KNOWN),
        lambda: block.create_parameter(KNOWN, [1]),
        lambda: block.create_parameter(name + "p", [-1]),
        lambda: bool(x),
        lambda: np.asarray(x),
        lambda: x / 0,
        lambda: x[0, 0, 0],
        lambda: x["a"],
        lambda: integers + 0.5,
        lambda: L.fc(integers, 3),
        lambda: L.fc(x, 3, act=name),
        lambda: L.fc(x, name),
        lambda: pm.append_backward(integers),
        lambda: pm.append_backward(L.mean(L.fc(x, 1)), [name + "z"]),
        lambda: pm.optimizer.SGD().minimize(x),
        lambda: pm.optimizer.SGD().minimize(L.mean(x)),
        lambda: main.prune([name + "z"], [x]),
        lambda: L.While(x),
        lambda: L.cross_entropy(x, x),
        lambda: pm.io.set_state(main, {name + "z": np.zeros(1)}),
        lambda: pm.data.DataFeeder([name + "z"]),
        lambda: pm.optimizer.ParameterAverage(pm.optimizer.SGD(), window_size=3, parameters=[name]).minimize(L.mean(L.fc(x, 1))),
    ]
    for number, call in enumerate(calls):
        try:
            message(call)
        except AssertionError as error:
            raise AssertionError(f"call {number}") from error

"""Arguments of another kind: the error names the argument, what was given and what is expected; nothing has changed."""

import typing

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini.annotations import expected, fits
from paddle_mini.thread_state import state

L = pm.layers
SQUARE = np.zeros((2, 2), "float32")


def text():
    main, startup = pm.default_main_program(), pm.default_startup_program()
    return str(main), str(startup), dict(main._names), dict(startup._names)


def x(*shape):
    return L.data("x", list(shape or (2, 3, 4)))


# A call with a wrong argument, and the message.
CALLS = {
    "a number for a list": (lambda v: L.fftn(v, axes=0), r"fftn: axes is 0, it must be a list of integers or None"),
    "None for a list": (lambda v: L.prior_box(v, v, None), "prior_box: min_sizes is None, it must be a list of numbers"),
    "a number for variables": (lambda v: L.multi_dot(3), "multi_dot: x is 3, it must be a list of Variables"),
    "no Variable": (lambda v: L.lstsq("x", v), "lstsq: x is 'x', it must be a Variable"),
    "no cell": (lambda v: L.rnn(None, v), "rnn: cell is None, it must be a RNNCell"),
    "a Variable for a cell": (lambda v: L.rnn(v, v), "rnn: cell is .*, it must be a RNNCell"),
    "None for a number": (lambda v: L.norm(v, p=None), "norm: p is None, it must be a string or a number"),
    "an array for a text": (lambda v: L.topk(v, 2, name=SQUARE), r"topk: name is array\(.*, it must be a string or None"),
    "beyond every float": (lambda v: L.fc(v, 10**400), "fc: size is 1000.*, it must be an integer, of 64 bits at most"),
    "no path": (lambda v: pm.loggers.TensorBoardLogger(3), "TensorBoardLogger: directory is 3, it must be a string or a path"),
    "a dataclass": (lambda v: pm.averaging.LearningRateDecay(0, shape=[]), r"LearningRateDecay: shape is \[\], it must be"),
    "what is imported late": (lambda v: pm.summary(by=SQUARE), "summary: by is array"),
    "a cache": (lambda v: L.multi_head_attention(v, num_heads=2, d_model=4, cache=v), "cache is .*, it must be a KeyValueCache"),
    "an array of no dimension": (lambda v: L.reshape(v, np.array("a")), "attribute 'shape' is array"),
    "names without a dimension": (lambda v: pm.append_backward(v, np.array("a")), "parameter_list is array"),
    "one state of two": (lambda v: L.rnn(L.LSTMCell(3), v, [v]), "LSTMCell: the states are .*, they must be two Variables"),
    "no states": (lambda v: L.rnn(L.GRUCell(3), v, []), "rnn: initial_states is .*, it must hold the Variables"),
    "a text as the states": (lambda v: L.rnn(L.GRUCell(3), v, "zeros"), "rnn: initial_states holds 'zeros'"),
    "one step of two": (
        lambda v: L.prior_box(v, v, [16.0], steps=[8.0]),
        r"prior_box: steps are \[8.0\], they must be 2 numbers",
    ),
    "one step of two, for several boxes": (
        lambda v: L.density_prior_box(v, v, [1], [16.0], [1.0], steps=[8.0]),
        r"density_prior_box: steps are \[8.0\], they must be 2 numbers",
    ),
    "no initializer": (lambda v: L.create_parameter([2], default_initializer="zeros"), "default_initializer is 'zeros', it must"),
    "no weight": (lambda v: L.multi_head_attention(v, num_heads=2, d_model=4, param_attr=False), "False does not describe"),
    "the name of a variable": (lambda v: v.block.var(["x"]), r"the name of a variable is \['x'\], it must be a string"),
    "the name of a new variable": (lambda v: v.block.create_var(["x"]), "variable name is of type list, it must be text"),
    "the name of an attribute": (lambda v: v.block.ops[0].set_attr([], 1), r"set_attr: name is \[\], it must be a string"),
    "a feed": (lambda v: pm.Executor().run(feed=""), "feed"),
}


@pytest.mark.parametrize("call, words", CALLS.values(), ids=CALLS)
def test_an_argument_of_another_kind_is_named(call, words):
    v = L.fill_constant([2, 3, 4], "float32", 1.0)
    pm.Executor().run()  # now a call without feeds is known
    before = text()[:2]
    with pytest.raises(pm.ProgramError, match=words):
        call(v)
    assert text()[:2] == before


def test_a_wrong_pair_leaves_no_operators():
    pm.layers.fc(x(2, 3), 2)
    first, second = pm.default_main_program().all_parameters()
    before = text()
    for wrong in ((first, None), "b", 3):
        with pytest.raises(pm.ProgramError, match="pairs"):
            pm.regularizer.append_regularization_ops([(second, second), wrong], pm.regularizer.L2Decay(0.1))
        assert text() == before


def test_a_variable_is_no_number():
    """A comparison with one appends an operator."""
    v = x()
    before = text()
    for name in ("bandwidth", "latency", "memory", "staging", "delays", "most_delay"):
        with pytest.raises(pm.ProgramError):
            pm.devices.emulate(9, **{name: v})
    for make in (pm.initializer.Normal, pm.initializer.Uniform):
        with pytest.raises(pm.ProgramError):
            make(v)
    assert text() == before


@pytest.mark.parametrize("seed", ["1", -1, 2.5, [None]])
def test_a_seed_of_another_kind_is_named(seed):
    with pytest.raises(pm.ProgramError, match="shuffle: seed is .*, it must be an integer, at least 0, or a list of them"):
        pm.data.shuffle([1, 2], 2, seed)


@pytest.mark.parametrize("info", ["w", None, {"name": "w"}])
def test_shards_are_of_descriptions(info):
    with pytest.raises(pm.Error, match="is not a ParameterInfo"):
        pm.cluster.plan_shards(iter([info]), 2)


@pytest.mark.parametrize("flag", ["False", [], 2, 0.5, SQUARE])
def test_a_flag_is_true_or_false(flag):
    """Any object is true, 'False' too."""
    v = x()
    before = text()
    for call, name in (
        (lambda: L.increment(v, in_place=flag), "increment: in_place"),
        (lambda: L.StaticRNN(reverse=flag), "StaticRNN: reverse"),
        (lambda: pm.data.batch([1, 2], 2, drop_last=flag), "batch: drop_last"),
        (lambda: pm.default_main_program().clone(flag), "Program.clone: for_test"),
        (lambda: pm.averaging.Exponential(bias_correction=flag), "Exponential: bias_correction"),
    ):
        with pytest.raises(pm.ProgramError, match=f"{name} is .*, it must be True or False"):
            call()
    assert text() == before


@pytest.mark.parametrize("flag", [True, 0, 1, np.bool_(True), np.array(False)])
def test_numbers_that_are_flags_are_taken(flag):
    assert isinstance(pm.default_main_program().clone(flag), pm.Program)


@pytest.mark.parametrize("value", ["3", [3], SQUARE, object()])
def test_constructors_keep_numbers_only(value):
    before = text()
    for call, name in (
        (lambda: pm.initializer.Constant(value), "Constant: value"),
        (lambda: pm.initializer.Normal(seed=value), "Normal: seed"),
        (lambda: L.GRUCell(value), "GRUCell: hidden_size"),
    ):
        with pytest.raises(pm.ProgramError, match=f"{name} is .*, it must be"):
            call()
    assert text() == before
    pm.initializer.Constant(np.float32(0.5)), pm.initializer.Normal(seed=np.int64(3)), L.GRUCell(np.array(3))


def test_errors_of_the_users_functions_stay():
    def fails(*args):
        raise ValueError("the user's")

    with pytest.raises(ValueError, match="^the user's$"):
        L.while_loop(fails, fails, [x()])
    with pytest.raises(ValueError, match="^the user's$"):
        L.create_parameter([2], default_initializer=fails)


def test_an_argument_that_fits_is_not_blamed():
    """Nothing but a wrong name: the error is Python's."""
    with pytest.raises(UnicodeEncodeError):
        pm.loggers.TensorBoardLogger("\ud800")


@pytest.mark.parametrize("programs", [(None,), (3,), (pm.Program(), 3)])
def test_a_guard_takes_programs(programs):
    before = state().main, state().startup, state().guard_depth
    with pytest.raises(pm.ProgramError, match="program_guard takes programs, not"), pm.program_guard(*programs):
        pass
    assert before == (state().main, state().startup, state().guard_depth)


def test_one_program_is_not_both_the_main_and_the_startup_program():
    program = pm.Program()
    with pm.program_guard(program, program):
        y = L.relu(x(2, 3))  # without parameters there is nothing to initialize
        before = str(program)
        with pytest.raises(pm.ProgramError, match="the main program is also the startup program.*give program_guard two"):
            L.fc(y, 2)
    assert str(program) == before


@pytest.mark.parametrize("device", [3, b"cpu", ["cpu"]])
def test_a_device_is_a_text(device):
    with pytest.raises(pm.ProgramError, match="device_guard: device is .*, it must be a string or None"), pm.device_guard(device):
        pass


@pytest.mark.parametrize("role, role_var", [("2", ()), (True, ()), (2, None), (2, "w"), (2, [3])])
def test_a_role_is_a_number_and_its_variables_are_a_list(role, role_var):
    with pytest.raises(pm.ProgramError, match="op_role_guard: role"), pm.op_role_guard(role, role_var):
        pass


@pytest.mark.parametrize(
    "annotation, right, wrong, words",
    [
        (int, [3, np.int64(3)], [True, 2.5, "3", None, 2**70], "an integer"),
        (float, [3, 2.5, np.float32(1)], [True, "1", None, 1j], "a number"),
        (str | None, ["a", None], [3, b"a"], "a string or None"),
        (int | typing.Sequence[int], [3, [3], (3,), np.arange(2)], ["3", [[3]], [None]], "an integer or a list of integers"),
        (typing.Mapping[str, int], [{}, {"a": 1}], [[], {1: 1}, {"a": "b"}], "a dict of integers"),
        (tuple[float, float], [(1, 2), [1, 2.5]], [(1,), "ab"], "a list of numbers"),
        (typing.Callable[[int], int], [len], [3], "a function"),
        (typing.Any, [object()], [], ""),
    ],
)  # fmt: skip
def test_annotations(annotation, right, wrong, words):
    assert [value for value in right if not fits(value, annotation)] == []
    assert [value for value in wrong if fits(value, annotation)] == []
    assert not words or expected(annotation, None) == words

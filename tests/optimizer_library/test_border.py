# The C interface with arbitrary arguments: the process survives, and a message describes the error.
import ctypes
import math
import re
import threading

import numpy as np
import pytest

from one_parameter import library, values
from paddle_mini.optimizer.config import config_class
from paddle_mini.optimizer.native_library import load_library

OK, ERROR, NO_MEMORY = 0, -1, -4
FLOAT32, FLOAT64 = 4, 5
SIZE_MAX, INT_MAX = 2**64 - 1, 2**31 - 1
CONST = {"const_lr": {"learning_rate": 0.1}}
C = load_library()


def message():
    return C.paddle_optimizer_last_error().decode()


def create(config=None, parameter=np.ones(3, "float32"), kind=FLOAT32, size=None, length=None, state=None, state_size=None):
    data = config_class()(**CONST).SerializeToString() if config is None else config
    address = parameter if parameter is None or isinstance(parameter, int) else parameter.ctypes.data
    bytes_ = size if size is not None else 0 if parameter is None else parameter.nbytes
    return C.paddle_create_optimizer(
        data or None,
        len(data) if length is None else length,
        kind,
        address,
        bytes_,
        state,
        len(state or b"") if state_size is None else state_size,
    )


@pytest.fixture
def made():
    handle = create()
    yield handle
    C.paddle_release_optimizer(handle)


def update(handle, gradient, kind=FLOAT32, size=None):
    address = gradient if gradient is None or isinstance(gradient, int) else gradient.ctypes.data
    return C.paddle_update_parameter(handle, kind, address, gradient.nbytes if size is None else size)


def value(handle):
    size = ctypes.c_size_t()
    address = C.paddle_optimizer_param(handle, ctypes.byref(size))
    return np.frombuffer(ctypes.string_at(address, size.value), "float32")


@pytest.mark.parametrize(
    "arguments, why",
    [
        ({"config": b"", "length": 0}, "NULL"),
        ({"config": b"", "length": 10}, "NULL"),
        ({"length": SIZE_MAX}, "negative|bytes"),
        ({"length": INT_MAX}, "bytes"),
        ({"length": 0}, "empty"),
        ({"config": b"\xff" * 40}, "OptimizerConfig"),
        ({"kind": 99}, "99"),
        ({"kind": -1}, "-1"),
        ({"kind": 0}, "FLOAT"),
        ({"kind": 1}, "FLOAT"),
        ({"kind": 2}, "FLOAT"),
        ({"kind": 3}, "FLOAT"),
        ({"parameter": None, "size": 12}, "NULL"),
        ({"size": 11}, "11 bytes"),
        ({"size": SIZE_MAX}, "bytes"),
        ({"size": SIZE_MAX - 3}, "bytes"),
        ({"size": INT_MAX}, "bytes"),
        ({"state_size": 5}, "NULL"),
        ({"state": b"abc"}, "state"),
        ({"state": b"abc", "state_size": SIZE_MAX}, "negative|bytes"),
        ({"kind": FLOAT64}, "bytes"),
    ],
)
def test_create_refuses(arguments, why):
    assert create(**arguments) is None
    assert re.search(why, message()), message()


SERIALIZED = config_class()(**CONST).SerializeToString()


@pytest.mark.parametrize(
    "config",
    [
        SERIALIZED + b"\x00",
        SERIALIZED + b"\x08",
        SERIALIZED + b"\x08\x63",
        b"\x08\x63" + SERIALIZED,
        SERIALIZED + b"\xfa\x7f\x01a",
        SERIALIZED[:-1],
        b"{}",
        b"optimizer: SGD",
    ],
)
def test_bytes_that_are_no_configuration(config):
    assert create(config) is None and message()


def test_random_bytes_and_damaged_configurations():
    """Returns an object or a message, and the process survives."""
    random = np.random.default_rng(0)
    whole = config_class()(
        optimizer="Adam",
        adam={"beta_1": 0.5, "epsilon": 1e-3},
        lr_policy="Manual",
        clip_norm=1.0,
        manual_lr={"segments": [{"bound": 3, "rate": 1.0}]},
        averaging=[{"scheme": "window"}],
    ).SerializeToString()
    for number in range(3000):
        if number % 2:
            data = bytearray(whole)
            for _ in range(random.integers(1, 4)):
                data[random.integers(len(data))] ^= 1 << random.integers(8)
        else:
            data = random.bytes(random.integers(1, 60))
        handle = create(bytes(data))
        assert handle or message()
        C.paddle_release_optimizer(handle)


@pytest.mark.parametrize(
    "fields, why",
    [
        ({"l2_rate": 0.0}, "const_lr is missing"),
        ({"lr_policy": "Linear", **CONST}, "const_lr"),
        ({"lr_policy": "Linear"}, "linear_lr is missing"),
        ({"const_lr": {"learning_rate": math.nan}}, "learning_rate"),
        ({"const_lr": {"learning_rate": -1.0}}, "learning_rate"),
        ({"const_lr": {"learning_rate": math.inf}}, "learning_rate"),
        ({"adam": {}, **CONST}, "adam"),
        ({"optimizer": "Adam", "sgd": {}, **CONST}, "sgd"),
        ({"sgd": {"nesterov": True}, **CONST}, "nesterov"),
        ({"sgd": {"momentum": 0.0, "nesterov": True}, **CONST}, "nesterov"),
        ({"clip_norm": 1.0, "clip_value": 1.0, **CONST}, "clip"),
        ({"clip_norm": -1.0, **CONST}, "clip_norm"),
        ({"clip_value": math.nan, **CONST}, "clip_value"),
        ({"l1_rate": -1.0, **CONST}, "l1_rate"),
        ({"l2_rate": math.inf, **CONST}, "l2_rate"),
        ({"optimizer": "Adam", "adam": {"beta_1": 1.0}, **CONST}, "beta_1"),
        ({"samples_per_update": 0.0, **CONST}, "samples_per_update"),
        ({"optimizer": "ProximalGD", "proximal_gd": {"initial_accumulator_value": 0.1}, **CONST}, "accumulator"),
        ({"row_width": 2, **CONST}, "row"),
        ({"averaging": [{"scheme": "exponential", "decay": 1.0}], **CONST}, "decay"),
        ({"averaging": [{"every": 0}], **CONST}, "every"),
        ({"lr_policy": "Manual", "manual_lr": {}}, "segments"),
        ({"lr_policy": "Manual", "manual_lr": {"segments": [{"bound": 2, "rate": 1}, {"bound": 2, "rate": 1}]}}, "ascending"),
    ],
)
def test_configurations_that_are_refused(fields, why):
    assert create(config_class()(**fields).SerializeToString()) is None
    assert why in message()


def test_an_optimizer_without_its_message_has_its_defaults():
    for name in config_class().Optimizer.keys():  # noqa: SIM118 (an enumeration of protobuf)
        handle = create(config_class()(optimizer=name, **CONST).SerializeToString())
        assert handle and update(handle, np.ones(3, "float32")) == OK
        C.paddle_release_optimizer(handle)


@pytest.mark.parametrize(
    "arguments, why",
    [
        ((None,), "NULL"),
        ((np.ones(2, "float32"),), "8 bytes"),
        ((np.ones(3, "float64"), FLOAT64), "FLOAT64"),
        ((np.ones(3, "float32"), 2), "FLOAT"),
        ((np.ones(3, "float32"), 99), "99"),
        ((np.ones(3, "float32"), FLOAT32, SIZE_MAX), "bytes"),
        ((np.ones(3, "float32").ctypes.data + 1, FLOAT32, 12), "aligned"),
        ((np.ones(3, "float32"), FLOAT32, 0), "0 bytes"),
    ],
)
def test_update_refuses(made, arguments, why):
    if arguments[0] is None:
        arguments = (None, FLOAT32, 12)
    assert update(made, *arguments) == ERROR and why in message()
    assert value(made).tolist() == [1, 1, 1]
    assert update(made, np.ones(3, "float32")) == OK


def test_a_gradient_inside_the_parameter_is_refused(made):
    address = C.paddle_optimizer_param(made, None)
    assert update(made, address, size=12) == ERROR and "overlaps" in message()


@pytest.mark.parametrize("handle", [None, 1, 8, 0x7FFF_DEAD_BEEF_0000, SIZE_MAX])
def test_what_is_no_object(handle):
    size, rate = ctypes.c_size_t(), ctypes.c_double()
    assert update(handle, np.ones(3, "float32")) == ERROR and message()
    assert C.paddle_optimizer_param(handle, ctypes.byref(size)) is None
    assert C.paddle_optimizer_get_learning_rate(handle, ctypes.byref(rate)) == ERROR
    assert C.paddle_release_optimizer(handle) == (OK if handle is None else ERROR)


def test_out_pointers_that_are_null(made):
    assert C.paddle_optimizer_get_state(made, None, None) == ERROR and "NULL" in message()
    assert C.paddle_optimizer_get_learning_rate(made, None) == ERROR and "NULL" in message()
    assert C.paddle_optimizer_get_updates(made, None, None) == OK
    assert C.paddle_optimizer_average(made, 0, FLOAT32, None, 12) == ERROR
    assert C.paddle_optimizer_get_rows(made, FLOAT32, None, 1, None, 4) == ERROR and "NULL" in message()
    assert C.paddle_update_parameter_rows(made, FLOAT32, None, 1, np.ones(1, "float32").ctypes.data, 4) == ERROR
    assert C.paddle_optimizer_free_state(None) == OK
    state, size = ctypes.c_void_p(), ctypes.c_size_t()
    assert C.paddle_optimizer_get_state(made, ctypes.byref(state), ctypes.byref(size)) == OK
    assert C.paddle_optimizer_free_state(state) == OK
    for freed in (state, made, ctypes.byref(size)):
        assert C.paddle_optimizer_free_state(freed) == ERROR and "this is not a state, or it was freed already" in message()


def test_a_second_release_is_refused():
    handle = create()
    assert C.paddle_release_optimizer(handle) == OK
    assert C.paddle_release_optimizer(handle) == ERROR and message()
    assert update(handle, np.ones(3, "float32")) == ERROR
    again = create()
    assert C.paddle_release_optimizer(handle) == ERROR  # also if its slot was reused
    assert C.paddle_release_optimizer(again) == OK


def test_any_address_will_do_for_the_parameter():
    memory = np.zeros(13, "uint8")
    memory[1:13] = np.arange(1, 4, dtype="float32").view("uint8")
    handle = create(parameter=memory.ctypes.data + 1, size=12)
    memory[:] = 0  # it was copied
    assert value(handle).tolist() == [1, 2, 3]
    C.paddle_release_optimizer(handle)


def test_no_parameter_at_all():
    handle = create(parameter=None)
    assert handle and C.paddle_optimizer_param(handle, None)
    assert C.paddle_update_parameter(handle, FLOAT32, None, 0) == OK
    C.paddle_release_optimizer(handle)


def test_the_pointer_stays_and_shows_the_newest_update(made):
    before = C.paddle_optimizer_param(made, None)
    shown = (ctypes.c_float * 3).from_address(before)
    update(made, np.ones(3, "float32"))
    assert C.paddle_optimizer_param(made, None) == before and shown[0] == np.float32(1) - np.float32(0.1)


def test_a_message_is_the_threads_own():
    create(b"\xff")
    assert message()
    found = []
    thread = threading.Thread(target=lambda: found.append(message()))
    thread.start()
    thread.join()
    assert found == [""]


@pytest.mark.parametrize("rows, why", [([3], "3"), ([-1], "-1"), ([0, 2**62], str(2**62)), ([-(2**63)], "9223372036854775808")])
def test_rows_outside_the_table(rows, why):
    found = library("SGD", values(shape=(3, 4)))
    ids, gradient = np.array(rows), np.ones((len(rows), 4), "float32")
    before = found.state()
    pointer = found._handle.pointer
    assert (
        C.paddle_update_parameter_rows(pointer, FLOAT32, ids.ctypes.data, len(ids), gradient.ctypes.data, gradient.nbytes)
        == ERROR
    )
    assert why in message() and found.state() == before


def test_version():
    assert C.paddle_optimizer_version() == 1
    assert C.paddle_optimizer_processor_level() in (b"v4", b"v3", b"v2", b"baseline")

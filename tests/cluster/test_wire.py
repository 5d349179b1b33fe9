# Messages: what is packed comes back; all else is refused, and a service answers whatever comes.
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle_mini.cluster import ClusterError, Malformed, NotFinite, WrongDtype, wire
from paddle_mini.cluster.errors import ERRORS

FINITE = st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | FINITE | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=10,
)


def service(name, header, arrays):
    if name == "fail":
        raise ZeroDivisionError("not of the cluster")
    if name == "refuse":
        raise NotFinite("said why")
    return {"name": name}, arrays


def reply(header, arrays=()):
    return wire.answer("j", service, header, arrays, lambda: {"life": "1"})


@settings(deadline=None)
@given(st.dictionaries(st.text(max_size=5), VALUES, max_size=5))
def test_a_header_comes_back(header):
    assert wire.unpack(wire.pack(header)) == header


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"1",
        b"null",
        b'{"a": NaN}',
        b'{"a": Infinity}',
        b'{"a": 1, "a": 2}',
        b'{"a": 1',
        b"[" * 100000,
        b'{"a": ' + b"9" * 5000 + b"}",
        "text",
        None,
        7,
    ],
    ids=lambda data: repr(data)[:20],
)
def test_no_header(data):
    with pytest.raises(Malformed):
        wire.unpack(data)


def test_a_large_header_is_not_even_read():
    with pytest.raises(Malformed, match="the header has 1048577 bytes, 1048576 are the most"):
        wire.unpack(b" " * (wire.HEADER_LIMIT + 1))


def test_what_cannot_be_packed():
    for header in ({"a": float("nan")}, {"a": b"bytes"}, {"a": "x" * wire.HEADER_LIMIT}, {"a": np.float32(1)}):
        with pytest.raises(Malformed):
            wire.pack(header)


@pytest.mark.parametrize(
    "array",
    [
        np.zeros(3, ">f4"),
        np.zeros(3, "f2"),
        np.zeros(3, "i4"),
        np.zeros(3, bool),
        np.array([None]),
        np.array(["a"]),
        np.zeros(3, "f4,f4"),
        np.zeros((4, 4))[:, ::2],
        np.zeros((4, 4)).T[1:],
        [1.0, 2.0],
        None,
        3.0,
    ],
    ids=lambda array: f"{type(array).__name__} {getattr(array, 'dtype', '')}",
)
def test_no_array_of_a_message(array):
    with pytest.raises((Malformed, WrongDtype)):
        wire.check_arrays([array])
    assert json.loads(reply(wire.request("j", "x"), [array])[0])["error"]["kind"] in ("malformed", "wrong_dtype")


def test_arrays_of_a_message():
    arrays = [np.zeros((), "f4"), np.zeros((0, 3), "f8"), np.arange(3)]
    header, found = wire.understood(*reply(wire.request("j", "x"), arrays))
    assert header == {"life": "1", "ok": True, "name": "x"} and all(a is b for a, b in zip(found, arrays))


@settings(max_examples=300, deadline=None)
@given(
    st.binary(max_size=200) | st.dictionaries(st.sampled_from(["protocol", "job", "request", "x"]), VALUES).map(wire.pack),
    st.none() | st.integers() | st.lists(st.integers(), max_size=2),
)
def test_garbage_gets_an_answer(header, arrays):
    data, _ = reply(header, arrays)
    answered = wire.unpack(data)
    assert ("error" in answered) != answered.get("ok", False) and answered["life"] == "1"


@pytest.mark.parametrize(
    "change, kind",
    [
        ({"protocol": 2}, "wrong_version"),
        ({"protocol": "1"}, "malformed"),
        ({"protocol": True}, "malformed"),
        ({"job": "k"}, "wrong_job"),
        ({"job": None}, "malformed"),
        ({"request": 3}, "malformed"),
        ({"request": "fail"}, "failed"),
        ({"request": "refuse"}, "not_finite"),
    ],
)
def test_refusals_are_replies(change, kind):
    data, arrays = reply(wire.pack({"protocol": 1, "job": "j", "request": "x", **change}))
    assert arrays == [] and wire.unpack(data)["error"]["kind"] == kind
    with pytest.raises(ERRORS[kind]) as raised:
        wire.understood(data, arrays)
    assert type(raised.value) is ERRORS[kind]


@pytest.mark.parametrize("header", [{}, {"ok": False}, {"ok": 1}, {"wait": True}])
def test_no_reply(header):
    with pytest.raises(Malformed, match="neither ok nor an error"):
        wire.understood(wire.pack(header), [])


@pytest.mark.parametrize("arrays", [None, 3, "text", np.zeros(3)])
def test_arrays_come_in_a_list(arrays):
    with pytest.raises(Malformed, match="arrays are"):
        wire.check_arrays(arrays)


def test_a_failure_inside_is_logged(caplog):
    reply(wire.request("j", "fail"))
    assert "ZeroDivisionError: not of the cluster" in caplog.text


def test_kinds_of_errors():
    assert {
        "not_initialised",
        "already_initialised",
        "not_elected",
        "unknown_parameter",
        "wrong_shape",
        "wrong_dtype",
        "wrong_row",
        "stale",
        "stale_token",
        "not_finite",
        "wrong_job",
        "wrong_version",
        "malformed",
        "timeout",
        "storage",
        "gone",
    } < set(wire.KINDS)
    assert all(issubclass(error, ClusterError) for error in ERRORS.values()) and len(ERRORS) == 17


@pytest.mark.parametrize(
    "value, kind",
    [
        (True, int),
        (-1, int),
        (1 << 63, int),
        (1.0, int),
        ("1", int),
        (None, str),
        (1, str),
        (1e999, float),
        ("x", float),
        ({}, list),
        (1, bool),
    ],
)
def test_no_such_field(value, kind):
    with pytest.raises(Malformed, match="'a'"):
        wire.field({"a": value}, "a", kind)


def test_fields():
    assert (
        wire.field({"a": 3}, "a", int) == 3 and wire.field({"a": 3}, "a", float) == 3 and wire.field({}, "a", int, None) is None
    )
    with pytest.raises(Malformed, match="'a' is missing"):
        wire.field({}, "a", int)
    assert len(wire.shown("x" * 1000)) <= 203 and "\x1b" not in wire.shown("\x1b[1m")


@pytest.mark.parametrize(
    "text, shown",
    [("\x1b[31mred", "?[31mred"), ("", "no reason is given"), ("a\n" * 100, "\n".join(6 * ["a"] + ["  …"] + 5 * ["a"]))],
    ids=["terminal", "empty", "long"],
)
def test_reasons_of_others_are_shown_safely(text, shown):
    with pytest.raises(ClusterError) as error:
        wire.understood(wire.pack({"error": {"kind": "stale", "text": text}}), [])
    assert str(error.value) == shown

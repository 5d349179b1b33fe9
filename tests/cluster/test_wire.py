# Bytes and arrays of messages: packed values survive a round trip, and everything else is rejected.
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paddle_mini.cluster import Malformed, WrongDtype, wire

FINITE = st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | FINITE | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=10,
)


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
        b'\xef\xbb\xbf{"a": 1}',
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


@pytest.mark.parametrize("arrays", [None, 3, "text", np.zeros(3)])
def test_arrays_come_in_a_list(arrays):
    with pytest.raises(Malformed, match="arrays are"):
        wire.check_arrays(arrays)


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

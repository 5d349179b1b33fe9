# Typed messages: each survives a round trip, fields that do not fit its class are rejected in one place, and a service
# replies to all.
import dataclasses
from enum import Enum
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle_mini.cluster import ClusterError, Malformed, NotFinite, WrongDtype, replies, wire
from paddle_mini.cluster.errors import ERRORS
from paddle_mini.cluster.messages import PROTOCOL, REQUESTS, Reply, Request, Wait, decode, decode_reply, encode, encode_reply
from paddle_mini.cluster.protocol import Push
from paddle_mini.cluster.service import Answering
from paddle_mini.cluster.values import BlockKey
from raw_messages import request, understood


class Color(str, Enum):
    RED, BLUE = "red", "blue"


class Pair(NamedTuple):
    name: str
    number: int


@dataclasses.dataclass
class Inner:
    flag: bool
    data: bytes


@dataclasses.dataclass
class Everything(Reply):
    number: int
    text: str
    rate: float
    color: Color
    pair: Pair
    inner: Inner
    pairs: list[Pair]
    by_name: dict[str, Inner | None]
    two: tuple[int, int | None]
    shape: tuple[int, ...]
    anything: Any
    arrays: wire.Arrays
    perhaps: float | None = None


WHOLE = Everything(
    3,
    "ü\n",
    2.5,
    Color.BLUE,
    Pair("a", 1),
    Inner(True, b"\xff\x00"),
    [Pair("b", 2)],
    {"x": Inner(False, b""), "y": None},
    (1, None),
    (2, 3),
    {"deep": [1, None]},
    [np.arange(3)],
)


@dataclasses.dataclass
class Ask(Request[Everything], service="test"):
    """A request of this test."""

    number: int


del REQUESTS["test"]


class Service(Answering):
    def __init__(self):
        super().__init__("j", {Ask: self.do})

    def do(self, ask):
        if ask.number == 1:
            raise ZeroDivisionError("not of the cluster")
        if ask.number == 2:
            raise NotFinite("said why")
        return WHOLE


def header_of(message):
    return wire.unpack(encode_reply(message)[0])


def changed(**change):
    return wire.pack({**header_of(WHOLE), **change})


def test_a_message_comes_back_as_it_was():
    back = decode_reply(Everything, *encode_reply(WHOLE))
    assert back == WHOLE and type(back.pair) is Pair and back.color is Color.BLUE and back.arrays is not WHOLE.arrays
    wait = decode_reply(Everything, *encode_reply(Wait(life="x", version=3)))
    assert wait == Wait(life="x", version=3)


@pytest.mark.parametrize(
    "change, text",
    [
        ({"number": True}, "'number' is True, it must be an integer from 0 to 2\\^63 - 1"),
        ({"number": -1}, "'number' is -1"),
        ({"number": 1 << 63}, "'number'"),
        ({"number": 1.0}, "'number'"),
        ({"text": 1}, "'text' is 1, it must be text"),
        ({"rate": "x"}, "a finite number"),
        ({"rate": 10**400}, "a finite number"),
        ({"rate": True}, "a finite number"),
        ({"color": "green"}, "'color' is 'green', it must be one of 'red', 'blue'"),
        ({"color": ["red"]}, "'color'"),
        ({"pair": ["a"]}, "'pair' is \\['a'\\], it must be \\[name: text; number: an integer"),
        ({"pair": ["a", "b"]}, "'pair'"),
        ({"pair": {"name": "a"}}, "'pair'"),
        ({"pairs": "ab"}, "it must be a list, each"),
        ({"pairs": [["a", 1], ["b"]]}, "'pairs'"),
        ({"inner": None}, "'inner' is None, it must be an object"),
        ({"inner": {"flag": 1, "data": ""}}, "'flag' is 1, it must be true or false"),
        ({"inner": {"flag": True}}, "'data' is missing"),
        ({"inner": {"flag": True, "data": "?"}}, "'data' is '\\?', it must be base64"),
        ({"inner": {"flag": True, "data": "", "x": 1}}, "Inner has no field 'x'"),
        ({"by_name": [1]}, "'by_name'"),
        ({"two": [1]}, "'two'"),
        ({"shape": [1, -1]}, "'shape'"),
        ({"perhaps": "x"}, "a finite number, or null"),
        ({"more": 1}, "Everything has no field 'more'"),
        ({"\x1b[2J": 1}, "no field '\\\\x1b\\[2J'"),
    ],
)
def test_what_a_field_does_not_take(change, text):
    with pytest.raises(Malformed, match=text):
        decode_reply(Everything, changed(**change), [])


def test_a_number_that_json_reads_as_infinity():
    with pytest.raises(Malformed, match="'rate' is inf, it must be a finite number"):
        decode_reply(Everything, changed().replace(b"2.5", b"1e999"), [])


@pytest.mark.parametrize("name", [one.name for one in dataclasses.fields(Everything) if one.name not in ("arrays",)])
def test_a_field_that_is_missing(name):
    header = header_of(WHOLE)
    del header[name]
    if name == "perhaps":
        assert decode_reply(Everything, wire.pack(header), []).perhaps is None
    else:
        with pytest.raises(Malformed, match=f"'{name}' is missing"):
            decode_reply(Everything, wire.pack(header), [])


def test_arrays_come_with_messages_that_have_them():
    with pytest.raises(Malformed, match="Done has no arrays, 1 come with it"):
        decode_reply(replies.Done, wire.pack({"ok": True}), [np.zeros(1)])
    with pytest.raises(WrongDtype):
        decode_reply(Everything, changed(), [np.zeros(3, "i4")])


def test_what_can_not_be_sent():
    for one in (
        dataclasses.replace(WHOLE, rate=float("nan")),
        dataclasses.replace(WHOLE, anything={1, 2}),
        dataclasses.replace(WHOLE, text="x" * wire.HEADER_LIMIT),
    ):
        with pytest.raises(Malformed):
            encode_reply(one)


@pytest.mark.parametrize(
    "change, kind",
    [
        ({"protocol": PROTOCOL + 1}, "wrong_version"),
        ({"protocol": str(PROTOCOL)}, "malformed"),
        ({"protocol": True}, "malformed"),
        ({"protocol": None}, "malformed"),
        ({"job": "k"}, "wrong_job"),
        ({"job": None}, "malformed"),
        ({"request": 3}, "malformed"),
        ({"request": "other"}, "malformed"),
        ({"number": 1}, "failed"),
        ({"number": 2}, "not_finite"),
        ({"number": "2"}, "malformed"),
        ({"x": 1}, "malformed"),
    ],
)
def test_refusals_are_replies(change, kind):
    data, arrays = Service().handle(wire.pack({"protocol": PROTOCOL, "job": "j", "request": "ask", "number": 0, **change}), [])
    assert arrays == [] and wire.unpack(data)["error"]["kind"] == kind
    with pytest.raises(ERRORS[kind]) as raised:
        decode_reply(Everything, data, arrays)
    assert type(raised.value) is ERRORS[kind]


@settings(max_examples=300)
@given(
    st.binary(max_size=200)
    | st.dictionaries(
        st.sampled_from(["protocol", "job", "request", "number"]),
        st.none() | st.integers() | st.text(max_size=3) | st.just("ask"),
    ).map(wire.pack),
    st.none() | st.integers() | st.lists(st.integers(), max_size=2),
)
def test_garbage_gets_an_answer(header, arrays):
    answered = wire.unpack(Service().handle(header, arrays)[0])
    assert ("error" in answered) != answered.get("ok", False)


def test_a_failure_inside_is_logged(caplog):
    Service().handle(request("j", "ask", number=1), [])
    assert "ZeroDivisionError: not of the cluster" in caplog.text


@pytest.mark.parametrize("header", [{}, {"ok": False}, {"ok": 1}, {"wait": 1}])
def test_no_reply(header):
    with pytest.raises(Malformed, match="neither ok nor an error"):
        decode_reply(Everything, wire.pack(header), [])


@pytest.mark.parametrize("error", [None, [], {}, {"kind": "stale"}, {"kind": 1, "text": "x"}])
def test_no_error(error):
    with pytest.raises(Malformed):
        decode_reply(Everything, wire.pack({"error": error}), [])


@pytest.mark.parametrize(
    "text, shown",
    [("\x1b[31mred", "?[31mred"), ("", "no reason is given"), ("a\n" * 100, "\n".join(6 * ["a"] + ["  …"] + 5 * ["a"]))],
    ids=["terminal", "empty", "long"],
)
def test_reasons_of_others_are_shown_safely(text, shown):
    with pytest.raises(ClusterError) as error:
        decode_reply(Everything, wire.pack({"error": {"kind": "stale", "text": text}}), [])
    assert str(error.value) == shown


def test_kinds_of_errors():
    assert all(issubclass(error, ClusterError) and error.kind == kind for kind, error in ERRORS.items())
    with pytest.raises(ClusterError) as raised:
        understood(wire.pack({"error": {"kind": "gone", "text": "x"}}), [])
    assert type(raised.value) is ERRORS["gone"] and len(ERRORS) == 17


PUSH = Push(1, 2, 3, [BlockKey("w", 0)], 4, token=8, version=5, rows=[BlockKey("t", 1)], arrays=[np.zeros(2, "int64")])
SAME = b'{"protocol":8,"job":"j","request":"push","blocks":[["w",0]],"wanted":[],"rows":[["t",1]]}'


def test_a_request_with_fields_that_repeat_has_two_parts():
    header, arrays = encode("j", PUSH)
    assert header == b"[1,2,3,4,8,5,0,0]\n" + SAME
    for form in (
        header,
        wire.pack({**wire.unpack(SAME), "trainer": 1, "incarnation": 2, "step": 3, "membership": 4, "token": 8, "version": 5}),
    ):
        assert vars(decode("j", REQUESTS["server"], form, arrays)) == vars(PUSH)


@pytest.mark.parametrize(
    "header, text",
    [
        (b"[1,2,3,4,8,5,0]\n" + SAME, "Push has the fields trainer, .*, and 7 values come with it"),
        (b"[1,2,3,4,8,5,0,-1]\n" + SAME, "'min_version' is -1, it must be an integer"),
        (b'{"trainer":1}\n' + SAME, "the first part of the header is dict, it must be a list"),
        (b"\n" + SAME, "the header is not JSON"),
        (b"[1,2,3,4,8,5,0,0]\n", "the header is not JSON"),
        (b"[1,2,3,4,8,5,0,0]\n[]", "the header is list"),
        (
            b"[1,2,3,4,8,5,0,0]\n" + SAME.replace(b"rows", b"lines"),
            r"the repeated fields of Push are \['blocks', 'lines', 'wanted'\]",
        ),
        (b"[1,2,3,4,8,5,0,0]\n" + SAME.replace(b'["w",0]', b'["w"]'), "'blocks' is"),
        (b"[]\n" + SAME.replace(b"push", b"finish_init"), "the repeated fields of FinishInit are"),
        (b"[1,2,3,4,8,5,0,0]\n" + SAME.replace(b'"j"', b'"k"'), "the request is for job 'k'"),
        (b"[1,2,3,4,8,5,0,0]\n" + SAME.replace(b"8", b"3", 1), "the request has protocol 3"),
        (b"[1,2,3,4,8,5,0,0]\n" + SAME + b" " * wire.HEADER_LIMIT, "are the most"),
    ],
)
def test_two_parts_that_do_not_fit(header, text):
    with pytest.raises(ClusterError, match=text):
        decode("j", REQUESTS["server"], header, [])

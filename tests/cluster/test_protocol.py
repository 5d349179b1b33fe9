"""The protocol of jobs: every request and reply survives a round trip, and every request has a handler."""

import dataclasses
from enum import Enum
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
import pytest

from paddle_mini.cluster import NotFinite, protocol
from paddle_mini.cluster.collective_protocol import GetGradient, GetMean
from paddle_mini.cluster.coordinator.coordinator import Coordinator
from paddle_mini.cluster.coordinator.coordinator_settings import CoordinatorSettings
from paddle_mini.cluster.messages import REQUESTS, Reply, decode, decode_reply, encode, encode_reply
from paddle_mini.cluster.process_log import Event
from paddle_mini.cluster.protocol import Push
from paddle_mini.cluster.servers.server import ParameterServer
from paddle_mini.cluster.servers.settings import ServerSettings
from paddle_mini.cluster.shards import ParameterInfo
from paddle_mini.cluster.trainers.gradient_memory import GradientMemory
from paddle_mini.cluster.trainers.peer import Peer
from paddle_mini.cluster.values import BlockKey, StepId


def example(kind):
    """A value of an annotation."""
    args = get_args(kind)
    if kind in EXAMPLES:
        return EXAMPLES[kind]
    if get_origin(kind) is UnionType:
        return example(args[0])
    if get_origin(kind) is list:
        return [example(args[0])]
    if get_origin(kind) is dict:
        return {"key": example(args[1])}
    if get_origin(kind) is tuple:
        return tuple(example(one) for one in args)
    if issubclass(kind, Enum):
        return list(kind)[-1]
    return kind(
        **{
            name: example(one)
            for name, one in get_type_hints(kind).items()
            if name in getattr(kind, "__dataclass_fields__", ()) or name in getattr(kind, "_fields", ())
        }
    )


EXAMPLES = {
    int: 3,
    str: "a",
    float: 0.5,
    bool: True,
    bytes: b"\xff",
    Any: "any",
    np.ndarray: np.ones(1),
    ParameterInfo: ParameterInfo("a", (3, 1), "float32", True),
    Event: Event(30, "text"),
    **{kind: kind(StepId("epoch", 3), 1, 2, True) for kind in (GetGradient, GetMean)},
}
ALL = [kind for service in ("coordinator", "server", "trainer") for kind in REQUESTS[service].values()]
PUSH = Push(2, 1, 4, [BlockKey("w", 0), BlockKey("t", 1)], arrays=[np.ones(2), np.array([1]), np.ones((1, 2))])


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_every_request_and_its_reply_come_back_as_they_were(kind):
    assert kind.__doc__ and issubclass(kind.reply, Reply)
    made = example(kind)
    assert decode("j", {kind.name: kind}, *encode("j", made)) == made
    reply = example(kind.reply)
    assert decode_reply(kind.reply, *encode_reply(reply)) == reply


@pytest.mark.parametrize(
    "service, made",
    [
        ("coordinator", lambda folder: Coordinator(CoordinatorSettings("j", 1, 1), folder)),
        ("server", lambda folder: ParameterServer(0, ServerSettings("j", 1, 1))),
        ("trainer", lambda folder: Peer("j", GradientMemory.made({}))),
    ],
)
def test_every_request_has_a_handler(service, made, tmp_path):
    other = {protocol.PushDelta} if service == "server" else set()
    assert set(made(str(tmp_path)).handlers) == set(REQUESTS[service].values()) - other


def test_a_push_that_is_not_finite_can_not_be_made():
    for wrong in (np.nan, np.inf):
        with pytest.raises(NotFinite, match="the push of trainer 2 for step 4 is not finite in 't': none of it"):
            dataclasses.replace(PUSH, arrays=[np.ones(2), np.array([1]), np.full((1, 2), wrong)])

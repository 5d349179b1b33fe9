# Messages of jobs as bytes, for tests: with fields that no class of the protocol has, and replies as JSON.
from paddle_mini.cluster.errors import ERRORS
from paddle_mini.cluster.messages import PROTOCOL
from paddle_mini.cluster.wire import pack, unpack


def request(job, name, **fields):
    """The bytes of a request's header."""
    return pack({"protocol": PROTOCOL, "job": job, "request": name, **fields})


def understood(header, arrays):
    """A reply's header and arrays; raises the error it contains."""
    reply = unpack(header)
    if "error" in reply:
        raise ERRORS[reply["error"]["kind"]](reply["error"]["text"])
    return reply, arrays

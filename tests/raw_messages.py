# Messages of jobs as bytes, for tests: with fields that no class of the protocol has, and replies as JSON.
from paddle_mini.cluster.dataclass_json import other_names
from paddle_mini.cluster.errors import ERRORS
from paddle_mini.cluster.messages import PROTOCOL, REQUESTS
from paddle_mini.cluster.wire import pack, unpack, unpack_list


def request(job, name, **fields):
    """The bytes of a request's header."""
    return pack({"protocol": PROTOCOL, "job": job, "request": name, **fields})


def understood(header, arrays):
    """A reply's header and arrays; raises the error it contains."""
    reply = unpack(header)
    if "error" in reply:
        raise ERRORS[reply["error"]["kind"]](reply["error"]["text"])
    return reply, arrays


def fields_of(header):
    """The fields of a request's header, of either form."""
    first, newline, same = header.partition(b"\n")
    fields = unpack(same if newline else first)
    if newline:
        (kind,) = {of[fields["request"]] for of in REQUESTS.values() if fields["request"] in of}
        fields.update(zip(other_names(kind), unpack_list(first)))
    return fields

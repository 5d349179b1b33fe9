# Requests that servers reject without any change of state.
import base64

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddle_mini.cluster import (
    ClusterError,
    Gone,
    Malformed,
    NotFinite,
    UnknownParameter,
    WrongDtype,
    WrongJob,
    WrongRow,
    WrongShape,
    WrongVersion,
    wire,
)
from paddle_mini.cluster.servers.server import ParameterServer
from paddle_mini.cluster.servers.settings import ServerSettings
from raw_messages import PROTOCOL, request, understood
from server_calls import JOB, OTHER, ROWS, SMALL, Group, call, config, new_block, untouched


@pytest.mark.parametrize(
    "change, error",
    [
        ({"blocks": [["x", 0]]}, UnknownParameter),
        ({"blocks": [["w", 1]]}, UnknownParameter),
        ({"blocks": [["w", 0], ["w", 0]]}, Malformed),
        ({"blocks": [["w"]]}, Malformed),
        ({"blocks": [["w", True]]}, Malformed),
        ({"blocks": "w"}, Malformed),
        ({"trainer": -1}, Malformed),
        ({"pass_number": -1}, Malformed),
        ({"step": 1.5}, Malformed),
        ({"step": None}, Malformed),
        ({"trainer": 7}, Gone),
        ({"request": "push_delta"}, Malformed),
        ({"request": "nothing"}, Malformed),
        ({"request": "\x1b[2J"}, Malformed),
        ({"protocol": PROTOCOL + 1}, WrongVersion),
        ({"more": 1}, Malformed),
        ({"job": "another"}, WrongJob),
        ({"blocks": [["w", 0]] * 2}, Malformed),
        ({"version": "new"}, Malformed),
    ],
    ids=str,
)
def test_refused_headers(change, error):
    group = Group(1, SMALL)
    before = untouched(group)
    header = {
        "protocol": PROTOCOL,
        "job": JOB,
        "request": "push",
        "trainer": 0,
        "incarnation": 0,
        "step": 0,
        "blocks": [["w", 0]],
        **change,
    }
    with pytest.raises(error) as raised:
        understood(*group.servers[0].handle(wire.pack(header), [OTHER]))
    assert type(raised.value) is error and untouched(group) == before
    group.push({"w": OTHER})


@pytest.mark.parametrize(
    "blocks, arrays, error",
    [
        (["w"], [np.ones(5, "float32")], WrongShape),
        (["w"], [np.ones((1, 6), "float32")], WrongShape),
        (["w"], [np.ones(6)], WrongDtype),
        (["w"], [np.ones(6, "int64")], WrongDtype),
        (["w"], [], Malformed),
        (["w"], [OTHER, OTHER], Malformed),
        (["t"], [ROWS[1]], Malformed),
        (["t"], [ROWS[0], ROWS[1][:1]], WrongShape),
        (["t"], [np.array([5, 1]), ROWS[1]], WrongRow),
        (["t"], [np.array([-1, 1]), ROWS[1]], WrongRow),
        (["t"], [np.array([1 << 62, 1]), ROWS[1]], WrongRow),
        (["t"], [ROWS[0].astype("float64"), ROWS[1]], WrongDtype),
        (["t"], [ROWS[0].reshape(2, 1), ROWS[1]], WrongShape),
        (["t"], [ROWS[0], ROWS[1].astype("float64")], WrongDtype),
        (["t", "w"], [*ROWS, OTHER * np.nan], NotFinite),
        (["w", "t"], [OTHER, ROWS[0], ROWS[1] * np.float32("inf")], NotFinite),
        (["t", "w"], [*ROWS, np.ones(5, "float32")], WrongShape),
        (["t", "x"], [*ROWS, OTHER], UnknownParameter),
    ],
    ids=lambda value: None if isinstance(value, list) and value and not isinstance(value[0], str) else str(value),
)
def test_refused_arrays(blocks, arrays, error):
    """No block of a push is applied if one of them is wrong."""
    group = Group(1, SMALL)
    before = untouched(group)
    with pytest.raises(error):
        call(group.servers[0], "push", arrays, trainer=0, incarnation=0, step=0, blocks=[[name, 0] for name in blocks])
    values, version, pushes = untouched(group)
    assert (values, version, pushes) == before
    assert not group.push({"w": OTHER}, step=0)[0]["repeated"]


@pytest.mark.parametrize(
    "name, fields, arrays, error",
    [
        ("pull", {"blocks": [["x", 0]]}, [], UnknownParameter),
        ("pull", {"blocks": 3}, [], Malformed),
        ("pull", {"blocks": [], "average": 0}, [], None),
        ("pull", {"x": 1}, [], Malformed),
        ("pull", {"blocks": [["w", 0]], "average": 0}, [], ClusterError),
        ("pull", {"rows": [["w", 0]]}, [np.array([0])], WrongShape),
        ("pull", {"rows": [["t", 0]]}, [], Malformed),
        ("pull", {"rows": [["t", 0]]}, [np.array([5])], WrongRow),
        ("pull", {"min_version": -1}, [], Malformed),
        ("compare", {"blocks": [[["w", [6], "float32", False, True], ["w", 0, 0, 6, 0], "digest"]]}, [], None),
        ("compare", {"blocks": 3}, [], Malformed),
        ("compare", {"blocks": [[["x", [6], "float32", False, False], ["x", 0, 0, 6, 0], ""]]}, [], UnknownParameter),
        ("compare", {"blocks": [[["w", [2, 3], "float32", False, False], ["w", 0, 0, 6, 0], ""]]}, [], WrongShape),
        ("compare", {"blocks": [[["w", [6], "float64", False, False], ["w", 0, 0, 6, 0], ""]]}, [], WrongShape),
        ("compare", {"blocks": [[["w", [6], "float32", True, False], ["w", 0, 0, 6, 0], ""]]}, [], WrongShape),
        ("compare", {"blocks": [[["w", [6], "float32", False, False], ["w", 0, 0, 5, 0], ""]]}, [], WrongShape),
        ("compare", {"blocks": [["w", 0, "digest"]]}, [], Malformed),
        ("checkpoint", {}, [], ClusterError),
        ("members", {"membership": 1, "trainers": [[0, 0], [0, 1]]}, [], Malformed),
        ("members", {"membership": 1, "trainers": [0]}, [], Malformed),
        ("members", {"membership": 1, "trainers": [[0, "a"]]}, [], Malformed),
        ("members", {"membership": 1, "trainers": [[True, 1]]}, [], Malformed),
    ],
    ids=str,
)
def test_other_requests(name, fields, arrays, error):
    group = Group(1, SMALL)
    before = untouched(group)
    if error:
        with pytest.raises(error):
            call(group.servers[0], name, arrays, **fields)
    else:
        call(group.servers[0], name, arrays, **fields)
    assert untouched(group) == before


@pytest.mark.parametrize(
    "change, text",
    [
        ({"server": 1}, "is for server 1, this is 0"),
        ({"config": "?"}, "must be base64"),
        ({"config": base64.b64encode(b"\xff").decode()}, "the optimizer of 'w'"),
        ({"end": 5}, "it must be \\[5\\]"),
        ({"end": 7}, "is 0 to 7 of 6"),
        ({"shape": [5]}, "is 0 to 6 of 5"),
        ({"dtype": "float64"}, "must be float64"),
        ({"shape": [1 << 40, 1 << 40]}, "2\\^48"),
        ({"shape": [True]}, "'info' is .*a list, each an integer"),
        ({"name": ""}, "not a valid parameter name"),
        ({"parameter": "x"}, "of 'x' is 0 to 6 of 6 of 'w'"),
        ({"sparse": 1}, "'info' is .*sparse: true or false"),
        ({"dtype": "int64"}, "float32 or float64"),
        ({"config": None}, "config"),
        ({"number": None}, "'block' is .*number: an integer"),
    ],
)
def test_refused_beginnings(change, text):
    group = Group(1, {"w": SMALL["w"]}, begin=False)
    right = new_block(group.infos["w"], group.plan[0], config())
    info, block = (
        {name: change.get(name, value) for name, value in one._asdict().items()}
        for one in (group.infos["w"], group.plan[0]._replace(number=1))
    )
    wrong = {
        **right,
        "info": list(info.values()),
        "block": list(block.values()),
        **{name: change[name] for name in change if name == "config"},
    }
    with pytest.raises(ClusterError, match=text):
        call(group.servers[0], "init", [OTHER, OTHER], token=1, blocks=[right, wrong])
    assert group.status()["blocks"] == 0, "the block that was right is not taken either"
    with pytest.raises(Malformed):
        call(group.servers[0], "init", [OTHER], token=1, blocks=[None])


def test_optimizers_that_cannot_do_rows_are_refused_at_the_beginning():
    with pytest.raises(Malformed, match="the optimizer of 't'"):
        Group(1, {"t": (np.zeros((5, 2), "float32"), config("Lars"), True)})


@pytest.mark.parametrize("index, servers", [(4, 4), (7, 4), (-1, 4), (True, 4), (0.0, 4)])
def test_no_such_server(index, servers):
    with pytest.raises(Malformed, match="is not in \\[0, 4\\)"):
        ParameterServer(index, ServerSettings(JOB, servers, 1))


@pytest.mark.parametrize(
    "change",
    [
        {"job": ""},
        {"job": 3},
        {"servers": 0},
        {"servers": 1.0},
        {"trainers": 0},
        {"mode": "half"},
        {"stale_limit": -1},
        {"mode": "elastic"},
        {"alpha": 0.0},
        {"alpha": 1.0},
        {"checkpoint_seconds": 0},
        {"alpha": "1"},
        {"stale_limit": [1]},
        {"stale_limit": float("nan")},
    ],
)
def test_no_settings(change):
    with pytest.raises(Malformed):
        ServerSettings(**{"job": JOB, "servers": 1, "trainers": 1, **change})


WORDS = st.sampled_from(
    [
        "token",
        "blocks",
        "trainer",
        "step",
        "incarnation",
        "membership",
        "trainers",
        "rows",
        "count",
        "min_version",
        "average",
        "pass_number",
    ]
)
PAIRS = st.lists(st.integers() | st.lists(st.sampled_from(["w", "t", 0, 1, -1]), max_size=3), max_size=3)
FIELDS = st.dictionaries(
    WORDS,
    st.none()
    | st.integers(-2, 3)
    | st.text(max_size=3)
    | PAIRS
    | st.dictionaries(st.sampled_from(["parameter", "shape"]), st.integers()),
)
NAMES = st.sampled_from(["init", "finish_init", "push", "push_delta", "pull", "members", "status"])
REQUESTS = st.binary(max_size=60) | st.builds(lambda name, fields: request(JOB, name, **fields), NAMES, FIELDS)
ARRAYS = st.lists(st.sampled_from([OTHER, ROWS[0], ROWS[1], np.zeros(0), None, 3, OTHER[::2]]), max_size=2)


@settings(max_examples=200)
@given(st.lists(REQUESTS, max_size=8), ARRAYS)
def test_garbage_does_not_end_a_server(requests, arrays):
    group = Group(1, SMALL)
    for data in requests:
        header, _ = group.servers[0].handle(data, arrays)
        reply = wire.unpack(header)
        assert "ok" in reply or reply["error"]["kind"] != "failed" or b"average" in data, header
    assert group.status()["initialised"] and group.pull().keys() == SMALL.keys()

# Servers that one trainer asks: beginning, pushes, pulls, and what is refused. P3-P9, P13, P17-P19, P23-P26.
import base64

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import paddle_mini as pm
from paddle_mini.cluster import (
    AlreadyInitialised, ClusterError, Gone, Malformed, NotFinite, NotInitialised, ParameterInfo, StaleToken,
    UnknownParameter, WrongDtype, WrongJob,
    WrongRow, WrongShape, WrongVersion, plan_shards, wire,
)
from paddle_mini.cluster.held import about
from paddle_mini.cluster.server import ParameterServer
from paddle_mini.cluster.settings import ServerSettings
from server_calls import JOB, Group, call, config, generator

SMALL = {"w": (np.arange(6, dtype="float32"), config(), False),
         "t": (np.zeros((5, 2), "float32"), config("Adagrad"), True)}
OTHER = np.ones(6, "float32")
ROWS = (np.array([3, 1]), np.ones((2, 2), "float32"))


def random(shape, seed, dtype="float32"):
    return np.asarray(generator(str(seed)).standard_normal(shape), dtype)


def untouched(group):
    """What a refused request must leave as it was."""
    status = group.status()
    return {name: value.tobytes() for name, value in group.pull().items()}, status["version"], status["pushes"]


def test_life_of_a_server():
    group = Group(1, SMALL, begin=False)
    server, values = group.servers[0], {name: given[0] for name, given in SMALL.items()}
    assert call(server, "pull", blocks=[["w", 0]])[0]["wait"]
    with pytest.raises(NotInitialised):
        group.push({"w": OTHER})
    group.init(values, finish=False)
    with pytest.raises(NotInitialised):
        group.push({"w": OTHER})
    assert call(server, "pull", blocks=[["w", 0]])[0]["wait"] and not group.status()["initialised"]
    with pytest.raises(NotInitialised, match="2 blocks have come, the initialiser gave 3"):
        call(server, "finish_init", token=1, count=3)
    call(server, "finish_init", token=1, count=2)
    assert call(server, "finish_init", token=1, count=2)[0]["repeated"]
    for name, fields in (("init", {"blocks": []}), ("finish_init", {"count": 2})):
        with pytest.raises(AlreadyInitialised):
            call(server, name, token=2, **fields)
    with pytest.raises(AlreadyInitialised):
        group.init({name: value + 1 for name, value in values.items()}, token=1)
    assert all(np.array_equal(value, values[name]) for name, value in group.pull().items())
    assert group.status()["bytes"] == 6 * 4 + 10 * 4


def test_another_initialiser():
    """The second one's values, all of them, count; the first one's token is over."""
    group = Group(1, SMALL, begin=False)
    group.init({"w": OTHER, "t": np.ones((5, 2), "float32")}, token=1, finish=False)
    described = {**about(group.infos["w"], group.blocks(0)[1]), "config": base64.b64encode(config()).decode()}
    call(group.servers[0], "init", [3 * OTHER], token=5, blocks=[described])
    with pytest.raises(StaleToken):
        group.init({"w": OTHER, "t": np.ones((5, 2), "float32")}, token=1)
    with pytest.raises(NotInitialised, match="1 blocks have come"):
        call(group.servers[0], "finish_init", token=5, count=2)
    group.init({"w": 2 * OTHER, "t": np.zeros((5, 2), "float32")}, token=5)
    assert np.array_equal(group.pull()["w"], 2 * OTHER)


def test_a_finish_that_was_cut_off_is_repeated():
    """P8: the second server did not get the first finish."""
    group = Group(2, SMALL, begin=False)
    group.init({name: given[0] for name, given in SMALL.items()}, finish=False)
    call(group.servers[0], "finish_init", token=1, count=1)
    assert not group.status(1)["initialised"]
    for server in group.servers:
        call(server, "finish_init", token=1, count=1)
    assert group.status(1)["initialised"]


@pytest.mark.parametrize("change, error", [
    ({"blocks": [["x", 0]]}, UnknownParameter), ({"blocks": [["w", 1]]}, UnknownParameter),
    ({"blocks": [["w", 0], ["w", 0]]}, Malformed),
    ({"blocks": [["w"]]}, Malformed), ({"blocks": [["w", True]]}, Malformed), ({"blocks": "w"}, Malformed),
    ({"trainer": -1}, Malformed),
    ({"step": 1.5}, Malformed), ({"step": None}, Malformed), ({"trainer": 7}, Gone),
    ({"request": "push_delta"}, Malformed),
    ({"request": "nothing"}, Malformed), ({"request": "\x1b[2J"}, Malformed), ({"protocol": 2}, WrongVersion),
    ({"job": "another"}, WrongJob),
    ({"blocks": [["w", 0]] * 2}, Malformed), ({"version": "new"}, Malformed),
], ids=str)
def test_refused_headers(change, error):
    group = Group(1, SMALL)
    before = untouched(group)
    header = {"protocol": 1, "job": JOB, "request": "push", "trainer": 0, "incarnation": 0, "step": 0,
              "blocks": [["w", 0]], **change}
    with pytest.raises(error) as raised:
        wire.understood(*group.servers[0].handle(wire.pack(header), [OTHER]))
    assert type(raised.value) is error and untouched(group) == before
    group.push({"w": OTHER})


@pytest.mark.parametrize("blocks, arrays, error", [
    (["w"], [np.ones(5, "float32")], WrongShape), (["w"], [np.ones((1, 6), "float32")], WrongShape),
    (["w"], [np.ones(6)], WrongDtype),
    (["w"], [np.ones(6, "int64")], WrongDtype), (["w"], [], Malformed), (["w"], [OTHER, OTHER], Malformed),
    (["t"], [ROWS[1]], Malformed),
    (["t"], [ROWS[0], ROWS[1][:1]], WrongShape), (["t"], [np.array([5, 1]), ROWS[1]], WrongRow),
    (["t"], [np.array([-1, 1]), ROWS[1]], WrongRow),
    (["t"], [np.array([1 << 62, 1]), ROWS[1]], WrongRow), (["t"], [ROWS[0].astype("float64"), ROWS[1]], WrongDtype),
    (["t"], [ROWS[0].reshape(2, 1), ROWS[1]], WrongShape), (["t"], [ROWS[0], ROWS[1].astype("float64")], WrongDtype),
    (["t", "w"], [*ROWS, OTHER * np.nan], NotFinite),
    (["w", "t"], [OTHER, ROWS[0], ROWS[1] * np.float32("inf")], NotFinite),
    (["t", "w"], [*ROWS, np.ones(5, "float32")], WrongShape), (["t", "x"], [*ROWS, OTHER], UnknownParameter),
], ids=lambda value: None if isinstance(value, list) and value and not isinstance(value[0], str) else str(value))
def test_refused_arrays(blocks, arrays, error):
    """Nothing of a push is applied when one of its blocks is wrong."""
    group = Group(1, SMALL)
    before = untouched(group)
    with pytest.raises(error):
        call(group.servers[0], "push", arrays, trainer=0, incarnation=0, step=0, blocks=[[name, 0] for name in blocks])
    values, version, pushes = untouched(group)
    assert (values, version) == before[:2]
    assert pushes == {**before[2], **({"sent": 1, "dropped": 1} if error is NotFinite else {})}
    if error is NotFinite:
        with pytest.raises(NotFinite, match="dropped before"):
            group.push({"w": OTHER}, step=0)
    assert "repeated" not in group.push({"w": OTHER}, step=1)[0]


@pytest.mark.parametrize("name, fields, arrays, error", [
    ("pull", {"blocks": [["x", 0]]}, [], UnknownParameter), ("pull", {"blocks": 3}, [], Malformed),
    ("pull", {"blocks": [], "average": 0, "x": 1}, [], None),
    ("pull", {"blocks": [["w", 0]], "average": 0}, [], ClusterError),
    ("pull", {"rows": [["w", 0]]}, [np.array([0])], WrongShape),
    ("pull", {"rows": [["t", 0]]}, [], Malformed), ("pull", {"rows": [["t", 0]]}, [np.array([5])], WrongRow),
    ("pull", {"min_version": -1}, [], Malformed), ("set_pass", {}, [], Malformed), ("set_pass", {"pass": 1}, [], None),
    ("checkpoint", {}, [], ClusterError),
    ("members", {"membership": 1, "trainers": [[0, 0], [0, 1]]}, [], Malformed),
    ("members", {"membership": 1, "trainers": [0]}, [], Malformed),
    ("members", {"membership": 1, "trainers": [[0, "a"]]}, [], Malformed),
    ("members", {"membership": 1, "trainers": [[True, 1]]}, [], Malformed),
], ids=str)
def test_other_requests(name, fields, arrays, error):
    group = Group(1, SMALL)
    before = untouched(group)
    if error:
        with pytest.raises(error):
            call(group.servers[0], name, arrays, **fields)
    else:
        call(group.servers[0], name, arrays, **fields)
    assert untouched(group) == before


@pytest.mark.parametrize("change, text", [
    ({"server": 1}, "is for server 1, this is 0"), ({"config": "?"}, "no base64"),
    ({"config": base64.b64encode(b"\xff").decode()}, "the optimizer of 'w'"),
    ({"end": 5}, "it must be \\[5\\]"), ({"end": 7}, "is 0 to 7 of 6"), ({"shape": [5]}, "is 0 to 6 of 5"),
    ({"dtype": "float64"}, "must be float64"),
    ({"shape": [1 << 40, 1 << 40]}, "2\\^48"), ({"shape": [True]}, "whole numbers"), ({"parameter": ""}, "no name"),
    ({"sparse": 1}, "sparse"),
    ({"dtype": "int64"}, "float32 or float64"), ({"config": None}, "config"), ({"number": None}, "number"),
])
def test_refused_beginnings(change, text):
    group = Group(1, {"w": SMALL["w"]}, begin=False)
    described = {**about(group.infos["w"], group.plan[0]), "config": base64.b64encode(config()).decode()}
    with pytest.raises(ClusterError, match=text):
        call(group.servers[0], "init", [OTHER, OTHER], token=1,
             blocks=[described, {**described, "number": 1, **change}])
    assert group.status()["blocks"] == 0, "the block that was right is not taken either"
    with pytest.raises(Malformed):
        call(group.servers[0], "init", [OTHER], token=1, blocks=[None])


def test_optimizers_that_cannot_do_rows_are_refused_at_the_beginning():
    with pytest.raises(Malformed, match="the optimizer of 't'"):
        Group(1, {"t": (np.zeros((5, 2), "float32"), config("Lars"), True)})


@pytest.mark.parametrize("index, servers", [(4, 4), (7, 4), (-1, 4), (True, 4), (0.0, 4)])
def test_no_such_server(index, servers):
    with pytest.raises(Malformed, match="is none of 4"):
        ParameterServer(index, ServerSettings(JOB, servers, 1))


@pytest.mark.parametrize("change", [{"job": ""}, {"job": 3}, {"servers": 0}, {"servers": 1.0}, {"trainers": 0},
                                    {"mode": "half"}, {"stale_limit": -1},
                                    {"mode": "elastic"}, {"alpha": 0.0}, {"alpha": 1.0}, {"checkpoint_seconds": 0},
                                    {"stale_limit": float("nan")}])
def test_no_settings(change):
    with pytest.raises(Malformed):
        ServerSettings(**{"job": JOB, "servers": 1, "trainers": 1, **change})


WORDS = st.sampled_from(["token", "blocks", "trainer", "step", "incarnation", "membership", "trainers", "rows", "count",
                         "min_version", "average", "pass"])
PAIRS = st.lists(st.integers() | st.lists(st.sampled_from(["w", "t", 0, 1, -1]), max_size=3), max_size=3)
FIELDS = st.dictionaries(WORDS, st.none() | st.integers(-2, 3) | st.text(max_size=3) | PAIRS | st.dictionaries(
    st.sampled_from(["parameter", "shape"]), st.integers()))
NAMES = st.sampled_from(["init", "finish_init", "push", "push_delta", "pull", "members", "set_pass", "status"])
REQUESTS = st.binary(max_size=60) | st.builds(lambda name, fields: wire.request(JOB, name, **fields), NAMES, FIELDS)
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


def test_a_thousand_parameters_in_the_order_that_was_asked():
    """P7."""
    parameters = {f"p{number}": (np.full(25 * (number + 1), number, "float32"), config()) for number in range(1000)}
    group = Group(10, parameters)
    for index, server in enumerate(group.servers):
        blocks = group.blocks(index)[::-1]
        _, arrays = call(server, "pull", blocks=[[block.parameter, block.number] for block in blocks])
        expected = [parameters[block.parameter][0][block.begin:block.end] for block in blocks]
        assert [array.tobytes() for array in arrays] == [array.tobytes() for array in expected]


MANY = {
    "w": (random((300, 120), 1), config("Adam", averaging=[{"scheme": "exponential", "decay": 0.9}])),
    "b": (random((120,), 2), config("SGD with momentum")),
    "v": (random((40000,), 3, "float64"), config("RMSProp", l2_rate=0.01)),
    "t": (random((2000, 17), 4), config("Adagrad"), True),
    "u": (random((900, 30), 5), config("Adam", row_policy="LikeZeros"), True),
    "l": (random((200, 100), 6), config("Lamb"), False, True),
    "s": (random((), 7), config("Ftrl")), "empty": (np.zeros((0, 3), "float32"), config()),
    "c": (random((30000,), 8), config(lr_policy="Exp",
                                      exp_lr={"learning_rate": 0.1, "lr_decay_a": 0.9, "lr_decay_b": 3.0})),
}


def gradients_of(step):
    found = {}
    for name, (value, _, *more) in MANY.items():
        if more[:1] == [True]:
            rows = generator(f"rows {name} {step}").integers(0, len(value), 50)
            found[name] = (rows, random((50, *value.shape[1:]), f"{name} {step}", value.dtype))
        else:
            found[name] = np.asarray(random(value.shape, f"{name} {step}", value.dtype))
    return found


def local(steps):
    optimizers = {name: pm.optimizer.NativeOptimizer(given[1], given[0]) for name, given in MANY.items()}
    for step in range(steps):
        for name, gradient in gradients_of(step).items():
            if isinstance(gradient, tuple):
                optimizers[name].update_rows(*gradient)
            else:
                optimizers[name].update(gradient)
    return optimizers


@pytest.mark.parametrize("mode", ["async", "sync"])
@pytest.mark.parametrize("servers", [1, 2, 3, 5])
def test_servers_are_one_optimizer_to_the_bit(servers, mode):
    """P9, P19: dense parameters and tables, each with its own optimizer; the averages too."""
    group, expected = Group(servers, MANY, mode=mode), local(6)
    for step in range(6):
        group.push(gradients_of(step), step=step)
    found = group.pull(min_version=6)
    assert [name for name in MANY if found[name].tobytes() != expected[name].parameter().tobytes()] == []
    for index in range(servers):
        for block in group.blocks(index):
            if block.parameter == "w":
                _, (values,) = call(group.servers[index], "pull", blocks=[["w", block.number]], average=0)
                assert values.tobytes() == expected["w"].average().reshape(-1)[block.begin:block.end].tobytes()


def test_rows():
    """P18: only rows that are named change, those named twice get the sum; rows come by their numbers, in any order."""
    value = random((3000, 17), "rows")
    group = Group(3, {"t": (value, config(), True)})
    rows, gradient = np.array([2999, 5, 1500, 5]), random((4, 17), "gradient")
    group.push({"t": (rows, gradient)})
    expected = value.copy()
    np.subtract.at(expected, rows, np.float32(0.1) * gradient)
    np.testing.assert_allclose(group.pull()["t"], expected, rtol=1e-6)
    assert np.array_equal(np.delete(group.pull()["t"], rows, 0), np.delete(value, rows, 0))
    for index, block in enumerate(group.plan):
        asked = np.array([block.end - 1, block.begin, block.end - 1])
        _, (found,) = call(group.servers[block.server], "pull", [asked], rows=[["t", block.number]])
        assert np.array_equal(found, group.pull()["t"][asked])
        with pytest.raises(WrongRow, match=f"row {block.end} of 't' is not in block {index}"):
            call(group.servers[block.server], "pull", [np.array([block.end])], rows=[["t", block.number]])


def test_a_push_counts_once():
    """P13; also that a server which missed its part gets it, and the others do not get theirs twice."""
    group = Group(2, MANY)
    group.push(gradients_of(0), step=0, only=[1])
    first, second = group.push(gradients_of(0), step=0)
    assert "repeated" not in first and second["repeated"]
    for _ in range(3):
        assert all(reply["repeated"] for reply in group.push(gradients_of(0), step=0))
    group.push(gradients_of(1), step=7)
    assert all(reply["repeated"] for reply in group.push(gradients_of(0), step=3)), "it comes after a later one"
    expected = local(2)
    found = group.pull()
    assert [name for name in MANY if found[name].tobytes() != expected[name].parameter().tobytes()] == []
    assert group.status(0)["pushes"] == {"sent": 2, "applied": 2, "dropped": 0, "repeated": 4, "waiting": 0}
    assert "repeated" not in group.push({}, step=0, incarnation=1)[0], "a trainer that was started again counts anew"
    with pytest.raises(Gone, match="at incarnation 1, this is 0"):
        group.push({}, step=8, incarnation=0)


def test_pulls_are_copies():
    """P25: what was pulled does not change, nor change the server, and what was pushed may be written over."""
    group = Group(1, SMALL, 2, mode="sync")
    before = group.pull()
    before["w"][:] = 100
    gradient = OTHER.copy()
    group.push({"w": gradient}, trainer=0)
    gradient[:] = 1000
    group.push({"w": OTHER}, trainer=1)
    after = group.pull()
    assert np.array_equal(before["w"], np.full(6, 100, "float32"))
    np.testing.assert_allclose(after["w"], np.arange(6) - 0.1, rtol=1e-6)


def test_all_of_a_pull_is_of_one_version():
    group = Group(1, {"a": SMALL["w"], "b": SMALL["w"]})
    for step in range(3):
        group.push({"a": OTHER, "b": OTHER}, step=step)
        reply, (a, b) = call(group.servers[0], "pull", blocks=[["a", 0], ["b", 0]])
        assert np.array_equal(a, b) and reply["version"] == step + 1


def test_passes():
    """P26: a policy that goes by passes is told of them; other policies count the updates of the server."""
    segments = [{"bound": 0, "rate": 1.0}, {"bound": 1, "rate": 0.5}]
    policy = {"lr_policy": "PassManual", "pass_manual_lr": {"learning_rate": 1.0, "segments": segments}}
    group = Group(1, {"w": (np.zeros(6, "float32"), config(**policy))})
    group.push({"w": OTHER}, step=0)
    call(group.servers[0], "set_pass", **{"pass": 1})
    group.push({"w": OTHER}, step=1)
    assert np.array_equal(group.pull()["w"], np.full(6, -1.5, "float32"))


def failing(error):
    def called(*arguments):
        raise error
    return called


def test_a_table_that_refuses_comes_before_all_else(monkeypatch):
    """Whatever the order in the push: then nothing has changed."""
    group = Group(1, SMALL)
    before = untouched(group)[0]
    table = group.servers[0]._held["t", 0].native
    monkeypatch.setattr(table, "update_rows", failing(pm.ProgramError("too high a rate")))
    for blocks, arrays in ((["t", "w"], [*ROWS, OTHER]), (["w", "t"], [OTHER, *ROWS])):
        with pytest.raises(ClusterError, match="'t': too high a rate; 0 of 2 blocks were changed"):
            call(group.servers[0], "push", arrays, trainer=0, incarnation=0, step=len(arrays) + blocks.index("t"),
                 blocks=[[name, 0] for name in blocks])
    assert untouched(group)[0] == before


def test_an_optimizer_that_fails_midway(monkeypatch):
    """The push is told of, counted as dropped, and not applied again; how much of it was, is said."""
    group = Group(1, {"a": SMALL["w"], "b": SMALL["w"], "c": SMALL["w"]})
    held = group.servers[0]._held
    monkeypatch.setattr(held["b", 0].native, "update", failing(pm.DeviceError("no memory")))
    gradients = {name: OTHER for name in "abc"}
    with pytest.raises(ClusterError, match="block 0 of 'b': no memory; 1 of 3 blocks were changed"):
        group.push(gradients)
    monkeypatch.undo()
    with pytest.raises(ClusterError, match="dropped before"):
        group.push(gradients)
    assert group.status()["pushes"] == {"sent": 1, "applied": 0, "dropped": 1, "repeated": 1, "waiting": 0}


def test_a_large_parameter():
    """P24."""
    value = np.zeros((25, 1 << 20), "float32")
    group = Group(1, {"w": (value, config())})
    group.push({"w": value})
    assert group.pull()["w"].nbytes == 100 << 20


def test_a_plan_is_what_the_blocks_say():
    assert plan_shards([ParameterInfo("w", (6,), "float32")], 1) == Group(1, {"w": SMALL["w"]}).plan

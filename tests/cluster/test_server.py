# Servers with one trainer: initialisation, pushes, pulls.
import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini.cluster import (
    AlreadyInitialised,
    ClusterError,
    Gone,
    NotInitialised,
    ParameterInfo,
    StaleToken,
    WrongRow,
    plan_shards,
)
from server_calls import OTHER, ROWS, SMALL, Group, call, config, generator, new_block
from small_model import assert_same_bits


def random(shape, seed, dtype="float32"):
    return np.asarray(generator(str(seed)).standard_normal(shape), dtype)


def waits_for_parameters(server):
    push = {"trainer": 0, "incarnation": 1, "step": 0, "blocks": [["w", 0]], "membership": 0}
    replies = [call(server, "pull", blocks=[["w", 0]])[0], call(server, "push", [OTHER], **push)[0]]
    return all(reply["wait"] and reply["token"] is None for reply in replies)


def test_life_of_a_server():
    group = Group(1, SMALL, begin=False)
    server, values = group.servers[0], {name: given[0] for name, given in SMALL.items()}
    assert waits_for_parameters(server)
    group.init(values, finish=False)
    assert waits_for_parameters(server) and not group.status()["initialised"]
    with pytest.raises(NotInitialised, match="2 blocks have arrived, the initialiser sent 3"):
        call(server, "finish_init", token=1, count=3)
    call(server, "finish_init", token=1, count=2)
    assert call(server, "finish_init", token=1, count=2)[0]["repeated"]
    group.pull()
    for name, fields in (("init", {"blocks": []}), ("finish_init", {"count": 2})):
        with pytest.raises(AlreadyInitialised):
            call(server, name, token=2, **fields)
    with pytest.raises(AlreadyInitialised):
        group.init({name: value + 1 for name, value in values.items()}, token=1)
    assert all(np.array_equal(value, values[name]) for name, value in group.pull().items())
    assert group.status()["bytes"] == 6 * 4 + 10 * 4


def test_another_initialiser():
    """All values of the second one count; the first one's token has expired."""
    group = Group(1, SMALL, begin=False)
    group.init({"w": OTHER, "t": np.ones((5, 2), "float32")}, token=1, finish=False)
    described = new_block(group.infos["w"], group.blocks(0)[1], config())
    call(group.servers[0], "init", [3 * OTHER], token=5, blocks=[described])
    with pytest.raises(StaleToken):
        group.init({"w": OTHER, "t": np.ones((5, 2), "float32")}, token=1)
    with pytest.raises(NotInitialised, match="1 blocks have arrived"):
        call(group.servers[0], "finish_init", token=5, count=2)
    group.init({"w": 2 * OTHER, "t": np.zeros((5, 2), "float32")}, token=5)
    assert np.array_equal(group.pull()["w"], 2 * OTHER)


@pytest.mark.parametrize("restarted", [False, True])
def test_an_initialiser_that_died_when_some_servers_had_all(tmp_path, restarted):
    """Those get the next one's values too, until one of their values is pulled; after that, none."""
    group = Group(2, SMALL, begin=False, directory=str(tmp_path))
    group.init({"w": OTHER, "t": np.ones((5, 2), "float32")}, token=1, finish=False)
    call(group.servers[0], "finish_init", token=1, count=1)
    if restarted:
        group.restart(0)
    with pytest.raises(AlreadyInitialised):
        group.init({"w": 3 * OTHER, "t": np.ones((5, 2), "float32")}, token=1)
    group.init({"w": 2 * OTHER, "t": np.zeros((5, 2), "float32")}, token=5, finish=False)
    assert [group.status(index)["initialised"] for index in range(2)] == [False, False]
    for server in group.servers:
        call(server, "finish_init", token=5, count=1)
    found = group.pull()
    assert np.array_equal(found["w"], 2 * OTHER) and not found["t"].any()
    group.push({"w": OTHER})
    for _ in range(2):
        with pytest.raises(AlreadyInitialised):
            group.init({"w": OTHER, "t": found["t"]}, token=6)
        for index, server in enumerate(group.servers):
            call(server, "checkpoint")
            group.restart(index)


def test_a_finish_that_was_cut_off_is_repeated():
    """The second server did not get the first finish."""
    group = Group(2, SMALL, begin=False)
    group.init({name: given[0] for name, given in SMALL.items()}, finish=False)
    call(group.servers[0], "finish_init", token=1, count=1)
    assert not group.status(1)["initialised"]
    for server in group.servers:
        call(server, "finish_init", token=1, count=1)
    assert group.status(1)["initialised"]


def test_a_thousand_parameters_in_the_order_that_was_asked():
    parameters = {f"p{number}": (np.full(25 * (number + 1), number, "float32"), config()) for number in range(1000)}
    group = Group(10, parameters)
    for index, server in enumerate(group.servers):
        blocks = group.blocks(index)[::-1]
        _, arrays = call(server, "pull", blocks=[[block.parameter, block.number] for block in blocks])
        expected = [parameters[block.parameter][0][block.begin : block.end] for block in blocks]
        assert [array.tobytes() for array in arrays] == [array.tobytes() for array in expected]


MANY = {
    "w": (random((300, 120), 1), config("Adam", averaging=[{"scheme": "exponential", "decay": 0.9}])),
    "b": (random((120,), 2), config("SGD with momentum")),
    "v": (random((40000,), 3, "float64"), config("RMSProp", l2_rate=0.01)),
    "t": (random((2000, 17), 4), config("Adagrad"), True),
    "u": (random((900, 30), 5), config("Adam", row_policy="LikeZeros"), True),
    "l": (random((200, 100), 6), config("Lamb"), False, True),
    "s": (random((), 7), config("Ftrl")),
    "empty": (np.zeros((0, 3), "float32"), config()),
    "c": (random((30000,), 8), config(lr_policy="Exp", exp_lr={"learning_rate": 0.1, "lr_decay_a": 0.9, "lr_decay_b": 3.0})),
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
    """Dense parameters and tables, each with its own optimizer; the averages too."""
    group, expected = Group(servers, MANY, mode=mode), local(6)
    for step in range(6):
        group.push(gradients_of(step), step=step)
    found = group.pull(min_version=6)
    assert [name for name in MANY if found[name].tobytes() != expected[name].parameter().tobytes()] == []
    for index in range(servers):
        for block in group.blocks(index):
            if block.parameter == "w":
                _, (values,) = call(group.servers[index], "pull", blocks=[["w", block.number]], average=0)
                assert values.tobytes() == expected["w"].average().reshape(-1)[block.begin : block.end].tobytes()


def test_rows():
    """Only rows that are named change, those named twice get the sum; rows are pulled by number, in any order."""
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
    """A server that missed its part of a push gets it, and the others do not get theirs twice."""
    group = Group(2, MANY)
    group.push(gradients_of(0), step=0, only=[1])
    first, second = group.push(gradients_of(0), step=0)
    assert not first["repeated"] and second["repeated"]
    for _ in range(3):
        assert all(reply["repeated"] for reply in group.push(gradients_of(0), step=0))
    group.push(gradients_of(1), step=7)
    assert all(reply["repeated"] for reply in group.push(gradients_of(0), step=3)), "it comes after a later one"
    expected = local(2)
    found = group.pull()
    assert [name for name in MANY if found[name].tobytes() != expected[name].parameter().tobytes()] == []
    assert group.status(0)["pushes"] == {"sent": 2, "applied": 2, "dropped": 0, "repeated": 4, "waiting": 0}
    assert not group.push({}, step=0, incarnation=1)[0]["repeated"], "the counter of a restarted trainer starts at 0"
    with pytest.raises(Gone, match="at incarnation 1, this is 0"):
        group.push({}, step=8, incarnation=0)


def test_pulls_are_copies():
    """Pulled arrays neither change nor change the server, and pushed arrays may be overwritten."""
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
    """A policy that depends on passes uses that of each push, the latest of those of a step; a push that is repeated,
    or arrives after a restart, has its own."""
    segments = [{"bound": 0, "rate": 1.0}, {"bound": 1, "rate": 0.5}]
    policy = {"lr_policy": "PassManual", "pass_manual_lr": {"learning_rate": 1.0, "segments": segments}}
    for mode, moved in (("async", 1.0 + 0.5 + 0.5 + 1.0), ("sync", 0.5 + 0.5)):
        group = Group(1, {"w": (np.zeros(6, "float32"), config(**policy))}, 2, mode=mode)
        for step, passes in enumerate([(0, 1), (1, 0)]):
            for _ in range(2):
                for trainer, number in enumerate(passes):
                    group.push({"w": OTHER}, trainer, step, pass_number=number)
        assert np.array_equal(group.pull()["w"], np.full(6, -moved, "float32"))


SEGMENTS = [{"bound": 1.0, "rate": 0.01}, {"bound": 2.0, "rate": 1e308}]
FAILS = config(lr_policy="Manual", manual_lr={"learning_rate": 10.0, "segments": SEGMENTS})
"""An optimizer whose second step has a learning rate that is infinite."""


@pytest.mark.parametrize("mode", ["async", "sync"])
def test_a_table_that_refuses_comes_before_all_else(mode):
    """In any order of the push; then nothing has changed."""
    group = Group(1, {"w": SMALL["w"], "t": (SMALL["t"][0], FAILS, True)}, mode=mode)
    group.push({"w": OTHER, "t": ROWS})
    before = group.pull()
    for blocks, arrays in ((["t", "w"], [*ROWS, OTHER]), (["w", "t"], [OTHER, *ROWS])):
        push = {"trainer": 0, "incarnation": 0, "step": 1 + blocks.index("t"), "blocks": [[name, 0] for name in blocks]}
        if mode == "sync":
            call(group.servers[0], "push", arrays, **push)  # a step that fails concerns all senders: it is logged
        else:
            with pytest.raises(ClusterError, match="'t'.*learning rate of update 2 is inf; 0 of 2 blocks were changed"):
                call(group.servers[0], "push", arrays, **push)
    assert_same_bits(group.pull(), before)


def test_an_optimizer_that_fails_midway():
    """The push is reported, counted as dropped, and not applied again; the message says how much of it was."""
    group = Group(1, {"a": SMALL["w"], "b": (SMALL["w"][0], FAILS), "c": SMALL["w"]})
    gradients = {name: OTHER for name in "abc"}
    group.push(gradients)
    with pytest.raises(ClusterError, match="block 0 of 'b'.*rate of update 2 is inf; 1 of 3 blocks were changed"):
        group.push(gradients, step=1)
    with pytest.raises(ClusterError, match="dropped before"):
        group.push(gradients, step=1)
    assert group.status()["pushes"] == {"sent": 2, "applied": 1, "dropped": 1, "repeated": 1, "waiting": 0}


def test_a_large_parameter():
    value = np.zeros((25, 1 << 20), "float32")
    group = Group(1, {"w": (value, config())})
    group.push({"w": value})
    assert group.pull()["w"].nbytes == 100 << 20


def test_a_plan_is_what_the_blocks_say():
    assert plan_shards([ParameterInfo("w", (6,), "float32")], 1) == Group(1, {"w": SMALL["w"]}).plan

# When servers apply what several trainers push: at once, in steps, as differences. P10-P16, P26.
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import paddle_mini as pm
from paddle_mini.cluster import ClusterError, Gone, Malformed, NotFinite, Stale
from server_calls import Group, call, config, generator

VALUE = generator("value").standard_normal(40).astype("float32")
TABLE = generator("table").standard_normal((30, 4)).astype("float32")
ONE = {"w": (VALUE, config(), False)}
BOTH = {"w": (VALUE, config("Adam"), False), "t": (TABLE, config("Adagrad"), True)}


def gradient(*seed):
    return generator(f"gradient {seed}").standard_normal(40).astype("float32")


def row_gradient(*seed):
    random = generator(f"rows {seed}")
    return random.integers(0, 30, 8), random.standard_normal((8, 4)).astype("float32")


def whole(rows, values):
    found = np.zeros_like(TABLE)
    np.add.at(found, rows, values)
    return found


def waits(group, version):
    return ["wait" in call(server, "pull", min_version=version)[0] for server in group.servers]


def counts(group, index=0):
    found = group.status(index)["pushes"]
    assert found["sent"] == found["applied"] + found["dropped"] + found["waiting"]
    return found


@pytest.mark.parametrize("trainers", [1, 2, 3, 4])
@pytest.mark.parametrize("servers", [1, 2])
def test_sync_is_one_big_batch(servers, trainers):
    """P10: the mean in the order of trainers, in whatever order they push; tables get the bits of dense gradients."""
    group = Group(servers, BOTH, trainers, mode="sync")
    w, t = (pm.optimizer.NativeOptimizer(given[1], given[0]) for given in BOTH.values())
    for step in range(4):
        dense = [gradient(step, trainer) for trainer in range(trainers)]
        rows = [row_gradient(step, trainer) for trainer in range(trainers)]
        rows = [(ids[:1], values[:1]) for ids, values in rows]  # each row once a trainer
        for trainer in generator(f"order {step}").permutation(trainers).tolist():
            assert waits(group, step + 1) == [True] * servers
            group.push({"w": dense[trainer], "t": rows[trainer]}, trainer, step)
        total, sums = dense[0].copy(), whole(*rows[0])
        for trainer in range(1, trainers):
            total += dense[trainer]
            sums += whole(*rows[trainer])
        named = np.unique(np.concatenate([ids for ids, _ in rows]))
        w.update(total / np.float32(trainers))
        t.update_rows(named, (sums / np.float32(trainers))[named])
        found = group.pull(min_version=step + 1)
        assert found["w"].tobytes() == w.parameter().tobytes() and found["t"].tobytes() == t.parameter().tobytes()


def test_a_big_batch_of_rows_in_full():
    group = Group(2, BOTH, 3, mode="sync")
    t = pm.optimizer.NativeOptimizer(BOTH["t"][1], TABLE)
    for step in range(3):
        rows = [row_gradient(step, trainer) for trainer in range(3)]
        for trainer in (2, 0, 1):
            group.push({"t": rows[trainer]}, trainer, step)
        t.update_rows(np.concatenate([ids for ids, _ in rows]),
                      np.concatenate([values for _, values in rows]) / np.float32(3))
    np.testing.assert_allclose(group.pull()["t"], t.parameter(), rtol=1e-5)


def test_a_block_that_a_trainer_leaves_out_counts_as_zero():
    group = Group(1, ONE, 2, mode="sync")
    group.push({"w": gradient(0)}, 0)
    group.push({}, 1)
    np.testing.assert_allclose(group.pull()["w"], VALUE - 0.05 * gradient(0), rtol=1e-5)


def test_a_trainer_that_leaves_is_waited_for_no_more():
    """P11: what it has pushed for the step is taken out; one that comes is waited for."""
    group = Group(1, ONE, 3, mode="sync")
    group.push({"w": gradient(0)}, 0)
    group.push({"w": gradient(1)}, 1)
    assert waits(group, 1) == [True]
    call(group.servers[0], "members", membership=1, trainers=[[0, 0], [2, 0]])
    assert waits(group, 1) == [True]
    group.push({"w": gradient(2)}, 2)
    np.testing.assert_allclose(group.pull(min_version=1)["w"], VALUE - 0.05 * (gradient(0) + gradient(2)), rtol=1e-5)
    assert counts(group) == {"sent": 3, "applied": 2, "dropped": 1, "repeated": 0, "waiting": 0}
    with pytest.raises(Gone, match="trainer 1 is no member"):
        group.push({"w": gradient(1)}, 1, 1)
    group.push({"w": gradient(0)}, 0, 1)
    call(group.servers[0], "members", membership=2, trainers=[[0, 0]])
    assert waits(group, 2) == [False], "the one that was waited for has left"
    assert call(group.servers[0], "members", membership=1, trainers=[])[0]["repeated"]
    call(group.servers[0], "members", membership=3, trainers=[[0, 0], [5, 2]])
    group.push({"w": gradient(0)}, 0, 2)
    assert waits(group, 3) == [True]
    group.push({"w": gradient(0)}, 5, 2, incarnation=2)
    assert waits(group, 3) == [False]


def test_a_trainer_that_was_started_again_counts_once():
    """P11: whether servers have heard of it or not."""
    for told in (False, True):
        group = Group(1, ONE, 2, mode="sync")
        group.push({"w": gradient(0)}, 0)
        if told:
            call(group.servers[0], "members", membership=1, trainers=[[0, 1], [1, 0]])
            with pytest.raises(Gone):
                group.push({"w": gradient(0)}, 0)
        group.push({"w": gradient(1)}, 0, incarnation=1)
        assert waits(group, 1) == [True]
        group.push({"w": gradient(2)}, 1)
        np.testing.assert_allclose(group.pull(min_version=1)["w"], VALUE - 0.05 * (gradient(1) + gradient(2)),
                                   rtol=1e-5)
        assert counts(group)["dropped"] == 1
        call(group.servers[0], "members", membership=2, trainers=[[0, 2], [1, 0]])
        with pytest.raises(Stale, match="step 0 was made without trainer 0, the next one is 1"):
            group.push({"w": gradient(0)}, 0, 0, incarnation=2)


def test_a_push_of_a_newer_membership_waits():
    group = Group(1, ONE, 1, mode="async")
    assert group.push({"w": gradient(0)}, 4, membership=3)[0]["wait"]
    call(group.servers[0], "members", membership=3, trainers=[[4, 0]])
    assert "wait" not in group.push({"w": gradient(0)}, 4, membership=3)[0]
    assert counts(group)["applied"] == 1


def test_repeats_while_a_step_waits():
    group = Group(1, ONE, 2, mode="sync")
    group.push({"w": gradient(0)}, 0)
    assert group.push({"w": gradient(0)}, 0)[0]["repeated"]
    assert group.push({"w": gradient(0)}, 0, 1)[0]["wait"], "it is not its turn"
    group.push({"w": gradient(1)}, 1)
    assert group.push({"w": gradient(1)}, 1)[0]["repeated"]
    assert counts(group) == {"sent": 2, "applied": 2, "dropped": 0, "repeated": 2, "waiting": 0}


def test_a_step_is_made_without_what_is_not_finite():
    group = Group(1, ONE, 2, mode="sync")
    for _ in range(2):
        with pytest.raises(NotFinite):
            group.push({"w": gradient(0) * np.float32("nan")}, 0)
    group.push({"w": gradient(1)}, 1)
    np.testing.assert_allclose(group.pull(min_version=1)["w"], VALUE - 0.1 * gradient(1), rtol=1e-5)
    for trainer in range(2):
        with pytest.raises(NotFinite):
            group.push({"w": gradient(0) * np.float32("inf")}, trainer, 1)
    assert group.status()["version"] == 2 and counts(group)["dropped"] == 3


def test_a_server_that_lost_steps_catches_up(tmp_path):
    """One trainer has the result of a step that the server lost, the other one pushes it again: both go on."""
    group = Group(1, ONE, 2, directory=str(tmp_path), mode="sync")
    for step in range(3):
        for trainer in range(2):
            group.push({"w": gradient(step, trainer)}, trainer, step)
    server = group.restart(0)
    assert call(server, "status")[0]["version"] == 0
    group.push({"w": gradient(3, 0)}, 0, 3)
    group.push({"w": gradient(2, 1)}, 1, 2)
    assert waits(group, 3) == [False]
    group.push({"w": gradient(3, 1)}, 1, 3)
    expected = VALUE - 0.1 * gradient(2, 1) - 0.05 * (gradient(3, 0) + gradient(3, 1))
    np.testing.assert_allclose(group.pull(min_version=4)["w"], expected, rtol=1e-5)


PUSHES = st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["push", "again", "old", "nan", "restart"])),
                  max_size=30)


@settings(max_examples=100)
@given(PUSHES, st.sampled_from([None, 0.0, 1.0, 2.0]))
def test_any_order_of_async_pushes(events, limit):
    """P12, P14: each push is applied once, or dropped and its sender told; the values are those of the applied ones."""
    group = Group(1, ONE, 3, stale_limit=limit)
    step, incarnation, pulled, told, expected = Counter(), Counter(), Counter(), Counter(), [VALUE.astype("float64")]
    last = {}
    for trainer, event in events:
        if event == "restart":
            incarnation[trainer] += 1
            last.pop(trainer, None)
        if event == "again" and trainer in last:
            try:
                assert group.push(*last[trainer][0], **last[trainer][1])[0]["repeated"]
            except ClusterError as error:
                assert "before" in str(error)
            continue
        step[trainer] += 1
        if event != "old":
            pulled[trainer] = group.status()["version"]
        given = gradient(trainer, step[trainer]) * np.float32("nan" if event == "nan" else 1)
        last[trainer] = (({"w": given}, trainer, step[trainer]),
                         {"incarnation": incarnation[trainer], "version": pulled[trainer]})
        behind = group.status()["version"] - pulled[trainer]
        try:
            group.push(*last[trainer][0], **last[trainer][1])
            told["applied"] += 1
            expected.append(expected[-1] - 0.1 * given)
            assert limit is None or behind <= 3 * limit
        except Stale:
            told["dropped"] += 1
            assert limit is not None and behind > 3 * limit
        except NotFinite:
            told["dropped"] += 1
    found = counts(group)
    assert (found["applied"], found["dropped"]) == (told["applied"], told["dropped"])
    assert found["sent"] == sum(step.values())
    assert group.status()["version"] == told["applied"]
    np.testing.assert_allclose(group.pull()["w"], expected[-1], rtol=1e-4, atol=1e-5)


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["push"] * 4 + ["again", "restart", "leave", "nan"])),
                max_size=60))
def test_any_order_of_sync_pushes(events):
    """Every step that a member pushes is made when all members have pushed it; each contribution counts once."""
    group = Group(1, ONE, 3, mode="sync")
    server = group.servers[0]
    members, membership, pushed = {0: 0, 1: 0, 2: 0}, 1, {}
    call(server, "members", membership=1, trainers=[[0, 0], [1, 0], [2, 0]])
    expected, version, dropped, waiting, sent = VALUE.astype("float64"), 0, 0, {}, 0
    for trainer, event in events:
        if event in ("restart", "leave"):
            membership += 1
            if event == "leave" and len(members) > 1 and trainer in members:
                del members[trainer]
            else:
                members[trainer] = members.get(trainer, membership) + 1
            call(server, "members", membership=membership, trainers=[list(pair) for pair in members.items()])
            dropped += waiting.pop(trainer, None) is not None
        elif trainer not in members:
            with pytest.raises(Gone):
                group.push({"w": gradient(0)}, trainer, version, 0)
            continue
        elif trainer in waiting and event != "again":
            assert group.push({"w": gradient(0)}, trainer, version + 1, members[trainer])[0]["wait"]
        elif event == "again" and trainer in pushed and pushed[trainer][2] == members[trainer]:
            given, step, incarnation = pushed[trainer]
            try:
                assert group.push({"w": given}, trainer, step, incarnation)[0]["repeated"]
            except NotFinite:
                assert np.isnan(given).all()
        else:
            given = gradient(trainer, version) * np.float32("nan" if event == "nan" else 1)
            pushed[trainer] = (given, version, members[trainer])
            sent += 1
            try:
                group.push({"w": given}, trainer, version, members[trainer])
                waiting[trainer] = given
            except NotFinite:
                dropped, waiting[trainer] = dropped + 1, None
        if waiting and all(member in waiting for member in members):
            good = [waiting[member] for member in sorted(members) if waiting[member] is not None]
            expected = expected - 0.1 * sum(good) / len(good) if good else expected
            version, waiting = version + 1, {}
        assert group.status()["version"] == version
    assert counts(group)["dropped"] == dropped and counts(group)["sent"] == sent
    np.testing.assert_allclose(group.pull()["w"], expected, rtol=1e-4, atol=1e-5)


def test_a_push_that_is_too_far_behind():
    """P14: one more than the limit is dropped and told of, also when it is sent again."""
    group = Group(1, ONE, 2, stale_limit=1.5)
    for step in range(4):
        group.push({"w": gradient(step)}, 0, step, version=step)
    group.push({"w": gradient(4)}, 1, 0, version=1)
    before = group.pull()["w"]
    for text in ("5 updates behind, 1.5 for each of 2 trainers", "dropped before"):
        with pytest.raises(Stale, match=text):
            group.push({"w": gradient(5)}, 1, 1, version=0)
    assert np.array_equal(group.pull()["w"], before) and counts(group)["dropped"] == 1
    never = Group(1, ONE, 2)
    for step in range(20):
        never.push({"w": gradient(step)}, 0, step, version=0)
    assert counts(never)["applied"] == 20


@pytest.mark.parametrize("trainers", [1, 2, 4])
def test_differences(trainers):
    """P15: the center moves by the sum of differences over trainers; sent twice, it moves once."""
    group = Group(2, ONE, trainers, mode="delta")
    expected = VALUE.copy()
    for trainer in range(trainers):
        for _ in range(2):
            group.push({"w": gradient(trainer)}, trainer, name="push_delta")
        expected += np.float32(1 / trainers) * gradient(trainer)
    np.testing.assert_allclose(group.pull()["w"], expected, rtol=1e-6)


def test_differences_of_those_who_are_left():
    group = Group(1, ONE, 4, mode="delta")
    call(group.servers[0], "members", membership=1, trainers=[[0, 0], [3, 0]])
    group.push({"w": gradient(0)}, 3, name="push_delta")
    np.testing.assert_allclose(group.pull()["w"], VALUE + 0.5 * gradient(0), rtol=1e-6)


def test_differences_of_single_steps_are_gradients():
    """P15: one trainer that sends the difference after each step of SGD."""
    by_server, by_trainer = Group(1, ONE), Group(1, ONE, mode="delta")
    for step in range(5):
        by_server.push({"w": gradient(step)}, step=step)
        before = by_trainer.pull()["w"]
        local = pm.optimizer.NativeOptimizer(config(), before)
        local.update(gradient(step))
        by_trainer.push({"w": local.parameter() - before}, step=step, name="push_delta")
    np.testing.assert_allclose(by_trainer.pull()["w"], by_server.pull()["w"], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("alpha, factor", [(0.25, 0.25), (None, 0.45)])
def test_elastic(alpha, factor):
    """center += alpha (local - center), and the trainer's own local -= alpha (local - center)."""
    group = Group(1, ONE, 2, mode="elastic", alpha=alpha)
    center, local = VALUE.astype("float64"), [gradient(0).astype("float64"), gradient(1).astype("float64")]
    for step in range(3):
        for trainer in range(2):
            difference = local[trainer] - group.pull()["w"]
            group.push({"w": difference.astype("float32")}, trainer, step, name="push_delta")
            center, local[trainer] = center + factor * difference, local[trainer] - factor * difference
    np.testing.assert_allclose(group.pull()["w"], center, rtol=1e-5, atol=1e-6)


def test_what_trainers_that_optimize_can_not_have():
    """P16."""
    for mode in ("delta", "elastic"):
        with pytest.raises(Malformed, match=f"'t' is a table: in {mode} mode there are none"):
            Group(1, BOTH, 2, mode=mode)
        with pytest.raises(Malformed, match=f"in {mode} mode a server takes push_delta"):
            Group(1, ONE, 2, mode=mode).push({"w": VALUE})
    with pytest.raises(Malformed, match="in async mode a server takes push"):
        Group(1, ONE).push({"w": VALUE}, name="push_delta")
    with pytest.raises(NotFinite):
        Group(1, ONE, mode="delta").push({"w": VALUE * np.float32("nan")}, name="push_delta")
    with pytest.raises(Malformed, match="at least 2 trainers"):
        Group(1, ONE, 1, mode="elastic")


@pytest.mark.parametrize("mode, updates", [("async", 6), ("sync", 2)])
def test_schedules_count_the_updates_of_a_server(mode, updates):
    """P26: with three trainers async makes three updates where sync makes one."""
    policy = {"lr_policy": "Linear", "linear_lr": {"learning_rate": 1.0, "lr_decay_a": 0.1, "lr_decay_b": 0.0}}
    group = Group(1, {"w": (np.zeros(40, "float32"), config(**policy))}, 3, mode=mode)
    for step in range(2):
        for trainer in range(3):
            group.push({"w": np.ones(40, "float32")}, trainer, step)
    np.testing.assert_allclose(group.pull()["w"], -sum(1 - 0.1 * n for n in range(1, updates + 1)), rtol=1e-5)

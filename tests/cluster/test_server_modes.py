# How servers apply the pushes of several trainers: at once, or as differences.
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import paddle_mini as pm
from paddle_mini.cluster import ClusterError, Malformed, NotFinite, Stale
from server_calls import Group, call, config
from server_pushes import BOTH, ONE, VALUE, counts, gradient


def test_a_push_of_a_newer_membership_waits():
    group = Group(1, ONE, 1, mode="async")
    assert group.push({"w": gradient(0)}, 4, membership=3)[0]["wait"]
    call(group.servers[0], "members", membership=3, trainers=[[4, 0]])
    assert "wait" not in group.push({"w": gradient(0)}, 4, membership=3)[0]
    assert counts(group)["applied"] == 1


PUSHES = st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["push", "again", "old", "restart"])), max_size=30)


@settings(max_examples=100)
@given(PUSHES, st.sampled_from([None, 0.0, 1.0, 2.0]))
def test_any_order_of_async_pushes(events, limit):
    """Each push is applied once, or dropped and its sender notified; the values are those of the applied ones."""
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
        given = gradient(trainer, step[trainer])
        last[trainer] = (
            ({"w": given}, trainer, step[trainer]),
            {"incarnation": incarnation[trainer], "version": pulled[trainer]},
        )
        behind = group.status()["version"] - pulled[trainer]
        try:
            group.push(*last[trainer][0], **last[trainer][1])
            told["applied"] += 1
            expected.append(expected[-1] - 0.1 * given)
            assert limit is None or behind <= 3 * limit
        except Stale:
            told["dropped"] += 1
            assert limit is not None and behind > 3 * limit
    found = counts(group)
    assert (found["applied"], found["dropped"]) == (told["applied"], told["dropped"])
    assert found["sent"] == sum(step.values())
    assert group.status()["version"] == told["applied"]
    np.testing.assert_allclose(group.pull()["w"], expected[-1], rtol=1e-4, atol=1e-5)


def test_a_push_that_is_too_far_behind():
    """One more than the limit is dropped and reported, also when it is sent again."""
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
    """The center moves by the sum of differences over trainers; sent twice, it moves once."""
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
    """One trainer that sends the difference after each step of SGD."""
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
    for mode in ("delta", "elastic"):
        with pytest.raises(Malformed, match=f"'t' is a table, which {mode} mode does not support"):
            Group(1, BOTH, 2, mode=mode)
        with pytest.raises(Malformed, match="this service has no request 'push'"):
            Group(1, ONE, 2, mode=mode).push({"w": VALUE})
    with pytest.raises(Malformed, match="this service has no request 'push_delta'"):
        Group(1, ONE).push({"w": VALUE}, name="push_delta")
    with pytest.raises(NotFinite):
        Group(1, ONE, mode="delta").push({"w": VALUE * np.float32("nan")}, name="push_delta")
    with pytest.raises(Malformed, match="at least 2 trainers"):
        Group(1, ONE, 1, mode="elastic")


@pytest.mark.parametrize("mode, updates", [("async", 6), ("sync", 2)])
def test_schedules_count_the_updates_of_a_server(mode, updates):
    """With three trainers async makes three updates for each one that sync makes."""
    policy = {"lr_policy": "Linear", "linear_lr": {"learning_rate": 1.0, "lr_decay_a": 0.1, "lr_decay_b": 0.0}}
    group = Group(1, {"w": (np.zeros(40, "float32"), config(**policy))}, 3, mode=mode)
    for step in range(2):
        for trainer in range(3):
            group.push({"w": np.ones(40, "float32")}, trainer, step)
    np.testing.assert_allclose(group.pull()["w"], -sum(1 - 0.1 * n for n in range(1, updates + 1)), rtol=1e-5)

# Servers in sync mode: a step waits for all members while trainers leave, join, or restart.
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import paddle_mini as pm
from paddle_mini.cluster import Gone, NotFinite, Stale
from server_calls import Group, call, generator
from server_pushes import BOTH, ONE, TABLE, VALUE, counts, gradient


def row_gradient(*seed):
    random = generator(f"rows {seed}")
    return random.integers(0, 30, 8), random.standard_normal((8, 4)).astype("float32")


def whole(rows, values):
    found = np.zeros_like(TABLE)
    np.add.at(found, rows, values)
    return found


def waits(group, version):
    return ["wait" in call(server, "pull", min_version=version)[0] for server in group.servers]


@pytest.mark.parametrize("trainers", [1, 2, 3, 4])
@pytest.mark.parametrize("servers", [1, 2])
def test_sync_is_one_big_batch(servers, trainers):
    """The mean in the order of trainers, for any order of pushes; tables get the bits of dense gradients."""
    group = Group(servers, BOTH, trainers, mode="sync")
    w, t = (pm.optimizer.NativeOptimizer(given[1], given[0]) for given in BOTH.values())
    for step in range(4):
        dense = [gradient(step, trainer) for trainer in range(trainers)]
        rows = [row_gradient(step, trainer) for trainer in range(trainers)]
        rows = [(ids[:1], values[:1]) for ids, values in rows]  # each row once per trainer
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
        t.update_rows(np.concatenate([ids for ids, _ in rows]), np.concatenate([values for _, values in rows]) / np.float32(3))
    np.testing.assert_allclose(group.pull()["t"], t.parameter(), rtol=1e-5)


def test_a_block_that_a_trainer_leaves_out_counts_as_zero():
    group = Group(1, ONE, 2, mode="sync")
    group.push({"w": gradient(0)}, 0)
    group.push({}, 1)
    np.testing.assert_allclose(group.pull()["w"], VALUE - 0.05 * gradient(0), rtol=1e-5)


def test_a_trainer_that_leaves_is_waited_for_no_more():
    """Its pushes for the step are removed; a trainer that joins is waited for."""
    group = Group(1, ONE, 3, mode="sync")
    group.push({"w": gradient(0)}, 0)
    group.push({"w": gradient(1)}, 1)
    assert waits(group, 1) == [True]
    call(group.servers[0], "members", membership=1, trainers=[[0, 0], [2, 0]])
    assert waits(group, 1) == [True]
    group.push({"w": gradient(2)}, 2)
    np.testing.assert_allclose(group.pull(min_version=1)["w"], VALUE - 0.05 * (gradient(0) + gradient(2)), rtol=1e-5)
    assert counts(group) == {"sent": 3, "applied": 2, "dropped": 1, "repeated": 0, "waiting": 0}
    with pytest.raises(Gone, match="trainer 1 is not a member"):
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
    """Whether servers know of it or not."""
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
        np.testing.assert_allclose(group.pull(min_version=1)["w"], VALUE - 0.05 * (gradient(1) + gradient(2)), rtol=1e-5)
        assert counts(group)["dropped"] == 1
        call(group.servers[0], "members", membership=2, trainers=[[0, 2], [1, 0]])
        with pytest.raises(Stale, match="step 0 was made without trainer 0, the next one is 1"):
            group.push({"w": gradient(0)}, 0, 0, incarnation=2)


def test_repeats_while_a_step_waits():
    group = Group(1, ONE, 2, mode="sync")
    group.push({"w": gradient(0)}, 0)
    assert group.push({"w": gradient(0)}, 0)[0]["repeated"]
    assert group.push({"w": gradient(0)}, 0, 1)[0]["wait"], "it is not its turn"
    group.push({"w": gradient(1)}, 1)
    assert group.push({"w": gradient(1)}, 1)[0]["repeated"]
    assert counts(group) == {"sent": 2, "applied": 2, "dropped": 0, "repeated": 2, "waiting": 0}


def test_a_step_waits_for_one_whose_push_is_not_finite():
    """The push is not stored, so that its sender may push the same step again."""
    group = Group(1, ONE, 2, mode="sync")
    with pytest.raises(NotFinite):
        group.push({"w": gradient(0) * np.float32("nan")}, 0)
    group.push({"w": gradient(1)}, 1)
    assert waits(group, 1) == [True]
    group.push({"w": gradient(0)}, 0)
    np.testing.assert_allclose(group.pull(min_version=1)["w"], VALUE - 0.05 * (gradient(0) + gradient(1)), rtol=1e-5)
    assert counts(group) == {"sent": 2, "applied": 2, "dropped": 0, "repeated": 0, "waiting": 0}


def test_a_server_that_lost_steps_catches_up(tmp_path):
    """One trainer has the result of a step that the server lost, the other one pushes it again: both continue."""
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


@settings(max_examples=100)
@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["push"] * 4 + ["again", "restart", "leave"])), max_size=60))
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
            assert group.push({"w": given}, trainer, step, incarnation)[0]["repeated"]
        else:
            given = gradient(trainer, version)
            pushed[trainer] = (given, version, members[trainer])
            sent += 1
            group.push({"w": given}, trainer, version, members[trainer])
            waiting[trainer] = given
        if waiting and all(member in waiting for member in members):
            good = [waiting[member] for member in sorted(members)]
            expected = expected - 0.1 * sum(good) / len(good)
            version, waiting = version + 1, {}
        assert group.status()["version"] == version
    assert counts(group)["dropped"] == dropped and counts(group)["sent"] == sent
    np.testing.assert_allclose(group.pull()["w"], expected, rtol=1e-4, atol=1e-5)

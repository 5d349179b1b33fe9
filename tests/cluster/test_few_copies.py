"""Parameters are copied once at a server, into the memory of its reply, and once at a trainer, into its scope; nothing is read
there while it is written, and a reply that is refused changes nothing."""

import gc
import weakref

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini._core import set_in_parts
from paddle_mini.cluster import Malformed, frames
from paddle_mini.cluster.frames import Kind, pack_frames, unpack_frames
from paddle_mini.cluster.messages import decode_reply, encode
from paddle_mini.cluster.protocol import Push
from paddle_mini.cluster.replies import Pushed
from paddle_mini.cluster.servers.parameter_shard import ShardUpdate, mean
from paddle_mini.cluster.servers.push_plan import PushPlan
from paddle_mini.cluster.shards import ParameterInfo
from paddle_mini.cluster.trainers.remote_parameters import RemoteParameter, RemoteParameters
from paddle_mini.cluster.trainers.table_rows import rows_by_block
from paddle_mini.cluster.trainers.trainer_process import TrainerProcess
from paddle_mini.cluster.values import BlockKey
from server_calls import Group, config

LARGE = np.linspace(-1, 1, 3 * frames.SMALL // 4, dtype="float32")
TABLE = np.random.default_rng(3).standard_normal((frames.SMALL, 4)).astype("float32")
ALL = {
    "large": (LARGE, config(rate=1.0), False),
    "small": (np.arange(6, dtype="float32"), config(rate=1.0), False),
    "t": (TABLE, config(rate=1.0), True),
}
ROWS = np.arange(1, 1 + frames.SMALL // 8)


class OfOneServer:
    """Pushes of a trainer, with gradients of 1, to a server that has ALL; each answer has them all and ROWS of the table."""

    def __init__(self):
        self.server, self.steps = Group(1, ALL).servers[0], 0

    def push(self, memory):
        """The arrays of the answer as they are, and the same from a message in `memory`, if there is some."""
        keys, answers = [BlockKey(name, 0) for name in ALL], []
        gradients = [np.ones_like(LARGE), np.ones(6, "float32"), ROWS, np.ones((len(ROWS), 4), "float32")]
        request = Push(0, 0, self.steps, keys, wanted=keys[:2], rows=keys[2:], arrays=[*gradients, ROWS])
        self.steps += 1
        self.server.take(*encode("job", request), answers.append, 0.0, memory)
        header, arrays = answers[0]
        message = pack_frames(Kind.REPLY, header, arrays, memory=memory if memory and len(memory) > 8 else None)
        got = unpack_frames(bytes(message[0]), message[1:], memory)
        return arrays, decode_reply(Pushed, got.header, got.arrays).arrays

    def expected(self):
        return [value - self.steps for value in (LARGE, ALL["small"][0], TABLE[ROWS])]


def same(found, wanted):
    assert len(found) == len(wanted)
    for one, other in zip(found, wanted):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


def test_replies_are_made_in_the_memory_of_the_connection():
    one, memory = OfOneServer(), memoryview(bytearray(LARGE.nbytes + TABLE.nbytes))
    for _ in range(3):
        made, got = one.push(memory)
        assert [np.shares_memory(array, memory) for array in made] == [True, False, True]
        same(got, one.expected())


def test_replies_without_enough_memory_have_their_own():
    one = OfOneServer()
    replies = [one.push(memory)[0] for memory in (None, memoryview(bytearray(8)), memoryview(bytearray(0)))]
    for step, arrays in enumerate(replies, 1):  # no later reply has changed them
        same(arrays, [value - step for value in (LARGE, ALL["small"][0], TABLE[ROWS])])


def test_arrays_at_their_places_in_the_memory_are_not_copied():
    memory = memoryview(bytearray(4 * LARGE.nbytes))
    whole = np.frombuffer(memory, "float32")
    first, second = whole[: LARGE.size], whole[LARGE.size : 2 * LARGE.size]
    first[:], second[:] = LARGE, -LARGE
    same(
        unpack_frames(bytes(pack_frames(Kind.REPLY, b"", [first, second], memory=memory)[0]), [], memory).arrays, [LARGE, -LARGE]
    )
    for misplaced in ([second, first], [second], [whole[1 : 1 + LARGE.size]]):
        with pytest.raises(Malformed, match="not at its place"):
            pack_frames(Kind.REPLY, b"", misplaced, memory=memory)
    same([first, second], [LARGE, -LARGE])


def values(scope, *names):
    return [scope.get(name) for name in names]


def test_parts_become_values_of_a_scope():
    scope, a, b = pm.Scope(), np.arange(12, dtype="float32").reshape(3, 4), np.arange(5.0)
    parts = [("a", (3, 4), [a.reshape(-1)[:5], a.reshape(-1)[5:5], a.reshape(-1)[5:]]), ("b", (5,), [b])]
    set_in_parts(scope, parts)
    same(values(scope, "a", "b"), [a, b])
    seen = scope.get("a", copy=False)
    set_in_parts(scope, [("a", (3, 4), [2 * a]), ("b", (1, 5), [-b[:2], -b[2:]])])
    same([*values(scope, "a", "b"), seen], [2 * a, -b.reshape(1, 5), a])


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (("b", (5,), [np.ones(4)]), "parts of 4 elements are not a value of shape"),
        (("b", (5,), [np.ones(4), np.ones(2)]), "parts of 6 elements"),
        (("b", (2,), [np.ones(1), np.ones(1, "float32")]), "are not a value"),
        (("b", (2,), [np.ones(4)[::2]]), "not C-contiguous"),
        (("b", (2,), []), "has 0 parts"),
    ],
)
def test_of_several_values_all_are_set_or_none(value, problem):
    scope = pm.Scope()
    set_in_parts(scope, [("a", (2,), [np.zeros(2)]), ("b", (2,), [np.zeros(2)])])
    with pytest.raises(pm.ShapeError, match=problem):
        set_in_parts(scope, [("a", (2,), [np.ones(2)]), value, ("c", (2,), [np.ones(2)])])
    same(values(scope, "a", "b"), [np.zeros(2), np.zeros(2)])
    assert "c" not in scope


def model():
    ids = pm.layers.data("ids", [-1, 1], "int64")
    hidden = pm.layers.fc(pm.layers.embedding(ids, [50, 4], is_sparse=True, param_attr="t"), 3, param_attr="w", bias_attr=False)
    pm.optimizer.SGD(0.1).minimize(pm.layers.mean(hidden))
    exe = pm.Executor()
    exe.run(pm.default_startup_program())
    return pm.cluster.join(exe=exe)


def feeds(count):
    return [{"ids": np.array([[step], [49 - step]])} for step in range(count)]


@pytest.mark.parametrize(
    "bad", [lambda some: some[:-1], lambda some: [one[:-1] for one in some], lambda some: [one.astype("float64") for one in some]]
)
def test_a_reply_that_is_not_what_was_asked_for_leaves_the_scope_as_it_was(bad, monkeypatch):
    read, scopes = PushPlan.read, []

    def wrong(self, arrays, memory):
        found = read(self, arrays, memory)
        return found if len(scopes) < 2 else bad(found)

    def trained():
        trainer = model()
        for feed in feeds(4):
            before = values(pm.global_scope(), "w", "t")
            scopes.append((pm.global_scope(), before))
            trainer.run(feed)

    monkeypatch.setattr(PushPlan, "read", wrong)
    with pytest.raises(pm.cluster.TrainerFailed, match="asked for|blocks|rows|float|array"):
        pm.cluster.run(trained, 1, 2)
    scope, before = scopes[-1]
    same(values(scope, "w", "t"), before)


@pytest.mark.parametrize("merged", [0, 1, 2])
def test_what_was_received_is_gone_before_the_next_exchange(merged, monkeypatch):
    """A connection has memory for one reply, which is used again as soon as its arrays are gone."""
    exchange, alive, counts = TrainerProcess.exchange, [], []

    def watched(self, *given):
        gc.disable()  # no array may need it
        try:
            counts.append(sum(one() is not None for one in alive))
        finally:
            gc.enable()
        pulled = exchange(self, *given)
        arrays = [array for _, some in (*pulled.blocks.values(), *pulled.rows.values()) for array in some]
        alive[:] = map(weakref.ref, arrays)
        return pulled

    def trained():
        trainer = model()
        for _ in trainer.steps(feeds(6), merged=merged) if merged else map(trainer.run, feeds(6)):
            pass

    monkeypatch.setattr(TrainerProcess, "exchange", watched)
    pm.cluster.run(trained, 1, 2)
    assert len(counts) > 3 and not any(counts)


def test_rows_of_several_tables_are_sorted_once():
    draw, edges = np.random.default_rng(0), np.array([0, 20, 30, 50])
    rows = draw.integers(0, 50, 200)
    first = rows_by_block(rows, edges, None)
    assert rows_by_block(rows.copy(), edges.copy(), first) is first
    for other, others_edges in ((rows[::-1].copy(), edges), (rows, np.array([0, 10, 30, 50])), (rows, np.array([0, 50]))):
        found, alone = rows_by_block(other, others_edges, first), rows_by_block(other, others_edges, None)
        some = draw.standard_normal((200, 2))
        for part, right in zip(found.parts(some), alone.parts(some), strict=True):
            same(part, right)


def test_tables_with_other_rows_get_their_own():
    infos = [ParameterInfo(name, (50, 2), "float32", sparse=True) for name in ("a", "b")]
    held, draw = RemoteParameters(None, [RemoteParameter(info, b"") for info in infos], 2), np.random.default_rng(1)
    gradients = {one.name: (draw.integers(0, 50, 30), draw.standard_normal((30, 2)).astype("float32")) for one in infos}
    for (_, arrays), blocks in zip(held.shares(gradients), held.blocks):
        for block, rows, some in zip(blocks, arrays[::2], arrays[1::2]):
            numbers, gradient = gradients[block.parameter]
            inside = (numbers >= block.begin) & (numbers < block.end)
            same([rows, some], [numbers[inside], gradient[inside]])


@pytest.mark.parametrize("copied", [(), (0,), (1,), (0, 1, 2)])
def test_the_mean_of_pushes_is_in_the_memory_of_a_copy(copied):
    """The pushes whose arrays belong to their senders stay as they are; the bits are the same."""
    values = [np.random.RandomState(number).randn(1000).astype("float32") for number in range(3)]
    given = [ShardUpdate(None, value.copy(), None, index in copied) for index, value in enumerate(values)]
    total = mean(given, 3).values
    assert total.tobytes() == ((values[0] + values[1] + values[2]) / np.float32(3)).tobytes()
    assert any(np.shares_memory(total, update.values) for update in given) == bool(copied)
    for update, value in zip(given, values):
        assert update.is_copy or update.values.tobytes() == value.tobytes()

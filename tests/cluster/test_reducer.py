"""A server of collective mode: means in the order of trainers, each computed once, for the requested steps; and states."""

import numpy as np
import pytest

from paddle_mini.cluster.errors import Malformed, WrongJob, WrongShape
from paddle_mini.cluster.job_settings import JobSettings
from paddle_mini.cluster.servers.reducer import Reducer
from paddle_mini.cluster.trainers.flat_buffer import FlatBuffer
from paddle_mini.cluster.wire import check_arrays
from raw_messages import request, understood
from small_model import assert_same_bits


class Asked:
    def __init__(self):
        self.service = Reducer(0, JobSettings("job", 3, 1, "collective"))

    def request(self, name, arrays=(), **fields):
        return understood(*self.service.handle(request("job", name, **fields), list(arrays)))

    def add(self, trainer, values, step=0, serial=None, incarnation=1, epoch="epoch"):
        header, _ = self.request(
            "add",
            [np.array(values, "float32")],
            trainer=trainer,
            incarnation=incarnation,
            serial=step if serial is None else serial,
            step_id=[epoch, step],
        )
        return not header["repeated"]

    def mean(self, of, step=0, epoch="epoch"):
        header, arrays = self.request("mean", step_id=[epoch, step], of=[[trainer, 1] for trainer in of])
        return None if header["missing"] else arrays[0].tolist()

    def pushes(self):
        return self.request("status")[0]["pushes"]


@pytest.fixture
def server():
    return Asked()


def test_a_mean_is_of_those_who_are_asked_for_in_their_order(server):
    big, small = np.float32(2.0**24), np.float32(1.0)
    for trainer, value in ((2, small), (0, big), (1, small)):
        assert server.add(trainer, [value, 3.0])
    (found,) = server.request("mean", step_id=["epoch", 0], of=[[0, 1], [1, 1], [2, 1]])[1]
    assert found.tobytes() == np.array([((big + small) + small) / np.float32(3), 3.0], "float32").tobytes()


def test_a_mean_does_not_change_with_the_memory_of_those_who_sent(server):
    mine = np.ones(2, "float32")
    server.request("add", [mine], trainer=0, incarnation=1, serial=0, step_id=["epoch", 0])
    assert server.mean([0]) == [1.0, 1.0]
    mine[:] = 7
    assert server.mean([0]) == [1.0, 1.0]


def test_what_is_not_there_is_missing(server):
    server.add(0, [1.0])
    assert server.mean([0, 1]) is None and server.mean([0], step=1) is None and server.mean([0], epoch="other") is None
    server.add(1, [2.0], incarnation=2)
    assert server.mean([0, 1]) is None
    assert server.mean([0]) == [1.0]


def test_the_mean_of_the_step_before_is_there_until_all_have_come_on(server):
    for step in range(4):
        assert server.add(0, [step], step)
        assert server.mean([0], step) == [step]
        if step:
            assert server.mean([0], step - 1) == [step - 1]
    assert server.mean([0], 1) is None


def test_a_part_that_comes_again_counts_once(server):
    assert server.add(0, [1.0], serial=3)
    assert not server.add(0, [1.0], serial=3) and not server.add(0, [5.0], serial=2)
    assert server.mean([0]) == [1.0]
    assert server.add(0, [1.0], serial=4)  # repeated, because of another server
    assert server.mean([0]) == [1.0]
    assert server.pushes() == {"sent": 1, "applied": 1, "dropped": 0, "repeated": 3, "waiting": 1}


def test_what_is_replaced_before_it_was_part_of_a_mean_is_dropped(server):
    server.add(0, [1.0], step=0)
    server.add(0, [2.0], step=1)
    assert server.mean([0], step=1) == [2.0]
    assert server.pushes() == {"sent": 2, "applied": 1, "dropped": 1, "repeated": 0, "waiting": 0}


STATE = {"schedules": {"rate": {"state": 1}}, "random": "7", "contributors": [[0, 1]]}


def test_a_state_is_there_until_a_later_step(server):
    state = np.arange(5)
    server.request("put_state", [state], key="k", step_id=["epoch", 3], state=STATE)
    for _ in range(2):
        header, arrays = server.request("get_state", key="k")
        assert header["state"] == STATE and arrays[0].tolist() == state.tolist()
        server.add(0, [1.0], step=3)
    server.add(0, [1.0], step=4)
    assert [server.request("get_state", key=key)[0]["state"] for key in ("k", "other")] == [None, None]


def test_what_does_not_fit_is_refused_and_changes_nothing(server):
    server.add(0, [1.0, 2.0])
    with pytest.raises(WrongShape, match="trainer 1 sends arrays of .*3.*, others of .*2"):
        server.add(1, [1.0, 2.0, 3.0])
    for of in ([0], [[0]], [["0", 1]], [[0, 1, 2]], "all"):
        with pytest.raises(Malformed, match="'of' is"):
            server.request("mean", step_id=["epoch", 0], of=of)
    with pytest.raises(Malformed, match="'of' is empty"):
        server.request("mean", step_id=["epoch", 0], of=[])
    for step_id in ([], ["epoch"], [1, 2], 3):
        with pytest.raises(Malformed, match="'step_id' is"):
            server.request("mean", step_id=step_id, of=[[0, 1]])
    with pytest.raises(Malformed, match="no request 'push'"):
        server.request("push")
    with pytest.raises(WrongJob):
        understood(*server.service.handle(request("other", "status"), []))
    assert server.mean([0]) == [1.0, 2.0] and server.pushes()["sent"] == 1


FIELDS = {
    "w": (np.dtype("float32"), (3, 5)),
    "half": (np.dtype("uint16"), (5,)),
    "v": (np.dtype("float32"), ()),
    "d": (np.dtype("float64"), (2, 2)),
    "flag": (np.dtype("bool"), (1,)),
    "none": (np.dtype("int64"), (0, 4)),
}


@pytest.mark.parametrize("count", [1, 2, 3, 40])
def test_what_is_cut_and_put_together_is_the_same(count):
    random = np.random.RandomState(count)
    values = {name: random.randint(0, 2, shape).astype(dtype) for name, (dtype, shape) in FIELDS.items()}
    one, other = FlatBuffer(FIELDS), FlatBuffer(FIELDS)
    for name, value in values.items():
        one.views[name][...] = value
    parts = [check_arrays(one.share(index, count)) for index in range(count)]
    for index, arrays in enumerate(parts):
        other.set_share(index, count, arrays)
    assert_same_bits(other.views, values)
    assert max(map(_bytes, parts)) - min(map(_bytes, parts)) <= 8 * len(parts[0])


def _bytes(arrays):
    return sum(array.nbytes for array in arrays)


def test_a_part_of_another_size_is_refused():
    flat = FlatBuffer(FIELDS)
    parts = flat.share(0, 2)
    for wrong in (parts[:-1], [*parts[:-1], parts[-1][:-1]], [array.astype("int64") for array in parts]):
        with pytest.raises(Malformed, match="share 0 of 2 has other sizes here"):
            flat.set_share(0, 2, wrong)

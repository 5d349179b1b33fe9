"""The service of a trainer in collective mode: shares of its gradient and mean, while they are those of a step; its state."""

import numpy as np
import pytest

from paddle_mini.cluster import memory_file
from paddle_mini.cluster.errors import Malformed, WrongJob
from paddle_mini.cluster.trainers.gradient_memory import GradientMemory
from paddle_mini.cluster.trainers.peer import Kept, Peer
from paddle_mini.cluster.trainers.peers import Read
from paddle_mini.cluster.values import MemberId, State, StepId
from raw_messages import request, understood

FIELDS = {"w": (np.dtype("float32"), (5,)), "d": (np.dtype("float64"), (2,))}
STEP, NEXT = StepId("epoch", 4), StepId("epoch", 5)


class Trainer:
    """A trainer with its service; requests that wait are answered into `late`."""

    def __init__(self):
        self.memory = GradientMemory.made(FIELDS)
        self.service = Peer("job", self.memory)
        self.late = []

    def set(self, values, to="gradient"):
        with getattr(self.memory, to).changing() as buffer:
            for view in buffer.views.values():
                view[...] = values
        setattr(self.service, f"{to}_of", STEP)

    def request(self, name, **fields):
        return understood(*self.service.handle(request("job", name, **fields), []))

    def share(self, name, step_id=STEP, copies=True, share=1, shares=2):
        header, arrays = self.request(name, step_id=list(step_id), share=share, shares=shares, copies=copies)
        return None if header.get("missing") else [array.tolist() for array in arrays]

    def wait(self, name):
        header = request("job", name, step_id=list(STEP), share=0, shares=1, copies=True)
        self.service.take(header, [], lambda answer: self.late.append(understood(*answer)), 60.0)


@pytest.fixture
def trainer():
    return Trainer()


def test_a_share_of_the_gradient_is_given_for_its_step(trainer):
    assert trainer.share("get_gradient") is None
    trainer.set(3.0)
    assert trainer.share("get_gradient") == [[3.0] * 3, [3.0]]
    assert trainer.share("get_gradient", copies=False) == []
    assert trainer.share("get_gradient", NEXT) is None and trainer.share("get_gradient", StepId("other", 4)) is None


def test_a_gradient_that_is_being_changed_is_missing(trainer):
    trainer.set(3.0)
    with trainer.memory.gradient.changing():
        for copies in (True, False):
            assert trainer.share("get_gradient", copies=copies) is None
    trainer.service.gradient_of = None
    assert trainer.share("get_gradient") is None


def test_a_gradient_that_comes_from_a_gpu_is_waited_for(trainer):
    trainer.service.gradient_of, trainer.service.is_in_memory = STEP, False
    trainer.wait("get_gradient")
    trainer.request("wake")
    assert not trainer.late and trainer.share("get_gradient", NEXT) is None
    trainer.set(3.0)
    trainer.service.is_in_memory = True
    trainer.request("wake")
    ((header, arrays),) = trainer.late
    assert not header["missing"] and [array.tolist() for array in arrays] == [[3.0] * 5, [3.0] * 2]


def test_a_mean_is_waited_for_until_it_is_computed(trainer):
    assert trainer.share("get_mean") is None
    trainer.set(3.0)
    trainer.wait("get_mean")
    trainer.request("wake")
    assert not trainer.late
    trainer.set(2.0, "mean")
    trainer.request("wake")
    ((header, arrays),) = trainer.late
    assert not header["missing"] and [array.tolist() for array in arrays] == [[2.0] * 5, [2.0] * 2]
    trainer.service.gradient_of = None  # the trainer computes its next gradient
    assert trainer.share("get_mean") == [[2.0] * 3, [2.0]]


def test_who_waits_for_a_mean_that_is_given_up_is_told(trainer):
    trainer.set(3.0)
    trainer.wait("get_mean")
    trainer.service.gradient_of = None
    trainer.service.tick()
    assert [header["missing"] for header, _ in trainer.late] == [True]


def test_a_trainer_of_this_machine_reads_the_memory_and_sees_when_it_has_changed(trainer):
    trainer.set(3.0)
    place = trainer.memory.place
    other = GradientMemory.opened(FIELDS, place)
    header, _ = trainer.request("get_gradient", step_id=list(STEP), share=0, shares=1, copies=False)
    read = Read(other.gradient.buffer.share(0, 1), other.gradient, header["serial"])
    assert [array.tolist() for array in read.arrays] == [[3.0] * 5, [3.0] * 2] and read.is_intact()
    with trainer.memory.gradient.changing():
        assert not read.is_intact()
    assert not read.is_intact(), "the next gradient has another number"
    with pytest.raises(ZeroDivisionError), trainer.memory.gradient.changing():
        raise ZeroDivisionError
    assert other.gradient.serial == 0, "half a gradient has no number"


def test_memory_of_other_sizes_or_elsewhere_is_not_read(trainer, monkeypatch):
    place = trainer.memory.place
    assert GradientMemory.opened({"w": (np.dtype("float32"), (500,))}, place) is None
    assert GradientMemory.opened(FIELDS, place._replace(mark=b"x" * 16)) is None
    assert GradientMemory.opened(FIELDS, place._replace(process=2**31 - 1)) is None

    def none(*_):
        raise OSError("no memory")

    monkeypatch.setattr(memory_file.os, "memfd_create", none)
    assert GradientMemory.made(FIELDS).place is None


def test_a_state_is_there_while_it_is_kept(trainer):
    assert trainer.request("get_state", key="k")[0]["state"] is None
    trainer.service.kept = Kept("k", State({"rate": {"state": 1}}, "7", [MemberId(0, 1)]), [np.arange(5)])
    header, arrays = trainer.request("get_state", key="k")
    assert header["state"] == {"schedules": {"rate": {"state": 1}}, "random": "7", "contributors": [[0, 1]]}
    assert arrays[0].tolist() == list(range(5))
    assert trainer.request("get_state", key="other")[0]["state"] is None


def test_what_is_no_request_is_refused(trainer):
    trainer.set(1.0)
    for step_id in ([], ["epoch"], [1, 2], 3):
        with pytest.raises(Malformed, match="'step_id' is"):
            trainer.request("get_gradient", step_id=step_id, share=0, shares=1, copies=True)
    for share, shares in ((1, 1), (0, 0), (7, 3)):
        with pytest.raises(Malformed, match=f"share {share} of {shares} does not exist"):
            trainer.request("get_mean", step_id=list(STEP), share=share, shares=shares, copies=True)
    with pytest.raises(Malformed, match="no request 'push'"):
        trainer.request("push")
    with pytest.raises(WrongJob):
        understood(*trainer.service.handle(request("other", "get_memory"), []))
    assert trainer.share("get_gradient") == [[1.0] * 3, [1.0]]

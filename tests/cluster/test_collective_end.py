"""The end of a job in collective mode: all trainers have the state of the last checkpoint, also when the last one dies."""

import fcntl
import threading

import paddle_mini as pm
from cluster_jobs import batch, begun, classifier, everything
from paddle_mini.cluster.thread_engine import ThreadEngine
from small_model import assert_same_bits


def trains(count, at_the_end=lambda number: None):
    """Trains until the job has made `count` steps."""
    _, _, loss = classifier(lambda loss: pm.optimizer.Adam(0.01).minimize(loss))
    trainer = begun()
    while trainer._exchange.step_id.step < count:
        trainer.run(batch(0, 8), [loss])
    at_the_end(trainer.number)
    return everything()


class DiesAtTheEnd(ThreadEngine):
    """Trainer 1 dies when it leaves after its last step, if trainer 0 has ended: the last checkpoint is not written yet."""

    def __init__(self):
        super().__init__()
        self.ended, self.killed = threading.Event(), False

    def post(self, request, respond, timeout):
        name = threading.current_thread().name
        if name == "trainer 0" and b'"await_end"' in request.header:
            self.ended.set()
        super().post(request, respond, timeout)
        if name == "trainer 1" and b'"state_stored"' in request.header and self.ended.is_set() and not self.killed:
            self.killed = True
            self.kill("trainer 1")


def test_the_last_trainer_dies_before_it_has_written_the_last_checkpoint(tmp_path):
    engine = DiesAtTheEnd()

    def waits(number):
        assert number == 0 or engine.ended.wait(20)

    result = pm.cluster.run(trains, 2, None, "collective", engine, args=(5, waits), directory=tmp_path, checkpoint_seconds=3600)
    assert engine.killed
    assert_same_bits(result.returned[1], result.returned[0])
    assert pm.io.CheckpointManager(tmp_path / "trainers").latest() == 5


def test_the_last_checkpoint_waits_for_a_process_that_still_saves(tmp_path):
    folder = tmp_path / "trainers"
    folder.mkdir()
    lock = (folder / ".checkpoints").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    end = threading.Timer(0.5, lock.close)
    end.start()
    pm.cluster.run(trains, 1, None, "collective", args=(2,), directory=tmp_path, checkpoint_seconds=3600)
    end.join()
    assert pm.io.CheckpointManager(folder).latest() == 2

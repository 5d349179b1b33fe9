"""CheckpointManager(background=True): the bits of the step at which save() was called, errors, and the end of the process."""

import gc
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini import dtypes
from paddle_mini.io import checkpoint_folder
from small_model import SmallModel
from training_model import BATCH, arrays, everything, trainer


def model():
    return SmallModel(pm.optimizer.ParameterAverage(pm.optimizer.Adam(0.1), window_size=3).minimize)


def assert_equal(found, expected):
    assert found.keys() == expected.keys() and all((found[name] == expected[name]).all() for name in expected)


@pytest.fixture
def gate(monkeypatch):
    """A save in the background waits until the event is set."""
    event, write = threading.Event(), checkpoint_folder.write_checkpoint

    def waiting(*arguments):
        assert event.wait(60)
        write(*arguments)

    monkeypatch.setattr(checkpoint_folder, "write_checkpoint", waiting)
    yield event
    event.set()


def test_training_continues_while_a_checkpoint_is_written(tmp_path, gate):
    one = model()
    one.step(0)
    expected, random = one.everything(), one.exe.random_state()
    manager = pm.io.CheckpointManager(tmp_path, background=True)
    path = manager.save(1, one.main, one.exe, one.scope, {"at": 1})
    for number in range(1, 4):
        one.step(number)  # the thread holds neither the scope nor the executor
    assert not any(tmp_path.glob("checkpoint-*"))
    gate.set()
    assert manager.restore(one.main, one.exe, one.scope) == (1, {"at": 1}, path)
    assert_equal(one.everything(), expected)
    assert one.exe.random_state() == random


def test_data_and_schedules_are_those_of_the_call(tmp_path, gate):
    class Seen(pm.lr.LRScheduler):
        state_keys = ("last_epoch", "last_lr", "seen")

        def get_lr(self):
            return self.base_lr

    rate, data = Seen(0.1), {"history": [{"loss": 1.0}]}
    rate.seen = []
    one = SmallModel(pm.optimizer.SGD(rate).minimize)
    manager = pm.io.CheckpointManager(tmp_path, background=True)
    manager.save(1, one.main, one.exe, one.scope, data)
    data["history"].append({"loss": 2.0})
    data["history"][0]["loss"] = 3.0
    rate.seen.append(5)
    gate.set()
    assert manager.restore(one.main, one.exe, one.scope).data == {"history": [{"loss": 1.0}]}
    assert rate.seen == []


def test_the_files_are_those_of_a_save_in_the_foreground(tmp_path):
    one = model()
    for background in (False, True):
        with pm.io.CheckpointManager(tmp_path / str(background), background=background) as manager:
            manager.save(1, one.main, one.exe, one.scope)
    first, second = (next((tmp_path / str(background)).glob("checkpoint-*")) for background in (False, True))
    for name in ("variables.pdiparams", "random.txt"):
        assert (first / name).read_bytes() == (second / name).read_bytes()


def test_saves_follow_each_other_and_old_ones_are_removed(tmp_path):
    one = model()
    with pm.io.CheckpointManager(tmp_path, keep=2, background=True) as manager:
        for step in range(5):
            manager.save(step, one.main, one.exe, one.scope)
        assert manager.latest() == 4 and manager.steps() == [3, 4]


def failing(*_):
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("call", ["wait", "close", "latest", "save"])
def test_the_next_call_raises_the_error(tmp_path, monkeypatch, call):
    one = model()
    manager = pm.io.CheckpointManager(tmp_path, background=True)
    monkeypatch.setattr(checkpoint_folder, "write_checkpoint", failing)
    manager.save(1, one.main, one.exe, one.scope)
    with pytest.raises(pm.ProgramError, match="can't save a checkpoint in .*: No space left on device"):
        manager.save(2, one.main, one.exe, one.scope) if call == "save" else getattr(manager, call)()
    monkeypatch.undo()
    manager.save(3, one.main, one.exe, one.scope)
    assert manager.steps() == [3]


def test_after_an_interrupted_wait_the_next_call_waits_for_the_same_save(tmp_path, gate):
    one, manager = model(), pm.io.CheckpointManager(tmp_path, background=True)
    first = manager.save(1, one.main, one.exe, one.scope)

    def interrupt(*_):
        gate.set()
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt):
            manager.wait()
    finally:
        signal.signal(signal.SIGALRM, previous)
    second = manager.save(2, one.main, one.exe, one.scope)
    assert manager.steps() == [1, 2] and first != second


def test_an_error_that_no_call_raised_is_a_warning(tmp_path, monkeypatch):
    one = model()
    monkeypatch.setattr(checkpoint_folder, "write_checkpoint", failing)
    manager = pm.io.CheckpointManager(tmp_path, background=True)
    manager.save(1, one.main, one.exe, one.scope)
    manager._pending._ended.wait()
    with pytest.warns(UserWarning, match="No space left on device"):
        del manager
        gc.collect()  # the error's traceback refers to the manager


def test_the_end_of_a_process_waits(tmp_path):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from training_model import *\n"
        "manager = pm.io.CheckpointManager(sys.argv[2], background=True)\n"
        "trainer().fit(arrays(), 2, checkpoints=manager, progress=False)"
    )
    subprocess.run([sys.executable, "-c", code, "tests", str(tmp_path)], check=True)
    assert pm.io.CheckpointManager(tmp_path).latest() == 2 * 2


def test_fit_resumes_with_the_same_bits(tmp_path):
    whole = trainer()
    whole.fit(arrays(), 4, batch_size=BATCH, progress=False)
    expected = everything(whole)
    for epochs in (2, 4):
        resumed = trainer()
        with pm.io.CheckpointManager(tmp_path, every_steps=3, background=True) as manager:
            resumed.fit(arrays(), epochs, batch_size=BATCH, progress=False, checkpoints=manager)
    assert everything(resumed) == expected


def test_tables_are_copied(tmp_path):
    main, scope = pm.Program(), pm.Scope()
    with pm.program_guard(main, pm.Program()):
        main.global_block().create_var("rows", shape=[5, 2], dtype="float32", persistable=True, kind=dtypes.SELECTED_ROWS)
    scope.set_rows("rows", np.array([1, 3]), np.ones((2, 2), "float32"), 5)
    with pm.io.CheckpointManager(tmp_path, background=True) as manager:
        manager.save(1, main, pm.Executor(), scope)
        scope.set_rows("rows", np.array([2]), np.zeros((1, 2), "float32"), 5)
        manager.restore(main, pm.Executor(), scope)
    assert scope.get_rows("rows")[0].tolist() == [1, 3]

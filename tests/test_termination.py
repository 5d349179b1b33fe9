"""SIGTERM ends training as Ctrl-C does."""

import gc
import signal
import subprocess
import sys
import threading

import pytest

import paddle_mini as pm
from paddle_mini.termination import Terminated, heed_sigterm, sigterm_heeded

TRAINING = """
import sys
import paddle_mini as pm
from small_model import SmallModel
model = SmallModel()
manager = pm.io.CheckpointManager(sys.argv[1], every_steps=10**9)
step = 0
try:
    while True:
        model.step(step % 5)
        step += 1
        manager.save(step, model.main, model.exe, model.scope)
        print(step, flush=True)
except KeyboardInterrupt as stopped:
    manager.save(step, model.main, model.exe, model.scope, force=True)
    sys.exit(7 if isinstance(stopped, pm.termination.Terminated) else 8)
"""


def test_training_with_checkpoints(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", TRAINING, str(tmp_path / "run")], cwd="tests", stdout=subprocess.PIPE, text=True
    ) as training:
        for _ in range(3):
            training.stdout.readline()
        training.send_signal(signal.SIGTERM)
        training.stdout.read()
    assert training.returncode == 7
    assert pm.io.CheckpointManager(tmp_path / "run").latest() >= 3


@pytest.fixture
def default_handler():
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGTERM, before)


def test_it_is_a_kind_of_ctrl_c_and_the_handler_goes(default_handler):
    with pytest.raises(KeyboardInterrupt) as caught, sigterm_heeded():
        signal.raise_signal(signal.SIGTERM)
    assert type(caught.value) is Terminated and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_handler_of_the_user_stays(default_handler):
    heard = []
    signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))
    with sigterm_heeded():
        signal.raise_signal(signal.SIGTERM)
    heed_sigterm()()
    signal.raise_signal(signal.SIGTERM)
    assert heard == 2 * [signal.SIGTERM]


def test_another_thread_sets_none(default_handler):
    thread = threading.Thread(target=heed_sigterm)
    thread.start()
    thread.join()
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def is_heeded():
    return signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL


def test_a_manager_of_checkpoints_gives_the_signal_back(default_handler, tmp_path):
    with pm.io.CheckpointManager(tmp_path) as manager:
        assert is_heeded()
    assert not is_heeded() and manager.steps() == []
    first, second = pm.io.CheckpointManager(tmp_path), pm.io.CheckpointManager(tmp_path)
    for _ in range(2):
        first.close()
        assert is_heeded()
    with sigterm_heeded():
        del second
        gc.collect()
        assert is_heeded()
    assert not is_heeded()


def test_a_handler_that_the_user_sets_later_stays(default_handler, tmp_path):
    manager = pm.io.CheckpointManager(tmp_path)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    manager.close()
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN

"""SIGTERM ends training as Ctrl-C does."""
import signal
import subprocess
import sys
import threading

import pytest

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
    import paddle_mini as pm
    with subprocess.Popen([sys.executable, "-c", TRAINING, str(tmp_path / "run")], cwd="tests", stdout=subprocess.PIPE,
                          text=True) as training:
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
    assert heard == [signal.SIGTERM] and not heed_sigterm()


def test_another_thread_sets_none(default_handler):
    answers = []
    thread = threading.Thread(target=lambda: answers.append(heed_sigterm()))
    thread.start()
    thread.join()
    assert answers == [False] and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL

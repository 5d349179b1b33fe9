"""Jobs on Ray: errors and logs of remote processes, jobs side by side, cleanup."""

import glob
import logging
import os
import stat
import subprocess
import sys
import tempfile
import textwrap
import time

import pytest

import paddle_mini as pm
from paddle_mini.cluster import Malformed, StorageError, TrainerFailed
from paddle_mini.cluster.process_log import ProcessLogger

ray = pytest.importorskip("ray")
ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])


pytestmark = pytest.mark.usefixtures("ray_cluster")


def test_a_ray_of_ones_own_goes_on():
    assert pm.cluster.run(os.getpid, 2, 1, engine="ray").returned[0] != os.getpid()
    assert ray.is_initialized()


def test_an_error_says_where_it_was_raised():
    def broken():
        return pm.layers.fc(pm.layers.data("x", [-1, 3]), -5)

    with pytest.raises(TrainerFailed, match="trainer 0: ProgramError: ") as caught:
        pm.cluster.run(broken, 1, 1, engine="ray")
    cause = caught.value.__cause__
    assert isinstance(cause, pm.ProgramError)
    assert __file__ in str(cause) and "pm.layers.fc" in str(cause)


class Unsendable(Exception):
    """An error with a value that cannot be pickled."""

    def __init__(self):
        import threading

        super().__init__("it is open")
        self.lock = threading.Lock()


@pytest.mark.parametrize("end, problem", [("raise", "it is open"), ("return", "pickle")])
def test_what_can_not_be_sent_is_told_of(end, problem):
    def ends():
        if end == "raise":
            raise Unsendable
        return Unsendable()

    with pytest.raises(TrainerFailed, match="trainer 0: ") as caught:
        pm.cluster.run(ends, 1, 1, engine="ray")
    assert problem in str(caught.value)


def test_what_parts_log_arrives_once_with_its_origin(caplog, tmp_path):
    def logs(folder):
        pm.optimizer.SGD(0.1).minimize(pm.layers.reduce_sum(pm.layers.create_parameter([3], "float32")))
        pm.Executor().run(pm.default_startup_program())
        trainer = pm.cluster.join()
        logging.getLogger("paddle_mini.cluster.other").info("not needed")
        ProcessLogger("paddle_mini.cluster.other").warning("careful, it is %s", "hot")
        os.remove(os.path.join(folder, "server-0.json"))
        os.makedirs(os.path.join(folder, "server-0.json", "in the way"))
        while not os.path.exists(os.path.join(folder, "seen")):
            trainer.run()

    def sees(now):
        if now.servers and now.servers[0].checkpoint_errors:
            (tmp_path / "seen").touch()

    with caplog.at_level(logging.WARNING), pytest.raises(StorageError):
        pm.cluster.run(logs, 1, 1, engine="ray", args=[str(tmp_path)], directory=tmp_path, checkpoint_seconds=0.3, on_status=sees)
    assert caplog.messages.count("trainer 0: careful, it is hot") == 1
    assert any(text.startswith("server 0: can't write a checkpoint") for text in caplog.messages), caplog.messages


def test_what_a_trainer_logs_before_it_fails_arrives(caplog):
    def fails():
        pm.optimizer.SGD(0.1).minimize(pm.layers.reduce_sum(pm.layers.create_parameter([3], "float32")))
        pm.Executor().run(pm.default_startup_program())
        pm.cluster.join()
        ProcessLogger("paddle_mini.cluster.other").warning("it is too hot")
        raise ValueError("melted")

    with pytest.raises(TrainerFailed, match="trainer 0: ValueError: melted\n  at .*test_ray_jobs.py:"):
        pm.cluster.run(fails, 1, 1, engine="ray")
    assert caplog.messages.count("trainer 0: it is too hot") == 1


def test_an_address_is_of_ray():
    with pytest.raises(Malformed, match="address is 'here', which only engine 'ray' supports"):
        pm.cluster.run(os.getpid, address="here")


SCRIPT = textwrap.dedent("""
    import signal
    import sys
    import paddle_mini as pm

    def train(step):
        weight = pm.layers.create_parameter([3], "float32")
        pm.optimizer.SGD(step).minimize(pm.layers.reduce_sum(weight))
        exe = pm.Executor()
        exe.run(pm.default_startup_program())
        trainer = pm.cluster.join()
        trainer.run()
        trainer.pull()
        if step > 5:
            raise ValueError("too far")
        return pm.global_scope().get(weight.name)

    before, = [float(sys.argv[1])]
    print(pm.cluster.run(train, 2, 2, "sync", "ray", args=[before]).returned[0].dtype)
    print(signal.getsignal(signal.SIGTERM) is signal.SIG_DFL)
""")


def left(folder):
    """Processes that have a file open in a folder, and sockets there."""
    opened = set()
    for link in glob.glob("/proc/[0-9]*/fd/*"):
        try:
            opened |= {link.split("/")[2]} if os.readlink(link).startswith(folder) else set()
        except OSError:  # it has just been closed
            continue
    return sorted(opened) + [path for path in glob.glob(folder + "/*/*/*") if stat.S_ISSOCK(os.lstat(path).st_mode)]


def test_jobs_side_by_side_and_what_they_leave(tmp_path):
    """Two jobs at a time, one of which fails. Afterwards signals have their former handlers, and no process is left."""
    (tmp_path / "job.py").write_text(SCRIPT)
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # a socket's path must be short
        jobs = [
            subprocess.Popen(
                [sys.executable, tmp_path / "job.py", step],
                stdout=subprocess.PIPE,
                text=True,
                stderr=subprocess.PIPE,
                env={**os.environ, "RAY_TMPDIR": folder},
            )
            for step in "17"
        ]
        while not left(folder) and jobs[0].poll() is None:
            time.sleep(0.1)
        assert jobs[0].poll() is None  # so that leftovers would be detected
        (good, _), (_, problem) = [job.communicate(timeout=120) for job in jobs]
        assert good.split()[-2:] == ["float32", "True"]  # Ray replaces the handler of SIGTERM while the job runs
        assert jobs[0].returncode == 0
        assert "ValueError: too far" in problem and jobs[1].returncode == 1
        assert not left(folder)


def test_without_ray():
    code = "import sys; sys.modules['ray'] = None; import paddle_mini as pm; pm.cluster.run(print, engine='ray')"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "engine='ray' needs Ray and pyzmq: pip install 'paddle_mini[ray]'" in ended.stderr.splitlines()[-1]

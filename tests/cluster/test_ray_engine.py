"""Features of jobs on Ray only: processes, errors of remote processes, large arrays, cleanup."""

import glob
import logging
import os
import stat
import subprocess
import sys
import tempfile
import textwrap
import time
from functools import partial

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini.cluster import Gone, Malformed, StorageError, Timeout, TrainerFailed
from paddle_mini.cluster.engine import Envelope
from paddle_mini.cluster.process_log import ProcessLogger

ray = pytest.importorskip("ray")
RayEngine = pytest.importorskip("paddle_mini.cluster.ray_engine").RayEngine
ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])


pytestmark = pytest.mark.usefixtures("ray_cluster")


@pytest.fixture
def engine():
    made = RayEngine()
    yield made
    made.stop()


class Echo:
    """A service that returns its arguments."""

    def __init__(self, link):
        self._link = link

    def tick(self):
        pass

    def handle(self, header, arrays):
        if header == b"ask the other":
            return self._link.send([Envelope("other", b"", arrays)], 10.0)[0]
        return header + b"!", [array + 1 for array in arrays]


def echo(engine, name="echo", header=b"", arrays=(), timeout=10.0):
    (answer,) = engine.link().send([Envelope(name, header, list(arrays))], timeout)
    return answer


def test_services_have_links_to_the_others(engine):
    engine.serve({"echo": Echo, "other": Echo})
    header, arrays = echo(engine, header=b"ask the other", arrays=[np.zeros(3)])
    assert header == b"!" and arrays[0].tolist() == [1, 1, 1]


def test_arrays_of_100_mb_pass(engine):
    engine.serve({"echo": Echo})
    value = np.arange(25_000_000, dtype="float32")
    _, (got,) = echo(engine, arrays=[value])
    np.testing.assert_array_equal(got, value + 1)


def test_what_is_not_there_is_gone(engine):
    assert isinstance(echo(engine, "absent"), Gone)


def test_a_service_that_died_is_begun_again(engine):
    engine.serve({"echo": Echo})
    engine.kill("echo")
    answers = [echo(engine)]
    while isinstance(answers[-1], Gone):
        answers.append(echo(engine))
    assert answers[-1] == (b"!", [])


class Writer(Echo):
    """A service that writes for a while in each tick."""

    def __init__(self, path, link):
        super().__init__(link)
        self._path = path

    def tick(self):
        with open(self._path, "a") as file:
            print("begins", file=file, flush=True)
            time.sleep(1)
            print("ends", file=file)


def test_a_service_finishes_what_it_writes_before_the_engine_ends(tmp_path):
    engine, path = RayEngine(), tmp_path / "written"
    engine.serve({"writer": partial(Writer, path)})
    deadline = time.monotonic() + 60
    while not path.read_text().endswith("begins\n"):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    engine.stop()
    assert path.read_text().splitlines()[-1] == "ends"


def test_trainers_have_ended_before_the_engine_returns(engine, tmp_path):
    def writes(number, link):
        path = tmp_path / "process"
        if number == 0:
            path.write_text(str(os.getpid()))
            while True:
                (tmp_path / "written").write_text("x" * 1_000_000)
        while not path.exists() or not path.read_text():
            time.sleep(0.01)
        raise ValueError("melted")

    with pytest.raises(TrainerFailed, match="melted"):
        engine.run_trainers(writes, 2, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "process").read_text()), 0)


def test_a_slow_service(engine):
    class Slow(Echo):
        def handle(self, header, arrays):
            import time

            time.sleep(1.0)
            return header, arrays

    engine.serve({"echo": Slow})
    assert isinstance(echo(engine, timeout=0.1), Timeout)


def test_each_request_has_its_own_answer(engine):
    """A late or lost reply does not affect the others of the same call."""

    class Sleepy(Echo):
        def handle(self, header, arrays):
            import os
            import time

            if header == b"die":
                os._exit(1)
            time.sleep(float(header))
            return header, arrays

    engine.serve({"late": Sleepy, "soon": Sleepy})
    requests = [Envelope(name, header, []) for name, header in (("late", b"9"), ("soon", b"0"), ("absent", b"0"))]
    late, soon, absent = engine.link().send(requests, 2.0)
    assert isinstance(late, Timeout) and soon == (b"0", []) and isinstance(absent, Gone)
    engine.serve({"dies": Sleepy})
    gone, soon = engine.link().send([Envelope("dies", b"die", []), Envelope("soon", b"1", [])], 20.0)
    assert isinstance(gone, Gone) and soon == (b"1", [])


def test_what_a_service_can_not_begin_for_is_raised(engine):
    def make(link):
        raise StorageError("no disk")

    with pytest.raises(StorageError, match="no disk"):
        engine.serve({"echo": make})


def test_a_part_that_ray_has_no_place_for():
    engine = RayEngine(trainer_options={"resources": {"unobtainium": 1}}, start_timeout=1.0)
    try:
        with pytest.raises(Timeout, match="Ray has not started trainer 0 in 1 s"):
            engine.run_trainers(lambda number, link: number, 1, 0)
    finally:
        engine.stop()


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

    with pytest.raises(TrainerFailed, match="trainer 0: ValueError: melted\n  at .*test_ray_engine.py:"):
        pm.cluster.run(fails, 1, 1, engine="ray")
    assert caplog.messages.count("trainer 0: it is too hot") == 1


def test_an_address_is_of_ray():
    with pytest.raises(Malformed, match="address is 'here', which only engine 'ray' supports"):
        pm.cluster.run(os.getpid, address="here")


SCRIPT = textwrap.dedent("""
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
    """Two jobs at a time, one of which fails."""
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
        assert good.split()[-1] == "float32" and jobs[0].returncode == 0
        assert "ValueError: too far" in problem and jobs[1].returncode == 1
        assert not left(folder)


def test_without_ray():
    code = "import sys; sys.modules['ray'] = None; import paddle_mini as pm; pm.cluster.run(print, engine='ray')"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "engine='ray' needs Ray: pip install 'paddle_mini[ray]'" in ended.stderr.splitlines()[-1]

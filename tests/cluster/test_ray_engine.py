"""Ray as an engine: services and trainers are processes, large arrays pass, dead services restart."""

import os
import sys
import time
from functools import partial

import numpy as np
import pytest

from paddle_mini.cluster import Gone, StorageError, Timeout, TrainerFailed
from paddle_mini.cluster.engine import Envelope

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

    def rest(self):
        pass

    def take(self, header, arrays, respond, patience, memory=None):
        respond(self.handle(header, arrays))

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

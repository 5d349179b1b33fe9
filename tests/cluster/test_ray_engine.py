"""Ray as an engine: services and trainers are processes, large arrays pass, dead services restart."""

import logging
import os
import sys
import time
from functools import partial

import numpy as np
import pytest

from paddle_mini.cluster import Gone, Malformed, StorageError, Timeout, TrainerFailed
from paddle_mini.cluster.engine import Envelope

ray = pytest.importorskip("ray")
ray_engine = pytest.importorskip("paddle_mini.cluster.ray_engine")
from paddle_mini.cluster import ray_places, ray_trainers  # noqa: E402 (need Ray)

RayEngine = ray_engine.RayEngine
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


UNOBTAINABLE = {"resources": {"unobtainium": 1}}


def test_a_part_that_ray_has_no_place_for():
    engine = RayEngine(trainer_options=UNOBTAINABLE, start_timeout=1.0)
    problem = "Ray has not started trainer 0 in 1 s: no machine of the cluster has unobtainium 1"
    try:
        with pytest.raises(Timeout, match=problem):
            engine.run_trainers(lambda number, link: number, 1, 0)
    finally:
        engine.stop()


def test_services_that_ray_has_no_place_for_are_not_waited_for(monkeypatch, caplog):
    """It is said soon that others have reserved what they need."""
    monkeypatch.setattr(ray_places, "PATIENCE", 0.3)
    monkeypatch.setattr(ray_engine, "REST", 3600.0)
    cpus = ray.cluster_resources()["CPU"]
    hog = ray.remote(Held).options(num_cpus=cpus).remote()
    ray.get(hog.__ray_ready__.remote())
    engine = RayEngine(start_timeout=3.0)
    try:
        reason = f"it needs CPU 0.001, and {cpus:g} of the cluster's {cpus:g} are reserved"
        with caplog.at_level(logging.WARNING), pytest.raises(Timeout, match=f"Ray has not started echo in 3 s: {reason}"):
            engine.serve({"echo": Echo, "other": Echo})
        assert caplog.messages == [f"echo and 1 more: Ray has no place yet: {reason}"]
    finally:
        ray.kill(hog)
        engine.stop()


class Held:
    """An actor that reserves what its options say."""


def test_a_trainer_that_ray_can_not_restart(monkeypatch, caplog, tmp_path):
    """It is said while the other one trains, and ends the job afterwards."""
    monkeypatch.setattr(ray_trainers, "PATIENCE", 0.3)

    def work(number, link):
        while number and not (tmp_path / "end").exists():
            time.sleep(0.01)
        if not number:
            os._exit(1)

    def start(trainers, number):
        if trainers._lives[number]:
            trainers._options |= UNOBTAINABLE
            trainers._limit = 1.0
        return plain_start(trainers, number)

    def explain(begins, missing):
        plain_explain(begins, missing)
        if missing:
            (tmp_path / "end").touch()

    plain_start, plain_explain = ray_trainers.RayTrainers._start, ray_places.Begins.explain
    monkeypatch.setattr(ray_trainers.RayTrainers, "_start", start)
    monkeypatch.setattr(ray_places.Begins, "explain", explain)
    engine = RayEngine()
    try:
        with (
            caplog.at_level(logging.WARNING),
            pytest.raises(TrainerFailed, match="a trainer died, and Ray has not started trainer 0"),
        ):
            engine.run_trainers(work, 2, 3)
    finally:
        engine.stop()
    assert "trainer 0: Ray has no place yet: no machine of the cluster has unobtainium 1" in caplog.messages


@pytest.mark.parametrize(
    "options, problem",
    [
        ({"num_gpu": 1}, "trainer_options: Ray refuses an option: Invalid option keyword num_gpu"),
        ({"num_cpus": -1}, "trainer_options: Ray refuses an option: The quantity of resource num_cpus cannot be negative"),
        ({"resources": 3}, "trainer_options: Ray refuses an option: The type of keyword 'resources' must be"),
        ({"name": "mine"}, "trainer_options has 'name', which the engine sets itself"),
        (7, "trainer_options is 7, it must be a dictionary of Ray's options of actors"),
    ],
)
def test_options_that_ray_refuses(options, problem):
    with pytest.raises(Malformed, match=problem):
        RayEngine(trainer_options=options)


def test_options_that_ray_refuses_late(engine):
    engine = RayEngine(trainer_options={"num_gpus": 1.5})
    try:
        with pytest.raises(Malformed, match="trainer_options: Ray refuses an option: GPU resource quantities >1 must be whole"):
            engine.run_trainers(lambda number, link: number, 1, 0)
    finally:
        engine.stop()

"""The model of jobs in benchmarks/cluster_sim.py: queues obey their laws, and a step is the sum of its parts."""

import importlib
import pathlib
import sys
from dataclasses import replace

import pytest

from thorough import thorough

BENCHMARKS = pathlib.Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def sim():
    sys.path.insert(0, str(BENCHMARKS))
    try:
        yield importlib.import_module("cluster_sim")
    finally:
        sys.path.remove(str(BENCHMARKS))


@pytest.fixture
def events(sim):
    return sys.modules["discrete_events"]


@pytest.fixture
def costs(sim):
    return sim.Costs(
        client_message=1e-4,
        client_byte=2e-10,
        server_message=3e-4,
        server_byte=4e-10,
        message_wait=2e-4,
        pull_byte=5e-10,
        pull_row=6e-7,
        push_byte=7e-10,
        push_row=8e-7,
        sum_byte=9e-10,
        checkpoint_byte=1e-9,
        heartbeat=1e-5,
        heartbeat_member=1e-7,
    )


@pytest.fixture
def model(sim):
    """A constant time of computation, so that a step's time can be computed as a sum."""
    return sim.Model("model", compute=0.01, dense=2e6, rows=1000, row_bytes=64, table=64e6, spread=0.0)


def test_what_the_engine_needs_all_the_time_is_missing_on_a_shared_machine(sim, costs, model):
    """With one core, trainers get what is left of it; with machines of their own they are as fast as without."""

    def steps(share, shared):
        of = replace(costs, message_wait=0.0, upkeep=share / 2, upkeep_process=share / 4)
        return sim.Job(model, sim.Cluster(1, 1, cores=1, shared=shared), of).run(20.0).steps

    without, alone = (steps(0.0, shared) for shared in (True, False))
    for share in (0.2, 0.5):
        assert steps(share, shared=True) == pytest.approx((1 - share) * without, rel=0.02)
        assert steps(share, shared=False) == alone


def one_queue(events, arrivals, service, until, places=1):
    """Processes that arrive at random at a queue with random service times."""
    simulation = events.Simulation(5)
    queue, draw = events.Queue(simulation, places), simulation.random

    def source():
        while True:
            yield simulation.timeout(draw.expovariate(arrivals))
            simulation.begin(queue.use(draw.expovariate(1 / service)))

    simulation.begin(source())
    simulation.run(until)
    return queue


@pytest.mark.parametrize("load", [0.3, 0.8])
def test_a_queue_of_random_arrivals(events, load):
    """M/M/1: the place is used for the fraction `load` of the time, and a process stays for 1 / (1 - load) service times."""
    queue = one_queue(events, load, 1.0, 100_000)
    assert queue.busy / 100_000 == pytest.approx(load, rel=0.03)
    assert queue.stayed / queue.entered == pytest.approx(1 / (1 - load), rel=0.06)


def test_littles_law(events):
    """Little's law: the mean number present is the arrival rate times the mean time of stay; counted, and sampled."""
    simulation = events.Simulation(5)
    queue, draw, inside, seen = events.Queue(simulation, 2), simulation.random, [0], []

    def visitor():
        inside[0] += 1
        yield from queue.use(draw.expovariate(1.0))
        inside[0] -= 1

    def source():
        while True:
            yield simulation.timeout(draw.expovariate(1.6))
            simulation.begin(visitor())

    def observer():
        while True:
            yield simulation.timeout(0.5)
            seen.append(inside[0])

    simulation.begin(source())
    simulation.begin(observer())
    simulation.run(20_000)
    assert sum(seen) / len(seen) == pytest.approx(queue.stayed / 20_000, rel=0.02)


def test_places_are_given_in_order(events):
    simulation, left = events.Simulation(0), []
    queue = events.Queue(simulation)

    def visitor(name):
        yield from queue.use(1.0)
        left.append((name, simulation.now))

    for name in "abc":
        simulation.begin(visitor(name))
    simulation.run(10)
    assert left == [("a", 1.0), ("b", 2.0), ("c", 3.0)] and queue.busy == 3.0 and queue.stayed == 6.0


def step_seconds(model, cluster, costs):
    """One trainer and one server: all parts run one after the other."""
    moved = model.dense + model.rows * model.row_bytes
    both = 2 * moved + 16 * model.rows
    seconds = model.compute + (costs.pull_byte + costs.push_byte) * model.dense + (costs.pull_row + costs.push_row) * model.rows
    seconds += costs.client_message + costs.server_message + costs.message_wait
    seconds += (costs.client_byte + costs.server_byte) * both
    if not cluster.shared:
        seconds += 2 * both / cluster.bandwidth + 2 * cluster.latency  # two links each way
    return seconds


@pytest.mark.parametrize("facts", [{}, {"shared": True, "cores": 2}, {"bandwidth": 1e8, "latency": 0.01}])
def test_one_trainer_and_one_server_are_the_sum_of_their_parts(sim, model, costs, facts):
    cluster = sim.Cluster(1, 1, **facts)
    seconds = step_seconds(model, cluster, costs)
    job = sim.Job(model, cluster, costs).run(200.5 * seconds)
    assert job.steps == 200 and set(job.staleness) == {0}
    assert job.trainers[0].cores.busy >= 200 * model.compute


def test_a_step_of_two_in_step_waits_for_the_slower_one(sim, model, costs):
    """sync: both make as many steps, though each has its own computation time; neither makes more."""
    model = replace(model, spread=1.0)
    runs = {mode: sim.Job(model, sim.Cluster(2, 1, mode), costs, seed=1).run(60.0) for mode in ("sync", "async")}
    assert runs["sync"].steps < 0.9 * runs["async"].steps
    assert runs["sync"].trainers[0].sends.entered == pytest.approx(runs["sync"].steps / 2, abs=1), "a trainer does not ask again"
    assert runs["sync"].servers[0].version == pytest.approx(runs["sync"].steps / 2, abs=1)
    assert runs["async"].servers[0].version == pytest.approx(runs["async"].steps, abs=2)


def test_pushes_are_stale_by_those_of_the_others(sim, model, costs):
    """In the time of a step all others push once; if nearly all of it is between a pull and a push, the push is late by
    their number."""
    job = sim.Job(replace(model, compute=1.0, spread=0.3), sim.Cluster(5, 1), costs).run(500.0, warm=5.0)
    assert sum(job.staleness) / len(job.staleness) == pytest.approx(4, rel=0.03)


@pytest.mark.parametrize("compute", [0.001, 0.05])
def test_an_exchange_beside_the_computation_of_several_batches(sim, model, costs, compute):
    """The longer of both is the time of a group. A push lacks the one before it, as its own parameters do."""
    merged = 3
    model = replace(model, compute=compute)
    exchange = step_seconds(replace(model, compute=0.0, rows=merged * model.rows), sim.Cluster(1, 1), costs)
    group = max(merged * compute, exchange)
    job = sim.Job(model, sim.Cluster(1, 1, merged=merged), costs).run(100 * group, warm=10.5 * group)
    assert job.steps == pytest.approx(100 * merged, abs=merged)
    assert set(job.staleness) == {1}
    assert job.busy()["trainers' messages"] < 0.2


@thorough
def test_no_more_than_the_limit(sim, model, costs):
    """Sixty trainers: a server is always busy, and its capacity limits the steps per second; two servers double it."""
    one, two = (sim.Job(model, sim.Cluster(60, servers), costs).run(10.0, warm=3.0) for servers in (1, 2))
    moved = model.dense + model.rows * model.row_bytes
    work = costs.server_message + costs.server_byte * (2 * moved + 16 * model.rows)
    work += (costs.pull_byte + costs.push_byte) * model.dense + (costs.pull_row + costs.push_row) * model.rows
    assert one.busy()["servers"] == pytest.approx(1, abs=0.02)
    assert one.steps / 10 == pytest.approx(1 / work, rel=0.03)
    assert two.steps / 10 == pytest.approx(2 / (work + costs.server_message), rel=0.05)


def test_servers_that_are_not_simulated_count(sim, model, costs):
    """A trainer's links and cores carry the bytes of all servers, of which eight are simulated."""

    def busy(servers):
        job = sim.Job(model, sim.Cluster(1, servers), replace(costs, client_message=0.0)).run(20.0)
        return job.busy()["trainers' links"] * job.seconds / job.steps

    assert busy(80) == pytest.approx(busy(8), rel=0.01)


def test_fewer_messages_with_local_steps(sim, model, costs):
    """A server has a tenth of the work per step if there is an exchange every ten steps."""

    def work(**facts):
        job = sim.Job(model, sim.Cluster(2, 1, **facts), costs).run(20.0)
        return job.busy()["servers"] / job.steps

    assert work(mode="delta", local_steps=10) == pytest.approx(work(mode="delta") / 10, rel=0.02)


@thorough
def test_checkpoints_take_a_core_and_no_turn(sim, model, costs):
    """A server answers while it writes; where it has one core for both, requests and the checkpoint share it."""
    model = replace(model, rows=10)  # copies of pages are few
    seconds = 60.0

    def steps(cores, **facts):
        return sim.Job(model, sim.Cluster(1, 1, cores=cores, disk=1e9, together=True, **facts), costs).run(seconds)

    bytes_written = (model.dense + model.table) * sim.Cluster(1, 1).state
    every = 1.5 * bytes_written * (costs.checkpoint_byte + 1e-9)
    for cores in (8, 1):
        plain, written = steps(cores), steps(cores, checkpoint_seconds=every)
        writes = seconds / every * bytes_written * costs.checkpoint_byte
        assert written.servers[0].machine.cores.busy - plain.servers[0].machine.cores.busy == pytest.approx(writes, rel=0.15)
        assert written.servers[0].disk.busy == pytest.approx(seconds / every * bytes_written / 1e9, rel=0.02)
        assert (0.97 if cores == 8 else 0.7) < written.steps / plain.steps < (1.0 if cores == 8 else 0.97)
        assert written.lost == 0


@thorough
def test_failures_take_what_they_take(sim, model, costs):
    """A server that is away for half of the time halves the steps; pushes that were not in a checkpoint are lost."""
    slow = replace(model, compute=10 * model.compute)
    plain = sim.Job(slow, sim.Cluster(1, 1), costs).run(250.0)
    failing = sim.Job(slow, sim.Cluster(1, 1, mean_life=40.0, restart=20.0), costs, seed=2).run(3000.0)
    assert 0.35 < failing.steps / plain.steps / 12 < 0.8 and failing.lost > 0


@thorough
def test_a_step_asks_the_servers_that_it_touches(sim, model, costs):
    """Without dense parameters, those that have one of its rows."""
    few = replace(model, dense=0.0, rows=100)
    for servers in (1, 10, 100, 1000):
        job = sim.Job(few, sim.Cluster(1, servers), costs).run(30.0)
        expected = servers * (1 - (1 - 1 / servers) ** 100)
        assert servers * job.touched == pytest.approx(expected, rel=0.01)
        assert job.scale * sum(one.machine.sends.entered for one in job.servers) / job.steps == pytest.approx(expected, rel=0.12)
    dense = replace(model, dense=4 * 8192 * 20.0, rows=0)
    assert sim.touched(dense, 100) == pytest.approx(0.2) and sim.touched(dense, 10) == 1.0


@thorough
def test_a_seed_has_one_result(sim, model, costs):
    def run(seed):
        cluster = sim.Cluster(8, 5, checkpoint_seconds=2.0, mean_life=30.0, save_seconds=3.0)
        job = sim.Job(replace(model, spread=0.5), cluster, costs, seed).run(8.0)
        return job.steps, job.lost, job.saves, tuple(job.staleness), job.busy()

    assert run(1) == run(1) != run(2)

# A discrete-event model of jobs with parameter servers, for more machines than are available.
"""Assumptions:

* Each trainer, each server and the coordinator has its own machine, with cores, a full-duplex link and, for a server, a
  disk; or all share one machine, without links, and with what the engine and waiting processes need all the time (shared).
  Every resource serves requests in the order of arrival. The network between links has no limit.
* A step sends one request to each server that it touches: the gradients of the step before it, with a reply that has the
  parameters for this one. In sync mode the server keeps the request until the step is made. A message takes CPU time at its
  sender, the sender's link, the latency, the receiver's link, and CPU time at the receiver, one after the other, as a
  whole. A trainer sends one message after the other, and a server executes one request at a time. Threads need not be woken
  for a message that has waited for others, and less often for messages that are sent at once: their costs are measured apart.
* With Cluster.merged, as with Trainer.steps(), that many batches are one group: its parameters come, and the gradients of the
  group before the previous one go, while the previous one is computed. All its rows are different ones.
* A step's forward and backward pass takes a time with a lognormal distribution, on one core.
* Dense parameters are in blocks of BLOCK elements or more, and rows are named at random: a step touches the servers that
  have a block, and those that have one of its rows. At most SAMPLED servers are simulated, or SAMPLED_OF_MANY, each of
  which a step touches as often as any. A trainer's CPU and link carry the messages of all servers, and failures and
  checkpoints hit the simulated ones as often as they would hit all: a step needs every server that it touches.
* A server answers while it writes a checkpoint: that takes a core of its machine for its bytes, a part at a time, and the
  disk, and a push copies the pages of PAGE bytes that it changes. The copies of pages that were written or copied before
  are counted, too, which is more than there are.
* A server that fails is away for `restart` seconds plus the time to read its checkpoint; trainers wait for it, and
  pushes since its newest checkpoint are lost. A trainer that fails is away for `restart` seconds.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from cluster_inputs import Cluster, Costs, Model, touched
from discrete_events import Latch, Process, Queue, Simulation

SAMPLED, SAMPLED_OF_MANY = 8, 2
"""Servers that are simulated, and those of more than 1,000 trainers, and of the hours of one, which make many events."""
PAGE = 4096
UPKEEP_SECONDS = 0.01
"""From one use of a core by the engine to the next."""
WRITTEN_AT_A_TIME = 1 << 24
"""Bytes of a checkpoint for which a core is taken, before requests that wait for one are served."""


class Machine:
    def __init__(self, simulation: Simulation, cores: int):
        self.cores, self.sends, self.receives = Queue(simulation, cores), Queue(simulation), Queue(simulation)


class Client:
    """A trainer. asks: the thread that sends messages and takes replies. exchanges: made so far; versions: of each server's
    parameters, of the last two exchanges."""

    def __init__(self, simulation: Simulation, machine: Machine, servers: int):
        self.machine, self.asks, self.exchanges = machine, Queue(simulation), 0
        self.versions = deque([[0] * servers, [0] * servers], maxlen=2)


class Server:
    """version: applied pushes, or finished steps; saved: the version of the newest checkpoint. waiting: pushes of the
    unfinished step, and made: the event of its end. handler: executes one request at a time. writes: a checkpoint is being
    written."""

    def __init__(self, simulation: Simulation, machine: Machine):
        self.machine, self.handler, self.disk = machine, Queue(simulation), Queue(simulation)
        self.version = self.saved = self.waiting = 0
        self.made, self.writes = simulation.event(), False


@dataclass(frozen=True)
class Request:
    """A request to one server: bytes of the message and of the reply, the server's work in seconds of a core, and rows."""

    name: str
    sent: float
    received: float
    work: float
    rows: float = 0.0


class Job:
    """A simulated job. steps: finished by trainers. staleness: for each push in async mode, the number of other pushes
    applied since its parameters were sent. lost: pushes lost with servers, where each server has an equal part of one. saves:
    saved models. touched: the fraction of the servers that a step touches."""

    def __init__(self, model: Model, cluster: Cluster, costs: Costs, seed: int = 0):
        self.model, self.cluster, self.costs = model, cluster, costs
        self.simulation = Simulation(seed)
        sampled = min(cluster.servers, SAMPLED if 1 < cluster.trainers <= 1000 else SAMPLED_OF_MANY)
        self.scale = cluster.servers / sampled  # servers that each simulated one represents
        shared = self._machine() if cluster.shared else None
        self.trainers = [shared or self._machine() for _ in range(cluster.trainers)]
        self.clients = [Client(self.simulation, machine, sampled) for machine in self.trainers]
        self.servers = [Server(self.simulation, shared or self._machine()) for _ in range(sampled)]
        self.coordinator = Queue(self.simulation)
        self.steps, self.lost, self.saves, self.staleness, self.seconds = 0, 0.0, 0, list[int](), 0.0
        batches = max(1, cluster.merged)
        self.touched = touched(model, cluster.servers, batches)
        some = cluster.servers * self.touched
        dense, rows, table = model.dense / some, batches * model.rows / some, model.table / cluster.servers
        moved = dense + rows * model.row_bytes
        work = costs.sum_byte * moved if cluster.mode == "sync" else 0.0
        work += costs.pull_byte * dense + costs.pull_row * rows
        self.exchange = Request("exchange", moved + 16 * rows, moved, work, rows)
        self.update = costs.push_byte * dense + costs.push_row * rows
        self.copies = costs.pull_byte * (dense + PAGE * rows)
        whole = (model.dense + model.table) / cluster.servers
        self.whole = Request("whole", 0.0, whole, costs.pull_byte * whole)
        self.stored = cluster.state * (model.dense / cluster.servers + table)
        self._begin_all()

    def _machine(self) -> Machine:
        return Machine(self.simulation, self.cluster.cores)

    def _begin_all(self) -> None:
        cluster, begin, draw = self.cluster, self.simulation.begin, self.simulation.random
        for number, client in enumerate(self.clients):
            begin(self._train_ahead(client) if cluster.merged else self._train(number, client))
        if cluster.shared:
            begin(self._upkeep(self.trainers[0], self.costs.upkeep_of(cluster.trainers + cluster.servers)))
        for _ in range(cluster.trainers + cluster.servers if cluster.heartbeats else 0):
            begin(self._heartbeat(), draw.random() * cluster.heartbeat_seconds)
        for server in self.servers:
            if cluster.checkpoint_seconds is not None:
                every = cluster.checkpoint_seconds / (1 if cluster.together else self.scale)
                begin(self._write_checkpoints(server, every), every if cluster.together else draw.random() * every)
            if cluster.mean_life is not None:
                begin(self._fail(server, cluster.mean_life / self.scale))

    def run(self, seconds: float, warm: float = 0.0) -> Job:
        """Simulates `warm` and then `seconds` of the job's time; counts and the use of queues cover only the latter."""
        if warm > 0:
            self.simulation.run(warm)
        for queue in self.queues():
            queue.busy, queue.entered, queue.stayed = 0.0, 0, 0.0
        self.steps, self.lost, self.staleness, self.seconds = 0, 0.0, [], seconds
        self.simulation.run(warm + seconds)
        return self

    def queues(self) -> Iterator[Queue]:
        for group in self.groups().values():
            yield from group

    def groups(self) -> dict[str, list[Queue]]:
        """The resources that may be the limit."""
        own = {
            "trainers' links": [link for one in self.trainers for link in (one.sends, one.receives)],
            "servers' links": [link for one in self.servers for link in (one.machine.sends, one.machine.receives)],
            "trainers' cores": [one.cores for one in self.trainers],
            "trainers' messages": [one.asks for one in self.clients],
        }
        disks = [one.disk for one in self.servers]
        return {**own, "servers": [one.handler for one in self.servers], "disks": disks, "coordinator": [self.coordinator]}

    def busy(self) -> dict[str, float]:
        """The fraction of time, 0 ... 1, in which the busiest of each group was used."""
        return {name: max(one.busy / one.capacity for one in group) / self.seconds for name, group in self.groups().items()}

    def _train(self, number: int, client: Client) -> Process:
        cluster, simulation, step, saved, fails = self.cluster, self.simulation, 0, 0, self._life(self.cluster.mean_life)
        while True:
            if step % cluster.local_steps == 0:
                yield self._exchange(client, client.versions[-1])
            yield from client.machine.cores.use(self._compute())
            step += 1
            self.steps += 1
            if simulation.now > fails:
                yield simulation.timeout(cluster.restart)
                fails = simulation.now + self._life(cluster.mean_life)
            if number == 0 and cluster.save_seconds and simulation.now >= (saved + 1) * cluster.save_seconds:
                saved += 1
                yield self._ask_some(client, self.whole, None, list(client.versions[-1]))
                self.saves += 1

    def _train_ahead(self, client: Client) -> Process:
        """Trainer.steps(): exchange n continues while group n - 1 is computed, and sends the gradients of group n - 2."""
        yield self._exchange(client, None)
        while True:
            has_gradients = client.exchanges > 1
            answered = self._exchange(client, client.versions[0] if has_gradients else None)
            for _ in range(self.cluster.merged):
                yield from client.machine.cores.use(self._compute())
                self.steps += 1
            yield answered

    def _exchange(self, client: Client, of: list[int] | None) -> Latch:
        """Happens when the servers have answered. of: the versions from which the gradients were computed, if there are
        some."""
        got = list(client.versions[-1])
        client.versions.append(got)
        client.exchanges += 1
        return self._ask_some(client, self.exchange, of if client.exchanges > 1 else None, got)

    def _compute(self) -> float:
        spread = self.model.spread
        return self.model.compute * self.simulation.random.lognormvariate(-spread * spread / 2, spread)

    def _life(self, mean: float | None) -> float:
        return math.inf if mean is None else self.simulation.random.expovariate(1 / mean)

    def _ask_some(self, client: Client, request: Request, of: list[int] | None, got: list[int]) -> Latch:
        """got: becomes the versions of the parameters in the replies."""
        draw, part = self.simulation.random, 1.0 if request is self.whole or self.cluster.mode == "sync" else self.touched
        asked = [index for index in range(len(self.servers)) if part == 1.0 or draw.random() < part]
        answered, before = Latch(self.simulation, len(asked)), None if of is None else list(of)
        count = self.scale * len(asked)
        message = self.costs.client_messages(count) / count if asked else 0.0
        for index in asked:
            self.simulation.begin(self._ask(client, index, request, before, got, answered, message))
        return answered

    def _ask(
        self, client: Client, index: int, request: Request, of: list[int] | None, got: list[int], answered: Latch, message: float
    ) -> Process:
        """message: seconds of the trainer's core for one."""
        server, costs, simulation, machine = self.servers[index], self.costs, self.simulation, client.machine
        yield from self._call(client, self.scale * (message + costs.client_byte * request.sent))
        if costs.message_wait:
            yield simulation.timeout(costs.message_wait)
        yield from self._move(machine.sends, self.scale * request.sent, server.machine.receives, request.sent)
        yield from self._handle(server, request, None if of is None else of[index], client.exchanges)
        got[index] = server.version
        received = request.received
        yield from self._move(server.machine.sends, received, machine.receives, self.scale * received)
        yield from self._call(client, self.scale * (costs.client_byte * received + costs.client_row * request.rows))
        answered.done()

    def _call(self, client: Client, seconds: float) -> Process:
        """Work of the trainer's thread for messages, which takes a core."""
        with client.asks.request() as turn:
            yield turn
            client.asks.busy += seconds
            yield from client.machine.cores.use(seconds)

    def _handle(self, server: Server, request: Request, of: int | None, exchange: int) -> Process:
        """The work of a server on a request, the sender's `exchange`-th, and its effect. of: the version from which the
        gradients were computed that come with it."""
        has_waited = server.handler.count > 0
        with server.handler.request() as turn:
            yield turn
            work = self.costs.at_server(has_waited) + request.work + self.costs.server_byte * (request.sent + request.received)
            if of is not None:
                work += self._push(server, of)
            server.handler.busy += work
            yield from server.machine.cores.use(work)
        if of is not None and self.cluster.mode == "sync" and server.version < exchange - 1:
            yield server.made  # the server keeps the request until the others' have come

    def _push(self, server: Server, version: int) -> float:
        """Applies a push, or the last one of a step; the seconds of a core that it takes."""
        server.waiting += 1
        if self.cluster.mode == "sync" and server.waiting < self.cluster.trainers:
            return 0.0
        if self.cluster.mode == "async":
            self.staleness.append(server.version - version)
        server.waiting, server.version = 0, server.version + 1
        server.made.succeed()
        server.made = self.simulation.event()
        return self.update + (self.copies if server.writes else 0.0)

    def _move(self, sends: Queue, out: float, receives: Queue, into: float) -> Process:
        """out, into: bytes that either link has to carry."""
        if not self.cluster.shared:
            yield from sends.use(out / self.cluster.bandwidth)
            yield self.simulation.timeout(self.cluster.latency)
            yield from receives.use(into / self.cluster.bandwidth)

    def _upkeep(self, machine: Machine, share: float) -> Process:
        last = self.simulation.now
        while True:
            yield self.simulation.timeout(UPKEEP_SECONDS)
            passed, last = self.simulation.now - last, self.simulation.now
            yield from machine.cores.use(share * passed)

    def _heartbeat(self) -> Process:
        members, every = self.cluster.trainers + self.cluster.servers, self.cluster.heartbeat_seconds
        while True:
            yield from self.coordinator.use(self.costs.heartbeat + self.costs.heartbeat_member * members)
            yield self.simulation.timeout(every)

    def _write_checkpoints(self, server: Server, every: float) -> Process:
        while True:
            began, version, left = self.simulation.now, server.version, self.stored
            server.writes = True
            while left > 0:
                part = min(left, WRITTEN_AT_A_TIME)
                yield from server.machine.cores.use(part * self.costs.checkpoint_byte)
                yield from server.disk.use(part / self.cluster.disk)
                left -= part
            server.writes, server.saved = False, version
            yield self.simulation.timeout(max(0.0, began + every - self.simulation.now))

    def _fail(self, server: Server, mean_life: float) -> Process:
        while True:
            yield self.simulation.timeout(self._life(mean_life))
            with server.handler.request() as turn:
                yield turn
                self.lost += (server.version - server.saved) / (self.cluster.servers * self.touched)
                reading = self.stored * (self.costs.checkpoint_byte + 1 / self.cluster.disk)
                yield self.simulation.timeout(self.cluster.restart + reading)

# The inputs of the model of jobs (cluster_sim.py): costs, a model that is trained, and the machines.
from __future__ import annotations

import math
from dataclasses import dataclass

from paddle_mini.cluster.job_settings import JobSettings
from paddle_mini.cluster.shards import BLOCK


@dataclass(frozen=True)
class Costs:
    """Seconds of a core, as cluster_costs.py measures them, including the engine's work: for a message at its client
    and at its server, and for each of its bytes at either; for each dense byte and row that a server returns (pull) and
    applies (push), and for each byte that it adds to those of others in sync mode (sum); for each byte of a checkpoint;
    for a heartbeat at the coordinator, and for each member that it knows. message_wait: seconds without a core until a
    message has arrived and its reply is back. client_row: for each row of tables whose gradient a client sends and whose
    values it gets. client_message_more: for each message of several that a client sends at once, without the first;
    server_message_more: for a message that has waited for others, so that no thread had to be woken; None: as for one
    alone. upkeep: seconds of a core in each second, whatever the job does, of the engine on a machine; upkeep_process: of each
    trainer and each server."""

    client_message: float
    client_byte: float
    server_message: float
    server_byte: float
    message_wait: float
    pull_byte: float
    pull_row: float
    push_byte: float
    push_row: float
    sum_byte: float
    checkpoint_byte: float
    heartbeat: float
    heartbeat_member: float
    client_row: float = 0.0
    client_message_more: float | None = None
    server_message_more: float | None = None
    upkeep: float = 0.0
    upkeep_process: float = 0.0

    def client_messages(self, count: float) -> float:
        """For so many messages at once."""
        more = self.client_message if self.client_message_more is None else self.client_message_more
        return self.client_message + max(0.0, count - 1) * more

    def upkeep_of(self, processes: int) -> float:
        """Cores that a machine with so many trainers and servers needs all the time."""
        return self.upkeep + processes * self.upkeep_process

    def at_server(self, has_waited: bool) -> float:
        """For a message."""
        return self.server_message_more if has_waited and self.server_message_more is not None else self.server_message


@dataclass(frozen=True)
class Model:
    """compute: mean seconds of a core for a step's forward and backward pass; spread: standard deviation of its
    logarithm. dense: bytes of parameters that are moved whole. rows: number of rows of tables that a step names, each
    of row_bytes. table: bytes of all rows."""

    name: str
    compute: float
    dense: float
    rows: float = 0.0
    row_bytes: float = 0.0
    table: float = 0.0
    spread: float = 0.1


@dataclass(frozen=True)
class Cluster:
    """cores: of each machine. bandwidth: bytes per second of a link, each way; latency: seconds. disk: bytes per
    second. state: bytes of a checkpoint for each byte of a parameter. checkpoint_seconds, save_seconds: from one
    checkpoint, or saved model, to the next; None: there are none. together: whether all servers write at the same time.
    mean_life: mean seconds until a machine fails; None: machines do not fail.
    heartbeats: whether they are simulated; over hours they are most of the events. merged: as for Trainer.steps(), in mode
    async; 0: each batch is a step of Trainer.run()."""

    trainers: int
    servers: int
    mode: str = "async"
    local_steps: int = 1
    cores: int = 8
    shared: bool = False
    bandwidth: float = 1.25e9
    latency: float = 1e-4
    disk: float = 5e8
    state: float = 2.0
    checkpoint_seconds: float | None = None
    together: bool = False
    save_seconds: float | None = None
    mean_life: float | None = None
    restart: float = 5.0
    lease: float = 10.0
    heartbeats: bool = True
    merged: int = 0

    @property
    def heartbeat_seconds(self) -> float:
        return JobSettings("job", self.trainers, self.servers, lease=self.lease).heartbeat_seconds


def touched(model: Model, servers: int, batches: int = 1) -> float:
    """The fraction of the servers that so many batches touch: those with a block of the dense parameters, and of the others
    those that have one of their rows."""
    dense = min(1.0, model.dense / (4 * BLOCK) / servers)
    return max(1 / servers, 1 - (1 - dense) * math.exp(-batches * model.rows / servers))

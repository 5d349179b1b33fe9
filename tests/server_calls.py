# Calls of parameter servers as a client makes them, for tests: whole parameters are sent and returned.
import base64

import numpy as np

from one_parameter import KINDS
from paddle_mini.cluster.servers.server import ParameterServer
from paddle_mini.cluster.servers.settings import ServerSettings
from paddle_mini.cluster.shards import ParameterInfo, block_values, join_blocks, plan_shards
from paddle_mini.optimizer.config import config_class
from raw_messages import request, understood

JOB = "job"


def generator(seed):
    """A random generator seeded by a text."""
    return np.random.default_rng(list(seed.encode()))


def config(kind="SGD", rate=0.1, **fields):
    """Bytes of an OptimizerConfig of one of KINDS."""
    optimizer = kind.split(" ")[0]
    message = {"ProximalGD": "proximal_gd", "ProximalAdagrad": "proximal_adagrad", "DecayedAdagrad": "decayed_adagrad"}
    own = {message.get(optimizer, optimizer.lower()): KINDS[kind]} if KINDS[kind] else {}
    lr = {} if "lr_policy" in fields else {"lr_policy": "Const", "const_lr": {"learning_rate": rate}}
    return config_class()(optimizer=optimizer, **own, **{**lr, **fields}).SerializeToString()


def call(server, name, arrays=(), job=JOB, **fields):
    """The reply's header and arrays; raises errors."""
    return understood(*server.handle(request(job, name, **fields), list(arrays)))


W = generator("w").standard_normal((30, 7)).astype("float32")
T = generator("t").standard_normal((20, 3)).astype("float32")
AVERAGES = [{"scheme": "uniform", "start_step": 2}, {"scheme": "exponential", "decay": 0.9}]
BOTH = {"w": (W, config("Adam", averaging=AVERAGES), False), "t": (T, config("Adagrad"), True)}
"""Parameters of a small job: a dense parameter with averages and a table."""
SMALL = {"w": (np.arange(6, dtype="float32"), config(), False), "t": (np.zeros((5, 2), "float32"), config("Adagrad"), True)}
OTHER = np.ones(6, "float32")
ROWS = (np.array([3, 1]), np.ones((2, 2), "float32"))


def gradients(step):
    random = generator(f"step {step}")
    return {
        "w": random.standard_normal(W.shape).astype("float32"),
        "t": (random.integers(0, 20, 6), random.standard_normal((6, 3)).astype("float32")),
    }


def train(group, begin, end):
    for step in range(begin, end):
        group.push(gradients(step), step=step)


def new_block(info, block, config):
    """A block as in "init"."""
    return {"info": list(info), "block": list(block), "config": base64.b64encode(config).decode()}


class Group:
    """Servers of one job, and the plan for their parameters: {name: (value, config, sparse)}."""

    def __init__(
        self, servers, parameters, trainers=1, directory=None, begin=True, clock=None, start=lambda work: work(), **settings
    ):
        """start: how servers begin to write a checkpoint; without one it is complete when the request has its reply."""
        self.settings = ServerSettings(JOB, servers, trainers, **settings)
        self.directory, self.clock, self.how = directory, clock, start
        self.configs = {name: given[1] for name, given in parameters.items()}
        self.infos = {
            name: ParameterInfo(name, value.shape, str(value.dtype), *more) for name, (value, _, *more) in parameters.items()
        }
        self.plan = plan_shards(self.infos.values(), servers)
        self.servers = [self.start(index) for index in range(servers)]
        if begin:
            self.init({name: given[0] for name, given in parameters.items()})

    def start(self, index):
        clock = {} if self.clock is None else {"clock": self.clock}
        return ParameterServer(index, self.settings, self.directory, start=self.how, **clock)

    def restart(self, index):
        self.servers[index] = self.start(index)
        return self.servers[index]

    def blocks(self, index):
        return [block for block in self.plan if block.server == index]

    def init(self, values, token=1, finish=True, version=0):
        for index, server in enumerate(self.servers):
            mine = self.blocks(index)
            described = [new_block(self.infos[block.parameter], block, self.configs[block.parameter]) for block in mine]
            arrays = [block_values(self.infos[block.parameter], block, values[block.parameter]) for block in mine]
            call(server, "init", arrays, token=token, blocks=described)
        if finish:
            for index, server in enumerate(self.servers):
                call(server, "finish_init", token=token, count=len(self.blocks(index)), version=version)

    def push(self, gradients, trainer=0, step=0, incarnation=0, only=None, name="push", **fields):
        """gradients: {name: array, or (rows, values)}. Returns the replies' headers."""
        return [
            self.push_one(index, gradients, trainer, step, incarnation, name, **fields)
            for index in (range(len(self.servers)) if only is None else only)
        ]

    def push_one(self, index, gradients, trainer=0, step=0, incarnation=0, name="push", **fields):
        named, arrays = [], []
        for block in self.blocks(index):
            if block.parameter in gradients:
                named.append([block.parameter, block.number])
                arrays += self.parts(block, gradients[block.parameter])
        return call(
            self.servers[index], name, arrays, trainer=trainer, step=step, incarnation=incarnation, blocks=named, **fields
        )[0]

    def parts(self, block, gradient):
        info = self.infos[block.parameter]
        if not info.sparse:
            return [block_values(info, block, gradient)]
        rows, values = gradient
        mine = (rows >= block.begin) & (rows < block.end)
        return [rows[mine], np.ascontiguousarray(values[mine])]

    def pull(self, **fields):
        """{name: value}."""
        found = {name: [] for name in self.infos}
        for index, server in enumerate(self.servers):
            mine = self.blocks(index)
            reply, arrays = call(server, "pull", blocks=[[block.parameter, block.number] for block in mine], **fields)
            assert "wait" not in reply
            for block, values in zip(mine, arrays):
                found[block.parameter].append((block.begin, block.end, values))
        return {name: join_blocks(self.infos[name], pieces) for name, pieces in found.items()}

    def status(self, index=0):
        return call(self.servers[index], "status")[0]


def untouched(group):
    """The state that a rejected request must not change."""
    status = group.status()
    return {name: value.tobytes() for name, value in group.pull().items()}, status["version"], status["pushes"]

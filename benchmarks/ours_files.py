# Files in paddle_mini, as a runtime of benchmarks/run.py, and plain writes and reads of as many bytes.
import os
import tempfile
from functools import partial
from pathlib import Path

import paddle_mini as pm
import workloads
from environments import FOLDER
from ours import Built
from worker import serve

FOLDER.mkdir(parents=True, exist_ok=True)
folder = tempfile.TemporaryDirectory(dir=FOLDER)  # on a disk; removed when the process ends
PATH = Path(folder.name) / "state"


class Program:
    """A program with the arrays of a state as its variables, and their values."""

    def __init__(self):
        self.built, self.arrays = Built(), workloads.state()
        with self.built.guard():
            for name, array in self.arrays.items():
                pm.layers.create_global_var(list(array.shape), 0.0, name=name, persistable=True)
        self.built.exe.run(self.built.startup, scope=self.built.scope)
        for name, array in self.arrays.items():
            self.built.scope.set(name, array)
        self.steps, self.manager = 0, pm.io.CheckpointManager(f"{PATH}.checkpoints", keep=1)

    def plain_write(self):
        with PATH.open("wb", buffering=0) as file:
            for array in self.arrays.values():
                file.write(array)
            os.fsync(file.fileno())

    def plain_read(self):
        PATH.read_bytes()

    def save_state(self, suffix):
        pm.io.save_state(f"{PATH}.{suffix}", self.arrays)

    def load_state(self, suffix):
        pm.io.load_state(f"{PATH}.{suffix}")

    def save_parameters(self):
        pm.io.save_parameters(f"{PATH}.pdiparams", self.built.main, self.built.scope)

    def load_parameters(self):
        pm.io.load_parameters(f"{PATH}.pdiparams", self.built.main, self.built.scope)

    def save_checkpoint(self):
        self.steps += 1
        self.manager.save(self.steps, self.built.main, self.built.exe, self.built.scope)

    def load_checkpoint(self):
        self.manager.restore(self.built.main, self.built.exe, self.built.scope)


def repeated(call, before=lambda: None):
    before()

    def run(steps):
        for _ in range(steps):
            call()
        return 0.0

    return run


def of(save, load, *arguments):
    """Workloads that save, and that load what was saved."""

    def bound(program, method):
        return partial(method, program, *arguments)

    def saving():
        return repeated(bound(Program(), save))

    def loading():
        program = Program()
        return repeated(bound(program, load), before=bound(program, save))

    return saving, loading


WAYS = {
    "plain": of(Program.plain_write, Program.plain_read),
    "pdparams": of(Program.save_state, Program.load_state, "pdparams"),
    "safetensors": of(Program.save_state, Program.load_state, "safetensors"),
    "pdiparams": of(Program.save_parameters, Program.load_parameters),
    "checkpoint": of(Program.save_checkpoint, Program.load_checkpoint),
}
serve({f"{name}_{what}": make for name, pair in WAYS.items() for what, make in zip(("write", "read"), pair)})

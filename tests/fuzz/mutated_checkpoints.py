"""Checkpoints of training, and of parameter servers: damaged files, and manifests with valid checksums and invalid
content."""

import copy
import json
import shutil

import mutations
import numpy as np
from properties import accepted, require

import paddle_mini as pm
from paddle_mini import dtypes
from paddle_mini.cluster.servers import checkpoint_file
from paddle_mini.io import checkpoint_files
from server_calls import SMALL, Group, call

ODD = [
    None,
    True,
    False,
    -1,
    0,
    1,
    2**63,
    2**70,
    1.5,
    1e300,
    "",
    "x",
    "../x",
    "/etc/passwd",
    "x\x1b[31m\n",
    "n" * 5000,
    [],
    [0],
    {},
    {"a": 1},
    ["a", "a"],
    [[["x"]]],
]


def odd_json(rng, value):
    """Replaces one value somewhere in plain data."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(list(value))
        if rng.random() < 0.1:
            value.pop(key)
        elif rng.random() < 0.1:
            value[rng.choice(["", "x", "\x1b", "step", "name"])] = copy.deepcopy(rng.choice(ODD))
        else:
            value[key] = odd_json(rng, value[key])
        return value
    if isinstance(value, list) and value and rng.random() < 0.8:
        place = rng.randrange(len(value))
        if rng.random() < 0.2:
            return value[:place] + value[place : place + 1] * rng.choice((0, 2)) + value[place + 1 :]
        value[place] = odd_json(rng, value[place])
        return value
    if type(value) is int and rng.random() < 0.5:
        return value + rng.choice((-1, 1, 8, -8))
    return copy.deepcopy(rng.choice(ODD))


class Mutants:
    def __init__(self, folder):
        self.folder = folder
        self.program = pm.Program()
        block = self.program.global_block()
        block.create_var("w", shape=[4], persistable=True)
        block.create_var("rows", shape=[9, 2], persistable=True, kind=dtypes.SELECTED_ROWS)
        self.exe, self.manager = pm.Executor(), pm.io.CheckpointManager(folder / "training")
        self.manager.save(2, self.program, self.exe, self.scope(), data={"epoch": [1, "two"]})
        (self.training,) = (folder / "training").glob("checkpoint*")
        group = Group(1, {**SMALL, "t": (np.zeros((500, 4), "float32"), *SMALL["t"][1:])}, directory=str(folder / "server"))
        for step in range(2):  # the second checkpoint has the changes to the first
            group.push({"w": SMALL["w"][0], "t": (np.array([1, 4 + step]), np.ones((2, 4), "float32"))}, step=step)
            call(group.servers[0], "checkpoint")
        self.files = {
            path: path.read_bytes()
            for place in (self.training, folder / "server")
            for path in sorted(place.rglob("*"))
            if path.is_file()
        }
        self.group = group

    @staticmethod
    def scope():
        scope = pm.Scope()
        scope.set("w", np.arange(4, dtype="float32"))
        scope.set_rows("rows", [8, 0], np.ones((2, 2), "float32"), 9)
        return scope

    def run(self, rng):
        path = rng.choice(list(self.files))
        of_server = path.is_relative_to(self.folder / "server")
        before = self.files[path]
        path.unlink()
        try:
            path.write_bytes(self.mutant(rng, path, before))
            return self.recover() if of_server else self.restore()
        finally:
            path.unlink(missing_ok=True)
            path.write_bytes(before)

    def mutant(self, rng, path, data):
        if path.name == "manifest.json" and rng.random() < 0.8:
            path.write_bytes(data)
            facts = odd_json(rng, checkpoint_files.read_manifest(str(self.training)))
            path.unlink()
            if isinstance(facts, dict):
                return checkpoint_files._spelled(facts)
        elif path.suffix == ".json" and rng.random() < 0.8:
            return json.dumps(odd_json(rng, json.loads(data))).encode()
        return mutations.damaged(rng, data)

    def restore(self):
        scope = pm.Scope()
        scope.set("w", np.zeros(4, "float32"))
        fine, error = accepted(lambda: self.manager.restore(self.program, self.exe, scope))
        if not fine:
            require(scope.names() == ["w"] and not scope.get("w").any(), f"a refused checkpoint changed the scope: {error}")
        return fine

    def recover(self):
        """The contents of a server that starts in the directory: damaged files are skipped, and never end the process."""
        fine, _ = accepted(lambda: checkpoint_file.found(str(self.folder / "server")))
        place = self.folder / "copy"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self.folder / "server", place)
        self.group.directory = str(place)
        begun, _ = accepted(lambda: self.group.start(0))
        return fine and begun

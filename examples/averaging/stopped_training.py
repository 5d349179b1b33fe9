# A training that is stopped and resumed, in a process that E5 starts.
"""
    stopped_training.py train FOLDER [--hold STEP] [--go-on]      # from the same code
    stopped_training.py program FOLDER                            # from the saved program

At the end it prints a checksum of the bits of every variable, by name."""

import argparse
import hashlib
import json
import pathlib
import signal

import numpy as np

import paddle_mini as pm
import settings


class Training:
    """The network in its own scope; averages: whether to add averages."""

    def __init__(self, averages=True):
        own = settings.E5
        self.main, self.startup = pm.Program(), pm.Program()
        self.scope, self.exe = pm.Scope(), pm.Executor(pm.CPUPlace())
        with pm.program_guard(self.main, self.startup):
            self.x, label = pm.layers.data("x", [-1, 20]), pm.layers.data("label", [-1, 1], dtype="int64")
            self.logits = pm.layers.fc(pm.layers.dropout(pm.layers.fc(self.x, 64, act="relu"), 0.2), 4)
            self.loss = pm.layers.mean(pm.layers.softmax_with_cross_entropy(self.logits, label))
            self.test = self.main.clone(for_test=True)
            adam = pm.optimizer.Adam(pm.layers.exponential_decay(own["rate"], 10, 0.9))  # a schedule in the program
            self.average = pm.optimizer.ParameterAverage(adam, own["schemes"]) if averages else adam
            self.average.minimize(self.loss)
        self.parameters = [parameter.name for parameter in self.main.all_parameters()]
        pm.seed(1)

    def start(self):
        self.exe.run(self.startup, scope=self.scope)

    def step(self, number):
        self.exe.run(self.main, batch(number), scope=self.scope)

    def values(self):
        return {name: self.scope.get(name) for name in self.scope.names()}

    def averages(self):
        found = {}
        for scheme in settings.E5["schemes"]:
            with self.average.apply(self.exe, self.scope, scheme=scheme):
                found.update({f"{scheme!r} of {name}": self.scope.get(name) for name in self.parameters})
        return found


def batch(number):
    random = np.random.RandomState(number)
    x = random.randn(settings.E5["batch"], 20).astype("float32")
    return {"x": x, "label": (x[:, :4] + random.randn(len(x), 4)).argmax(1)[:, None]}


def sums(values):
    return {name: hashlib.sha256(value.tobytes()).hexdigest() for name, value in values.items()}


def child(folder, go_on, hold):
    """Trains to the end; go_on: from the newest checkpoint; hold: sleeps after that step until it is killed."""
    training, own = Training(), settings.E5
    manager = pm.io.CheckpointManager(folder / "checkpoints", every_steps=own["checkpoint every"])
    first = 0
    if go_on:
        first = manager.restore(training.main, training.exe, training.scope).step
    else:
        training.start()
    for step in range(first, own["steps"]):
        training.step(step)
        manager.save(step + 1, training.main, training.exe, training.scope)
        if step + 1 == hold:
            print("holding", flush=True)
            signal.pause()
    print(json.dumps({**sums(training.values()), **sums(training.averages())}))


def child_of_program(folder):
    """Resumes from the saved program, without the code that built it."""
    program, scope, exe = pm.io.read_program(folder / "train"), pm.Scope(), pm.Executor(pm.CPUPlace())
    step = pm.io.CheckpointManager(folder / "middle").restore(program, exe, scope).step
    for number in range(step, settings.E5["steps"]):
        exe.run(program, batch(number), scope=scope)
    print(json.dumps(sums({name: scope.get(name) for name in scope.names()})))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["train", "program"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--hold", type=int)
    parser.add_argument("--go-on", action="store_true")
    arguments = parser.parse_args()
    if arguments.kind == "program":
        child_of_program(arguments.folder)
    else:
        child(arguments.folder, arguments.go_on, arguments.hold)

"""Processes that save checkpoints and are killed while they do; test_checkpoint_crashes.py starts them.

    python checkpoint_children.py MODE FOLDER [ARGUMENT]

Each mode forks its children, because that takes a millisecond and starting Python three hundred. A child saves values
that are all equal to the step, so that a mixture of two checkpoints is detected.
"""

import os
import random
import signal
import sys
import time

import numpy as np

import paddle_mini as pm

# All functions that change files, and those whose results a save depends on: a save calls each as os.NAME.
CALLS = (
    "open",
    "write",
    "pwrite",
    "ftruncate",
    "fsync",
    "close",
    "mkdir",
    "rename",
    "replace",
    "unlink",
    "rmdir",
    "listdir",
    "scandir",
    "makedirs",
    "read",
)
SHAPES = {"a": [3], "b": [70, 90], "c": []}


def program():
    made = pm.Program()
    for name, shape in SHAPES.items():
        made.global_block().create_var(name, shape=shape, persistable=True)
    return made


def fill(scope, step):
    for name, shape in SHAPES.items():
        scope.set(name, np.full(shape, step, "float32"))


class Saver:
    """Saves by steps in a folder, and checks its contents after a child died."""

    def __init__(self, folder, keep):
        self.folder, self.program, self.exe, self.scope = folder, program(), pm.Executor(), pm.Scope()
        self.manager = pm.io.CheckpointManager(folder, keep)

    def save(self, step):
        fill(self.scope, step)
        return self.manager.save(step, self.program, self.exe, self.scope, data=step)

    def restored(self):
        """The step of the newest checkpoint, which must be whole: no warning, and no value of another step."""
        restored = self.manager.restore(self.program, self.exe, self.scope)
        values = {float(value) for name in SHAPES for value in self.scope.get(name).ravel()}
        if values != {restored.step} or restored.data != restored.step:
            raise SystemExit(f"step {restored.step} holds {values} and {restored.data}")
        return restored.step

    def tidy(self, step):
        """After one more save, no files of the killed processes remain."""
        self.save(step)
        names = sorted(os.listdir(self.folder))
        if len(names) != 1 + self.manager.keep or names[0] != ".checkpoints":
            raise SystemExit(f"after a whole save there are {names}")


def forked(action):
    """The id of a child that calls the function and exits with 0."""
    child = os.fork()
    if child:
        return child
    try:
        action()
        os._exit(0)
    except BaseException as error:
        print(repr(error), flush=True)
        os._exit(1)


def at_call(number, act):
    """Counts calls of os.NAME; the call with this number is act(call, arguments)."""
    count = [0]

    def counted(call):
        def counting(*arguments, **more):
            count[0] += 1
            return act(call, arguments) if count[0] == number else call(*arguments, **more)

        return counting

    for name in CALLS:
        setattr(os, name, counted(getattr(os, name)))


def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)


def die_after(call, arguments):
    call(*arguments)
    die()


def die_halfway(call, arguments):
    if call.__name__ == "write":
        call(arguments[0], bytes(arguments[1])[: len(arguments[1]) // 2])
    die()


def points(folder, way):
    """Kills a save at its n-th call, for every n: before it, after it, or after half of the bytes it writes."""
    act = {"before": die, "after": die_after, "halfway": die_halfway}[way]
    saver, step, killed = Saver(folder, keep=1), 1, 0
    saver.save(step)
    while True:

        def save(step=step, number=killed + 1):
            at_call(number, act)
            saver.save(step + 1)

        _, status = os.waitpid(forked(save), 0)
        found = saver.restored()
        if status == 0:
            break
        if not os.WIFSIGNALED(status) or found not in (step, step + 1):
            raise SystemExit(f"call {killed + 1}: status {status}, step {found} after {step}")
        killed += 1
        step = found
        if killed % 5 == 0:
            step += 2
            saver.tidy(step)
    saver.tidy(step + 3)
    print(killed)


def moments(folder, count):
    """Kills a process that saves in a loop, `count` times, at any moment."""
    random.seed(0)
    saver, last = Saver(folder, keep=2), 4
    begin = time.perf_counter()
    for step in range(1, last + 1):
        saver.save(step)
    one_save = min(0.05, (time.perf_counter() - begin) / last)
    for _ in range(int(count)):
        reader, writer = os.pipe()

        def save_on(first=last + 1, writer=writer):
            for step in range(first, first + 10**6):
                saver.save(step)
                os.write(writer, b"%d\n" % step)

        child = forked(save_on)
        os.close(writer)
        time.sleep(random.uniform(0, 3 * one_save))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with os.fdopen(reader) as lines:
            told = [int(line) for line in lines]
        committed = told[-1] if told else last
        last = saver.restored()
        if last not in (committed, committed + 1):
            raise SystemExit(f"step {last} is there after step {committed} was saved")
    saver.tidy(last + 1)
    print(last)


def train(folder, die_at):
    """Trains 12 steps with a checkpoint after each, and prints the last parameters; dies within the save after a step."""
    average = pm.optimizer.ParameterAverage(pm.optimizer.Adam(pm.lr.ExponentialDecay(0.1, 0.9)), window_size=4)
    x = pm.layers.data("x", [-1, 4])
    loss = pm.layers.mean(pm.layers.square(pm.layers.fc(pm.layers.dropout(x, 0.5), 2)))
    average.minimize(loss)
    exe, main, scope = pm.Executor(), pm.default_main_program(), pm.global_scope()
    manager = pm.io.CheckpointManager(folder)
    pm.seed(1)
    exe.run(pm.default_startup_program())
    begin = manager.restore(main, exe).data["batch"] if manager.steps() else 0
    for batch in range(begin, 12):
        exe.run(main, {"x": np.random.RandomState(batch).randn(8, 4).astype("float32")}, [loss])
        next(iter(main.schedules.values())).step()
        if batch == int(die_at):
            at_call(9, die)
        manager.save(batch + 1, main, exe, data={"batch": batch + 1})
    print(begin, b"".join(scope.get(name).tobytes() for name in scope.names()).hex())


if __name__ == "__main__":
    {"points": points, "moments": moments, "train": train}[sys.argv[1]](*sys.argv[2:])

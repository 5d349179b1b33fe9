# E5: failures and restarts around training leave averages and parameters with the same bits.
"""The network of stopped_training.py has dropout, Adam, a falling learning rate and four averages; its processes are
killed, resume from a checkpoint, or resume from the saved program."""

import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import numpy as np

import paddle_mini as pm
import stopped_training
from stopped_training import Training, sums


def start(*words):
    words = [sys.executable, stopped_training.__file__, *map(str, words)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def result(process):
    """The checksums that a child process prints."""
    text, _ = process.communicate()
    if process.returncode != 0:
        raise RuntimeError(f"{process.args} ended with {process.returncode}")
    return json.loads(text)


def killed_and_resumed(folder, step):
    process = start("train", folder, "--hold", step)
    if process.stdout.readline() != "holding\n":
        raise RuntimeError(f"{process.args} did not come to the step at which it is killed")
    process.kill()
    process.communicate()
    if process.returncode != -signal.SIGKILL:
        raise RuntimeError(f"{process.args} ended with {process.returncode}")
    return result(start("train", folder, "--go-on"))


def evaluation_that_raises(training):
    """The variables before and after the events."""
    before = sums(training.values())
    try:
        with training.average.apply(training.exe, training.scope):
            training.exe.run(training.test, {"x": np.ones((3, 7), "float32")}, [training.logits], training.scope)
    except pm.ShapeError:
        return before, sums(training.values())
    raise RuntimeError("an input of the wrong width was taken")


def milliseconds(function, times=20):
    found = []
    for _ in range(times):
        begin = time.perf_counter()
        function()
        found.append((time.perf_counter() - begin) * 1e3)
    return min(found)


def run(own, report):
    rows = []

    def compare(what, found, wanted, **cost):
        same = sum(found.get(name) == value for name, value in wanted.items())
        rows.append({"what": what, "variables": len(wanted), "same bits": same, **cost})
        report.criterion("e5", what, f"{same} of {len(wanted)} variables have the same bits", same == len(wanted))

    with tempfile.TemporaryDirectory() as name:
        folder, training, plain = pathlib.Path(name), Training(), Training(averages=False)
        training.start()
        plain.start()
        for step in range(own["steps"]):
            training.step(step)
            plain.step(step)
            if step + 1 == own["steps"] // 2:
                place = training.main, training.exe, training.scope
                manager = pm.io.CheckpointManager(folder / "middle", keep=1)
                cost = {"cost of": "a checkpoint", "ms": milliseconds(lambda: manager.save(step + 1, *place), 5)}
                cost["bytes"] = sum(path.stat().st_size for path in (folder / "middle").rglob("*") if path.is_file())
                pm.io.save_program(folder / "train", training.main, training.scope)
        wanted, averages = sums(training.values()), sums(training.averages())
        alone = {name: value for name, value in sums(plain.values()).items() if name in plain.parameters}
        compare("training with averages is training without", {name: wanted[name] for name in alone}, alone)
        compare(
            "killed (-9) within a window and resumed",
            killed_and_resumed(folder, own["killed at"]),
            {**wanted, **averages},
            **cost,
        )
        compare("the saved program continues in a fresh process", result(start("program", folder)), wanted)
        before, after = evaluation_that_raises(training)
        compare(
            "an evaluation that raises",
            after,
            before,
            **{"cost of": "apply and restore"},
            ms=milliseconds(lambda: training.average.apply(training.exe, training.scope).__exit__()),
        )
    report.table("e5_systems", rows)

# Features of data, training, averages and logs.
from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys

import numpy as np

import paddle_mini as pm
from features.rows import ROOT, feature, python
from small_model import SmallModel
from training_model import BATCH, arrays, everything, trainer


def fit(of, **arguments):
    return of.fit(arrays(), **{"batch_size": BATCH, "progress": False, **arguments})


@feature(5, "TensorBoard: scalars, histograms of parameters and of their averages")
def tensorboard(folder):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    with pm.loggers.TensorBoardLogger(folder) as logger:
        callbacks = [pm.training.LearningRateLogger(), pm.training.Histograms(logger)]
        fit(trainer(averaging=pm.averaging.Uniform()), epochs=2, loggers=[logger], callbacks=callbacks)
    tags = EventAccumulator(str(folder)).Reload().Tags()
    assert {"loss", "learning_rate"} <= set(tags["scalars"])
    assert {"parameters/fc_0.w_0", "averages/fc_0.w_0"} <= set(tags["histograms"])


@feature(6, "loggers: a protocol of two methods; CSV and JSON lines")
def loggers(folder):
    steps = []

    class Own:
        def log(self, values, step):
            steps.append(step)

        def close(self):
            pass

    kinds = [pm.loggers.CSVLogger, pm.loggers.JSONLinesLogger]
    with contextlib.ExitStack() as stack:
        own = [stack.enter_context(kind(folder / kind.__name__)) for kind in kinds]
        history = fit(trainer(), epochs=2, loggers=[*own, Own()])
    for kind in kinds:
        assert [row["loss"] for row in kind.read(folder / kind.__name__)] == history["loss"]
    assert steps == history["step"]


@feature(7, "progress: a bar at a terminal, a line for each epoch in a file")
def progress(folder):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    out, bar = io.StringIO(), Terminal()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(bar):
        fit(trainer(), epochs=2, progress=True)
    lines = out.getvalue().splitlines()
    assert len(lines) == 2 and lines[1].startswith("epoch 2/2: loss ") and "epoch 2/2:   0%" in bar.getvalue()


@feature(14, "checkpoints: rotation, the newest and the best one, in the background, the same bits after resuming")
def checkpoints(folder):
    whole = trainer(averaging=pm.averaging.Uniform())
    fit(whole, epochs=4)
    expected = everything(whole)
    fit(trainer(averaging=pm.averaging.Uniform()), epochs=2, checkpoints=folder / "run")
    resumed = trainer(averaging=pm.averaging.Uniform())
    best = pm.training.BestCheckpoint(folder / "best", "loss")
    fit(resumed, epochs=4, checkpoints=folder / "run", callbacks=[best])
    assert everything(resumed) == expected
    with pm.io.CheckpointManager(folder / "run", keep=2, every_steps=1, every_seconds=60, background=True) as manager:
        assert manager.latest() == resumed.step
        manager.save(resumed.step + 1, resumed.main, resumed.exe, resumed.scope, {"mine": 1})
        assert len(manager.steps()) == 2 and manager.restore(resumed.main, resumed.exe, resumed.scope).data == {"mine": 1}


@feature(15, "averages: several, with any optimizer; raw values come back after an error; saved models")
def averages(folder):
    schemes = [pm.averaging.Exponential(0.9), pm.averaging.Window(3)]
    average = pm.optimizer.ParameterAverage(pm.optimizer.Adam(0.1), schemes)
    model = SmallModel(average.minimize)
    for number in range(5):
        model.step(number)
    raw = model.values()
    for scheme in schemes:
        try:
            with average.apply(model.exe, model.scope, scheme):
                assert any((model.values()[name] != raw[name]).any() for name in raw)
                raise KeyError
        except KeyError:
            assert all((model.values()[name] == raw[name]).all() for name in raw)
    average.save(folder / "model", [model.x], [model.logits], model.exe, scope=model.scope)
    assert pm.io.load_inference_model(folder / "model", scope=pm.Scope())[0].provenance


@feature(16, "seeds: the same bits in each process and with any number of threads")
def seeds(folder):
    code = (
        "import sys, hashlib; sys.path.insert(0, sys.argv[1]); import paddle_mini as pm; from training_model import *\n"
        "pm.set_num_threads(int(sys.argv[2])); of = trainer(); of.fit(arrays(), 2, progress=False)\n"
        "print(hashlib.sha256(repr(everything(of)).encode()).hexdigest())"
    )
    printed = {python(code, folder, str(ROOT / "tests"), threads).stdout for threads in ("1", "2")}
    assert len(printed) == 1 and len(printed.pop()) == 65


@feature(17, "data: map, shuffle, batch, prefetch; resumes in an epoch; errors of workers name the sample")
def data(folder):
    def epoch(workers=0, position=0):
        loader = pm.data.Loader({"x": np.arange(20)}).map(lambda row: {"x": row["x"] + 1}).shuffle(seed=1).batch(4)
        loader = loader.prefetch(2, workers=workers) if workers else loader
        loader.load_state_dict({**loader.state_dict(), "position": position})
        return [batch["x"].tolist() for batch in loader]

    whole = epoch()
    assert sorted(sum(whole, [])) == list(range(1, 21)) and epoch(workers=2) == whole and epoch(position=3) == whole[3:]

    def broken(row):
        if row["x"] == 7:
            raise ValueError("seven")
        return row

    try:
        list(pm.data.Loader({"x": np.arange(20)}).map(broken).batch(4).prefetch(2, workers=2))
    except (pm.Error, ValueError) as error:
        assert "sample 7" in str(error)
    else:
        raise AssertionError("the error was swallowed")


@feature(18, "fit with callbacks; the loop by hand gives the same bits")
def training(folder):
    calls = []

    class Note(pm.training.Callback):
        def on_step_end(self, trainer, values):
            calls.append(trainer.step)

        def on_epoch_end(self, trainer, values):
            calls.append("epoch")

    fit(fitted := trainer(), callbacks=[Note(), pm.training.EarlyStopping("loss", patience=9)], shuffle=False)
    assert calls == [1, 2, 3, 4, 5, "epoch"]
    expected, by_hand = everything(fitted), trainer()
    by_hand.optimizer.minimize(by_hand.measures["loss"], by_hand.startup)
    by_hand.exe.run(by_hand.startup, scope=by_hand.scope)
    for begin in range(0, 40, BATCH):
        feed = {name: array[begin : begin + BATCH] for name, array in arrays().items()}
        by_hand.exe.run(by_hand.main, feed, list(by_hand.measures.values()), by_hand.scope)
    assert everything(by_hand) == expected


@feature(19, "fast_dev_run, overfit_batches, check_finite")
def debugging(folder):
    assert fit(trainer(), epochs=9, fast_dev_run=True)["step"] == [1]
    assert fit(trainer(dropout=0), epochs=60, overfit_batches=1).last["loss"] < 0.05
    broken = arrays()
    broken["x"][0, 0] = np.nan
    try:
        trainer().fit(broken, check_finite=True, progress=False)
    except pm.OpError as error:
        assert "mul" in str(error) and "training_model.py" in str(error)
    else:
        raise AssertionError("NaN was not found")


@feature(26, "a script as a job: two trainers, two servers, checkpoints")
def jobs(folder):
    def train():
        loss = pm.layers.mean(pm.layers.square(pm.layers.create_parameter([30, 7], "float32")))
        pm.optimizer.SGD(0.5).minimize(loss)
        pm.Executor().run(pm.default_startup_program())
        worker = pm.cluster.join()
        for _ in range(3):
            worker.run({}, [loss])

    counts = pm.cluster.run(train, trainers=2, servers=2, directory=folder).counts
    assert sum(counts.values()) > 0 and len(list(folder.glob("*.ckpt"))) >= 2


@feature(27, "Ctrl-C and SIGTERM end training after it has saved")
def stopping(folder):
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from training_model import *\n"
        "trainer().fit(arrays(), 10**9, checkpoints=sys.argv[2])"
    )
    for number in (signal.SIGINT, signal.SIGTERM):
        directory = folder / str(number)
        command = [sys.executable, "-u", "-c", code, str(ROOT / "tests"), str(directory)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ) as process:
            process.stdout.readline()
            process.send_signal(number)
            process.communicate(timeout=60)
        assert process.returncode != 0 and pm.io.CheckpointManager(directory).latest() > 0

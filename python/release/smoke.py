"""Trains, saves, loads and runs a model with an installed wheel, in Python and by pm_run, and prints a hash of the results.

The hash is the same for every wheel of a machine. Runs alone: python smoke.py EXAMPLE, the C library's example in Python.
"""

import hashlib
import pathlib
import subprocess
import sys
import sysconfig
import tempfile

import numpy as np

import paddle_mini as pm


def train(prefix):
    """Trains a classifier with averaged parameters and saves it; returns inputs, and what the model makes of them."""
    main, startup = pm.Program(), pm.Program()
    with pm.program_guard(main, startup):
        x = pm.layers.data("x", shape=[-1, 8])
        y = pm.layers.data("y", shape=[-1, 1], dtype="int64")
        prediction = pm.layers.fc(pm.layers.fc(x, 16, act="relu"), 3, act="softmax")
        loss = pm.layers.mean(pm.layers.cross_entropy(prediction, y))
        average = pm.optimizer.ParameterAverage(pm.optimizer.Adam(learning_rate=0.02), window_size=50)
        average.minimize(loss)
    pm.seed(7)
    exe, scope, random = pm.Executor(pm.CPUPlace()), pm.Scope(), np.random.RandomState(0)
    exe.run(startup, scope=scope)
    losses = []
    for _ in range(300):
        inputs = random.randn(32, 8).astype("float32")
        labels = inputs[:, :3].argmax(1).astype("int64")[:, None]
        losses += exe.run(main, feed={"x": inputs, "y": labels}, fetch_list=[loss], scope=scope)
    if not losses[-1] < 0.5 * losses[0]:
        raise AssertionError(f"the loss went from {losses[0]} to {losses[-1]}")
    with average.apply(exe, scope=scope):
        pm.io.save_inference_model(str(prefix), [x], [prediction], exe, scope=scope)
    program, feeds, fetches = pm.io.load_inference_model(str(prefix), exe)
    return inputs, exe.run(program, feed={feeds[0]: inputs}, fetch_list=fetches)[0]


def run_without_python(prefix, inputs):
    """The prediction that pm_run computes for the inputs."""
    folder = prefix.parent
    (folder / "out").mkdir()
    np.save(folder / "x.npy", inputs)
    pm_run = pathlib.Path(sysconfig.get_path("scripts")) / "pm_run"
    options = ["--params", f"{prefix}.pdiparams", "--feed", f"x={folder / 'x.npy'}", "--out", folder / "out", "--quiet"]
    subprocess.run([pm_run, f"{prefix}.pdmodel", *options], check=True)
    (file,) = (folder / "out").glob("*.npy")
    return np.load(file)


def c_library(example):
    """The output of the example that trains with the C library through ctypes."""
    library = pathlib.Path(pm._core.__file__).parent / "libpaddle_mini_optimizer.so"
    return subprocess.run([sys.executable, example, library], check=True, stdout=subprocess.PIPE).stdout


with tempfile.TemporaryDirectory() as temporary:
    model = pathlib.Path(temporary) / "model"
    fed, expected = train(model)
    result = run_without_python(model, fed)
if result.tobytes() != expected.tobytes():
    raise AssertionError(f"pm_run computed {result}, Python {expected}")
print(hashlib.sha256(expected.tobytes() + c_library(sys.argv[1])).hexdigest()[:16])

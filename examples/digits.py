# Handwritten digits with a fifth of the training labels wrong: the benefit of averaging the parameters.
"""Trains a small network many times and compares the last iterate with averages of its trajectory;
saves the averaged model and runs it, and its training program, with pm_run.

    .venv/bin/python examples/digits.py --out out/demo
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import time

import numpy as np
from sklearn.datasets import load_digits

import paddle_mini as pm
from comparison import interval, paired, plus_minus, print_table, progress, set_rate
from paddle_mini.averaging import Exponential, Uniform, Window

# Set before the first run and not tuned: lengths of averages were not chosen on test data.
SETTINGS = {
    "seeds": 40,
    "training images": 1257,
    "share of wrong labels": 0.2,
    "hidden units": 64,
    "learning rate": 0.1,
    "momentum": 0.9,
    "batch": 32,
    "epochs": 30,
    "window": 300,
    "decay": 0.99,
}
STEPS_AN_EPOCH = SETTINGS["training images"] // SETTINGS["batch"]
AVERAGES = {
    f"window {SETTINGS['window']}": Window(SETTINGS["window"]),
    "uniform": Uniform(),
    f"exponential {SETTINGS['decay']}": Exponential(SETTINGS["decay"]),
}
SAVED = next(iter(AVERAGES))


class Model:
    """A network of 64, 64 and 10 units with softmax, its optimizer, and averages of its parameters."""

    def __init__(self, averages):
        self.main, self.startup, self.scope = pm.Program(), pm.Program(), pm.Scope()
        with pm.program_guard(self.main, self.startup):
            self.x = pm.layers.data("x", shape=[-1, 64])
            self.label = pm.layers.data("label", shape=[-1, 1], dtype="int64")
            hidden = pm.layers.fc(self.x, SETTINGS["hidden units"], act="relu")
            self.logits = pm.layers.fc(hidden, 10)
            self.loss = pm.layers.mean(pm.layers.softmax_with_cross_entropy(self.logits, self.label))
            optimizer = pm.optimizer.Momentum(SETTINGS["learning rate"], SETTINGS["momentum"])
            # Averages do not affect training, so all of them, and the last iterate, are compared on one trajectory.
            self.average = pm.optimizer.ParameterAverage(optimizer, list(averages.values())) if averages else optimizer
            self.average.minimize(self.loss)
        test = self.main.clone(for_test=True).prune([self.x], [self.logits])
        self.tests = {"last iterate": test, **{name: self.average.program(test, scheme) for name, scheme in averages.items()}}
        self.exe = pm.Executor(pm.CPUPlace())

    def start(self, seed):
        pm.seed(seed)
        self.exe.run(self.startup, scope=self.scope)

    def step(self, x, label):
        self.exe.run(self.main, {"x": x, "label": label}, scope=self.scope)

    def bytes(self):
        return sum(self.scope.get(name).nbytes for name in self.scope.names())

    def predict(self, x, name="last iterate"):
        return self.exe.run(self.tests[name], {"x": x}, [self.logits.name], self.scope)[0]

    def errors(self, x, label):
        """Test error in percent: of the last iterate, and of every average."""
        return {name: 100 * np.mean(self.predict(x, name).argmax(1) != label) for name in self.tests}


class Data:
    """One random split of the digits; a share of the training labels is replaced by another digit."""

    def __init__(self, seed, wrong):
        self.random = np.random.RandomState(seed)
        x, label = load_digits(return_X_y=True)
        order, n = self.random.permutation(len(x)), SETTINGS["training images"]
        x, label = (x[order] / 16).astype("float32"), label[order]
        self.x, self.test_x, self.test_label = x[:n], x[n:], label[n:]
        label = label[:n, None].copy()
        chosen = self.random.permutation(n)[: round(wrong * n)]
        label[chosen] = (label[chosen] + self.random.randint(1, 10, label[chosen].shape)) % 10
        self.label = label

    def batches(self):
        """A separate order for every epoch."""
        order, size = self.random.permutation(len(self.x)), SETTINGS["batch"]
        x, label = self.x[order], self.label[order]
        for start in range(0, STEPS_AN_EPOCH * size, size):
            yield x[start : start + size], label[start : start + size]


def train(model, seed, wrong, bar, decays=False):
    """The test errors after every epoch: {name: [epochs]}."""
    data, curve, step = Data(seed, wrong), [], 0
    steps = SETTINGS["epochs"] * STEPS_AN_EPOCH
    model.start(seed)
    for _ in range(SETTINGS["epochs"]):
        for batch in data.batches():
            if decays:
                set_rate(model.scope, SETTINGS["learning rate"] * (1 - step / steps))
            model.step(*batch)
            step += 1
        curve.append(model.errors(data.test_x, data.test_label))
        bar.update()
    return {name: [errors[name] for errors in curve] for name in curve[0]}


def compare(averaged, plain, wrong, bar):
    """{name: test errors [seeds, epochs]}; all but `linear decay` come from one trajectory."""
    runs = []
    for seed in range(SETTINGS["seeds"]):
        runs.append(train(averaged, seed, wrong, bar))
        decayed = train(plain, seed, wrong, bar, decays=True)["last iterate"]
        runs[-1] = {"last iterate": runs[-1].pop("last iterate"), "linear decay": decayed, **runs[-1]}
    return {name: np.array([run[name] for run in runs]) for name in runs[0]}


def costs(plain):
    """{name: (milliseconds per step, bytes that averages store per parameter)}. The programs alternate in rounds of 200
    steps; the fastest of 25 rounds counts, because other work on the machine disturbed it least."""
    models = {"last iterate": plain, "linear decay": plain}
    models.update({name: Model({name: kind}) for name, kind in AVERAGES.items()})
    x, label = next(Data(0, 0).batches())
    times = {name: [] for name in models}
    for _ in range(25):
        for name, model in models.items():
            model.start(0)  # restart: after thousands of steps on one batch the gradients would be denormal, which is slow
            begin = time.perf_counter()
            for _ in range(200):
                if name == "linear decay":
                    set_rate(model.scope, SETTINGS["learning rate"])
                model.step(x, label)
            times[name].append((time.perf_counter() - begin) / 200 * 1e3)
    size = sum(plain.scope.get(parameter.name).size for parameter in plain.main.all_parameters())
    return {name: (min(times[name]), round((model.bytes() - plain.bytes()) / size)) for name, model in models.items()}


def error_rows(curves):
    last, rows = curves["last iterate"][:, -1], []
    for name, errors in curves.items():
        against = ["", ""] if name == "last iterate" else paired(errors[:, -1], last, 2)
        rows.append([name, plus_minus(errors[:, -1], 2), *against])
    return rows


def report(noisy, clean, cost):
    head = ["", "error", "minus last iterate", "lower in"]
    print_table(
        f"Test error in % after {SETTINGS['epochs']} epochs, {SETTINGS['share of wrong labels']:.0%} of the "
        f"training labels wrong; mean ± 95 % interval over {SETTINGS['seeds']} seeds",
        head + ["ms/step", "bytes/parameter"],
        [row + [f"{cost[row[0]][0]:.3f}", str(cost[row[0]][1])] for row in error_rows(noisy)],
    )
    gain = -min(np.mean(errors[:, -1] - clean["last iterate"][:, -1]) for errors in clean.values())
    print_table(
        f"The same with clean labels, where there is little noise to average away: the greatest gain is {gain:.2f} points",
        head,
        error_rows(clean),
    )


def plot(noisy, clean, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    kinds = ("0.45", "-"), ("tab:orange", "--"), ("tab:blue", "-"), ("tab:green", "-"), ("tab:purple", ":")
    styles = dict(zip(noisy, kinds))
    epochs = np.arange(1, SETTINGS["epochs"] + 1)
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True, layout="constrained")
    titles = f"{SETTINGS['share of wrong labels']:.0%} of the training labels wrong", "clean labels"
    for axis, curves, title in zip(axes, (noisy, clean), titles):
        for name, errors in curves.items():
            mean, half = interval(errors)
            color, line = styles[name]
            axis.plot(epochs, mean, line, color=color, label=f"average: {name}" if name in AVERAGES else name)
            axis.fill_between(epochs, mean - half, mean + half, color=color, alpha=0.18, linewidth=0)
        axis.set(title=title, xlabel="epoch", xlim=(1, epochs[-1]), ylim=(0, 16))
        axis.grid(alpha=0.25)
    axes[0].set_ylabel("test error, %")
    axes[0].legend(frameon=False, ncols=2, loc="upper right", fontsize=9)
    figure.suptitle(f"Handwritten digits: mean over {SETTINGS['seeds']} seeds and its 95 % interval", fontsize=11)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def pm_run(*words):
    beside = pathlib.Path(sys.executable).parent / "pm_run"
    program = str(beside) if beside.exists() else shutil.which("pm_run")
    subprocess.run([program, *map(str, words)], check=True, stdout=subprocess.DEVNULL)


def run_without_python(model, out):
    """The averaged model, and training from its saved initial state, in Python and in pm_run."""
    data = Data(SETTINGS["seeds"] - 1, SETTINGS["share of wrong labels"])
    np.save(out / "x.npy", data.test_x)
    model.average.save(out / "digits", [model.x], [model.logits], model.exe, scope=model.scope, scheme=AVERAGES[SAVED])
    here = model.predict(data.test_x, SAVED)
    pm_run(out / "digits.pdmodel", "--params", out / "digits.pdiparams", "--feed", f"x={out / 'x.npy'}", "--out", out)
    there = np.load(out / f"{model.logits.name}.npy")
    same = np.sum(here.argmax(1) == there.argmax(1))
    print(
        f"\nSaved {out / 'digits.pdmodel'} and .pdiparams, with the average '{SAVED}' as parameters.\n"
        f"pm_run, which has no Python in it, predicts the same class for {same} of {len(here)} test images; "
        f"the logits differ by at most {np.abs(here - there).max():.1g}."
    )

    steps, size = 20, SETTINGS["batch"]
    model.start(0)
    pm.io.save_program(out / "training", model.main, model.scope)
    np.save(out / "train_x.npy", data.x[: steps * size])
    np.save(out / "train_label.npy", data.label[: steps * size])
    for first in range(0, steps * size, size):
        feed = {"x": data.x[first : first + size], "label": data.label[first : first + size]}
        (here,) = model.exe.run(model.main, feed, [model.loss], model.scope)
    pm_run(
        out / "training.pdmodel",
        "--params",
        out / "training.pdiparams",
        "--feed",
        f"x={out / 'train_x.npy'}",
        "--feed",
        f"label={out / 'train_label.npy'}",
        "--steps",
        steps,
        "--batch",
        size,
        "--fetch",
        model.loss.name,
        "--out",
        out,
        "--save-params",
        out / "trained.pdiparams",
    )
    there = np.load(out / f"{model.loss.name}.npy")
    other = pm.Scope()
    pm.io.load_parameters(out / "trained.pdiparams", model.main, other)
    equal = sum(np.array_equal(model.scope.get(name), other.get(name)) for name in other.names())
    print(
        f"pm_run trains, too: after {steps} steps of {out / 'training.pdmodel'} the loss is {there:.7g}, "
        f"in Python {here:.7g}; {equal} of {len(other.names())} parameters, velocities and averages have the same bits."
    )


def digits(out):
    begin = time.perf_counter()
    averaged, plain = Model(AVERAGES), Model({})
    with progress(4 * SETTINGS["seeds"] * SETTINGS["epochs"], "training", "epochs") as bar:
        clean = compare(averaged, plain, 0.0, bar)
        noisy = compare(averaged, plain, SETTINGS["share of wrong labels"], bar)
    # `averaged` still holds the last seed's run, which is the saved one.
    cost = costs(plain)
    report(noisy, clean, cost)
    plot(noisy, clean, out / "digits.png")
    run_without_python(averaged, out)
    results = {
        "settings": SETTINGS,
        "ms a step": cost,
        **{
            title: {name: errors[:, -1].tolist() for name, errors in curves.items()}
            for title, curves in (("test error, wrong labels", noisy), ("test error, clean labels", clean))
        },
    }
    (out / "results.json").write_text(json.dumps(results, indent=1))
    print(f"\nPlot: {out / 'digits.png'}; numbers: {out / 'results.json'}; {time.perf_counter() - begin:.0f} s in all.")


def main():
    parser = argparse.ArgumentParser(description="Measures the effect of averaging the parameters.")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("out/demo"), help="folder for what is written")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    digits(arguments.out)


if __name__ == "__main__":
    main()

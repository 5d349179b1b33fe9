# The cost of averages on the CPU while a device trains: measured, and predicted by the formula.
"""An emulated device with links of several bandwidths trains a network; its averages are stored on the CPU.

Copies of the parameters take T_link = bytes / bandwidth, and averaging them T_cpu; both can overlap the next step's
forward and backward pass, which takes T_step without the update. The remaining stall is
max(0, max(T_link, T_cpu) - T_step).

    python benchmarks/offload.py
"""

import os
import pathlib
import statistics
import time

import numpy as np

import paddle_mini as pm

PLACE, RESULTS = pm.EmulatedPlace(0), pathlib.Path(__file__).parent / "results"
WIDTH, LAYERS, BATCH, STEPS, ROUNDS = 1000, 4, 256, 16, 7
FACTORS = (0.1, 0.25, 0.5, 0.75, 0.9, 1.25, 1.5, 2.0, 3.0)  # ratio of T_link to the step


class Training:
    def __init__(self, average_place=None, average=True):
        self.main, startup, self.scope, self.exe = pm.Program(), pm.Program(), pm.Scope(), pm.Executor(PLACE)
        with pm.program_guard(self.main, startup):
            hidden = pm.layers.data("x", [-1, WIDTH])
            for _ in range(LAYERS):
                hidden = pm.layers.fc(hidden, WIDTH, act="relu")
            self.loss = pm.layers.mean(pm.layers.square(hidden))
            optimizer = pm.optimizer.SGD(1e-4)
            if average:
                optimizer = pm.optimizer.ParameterAverage(optimizer, pm.averaging.Exponential(0.99), place=average_place)
            optimizer.minimize(self.loss)
        self.exe.run(startup, scope=self.scope)
        self.bytes = sum(self.scope.get(parameter.name).nbytes for parameter in self.main.all_parameters())
        self.feed = {"x": np.random.RandomState(0).randn(BATCH, WIDTH).astype("float32")}

    def seconds(self):
        """Seconds of one step among many; the first ones fill the queues and are not counted."""
        for _ in range(4):
            self.exe.run(self.main, self.feed, [self.loss], self.scope)
        start = time.perf_counter()
        for _ in range(STEPS):
            self.exe.run(self.main, self.feed, [self.loss], self.scope)
        seconds = (time.perf_counter() - start) / STEPS
        self.scope.settle()
        return seconds


def cpu_name():
    text = pathlib.Path("/proc/cpuinfo").read_text()
    return next((line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name")), "unknown")


def main():
    pm.devices.emulate(0)
    plain, offloaded, on_device = Training(average=False), Training(pm.CPUPlace()), Training()
    rounds = [(plain.seconds(), on_device.seconds()) for _ in range(ROUNDS)]
    step = statistics.median(one for one, _ in rounds)
    lines = [
        f"# Averages asynchronous to training on an emulated device: {cpu_name()}",
        "",
        f"{plain.bytes / 1e6:.0f} MB of parameters, a step of {step * 1e3:.1f} ms; averages on the device itself make it "
        f"{statistics.median(b / a for a, b in rounds):.3f} times as long. Medians of {ROUNDS} rounds of {STEPS} steps in turn; "
        f"{os.cpu_count()} cores, one of which is the device.",
        "",
        "| T_link / step | step, by the formula | step, measured | measured / formula |",
        "|---|---|---|---|",
    ]
    for factor in FACTORS:
        link = factor * step
        pm.devices.emulate(0, bandwidth=plain.bytes / link)
        pairs = [(plain.seconds(), offloaded.seconds()) for _ in range(ROUNDS)]
        alone = statistics.median(one for one, _ in pairs)
        measured = statistics.median(other / one for one, other in pairs)
        formula = max(1.0, link / alone)
        lines.append(f"| {link / alone:.2f} | {formula:.3f} | {measured:.3f} | {measured / formula:.3f} |")
        print(lines[-1], flush=True)
    pm.devices.emulate(0)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "offload.md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()

# What averages on the processor cost while training runs on a device: measured, and what the formula says.
"""An emulated device with links of several bandwidths trains a network; its averages are kept on the processor.

Copies of the parameters take T_link = bytes / bandwidth, and averaging them T_cpu; both may hide behind the next step's
forward and backward pass, T_step without the update. What can't hide is the stall: max(0, max(T_link, T_cpu) - T_step).

    python benchmarks/offload.py
"""
import json
import pathlib
import statistics
import time

import numpy as np

import paddle_mini as pm

PLACE, RESULTS = pm.EmulatedPlace(0), pathlib.Path(__file__).parent / "results"
WIDTH, LAYERS, BATCH, STEPS, ROUNDS = 1000, 4, 256, 12, 7
FACTORS = (0.1, 0.25, 0.5, 0.75, 0.9, 1.25, 1.5, 2.0, 3.0)  # of T_link to the step


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
        """Of one step among several; what is still on its way at the end counts."""
        self.exe.run(self.main, self.feed, [self.loss], self.scope)
        self.scope.settle()
        start = time.perf_counter()
        for _ in range(STEPS):
            self.exe.run(self.main, self.feed, [self.loss], self.scope)
        self.scope.settle()
        return (time.perf_counter() - start) / STEPS


def main():
    pm.devices.emulate(0)
    plain, offloaded, on_device = Training(average=False), Training(pm.CPUPlace()), Training()
    rounds = [(plain.seconds(), on_device.seconds()) for _ in range(ROUNDS)]
    step = statistics.median(one for one, _ in rounds)
    print(f"{plain.bytes / 1e6:.0f} MB of parameters, step {step * 1e3:.1f} ms; averages on the device "
          f"{statistics.median(b / a for a, b in rounds):.3f} of it")
    print(f"{'T_link / step':>14}{'stall, formula':>16}{'measured':>10}{'step':>8}{'formula':>9}")
    table = []
    for factor in FACTORS:
        link = factor * step
        pm.devices.emulate(0, bandwidth=plain.bytes / link)
        pairs = [(plain.seconds(), offloaded.seconds()) for _ in range(ROUNDS)]
        alone = statistics.median(one for one, _ in pairs)
        measured = statistics.median(other / one for one, other in pairs)
        stall = max(0.0, link - alone) / alone
        table.append({"link": link / alone, "stall": stall, "measured": measured - 1})
        print(f"{link / alone:14.2f}{stall:16.3f}{measured - 1:10.3f}{measured:8.3f}{(1 + stall):9.3f}")
    pm.devices.emulate(0)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "offload.json").write_text(json.dumps({"step_ms": step * 1e3, "bytes": plain.bytes, "rows": table}, indent=1) + "\n")


if __name__ == "__main__":
    main()

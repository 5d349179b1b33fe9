# Least squares by stochastic gradient descent: where averaging is known to be optimal (e1, e2 of digits.py).
import numpy as np
from comparison import minimize_with_averages, paired, plus_minus, print_table, progress, set_rate
from sklearn.datasets import load_diabetes

import paddle_mini as pm
from paddle_mini.averaging import Exponential, Uniform

# Fixed before the first run. Rates are in units of 1 / R², R² the mean squared length of an input.
E1 = {"seeds": 30, "dimensions": 50, "samples": 20_000}
E2 = {"splits": 40, "train": 300, "passes": 10, "rates": [0.02, 0.05, 0.1, 0.25, 0.5, 1.0]}


class Regression:
    """ŷ = x · w with SGD on (ŷ − y)² / 2, one sample a step, and averages beside it."""

    def __init__(self, dimensions, averages):
        self.main, self.startup, self.scope = pm.Program(), pm.Program(), pm.Scope()
        with pm.program_guard(self.main, self.startup):
            x, y = pm.layers.data("x", shape=[1, dimensions]), pm.layers.data("y", shape=[1, 1])
            attr = pm.ParamAttr("w", pm.initializer.Constant(0.0))
            prediction = pm.layers.fc(x, 1, param_attr=attr, bias_attr=False)
            loss = pm.layers.mean(pm.layers.square_error_cost(prediction, y) * 0.5)
            self.averages = minimize_with_averages(pm.optimizer.SGD(0.0), loss, averages)
        self.exe = pm.Executor(pm.CPUPlace())

    def fit(self, x, y, order, rates):
        """One step for each sample in `order`: {name: w}, of the last iterate and of every average."""
        self.exe.run(self.startup, scope=self.scope)
        x, y = list(x[:, None].astype("float32")), list(y[:, None, None].astype("float32"))
        feeds, rate = [{"x": a, "y": b} for a, b in zip(x, y)], None
        for step, i in enumerate(order):
            if rates[step] != rate:
                rate = rates[step]
                set_rate(self.scope, rate)
            self.exe.run(self.main, feeds[i], scope=self.scope)
        found = {"last": self.scope.get("w")[:, 0]}
        for name, average in self.averages.items():
            with average.apply(self.exe, scope=self.scope):
                found[name] = self.scope.get("w")[:, 0]
        return found


def e1():
    """One pass over samples whose covariance has the eigenvalues 1/i: the uniform average of a constant
    step is as good as solving the least squares exactly (Polyak and Juditsky 1992; Bach and Moulines 2013)."""
    d, n = E1["dimensions"], E1["samples"]
    eigenvalues = 1 / np.arange(1, d + 1)
    r2, smallest, t = eigenvalues.sum(), eigenvalues[-1], np.arange(n)
    schedules = {
        "constant 1/(4R²)": np.full(n, 0.25 / r2),
        "constant 1/R²": np.full(n, 1 / r2),
        "Xu, (1 + λt/R²)^(-2/3) / R²": (1 + smallest * t / r2) ** (-2 / 3) / r2,
        "1/(λt), λ known": 1 / (r2 + smallest * t),
        "linear decay from 1/R²": (1 - t / n) / r2,
    }
    averages = {"uniform": {"scheme": Uniform()}, "tail half": {"scheme": Uniform(), "start_step": n // 2},
                "exponential .999": {"scheme": Exponential(0.999)}}
    model, excess = Regression(d, averages), {name: [] for name in ["exact", *schedules]}
    with progress(E1["seeds"] * len(schedules), "one pass", "runs") as bar:
        for seed in range(E1["seeds"]):
            random = np.random.RandomState(seed)
            x, truth = random.randn(n, d) * np.sqrt(eigenvalues), random.randn(d) / np.sqrt(d)
            y = x @ truth + random.randn(n)

            def risk(w):
                return (w - truth) @ (eigenvalues * (w - truth)) / (d / n)  # 1 is what theory gives the exact solver

            excess["exact"].append({"last": risk(np.linalg.solve(x.T @ x, x.T @ y))})
            for name, rates in schedules.items():
                excess[name].append({arm: risk(w) for arm, w in model.fit(x, y, range(n), rates).items()})
                bar.update()
    rows = []
    for name, runs in excess.items():
        rows.append([name, *(plus_minus([run[arm] for run in runs], 2) if arm in runs[0] else ""
                             for arm in ["last", *averages])])
    print_table(f"Excess risk over that of the exact solver in theory, σ²d/2n; d = {d}, one pass over n = {n} samples, "
                f"batch 1; mean ± 95 % interval over {E1['seeds']} seeds", ["learning rate", "last iterate", *averages], rows)


def e2():
    """Diabetes: a constant step with the tail averaged is least squares, whatever the step."""
    x, y = load_diabetes(return_X_y=True)
    n, passes = E2["train"], E2["passes"]
    steps = n * passes
    tail = {"tail half": {"scheme": Uniform(), "start_step": steps // 2}}
    model = Regression(x.shape[1], tail)
    found = {rate: {"last": [], "decayed": [], "tail half": []} for rate in E2["rates"]}
    exact = []
    with progress(E2["splits"] * len(E2["rates"]), "diabetes", "runs") as bar:
        for seed in range(E2["splits"]):
            random = np.random.RandomState(seed)
            split = random.permutation(len(x))
            train, test = split[:n], split[n:]
            a, b = ((v - v[train].mean(0)) / v[train].std(0) for v in (x, y))
            order = np.concatenate([random.permutation(n) for _ in range(passes)])
            r2 = (a[train] ** 2).sum(1).mean()

            def error(w):
                return np.mean((a[test] @ w - b[test]) ** 2)

            exact.append(error(np.linalg.lstsq(a[train], b[train], rcond=None)[0]))
            for rate, errors in found.items():
                constant = model.fit(a[train], b[train], order, np.full(steps, rate / r2))
                decayed = model.fit(a[train], b[train], order, rate / r2 * (1 - np.arange(steps) / steps))
                for name, w in {**constant, "decayed": decayed["last"]}.items():
                    errors[name].append(error(w))
                bar.update()
    rows = []
    for rate, errors in found.items():
        rows.append([str(rate), *(plus_minus(errors[name], 4) for name in errors),
                     *paired(errors["tail half"], errors["last"], 4), paired(errors["tail half"], exact, 4)[0]])
    print_table(f"Test error of diabetes progression, standardized; {passes} passes, batch 1, {E2['splits']} splits; "
                f"least squares: {plus_minus(exact, 4)}",
                ["rate × R²", "last iterate", "linear decay", "tail half", "tail - last", "lower in",
                 "tail - least squares"], rows)

# E2: diabetes: with any step size, gradient descent with a constant step and an average reaches least squares.
"""442 patients, 10 measurements (Efron et al. 2004), standardized on the training part. The trajectories of all splits
and step sizes run side by side, with the same order of samples for all step sizes of a split."""

import numpy as np
from sklearn.datasets import load_diabetes

import paddle_mini as pm
from models import Models, costs, least_squares
from report import band, rows_of
from settings import e2_schemes


class Splits:
    """Arrays of all splits: train_x [splits, n, 10] and so on, `order` of the steps, and the least-squares solution."""

    def __init__(self, settings):
        x, y = load_diabetes(return_X_y=True)
        n, count = settings["train"], settings["splits"]
        parts, orders = [], []
        for seed in range(count):
            random = np.random.RandomState(seed)
            split = random.permutation(len(x))
            train, test = split[:n], split[n:]
            a, b = ((values - values[train].mean(0)) / values[train].std(0) for values in (x, y))
            parts.append((a[train], b[train], a[test], b[test]))
            orders.append(np.concatenate([random.permutation(n) for _ in range(settings["passes"])]))
        self.train_x, self.train_y, self.test_x, self.test_y = (np.stack(part) for part in zip(*parts))
        self.order, self.r2 = np.stack(orders), (self.train_x**2).sum(2).mean()
        self.exact = np.stack([np.linalg.lstsq(a, b, rcond=None)[0] for a, b in zip(self.train_x, self.train_y)])

    def errors(self, w, x, y):
        """Mean squared errors of w [splits, models, 10]: [splits, models]."""
        return ((np.einsum("snd,smd->snm", x, w) - y[:, :, None]) ** 2).mean(1)


def train(splits, rates, passes, schemes):
    """Constant steps in the first columns, linear decay to 0 in the others: {scheme: w [splits, 2 rates, 10]}."""
    count, n = splits.train_y.shape
    steps, rates = n * passes, np.array(rates) / splits.r2
    models = Models(least_squares(count, 2 * len(rates), 10), pm.optimizer.SGD(1.0), schemes)
    x, y, every = splits.train_x.astype("float32"), splits.train_y.astype("float32"), np.arange(count)
    for step, now in enumerate(splits.order.T):
        rate = np.concatenate([rates, rates * (1 - step / steps)]).astype("float32")
        models.step(x=x[every, now][:, None], y=y[every, now][:, None], rate=rate[None])
    return {scheme: models.values(scheme)["w"].astype(float) for scheme in [None, *schemes]}


def judge(report, rows):
    for row in rows:
        if row["set"] == "test" and row["arm"].startswith("Tail") and row["rate x R²"] in (0.05, 0.1, 0.25, 0.5):
            gain, half, gap = row["minus last"], row["minus last ci95"], row["minus exact"]
            report.criterion(
                f"e2, rate {row['rate x R²']}/R²",
                "average of the second half below the last iterate, paired interval below 0",
                f"{gain:.4f} ± {half:.4f}, in {row['lower than last']:.0%} of the splits",
                gain + half < 0,
            )
            report.criterion(f"e2, rate {row['rate x R²']}/R²", "within .003 of least squares", f"{gap:+.4f}", abs(gap) <= 0.003)
        if row["set"] == "test" and row["arm"] == "Uniform()" and row["rate x R²"] == 0.02:
            report.told(
                "e2, rate 0.02/R²",
                "uniform average minus last iterate",
                f"{row['minus last']:+.4f} ± {row['minus last ci95']:.4f}",
            )


def run(settings, report):
    splits = Splits(settings)
    rates, count, n = settings["rates"], settings["splits"], settings["train"]
    schemes = e2_schemes(n * settings["passes"], n)
    found = train(splits, rates, settings["passes"], schemes)
    members = 2 * len(rates)
    feed = {"x": np.ones((count, 1, 10), "f"), "y": np.ones((count, 1), "f"), "rate": np.full((1, members), 1e-3, "f")}
    cost = costs(
        lambda some: Models(least_squares(count, members, 10), pm.optimizer.SGD(1.0), some), schemes, feed, settings["turns"]
    )
    rows, curves = [], {}
    for which, x, y in (("test", splits.test_x, splits.test_y), ("train", splits.train_x, splits.train_y)):
        errors = {scheme: splits.errors(w, x, y) for scheme, w in found.items()}
        exact = splits.errors(splits.exact[:, None], x, y)[:, 0]
        for column, rate in enumerate(rates):
            arms = {
                "last iterate": errors[None][:, column],
                "linear decay": errors[None][:, len(rates) + column],
                **{repr(scheme): errors[scheme][:, column] for scheme in schemes},
                "exact": exact,
            }
            rows += rows_of(arms, cost, set=which, **{"rate x R²": rate})
            if which == "test":
                for name, values in arms.items():
                    curves.setdefault(name, []).append(values)
    report.table("e2_diabetes", rows)
    judge(report, rows)

    def draw(axis):
        for name in ("last iterate", "linear decay", repr(schemes[0]), repr(schemes[1]), repr(schemes[-1]), "exact"):
            style = {"color": "black", "linewidth": 0.8} if name == "exact" else {}
            band(axis, rates, np.stack(curves[name], 1), label="least squares" if name == "exact" else name, **style)
        axis.set(xscale="log", ylim=(0.49, 0.75), xlabel="step size x R²", ylabel="test error", title="diabetes")
        axis.legend()

    report.figure("e2_diabetes", draw)

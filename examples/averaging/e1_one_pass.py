# E1: one pass of gradient descent with a constant step, averaged, is as good as solving least squares exactly.
"""Polyak and Juditsky 1992; Xu 2011; Bach and Moulines 2013. x has independent inputs with the variances 1/i^power, y =
x . truth + noise of variance 1, and w starts at 0, at a distance of about `distance` from the truth. Every number is
the excess risk (w - truth)' Sigma (w - truth) as a multiple of d/n, the theoretical value for the exact solver."""

import numpy as np

import paddle_mini as pm
from models import Models, costs, least_squares
from report import band, clearly_below, rows_of
from settings import e1_schemes

AVERAGED = "constant 1/(4R²)"


def schedules(variances, n):
    """{name: the step sizes}; R² is the mean squared length of x."""
    r2, smallest, t = variances.sum(), variances[-1], np.arange(n)
    return {
        AVERAGED: np.full(n, 0.25 / r2),
        "constant 1/R²": np.full(n, 1 / r2),
        "Xu (1+λt/R²)^(-2/3)/R²": (1 + smallest * t / r2) ** (-2 / 3) / r2,
        "1/(R²+λt), λ known": 1 / (r2 + smallest * t),
        "linear decay from 1/R²": (1 - t / n) / r2,
        "linear decay from 1/(4R²)": (1 - t / n) / (4 * r2),
    }


def samples(settings, variances, distance):
    """x [n, seeds, 1, d], y [n, seeds, 1], truth [seeds, d]; and the exact solutions [seeds, d]."""
    n, d, seeds = settings["samples"], settings["dimensions"], settings["seeds"]
    x, y = np.empty((n, seeds, 1, d), "float32"), np.empty((n, seeds, 1), "float32")
    truth, exact = np.empty((seeds, d)), np.empty((seeds, d))
    for seed in range(seeds):
        random = np.random.RandomState(seed)
        inputs = random.randn(n, d) * np.sqrt(variances)
        truth[seed] = random.randn(d) * distance / np.sqrt(d)
        outputs = inputs @ truth[seed] + random.randn(n)
        exact[seed] = np.linalg.solve(inputs.T @ inputs, inputs.T @ outputs)
        x[:, seed, 0], y[:, seed, 0] = inputs, outputs
    return x, y, truth, exact


def one_pass(settings, power, distance):
    """{(schedule, arm): excess risks [seeds]}; the exact solver's; and those of some arms during the pass."""
    n, d, seeds = settings["samples"], settings["dimensions"], settings["seeds"]
    variances = np.arange(1.0, d + 1) ** -power
    x, y, truth, exact = samples(settings, variances, distance)
    steps = schedules(variances, n)
    rates, schemes = np.stack(list(steps.values()), 1).astype("float32")[:, None], e1_schemes(n)
    models = Models(least_squares(seeds, len(steps), d), pm.optimizer.SGD(1.0), schemes)

    def risks(w):
        return ((w - truth[:, None]) ** 2 @ variances) / (d / n)

    watched = [None, schemes[0], schemes[3]]
    path, marks = {scheme: [] for scheme in watched}, np.unique(np.geomspace(50, n, 40).astype(int))
    for step in range(n):
        models.step(x=x[step], y=y[step], rate=rates[step])
        if step + 1 in marks:
            for scheme in watched:
                path[scheme].append(risks(models.values(scheme)["w"].astype(float)))
    arms = {}
    for scheme in [None, *schemes]:
        found = risks(models.values(scheme)["w"].astype(float))
        for column, name in enumerate(steps):
            arms[name, "last iterate" if scheme is None else repr(scheme)] = found[:, column]
    return arms, risks(exact[:, None])[:, 0], (marks, {scheme: np.stack(found, 1) for scheme, found in path.items()})


def judge(report, case, rows):
    row = {(one["learning rate"], one["arm"]): one for one in rows}
    uniform, last, exact = row[AVERAGED, "Uniform()"], row[AVERAGED, "last iterate"], row[AVERAGED, "exact"]
    best = min((one for one in rows if one["arm"] == "last iterate"), key=lambda one: one["mean"])
    name = "e1, variances 1/i^{}, distance {:g}".format(*case)
    report.criterion(
        name,
        "uniform average of the constant step at most 1.5 x the exact solver",
        f"{uniform['mean'] / exact['mean']:.2f} x",
        uniform["mean"] <= 1.5 * exact["mean"],
    )
    report.criterion(
        name,
        "at least 10 x below its own last iterate, intervals apart",
        f"{last['mean'] / uniform['mean']:.1f} x",
        last["mean"] >= 10 * uniform["mean"] and clearly_below(uniform, last),
    )
    report.criterion(
        name,
        "below the best last iterate of all schedules, intervals apart",
        f"{uniform['mean']:.2f} ± {uniform['ci95']:.2f} against {best['mean']:.2f} ± {best['ci95']:.2f} "
        f"({best['learning rate']})",
        clearly_below(uniform, best),
    )


def run(settings, report):
    n, d, seeds = settings["samples"], settings["dimensions"], settings["seeds"]
    feed = {"x": np.ones((seeds, 1, d), "f"), "y": np.ones((seeds, 1), "f"), "rate": np.full((1, 6), 1e-3, "f")}
    cost = costs(
        lambda some: Models(least_squares(seeds, 6, d), pm.optimizer.SGD(1.0), some), e1_schemes(n), feed, settings["turns"]
    )
    rows, paths = {}, {}
    for case in map(tuple, settings["cases"]):
        arms, exact, paths[case] = one_pass(settings, *case)
        rows[case] = []
        for schedule in dict.fromkeys(name for name, _ in arms):
            own = {arm: values for (name, arm), values in arms.items() if name == schedule}
            rows[case] += rows_of(
                {**own, "exact": exact}, cost, variances=f"1/i^{case[0]}", distance=case[1], **{"learning rate": schedule}
            )
    report.table("e1_one_pass", [row for found in rows.values() for row in found])
    for case, found in rows.items():
        judge(report, case, found)

    def draw(axes):
        for axis, ((power, distance), (marks, path)) in zip(np.atleast_1d(axes), paths.items()):
            for (scheme, found), style in zip(path.items(), ("-", "-", "--")):
                label = "last iterate" if scheme is None else repr(scheme)
                band(axis, marks, found[:, :, 0] * d / n, label=f"{AVERAGED}: {label}", linestyle=style)
            band(axis, marks, path[None][:, :, 3] * d / n, label="1/(R²+λt): last iterate", linestyle=":", color="0.4")
            axis.plot(marks, d / marks, color="black", linewidth=0.8, label="exact solver, in theory")
            axis.set(
                xscale="log",
                yscale="log",
                ylim=(1e-3, 5),
                xlabel="samples seen",
                title=f"variances 1/i^{power}, {distance:g} from the truth",
            )
        np.atleast_1d(axes)[0].set_ylabel("excess risk")
        np.atleast_1d(axes)[0].legend(fontsize=7)

    report.figure("e1_one_pass", draw, columns=len(paths), size=(4.2, 3.8), sharey=True)

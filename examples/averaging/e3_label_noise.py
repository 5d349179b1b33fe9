# E3: handwritten digits with a fifth of the labels wrong: softmax regression and a network; and with clean labels.
"""1797 images of 8 x 8 (scikit-learn). Test labels are clean; validation labels have the same error rate as those of
training, and select an average by log-loss ('average chosen on validation'). Seeds run side by side."""

import numpy as np

from comparison import interval
from digits_models import Digits, exact, models_of, train
from models import costs
from paddle_mini.averaging import synthesize
from paddle_mini.averaging.profiles import share
from report import band, rows_of
from settings import e3_schemes

METRICS = ("test error, %", "test log-loss")


def chosen(arms, schemes):
    """For each seed the average with the lowest log-loss on validation."""
    found = np.stack([arms[repr(scheme)] for scheme in schemes])
    best = found[:, 2].argmin(0)
    return found[best, :, np.arange(len(best))].T


def mean_age(scheme, steps):
    """Mean age in steps of the parameters in an average."""
    return float(share(scheme, steps, np.arange(steps), every=scheme.own_every or 1, start_step=scheme.start).sum())


def synthesized(digits, kept, models, curve, schemes, wrong):
    """Averages made from the snapshots of two power profiles, against averages tracked during training."""
    rows, last = [], models.values()
    x = np.concatenate([digits.validation_x, digits.test_x], 1)
    flat = {scheme: np.concatenate([value.ravel() for value in models.values(scheme).values()]) for scheme in schemes}
    end = np.concatenate([value.ravel() for value in last.values()])
    for scheme in schemes:
        if scheme.own_every is not None:
            continue  # for parameters sampled at intervals
        plan = synthesize(kept, scheme, tolerance=1.0)
        made = plan.state()
        off = np.concatenate([made[name].ravel() for name in last]) - flat[scheme]
        for name, value in made.items():
            models.scope.set(name, value)
        errors = digits.judge(models.outputs(x))[0] - curve[scheme][-1, 0]
        rows.append(
            {
                "wrong": wrong,
                "target": repr(scheme),
                "snapshots": len(kept),
                "amplification": plan.amplification,
                "predicted error": plan.error,
                "found error": np.linalg.norm(off) / np.linalg.norm(flat[scheme] - end),
                "relative distance": np.linalg.norm(off) / np.linalg.norm(flat[scheme]),
                "test error, points more": errors.mean(),
                "greatest of a seed": np.abs(errors).max(),
            }
        )
    for name, value in last.items():
        models.scope.set(name, value)
    return rows


def judge(report, rows, synthesis):
    row = {(one["model"], one["wrong"], one["metric"], one["arm"]): one for one in rows}
    uniform = row["network", 0.2, METRICS[0], "Uniform()"]
    name, gain, gap = "e3, network, 20 % wrong", uniform["minus last"], uniform["minus linear"]
    report.criterion(
        name,
        "uniform average at least 3 points below the last iterate, paired",
        f"{gain:.2f} ± {uniform['minus last ci95']:.2f}",
        gain <= -3,
    )
    report.criterion(
        name,
        "not above linear decay by more than the paired interval",
        f"{gap:.2f} ± {uniform['minus linear ci95']:.2f}",
        gap <= uniform["minus linear ci95"],
    )
    for wrong, model in ((0.0, "network"), (0.2, "network, small steps"), (0.0, "network, small steps")):
        other = row[model, wrong, METRICS[0], "Uniform()"]
        report.told(
            f"e3, {model}, {wrong:.0%} wrong",
            "uniform average minus last iterate, points",
            f"{other['minus last']:+.2f} ± {other['minus last ci95']:.2f}",
        )
    powers = [one for one in synthesis if one["target"].startswith("Power")]
    worst = max(powers, key=lambda one: one["relative distance"])
    report.criterion(
        "e3, synthesis",
        "power profiles within 1e-3 of those tracked, test error within .05 points",
        f"{worst['relative distance']:.1e}, {worst['test error, points more']:+.3f} ({worst['target']})",
        worst["relative distance"] < 1e-3 and abs(worst["test error, points more"]) <= 0.05,
    )


def tell_curves(report, settings, curves):
    """After every epoch, also where an average was best: no arm is stopped early."""
    rows = []
    for wrong in settings["wrong"]:
        for name, values in list(curves["network", wrong].items())[:8]:
            for epoch, errors in enumerate(values[:, 0], 1):
                mean, half = interval(errors)
                rows.append({"wrong": wrong, "arm": name, "epoch": epoch, METRICS[0]: mean, "ci95": half})
    report.table("e3_epochs", rows)

    def draw(axes):
        for axis, wrong in zip(axes, settings["wrong"]):
            found = curves["network", wrong]
            for name in list(found)[:8]:
                band(axis, np.arange(1, len(found[name]) + 1), found[name][:, 0].T, label=name)
            axis.set(title=f"network, {wrong:.0%} of the labels wrong", xlabel="epoch", ylim=(0, 16))
        axes[0].set_ylabel(METRICS[0])
        axes[0].legend(fontsize=7, ncols=2)

    report.figure("e3_label_noise", draw, columns=len(settings["wrong"]), sharey=True)


def draw_lengths(report, settings, curves, ages):
    """The error over the mean age of the steps in an average: one measure of length for all schemes."""

    def draw(axes):
        for axis, (kind, wrong) in zip(axes, [("softmax", 0.2), ("network", 0.2), ("network, small steps", 0.2)]):
            found = curves[kind, wrong]
            for family in ("Uniform", "Tail", "Polynomial", "Window", "Exponential", "Latest", "Power"):
                names = sorted((name for name in found if name.startswith(family)), key=ages[kind].get)
                mean, half = interval(np.stack([found[name][-1, 0] for name in names], 1))
                axis.errorbar([ages[kind][name] for name in names], mean, half, marker="o", markersize=3, label=family)
            for name, style in (("last iterate", "-"), ("linear decay", "--")):
                axis.axhline(found[name][-1, 0].mean(), color="0.4", linestyle=style, label=name)
            axis.set(xscale="log", xlabel="mean age of what is averaged, epochs", title=f"{kind}, {wrong:.0%} wrong")
        axes[0].set_ylabel(METRICS[0])
        axes[0].legend(fontsize=7, loc="center left")

    report.figure("e3_lengths", draw, columns=3, size=(4.0, 3.6))


def run(settings, report):
    rows, synthesis, curves, ages = [], [], {}, {}
    for kind, task in settings["tasks"].items():
        an_epoch = settings["train"] // task["batch"]
        schemes = e3_schemes(an_epoch * task["epochs"], an_epoch)
        ages[kind] = {repr(scheme): mean_age(scheme, an_epoch * task["epochs"]) / an_epoch for scheme in schemes}
        feed = {
            "x": np.ones((settings["seeds"], task["batch"], 64), "f") / 8,
            "label": np.zeros((settings["seeds"], task["batch"], 1), "int64"),
        }
        cost = costs(lambda some: models_of(task, settings["seeds"], some), schemes[:6], feed, settings["turns"])
        for wrong in settings["wrong"]:
            digits = Digits(settings, task["scale"], wrong)
            snapshots = settings["snapshots"] if kind == "network" else 0
            curve, kept, models = train(task, digits, schemes, 0.0, snapshots, settings["widths"])
            if kept:
                synthesis += synthesized(digits, kept, models, curve, schemes, wrong)
            decayed, _, _ = train(task, digits, schemes[:1] + schemes[4:5], 1.0)
            found = {
                "last iterate": curve[None],
                "linear decay": decayed[None],
                **{repr(scheme): curve[scheme] for scheme in schemes},
            }
            arms = {name: values[-1] for name, values in found.items()}
            arms["average chosen on validation"] = chosen(arms, schemes)
            arms.update({f"linear decay and {scheme!r}": decayed[scheme][-1] for scheme in decayed if scheme})
            if kind == "softmax" and wrong:  # clean labels can be separated: their loss has no minimum
                arms["exact"] = exact(digits)
            for number, metric in enumerate(METRICS):
                rows += rows_of(
                    {name: values[number] for name, values in arms.items()}, cost, model=kind, wrong=wrong, metric=metric
                )
            curves[kind, wrong] = found
    report.table("e3_label_noise", rows)
    report.table("e3_synthesis", synthesis)
    judge(report, rows, synthesis)
    tell_curves(report, settings, curves)
    draw_lengths(report, settings, curves, ages)

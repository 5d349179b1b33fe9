# Digits with wrong labels, and the training of many classifiers side by side (E3).
import numpy as np
from scipy.special import log_softmax
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import paddle_mini as pm
from comparison import set_rate
from models import Models, classifiers
from paddle_mini.averaging import Checkpoint, Power


class Digits:
    """x [seeds, images, 64] and label [seeds, images], for train, validation and test."""

    def __init__(self, settings, scale, wrong):
        images, classes = load_digits(return_X_y=True)
        x, label = [], []
        for seed in range(settings["seeds"]):
            random = np.random.RandomState(seed)
            order, noisy = random.permutation(len(images)), settings["train"] + settings["validation"]
            own = classes[order].copy()
            chosen = random.permutation(noisy)[: round(wrong * noisy)]
            own[chosen] = (own[chosen] + random.randint(1, 10, len(chosen))) % 10
            x.append((images[order] / scale).astype("float32"))
            label.append(own)
        x, label, cuts = np.stack(x), np.stack(label), [settings["train"], noisy]
        (self.train_x, self.validation_x, self.test_x) = np.split(x, cuts, 1)
        (self.train_label, self.validation_label, self.test_label) = np.split(label, cuts, 1)

    def batches(self, size, epochs):
        """A separate order for every epoch and seed; the same in every call."""
        random, (seeds, n) = np.random.RandomState(1000), self.train_label.shape
        every = np.arange(seeds)[:, None]
        for _ in range(epochs):
            order = np.argsort(random.rand(seeds, n), 1)
            for first in range(0, n - size + 1, size):
                now = order[:, first : first + size]
                yield {"x": self.train_x[every, now], "label": self.train_label[every, now][:, :, None]}

    def judge(self, logits):
        """Error in percent and log-loss on the test images, log-loss on the validation images, each [seeds]."""
        found = []
        for part, label in zip(
            np.split(logits.astype(float), [self.validation_x.shape[1]], 1), (self.validation_label, self.test_label)
        ):
            loss = -np.take_along_axis(log_softmax(part, 2), label[:, :, None], 2).mean((1, 2))
            found.append((100 * (part.argmax(2) != label).mean(1), loss))
        return np.array([found[1][0], found[1][1], found[0][1]])


def models_of(task, seeds, schemes):
    rate, momentum = task["rate"], task["momentum"]
    optimizer = pm.optimizer.Momentum(rate, momentum) if momentum else pm.optimizer.SGD(rate)
    return Models(classifiers(seeds, 64, task["hidden"], 10), optimizer, schemes)


def train(task, digits, schemes, decays, snapshots=0, widths=()):
    """Results of every arm after every epoch {scheme: [epochs, 3, seeds]}; averages saved during training, for synthesis."""
    seeds, n = digits.train_label.shape
    models = models_of(task, seeds, schemes)
    an_epoch, x = n // task["batch"], np.concatenate([digits.validation_x, digits.test_x], 1)
    steps, curve, kept = an_epoch * task["epochs"], {scheme: [] for scheme in [None, *schemes]}, []
    every = steps // snapshots if snapshots else steps + 1
    for step, feed in enumerate(digits.batches(task["batch"], task["epochs"])):
        set_rate(models.scope, task["rate"] * (1 - decays * step / steps))
        models.step(**feed)
        for width in widths if (step + 1) % every == 0 or (snapshots and step + 1 == steps) else ():
            scheme = Power(relative_width=width)
            kept.append(Checkpoint(step + 1, models.values(scheme), average=scheme))
        if (step + 1) % an_epoch == 0:
            for scheme, found in curve.items():
                started = scheme is None or scheme.start <= step
                # A tail that has not started is the last iterate.
                found.append(digits.judge(models.outputs(x, scheme if started else None)))
    return {scheme: np.array(found) for scheme, found in curve.items()}, kept, models


def exact(digits):
    """The minimum of the training loss, found by another solver: [3, seeds]."""
    found = []
    for seed in range(len(digits.train_x)):
        solver = LogisticRegression(C=1e6, max_iter=2000).fit(digits.train_x[seed], digits.train_label[seed])
        x = np.concatenate([digits.validation_x[seed], digits.test_x[seed]])
        found.append(x @ solver.coef_.T + solver.intercept_)
    return digits.judge(np.stack(found))

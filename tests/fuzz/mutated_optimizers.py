"""The C library of optimizers: configurations and states. An accepted one trains, and its saved state is accepted."""

import mutations
import numpy as np
from properties import accepted, require

from one_parameter import KINDS
from paddle_mini.optimizer.config import config_class
from paddle_mini.optimizer.native import NativeOptimizer
from server_calls import config

AVERAGES = [
    {"scheme": "uniform", "start_step": 2},
    {"scheme": "exponential", "decay": 0.9},
    {"scheme": "window", "window_max": 4},
]
RATES = [
    {},
    {"lr_policy": "Linear", "linear_lr": {"learning_rate": 0.1, "lr_decay_a": 0.01, "lr_decay_b": 0.05}},
    {"lr_policy": "Manual", "manual_lr": {"learning_rate": 0.1, "segments": [{"bound": 3, "rate": 1.0}]}},
    {"lr_policy": "Cosine", "cosine_lr": {"learning_rate": 0.1, "steps": 10}},
]


class Mutants:
    def __init__(self, folder):
        self.config = config_class()
        self.begin = np.linspace(-1, 1, 6).reshape(3, 2).astype("float32")
        self.gradient = np.full((3, 2), 0.5, "float32")
        self.originals = []
        for i, kind in enumerate(KINDS):
            data = config(kind, averaging=AVERAGES[: i % 4], **RATES[i % 4])
            optimizer = NativeOptimizer(data, self.begin)
            for _ in range(3):
                optimizer.update(self.gradient)
            self.originals.append((self.config.FromString(data), optimizer.state()))
        self.change = mutations.Messages(["Adam", "SGD", "Const"])

    def run(self, rng):
        message, state = rng.choice(self.originals)
        data, which = message.SerializeToString(), rng.randrange(4)
        if which <= 1:
            message = self.config.FromString(data)
            for _ in range(rng.choice((1, 1, 2))):
                self.change.change(rng, message)
            data = message.SerializePartialToString()
        elif which == 2:
            data = mutations.damaged(rng, data)
        if which == 3 or rng.random() < 0.2:
            state = mutations.damaged(rng, state)
        else:
            state = rng.choice((None, state))
        fine, optimizer = accepted(lambda: NativeOptimizer(data, self.begin, state))
        if not fine:
            return False
        accepted(lambda: optimizer.update(self.gradient))
        accepted(lambda: optimizer.update_rows([2, 0, 2], np.ones((3, 2), "float32")))
        accepted(lambda: (optimizer.average(), optimizer.parameter(), optimizer.learning_rate))
        kept = optimizer.state()
        again = NativeOptimizer(data, np.zeros_like(self.begin), kept)
        require(again.state() == kept, "its state is another one when it was taken again")
        return True

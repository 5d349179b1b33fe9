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


def checked(data):
    """The bytes followed by the checksum that the library expects: damage to them then reaches its readers."""
    sums, left = [0xCBF29CE484222325, 1, 2, 3], data[len(data) // 32 * 32 :]
    for at, word in enumerate(np.frombuffer(data[: len(data) - len(left)], "<u8").tolist()):
        sums[at % 4] = mixed(sums[at % 4], word)
    found = mixed(sums[0], len(left))
    for word in [*sums[1:], *(int.from_bytes(left[at : at + 8], "little") for at in range(0, len(left), 8))]:
        found = mixed(found, word)
    return data + found.to_bytes(8, "little")


def mixed(total, word):
    total = (total ^ word) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return total ^ total >> 32


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
        self.changed = [self.with_changes(config(kind, **more)) for kind in ("Adam", "SGD") for more in ({}, {"l2_rate": 0.1})]

    def with_changes(self, data):
        """A configuration, a state, the changes to it and the state with these."""
        optimizer = NativeOptimizer(data, self.begin)
        optimizer.update_rows([1], self.gradient[:1])
        with optimizer.snapshot():
            state = optimizer.state()
        optimizer.update_rows([0, 2], self.gradient[:2])
        with optimizer.snapshot_changes() as changes:
            found = b"".join(bytes(piece) for piece in changes.pieces(1000))
        require(checked(found[:-8]) == found, "the checksum of changes is another one")
        return data, state, found, optimizer.state()

    def run_changes(self, rng):
        """Changes with a checksum that is right: an accepted object has a state that is accepted."""
        data, state, changes, after = rng.choice(self.changed)
        given = checked(mutations.damaged(rng, changes[:-8])) if rng.random() < 0.8 else changes
        fine, optimizer = accepted(lambda: NativeOptimizer(data, self.begin, state, given))
        if fine:
            kept = optimizer.state()
            require(given != changes or kept == after, "the state with its changes is another one")
            require(NativeOptimizer(data, self.begin, kept).state() == kept, "its state is another one when it was taken again")
            accepted(lambda: optimizer.update_rows([2, 0, 2], np.ones((3, 2), "float32")))
        return fine

    def run(self, rng):
        if rng.random() < 0.2:
            return self.run_changes(rng)
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

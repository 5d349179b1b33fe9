# Samples, and functions of samples, for tests of Loader: worker processes import them.
import os
import threading
import time

SENTENCES = [[1, 2, 3], [4], [5, 6], [], [7, 8, 9, 1]]


def doubled(sample):
    return {**sample, "x": 2 * sample["x"]}


def slow_at_first(sample):
    """The first samples take longest, so workers finish out of order."""
    time.sleep(0.02 if sample["y"] < 4 else 0)
    return sample


def noisy(sample, random):
    return {**sample, "x": sample["x"] + random.normal()}


def fails_at_seven(sample):
    if sample["y"] == 7:
        raise KeyError("seven")
    return sample


def dies_at_seven(sample):
    if sample["y"] == 7:
        os._exit(3)
    return sample


def dies_after_seven(sample):
    if sample["y"] == 7:
        threading.Timer(0.2, os._exit, [3]).start()
    return sample


def first_row(batch):
    return {name: value[:1] for name, value in batch.items()}


def unsendable_at_seven(sample):
    return {**sample, "x": lambda: 7} if sample["y"] == 7 else sample


class Feeder:
    """Batches that are lists of their samples."""

    def feed(self, rows):
        return rows

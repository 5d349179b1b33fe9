# Data of the programs of the first day, the same for all frameworks: arrays of NumPy, from fixed seeds.
import numpy as np
from sklearn.datasets import load_digits

WORDS = 200


def line(rows=1200):
    """Two pairs (features float32 [n, 13], target float32 [n, 1]): for training and for testing. The noise has variance 0.25."""
    random = np.random.default_rng(0)
    features = random.normal(size=(rows, 13)).astype("float32")
    target = features @ random.normal(size=(13, 1)) + 0.5 * random.normal(size=(rows, 1))
    return _parts(features, target.astype("float32"), rows * 5 // 6)


def digits(wrong_labels=0.0):
    """Three pairs (images float32 [n, 1, 8, 8] in [0, 1], digits int64 [n]): for training, validation and testing.

    wrong_labels: which part of the labels for training is replaced by random ones.
    """
    random = np.random.default_rng(0)
    images, labels = load_digits(return_X_y=True)
    order = random.permutation(len(labels))
    images, labels = images[order].reshape(-1, 1, 8, 8).astype("float32") / 16, labels[order].astype("int64")
    train, validation, test = _parts(images, labels, 1000, 1300)
    is_wrong = random.random(1000) < wrong_labels
    train[1][is_wrong] = random.integers(0, 10, is_wrong.sum())
    return train, validation, test


def sentences(count=1500):
    """Two lists of (word ids from 1 to WORDS - 1, label), of 3 to 20 words: for training and for testing.

    The label says whether more words are below 20 than from 20 to 39; those from 40 do not matter.
    """
    random = np.random.default_rng(0)
    samples = []
    while len(samples) < count:
        matters = random.random(random.integers(3, 21)) < 0.4
        words = np.where(matters, random.integers(1, 40, matters.shape), random.integers(40, WORDS, matters.shape))
        balance = (words < 20).sum() - ((words >= 20) & (words < 40)).sum()
        if balance != 0:
            samples.append((words.tolist(), int(balance > 0)))
    return samples[: count * 4 // 5], samples[count * 4 // 5 :]


def _parts(inputs, targets, *ends):
    return list(zip(np.split(inputs, ends), np.split(targets, ends)))

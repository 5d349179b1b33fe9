"""Builds the chapters of the book as programs to train, without training them."""

import importlib.util
import pathlib

import pytest

BOOK = pathlib.Path(__file__).resolve().parents[1] / "examples/book"
# Number, arguments, rows of a batch.
CHAPTERS = [
    ("01", [], 20),
    ("02", ["--net", "softmax"], 16),
    ("02", ["--net", "mlp"], 16),
    ("02", ["--net", "cnn"], 16),
    ("03", ["--net", "resnet"], 8),
    ("04", [], 32),
    ("05", [], 16),
    ("06", ["--net", "conv"], 8),
    ("06", ["--net", "lstm"], 8),
    ("06", ["--net", "stacked"], 8),
    ("07", [], 4),
    ("08", [], 8),
]


class Asked(Exception):
    """Carries the arguments of fit() out of a chapter."""


def chapter_to_train(monkeypatch, number, *argv, hidden=None):
    """(samples, feed list, loss, optimizer) of a chapter by its number, in the default programs. hidden: another width
    of its states."""

    def fit(samples, feed_list, loss, optimizer, args, **measures):
        raise Asked(samples, feed_list, loss, optimizer)

    monkeypatch.syspath_prepend(str(BOOK))
    (path,) = BOOK.glob(f"{number}_*.py")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if hidden:
        monkeypatch.setattr(module, "HIDDEN", hidden)
    monkeypatch.setattr(module, "fit", fit)
    with pytest.raises(Asked) as asked:
        module.main(list(argv))
    return asked.value.args

# The chapters of the book, with fewer passes: each learns the structure of its data, and uses the saved model.
import importlib.util
import pathlib

import numpy as np
import pytest

import paddle_mini as pm
from thorough import some, thorough

BOOK = pathlib.Path(__file__).resolve().parents[2] / "examples/book"


@pytest.fixture
def chapter(monkeypatch):
    """The module of a chapter by the beginning of its name."""
    monkeypatch.syspath_prepend(str(BOOK))

    def load(number):
        (path,) = BOOK.glob(f"{number}_*.py")
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


def test_fit_a_line(chapter):
    assert chapter("01").main(["--epochs", "60"]) < 6  # the noise alone has a variance of 4; that of the prices is above 20


@pytest.mark.parametrize("net, epochs, accuracy", [("cnn", 1, 0.8), ("mlp", 3, 0.8), ("softmax", 3, 0.4)])
def test_recognize_digits(chapter, net, epochs, accuracy):
    assert chapter("02").main(["--net", net, "--epochs", str(epochs)]) > accuracy


@thorough
@pytest.mark.parametrize("net, accuracy", [("resnet", 0.8), ("vgg", 0.4)])
def test_image_classification(chapter, net, accuracy):
    assert chapter("03").main(["--net", net, "--epochs", "1"]) > accuracy


def test_word2vec(chapter):
    assert chapter("04").main(["--epochs", "4"]) < 1.6  # guessing has a loss of log 63 = 4.1, the frequencies of words 3.9


def test_recommender_system(chapter):
    assert chapter("05").main(["--epochs", "4"]) < 1.4


@pytest.mark.parametrize("net, epochs, accuracy", some([("conv", 10, 0.88), ("lstm", 4, 0.88), ("stacked", 4, 0.85)], 3))
def test_understand_sentiment(chapter, net, epochs, accuracy):
    assert chapter("06").main(["--net", net, "--epochs", str(epochs)]) > accuracy


def test_label_semantic_roles(chapter):
    assert chapter("07").main(["--epochs", "3"]) > 0.9


@thorough
def test_machine_translation(chapter):
    assert chapter("08").main(["--epochs", "8"]) > 0.7  # the share differs by up to a tenth between levels of CPUs


def test_original_files_and_a_model_that_stays(chapter, tmp_path):
    random = np.random.default_rng(0)
    x = random.normal(size=(100, 13))
    np.savetxt(tmp_path / "housing.data", np.column_stack([x, 20 + x.sum(1)]))
    loss = chapter("01").main(["--data", str(tmp_path), "--epochs", "60", "--out", str(tmp_path / "saved" / "line")])
    assert loss < 1.5
    _, feeds, fetches = pm.io.load_inference_model(tmp_path / "saved" / "line", scope=pm.Scope())
    assert feeds == ["x"] and fetches[0].shape == (-1, 1)

"""nce: the loss that tells labels from classes drawn from a distribution."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op

PORTS = ["Cost", "SampleLogits", "SampleLabels"]
SHARES = np.array([0.5, 0.0, 0.1, 0.1, 0.1, 0.2], "float32")


def alias_table(shares):
    """Walker's: each column keeps a class with some probability and else gives another one."""
    kept, other = np.ones(len(shares), "float32"), np.full(len(shares), -1, "int32")
    left = {i: float(share) * len(shares) for i, share in enumerate(shares)}
    while len(left) > 1:
        least, most = min(left, key=left.get), max(left, key=left.get)
        kept[least], other[least] = left[least], most
        left[most] -= 1 - left.pop(least)
    return {"CustomDistProbs": shares, "CustomDistAlias": other, "CustomDistAliasProbs": kept}


def probabilities(inputs, attrs):
    classes = attrs["num_total_classes"]
    numbers = np.arange(classes)
    uniform = np.full(classes, 1 / classes)
    logarithmic = np.log((numbers + 2) / (numbers + 1)) / np.log(max(classes, 2))
    return [uniform, logarithmic, inputs.get("CustomDistProbs")][attrs["sampler"]]


def cost(inputs, attrs, samples):
    logits = np.einsum("ik,ijk->ij", inputs["Input"], inputs["Weight"][samples])
    logits = logits + inputs["Bias"].reshape(-1)[samples] if "Bias" in inputs else logits
    mine = 1 / (1 + np.exp(-logits))
    noise = attrs["num_neg_samples"] * probabilities(inputs, attrs)[samples]
    labels = samples.shape[1] - attrs["num_neg_samples"]
    terms = -np.log(np.where(np.arange(samples.shape[1]) < labels, mine, noise) / (mine + noise))
    weights = inputs.get("SampleWeight", np.ones(1)).reshape(-1, 1)
    return {"Cost": terms.sum(1, keepdims=True) * weights, "SampleLogits": mine, "SampleLabels": samples}


def reference(inputs, attrs):
    """With the classes that this seed gives."""
    given = {port: value for port, value in inputs.items() if port.startswith("Custom") or port == "Label"}
    rows, width = inputs["Input"].shape
    floats = {"Input": np.zeros((rows, width)), "Weight": np.zeros((attrs["num_total_classes"], width))}
    return cost(inputs, attrs, run_op("nce", {**given, **floats}, attrs, PORTS)["SampleLabels"])


def given(rows=3, width=2, labels=2, classes=6, **others):
    inputs = {"Input": array(rows, width), "Label": ints(rows, labels, high=classes), "Weight": array(classes, width, seed=1)}
    return {**inputs, **others}


def of(sampler=0, classes=6, drawn=3, **others):
    return {"num_total_classes": classes, "num_neg_samples": drawn, "sampler": sampler, "seed": 5, **others}


BIAS, WEIGHTS, CUSTOM = {"Bias": array(6, 1, seed=2)}, {"SampleWeight": array(3, 1, seed=3)}, alias_table(SHARES)

test_nce = op_tests(
    "nce",
    reference,
    cases={
        "equal probabilities": (given(), of()),
        "logarithmic": (given(**BIAS), of(1)),
        "weights": (given(**BIAS, **WEIGHTS), of(drawn=1)),
        "custom": (given(labels=1, **WEIGHTS, **CUSTOM), of(2)),
        "one label": (given(labels=1), of()),
        "one element": (given(1, 1, 1, 1), of(classes=1, drawn=1)),
        "one class, logarithmic": (given(1, 1, 1, 2), of(1, 2)),
        "no rows": (given(0), of()),
    },
    gradients=["Input", "Weight", "Bias"],
    gradient_of=["Cost"],
    refusals={
        "no such class": ({**given(), "Label": np.full((3, 2), 6)}, of(), pm.OpError, "label 6 element 0 6 classes"),
        "classes": (given(), of(classes=5), pm.ShapeError, "Weight [6, 2] [5, 2]"),
        "bias": (given(Bias=array(5, 1)), of(), pm.ShapeError, "Bias [5, 1] 6"),
        "label rows": ({**given(), "Label": ints(2, 2)}, of(), pm.ShapeError, "Label [2, 2] 3 rows"),
        "labels without columns": ({**given(), "Label": ints(3, high=6)}, of(), pm.ShapeError, "Label 1 2"),
        "narrow labels": ({**given(), "Label": ints(3, 2, dtype="int32")}, of(), pm.ShapeError, "Label int32 int64"),
        "sampler": (given(), of(3), pm.ProgramError, "'sampler' 3"),
        "no distribution": (given(), of(2), pm.ProgramError, "CustomDistProbs 2"),
        "a distribution too many": (given(**CUSTOM), of(), pm.ProgramError, "CustomDistProbs"),
        "negative probability": (
            given(**{**CUSTOM, "CustomDistProbs": -SHARES}),
            of(2),
            pm.OpError,
            "CustomDistProbs -0.5 element 0",
        ),
        "no such alias": (
            given(**{**CUSTOM, "CustomDistAlias": np.full(6, 6, "int32")}),
            of(2),
            pm.OpError,
            "CustomDistAlias 6 element 0",
        ),
    },
)


def test_the_same_numbers_as_paddlepaddle():
    """A seed gives the same ones: both draw with the standard library's generator. The expected ones are PaddlePaddle 2.6.2's."""
    label = np.array([[1, 2], [3, 1], [0, 1]])
    for sampler, expected in ((0, [[0, 0], [2, 0], [2, 5]]), (1, [[0, 0], [1, 0], [0, 4]])):
        found = run_op("nce", given(Label=label), of(sampler, drawn=2) | {"seed": 1}, PORTS)["SampleLabels"]
        np.testing.assert_array_equal(found, np.concatenate([label, expected], 1))


@pytest.mark.parametrize("sampler", [0, 1, 2])
def test_classes_are_drawn_from_the_distribution(sampler):
    attrs, custom = of(sampler, drawn=200), CUSTOM if sampler == 2 else {}
    found = run_op("nce", given(rows=100, labels=1, **custom), attrs, PORTS)["SampleLabels"][:, 1:]
    wanted = probabilities(custom, attrs)
    if sampler == 1:  # exp(u log(6)) - 1 without its fraction is below 5: its last class is never drawn
        wanted = np.log(np.arange(2, 8) / np.arange(1, 7)) / np.log(6) * (np.arange(6) < 5)
    np.testing.assert_allclose(np.bincount(found.ravel(), minlength=6) / found.size, wanted, atol=0.018)  # five deviations

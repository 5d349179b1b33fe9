"""class_center_sample: the classes of a batch and some others, as numbers from 0."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import ints, op_tests, run_op

LABEL = np.array([11, 5, 1, 3, 12, 2, 15, 19, 18, 19])


def reference(inputs, attrs):
    classes, places = np.unique(inputs["Label"], return_inverse=True)
    return {"RemappedLabel": places.astype(inputs["Label"].dtype), "SampledLocalClassCenter": classes}


def of(classes, samples, **others):
    return {"num_classes": classes, "num_samples": samples, **others}


test_class_center_sample = op_tests(
    "class_center_sample",
    reference,
    cases={
        "as many as there are": ({"Label": LABEL}, of(20, 9)),
        "more than there are": ({"Label": LABEL.astype("int32")}, of(20, 6)),
        "none": ({"Label": ints(0)}, of(3, 0)),
        "one element": ({"Label": np.array([7])}, of(8, 1)),
    },
    open_shapes=True,
    refusals={
        "no such class": ({"Label": LABEL}, of(19, 3), pm.OpError, "Label 19 element 7 19 classes"),
        "negative": ({"Label": -LABEL}, of(20, 3), pm.OpError, "Label -11 element 0"),
        "too many samples": ({"Label": LABEL}, of(20, 21), pm.ProgramError, "num_samples 21 20"),
        "other devices": ({"Label": LABEL}, of(20, 9, nranks=2), pm.ProgramError, "nranks 2"),
        "a matrix": ({"Label": LABEL[:, None]}, of(20, 9), pm.ShapeError, "Label 2 1"),
    },
)


def test_the_same_numbers_as_paddlepaddle():
    """A seed gives the same ones: both draw with the standard library's generator. The expected ones are PaddlePaddle 2.6.2's."""
    ports = ["RemappedLabel", "SampledLocalClassCenter"]
    found = run_op("class_center_sample", {"Label": np.array([1, 5, 1, 3])}, of(20, 6, fix_seed=True, seed=3), ports)
    np.testing.assert_array_equal(found["RemappedLabel"], [0, 2, 0, 1])
    np.testing.assert_array_equal(found["SampledLocalClassCenter"], [1, 3, 5, 11, 6, 7])


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_other_classes_are_different_and_equally_likely(dtype):
    label, counts = np.array([2, 5, 2], dtype), np.zeros(10)
    for seed in range(1, 2001):
        attrs = of(10, 6, fix_seed=True, seed=seed)
        found = run_op("class_center_sample", {"Label": label}, attrs, ["SampledLocalClassCenter"])["SampledLocalClassCenter"]
        assert found.dtype == dtype and len(set(found.tolist())) == 6 and found[:2].tolist() == [2, 5]
        counts[found[2:]] += 1
    np.testing.assert_allclose(counts[[0, 1, 3, 4, 6, 7, 8, 9]] / 2000, 0.5, atol=0.06)  # five deviations

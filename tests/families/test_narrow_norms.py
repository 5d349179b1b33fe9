"""Normalizations in mixed precision: X of 16 bits beside factors and statistics of float32."""

import numpy as np
import pytest

import paddle_mini as pm
from bfloat16 import bits_of, numbers_of
from harness import array, run_op

X = array(4, 6, 3, 3, low=-2, high=3).astype("float32")
FACTORS = {"Scale": array(6, low=0.5, high=2, seed=1), "Bias": array(6, seed=2)}
RUNNING = {"Mean": array(6, seed=3), "Variance": array(6, low=0.5, high=2, seed=4)}
# The operator, its other inputs, its attributes, and its outputs that are statistics.
NORMS = {
    "batch_norm": (FACTORS | RUNNING, {}, ["MeanOut", "VarianceOut", "SavedMean", "SavedVariance"]),
    "layer_norm": ({"Scale": array(9, seed=5), "Bias": array(9, seed=6)}, {"begin_norm_axis": 2}, ["Mean", "Variance"]),
    "group_norm": (FACTORS, {"groups": 3}, ["Mean", "Variance"]),
    "instance_norm": (FACTORS, {}, ["SavedMean", "SavedVariance"]),
}


def float32(inputs):
    return {port: np.asarray(value, "float32") for port, value in inputs.items()}


def run_norm(op, x, others):
    _, attrs, statistics = NORMS[op]
    return run_op(op, {"X": x, **float32(others)}, attrs, ["Y", *statistics])


@pytest.mark.parametrize("op", NORMS)
def test_statistics_are_float32_and_exact(op):
    others, _, statistics = NORMS[op]
    narrow = bits_of(X)
    found, wide = run_norm(op, narrow, others), run_norm(op, numbers_of(narrow), others)
    for port in statistics:
        assert found[port].dtype == np.float32
        np.testing.assert_array_equal(found[port], wide[port])
    np.testing.assert_array_equal(found["Y"], bits_of(wide["Y"]))


@pytest.mark.parametrize("op", NORMS)
def test_gradients_of_the_factors_are_float32(op):
    others, attrs, statistics = NORMS[op]
    narrow, upstream = bits_of(X), bits_of(array(*X.shape, seed=9))
    saved = run_norm(op, narrow, others)
    takes = {port["name"] for port in pm.schemas.op_schema(f"{op}_grad")["inputs"]}
    outputs = ["X@GRAD", "Scale@GRAD", "Bias@GRAD"]

    def gradients(as_read):
        values = {**float32(others), **{port: saved[port] for port in statistics}}
        values |= {"X": as_read(narrow), "Y": as_read(saved["Y"]), "Y@GRAD": as_read(upstream)}
        return run_op(f"{op}_grad", {port: values[port] for port in values if port in takes}, attrs, outputs)

    found, wide = gradients(lambda bits: bits), gradients(numbers_of)
    for port in ("Scale@GRAD", "Bias@GRAD"):
        assert found[port].dtype == np.float32
        np.testing.assert_array_equal(found[port], wide[port])
    np.testing.assert_array_equal(found["X@GRAD"], bits_of(wide["X@GRAD"]))


@pytest.mark.parametrize("op", NORMS)
@pytest.mark.parametrize("x, factor", [("float32", "float64"), ("float64", "float32"), ("uint16", "float64")])
def test_other_mixtures_are_refused(op, x, factor):
    others, attrs, _ = NORMS[op]
    values = bits_of(X) if x == "uint16" else X.astype(x)
    with pytest.raises(pm.ShapeError, match="X is (float32|float64|bfloat16), Scale is float"):
        run_op(op, {"X": values, **{port: np.asarray(value, factor) for port, value in others.items()}}, attrs)

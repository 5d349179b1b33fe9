"""parameter_average: AverageOut = Average + Weight (Param - Average)."""
import numpy as np
import paddle_mini as pm
import pytest
from harness import array, op_tests, run_op


def reference(inputs, attrs):
    result = inputs["Average"] + inputs["Weight"].reshape(()) * (inputs["Param"] - inputs["Average"])
    if "Roll" not in inputs:
        return {"AverageOut": result}
    if inputs["Roll"].all():
        return {"AverageOut": inputs["Average"], "PreviousOut": result}
    return {"AverageOut": result, "PreviousOut": inputs["Previous"]}


def step(*shape, weight=0.25, roll=None):
    inputs = {"Param": array(*shape), "Average": array(*shape, seed=1), "Weight": np.full(1, weight)}
    if roll is not None:
        inputs.update(Previous=array(*shape, seed=2), Roll=np.full(1, roll, "int32"))
    return inputs


test_parameter_average = op_tests(
    "parameter_average",
    reference,
    cases={
        "matrix": (step(5, 7), {}),
        "no weight": (step(40, weight=0.0), {}),
        "all weight": (step(40, weight=1.0), {}),
        "in a generation": (step(5, 7, roll=0), {}),
        "at its end": (step(5, 7, roll=1), {}),
        "a generation of one": (step(5, 7, weight=1.0, roll=1), {}),
        "no weight in a generation": (step(5, 7, weight=0.0, roll=0), {}),
        "one element": (step(), {}),
        "no rows": (step(0, 4, roll=1), {}),
    },
    refusals={
        "other shape": ({**step(3), "Average": array(4)}, {}, pm.ShapeError, "Param [3] Average [4]"),
        "other dtype": ({**step(3), "Average": array(3).astype("float32")}, {}, pm.ShapeError, "Average float32"),
        "two weights": ({**step(3), "Weight": array(2)}, {}, pm.ShapeError, "Weight [2] one element"),
        "whole weight": ({**step(3), "Weight": np.array([1])}, {}, pm.ShapeError, "Weight int64"),
        "roll without previous": ({**step(3), "Roll": np.zeros(1, "int32")}, {}, pm.ProgramError,
                                  "Previous Roll PreviousOut"),
    },
)


def test_three_roundings():
    # Multiplied and added apart, so that every device gives the same bits.
    p, a = array(1000).astype("float32"), array(1000, seed=1).astype("float32")
    out = run_op("parameter_average", {"Param": p, "Average": a, "Weight": np.array([1 / 3])}, outputs=["AverageOut"])
    np.testing.assert_array_equal(out["AverageOut"], a + np.float32(1 / 3) * (p - a))


def test_all_weight_gives_the_bits_of_the_parameter():
    p = np.array([1e-30, np.nan, -0.0, np.inf, 3], "float32")
    out = run_op("parameter_average", {"Param": p, "Average": np.full(5, 1e30, "float32"), "Weight": np.ones(1)})
    np.testing.assert_array_equal(out["AverageOut"].view("int32"), p.view("int32"))


def test_no_weight_reads_no_parameter():
    p, a = np.array([np.nan, np.inf, 1], "float32"), np.array([1, -0.0, np.nan], "float32")
    out = run_op("parameter_average", {"Param": p, "Average": a, "Weight": np.zeros(1)})
    np.testing.assert_array_equal(out["AverageOut"].view("int32"), a.view("int32"))


@pytest.mark.parametrize("weight", [1e-9, 0.1, 0.5, 0.999999])
def test_a_parameter_that_stays_is_its_average_bit_for_bit(weight):
    p = array(1000).astype("float32")
    out = run_op("parameter_average", {"Param": p, "Average": p, "Weight": np.array([weight])})
    np.testing.assert_array_equal(out["AverageOut"], p)

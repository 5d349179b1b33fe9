"""fake_quantize_dequantize_abs_max and its kind: X as a quantized model would round it, with scales by its largest size."""

import numpy as np
import pytest

import paddle_mini as pm
from families.quantization import HALVES, X, by_channel, dequantized, kept, largest, moved, quantized
from harness import array, ints, op_tests, run_op


def rounded(x, scale, attrs):
    return dequantized(quantized(x, scale, attrs), scale, attrs)


def by_largest(inputs, attrs):
    x, axis = inputs["X"], attrs.get("quant_axis", -1)
    scale = largest(x, axis)
    return {"Out": rounded(x, by_channel(scale, x, axis), attrs), "OutScale": scale}


def by_average(inputs, attrs):
    if attrs["is_test"]:
        return {"Out": rounded(inputs["X"], inputs["InScale"], attrs), "OutScale": inputs["InScale"], **kept(inputs)}
    after = moved(inputs, attrs["moving_rate"])
    return {"Out": rounded(inputs["X"], after["OutScale"], attrs), **after}


def observed(inputs, attrs):
    if not attrs["is_test"]:
        return {"Out": inputs["X"], **moved(inputs, attrs["moving_rate"])}
    scale = {"OutScale": inputs["InAccum"] / inputs["InState"]} if "InState" in inputs else {}
    return {"Out": inputs["X"], **scale, **kept(inputs)}


CASES = {
    "away from zero": ({"X": HALVES}, {}),
    "to even numbers": ({"X": HALVES}, {"round_type": 0}),
    "four bits": (X, {"bit_length": 4}),
    "one element": ({"X": array(1, 1)}, {}),
    "zeros": ({"X": np.zeros((2, 3))}, {}),
}

test_fake_quantize_dequantize_abs_max = op_tests(
    "fake_quantize_dequantize_abs_max",
    by_largest,
    cases={},
    values_only={**CASES, "no elements": ({"X": array(0, 3)}, {})},
    refusals={
        "one bit": (X, {"bit_length": 1}, pm.ProgramError, "bit_length 1"),
        "rounding of no kind": (X, {"round_type": 2}, pm.ProgramError, "round_type 2"),
        "integers": ({"X": ints(3)}, {}, pm.Error, "int64"),
    },
)

test_fake_channel_wise_quantize_dequantize_abs_max = op_tests(
    "fake_channel_wise_quantize_dequantize_abs_max",
    by_largest,
    cases={},
    values_only={**CASES, "second axis": ({"X": array(2, 3, 4, 2)}, {"quant_axis": 1}), "no channels": ({"X": array(0, 3)}, {})},
    refusals={
        "third axis": (X, {"quant_axis": 2}, pm.ProgramError, "quant_axis 2"),
        "fewer dimensions": ({"X": array(3)}, {"quant_axis": 1}, pm.ShapeError, "quant_axis 1 X 1"),
    },
)

STATE = {"InAccum": np.array([20.0]), "InState": np.array([2.0])}
MOVING = {**X, **STATE, "InScale": np.array([1.5])}

test_fake_quantize_dequantize_moving_average_abs_max = op_tests(
    "fake_quantize_dequantize_moving_average_abs_max",
    by_average,
    cases={},
    values_only={
        "training": (MOVING, {}),
        "another rate": ({**MOVING, "X": HALVES}, {"moving_rate": 0.5, "round_type": 0, "bit_length": 5}),
        "test": (MOVING, {"is_test": True}),
        "test without state": ({**X, "InScale": np.array([1.5])}, {"is_test": True}),
        "no elements": ({**MOVING, "X": array(0, 3)}, {}),
    },
    refusals={
        "no state": ({**X, "InScale": np.array([1.5])}, {}, pm.ProgramError, "InAccum is_test"),
        "two scales": ({**MOVING, "InScale": np.ones(2)}, {}, pm.ShapeError, "InScale [2]"),
        "two types": ({**MOVING, "InScale": np.ones(1, "float32")}, {}, pm.ShapeError, "InScale float32 float64"),
    },
)

test_moving_average_abs_max_scale = op_tests(
    "moving_average_abs_max_scale",
    observed,
    cases={},
    values_only={
        "training": ({**X, **STATE}, {}),
        "another rate": ({**X, **STATE}, {"moving_rate": 0.5}),
        "test": ({**X, **STATE}, {"is_test": True}),
        "test without state": (X, {"is_test": True}),
        "no elements": ({**STATE, "X": array(0, 3)}, {}),
    },
    refusals={"no state": (X, {}, pm.ProgramError, "InAccum is_test")},
)


def test_the_gradient_is_that_of_numbers_that_are_not_rounded():
    gradient = array(3, 4)
    result = run_op("stright_throuth_estimator_grad", {"Out@GRAD": gradient}, outputs={"X@GRAD": 1})
    np.testing.assert_array_equal(result["X@GRAD"], gradient)
    block = pm.default_main_program().global_block()
    x = pm.layers.data("x", [3, 4], dtype="float64")
    out, scale = (block.create_var(name=name, dtype="float64") for name in ("out", "scale"))
    block.append_op("fake_quantize_dequantize_abs_max", {"X": [x]}, {"Out": [out], "OutScale": [scale]})
    (for_x,) = pm.gradients(pm.layers.reduce_sum(pm.layers.square(out)), x)
    value, rounded_x = pm.Executor().run(feed={"x": gradient}, fetch_list=[for_x, out])
    np.testing.assert_allclose(value, 2 * rounded_x)


@pytest.mark.parametrize("after, before", [("OutAccum", "InAccum"), ("OutState", "InState")])
def test_a_state_that_no_input_gives_is_refused(after, before):
    """With is_test it was never written, and had whatever was in memory."""
    block = pm.default_main_program().global_block()
    outputs = {port: [block.create_var(port, dtype="float32")] for port in ("Out", "OutScale", after)}
    inputs = {"X": [pm.layers.data("x", [3, 4])], "InScale": [pm.layers.data("scale", [1])]}
    for op_type, given in (
        ("fake_quantize_dequantize_moving_average_abs_max", inputs),
        ("moving_average_abs_max_scale", {"X": inputs["X"]}),
    ):
        with pytest.raises(pm.ProgramError, match=f"{after} is given without {before}"):
            block.append_op(op_type, given, outputs, {"is_test": True})

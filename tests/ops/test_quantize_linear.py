"""quantize_linear: the integers of X in a quantized model; dequantize_linear: the numbers of these integers."""

import numpy as np

import paddle_mini as pm
from families.quantization import HALVES, X, by_channel, dequantized, kept, largest, moved, quantized
from harness import array, ints, op_tests


def quantize(inputs, attrs):
    x, axis = inputs["X"], attrs["quant_axis"]
    after = {"OutScale": inputs["Scale"], **kept(inputs)}
    if not attrs["is_test"]:
        after |= {"OutScale": largest(x, axis)} if axis >= 0 else moved(inputs, 0.9)
    scale = after["OutScale"]
    return {"Y": x if attrs["only_observer"] else quantized(x, by_channel(scale, x, axis), attrs), **after}


def dequantize(inputs, attrs):
    x, axis = inputs["X"], attrs["quant_axis"]
    y = x.astype("float64") if attrs["only_observer"] else dequantized(x, by_channel(inputs["Scale"], x, axis), attrs)
    return {"Y": y, "OutScale": inputs["Scale"], **kept(inputs)}


def with_scale(x, scale):
    return {**x, "Scale": np.array(scale, "float64"), "ZeroPoint": np.zeros(len(scale))}


TEST, ONE = {"is_test": True}, {"quant_axis": -1}
WHOLE, CHANNELS = with_scale(X, [1.5]), with_scale(X, [1.5, 0.5, 2.0])
STATE = {"InAccum": np.array([20.0]), "InState": np.array([2.0])}

test_quantize_linear = op_tests(
    "quantize_linear",
    quantize,
    cases={},
    values_only={
        "one scale": (WHOLE, {**TEST, **ONE}),
        "away from zero": (with_scale({"X": HALVES}, [127.0]), {**TEST, **ONE, "round_type": 1}),
        "to even numbers": (with_scale({"X": HALVES}, [127.0]), {**TEST, **ONE}),
        "channels": (CHANNELS, TEST),
        "second axis, four bits": (
            with_scale({"X": array(2, 3, 4)}, [1.5, 0.5, 2.0]),
            {**TEST, "quant_axis": 1, "bit_length": 4},
        ),
        "training, one scale": ({**WHOLE, **STATE}, ONE),
        "training, channels": ({**CHANNELS, **STATE}, {}),
        "test with a state": ({**WHOLE, **STATE}, {**TEST, **ONE}),
        "only observed": ({**WHOLE, **STATE}, {**ONE, "only_observer": True}),
        "one element": (with_scale({"X": array(1, 1)}, [1.5]), TEST),
        "no channels": (with_scale({"X": array(0, 3)}, []), {}),
    },
    refusals={
        "no state": (WHOLE, ONE, pm.ProgramError, "InAccum is_test"),
        "one scale for three channels": (WHOLE, TEST, pm.ShapeError, "Scale [1] [3]"),
        "an axis that X does not have": (CHANNELS, {**TEST, "quant_axis": 2}, pm.ShapeError, "quant_axis 2 X 2"),
        "two types": ({**WHOLE, "Scale": np.ones(1, "float32")}, {**TEST, **ONE}, pm.ShapeError, "Scale float32 float64"),
    },
)

test_dequantize_linear = op_tests(
    "dequantize_linear",
    dequantize,
    cases={},
    values_only={
        "one scale": ({**WHOLE, **STATE}, ONE),
        "channels": (CHANNELS, {}),
        "int8": ({**CHANNELS, "X": ints(3, 4, dtype="int8")}, {}),
        "four bits": (WHOLE, {**ONE, "bit_length": 4}),
        "only observed": (CHANNELS, {"only_observer": True}),
        "one element": (with_scale({"X": array(1, 1)}, [1.5]), {}),
        "no channels": (with_scale({"X": array(0, 3)}, []), {}),
    },
    refusals={"one scale for three channels": (WHOLE, {}, pm.ShapeError, "Scale [1] [3]")},
)

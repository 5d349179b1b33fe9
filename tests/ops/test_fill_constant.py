"""fill_constant: Out = value, everywhere."""

import numpy as np

import paddle_mini as pm
from harness import op_tests

NAMES = {0: "bool", 1: "int16", 2: "int32", 3: "int64", 5: "float32", 6: "float64", 20: "uint8", 21: "int8"}


def reference(inputs, attrs):
    dtype = NAMES[attrs["dtype"]]
    value = attrs["str_value"] or attrs["value"]
    if attrs["str_value"]:
        value = int(value) if dtype.startswith("int") and value.lstrip("-").isdigit() else float(value)
    elif dtype.startswith("float"):
        value = np.float32(value)
    return {"Out": np.full(attrs["shape"], value, dtype)}


test_fill_constant = op_tests(
    "fill_constant",
    reference,
    cases={
        "nothing said": ({}, {}),
        "value": ({}, {"shape": [2, 3], "value": 0.1}),
        "FLOAT as float64": ({}, {"shape": [2], "value": 0.1, "dtype": 6}),
        "digits as float64": ({}, {"shape": [2], "value": 0.1, "str_value": "0.1", "dtype": 6}),
        "digits as int64": ({}, {"shape": [2], "str_value": "9007199254740993", "dtype": 3}),
        "a fraction as int64": ({}, {"shape": [2], "str_value": "-2.75", "dtype": 3}),
        "inf": ({}, {"shape": [2], "str_value": "inf"}),
        "-inf": ({}, {"shape": [2], "str_value": "-inf", "dtype": 6}),
        "nan": ({}, {"shape": [2], "str_value": "nan"}),
        "smallest int64": ({}, {"shape": [1], "value": -float(1 << 63), "dtype": 3}),
        **{name: ({}, {"shape": [3], "value": 1.0, "dtype": number}) for number, name in NAMES.items()},
        "on the CPU": ({}, {"shape": [1], "value": 1.0, "force_cpu": True}),
        "no rows": ({}, {"shape": [0, 4], "value": 1.0}),
    },
    refusals={
        "unknown size": ({}, {"shape": [-1, 2]}, pm.ProgramError, "shape [-1, 2]"),
        "no number": ({}, {"str_value": "one"}, pm.ProgramError, "str_value one"),
        "digits and more": ({}, {"str_value": "1 apple"}, pm.ProgramError, "str_value apple"),
        "too large": ({}, {"value": 300.0, "dtype": 20}, pm.ProgramError, "300 uint8"),
        "too small": ({}, {"str_value": "-1e19", "dtype": 3}, pm.ProgramError, "-1e+19 int64"),
        "nan as an integer": ({}, {"str_value": "nan", "dtype": 2}, pm.ProgramError, "nan int32"),
        "no such type": ({}, {"dtype": 7}, pm.ProgramError, "dtype 7"),
        "too many elements": ({}, {"shape": [1 << 40, 1 << 40]}, pm.ShapeError, "too many"),
    },
)

"""Element types are checked while a program is built: the error names the user's line and the allowed types."""

import numpy as np
import pytest

import paddle_mini as pm
from paddle_mini._core import op_schema

L = pm.layers


@pytest.mark.parametrize(
    "build, types",
    [
        (lambda x: L.relu(x("int64")), "float32, float64"),
        (lambda x: L.exp(x("bool")), "float32, float64"),
        (lambda x: L.log_softmax(x("int64")), "float32, float64"),
        (lambda x: L.softmax(x("int32")), "float32, float64"),
        (lambda x: L.mean(x("bool")), "float32, float64"),
        (lambda x: L.relu(x("int64") + 1), "float32, float64"),
    ],
)
def test_a_layer_refuses_an_element_type_without_kernel(build, types):
    before = pm.default_startup_program().to_bytes()
    with pytest.raises(pm.ShapeError) as raised:
        build(
            lambda dtype, shape=(4, 4): L.data(
                f"x_{dtype}_{len(pm.default_main_program().global_block().vars)}", shape, dtype=dtype
            )
        )
    lines = str(raised.value).splitlines()
    assert "no kernel for " in lines[0] and types in lines[0]
    assert "\n  added at tests/layers/test_element_types.py:" in str(raised.value) and len(lines) <= 12
    assert pm.default_startup_program().to_bytes() == before


def one_input(op_type):
    schema = op_schema(op_type)
    return (
        len([port for port in schema["inputs"] if not port["optional"]]) == 1
        and schema["has_kernels"]
        and schema["dtypes"]
        and not any(attr["required"] for attr in schema["attrs"])
        and not schema["inputs"][0]["list"]
    )


def test_every_operator_of_one_input_says_which_element_types_it_has():
    """An operator's own types are never rejected for their type, and all others are."""
    refused = 0
    for name in (name for name in L.__all__ if getattr(getattr(L, name), "__module__", "") == "paddle_mini.layers.ops"):
        function = getattr(L, name)
        if not one_input(function.__qualname__):
            continue
        schema = op_schema(function.__qualname__)
        types = schema["dtypes"] + schema["widened"]
        for dtype in ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"):
            x = L.data(f"{name}_{dtype}", [2, 4, 4, 4], dtype=dtype)
            try:
                function(x)
            except pm.Error as error:
                if dtype not in types:
                    refused += "; there are kernels for " + ", ".join(types) in str(error)
                else:
                    assert "no kernel" not in str(error)
            else:
                assert dtype in types, (name, dtype)
    assert refused > 30


def test_a_program_of_a_file_is_refused_when_it_runs():
    y = L.relu(L.data("x", [4]))
    description = pm.default_main_program().describe()
    for var in description["blocks"][0]["vars"]:
        var["dtype"] = "int64"
    program = pm.Program.from_bytes(pm._core.encode_program(description))
    program.clone(for_test=True).prune(["x"], [y.name])
    with pytest.raises(pm.OpError, match="no kernel for int64 on cpu"):
        pm.Executor().run(program, {"x": np.ones(4, "int64")}, [y.name])

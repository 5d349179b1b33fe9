"""coalesce_tensor: concatenates tensors in one buffer."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, op_tests
from paddle_mini.testing.one_op import OneOp

FLOAT32 = 5


def pages(numel, attrs, itemsize):
    size = attrs["user_defined_size_of_dtype"] if attrs["user_defined_size_of_dtype"] > 0 else itemsize
    page = attrs["align_size"] if attrs["align_size"] > 0 else 4096
    return -(-numel * size // page) * page // size if attrs["use_align"] else numel


def reference(inputs, attrs):
    dtype = {2: "int32", 5: "float32", 6: "float64"}[attrs["dtype"]]
    copies, constant = attrs["copy_data"], attrs["constant"] if attrs["set_constant"] else 0
    outputs = [x.astype(dtype) if copies else np.full(x.shape, constant, dtype) for x in inputs["Input"]]
    fused = [
        np.pad(out.ravel(), (0, pages(out.size, attrs, out.itemsize) - out.size), constant_values=0 if copies else constant)
        for out in outputs
    ]
    return {"Output": outputs, "FusedOutput": np.concatenate(fused)}


def pieces(dtype):
    return {"Input": [array(*shape, low=-9, high=9).astype(dtype) for shape in ((2, 3), (5,), (), (1, 4, 70))]}


CASES = {
    f"{dtype}, {name}": (pieces(dtype), {"dtype": number, **attrs})
    for dtype, number in (("float32", 5), ("float64", 6), ("int32", 2))
    for name, attrs in {
        "copied": {"copy_data": True, "use_align": False},
        "copied to pages": {"copy_data": True},
        "pages of another size": {"copy_data": True, "align_size": 256},
        "pages of odd size": {"copy_data": True, "align_size": 7},
        "constant": {"set_constant": True, "constant": 2.5 if dtype != "int32" else 2.0},
        "copying goes before a constant": {"copy_data": True, "set_constant": True, "constant": 3.0},
        "neither": {},
        "elements of another size": {"copy_data": True, "align_size": 64, "user_defined_size_of_dtype": 2},
    }.items()
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("aliased", [False, True])
def test_values(case, aliased):
    inputs, attrs = CASES[case]
    one = OneOp("coalesce_tensor", inputs, attrs, {"Output": 4, "FusedOutput": 1}, aliased=aliased)
    found = one.run()
    given = {
        "copy_data": False,
        "set_constant": False,
        "constant": 0.0,
        "use_align": True,
        "align_size": -1,
        "user_defined_size_of_dtype": -1,
        **attrs,
    }
    expected = reference(inputs, given)
    for one_found, one_expected in zip([*found["Output"], found["FusedOutput"]], [*expected["Output"], expected["FusedOutput"]]):
        assert one_found.dtype == one_expected.dtype and one_found.shape == one_expected.shape
        np.testing.assert_array_equal(one_found, one_expected)


def test_persistent_outputs_keep_their_values():
    inputs = pieces("float32")
    found = OneOp(
        "coalesce_tensor", inputs, {"dtype": FLOAT32, "persist_output": True, "align_size": 64}, {"Output": 4, "FusedOutput": 1}
    ).run()
    for kept, given in zip(found["Output"], inputs["Input"]):
        np.testing.assert_array_equal(kept, given)
    np.testing.assert_array_equal(found["FusedOutput"][:6], inputs["Input"][0].ravel())


ONE = {"Input": [array(2, 3).astype("float32")]}

test_coalesce_tensor = op_tests(
    "coalesce_tensor",
    reference,
    # `dtype` does not follow the harness from one float type to the other: integers here, floats above.
    cases={
        "integers": (pieces("int32"), {"dtype": 2, "copy_data": True, "align_size": 64}),
        "one element": ({"Input": [np.array(7, "int32")]}, {"dtype": 2, "copy_data": True, "use_align": False}),
    },
    refusals={
        "no elements": ({"Input": [array(0, 3).astype("float32")]}, {"dtype": FLOAT32}, pm.ShapeError, "[0, 3] empty"),
        "no dtype": (ONE, {}, pm.ProgramError, "dtype missing"),
        "other dtype": (ONE, {"dtype": 6}, pm.ShapeError, "float32 float64"),
        "fraction as an integer": (
            {"Input": [np.ones(2, "int32")]},
            {"dtype": 2, "set_constant": True, "constant": float("nan")},
            pm.ProgramError,
            "nan int32",
        ),
        "elements of no size": (
            ONE,
            {"dtype": FLOAT32, "user_defined_size_of_dtype": 0},
            pm.ProgramError,
            "user_defined_size_of_dtype 0",
        ),
    },
)


def test_persistent_outputs_of_other_variables_are_refused():
    with pytest.raises(pm.ProgramError, match="persist_output"):
        OneOp(
            "coalesce_tensor", ONE, {"dtype": FLOAT32, "persist_output": True}, {"Output": 1, "FusedOutput": 1}, aliased=False
        ).run()

"""set_value: replaces a part of a tensor by a value."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op


def reference(inputs, attrs):
    out = inputs["Input"].copy()
    where = [slice(None)] * out.ndim
    steps = attrs["steps"] or [1] * len(attrs["axes"])
    for axis, start, end, step in zip(attrs["axes"], attrs["starts"], attrs["ends"], steps):
        where[axis] = slice(start, end, step)
    for axis in attrs["decrease_axes"]:
        where[axis] = attrs["starts"][attrs["axes"].index(axis)]
    for axis in sorted(attrs["none_axes"], reverse=True):
        where.insert(axis, None)
    value = inputs.get("ValueTensor")
    out[tuple(where)] = np.reshape(attrs["values"], attrs["shape"]) if value is None else value
    return {"Out": out}


def part(axes=(0,), starts=(1,), ends=(3,), **more):
    return {"axes": list(axes), "starts": list(starts), "ends": list(ends), **more}


test_value_tensor = op_tests(
    "set_value",
    reference,
    cases={
        "rows": ({"Input": array(5, 4), "ValueTensor": array(2, 4, seed=1)}, part()),
        "broadcast": ({"Input": array(5, 4), "ValueTensor": array(4, seed=1)}, part()),
        "broadcast over columns": ({"Input": array(5, 4), "ValueTensor": array(2, 1, seed=1)}, part()),
        "leading ones": ({"Input": array(5, 4), "ValueTensor": array(1, 1, 2, 4, seed=1)}, part()),
        "one number": ({"Input": array(5, 4), "ValueTensor": array(seed=1)}, part()),
        "block": ({"Input": array(5, 4, 3), "ValueTensor": array(2, 2, 3, seed=1)}, part((0, 1), (1, -3), (3, -1))),
        "steps": ({"Input": array(7, 4), "ValueTensor": array(3, 4, seed=1)}, part((0,), (1,), (7,), steps=[2])),
        "backwards": ({"Input": array(7, 4), "ValueTensor": array(7, 2, seed=1)}, part((1,), (3,), (0,), steps=[-2])),
        "one row": ({"Input": array(5, 4), "ValueTensor": array(4, seed=1)}, part((0,), (2,), (3,), decrease_axes=[0])),
        "one element of many": (
            {"Input": array(5, 4), "ValueTensor": array(seed=1)},
            part((0, 1), (2, 1), (3, 2), decrease_axes=[0, 1]),
        ),
        "new axes": ({"Input": array(5, 4), "ValueTensor": array(2, 1, 4, 1, seed=1)}, part(none_axes=[1, 2])),
        "new axis and one row": (
            {"Input": array(5, 4), "ValueTensor": array(1, 4, seed=1)},
            part((0,), (2,), (3,), decrease_axes=[0], none_axes=[0]),
        ),
        "beyond the end": ({"Input": array(5), "ValueTensor": array(2, seed=1)}, part((0,), (3,), (99,))),
        "nothing": ({"Input": array(5, 4), "ValueTensor": array(1, 4, seed=1)}, part((0,), (3,), (3,))),
        "all": ({"Input": array(5, 4), "ValueTensor": array(5, 4, seed=1)}, part((), (), ())),
        "one element": ({"Input": array(1), "ValueTensor": array(1, seed=1)}, part((0,), (0,), (1,))),
        "no rows": ({"Input": array(0, 4), "ValueTensor": array(4, seed=1)}, part()),
    },
    gradients=["Input", "ValueTensor"],
    refusals={
        "other shape": ({"Input": array(5, 4), "ValueTensor": array(3, 4)}, part(), pm.ShapeError, "[3, 4] [2, 4]"),
        "too many dimensions": ({"Input": array(5), "ValueTensor": array(2, 2)}, part(), pm.ShapeError, "[2, 2] [2]"),
        "other type": ({"Input": array(5), "ValueTensor": ints(2)}, part(), pm.ShapeError, "int64"),
        "step 0": ({"Input": array(5), "ValueTensor": array(2)}, part(steps=[0]), pm.ProgramError, "0"),
        "no such axis": ({"Input": array(5), "ValueTensor": array(2)}, part((1,)), pm.ShapeError, "axes 1"),
        "too few starts": ({"Input": array(5), "ValueTensor": array(2)}, part(starts=()), pm.ProgramError, "starts 0"),
        "no such new axis": ({"Input": array(5), "ValueTensor": array(2)}, part(none_axes=[2]), pm.ProgramError, "none_axes 2"),
        "a part of two rows": ({"Input": array(5), "ValueTensor": array(2)}, part(decrease_axes=[0]), pm.ShapeError, "axis 0 2"),
    },
)

test_listed_values = op_tests(
    "set_value",
    reference,
    cases={
        "one number": ({"Input": array(5, 4)}, part(values=[1.5], shape=[1])),
        "a row": ({"Input": array(5, 4)}, part(values=[1.0, 2.0, 3.0, 4.0], shape=[4])),
        "integers": ({"Input": ints(5, 4)}, part(values=[7], shape=[])),
        "truths": ({"Input": np.zeros(5, bool)}, part(values=[True], shape=[1])),
        "no rows": ({"Input": array(0, 4)}, part(values=[1.5], shape=[1])),
        "one element": ({"Input": array(1)}, part((0,), (0,), (1,), values=[2.5], shape=[1])),
    },
    refusals={
        "other count": ({"Input": array(5)}, part(values=[1.0], shape=[2]), pm.ProgramError, "values 1 2"),
        "no value": ({"Input": array(5)}, part(), pm.ProgramError, "values 0"),
        "too large for int32": ({"Input": ints(5, dtype="int32")}, part(values=[2**31], shape=[1]), pm.ProgramError, "int32"),
        "too large": ({"Input": ints(5)}, part(values=[1e30], shape=[1]), pm.ProgramError, "int64"),
    },
)

test_gradient_beside_listed_values = op_tests(
    "set_value",
    reference,
    gradients=["Input"],
    cases={"a row": ({"Input": array(5, 4)}, part(values=[1.0, 2.0, 3.0, 4.0], shape=[4]))},
)


@pytest.mark.parametrize("start", [-(2**63), 2**63 - 1])
def test_starts_beyond_int32(start):
    x = array(3)
    found = run_op("set_value", {"Input": x}, part((0,), (start,), (2**63 - 1,), values=[0.0], shape=[1]))["Out"]
    np.testing.assert_array_equal(found, x if start > 0 else np.zeros(3))

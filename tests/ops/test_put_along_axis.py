"""put_along_axis: values put along an axis at the positions in Index."""

import numpy as np

import paddle_mini as pm
from harness import array, ints, op_tests, run_op


def reference(inputs, attrs):
    out, index, axis = inputs["Input"].copy(), inputs["Index"].astype("int64"), attrs["Axis"]
    places = list(np.indices(index.shape))
    places[axis] = index
    if attrs["Reduce"] == "add":
        if not attrs["Include_self"]:
            out[tuple(places)] = 0
        np.add.at(out, tuple(places), inputs["Value"])
    else:
        for at in np.ndindex(*index.shape):  # the last of several is kept
            out[tuple(place[at] for place in places)] = inputs["Value"][at]
    return {"Result": out}


def inputs(shape, index, **more):
    return {"Input": array(*shape), "Index": index, "Value": array(*index.shape, seed=5), **more}


test_put_along_axis = op_tests(
    "put_along_axis",
    reference,
    cases={
        "rows": (inputs((5, 3), np.array([[4, 0, 2], [1, 3, 0]])), {}),
        "last axis": (inputs((2, 5), np.array([[1, -1], [0, -2]], "int32")), {"Axis": -1}),
        "add": (inputs((2, 3, 5), ints(2, 4, 5, high=3)), {"Axis": 1, "Reduce": "add"}),
        "add, without the input": (inputs((2, 3, 5), ints(2, 4, 5, high=3)), {"Axis": 1, "Reduce": "add", "Include_self": False}),
        "assign, without the input": (inputs((4, 5), ints(2, 3, high=4)), {"Include_self": False}),
        "smaller": (inputs((4, 5), ints(2, 3, high=4)), {}),
        "smaller, add": (inputs((3, 4, 5), ints(2, 6, 3, low=-4, high=4)), {"Axis": 1, "Reduce": "add"}),
        "one element": (inputs((1,), np.array([0])), {}),
        "no rows": (inputs((0, 4), ints(0, 2)), {"Axis": 1}),
        "no positions": (inputs((3, 4), ints(3, 0)), {"Axis": 1, "Reduce": "add"}),
    },
    gradients=["Input", "Value"],
    refusals={
        "too high": (inputs((3,), np.array([0, 3])), {}, pm.OpError, "3 position 1"),
        "too low": (inputs((3,), np.array([-4])), {}, pm.OpError, "-4"),
        "more columns": (inputs((2, 3), ints(2, 4)), {}, pm.ShapeError, "Index [2, 4] [2, 3]"),
        "other values": (inputs((3,), np.array([0, 1]), Value=array(3)), {}, pm.ShapeError, "Value [3] [2]"),
        "other reduction": (inputs((3,), np.array([0])), {"Reduce": "mul"}, pm.ProgramError, "Reduce mul"),
    },
)


def test_the_last_value_stays():
    x = np.zeros(3, "float32")
    found = run_op("put_along_axis", {"Input": x, "Index": np.array([1, 1]), "Value": np.array([5, 6], "float32")})
    np.testing.assert_array_equal(found["Result"], [0, 6, 0])


def test_values_that_were_replaced_have_no_gradient():
    found = run_op(
        "put_along_axis_grad",
        {
            "Input": np.zeros(3, "float32"),
            "Index": np.array([1, 2, 1]),
            "Value": np.zeros(3, "float32"),
            "Result@GRAD": np.array([5, 6, 7], "float32"),
        },
        outputs=["Input@GRAD", "Value@GRAD"],
    )
    np.testing.assert_array_equal(found["Input@GRAD"], [5, 0, 0])
    np.testing.assert_array_equal(found["Value@GRAD"], [0, 7, 6])

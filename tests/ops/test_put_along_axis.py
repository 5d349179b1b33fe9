"""put_along_axis: values put along an axis at the positions in Index."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op

FOLDS = {"add": np.sum, "mul": np.prod, "multiply": np.prod, "amin": np.min, "amax": np.max}


def folded(reduce, numbers):
    if reduce == "assign":
        return numbers[-1]
    if reduce == "mean":  # integers are rounded towards 0
        return np.sum(numbers) / len(numbers)
    return FOLDS[reduce](numbers)


def reference(inputs, attrs):
    out, index, axis = inputs["Input"].copy(), inputs["Index"].astype("int64"), attrs["Axis"]
    places = list(np.indices(index.shape))
    places[axis] = index % max(out.shape[axis], 1)
    put = {}
    for at in np.ndindex(*index.shape):
        put.setdefault(tuple(int(place[at]) for place in places), []).append(inputs["Value"][at])
    for at, numbers in put.items():
        own = [inputs["Input"][at]] if attrs["Include_self"] and attrs["Reduce"] != "assign" else []
        out[at] = folded(attrs["Reduce"], own + numbers)
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
        **{
            f"{reduce}, {'with' if own else 'without'} the input": (
                inputs((2, 3, 4), ints(2, 5, 4, low=-3, high=3, seed=3)),
                {"Axis": 1, "Reduce": reduce, "Include_self": own},
            )
            for reduce in ("mul", "mean", "amin", "amax")
            for own in (True, False)
        },
        "multiply": (inputs((4, 5), ints(2, 3, high=4)), {"Reduce": "multiply"}),
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
        "other reduction": (inputs((3,), np.array([0])), {"Reduce": "median"}, pm.ProgramError, "Reduce median"),
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


def gradients(reduce, x, index, value, **attrs):
    """Input@GRAD and Value@GRAD, where Result@GRAD is 1, 2, ..."""
    given = {"Input": np.array(x, "float32"), "Index": np.array(index), "Value": np.array(value, "float32")}
    attrs = {"Reduce": reduce, **attrs}
    result = run_op("put_along_axis", given, attrs)["Result"]
    given |= {"Result": result, "Result@GRAD": np.arange(1, len(x) + 1, dtype="float32")}
    found = run_op("put_along_axis_grad", given, attrs, outputs=["Input@GRAD", "Value@GRAD"])
    return found["Input@GRAD"].tolist(), found["Value@GRAD"].tolist()


def test_a_factor_of_zero_does_not_hide_the_gradients_of_the_others():
    assert gradients("mul", [0, 3, 5], [0, 0, 1], [2, 4, 0]) == ([8, 0, 3], [0, 0, 6])
    assert gradients("mul", [0, 3, 5], [0, 0, 1], [2, 0, 7]) == ([0, 14, 3], [0, 0, 6])
    assert gradients("mul", [0, 3, 5], [0, 0, 1], [2, 4, 7], Include_self=False) == ([0, 0, 3], [4, 2, 2])


def test_equal_extremes_share_the_gradient():
    assert gradients("amax", [2, 1], [0, 0, 0, 0], [2, 1, 2, 2]) == ([0.25, 2], [0.25, 0, 0.25, 0.25])
    assert gradients("amin", [2, 1], [0, 0, 1], [2, 2, 5], Include_self=False) == ([0, 0], [0.5, 0.5, 2])


def test_nan_is_both_extremes():
    given = {"Input": np.array([1, np.nan], "float32"), "Index": np.array([0, 1]), "Value": np.array([np.nan, 2], "float32")}
    for reduce in ("amin", "amax"):
        assert np.isnan(run_op("put_along_axis", given, {"Reduce": reduce})["Result"]).all()


def test_the_gradient_needs_the_values_that_it_reads():
    given = {"Index": np.array([0]), "Result@GRAD": np.ones(2, "float32")}
    with pytest.raises(pm.ProgramError, match="Value is missing"):
        run_op("put_along_axis_grad", given, {"Reduce": "mul"}, outputs=["Input@GRAD"])


def test_integers():
    given = {"Input": ints(3, 2, low=-9), "Index": ints(4, 2, high=3), "Value": ints(4, 2, low=-9, seed=2)}
    for reduce in ("mul", "mean", "amin", "amax"):  # a mean is rounded towards 0
        for own in (True, False):
            attrs = {"Axis": 0, "Reduce": reduce, "Include_self": own}
            np.testing.assert_array_equal(run_op("put_along_axis", given, attrs)["Result"], reference(given, attrs)["Result"])


def test_the_least_integer_by_minus_one():
    """The CPU stops a process that divides them."""
    given = {"Input": np.array([1], "int32"), "Index": np.array([0, 0]), "Value": np.array([-1, -(2**31)], "int32")}
    given["Result@GRAD"] = np.array([1], "int32")
    found = run_op("put_along_axis_grad", given, {"Reduce": "mul"}, outputs=["Value@GRAD"])
    assert found["Value@GRAD"][0] == -(2**31)

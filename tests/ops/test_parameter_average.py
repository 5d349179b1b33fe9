"""parameter_average: AverageOut = Average + Weight (Param - Average)."""

import numpy as np
import pytest

import paddle_mini as pm
from bfloat16 import bits_of, numbers_of
from harness import array, ints, op_tests, run_op
from paddle_mini.testing.one_op import OneOp

BLOCK = 512


def reference(inputs, attrs):
    step = inputs["Weight"].reshape(()) * (inputs["Param"] - inputs["Average"])
    result = inputs["Average"] + step
    if "Residue" in inputs:
        if inputs["Weight"].reshape(()) == 0:
            return {"AverageOut": inputs["Average"], "ResidueOut": inputs["Residue"]}
        if inputs["Weight"].reshape(()) == 1:
            return {"AverageOut": inputs["Param"], "ResidueOut": np.zeros_like(result)}
        return {"AverageOut": result - inputs["Residue"], "ResidueOut": np.zeros_like(result)}  # nothing is lost
    if "Roll" not in inputs:
        return {"AverageOut": result}
    if inputs["Roll"].all() and inputs["Weight"].reshape(()) != 0:
        return {"AverageOut": inputs["Average"], "PreviousOut": result}
    return {"AverageOut": result, "PreviousOut": inputs["Previous"]}


def step(*shape, weight=0.25, roll=None, residue=False):
    inputs = {"Param": array(*shape), "Average": array(*shape, seed=1), "Weight": np.full(1, weight)}
    if roll is not None:
        inputs.update(Previous=array(*shape, seed=2), Roll=np.full(1, roll, "int32"))
    if residue:
        inputs.update(Residue=array(*shape, seed=3, low=-1e-3, high=1e-3))
    return inputs


def with_one(value, place, size=5):
    inputs = step(size)
    inputs["Param"][place] = value
    return inputs


test_parameter_average = op_tests(
    "parameter_average",
    reference,
    cases={
        "matrix": (step(5, 7), {}),
        "many elements": (step(3 * BLOCK + 5), {}),
        "no weight": (step(40, weight=0.0), {}),
        "all weight": (step(40, weight=1.0), {}),
        "in a generation": (step(5, 7, roll=0), {}),
        "at its end": (step(5, 7, roll=1), {}),
        "at its end, many elements": (step(3 * BLOCK + 5, roll=1), {"check_finite": True}),
        "a generation of one": (step(5, 7, weight=1.0, roll=1), {}),
        "no weight in a generation": (step(5, 7, weight=0.0, roll=0), {}),
        "no weight ends no generation": (step(5, 7, weight=0.0, roll=1), {}),
        "compensated": (step(5, 7, residue=True), {}),
        "compensated, many elements": (step(3 * BLOCK + 5, residue=True), {"check_finite": True}),
        "compensated, no weight": (step(40, weight=0.0, residue=True), {}),
        "compensated, all weight": (step(40, weight=1.0, residue=True), {}),
        "finite": (step(40), {"check_finite": True}),
        "one element": (step(), {}),
        "no rows": (step(0, 4, roll=1), {"check_finite": True}),
        "no rows, compensated": (step(0, 4, residue=True), {}),
    },
    refusals={
        "other shape": ({**step(3), "Average": array(4)}, {}, pm.ShapeError, "Param [3] Average [4]"),
        "other dtype": ({**step(3), "Average": array(3).astype("float32")}, {}, pm.ShapeError, "float64 Average float32"),
        "average of half": (
            {**step(3), "Average": array(3).astype("float16"), "Param": array(3).astype("float16")},
            {},
            pm.Error,
            "float16",
        ),
        "double average of half": (
            {**step(3), "Param": array(3).astype("float16")},
            {},
            pm.ShapeError,
            "float16 Average float64",
        ),
        "integers": ({**step(3), "Param": ints(3), "Average": ints(3)}, {}, pm.Error, "int64"),
        "two weights": ({**step(3), "Weight": array(2)}, {}, pm.ShapeError, "Weight [2] one element"),
        "whole weight": ({**step(3), "Weight": np.array([1])}, {}, pm.ShapeError, "Weight int64"),
        "roll without previous": ({**step(3), "Roll": np.zeros(1, "int32")}, {}, pm.ProgramError, "Previous Roll PreviousOut"),
        "long roll": ({**step(3, roll=0), "Roll": np.zeros(1, "int64")}, {}, pm.ShapeError, "Roll int64 int32"),
        "other previous": ({**step(3, roll=0), "Previous": array(4)}, {}, pm.ShapeError, "Previous [4]"),
        "other residue": ({**step(3), "Residue": array(4)}, {}, pm.ShapeError, "Residue [4]"),
        "residue of a window": ({**step(3, roll=0, residue=True)}, {}, pm.ProgramError, "Residue Previous"),
        "NaN": (with_one(np.nan, 3), {"check_finite": True}, pm.OpError, "element 3 nan"),
        "infinity": (with_one(-np.inf, 0), {"check_finite": True}, pm.OpError, "element 0 -inf"),
        "NaN of all weight": ({**with_one(np.nan, 2), "Weight": np.ones(1)}, {"check_finite": True}, pm.OpError, "element 2 nan"),
    },
)


def test_three_roundings():
    # Multiplied and added separately, so that every device gives the same bits.
    p, a = array(1000).astype("float32"), array(1000, seed=1).astype("float32")
    out = run_op("parameter_average", {"Param": p, "Average": a, "Weight": np.array([1 / 3])}, outputs=["AverageOut"])
    np.testing.assert_array_equal(out["AverageOut"], a + np.float32(1 / 3) * (p - a))


def test_all_weight_gives_the_bits_of_the_parameter():
    p = np.array([1e-30, np.nan, -0.0, np.inf, 3], "float32")
    out = run_op("parameter_average", {"Param": p, "Average": np.full(5, 1e30, "float32"), "Weight": np.ones(1)})
    np.testing.assert_array_equal(out["AverageOut"].view("int32"), p.view("int32"))


@pytest.mark.parametrize("check", [False, True])
def test_no_weight_reads_no_parameter(check):
    p, a = np.array([np.nan, np.inf, 1], "float32"), np.array([1, -0.0, np.nan], "float32")
    out = run_op("parameter_average", {"Param": p, "Average": a, "Weight": np.zeros(1)}, {"check_finite": check})
    np.testing.assert_array_equal(out["AverageOut"].view("int32"), a.view("int32"))


@pytest.mark.parametrize("weight", [1e-9, 0.1, 0.5, 0.999999])
def test_a_parameter_that_stays_is_its_average_bit_for_bit(weight):
    p = array(1000).astype("float32")
    out = run_op("parameter_average", {"Param": p, "Average": p, "Weight": np.array([weight])})
    np.testing.assert_array_equal(out["AverageOut"], p)


# --- 16-bit parameters ------------------------------------------------------------------------------


def halves(kind, size):
    """(the fed values, the same numbers as float32), including small and large ones."""
    numbers = (array(size) * 2.0 ** ints(size, low=-20, high=15)).astype("float32")
    if kind == "float16":
        return numbers.astype("float16"), numbers.astype("float16").astype("float32")
    return bits_of(numbers), numbers_of(bits_of(numbers))


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
@pytest.mark.parametrize("size", [1, BLOCK, BLOCK + 1, 3 * BLOCK - 1])
@pytest.mark.parametrize("more", [{}, {"weight": 1.0}, {"weight": 0.0}, {"roll": 1}, {"roll": 0}, {"residue": True}], ids=str)
def test_halves_are_averaged_as_if_they_were_float32(kind, size, more):
    fed, numbers = halves(kind, size)
    inputs = {port: value if port == "Roll" else value.astype("float32") for port, value in step(size, **more).items()}
    found = run_op("parameter_average", {**inputs, "Param": fed}, {"check_finite": True})
    expected = run_op("parameter_average", {**inputs, "Param": numbers})
    assert found.keys() == expected.keys()
    for port, value in expected.items():
        assert found[port].dtype == "float32"
        np.testing.assert_array_equal(found[port], value, port)
    if "roll" not in more and "residue" not in more:
        a, w = inputs["Average"], inputs["Weight"]
        value = a if w == 0 else numbers if w == 1 else a + w * (numbers - a)
        np.testing.assert_array_equal(found["AverageOut"], value)


@pytest.mark.parametrize(
    "fed, words",
    [
        (np.float16([1, 2, np.inf]), "element 2 of Param is inf"),
        (np.float16([np.nan, 2, 3]), "element 0 of Param is nan"),
        (np.array([0x3F80, 0xFF80, 0], "uint16"), "element 1 of Param is -inf"),
        (np.array([0x3F80, 0, 0x7FC1], "uint16"), "element 2 of Param is nan"),
    ],
)
def test_a_half_that_is_not_finite_is_refused(fed, words):
    one = OneOp(
        "parameter_average", {"Param": fed, "Average": np.ones(3, "float32"), "Weight": np.full(1, 0.5)}, {"check_finite": True}
    )
    with pytest.raises(pm.OpError, match=words):
        one.run()
    np.testing.assert_array_equal(one.scope.get("Average_0"), np.ones(3, "float32"))


# --- values that are not finite ----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("place", [0, 5, BLOCK - 1, BLOCK, BLOCK + 100, 3 * BLOCK, 3 * BLOCK + 6])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_comes_before_is_averaged_and_nothing_of_the_block(dtype, place, value):
    inputs = {port: array.astype(dtype) for port, array in with_one(value, place, 3 * BLOCK + 7).items()}
    inputs["Param"][place + 1 :] = np.nan  # the first one is reported
    one = OneOp("parameter_average", inputs, {"check_finite": True})
    with pytest.raises(pm.OpError, match=rf"element {place} of Param is {value}"):
        one.run()
    a, begin = inputs["Average"].copy(), place // BLOCK * BLOCK
    a[:begin] += inputs["Weight"] * (inputs["Param"] - inputs["Average"])[:begin]
    np.testing.assert_array_equal(one.scope.get("Average_0"), a)


def test_unchecked_it_enters_the_average():
    out = run_op("parameter_average", with_one(np.nan, 3))["AverageOut"]
    assert np.isnan(out).tolist() == [False, False, False, True, False]


def test_numbers_near_the_largest_are_finite():
    largest = np.full(5000, np.finfo("float32").max)
    inputs = {"Param": largest, "Average": largest, "Weight": np.full(1, 0.5)}
    np.testing.assert_array_equal(run_op("parameter_average", inputs, {"check_finite": True})["AverageOut"], largest)


# --- compensated -------------------------------------------------------------------------------------


def test_the_residue_is_what_rounding_added():
    # Kahan 1965, all in float32; exact where the average is larger than the step.
    p, a = array(1000).astype("float32"), array(1000, seed=1, low=0.5, high=2).astype("float32")
    r, w = array(1000, seed=2, low=-1e-7, high=1e-7).astype("float32"), np.float32(0.01)
    out = run_op("parameter_average", {"Param": p, "Average": a, "Residue": r, "Weight": np.array([0.01])})
    moved = w * (p - a) - r
    np.testing.assert_array_equal(out["AverageOut"], a + moved)
    np.testing.assert_array_equal(out["ResidueOut"], (a + moved - a) - moved)
    exact = a.astype("float64") + moved
    np.testing.assert_allclose(out["AverageOut"] - out["ResidueOut"].astype("float64"), exact, rtol=1e-13)
    assert (out["ResidueOut"] != 0).any()


def test_small_steps_add_up_when_they_are_compensated():
    # Each step is less than half a unit in the last place of numbers between 1 and 2.
    size, steps, weight = 64, 100_000, 1e-7
    program, scope, executor = pm.Program(), pm.Scope(), pm.Executor(pm.CPUPlace())
    block, begin = program.global_block(), array(size, low=1.01, high=1.99).astype("float32")
    p = (begin + np.where(array(size, seed=1) > 0, 0.55, -0.55)).astype("float32")
    for name, value in {
        "p": p,
        "plain": begin,
        "compensated": begin,
        "residue": np.zeros(size, "float32"),
        "weight": np.array([weight]),
    }.items():
        block.create_var(name, dtype=value.dtype, shape=value.shape, persistable=True)
        scope.set(name, value)
    for _ in range(100):
        block.append_op("parameter_average", {"Param": "p", "Average": "plain", "Weight": "weight"}, {"AverageOut": "plain"})
        block.append_op(
            "parameter_average",
            {"Param": "p", "Average": "compensated", "Weight": "weight", "Residue": "residue"},
            {"AverageOut": "compensated", "ResidueOut": "residue"},
        )
    for _ in range(steps // 100):
        executor.run(program, scope=scope)
    double = begin.astype("float64")
    signal = (p - double) * -np.expm1(steps * np.log1p(-float(np.float32(weight))))
    np.testing.assert_array_equal(scope.get("plain"), begin)

    def error(value):
        return np.sqrt(np.mean((value - double - signal) ** 2) / np.mean(signal**2))

    assert error(scope.get("compensated")) < 1e-5  # half a unit in the last place is 1.1e-5 of the signal
    assert error(scope.get("compensated") - scope.get("residue").astype("float64")) < 1e-6

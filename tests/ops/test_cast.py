"""cast: Out = X as another element type."""

import numpy as np
import pytest

import paddle_mini as pm
from bfloat16 import bits_of, numbers_of
from harness import Rows, array, ints, op_tests, run_op

TYPES = {
    "bool": 0,
    "int16": 1,
    "int32": 2,
    "int64": 3,
    "float16": 4,
    "float32": 5,
    "float64": 6,
    "uint8": 20,
    "int8": 21,
    "bfloat16": 22,
}
NAMES = {number: name for name, number in TYPES.items()}
PATTERNS = np.arange(2**16).astype("uint16")


def reference(inputs, attrs):
    return {"Out": inputs["X"].astype(NAMES[attrs["out_dtype"]])}


def attrs(source, target):
    return {"in_dtype": TYPES[source], "out_dtype": TYPES[target]}


def cast(x, source, target):
    """bfloat16 as its bits, as it is fed and fetched."""
    return run_op("cast", {"X": x}, attrs(source, target))["Out"]


test_cast = op_tests(
    "cast",
    reference,
    cases={
        "from float": ({"X": array(3, 4, low=-9, high=9)}, attrs("float64", "int64")),
        "to bool": ({"X": np.array([0.0, -0.0, 0.5, np.nan, np.inf])}, attrs("float64", "bool")),
        "to float": ({"X": ints(3, 4)}, attrs("int64", "float64")),
        "to half": ({"X": ints(3, 4)}, attrs("int64", "float16")),
        "one element": ({"X": array()}, attrs("float64", "float64")),
        "no rows": ({"X": array(0, 4)}, attrs("float64", "int32")),
    },
    refusals={
        "no such type": ({"X": array(3)}, {"in_dtype": 5, "out_dtype": 7}, pm.ProgramError, "out_dtype 7"),
        "selected rows": ({"X": Rows([1], array(1, 2), 3)}, attrs("float64", "float32"), pm.ShapeError, "X selected rows"),
    },
)

test_gradient = op_tests(
    "cast", reference, cases={"same type": ({"X": array(3, 4)}, attrs("float64", "float64"))}, gradients=["X"]
)


def as_type(numbers, name):
    return bits_of(numbers) if name == "bfloat16" else np.array(numbers).astype(name)


@pytest.mark.parametrize("source", TYPES)
@pytest.mark.parametrize("target", TYPES)
def test_each_pair(source, target):
    numbers = [0, 1, 1, 1, 1] if source == "bool" else [0, 1, 2, 100, 3]
    out = cast(as_type(numbers, source), source, target)
    expected = as_type(numbers, target)
    assert out.dtype == expected.dtype
    np.testing.assert_array_equal(out, expected)


def test_the_gradient_is_cast_back():
    (op,) = pm._core.gradient(
        {
            "type": "cast",
            "inputs": [("X", ["x"])],
            "outputs": [("Out", ["y"])],
            "attrs": [("in_dtype", 0, 5), ("out_dtype", 0, 6)],
        }
    )
    assert (op["type"], dict(op["inputs"]), dict(op["outputs"])) == ("cast", {"X": ["y@GRAD"]}, {"Out": ["x@GRAD"]})
    assert {name: value for name, _, value in op["attrs"]} == {"in_dtype": 6, "out_dtype": 5}


# --- 16-bit floats ----------------------------------------------------------------------------------

with np.errstate(invalid="ignore"):  # a CPU of ARM reports signaling NaN
    HALVES = {
        "float16": (PATTERNS.view("float16"), PATTERNS.view("float16").astype("float32")),
        "bfloat16": (PATTERNS, numbers_of(PATTERNS)),
    }  # the fed values as numbers


def same_bits(found, expected):
    """NaN has more than one pattern."""
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found.view(f"uint{8 * found.itemsize}"), expected.view(f"uint{8 * found.itemsize}"))


@pytest.mark.parametrize("kind", HALVES)
def test_every_half_is_the_number_that_it_says(kind):
    fed, numbers = HALVES[kind]
    nan = np.isnan(numbers)
    assert nan.sum() == {"float16": 2 * 1023, "bfloat16": 2 * 127}[kind]
    for target in ("float32", "float64"):
        out = cast(fed, kind, target)
        same_bits(out[~nan], numbers[~nan].astype(target))
        assert np.isnan(out[nan]).all()


@pytest.mark.parametrize("source", ["float32", "float64"])
@pytest.mark.parametrize("kind", HALVES)
def test_every_half_comes_back(kind, source):
    fed, numbers = HALVES[kind]
    nan = np.isnan(numbers)
    with np.errstate(invalid="ignore"):  # some NaN
        out = cast(numbers.astype(source), source, kind)
    same_bits(out[~nan], fed[~nan])
    assert np.isnan(cast(out, kind, "float32")[nan]).all()
    same_bits(cast(fed, kind, kind), fed)


@pytest.mark.parametrize("kind, limit", [("float16", 0x7BFF), ("bfloat16", 0x7F7F)])
def test_between_two_halves_the_nearest_is_taken_and_the_even_one(kind, limit):
    """Between every number and the next, from the largest to infinity: half of the way, and one place to either side."""
    numbers = HALVES[kind][1][: limit + 1].astype("float64")
    after = np.append(numbers[1:], {"float16": 2.0**16, "bfloat16": 2.0**128}[kind])
    middle = ((numbers + after) / 2).astype("float32")
    np.testing.assert_array_equal(middle, (numbers + after) / 2)  # exact
    low = PATTERNS[: limit + 1]
    expected = {-np.inf: low, 0: low + low % 2, np.inf: low + 1}
    for side, bits in expected.items():
        x = np.nextafter(middle, np.float32(side)) if side else middle
        for sign, top in ((1, 0), (-1, 0x8000)):
            out = cast(sign * x, "float32", kind).view("uint16")
            np.testing.assert_array_equal(out, bits + np.uint16(top))


@pytest.mark.parametrize(
    "numbers",
    [
        [65504, 65519, 65520, 1e5, 3e38, np.inf],
        [2.0**-24, 2.0**-25, 3e-8, 1e-45, 0],
        [1e-40, 1.5 * 2.0**-24, 2.5 * 2.0**-24, 6.1e-5, 6.097e-5],
    ],
    ids=str,
)
def test_float16_is_that_of_numpy(numbers):
    x = np.float32(numbers)
    with np.errstate(over="ignore"):
        expected = x.astype("float16")
    same_bits(cast(x, "float32", "float16"), expected)
    same_bits(cast(-x, "float32", "float16"), -expected)


def test_random_floats_of_every_size_become_the_halves_of_numpy():
    bits = ints(200_000, low=0, high=2**32).astype("uint32")
    x = bits.view("float32")
    x = x[np.isfinite(x)]
    with np.errstate(over="ignore"):
        same_bits(cast(x, "float32", "float16"), x.astype("float16"))
    same_bits(cast(x, "float32", "bfloat16"), bits_of(x))


@pytest.mark.parametrize("kind", HALVES)
def test_nan_stays_nan(kind):
    # Also for NaN whose mantissa has only bits that a half does not have.
    x = np.array([0x7F800001, 0xFF800001, 0x7FC00000, 0x7FFFFFFF, 0xFFFFFFFF], "uint32").view("float32")
    assert np.isnan(cast(cast(x, "float32", kind), kind, "float32")).all()
    np.testing.assert_array_equal(cast(HALVES[kind][0], kind, "bool"), HALVES[kind][1] != 0)


@pytest.mark.parametrize("kind", HALVES)
def test_halves_are_cut_towards_whole_numbers(kind):
    fed, numbers = HALVES[kind]
    inside = np.abs(numbers) < 2.0**31
    np.testing.assert_array_equal(cast(fed[inside], kind, "int32"), numbers[inside].astype("int32"))


def test_one_half_becomes_the_other():
    fed, numbers = HALVES["bfloat16"]
    finite = np.isfinite(numbers)
    with np.errstate(over="ignore"):
        same_bits(cast(fed[finite], "bfloat16", "float16"), numbers[finite].astype("float16"))
    fed, numbers = HALVES["float16"]
    finite = np.isfinite(numbers)
    same_bits(cast(fed[finite], "float16", "bfloat16"), bits_of(numbers[finite]))

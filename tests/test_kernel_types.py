"""Element types: every one that PaddlePaddle's kernels for CPUs have, and those that are computed in a wider one.

element_types.json is made by tests/paddle/element_types.py, which queries PaddlePaddle.
"""

import json
import pathlib

import numpy as np
import pytest

import bfloat16
import paddle_mini as pm
from facts import all_facts, cases_of
from loops import doubled_in_a_loop
from paddle_mini.schemas import op_schema
from paddle_mini.testing.one_op import OneOp, Rows, array_of, ints, run_op, with_array

TABLE = json.loads((pathlib.Path(__file__).parent / "element_types.json").read_text())

# Types that PaddlePaddle registers and that are omitted here.
LEFT_OUT = {
    "beam_search": ({"int32", "int64"}, "its scores are logarithms of probabilities"),
    "dequantize_linear": ({"int8"}, "the type of X, not that of Scale and Y, which the kernel has"),
    "eig_grad": ({"float32", "float64"}, "the gradient of its eigenvalues is complex"),
    "reduce_sum": ({"bool"}, "the sum of bool is int64, whose kernel it is"),
    **dict.fromkeys(["roi_align", "roi_align_grad"], ({"int32"}, "weights between pixels are not integers")),
}
HALVES, NARROW = ("float16", "bfloat16"), ("int8", "uint8", "int16")
# The CPU's instructions for products of bfloat16 add in an order of their own (tests/executor/test_narrow_kernels.py).
PRODUCTS = {"mul", "matmul", "matmul_v2", "bmm"}


def test_no_operator_lacks_an_element_type():
    lacking = {}
    for op_type, wanted in TABLE.items():
        schema = op_schema(op_type)
        types = {*schema["dtypes"], *schema["widened"], *LEFT_OUT.get(op_type, ((), ""))[0]}
        if schema["dtypes"] and set(wanted) - types:
            lacking[op_type] = sorted(set(wanted) - types)
    assert not lacking


def test_what_is_left_out_has_no_kernel():
    for op_type, (types, _) in LEFT_OUT.items():
        schema = op_schema(op_type)
        assert types <= set(TABLE[op_type]) - {*schema["dtypes"], *schema["widened"]}


def test_a_gradient_accepts_the_integers_that_its_operator_has_kernels_for():
    lacking = {}
    for op_type in pm._core.op_types():
        gradient = op_schema(op_type + "_grad") if op_type + "_grad" in pm._core.op_types() else {"dtypes": []}
        integers = {dtype for dtype in op_schema(op_type)["dtypes"] if "int" in dtype or dtype == "bool"}
        if gradient["dtypes"] and integers - {*gradient["dtypes"], *gradient["widened"]}:
            lacking[op_type] = integers
    assert not lacking


def numbers_as(numbers, dtype):
    return bfloat16.bits_of(numbers) if dtype == "bfloat16" else numbers.astype(dtype)


def rounded(value, dtype):
    """A value of a wider type in this one: floats rounded once, integers truncated."""
    numbers = array_of(value)
    with np.errstate(over="ignore", invalid="ignore"):
        return with_array(value, numbers_as(numbers, dtype))


def widened(value, dtype):
    numbers = array_of(value)
    return with_array(value, bfloat16.numbers_of(numbers) if dtype == "bfloat16" else numbers.astype("float32"))


def each(inputs, change):
    return {
        port: [change(item) for item in value] if isinstance(value, list) else change(value) for port, value in inputs.items()
    }


def is_float(item):
    return array_of(item).dtype.kind == "f"


@pytest.mark.parametrize("op_type", sorted(op for op in all_facts() if "float32" in op_schema(op)["dtypes"]))
def test_16_bit_floats_are_computed_in_float32_and_rounded_once(op_type):
    schema = op_schema(op_type)
    for dtype in set(HALVES) & set(schema["widened"]):
        name, inputs, attrs, counts, ports = next(iter(cases_of(op_type)), (None,) * 5)
        if name is None:
            continue
        narrow = each(inputs, lambda item: rounded(item, dtype) if is_float(item) else item)
        wide = each(inputs, lambda item: widened(rounded(item, dtype), dtype) if is_float(item) else item)
        try:
            found = OneOp(op_type, narrow, attrs, counts, aliased=False).run()
        except pm.Error as error:  # ports that are always float32
            assert "is float16" in str(error) or "is bfloat16" in str(error), error
            assert dtype not in TABLE.get(op_type, ()), error
            continue
        expected = OneOp(op_type, wide, attrs, counts, aliased=False).run()
        for port in ports:
            pairs = zip(*(value if isinstance(value, list) else [value] for value in (found[port], expected[port])))
            for one, other in pairs:
                numbers = array_of(other)
                as_narrow = numbers.dtype == "float32" and array_of(one).dtype != "float32"
                if op_type in PRODUCTS and dtype == "bfloat16":
                    np.testing.assert_allclose(bfloat16.numbers_of(array_of(one)), numbers, rtol=1.01 * 2**-8, atol=1e-6)
                    continue
                np.testing.assert_array_equal(
                    array_of(one), numbers_as(numbers, dtype) if as_narrow else numbers, f"{port} of {name}, {dtype}"
                )


@pytest.mark.parametrize(
    "op_type, inputs, attrs, expected",
    [
        (
            "elementwise_div",
            {"X": [7, 120, -7, -128], "Y": [2, 4, 2, -1]},
            {},
            {"int8": [3, 30, -3, -128], "int16": [3, 30, -3, 128]},
        ),
        ("elementwise_div", {"X": [7, 200, 255], "Y": [2, 3, 255]}, {}, {"uint8": [3, 66, 1]}),
        (
            "elementwise_add",
            {"X": [100, 32767], "Y": [100, 1]},
            {},
            {"int8": [-56, 0], "uint8": [200, 0], "int16": [200, -32768]},
        ),
        ("elementwise_mul", {"X": [100, -2], "Y": [3, 3]}, {}, {"int8": [44, -6], "int16": [300, -6]}),
        (
            "scale",
            {"X": [7, 6, 5, 100]},
            {"scale": 2.0, "bias": 1.7},
            {"int8": [15, 13, 11, -55], "uint8": [15, 13, 11, 201], "int16": [15, 13, 11, 201]},
        ),
        ("scale", {"X": [7, 6, 5]}, {"scale": 2.5}, {"int8": [14, 12, 10], "uint8": [14, 12, 10], "int16": [14, 12, 10]}),
    ],
)
def test_narrow_integers_wrap_around(op_type, inputs, attrs, expected):
    """The numbers are PaddlePaddle's."""
    for dtype, wanted in expected.items():
        arrays = {port: np.array(values, "int64").astype(dtype) for port, values in inputs.items()}
        out = run_op(op_type, arrays, attrs)["Out"]
        assert out.dtype == dtype
        np.testing.assert_array_equal(out, np.array(wanted, "int64").astype(dtype), f"{op_type} {dtype}")


@pytest.mark.parametrize("op_type", ["exp", "expm1", "log", "log2", "log10", "log1p"])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_functions_of_integers_are_float32(op_type, dtype):
    x = np.array([1, 2, 3], dtype)
    out = run_op(op_type, {"X": x})["Out"]
    assert out.dtype == "float32"
    np.testing.assert_allclose(out, getattr(np, op_type)(x.astype("float64")), rtol=1e-6)


def test_bool():
    yes = np.array([True, True, False, False]), np.array([True, False, True, False])
    np.testing.assert_array_equal(run_op("elementwise_mul", {"X": yes[0], "Y": yes[1]})["Out"], [True, False, False, False])
    np.testing.assert_array_equal(run_op("scale", {"X": yes[0]}, {"scale": 1.0})["Out"], yes[0])


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_integers_where_kernels_are_of_floats(dtype):
    np.testing.assert_array_equal(
        run_op("matmul_v2", {"X": np.array([[1, 2, 4]], dtype), "Y": np.array([[3], [2], [1]], dtype)})["Out"], [[11]]
    )
    for x, mean in ([1, 2, 4], 2), ([-1, -2, -4], -2):
        out = run_op("reduce_mean", {"X": np.array(x, dtype)}, {"reduce_all": True})["Out"]
        assert out.dtype == dtype and out == mean
    large = np.array([2**31 - 1], dtype) if dtype == "int32" else np.array([2**53 + 1], dtype)
    np.testing.assert_array_equal(run_op("trunc", {"X": large})["Out"], large)


@pytest.mark.parametrize("dtype", [*NARROW, "int32"])
def test_labels_of_any_integer_type(dtype):
    logits = np.array([[1.0, 2.0, 0.5], [0.1, 0.2, 0.3]], "float32")
    label = np.array([[2], [0]])
    ports = {"Softmax": 1, "Loss": 1}
    expected = run_op("softmax_with_cross_entropy", {"Logits": logits, "Label": label}, {}, ports)
    found = run_op("softmax_with_cross_entropy", {"Logits": logits, "Label": label.astype(dtype)}, {}, ports)
    for port in ports:
        np.testing.assert_array_equal(found[port], expected[port])
    back = {"Softmax": expected["Softmax"], "Loss@GRAD": np.ones((2, 1), "float32")}
    gradients = [
        run_op("softmax_with_cross_entropy_grad", {**back, "Label": label.astype(kind)})["Logits@GRAD"]
        for kind in (dtype, "int64")
    ]
    np.testing.assert_array_equal(*gradients)
    with pytest.raises(pm.OpError, match="label 3 in row 1 is out of range"):
        run_op("softmax_with_cross_entropy", {"Logits": logits, "Label": np.array([[2], [3]], dtype)}, {}, ports)


def test_fill_constant_and_casts_in_a_block():
    """Widened operators within a loop, whose steps are planned separately."""
    main = pm.Program()
    with pm.program_guard(main):
        x = doubled_in_a_loop(pm.layers.fill_constant([2], "float16", 1.5))
    (value,) = pm.Executor().run(main, fetch_list=[x])
    assert value.dtype == "float16"
    np.testing.assert_array_equal(value, [12.0, 12.0])


def test_a_parameter_of_16_bits_is_updated_in_place():
    out = run_op(
        "sgd", {"Param": np.ones(3, "float16"), "Grad": np.full(3, 2.0, "float16"), "LearningRate": np.array([0.25], "float16")}
    )
    np.testing.assert_array_equal(out["ParamOut"], np.full(3, 0.5, "float16"))
    rows = Rows([1, 3, 1], np.ones((3, 2), "float16"), 4)
    out = run_op("sgd", {"Param": np.ones((4, 2), "float16"), "Grad": rows, "LearningRate": np.array([0.25], "float16")})
    np.testing.assert_array_equal(out["ParamOut"], np.array([[1.0] * 2, [0.5] * 2, [1.0] * 2, [0.75] * 2], "float16"))


@pytest.mark.parametrize("dtype", ["float16", "int8"])
def test_shapes_that_depend_on_data(dtype):
    """These operators run outside of plans."""
    x = np.array([[1, 0], [0, 3]], dtype)
    out = run_op("masked_select", {"X": x, "Mask": x > 0}, {}, ["Y"])["Y"]
    assert out.dtype == dtype
    np.testing.assert_array_equal(out, [1, 3])


def test_what_no_wider_type_serves_is_refused():
    with pytest.raises(pm.ShapeError, match="no kernel for int64; there are kernels for float32, float64, float16, bfloat16"):
        run_op("softmax", {"X": ints(2, 3)})


def test_plans_show_the_casts():
    main = pm.Program()
    with pm.program_guard(main):
        x = pm.layers.data("x", [2], dtype="float16")
        y = pm.layers.tanh(x)
    text = pm.Executor().plan_text(main, {"x": np.ones(2, "float16")}, [y])
    assert text.count("cast") == 2

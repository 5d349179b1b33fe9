"""dropout: Out = X where a Bernoulli mask is 1, else 0."""

import numpy as np
import pytest

import mersenne_twister
import paddle_mini as pm
from harness import array, op_tests, run_op


def reference(inputs, attrs):
    x, keep = inputs["X"], 1 - np.float64(np.float32(attrs["dropout_prob"]))
    if attrs["is_test"]:
        return {
            "Out": x if attrs["dropout_implementation"] == "upscale_in_train" else x * keep,
            "Mask": np.ones(x.shape, "uint8"),
        }
    mask = kept(x.shape, attrs)
    return {"Out": x * mask / (keep if attrs["dropout_implementation"] == "upscale_in_train" and keep > 0 else 1), "Mask": mask}


def kept(shape, attrs):
    """PaddlePaddle's mask: for each element a number of [0, 1), which keeps it if it is at least the probability."""
    numbers = mersenne_twister.uniform(attrs["seed"], int(np.prod(shape)), 0, 1, "float32")
    return (numbers >= np.float32(attrs["dropout_prob"])).astype("uint8").reshape(shape)


FIXED = {"fix_seed": True, "seed": 7}
UP = {"dropout_implementation": "upscale_in_train"}

test_dropout = op_tests(
    "dropout",
    reference,
    cases={
        "as it is in training": ({"X": array(40, 10)}, {**FIXED, "dropout_prob": 0.25}),
        "scaled up in training": ({"X": array(40, 10)}, {**FIXED, **UP, "dropout_prob": 0.25}),
        "scaled down in testing": ({"X": array(5, 7)}, {"is_test": True, "dropout_prob": 0.25}),
        "as it is in testing": ({"X": array(5, 7)}, {"is_test": True, **UP}),
        "all dropped": ({"X": array(5, 7)}, {**FIXED, **UP, "dropout_prob": 1.0}),
        "none dropped": ({"X": array(5, 7)}, {**FIXED, **UP, "dropout_prob": 0.0}),
        "one element": ({"X": array()}, FIXED),
        "no rows": ({"X": array(0, 4)}, FIXED),
    },
    gradients=["X"],
    refusals={
        "probability over 1": ({"X": array(3)}, {"dropout_prob": 1.5}, pm.ProgramError, "dropout_prob 1.5"),
        "unknown implementation": ({"X": array(3)}, {"dropout_implementation": "none"}, pm.ProgramError, "none upscale_in_train"),
    },
)


def test_the_same_seed_drops_the_same_elements_in_every_run():
    x = np.ones(1000, "float32")
    first, second = (run_op("dropout", {"X": x}, FIXED, ["Out", "Mask"])["Mask"] for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert 430 < first.sum() < 570  # 500 and four and a half deviations


@pytest.mark.parametrize("more", [{}, {"seed": 7}])
def test_without_a_fixed_seed_the_dropped_elements_change(more):
    # `seed` has an effect only if fix_seed is set.
    program, scope, executor = pm.Program(), pm.Scope(), pm.Executor(pm.CPUPlace())
    block = program.global_block()
    block.create_var("x", dtype="float32", shape=[1000], persistable=True)
    block.append_op("dropout", {"X": "x"}, {"Out": "out", "Mask": "mask"}, more)
    scope.set("x", np.ones(1000, "float32"))
    first, second = (executor.run(program, fetch_list=["mask"], scope=scope)[0] for _ in range(2))
    assert (first != second).any()
    assert 430 < first.sum() < 570


def test_mask_may_be_left_out():
    x = np.ones(1000, "float32")
    out = run_op("dropout", {"X": x}, FIXED)["Out"]
    np.testing.assert_array_equal(out, run_op("dropout", {"X": x}, FIXED, ["Out", "Mask"])["Mask"])


def test_what_is_dropped_is_zero_even_of_infinity():
    out = run_op("dropout", {"X": np.full(1000, np.inf)}, FIXED)["Out"]
    assert set(out) == {0.0, np.inf}

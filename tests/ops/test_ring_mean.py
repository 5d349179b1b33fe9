"""ring_mean: the mean of the parameters stored by parameter_ring."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op


def reference(inputs, attrs):
    count = min(int(inputs["Counters"][0]), len(inputs["Ring"]))
    return {"Out": inputs["Ring"][:count].mean(axis=0) if count else inputs["Param"]}


def values(*shape, k=5, updates=1):
    return {"Param": array(*shape), "Ring": array(k, *shape, seed=1), "Counters": np.array([updates, 0, 0, updates + 2, 0])}


test_ring_mean = op_tests(
    "ring_mean",
    reference,
    cases={
        "before the first update": (values(4, 5, updates=0), {}),
        "one": (values(4, 5), {}),
        "some": (values(4, 5, updates=3), {}),
        "full": (values(4, 5, updates=5), {}),
        "around": (values(4, 5, updates=13), {}),
        "ring of one": (values(4, 5, k=1, updates=13), {}),
        "one element": (values(updates=2), {}),
        "no rows": (values(0, 4, updates=2), {}),
    },
    refusals={
        "other shape": ({**values(4, 5), "Ring": array(5, 4, 6)}, {}, pm.ShapeError, "Ring [5, 4, 6] Param [4, 5]"),
        "no place": ({**values(4), "Ring": array(0, 4)}, {}, pm.ShapeError, "Ring [0, 4] Param [4]"),
        "as many elements in other dimensions": (
            {**values(4, 6), "Ring": array(5, 6, 4)},
            {},
            pm.ShapeError,
            "Ring [5, 6, 4] Param [4, 6]",
        ),
        "other dtype": ({**values(4), "Ring": array(5, 4).astype("float32")}, {}, pm.ShapeError, "Ring float32 float64"),
        "four counters": ({**values(4), "Counters": ints(4)}, {}, pm.ShapeError, "Counters [4] [5]"),
        "integers": ({"Param": ints(4), "Ring": ints(5, 4), "Counters": ints(5)}, {}, pm.Error, "int64"),
    },
)


def test_what_is_not_kept_yet_is_not_read():
    p, ring = array(4), np.full((5, 4), np.nan)
    counters = np.zeros(5, "int64")
    np.testing.assert_array_equal(run_op("ring_mean", {"Param": p, "Ring": ring, "Counters": counters})["Out"], p)
    ring[:2], counters[0] = array(2, 4), 2
    out = run_op("ring_mean", {"Param": np.full(4, np.nan), "Ring": ring, "Counters": counters})["Out"]
    np.testing.assert_allclose(out, ring[:2].mean(axis=0), rtol=1e-15)


def test_a_mean_of_the_largest_numbers_is_finite():
    ring = np.full((5, 4), np.finfo("float32").max)
    out = run_op("ring_mean", {"Param": ring[0], "Ring": ring, "Counters": np.array([5, 0, 0, 5, 0])})["Out"]
    np.testing.assert_array_equal(out, ring[0])


@pytest.mark.parametrize("k", [1, 3])
def test_the_mean_of_the_latest_after_every_update(k):
    ring, walk = np.zeros((k, 6)), array(10, 6)
    for update, p in enumerate(walk, 1):
        counters = np.array([update, 0, 0, update, 0])
        ring = run_op("parameter_ring", {"Param": p, "Ring": ring, "Counters": counters, "Weight": np.ones(1)})["RingOut"]
        out = run_op("ring_mean", {"Param": p, "Ring": ring, "Counters": counters})["Out"]
        np.testing.assert_allclose(out, walk[max(0, update - k) : update].mean(axis=0), rtol=0, atol=1e-15)

"""parameter_ring: stores the latest k parameters, each in the place of the oldest."""

import numpy as np
import pytest

import paddle_mini as pm
from harness import array, ints, op_tests, run_op


def reference(inputs, attrs):
    ring = inputs["Ring"].copy()
    if inputs["Weight"].reshape(()) != 0:
        ring[max(int(inputs["Counters"][0]) - 1, 0) % len(ring)] = inputs["Param"]
    return {"RingOut": ring}


def step(*shape, k=3, updates=1, weight=0.5):
    return {
        "Param": array(*shape),
        "Ring": array(k, *shape, seed=1),
        "Counters": np.array([updates, 0, 0, updates + 2, 0]),
        "Weight": np.full(1, weight),
    }


test_parameter_ring = op_tests(
    "parameter_ring",
    reference,
    cases={
        "before the first update": (step(4, 5, updates=0, weight=1.0), {}),
        "first": (step(4, 5, weight=1.0), {}),
        "last place": (step(4, 5, updates=3), {}),
        "around": (step(4, 5, updates=7), {}),
        "many updates": (step(4, updates=2**40 + 1), {}),
        "nothing is kept": (step(4, 5, updates=2, weight=0.0), {}),
        "ring of one": (step(4, 5, k=1, updates=9), {}),
        "one element": (step(updates=5), {}),
        "no rows": (step(0, 4), {}),
    },
    refusals={
        "other shape": ({**step(4, 5), "Ring": array(3, 4, 6)}, {}, pm.ShapeError, "Ring [3, 4, 6] Param [4, 5]"),
        "no place": ({**step(4), "Ring": array(0, 4)}, {}, pm.ShapeError, "Ring [0, 4] Param [4]"),
        "a parameter's shape": ({**step(4), "Ring": array(4)}, {}, pm.ShapeError, "Ring [4] Param [4]"),
        "other dtype": ({**step(4), "Ring": array(3, 4).astype("float32")}, {}, pm.ShapeError, "Ring float32 float64"),
        "two weights": ({**step(4), "Weight": array(2)}, {}, pm.ShapeError, "Weight [2] one element"),
        "whole weight": ({**step(4), "Weight": ints(1)}, {}, pm.ShapeError, "Weight int64"),
        "four counters": ({**step(4), "Counters": ints(4)}, {}, pm.ShapeError, "Counters [4] [5]"),
    },
)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_the_latest_are_kept(k):
    kept, ring = [], np.zeros((k, 3))
    for update in range(1, 3 * k + 2):
        p = array(3, seed=update)
        kept.append(p)
        ring = run_op(
            "parameter_ring", {"Param": p, "Ring": ring, "Counters": np.array([update, 0, 0, update, 0]), "Weight": np.ones(1)}
        )["RingOut"]
        newest = kept[-k:]
        for place in range(len(newest)):
            np.testing.assert_array_equal(ring[(update - 1 - place) % k], newest[-1 - place])
        assert (ring[len(newest) :] == 0).all()


@pytest.mark.parametrize("p", [np.float32([np.nan, -0.0, 1e-40]), np.float64([np.inf, 2, -0.0])], ids=["float32", "float64"])
def test_bits_are_kept_as_they_are(p):
    ring = np.zeros((2, 3), p.dtype)
    out = run_op("parameter_ring", {"Param": p, "Ring": ring, "Counters": np.array([2, 0, 0, 2, 0]), "Weight": np.ones(1)})[
        "RingOut"
    ]
    assert out.tobytes() == ring[0].tobytes() + p.tobytes()


@pytest.mark.parametrize("wrong", [np.nan, -np.inf])
def test_what_is_not_finite_is_refused_where_that_is_asked_for(wrong):
    inputs = {
        "Param": np.array([1, wrong, 2]),
        "Ring": np.zeros((2, 3)),
        "Counters": np.array([2, 0, 0, 2, 0]),
        "Weight": np.ones(1),
    }
    with pytest.raises(pm.OpError, match=f"element 1 of Param is {wrong}"):
        run_op("parameter_ring", inputs, {"check_finite": True})
    run_op("parameter_ring", {**inputs, "Weight": np.zeros(1)}, {"check_finite": True})

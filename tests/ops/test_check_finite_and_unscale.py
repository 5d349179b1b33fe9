"""check_finite_and_unscale: Out = X / Scale, and whether any X is not finite."""

import numpy as np

import paddle_mini as pm
from harness import Rows, array, op_tests, run_op


def reference(inputs, attrs):
    found, outs = False, []
    for x in inputs["X"]:
        found = found or not np.isfinite(x).all()
        with np.errstate(invalid="ignore"):
            outs.append(x * (0 if found else 1 / inputs["Scale"].reshape(())))
    return {"Out": outs, "FoundInfinite": np.array([found])}


def step(*xs):
    return {"X": list(xs), "Scale": np.full(1, 4.0)}


BAD = np.array([1, np.inf, 2, np.nan, -np.inf])

test_check_finite_and_unscale = op_tests(
    "check_finite_and_unscale",
    reference,
    cases={
        "finite": (step(array(5, 7), array(40)), {}),
        "infinite": (step(array(5, 7), BAD, array(40)), {}),
        "nan at the end": (step(np.append(array(40), np.nan)), {}),
        "large": (step(np.full(5000, 1e38)), {}),
        "one element": (step(array()), {}),
        "no rows": (step(array(0, 4)), {}),
    },
    refusals={
        "two scales": (step(array(3)) | {"Scale": np.ones(2)}, {}, pm.ShapeError, "Scale [2] one element"),
        "other dtype": (step(array(3), array(3).astype("float32")), {}, pm.ShapeError, "float32 float64"),
        "selected rows": (step(Rows([2], array(1, 3), 6)), {}, pm.ShapeError, "X selected rows tensor"),
    },
)


def test_any_element_is_seen():
    for place in range(37):
        for value in (np.inf, -np.inf, np.nan):
            x = np.ones(37, "float32")
            x[place] = value
            found = run_op("check_finite_and_unscale", {"X": [x], "Scale": np.ones(1, "float32")})
            assert found["FoundInfinite"] == [True], (place, value)

"""average_value: the averaged parameters as they are used."""
import numpy as np
import paddle_mini as pm
from harness import array, op_tests, run_op


def reference(inputs, attrs):
    updates, newer, older, _ = (int(c) for c in inputs["Counters"])
    if updates == 0:
        return {"Out": inputs["Param"]}
    if "Previous" not in inputs:
        return {"Out": inputs["Average"]}
    return {"Out": (newer * inputs["Average"] + older * inputs["Previous"]) / (newer + older)}


def values(*shape, counters, previous=True):
    inputs = {"Param": array(*shape), "Average": array(*shape, seed=1), "Counters": np.array(counters)}
    return {**inputs, "Previous": array(*shape, seed=2)} if previous else inputs


test_average_value = op_tests(
    "average_value",
    reference,
    cases={
        "nothing averaged": (values(5, 7, counters=[0, 0, 0, 3]), {}),
        "no window": (values(5, 7, counters=[4, 0, 0, 4], previous=False), {}),
        "first generation": (values(5, 7, counters=[4, 4, 0, 4]), {}),
        "two generations": (values(5, 7, counters=[14, 4, 10, 14]), {}),
        "a generation just ended": (values(40, counters=[20, 0, 10, 20]), {}),
        "one element": (values(counters=[3, 1, 2, 3]), {}),
        "no rows": (values(0, 4, counters=[3, 1, 2, 3]), {}),
    },
    refusals={
        "other shape": ({**values(3, counters=[0] * 4), "Average": array(4)}, {}, pm.ShapeError,
                        "Param [3] Average [4]"),
        "two counters": (values(3, counters=[0, 0]), {}, pm.ShapeError, "Counters [2] [4]"),
        "other previous": ({**values(3, counters=[0] * 4), "Previous": array(2)}, {}, pm.ShapeError, "Previous [2]"),
    },
)


def test_before_the_first_update_nothing_but_the_parameter_is_read():
    p = array(9)
    out = run_op("average_value", {"Param": p, "Average": np.full(9, np.nan), "Previous": np.full(9, np.nan),
                                   "Counters": np.array([0, 0, 0, 5])})
    np.testing.assert_array_equal(out["Out"], p)

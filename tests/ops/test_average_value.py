"""average_value: the averaged parameters as they are used."""

import numpy as np
import pytest

import paddle_mini as pm
from bfloat16 import bits_of
from harness import array, ints, op_tests, run_op


def kept_rows(inputs, attrs):
    """(now, before): the rows' averages if the rows had been averaged since their stamps."""

    def column(factor):
        return np.reshape(factor, [-1] + [1] * (inputs["Param"].ndim - 1))

    p, now, stamps = inputs["Param"], inputs["Average"], inputs["RowStamps"]
    if "Previous" not in inputs:
        return p + column(np.exp(inputs["State"][0] - stamps)) * (now - p), None
    updates, newer, older = (int(c) for c in inputs["Counters"][:3])
    # Members since an update: those up to the stamp; the others were p.
    begin = updates - newer
    there = np.clip(stamps - begin, 0, None) / max(newer, 1)
    there_before = np.clip(stamps - (begin - older), 0, older) / max(older, 1)
    rolled = stamps < begin
    before = np.where(column(rolled), now, inputs["Previous"])
    return (p + column(there) * (now - p), np.where(column(rolled), p + column(there_before) * (before - p), before))


def reference(inputs, attrs):
    updates, newer, older = (int(c) for c in inputs["Counters"][:3])
    if updates == 0:
        return {"Out": inputs["Param"]}
    now, before = kept_rows(inputs, attrs) if "RowStamps" in inputs else (inputs["Average"], inputs.get("Previous"))
    return {"Out": now if before is None else (newer * now + older * before) / (newer + older)}


def values(*shape, counters, previous=True):
    inputs = {"Param": array(*shape), "Average": array(*shape, seed=1), "Counters": np.array([*counters, 0])}
    return {**inputs, "Previous": array(*shape, seed=2)} if previous else inputs


def table(*shape, counters, stamps, log=-3.0, previous=False):
    state = np.array([log, 0.1, 2, 3, 0, 0, 0])
    return {**values(*shape, counters=counters, previous=previous), "State": state, "RowStamps": np.array(stamps, "float64")}


OLD = [-3.0, -2.5, 0.0, -2.999, -3.0]  # the first and last row are up to date
STAMPS = [14.0, 11, 10, 7, 4, 2, 0]  # a window with a generation from 10 and one from 4 on

test_average_value = op_tests(
    "average_value",
    reference,
    cases={
        "nothing averaged": (values(5, 7, counters=[0, 0, 0, 3]), {}),
        "no window": (values(5, 7, counters=[4, 0, 0, 4], previous=False), {}),
        "first generation": (values(5, 7, counters=[4, 4, 0, 4]), {}),
        "two generations": (values(5, 7, counters=[14, 4, 10, 14]), {}),
        "many elements": (values(5000, counters=[14, 4, 10, 14]), {}),
        "a generation just ended": (values(40, counters=[20, 0, 10, 20]), {}),
        "one element": (values(counters=[3, 1, 2, 3]), {}),
        "no rows": (values(0, 4, counters=[3, 1, 2, 3]), {}),
        "table": (table(5, 7, counters=[9, 0, 0, 9], stamps=OLD), {}),
        "table of numbers": (table(5, counters=[9, 0, 0, 9], stamps=OLD), {}),
        "table of matrices": (table(5, 3, 2, counters=[9, 0, 0, 9], stamps=OLD), {}),
        "table, forgotten": (table(5, 7, counters=[9, 0, 0, 9], stamps=OLD, log=-1003.0), {}),
        "table, nothing averaged": (table(5, 7, counters=[0, 0, 0, 9], stamps=[0] * 5), {}),
        "table, window": (table(7, 20, counters=[14, 4, 6, 14], stamps=STAMPS, previous=True), {}),
        "table, first generation": (table(7, 3, counters=[14, 14, 0, 14], stamps=STAMPS, previous=True), {}),
        "table, a generation just ended": (table(7, 3, counters=[14, 0, 10, 14], stamps=STAMPS, previous=True), {}),
        "table, nothing averaged, window": (table(7, 3, counters=[0, 0, 0, 9], stamps=[0] * 7, previous=True), {}),
        "table without rows": (table(0, 4, counters=[9, 0, 0, 9], stamps=[]), {}),
        "table of empty rows": (table(5, 0, counters=[9, 0, 0, 9], stamps=OLD), {}),
    },
    refusals={
        "other shape": ({**values(3, counters=[0] * 4), "Average": array(4)}, {}, pm.ShapeError, "Param [3] Average [4]"),
        "other dtype": (
            {**values(3, counters=[0] * 4), "Average": array(3).astype("float32")},
            {},
            pm.ShapeError,
            "Param float64 Average float32",
        ),
        "double average of half": (
            {**values(3, counters=[0] * 4, previous=False), "Param": np.zeros(3, "float16")},
            {},
            pm.ShapeError,
            "Param float16 Average float64",
        ),
        "two counters": ({**values(3, counters=[0] * 4), "Counters": ints(2)}, {}, pm.ShapeError, "Counters [2] [5]"),
        "other previous": ({**values(3, counters=[0] * 4), "Previous": array(2)}, {}, pm.ShapeError, "Previous [2]"),
        "stamps without state": (
            {**values(3, counters=[0] * 4), "RowStamps": array(3)},
            {},
            pm.ProgramError,
            "State RowStamps together",
        ),
        "state without stamps": (
            {**values(3, counters=[0] * 4), "State": array(7)},
            {},
            pm.ProgramError,
            "State RowStamps together",
        ),
        "other stamps": (table(5, 7, counters=[0] * 4, stamps=[0] * 4), {}, pm.ShapeError, "RowStamps [4] [5]"),
        "float32 stamps": (
            {**table(5, 7, counters=[0] * 4, stamps=OLD), "RowStamps": np.zeros(5, "float32")},
            {},
            pm.ShapeError,
            "RowStamps float32 float64",
        ),
        "other state": ({**table(5, 7, counters=[0] * 4, stamps=OLD), "State": array(6)}, {}, pm.ShapeError, "State [6] [7]"),
        "no table": (
            {**table(1, counters=[0] * 4, stamps=[0]), "Param": array(), "Average": array()},
            {},
            pm.ShapeError,
            "table",
        ),
        "table of halves": (
            {**table(5, counters=[0] * 4, stamps=OLD), "Param": np.zeros(5, "float16"), "Average": np.zeros(5, "float32")},
            {},
            pm.ShapeError,
            "table float32",
        ),
    },
    float64=("State", "RowStamps"),
)


@pytest.mark.parametrize("previous", [{}, {"Previous": np.full(9, np.nan)}], ids=["one", "window"])
@pytest.mark.parametrize("stamps", [{}, {"State": np.zeros(7), "RowStamps": np.zeros(9)}], ids=["dense", "rows"])
def test_before_the_first_update_nothing_but_the_parameter_is_read(previous, stamps):
    p = array(9)
    out = run_op(
        "average_value", {"Param": p, "Average": np.full(9, np.nan), **previous, **stamps, "Counters": np.array([0, 0, 0, 5, 0])}
    )
    np.testing.assert_array_equal(out["Out"], p)


def test_of_a_generation_without_members_nothing_is_read():
    unset, kept = np.full(9, np.nan), array(9)
    p = np.full(9, np.inf)
    for counters, now, before in (([6, 0, 6, 6, 0], unset, kept), ([6, 6, 0, 6, 0], kept, unset)):
        out = run_op("average_value", {"Param": p, "Average": now, "Previous": before, "Counters": np.array(counters)})
        np.testing.assert_array_equal(out["Out"], kept)


@pytest.mark.parametrize("size", [3, 2048, 5000])
@pytest.mark.parametrize(
    "kind, rounded", [("float16", lambda x: x.astype("float16")), ("bfloat16", bits_of)], ids=["float16", "bfloat16"]
)
def test_a_half_gets_the_nearest_half(size, kind, rounded):
    p, counters = rounded(array(size).astype("float32")), np.array([14, 5, 9, 14, 0])
    now, before = (array(size, seed=seed).astype("float32") for seed in (1, 2))
    out = run_op("average_value", {"Param": p, "Average": now, "Counters": counters})["Out"]
    assert out.dtype == p.dtype
    np.testing.assert_array_equal(out, rounded(now))
    out = run_op("average_value", {"Param": p, "Average": now, "Previous": before, "Counters": counters})["Out"]
    np.testing.assert_array_equal(out, rounded(now + np.float32(9 / 14) * (before - now)))
    out = run_op("average_value", {"Param": p, "Average": now, "Counters": np.zeros(5, "int64")})["Out"]
    np.testing.assert_array_equal(out, p)

"""Memory of temporaries: overlapping lifetimes never share memory, and free memory is reused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import paddle_mini as pm
from descriptions import op, program, var
from paddle_mini import _core

LIFETIMES = st.lists(
    st.tuples(st.integers(0, 30), st.integers(0, 10), st.integers(0, 5000)).map(lambda t: (t[0], t[0] + t[1], t[2])), max_size=60
)


@settings(max_examples=200)
@given(LIFETIMES)
def test_lifetimes_that_meet_do_not_overlap(lifetimes):
    offsets, arena = _core.plan_memory(lifetimes)
    for i, (first, last, size) in enumerate(lifetimes):
        assert offsets[i] % 64 == 0 and (not size or offsets[i] + size <= arena)
        for j in range(i):
            other_first, other_last, other_size = lifetimes[j]
            meet = first <= other_last and other_first <= last and size and other_size
            assert not meet or offsets[i] + size <= offsets[j] or offsets[j] + other_size <= offsets[i]


def test_a_chain_needs_two_buffers():
    _, arena = _core.plan_memory([(i, i + 1, 1000) for i in range(100)])
    assert arena == 2 * 1024


def chain(op_type, steps, shape):
    vars = [var("v0", shape, need_check_feed=True)] + [var(f"v{i}", shape) for i in range(1, steps + 1)]
    ops = [op(op_type, {"X": [f"v{i}"]}, {"Out": [f"v{i + 1}"]}) for i in range(steps)]
    return program(vars, ops)


def test_elementwise_operators_write_over_their_inputs():
    handle, x = chain("square", 10, [100]), np.full(100, 1.01, "float32")
    executor, scope = _core.Executor("cpu"), _core.Scope()
    assert "arena of 448 bytes" in executor.plan_text(_core.Signature(handle, ("v0",), ("v10",)), scope, (x,))
    np.testing.assert_allclose(
        executor.run(_core.Signature(handle, ("v0",), ("v10",)), scope, (x,))[0], x.astype("float64") ** 1024, rtol=1e-3
    )


def test_what_is_fetched_is_kept():
    handle, x = chain("square", 5, [3]), np.array([1, 2, 3], "float32")
    names = tuple(f"v{i}" for i in range(6))
    values = _core.Executor("cpu").run(_core.Signature(handle, ("v0",), names), _core.Scope(), (x,))
    for value, power in zip(values, (1, 2, 4, 8, 16, 32)):
        np.testing.assert_array_equal(value, x ** np.float32(power))


def test_a_view_shares_memory_unless_one_name_is_written_again():
    vars = [var("x", [2, 3], need_check_feed=True), var("a", [2, 3]), var("b", [3, 2]), var("s", [0, 2, 3]), var("c", [3, 2])]
    reshape = op("reshape2", {"X": ["a"]}, {"Out": ["b"], "XShape": ["s"]}, ("shape", 3, [3, 2]))
    double = op("scale", {"X": ["a"]}, {"Out": ["a"]}, ("scale", 1, 2.0))
    ops = [op("scale", {"X": ["x"]}, {"Out": ["a"]}), reshape, double, op("scale", {"X": ["b"]}, {"Out": ["c"]})]
    x = np.arange(6, dtype="float32").reshape(2, 3)
    executor = _core.Executor("cpu")
    a, b, c = executor.run(_core.Signature(program(vars, ops), ("x",), ("a", "b", "c")), _core.Scope(), (x,))
    assert (a == 2 * x).all() and (b == x.reshape(3, 2)).all() and (c == b).all()
    del ops[2]
    text = executor.plan_text(_core.Signature(program(vars, ops), ("x",), ("c",)), _core.Scope(), (x,))
    assert "arena of 64 bytes" in text


def test_random_programs_give_the_same_with_and_without_sharing():
    """Fetching every temporary gives each its own memory: the other extreme."""
    rng = np.random.RandomState(0)
    for _ in range(30):
        count = 25
        vars = [var("v0", [4, 4], need_check_feed=True)] + [var(f"v{i}", [4, 4]) for i in range(1, count)]
        ops = []
        for i in range(1, count):
            a, b = rng.randint(0, i, 2)
            ops.append(
                op("relu", {"X": [f"v{a}"]}, {"Out": [f"v{i}"]})
                if rng.rand() < 0.3
                else op("elementwise_sub", {"X": [f"v{a}"], "Y": [f"v{b}"]}, {"Out": [f"v{i}"]})
            )
        handle, x = program(vars, ops), rng.randn(4, 4).astype("float32")
        executor, scope = pm._core.Executor("cpu"), pm._core.Scope()
        last = executor.run(_core.Signature(handle, ("v0",), (f"v{count - 1}",)), scope, (x,))[0]
        kept = executor.run(_core.Signature(handle, ("v0",), tuple(f"v{i}" for i in range(count))), scope, (x,))
        np.testing.assert_array_equal(last, kept[-1])


def test_an_output_never_lies_over_an_input_that_is_read_under_another_name(monkeypatch):
    """b is a view of a; the loss may not be written over a while b is read."""
    monkeypatch.setenv("PM_PASSES", "")  # a reshape to the same shape stays
    vars = [var("x", [3, 4], need_check_feed=True), var("a", [3, 4]), var("b", [3, 4]), var("s", [0, 3, 4]), var("y", [3, 4])]
    ops = [
        op("scale", {"X": ["x"]}, {"Out": ["a"]}),
        op("reshape2", {"X": ["a"]}, {"Out": ["b"], "XShape": ["s"]}, ("shape", 3, [3, 4])),
        op("elementwise_sub", {"X": ["a"], "Y": ["b"]}, {"Out": ["y"]}),
    ]
    text = _core.Executor("cpu").plan_text(
        _core.Signature(program(vars, ops), ("x",), ("y",)), _core.Scope(), (np.ones((3, 4), "float32"),)
    )
    line = next(line for line in text.splitlines() if "elementwise_sub" in line)
    assert line.split("X=a")[1].split("@")[1].split(",")[0] != line.split("@")[-1].strip(") ")


def test_sizes_never_come_round_to_zero():
    vars = [
        var(f"v{i}", [2**48], "int64", persistable=kept) for kept in (True, False) for i in range(8192 * kept, 8192 + 8192 * kept)
    ]
    for kept in (True, False):
        names = [v["name"] for v in vars if v["persistable"] == kept]
        ops = [op("fill_constant", {}, {"Out": [name]}, ("shape", 11, [2**48]), ("dtype", 0, 3)) for name in names]
        handle = program([v for v in vars if v["persistable"] == kept], ops)
        with pytest.raises(pm.DeviceError, match="out of memory"):
            _core.Executor("cpu").run(_core.Signature(handle, (), tuple(names)), _core.Scope(), ())

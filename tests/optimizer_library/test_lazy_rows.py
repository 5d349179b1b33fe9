# Rows whose decay is applied lazily: after updates in any order, a read returns the result of dense gradients.
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import paddle_mini as pm
from one_parameter import ROWS, WIDTH, library, same_bits, values

CONST = ("Const", "const_lr", {"learning_rate": 0.1})
updates = st.lists(st.lists(st.integers(0, ROWS - 1), max_size=5), max_size=25)
rates = st.sampled_from(
    [
        CONST,
        ("Const", "const_lr", {"learning_rate": 0.0}),
        ("Exp", "exp_lr", {"learning_rate": 0.5, "lr_decay_a": 0.9, "lr_decay_b": 1.0}),
    ]
)


def native(begin, rate, kind="SGD", fields=None, lazy=True, **others):
    policy, field, message = rate
    others = {"row_policy": "Lazy" if lazy else "LikeZeros", "row_width": WIDTH, **others}
    return library(kind, begin, fields, lr_policy=policy, **{field: message}, **others)


def gradient_of(number, rows):
    return values("float64", (len(rows), WIDTH), seed=number)


@settings(max_examples=60)
@given(steps=updates, rate=rates, penalty=st.sampled_from([{}, {"l2_rate": 0.1}, {"l2_rate": 1.5}]), data=st.data())
def test_sgd_is_the_dense_one(steps, rate, penalty, data):
    begin = values("float64")
    lazy, dense = native(begin, rate, **penalty), native(begin, rate, lazy=False, **penalty)
    for number, rows in enumerate(steps):
        for found in (lazy, dense):
            found.update_rows(rows, gradient_of(number, rows))
        asked = data.draw(st.lists(st.integers(0, ROWS - 1), max_size=2))
        np.testing.assert_allclose(lazy.rows(asked), dense.rows(asked), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(lazy.view(), dense.view(), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(lazy.parameter(), dense.parameter(), rtol=1e-6, atol=1e-9)


@settings(max_examples=60)
@given(steps=updates, rate=rates, l2=st.sampled_from([0.0, 0.25]))
def test_l1_stops_at_zero(steps, rate, l2):
    """|p| falls by l1 and no further than to 0 while the row is not named; a named row takes the step of SGD."""
    begin, l1 = values("float64"), 0.5
    lazy, p = native(begin, rate, l1_rate=l1, l2_rate=l2), begin.copy()
    for number, rows in enumerate(steps):
        gradient, whole = gradient_of(number, rows), np.zeros_like(p)
        np.add.at(whole, rows, gradient)
        lazy.update_rows(rows, gradient)
        r, named = lazy.learning_rate, np.unique(np.array(rows, "int64"))
        stepped = p - r * (whole + l1 * np.sign(p) + l2 * p)
        p = np.sign(p) * np.maximum(0, (1 - r * l2) * np.abs(p) - r * l1)
        p[named] = stepped[named]
    np.testing.assert_allclose(lazy.parameter(), p, rtol=1e-6, atol=1e-9)


@settings(max_examples=30)
@given(steps=updates, rate=rates, kind=st.sampled_from(["Adam", "Adagrad", "Adadelta"]))
def test_decay_beside_the_gradient(steps, rate, kind):
    """Rows that are not named decay by it; otherwise they do not change."""
    begin = values("float64")
    lazy, plain, p = native(begin, rate, kind, {"decay": 0.1}), native(begin, rate, kind), begin.copy()
    for number, rows in enumerate(steps):
        before = plain.parameter()
        for found in (lazy, plain):
            found.update_rows(rows, gradient_of(number, rows))
        moved = plain.parameter() - before  # this difference does not depend on the parameter
        p = p - lazy.learning_rate * 0.1 * p + moved
    np.testing.assert_allclose(lazy.parameter(), p, rtol=1e-6, atol=1e-9)


@settings(max_examples=30)
@given(steps=updates, kind=st.sampled_from(["SGD", "Adam", "Momentum"]), reads=st.lists(st.integers(0, 24)))
def test_reading_changes_nothing_that_follows(steps, kind, reads):
    begin = values("float64")
    fields = {"momentum": 0.9} if kind == "Momentum" else {}
    kind = "SGD" if kind == "Momentum" else kind
    read, quiet = (native(begin, CONST, kind, fields) for _ in range(2))
    for number, rows in enumerate(steps):
        for found in (read, quiet):
            found.update_rows(rows, gradient_of(number, rows))
        if number in reads:
            read.view()
            read.rows(range(ROWS))
    same_bits(read.parameter(), quiet.parameter())
    assert read.state() == quiet.state()


def test_no_rows_before_their_width_is_known():
    begin = values("float64")
    found = native(begin, CONST, l2_rate=0.5, row_width=None)
    found.update_rows([], np.zeros((0, WIDTH)))
    found.update_rows([2], np.zeros((1, WIDTH)))
    np.testing.assert_allclose(found.parameter(), begin * 0.95**2, rtol=1e-12)


@pytest.mark.parametrize("order", [1, -1])
def test_the_order_of_rows_in_a_gradient_does_not_matter(order):
    first, second = (native(values("float64"), CONST, "Adam") for _ in range(2))
    rows, gradient = np.array([5, 0, 3]), gradient_of(0, [5, 0, 3])
    first.update_rows(rows, gradient)
    second.update_rows(rows[::order], gradient[::order])
    assert first.state() == second.state()


def test_a_dense_update_among_those_of_rows():
    begin, rate = values("float64"), CONST
    lazy, dense = native(begin, rate, l2_rate=0.3), native(begin, rate, lazy=False, l2_rate=0.3)
    for number, rows in enumerate([[1], [2, 3], None, [1, 1], [], None, [6]]):
        for found in (lazy, dense):
            if rows is None:
                found.update(values("float64", seed=number))
            else:
                found.update_rows(rows, gradient_of(number, rows))
    np.testing.assert_allclose(lazy.parameter(), dense.parameter(), rtol=1e-12)


def test_a_decay_that_rows_can_not_catch_up_is_refused():
    found = native(values("float64"), ("Const", "const_lr", {"learning_rate": 2.0}), l2_rate=0.5, row_width=None)
    before = found.state()
    with pytest.raises(Exception, match="caught up"):
        found.update_rows([1], gradient_of(0, [1]))
    assert found.state() == before


def test_a_refused_update_of_rows_is_not_applied_later():
    """The state of a table that decays lazily is given to one that treats absent rows as zeros, with a rate that is too large."""
    table, zero = np.ones((4, 1), "float32"), np.zeros((1, 1), "float32")
    lazy = library("SGD", table, l2_rate=0.5, row_width=1)
    lazy.update_rows([0], zero)
    fast = {"const_lr": {"learning_rate": 10.0}, "l2_rate": 0.5, "row_width": 1, "row_policy": "LikeZeros"}
    one, other = (library("SGD", table, state=lazy.state(), **fast) for _ in range(2))
    with pytest.raises(pm.Error):
        one.update_rows([2], np.full((1, 1), 5, "float32"))
    for native in (one, other):
        native.set_learning_rate(0.1)
        native.update_rows([1], zero)
    np.testing.assert_array_equal(one.parameter(), other.parameter())


def test_sums_of_repeated_rows_that_overflow_are_refused():
    native = library("SGD", np.ones((4, 1), "float32"), row_width=1, nan_policy="Refuse")
    with pytest.raises(pm.Error, match="element 0 of the gradient is inf"):
        native.update_rows([1, 1], np.full((2, 1), 3e38, "float32"))
    assert native.parameter().tolist() == [[1], [1], [1], [1]]
    skips = library("SGD", np.ones((4, 1), "float32"), row_width=1, nan_policy="Skip")
    skips.update_rows([1, 1], np.full((2, 1), 3e38, "float32"))
    assert skips.parameter().tolist() == [[1], [1], [1], [1]]


def test_factors_that_float32_lacks_are_refused():
    native = library("SGD", np.ones(3, "float32"))
    with pytest.raises(pm.ProgramError, match=r"scale is 1e\+39, it must be finite in float32"):
        native.apply_delta(np.zeros(3, "float32"), 1e39)
    native.set_learning_rate(1e39)
    with pytest.raises(pm.Error, match=r"the learning rate of update 1 is 1e\+39"):
        native.update(np.zeros(3, "float32"))
    assert native.parameter().tolist() == [1, 1, 1]

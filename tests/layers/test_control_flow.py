"""Loops and branches against the same programs unrolled; gradients against central differences."""

import numpy as np
import pytest

import paddle_mini as pm
from loops import check_gradients, count, power_loop, run, values

L = pm.layers


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_while_loop_is_the_loop_written_out(n):
    def unrolled(x, w):
        for _ in range(n):
            x = L.tanh(L.matmul(x, w))
        return x

    feeds = values()
    loss, gradients = run(power_loop, {**feeds, "n": count(n)}, steps=2)
    expected, expected_gradients = run(unrolled, feeds)
    np.testing.assert_allclose(loss, expected, rtol=1e-12)
    for gradient, wanted in zip(gradients, expected_gradients):
        np.testing.assert_allclose(gradient, np.zeros((3, 3)) if wanted is None else wanted, rtol=1e-10, atol=1e-12)


def test_the_variables_passed_in_stay_as_they_are():
    feeds = values()
    loss, _ = run(lambda x, w, n: power_loop(x, w, n) * 0.0 + x, {**feeds, "n": count(3)})
    np.testing.assert_allclose(loss, np.sum(feeds["x"] ** 2))


def test_a_loop_variable_that_is_not_read_afterwards_has_gradients_inside():
    def lstm_like(x, w, n):
        i = L.fill_constant([1], "int64", 0)

        def body(i, h, c):
            c = L.sigmoid(L.matmul(h, w)) * c + h
            return [i + 1, L.tanh(c), c]

        _, h, _ = L.while_loop(lambda i, h, c: i < n, body, [i, x, x * 0.5])
        return h

    check_gradients(lstm_like, {**values(1), "n": count(3)})


def test_a_loop_variable_that_is_only_written_has_the_gradient_of_the_last_step():
    def last(x, w, n):
        i = L.fill_constant([1], "int64", 0)
        out = L.zeros([2, 3], "float64")

        def body(i, h, out):
            h = L.tanh(L.matmul(h, w))
            return [i + 1, h, h * 2.0]

        return L.while_loop(lambda i, h, out: i < n, body, [i, x, out])[2]

    check_gradients(last, {**values(2), "n": count(3)})


def test_arrays_in_a_loop():
    def steps(x, w, n):
        i = L.fill_constant([1], "int64", 0)
        states = L.array_write(x, i)

        def body(i, states):
            before = L.array_read(states, i)
            h = L.tanh(L.matmul(before, w) + before)  # two uses of one element
            return [i + 1, L.array_write(h, i + 1, states)]

        _, states = L.while_loop(lambda i, states: i < n, body, [i, states])
        return L.tensor_array_to_tensor(states, axis=0, use_stack=True)[0]  # all elements are used after the loop too

    check_gradients(steps, {**values(3), "n": count(3)})


def test_an_array_that_is_read_twice_in_a_step():
    def pairs(x, w, n):
        zero, i = L.fill_constant([1], "int64", 0), L.fill_constant([1], "int64", 0)
        array = L.array_write(L.matmul(x, w), zero)

        def body(i, h):
            return [i + 1, h * L.array_read(array, zero) + L.array_read(array, zero)]

        return L.while_loop(lambda i, h: i < n, body, [i, x])[1]

    check_gradients(pairs, {**values(4), "n": count(2)})


def test_a_counter_changed_in_place_indexes_arrays_in_the_gradient_too():
    def counted(x, w, n):
        i = L.fill_constant([1], "int64", 0)
        states = L.array_write(x, i)
        go = i < n
        loop = L.While(go)
        with loop.block():
            h = L.tanh(L.matmul(L.array_read(states, i), w))
            L.increment(i)
            L.array_write(h, i, states)
            L.assign(i < n, go)
        return L.array_read(states, i)

    check_gradients(counted, {**values(5), "n": count(3)})


def test_loops_in_loops():
    def nested(x, w, n):
        def inner(h):
            j = L.fill_constant([1], "int64", 0)
            return L.while_loop(lambda j, h: j < n, lambda j, h: [j + 1, L.tanh(L.matmul(h, w)) + h * 0.1], [j, h])[1]

        i = L.fill_constant([1], "int64", 0)
        return L.while_loop(lambda i, h: i < n, lambda i, h: [i + 1, inner(h)], [i, x])[1]

    check_gradients(nested, {**values(6), "n": count(2)})


def test_a_branch_in_a_loop():
    def mixed(x, w, n):
        i = L.fill_constant([1], "int64", 0)

        def body(i, h):
            h = L.cond(L.equal(i % 2, L.fill_constant([1], "int64", 0)), lambda: L.tanh(L.matmul(h, w)), lambda: h * h)
            return [i + 1, h]

        return L.while_loop(lambda i, h: i < n, body, [i, x])[1]

    check_gradients(mixed, {**values(7), "n": count(3)})


def test_shapes_may_change_from_step_to_step():
    def growing(x, w, n):
        i = L.fill_constant([1], "int64", 0)
        return L.while_loop(lambda i, h: i < n, lambda i, h: [i + 1, L.concat([h, L.matmul(h, w)], axis=0)], [i, x])[1]

    check_gradients(growing, {**values(8), "n": count(3)})


@pytest.mark.parametrize("flag", [True, False])
def test_cond(flag):
    def branches(x, w, flag):
        one, two = L.cond(flag, lambda: (L.matmul(x, w), x * 2.0), lambda: (x, L.tanh(x)))
        return one * two

    check_gradients(branches, {**values(), "flag": np.array([flag])})


@pytest.mark.parametrize("flag", [True, False])
def test_a_branch_that_writes_what_is_around_it(flag):
    def overwritten(x, w, flag):
        h = L.matmul(x, w)
        with L.ConditionalBlock(flag).block():
            L.assign(x * 3.0, h)
        return h

    check_gradients(overwritten, {**values(), "flag": np.array([flag])})


@pytest.mark.parametrize("which, factor", [(0, 1.0), (1, 2.0), (2, 3.0), (7, 3.0), (-1, 3.0)])
def test_case_and_switch_case(which, factor):
    def chosen(x, w, which):
        def is_number(number):
            return L.equal(which, L.fill_constant([1], "int64", number))

        by_case = L.case([(is_number(0), lambda: x), (is_number(1), lambda: x * 2.0)], default=lambda: x * 3.0)
        by_switch = L.switch_case(which, {0: lambda: x, 1: lambda: x * 2.0, 2: lambda: x * 3.0})
        return by_case + by_switch

    feeds = {**values(), "which": count(which)}
    assert check_gradients(chosen, feeds) == pytest.approx(np.sum((2 * factor * feeds["x"]) ** 2))


def test_loop_variables_may_change_places():
    def swapped(x, w, n):
        i = L.fill_constant([1], "int64", 0)
        _, a, b = L.while_loop(lambda i, a, b: i < n, lambda i, a, b: [i + 1, b, a], [i, x, L.matmul(x, w)])
        return a + b * b

    feeds = {**values(9), "n": count(3)}
    product = feeds["x"] @ feeds["w"]
    assert check_gradients(swapped, feeds) == pytest.approx(np.sum((product + feeds["x"] ** 2) ** 2))


def test_the_condition_may_be_a_loop_variable_that_changes_places():
    go, last = L.fill_constant([1], "bool", True), L.fill_constant([1], "bool", True)
    i = L.fill_constant([1], "int64", 0)
    never = L.fill_constant([1], "bool", False)
    *_, steps = L.while_loop(lambda go, last, i: go, lambda go, last, i: [last, L.logical_and(never, last), i + 1], [go, last, i])
    assert pm.Executor().run(fetch_list=[steps])[0] == 2


@pytest.mark.parametrize("flag", [True, False])
def test_a_branch_in_a_loop_that_writes_what_is_around_the_loop(flag):
    def overwritten(x, w, flag):
        i, last = L.zeros([1], "int64"), L.matmul(x, w)
        go = i < 3
        with L.While(go).block():
            with L.ConditionalBlock(flag).block():
                L.assign(L.tanh(x), last)
            L.increment(i)
            L.assign(i < 3, go)
        return last * last

    check_gradients(overwritten, {**values(), "flag": np.array([flag])})


@pytest.mark.parametrize("flag", [True, False])
def test_a_branch_that_overwrites_data(flag):
    def overwritten(x, w, flag):
        doubled = x * 2.0
        with L.ConditionalBlock(flag).block():
            L.assign(doubled, x)
        return x

    # The gradient of x is that of the value that was fed.
    feeds = values()
    _, (found, _) = run(overwritten, {**feeds, "flag": np.array([flag])})
    np.testing.assert_allclose(found, feeds["x"] * (8 if flag else 2))

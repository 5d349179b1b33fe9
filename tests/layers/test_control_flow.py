"""Loops and branches against the same programs unrolled; gradients against central differences."""

import numpy as np
import pytest

import paddle_mini as pm
from loops import count, power_loop

L = pm.layers


def run(build, feeds, fetch=None, steps=1, dtype="float64"):
    """The result of build(x, w), and the gradients of the sum of its squares with respect to x and w."""
    main, startup, scope = pm.Program(), pm.Program(), pm.Scope()
    with pm.program_guard(main, startup):
        x = L.data("x", shape=[2, 3], dtype=dtype)
        x.stop_gradient = False
        w = L.create_parameter([3, 3], dtype=dtype, name="w")
        extra = {
            name: L.data(name, shape=list(value.shape), dtype=str(value.dtype))
            for name, value in feeds.items()
            if name not in ("x", "w")
        }
        out = build(x, w, **extra)
        loss = L.reduce_sum(L.square(out))
        gradients = pm.backward.gradients([loss], [x, w])
    executor = pm.Executor(pm.CPUPlace())
    scope.set("w", feeds["w"])
    given = {name: value for name, value in feeds.items() if name != "w"}
    wanted = [loss] + [gradient for gradient in gradients if gradient is not None]
    for program in (main, pm.Program.from_bytes(main.to_bytes())):
        for _ in range(steps):
            values = executor.run(program, feed=given, fetch_list=[var.name for var in wanted], scope=scope)
    found = iter(values[1:])
    return values[0], [None if gradient is None else next(found) for gradient in gradients]


def values(seed=0):
    rng = np.random.default_rng(seed)
    return {"x": rng.uniform(-1, 1, (2, 3)), "w": rng.uniform(-1, 1, (3, 3))}


def check_gradients(build, feeds):
    """Against central differences of the loss."""
    loss, gradients = run(build, feeds)
    for name, gradient in zip(("x", "w"), gradients):
        for place in np.ndindex(*feeds[name].shape):
            losses = []
            for step in (1e-5, -1e-5):
                moved = {**feeds, name: feeds[name].copy()}
                moved[name][place] += step
                losses.append(run(build, moved)[0])
            numeric = (losses[0] - losses[1]) / 2e-5
            analytic = 0.0 if gradient is None else gradient[place]
            assert abs(numeric - analytic) < 1e-6 * (1 + abs(numeric)), (name, place, numeric, analytic)
    return loss


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

"""Gradients where several operators write one variable: against central differences, or refused where a value that they need
is lost."""

import numpy as np
import pytest

import paddle_mini as pm
from loops import check_gradients, count, values

L = pm.layers


def steps(n, body):
    i = L.fill_constant([1], "int64", 0)
    go = i < n
    with L.While(go).block():
        body(i)
        L.increment(i)
        L.assign(i < n, go)


def counter(dtype="float32"):
    k = L.ones([1], dtype)
    k.stop_gradient = True
    return k


def by_its_own_value(x, w, n):
    h = x * 2.0
    total = L.matmul(x, w) + h * 3.0
    L.assign(h * 5.0, h)
    return total + h


def by_another_value(x, w, n):
    h = x * 2.0
    total = h * 3.0
    L.assign(L.matmul(x, w), h)
    return total + h * x


def by_a_constant(x, w, n):
    h = L.matmul(x, w)
    total = h * 3.0
    L.assign(np.ones((2, 3)), h)
    return total + h * x


def unread(x, w, n):
    h = L.matmul(x, w)
    L.assign(L.tanh(x), h)
    return h * x


def twice_in_a_step(x, w, n):
    h = L.assign(x)

    def body(i):
        L.assign(L.matmul(h, w), h)
        L.assign(h * 0.5 + x, h)

    steps(n, body)
    return h


def written_before_it_is_read(x, w, n):
    h, total = L.assign(x), L.matmul(x, w)

    def body(i):
        L.assign(L.matmul(h, w), h)
        L.assign(total + h * 3.0, total)

    steps(n, body)
    return total


def state_and_inside(x, w, n):
    """A state of a loop, and a variable that each step writes before it reads it."""
    h, inside = L.assign(x), L.matmul(x, w)

    def body(i):
        L.assign(L.tanh(h), inside)
        L.assign(h + inside * 3.0, h)

    steps(n, body)
    return h, inside


def of_one_step_only(x, w, n):
    return state_and_inside(x, w, n)[0]


def read_after_the_loop_too(x, w, n):
    h, inside = state_and_inside(x, w, n)
    return h + inside * inside


def begun_again_in_each_step(x, w, n):
    h, total = L.assign(x), L.matmul(x, w)

    def body(i):
        L.assign(total + h * 3.0, total)
        L.assign(np.full((2, 3), 2.0), h)

    steps(n, body)
    return total + h


def in_a_branch(x, w, n):
    h, other = L.matmul(x, w), x * 2.0
    with L.ConditionalBlock(n > 0).block():
        L.assign(L.tanh(x), h)
        L.assign(h * 3.0 + other, other)
    return h * h + other


def counted_where_gradients_go(x, w, n):
    """A counter that a loop and a branch in it change, which have gradients, so that they count back."""
    k, h, total = counter("float64"), L.matmul(x, w), L.assign(x)

    def body(i):
        L.assign(h * k + x, h)
        with L.ConditionalBlock(i < n - 1).block():
            L.assign(total + x * k, total)
            L.increment(k, 2.0)

    steps(3, body)
    return total + h * k


def copied_before_it_is_counted(x, w, n):
    k, h = counter("float64"), L.matmul(x, w)

    def body(i):
        now = L.assign(k)
        with L.ConditionalBlock(i < n).block():
            L.increment(k, 2.0)
        L.assign(h * now + x, h)

    steps(3, body)
    return h


@pytest.mark.parametrize("n", [0, 3])
@pytest.mark.parametrize(
    "build",
    [
        by_its_own_value,
        by_another_value,
        by_a_constant,
        unread,
        twice_in_a_step,
        written_before_it_is_read,
        of_one_step_only,
        read_after_the_loop_too,
        begun_again_in_each_step,
        in_a_branch,
        counted_where_gradients_go,
        copied_before_it_is_counted,
    ],
)
def test_each_value_has_a_gradient_of_its_own(build, n):
    check_gradients(build, {**values(), "n": count(n)})


def square_of_what_is_overwritten(x):
    h = x * 2.0
    squares = h * h
    L.assign(x, h)
    return squares


def square_of_what_a_step_wrote(x):
    h, total = L.assign(x), L.assign(x)

    def body(i):
        L.assign(L.tanh(h), h)
        L.assign(total + h * h, total)

    steps(3, body)
    return total


def product_with_what_a_step_adds_to(x):
    total = L.assign(x)
    steps(3, lambda i: L.sums([total, total * x], out=total))
    return total


def state_of_the_next_run(x):
    state = L.create_global_var([3], 1.0, name="state")
    out = state * x
    L.assign(state * 2.0, state)
    return out


def state_of_the_next_step(x):
    state = L.create_global_var([3], 1.0, name="state")
    total = L.assign(x)

    def body(i):
        L.assign(total * state, total)
        L.assign(state * 2.0, state)

    steps(3, body)
    return total


def places_counted_in_block_0(x):
    i, array = L.zeros([1], "int64"), L.create_array("float32")
    for _ in range(2):
        L.array_write(x, i, array)
        L.increment(i)
    return L.tensor_array_to_tensor(array)[0]


def counted_by_a_branch_after_it(x):
    k = counter()
    out = x * k
    with L.ConditionalBlock(k > 0.0).block():
        L.increment(k)
    return out


def counted_by_a_loop_after_it(x):
    k = counter()
    out = x * k
    steps(3, lambda i: L.increment(k))
    return out


def counted_by_a_branch_of_each_step(x):
    k, h = counter(), L.assign(x)

    def body(i):
        with L.ConditionalBlock(i < 2).block():
            L.increment(k)
        L.assign(h * k, h)

    steps(3, body)
    return h


def counted_by_a_loop_of_each_step(x):
    k, h = counter(), L.assign(x)

    def body(i):
        L.assign(h * k, h)
        steps(2, lambda j: L.increment(k))

    steps(3, body)
    return h


@pytest.mark.parametrize(
    "build, name, writer",
    [
        (square_of_what_is_overwritten, "tmp_0", "assign"),
        (square_of_what_a_step_wrote, "assign_0.tmp_0", "assign"),
        (product_with_what_a_step_adds_to, "assign_0.tmp_0", "sum"),
        (state_of_the_next_run, "state", "assign"),
        (state_of_the_next_step, "state", "assign"),
        (places_counted_in_block_0, "fill_constant_0.tmp_0", "increment"),
        (counted_by_a_branch_after_it, "fill_constant_0.tmp_0", "conditional_block"),
        (counted_by_a_loop_after_it, "fill_constant_0.tmp_0", "while"),
        (counted_by_a_branch_of_each_step, "fill_constant_0.tmp_0", "conditional_block"),
        (counted_by_a_loop_of_each_step, "fill_constant_0.tmp_0", "while"),
    ],
)
def test_a_value_that_is_lost_is_refused(build, name, writer):
    x = L.data("x", [2, 3])
    out = L.reduce_sum(build(x))
    before = pm.default_main_program().to_bytes()
    words = rf"needs '{name}' as it is here, but {writer} at .*test_overwritten.py:\d+ writes it too"
    with pytest.raises(pm.ProgramError, match=words):
        pm.gradients(out, x)
    assert pm.default_main_program().to_bytes() == before


def test_a_copy_keeps_the_value():
    """A state that each run hands to the next one."""
    x = L.data("x", [3])
    state = L.create_global_var([3], 1.0, name="state")
    out = L.assign(state) * x
    L.assign(out, state)
    (gradient,) = pm.gradients(out, x)
    exe = pm.Executor()
    exe.run(pm.default_startup_program())
    found = [exe.run(feed={"x": np.full(3, 2.0, "float32")}, fetch_list=[gradient])[0][0] for _ in range(3)]
    assert found == [1, 2, 4]

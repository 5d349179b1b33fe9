"""StaticRNN and the operator recurrent: against the unrolled recurrence, gradients against central differences."""

import numpy as np
import pytest

import paddle_mini as pm

L = pm.layers
T, N, D = 4, 2, 3


def build(unroll, reverse, two_states):
    main, startup = pm.Program(), pm.Program()
    with pm.program_guard(main, startup):
        x = L.data("x", shape=[T, N, D], dtype="float64")
        h0 = L.data("h0", shape=[N, D], dtype="float64")
        x.stop_gradient = h0.stop_gradient = False
        w = L.create_parameter([D, D], dtype="float64", name="w")

        def step(word, h, c):
            c = L.tanh(L.matmul(h, w) + word * c)
            return (L.sigmoid(c) + h * 0.5, c) if two_states else (c, c)

        if unroll:
            h, c, outs = h0, h0, [None] * T
            for t in reversed(range(T)) if reverse else range(T):
                h, c = step(L.reshape(L.slice(x, [0], [t], [t + 1]), [N, D]), h, c)
                outs[t] = h
            out = L.stack(outs, 0)
        else:
            rnn = L.StaticRNN(reverse=reverse)
            with rnn.step():
                word = rnn.step_input(x)
                before_h, before_c = rnn.memory(init=h0), rnn.memory(init=h0)
                h, c = step(word, before_h, before_c)
                rnn.update_memory(before_h, h)
                rnn.update_memory(before_c, c)
                rnn.step_output(h)
            out = rnn()
        weights = L.assign(np.arange(1.0, T * N * D + 1).reshape(T, N, D))
        loss = L.reduce_sum(out * out * weights)
        gradients = pm.backward.gradients([loss], [x, h0, w])
    return main, [out, loss, *gradients]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("two_states", [False, True])
def test_values_and_gradients_are_those_of_the_recurrence_written_out(reverse, two_states):
    rng = np.random.default_rng(0)
    scope, executor = pm.Scope(), pm.Executor(pm.CPUPlace())
    scope.set("w", rng.uniform(-1, 1, (D, D)))
    feed = {"x": rng.uniform(-1, 1, (T, N, D)), "h0": rng.uniform(-1, 1, (N, D))}
    results = []
    for unroll in (False, True):
        main, wanted = build(unroll, reverse, two_states)
        results.append(executor.run(main, feed=feed, fetch_list=wanted, scope=scope))
    for ours, expected in zip(*results):
        np.testing.assert_allclose(ours, expected, rtol=1e-10, atol=1e-12)


def test_memory_of_a_batch_that_is_known_at_the_run():
    main, scope = pm.Program(), pm.Scope()
    with pm.program_guard(main, pm.Program()):
        x = L.data("x", shape=[-1, -1, 2])
        rnn = L.StaticRNN()
        with rnn.step():
            word = rnn.step_input(x)
            total = rnn.memory(shape=[-1, 2], batch_ref=word, init_value=1.0)
            after = total + word
            rnn.update_memory(total, after)
            rnn.output(after, word * 2.0)
        sums, doubled = rnn()
    value = np.arange(24, dtype="float32").reshape(4, 3, 2)
    found = pm.Executor(pm.CPUPlace()).run(main, feed={"x": value}, fetch_list=[sums, doubled], scope=scope)
    np.testing.assert_allclose(found[0], 1 + np.cumsum(value, 0))
    np.testing.assert_allclose(found[1], value * 2)


@pytest.mark.parametrize(
    "wrong, words",
    [
        (lambda rnn, x: rnn.step_output(x), "no step_input"),
        (lambda rnn, x: (rnn.step_input(x), rnn.memory(init=x)), "never updated"),
        (lambda rnn, x: (rnn.step_input(x), rnn.memory()), "give init"),
        (lambda rnn, x: rnn.update_memory(x, x), "not a memory"),
        (lambda rnn, x: rnn.memory(init=L.fill_constant([3], "float32", 0.0)), "memory: 'fill_constant_0.tmp_0' belongs"),
        (lambda rnn, x: rnn.memory(init=rnn.step_input(x)), "memory: 'x' belongs to the step"),
        (lambda rnn, x: rnn.memory(init=0.0), "memory: the input is 0.0, it must be a Variable"),
        (lambda rnn, x: rnn.step_input(L.scale(rnn.step_input(x), scale=2.0)), "step_input: 'scale_0.tmp_0' belongs to the step"),
    ],
)
def test_refused(wrong, words):
    with pm.program_guard(pm.Program(), pm.Program()), pm.unique_name.guard():
        x, rnn = L.data("x", shape=[2, 3]), L.StaticRNN()
        with pytest.raises(pm.ProgramError, match=words), rnn.step():
            wrong(rnn, x)


def test_steps_must_be_as_many():
    main = pm.Program()
    with pm.program_guard(main, pm.Program()):
        a, b = L.data("a", shape=[-1, 2]), L.data("b", shape=[-1, 2])
        rnn = L.StaticRNN()
        with rnn.step():
            rnn.step_output(rnn.step_input(a) + rnn.step_input(b))
        out = rnn()
    executor = pm.Executor(pm.CPUPlace())
    with pytest.raises(pm.ShapeError, match="'b' has 3 steps, 'a' has 2"):
        executor.run(
            main, feed={"a": np.ones((2, 2), "float32"), "b": np.ones((3, 2), "float32")}, fetch_list=[out], scope=pm.Scope()
        )
    with pytest.raises(pm.ShapeError, match="no steps"):
        executor.run(
            main, feed={"a": np.ones((0, 2), "float32"), "b": np.ones((0, 2), "float32")}, fetch_list=[out], scope=pm.Scope()
        )
